"""Steps per CPU-second of the vector environments, images and real program rewards included, beside the original's rate.

    python benchmarks/speed_envs.py [--places 64] [--steps 500] [--data FOLDER]

`raw` actions are uniform over all actions (most SCATTER ones are invalid, so episodes are short), `valid` ones uniform over the
valid ones; choosing them is not timed. With `--data`, the official lilGym development files in FOLDER are played instead
of the embedded statements.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import recombine.envs

ORIGINAL = {"TowerScratch": 264, "TowerFlipIt": 280, "ScatterScratch": 248, "ScatterFlipIt": 269}
"""Steps per CPU-second of the original environment with images, valid actions, resets included."""
FILES = {
    "TowerScratch": "tower_scratch",
    "TowerFlipIt": "tower_flipit",
    "ScatterScratch": "scatter_scratch",
    "ScatterFlipIt": "scatter_flipit",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "code": {"rules": "code"},
    "stop forcing": {"rules": "code", "stop_forcing": True},
    "masks": {"masks": True},
}


def rate(envs: Any, steps: int, valid: bool) -> float:
    """Steps per CPU-second, all places counted."""
    generator = np.random.default_rng(0)
    envs.reset(seed=0)
    spent = 0.0
    for step in range(steps + 5):
        if valid:
            actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])
        else:
            actions = generator.integers(envs.single_action_space.n, size=envs.num_envs)
        began = time.process_time()
        envs.step(actions)
        spent += (time.process_time() - began) if step >= 5 else 0.0
    return float(steps * envs.num_envs / spent)


def main() -> None:
    """Print one line per environment and variant."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--places", type=int, default=64)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    for name in recombine.envs.ENVIRONMENTS:
        short = name.removeprefix("recombine/").removesuffix("-v0")
        for variant, arguments in VARIANTS.items():
            if short not in ORIGINAL and variant not in ("paper", "masks"):
                continue
            extra = {k: v for k, v in arguments.items() if short in ORIGINAL or k == "masks"}
            if given.data and short in FILES:
                extra["data"] = given.data / f"{FILES[short]}_dev.json.gz"
            envs = gym.make_vec(name, num_envs=given.places, **extra).unwrapped
            raw, valid = rate(envs, given.steps, False), rate(envs, given.steps, True)
            line = f"{short:15} {variant:13} raw {raw:9,.0f}   valid {valid:9,.0f} steps per CPU-second"
            print(line + (f"   {valid / ORIGINAL[short]:6.0f} x the original" if short in ORIGINAL else ""), flush=True)


if __name__ == "__main__":
    main()
