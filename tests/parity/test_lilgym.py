"""Against the published lilGym and NLVR files: every program parses, every label is reproduced, counts are the paper's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

import recombine
from recombine import files
from recombine.core import Example
from recombine.families.lilgym import LILGYM, native, program
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.episodes import play
from recombine.families.lilgym.scene import Item
from recombine.jobs import make_job

COUNTS = {
    "tower_scratch_train": (989, 989), "tower_scratch_dev": (163, 163), "scatter_scratch_train": (1241, 1241),
    "scatter_scratch_dev": (87, 87), "tower_flipit_dev": (676, 317), "scatter_flipit_dev": (313, 164),
}  # fmt: skip
"""File -> records and contexts, as in Table 2 of the paper."""


def _read(shared: Path, name: str) -> list[Example]:
    found = list(LILGYM.read(shared / "lilgym" / f"{name}.json.gz"))
    assert all(isinstance(example, Example) for example in found)
    return [example for example in found if isinstance(example, Example)]


@pytest.mark.parametrize("name", COUNTS)
def test_programs_compile_and_counts_are_the_papers(shared: Path, name: str) -> None:
    found = _read(shared, name)
    assert (len(found), len(native.contexts(found))) == COUNTS[name]
    kind, start, _ = name.split("_")
    for example in found:
        assert (example.meta["scene"], example.meta["start"], example.meta["task"]) == (kind, start, "edit")
        made = program.compile(example.meta["program"])
        assert made.code is not None, "left to the plain interpreter"
        assert isinstance(made.evaluate(example.world), bool)
        assert example.meta["target"] is True or start == "flipit"


@pytest.mark.parametrize("name", ["tower_flipit_dev", "scatter_flipit_dev"])
def test_labels_are_reproduced_and_do_not_depend_on_box_order(shared: Path, name: str) -> None:
    found = _read(shared, name)
    for example in found:
        made = program.compile(example.meta["program"])
        values = {made.evaluate(example.world.permuted(order)) for order in native.ORDERS}
        assert values == {example.meta["label"]} == {not example.meta["target"]}
    by_label = {label: sum(example.meta["label"] is label for example in found) for label in (True, False)}
    assert by_label == ({True: 381, False: 295} if "tower" in name else {True: 164, False: 149})


def test_known_faults_are_found(shared: Path, tmp_path: Path) -> None:
    """The uncalled method of record 491, and two statements that no tower within the horizon makes true (proved)."""
    records = files.read_json(shared / "lilgym" / "tower_scratch_train.json.gz")
    kept = {key: records[key] for key in (*list(records)[:40], "30", "491", "1786")}
    (tmp_path / "tower_scratch_some.json").write_text(json.dumps(kept))
    found = recombine.audit(tmp_path / "tower_scratch_some.json", "lilgym")
    assert [(p.code, p.place) for p in found.problems if p.severity == "error"] == [("type_fault", "491")]
    assert {p.place for p in found.problems if p.code == "out_of_reach"} == {"30", "1786"}
    flips = recombine.audit(shared / "lilgym" / "scatter_flipit_dev.json.gz", "lilgym")
    assert flips.ok and flips.wrong_labels == 0
    assert flips.counts == {"artifact:unproved_program": 3}  # one statement whose program is outside the language of ours
    assert flips.survey["contexts"] == 164
    assert flips.survey["values that change with the box order"] == 0
    assert flips.survey["initial states with every box order"] == 6 * 313


def _contents(box: Sequence[Item]) -> tuple[tuple[int, ...], ...]:
    """What lies in a box, wherever the box stands."""
    return tuple((item.x, item.y, item.size, item.color, item.shape) for item in box)


def test_official_splits_load(shared: Path) -> None:
    folder = str(shared / "lilgym")
    data = recombine.load("lilgym", split="tower_flipit", part="validation", files=folder)
    assert len(data) == 676
    assert data[0].meta["key"] == "3597-0-0"
    assert data[0].validate() == []
    permuted = recombine.load("lilgym", split="scatter_flipit", part="validation", files=folder, permutations=True)
    assert len(permuted) == 6 * 313
    boxes = [[_contents(box) for box in permuted[row].world.boxes] for row in range(6)]
    assert len(set(boxes[0])) == 3, "three different boxes have six orders"
    assert all(sorted(own) == sorted(boxes[0]) for own in boxes)
    assert boxes == [list(order) for order in permutations(boxes[0])]
    assert len({permuted[k].meta["key"] for k in range(6)}) == 6
    scratch = make_job(LILGYM, "scatter_scratch", "train", options={"files": folder})
    assert scratch.stop == 1241
    assert "files" not in scratch.key


def test_nlvr_sample_reads_as_true_or_false(shared: Path) -> None:
    found = list(LILGYM.read(shared / "nlvr" / "dev_sample.json.gz"))
    assert len(found) == 300
    for example in found:
        assert isinstance(example, Example)
        assert example.meta["task"] == "truth"
        assert example.score(example.answer).value == 1.0
        assert example.validate() == []


def test_solutions_of_the_original_score(shared: Path) -> None:
    """Episodes of the original code that ended in +1, replayed as answers on TOWER."""
    episodes = files.read_json(shared / "lilgym" / "original_episodes.json.gz")["tower_scratch"]
    programs = {e.inputs["statement"]: e for name in ("tower_scratch_train", "tower_scratch_dev") for e in _read(shared, name)}
    solved = 0
    for episode in episodes:
        example = programs.get(episode["sentence"])
        if example is None or episode["steps"][-1]["action"] != 0:
            continue
        made = program.compile(example.meta["program"])
        played = play(Setting("tower"), example.world, True, made.evaluate, [step["action"] for step in episode["steps"]])
        assert played.solved == (episode["steps"][-1]["reward"] > 0)
        solved += played.solved
    assert solved > 0
