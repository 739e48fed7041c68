"""The example with Stable-Baselines3's MaskablePPO runs, and never takes an invalid action."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
pytest.importorskip("torch")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "maskable_ppo.py"


def test_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--env",
        "recombine/TowerScratch-v0",
        "--steps",
        "64",
        "--places",
        "2",
        "--rollout",
        "16",
        "--size",
        "10",
        "--tests",
        "4",
    ]
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *words])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out.startswith("64 steps; mean reward on 4 unseen tasks")


def test_masked_actions_are_valid() -> None:
    import gymnasium
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks

    import recombine.envs  # noqa: F401

    env = gymnasium.make("recombine/ScatterFlipIt-v0", size=5)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, seed=0, device="cpu")
    seen, info = env.reset(seed=0)
    for _ in range(30):
        masks = get_action_masks(env)
        assert (masks == info["action_mask"]).all()
        action, _ = model.predict(seen, action_masks=masks)
        seen, _, terminated, truncated, info = env.step(int(action))
        assert info["error"] in ("", "stopped_early", "never_stopped")
        if terminated or truncated:
            seen, info = env.reset()
