"""Stable-Baselines3's MaskablePPO on a lilGym environment: pip install recombine[rl] sb3-contrib

    python examples/maskable_ppo.py --env recombine/TowerScratch-v0 --steps 20000

`action_masks()` of the environments is what MaskablePPO asks for. The masks hold the valid actions only; stop forcing is not a mask
(a policy learns nothing from a choice of one), so for PPO+SF use `recombine train ppo --with forcing=relabel`.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, NatureCNN

import recombine.envs  # noqa: F401 - registers the environments


class Features(BaseFeaturesExtractor):
    """Picture, words and target as one vector: a CNN, a mean of word vectors, one number."""

    def __init__(self, space: gymnasium.spaces.Dict, units: int = 128) -> None:
        super().__init__(space, 2 * units + 2)
        words: Any = space["tokens"]
        self.picture = NatureCNN(space["image"], units)
        self.words = torch.nn.EmbeddingBag(int(words.high.max()) + 1, units, mode="mean", padding_idx=0)

    def forward(self, seen: dict[str, torch.Tensor]) -> torch.Tensor:
        """The vectors; Stable-Baselines3 gives the target one-hot."""
        target = seen["target"].flatten(1)
        return torch.cat([self.picture(seen["image"]), self.words(seen["tokens"].long()), target], 1)


def main() -> None:
    """Train and test."""
    parser = argparse.ArgumentParser(description="MaskablePPO on lilGym")
    parser.add_argument("--env", default="recombine/TowerScratch-v0")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--places", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=128, help="steps per place between updates")
    parser.add_argument("--size", type=int, default=200, help="embedded statements to learn from")
    parser.add_argument("--tests", type=int, default=50, help="episodes to test on, of other statements")
    given = parser.parse_args()
    envs = make_vec_env(given.env, given.places, seed=0, env_kwargs={"size": given.size, "compiled": True})
    batch = min(256, given.places * given.rollout)
    model = MaskablePPO(
        "MultiInputPolicy", envs, n_steps=given.rollout, batch_size=batch, ent_coef=0.03, seed=0, device="cpu",
        policy_kwargs={"features_extractor_class": Features},
    )  # fmt: skip
    model.learn(given.steps)
    tests = make_vec_env(given.env, 1, seed=1, env_kwargs={"size": given.tests, "part": "validation"})
    reward, deviation = evaluate_policy(model, tests, n_eval_episodes=given.tests)
    print(f"{model.num_timesteps} steps; mean reward on {given.tests} unseen tasks: {reward:.3f} ± {deviation:.3f}")


if __name__ == "__main__":
    main()
