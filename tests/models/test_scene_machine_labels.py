"""The scene machine from labelled scenes: labels, proposed readings, the aligner, and a small problem."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recombine.data.datasets import load
from recombine.errors import UsageError
from recombine.models.machines import Task, train_machine
from recombine.models.scene_machine import SceneMachineConfig, programmed
from recombine.models.scene_machine_labels import Aligner, Seen, Universe, bits_of, label, learn_from_labels, shapes_of
from recombine.models.scene_machine_text import slotted, words_of
from recombine.models.scene_machine_train import Pair

FAMILY = programmed(load("lilgym", "random", "train", size=1, scene="tower")[0])


def tower(what: str) -> str:
    return f"exist(filter_obj(all_items, lambda x: {what}))"


PLACES = {"at the top": "is_top(x)", "at the base": "is_bottom(x)"}
COLORS = ("black", "blue", "yellow")
PAIRS = [
    Pair(f"there is a {color} block {where}", tower(f"is_{color}(x) and {test}"), "tower")
    for color in COLORS
    for where, test in PLACES.items()
]
POOL = [pair.program for pair in PAIRS[:2]] + [tower("is_black(x)"), "count(filter_obj(all_items, lambda x: is_blue(x))) >= 2"]


def test_labels_are_true_and_false_in_turn() -> None:
    seen = label(PAIRS, FAMILY, 6)
    assert [one.statement for one in seen] == [pair.statement for pair in PAIRS]
    for one, pair in zip(seen, PAIRS, strict=True):
        bits = bits_of(FAMILY.meanings("tower", [pair.program]))[0]
        assert one.labels.sum() == 3
        assert len(set(one.scenes.tolist())) == 6
        assert (bits[one.scenes] == one.labels).all()
    assert label([PAIRS[0]._replace(program="True")], FAMILY, 6) == []  # a constant program has no labels


def test_shapes_keep_a_number_or_make_it_a_slot() -> None:
    shapes = shapes_of([POOL[3]], FAMILY.VALUE_WORDS)
    assert {shape.slots for shape in shapes} == {frozenset({"@color1"}), frozenset({"@color1", "@number1"})}
    two = shapes_of([tower("is_black(x) and is_blue(x)")], FAMILY.VALUE_WORDS)
    assert len(two) == 2  # either colour may be the one that is named first


def test_readings_use_every_named_colour_and_give_the_labels() -> None:
    universe = Universe(FAMILY, shapes_of(POOL, FAMILY.VALUE_WORDS))
    seen = label([PAIRS[2]], FAMILY, 40)[0]
    found = universe.readings(seen, slotted(words_of(seen.statement), FAMILY.VALUE_WORDS))
    assert all("blue" in program.lower() for program in found.group.programs)
    right = [text for text, fits in zip(found.group.programs, found.is_consistent, strict=True) if fits]
    own = FAMILY.meanings("tower", [PAIRS[2].program])
    assert [FAMILY.meanings("tower", [text]) for text in right] == [own]
    nothing = Seen("green", "tower", np.arange(4), np.zeros(4, bool))
    said = slotted(words_of("a circle, a square, a triangle"), FAMILY.VALUE_WORDS)
    assert not universe.readings(nothing, said).is_consistent.any()


def test_the_aligner_learns_which_words_go_with_which_tokens() -> None:
    """Two labels leave several readings open; words that several statements share decide."""
    universe = Universe(FAMILY, shapes_of(POOL, FAMILY.VALUE_WORDS))
    seen = label(PAIRS, FAMILY, 10)
    said = [slotted(words_of(one.statement), FAMILY.VALUE_WORDS) for one in seen]
    aligner = Aligner([one.tokens for one in said], universe.shapes)
    found = [universe.readings(one, how) for one, how in zip(seen, said, strict=True)]
    losses = [sum(aligner.learn(how.tokens, r) for how, r in zip(said, found, strict=True)) for _ in range(20)]
    assert losses[-1] < 0.3 * losses[0]
    for pair, how, readings in zip(PAIRS, said, found, strict=True):
        best = readings.group.programs[int(aligner.shares(how.tokens, readings.group).argmax())]
        assert FAMILY.meanings("tower", [best]) == FAMILY.meanings("tower", [pair.program])


def test_a_machine_learns_from_labels(tmp_path: Path) -> None:
    """The last statement is new: its place was seen with the other colours, and no program was ever given for any statement."""
    task = Task(None, SceneMachineConfig(), 0, tmp_path, lambda _line: None)  # type: ignore[arg-type]
    machine, figures = learn_from_labels(label(PAIRS[:5], FAMILY, 12), POOL, FAMILY, task)
    assert figures["rounds"][-1]["consistent"] == 5
    readings = machine.readings(FAMILY, "tower", PAIRS[5].statement)
    assert FAMILY.meanings("tower", [readings[0][0]]) == FAMILY.meanings("tower", [PAIRS[5].program])
    with pytest.raises(UsageError, match="pool"):
        learn_from_labels(label(PAIRS, FAMILY, 4), [], FAMILY, task)


def test_labels_is_a_setting_of_the_machine(tmp_path: Path) -> None:
    rows = load("lilgym", "random", "train", size=60, scene="tower")
    said: list[str] = []
    machine, trained = train_machine("scene-machine", {"labels": 8}, rows, tmp_path, 0, said.append)
    assert machine.config.labels == 8  # type: ignore[attr-defined]
    assert trained.figures["rounds"][-1]["consistent"] > 0
    assert len(machine.answers(list(rows)[:3])) == 3
    with pytest.raises(UsageError, match="at least 2"):
        train_machine("scene-machine", {"labels": 1}, rows, tmp_path / "one", 0, said.append)
