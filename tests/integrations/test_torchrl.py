"""TorchRL: rollouts over the native vector environments hold what the environments give, over ends of episodes too."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torchrl", reason='torchrl is not installed: pip install "recombine[torchrl]"')

import gymnasium
import numpy as np
import torch

from recombine.errors import UsageError
from recombine.integrations.torchrl import vector_env

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", ["recombine/GSCAN-v0", "recombine/TowerScratch-v0"])
def test_a_rollout_is_what_the_environment_gives(name: str) -> None:
    settings: dict[str, Any] = {"horizon": 5}
    env = vector_env(name, 3, **settings)
    env.set_seed(7, static_seed=True)
    torch.manual_seed(0)
    rolled = env.rollout(30, break_when_any_done=False)
    assert tuple(rolled.batch_size) == (3, 30)
    assert int(rolled["next", "done"].sum()) >= 9, "episodes end on the way"
    assert not rolled["done"].any(), "every step begins in an episode that goes on"
    own = gymnasium.make_vec(name, num_envs=3, autoreset_mode="Disabled", **settings)
    own.reset(seed=7)
    seen, _ = own.reset()
    actions = rolled["action"].argmax(-1)
    for step in range(30):
        for part, values in seen.items():
            held = rolled[part][:, step].numpy()
            held = held.argmax(-1) if held.ndim > values.ndim else held  # TorchRL writes choices as one-hot vectors
            assert np.array_equal(held, values), (part, step)
        seen, rewards, terminated, truncated, _ = own.step(actions[:, step].numpy().reshape(3))
        assert np.allclose(rolled["next", "reward"][:, step, 0].numpy(), rewards)
        assert np.array_equal(rolled["next", "done"][:, step, 0].numpy(), terminated | truncated)
        if (terminated | truncated).any():
            seen, _ = own.reset(options={"reset_mask": terminated | truncated})


def test_bad_words_are_errors() -> None:
    with pytest.raises(UsageError, match="no vector environment"):
        vector_env("recombine/Abstract-v0", 2)
    with pytest.raises(UsageError, match="autoreset_mode"):
        vector_env("recombine/GSCAN-v0", 2, autoreset_mode="NextStep")
