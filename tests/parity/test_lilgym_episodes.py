"""900 episodes (4,926 steps) of the original code, replayed under the released rules: everything is equal, on every step."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import recombine.envs  # noqa: F401 - registers the environments
from recombine import files
from recombine.families.lilgym.play import episodes
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.tasks import instances_of
from recombine.families.lilgym.scene import SHAPES, Kind, Scene

COLORS = {"Yellow": 0, "Black": 1, "#0099ff": 2}
STEPS = {"tower_scratch": 853, "tower_flipit": 869, "scatter_scratch": 1_343, "scatter_flipit": 1_861}


def scene_of(kind: Kind, boxes: list[list[dict[str, Any]]]) -> Scene:
    return Scene.of(
        kind,
        [
            (b, int(o["x_loc"]), int(o["y_loc"]), o["size"], COLORS[o["color"]], SHAPES.index(o["type"]))
            for b, box in enumerate(boxes)
            for o in box
        ],
    )


def programs(folder: Path) -> dict[str, str]:
    """Statement -> program, over all files at hand."""
    return {
        row["sentence"]: row["lf"] for path in sorted(folder.glob("*_*_*.json.gz")) for row in files.read_json(path).values()
    }


@pytest.mark.parametrize("name", STEPS)
def test_episodes_replay(shared: Path, name: str) -> None:
    kind: Kind = "tower" if name.startswith("tower") else "scatter"
    recorded = files.read_json(shared / "lilgym" / "original_episodes.json.gz")[name]
    texts = programs(shared / "lilgym")
    known = [e for e in recorded if e["sentence"] in texts]
    instances = instances_of(
        kind,
        [(str(i), e["sentence"], texts[e["sentence"]], scene_of(kind, e["initial"]), e["target"]) for i, e in enumerate(known)],
    )
    assert len(known) == len(recorded), "every statement has its program"
    states = episodes.begin(Setting(kind, "code"), instances, np.arange(len(known)), compiled=True)
    seen = 0
    for t in range(11):
        live = [i for i, e in enumerate(known) if t < len(e["steps"])]
        assert np.flatnonzero(states.active).tolist() == live
        actions = [e["steps"][t]["action"] if t < len(e["steps"]) else 0 for e in known]
        outcome = episodes.advance(states, np.array(actions))
        scenes = states.scenes()
        for i in live:
            step = known[i]["steps"][t]
            place = f"{name} episode {i}, step {t}"
            assert outcome.rewards[i] == step["reward"], place
            assert outcome.ended[i].tolist() == [step["terminated"], step["truncated"]], place
            assert scenes[i] == scene_of(kind, step["scene"]), place
            assert hashlib.sha1(states.images[i].tobytes()).hexdigest() == step["image_sha1"], place
            seen += 1
    assert seen == STEPS[name]


COUNTS = {"TowerScratch": (989, 163), "TowerFlipIt": (None, 676), "ScatterScratch": (1_241, 87), "ScatterFlipIt": (None, 313)}


@pytest.mark.parametrize("name", COUNTS)
def test_official_files_as_the_source(shared: Path, name: str) -> None:
    """A folder of published files, or one of them: as many initial states as the paper counts, named by their keys."""
    folder = shared / "lilgym"
    train, dev = COUNTS[name]
    env = gym.make(f"recombine/{name}-v0", data=folder, part="dev").unwrapped
    assert len(env.engine.ids) == dev  # type: ignore[attr-defined]
    if "FlipIt" in name:
        expanded = gym.make(f"recombine/{name}-v0", data=folder, part="dev", permutations=True).unwrapped
        assert len(expanded.engine.ids) == 6 * dev  # type: ignore[attr-defined]
    if train is not None:
        assert len(gym.make(f"recombine/{name}-v0", data=folder).unwrapped.engine.ids) == train  # type: ignore[attr-defined]
    stem = name.replace("Scratch", "_scratch").replace("FlipIt", "_flipit").lower()
    path = folder / f"{stem}_dev.json.gz"
    same = gym.make(f"recombine/{name}-v0", data=path).unwrapped
    key, record = list(files.read_json(path).items())[-1]
    for one in (env, same):
        _, info = one.reset(options={"id": key})
        assert info["sentence"] == record["sentence"] and info["target"] == (record.get("label") != "true")
