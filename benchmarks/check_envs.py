"""Long checks of scenes and environments: pictures against Pillow, random play without an exception, copies that go on alike.

    python benchmarks/check_envs.py [--scenes 10000] [--steps 1000000]

The tests run the same checks at a small count. Exits with 1 at the first difference.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env
from PIL import Image, ImageDraw

import recombine.envs
from recombine.families.lilgym import render
from recombine.families.lilgym.scene import SIZES, Scene, pack
from recombine.keys import Stream

COLORS = ((250, 255, 0), (0, 0, 0), (15, 131, 255))


def drawn(scene: Scene) -> Any:
    """The scene by Pillow's own rectangles, ellipses and polygons."""
    image = Image.new("RGB", (380, 100), (128, 128, 128))
    pen = ImageDraw.Draw(image)
    for box in range(3):
        pen.rectangle((140 * box, 0, 140 * box + 99, 99), fill=(211, 211, 211))
    for item in scene.items:
        x0, y0 = 140 * item.box + item.x, item.y
        x1, y1 = x0 + item.size - 1, y0 + item.size - 1
        if item.shape == 0:
            pen.ellipse((x0, y0, x1, y1), fill=COLORS[item.color])
        elif item.shape == 1:
            pen.rectangle((x0, y0, x1, y1), fill=COLORS[item.color])
        else:
            pen.polygon([(x0, y1), (x1, y1), (x1 - (x1 - x0) // 2, y0)], fill=COLORS[item.color])
    return np.asarray(image)


def random_scene(stream: Stream) -> Scene:
    """Up to 20 items anywhere in their boxes, a few over an edge, overlapping as they like."""
    draws = [
        (
            stream.below(3),
            stream.below(104) - 6,
            stream.below(104) - 6,
            SIZES[stream.below(3)],
            stream.below(3),
            stream.below(3),
        )
        for _ in range(stream.below(21))
    ]
    return Scene.of("scatter", draws)


def check_pictures(count: int) -> None:
    """Canvas and observation of random scenes, by both renderers, against Pillow."""
    for low in range(0, count, 500):
        scenes = [random_scene(Stream("check", i)) for i in range(low, min(low + 500, count))]
        seen = render.observations(*pack(scenes))
        for scene, image in zip(scenes, seen, strict=True):
            reference = drawn(scene)
            half = reference.reshape(50, 2, 190, 2, 3).astype(int).sum((1, 3)) // 4
            same = np.array_equal(render.picture(scene), reference) and np.array_equal(render.observation(scene), half)
            if not same or not np.array_equal(image, half):
                raise SystemExit(f"the picture of {scene} differs from Pillow's")


def check_play(name: str, steps: int, arguments: dict[str, Any]) -> tuple[int, int]:
    """Random steps, half of them valid, with rewards and flags looked at; the number of episodes, and of copies that went on alike."""
    envs: Any = gym.make_vec(name, num_envs=64, **arguments).unwrapped
    generator = np.random.default_rng(0)
    envs.reset(seed=0)
    episodes = copies = 0
    for step in range(-(-steps // 64)):
        actions = generator.integers(envs.single_action_space.n, size=64)
        if step % 2 and arguments.get("grid") != "native":
            actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])
        held = envs.get_state() if step % 90 == 0 else None
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        if not np.isin(rewards, (-1.0, -0.1, 0.0, 1.0)).all():
            raise SystemExit(f"{name} gave the rewards {np.unique(rewards)}")
        episodes += int((terminated | truncated).sum())
        if held is not None:
            copies += envs.num_envs
            envs.set_state(held)
            again = envs.step(actions)
            same = all(np.array_equal(seen[key], again[0][key]) for key in seen) and np.array_equal(rewards, again[1])
            if not same:
                raise SystemExit(f"{name} went on differently from a copy")
    return episodes, copies


def main() -> None:
    """Run all checks and say what was checked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--scenes", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    warnings.simplefilter("error")
    check_pictures(given.scenes)
    print(f"{given.scenes:,} random scenes: pixel for pixel as Pillow draws them", flush=True)
    for name in recombine.envs.ENVIRONMENTS:
        check_env(gym.make(name, render_mode="rgb_array", size=50).unwrapped)
    print(f"check_env: clean for {', '.join(recombine.envs.ENVIRONMENTS)}", flush=True)
    runs: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in recombine.envs.ENVIRONMENTS]
    runs += [(name, {"rules": "code", "stop_forcing": True}) for name in recombine.envs.ENVIRONMENTS if "SCAN" not in name]
    runs += [("recombine/ScatterFlipIt-v0", {"grid": "native"})]
    copies = 0
    for name, arguments in runs:
        began = time.process_time()
        episodes, alike = check_play(name, -(-given.steps // len(runs)), arguments)
        copies += alike
        shown = ", ".join(f"{key}={value}" for key, value in arguments.items())
        print(f"{name} {shown}: {episodes:,} episodes, {time.process_time() - began:.1f} CPU-seconds", flush=True)
    print(f"{given.steps:,} random steps without an exception; {copies:,} copied states went on alike")


if __name__ == "__main__":
    main()
