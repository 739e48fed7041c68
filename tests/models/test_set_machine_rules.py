"""The set machine's rules: steps and manners, the tree, what it makes of unseen combinations, files; and learning from actions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recombine.data.datasets import load
from recombine.errors import FileError, UsageError
from recombine.models.machines import load_machine, train_machine
from recombine.models.set_machine import SetMachine
from recombine.models.set_machine_actor import forward, log_shares, new_actor
from recombine.models.set_machine_rows import (
    PULL,
    STAY,
    TURN_LEFT,
    TURN_RIGHT,
    WALK,
    Rows,
    Vocabulary,
    rows_of,
    vocabulary_of,
    walked,
)  # fmt: skip
from recombine.models.set_machine_rules import (
    ENDING,
    Lessons,
    Manner,
    act_by_rules,
    as_rules,
    learn_rules,
    manners_of,
    parsed,
    rows_for_rules,
    written,
)  # fmt: skip
from recombine.models.set_machine_signal import aimed, drawn, likelihoods
from recombine.models.set_machine_train import Lesson, moments_of, shares_of
from recombine.models.set_machine_tree import decide, grow

SPIN = Manner((TURN_LEFT,) * 4)
CAREFUL = Manner((), (TURN_LEFT, TURN_RIGHT, TURN_RIGHT, TURN_LEFT))
SLOW = Manner((), (), (STAY,))


def sizes_of(rows: Rows) -> NDArray[np.int64]:
    here = (rows.objects[:, :, 3:5] == walked(rows).targets[:, None]).all(2) & (rows.objects[:, :, 0] >= 0)
    sizes: NDArray[np.int64] = rows.objects[np.arange(len(here)), here.argmax(1), 0].astype(np.int64)
    return sizes


@pytest.fixture(scope="module")
def learnt() -> tuple[Vocabulary, dict[str, NDArray[Any]]]:
    batches = list(load("gscan", "compositional", "train", size=1_500).batches())
    known = vocabulary_of(batches)
    rows = rows_of(batches, known)
    lessons = Lessons(rows, walked(rows), sizes_of(rows))
    return known, learn_rules(lessons, np.arange(1_500), len(known.words) + 1)


@pytest.mark.parametrize("manner", [Manner(), SPIN, CAREFUL, SLOW])
def test_steps_are_read_back_in_every_manner(manner: Manner) -> None:
    steps = [0, 3, 6, 9, 1, 2]
    actions = [action for step in steps for action in written(step, manner)]
    assert parsed(actions, manner) == steps
    for other in {Manner(), SPIN, CAREFUL, SLOW} - {manner}:
        assert parsed(actions, other) != steps
    assert parsed([*actions, TURN_LEFT], manner) is None


def test_a_step_is_a_turn_and_a_move() -> None:
    assert parsed([TURN_LEFT, TURN_LEFT, WALK, WALK, TURN_RIGHT, PULL], Manner()) == [9, 0, 8]
    assert parsed([TURN_LEFT, TURN_RIGHT, WALK], Manner()) is None
    assert parsed([WALK, STAY], Manner()) is None


def test_a_test_that_decides_alone_does_not_depend_on_others() -> None:
    """First feature 0 always means class 0; the pair (0, 2) is never shown."""
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 2], [2, 0]] * 20)
    kinds = np.array([0, 0, 1, 2, 3, 3, 2] * 20)
    tree = grow(states, kinds, 4, frozenset()).tolist()
    assert [decide(tree, state, frozenset()) for state in states[:7].tolist()] == kinds[:7].tolist()
    assert decide(tree, [0, 2], frozenset()) == 0


def test_ordered_features_are_compared_by_size() -> None:
    states = np.array([[0], [1], [4], [5]] * 5)
    tree = grow(states, np.array([0, 0, 1, 1] * 5), 2, frozenset([0]))
    assert len(tree) == 3
    assert [decide(tree.tolist(), [value], frozenset([0])) for value in (0, 1, 9)] == [0, 0, 1]


def test_manners_are_found(learnt: tuple[Vocabulary, dict[str, NDArray[Any]]]) -> None:
    known, actor = learnt
    found = {known.words[word - 1]: manner for word, manner in manners_of(actor["manners"]).items()}
    assert found["spinning"] == SPIN
    assert found["hesitantly"] == SLOW
    assert set(found) <= {"spinning", "hesitantly", "cautiously"}


@pytest.mark.parametrize("split", ["compositional", "situational_1", "adverb_2"])
def test_rules_act_where_training_never_went(learnt: tuple[Vocabulary, dict[str, NDArray[Any]]], split: str) -> None:
    known, actor = learnt
    rows = rows_of(load("gscan", split, "test", size=60).batches(), known)
    taken = act_by_rules(actor, rows, np.arange(60), walked(rows).targets, sizes_of(rows))
    right = [taken[i] == rows.actions[rows.ends[i] : rows.ends[i + 1]].tolist() for i in range(60)]
    assert np.mean(right) > 0.9


def test_rare_words_keep_their_rows() -> None:
    batches = list(load("gscan", "compositional", "train", size=300).batches())
    rows = rows_of(batches, vocabulary_of(batches))
    counts = {word: int((rows.words == word).any(1).sum()) for word in np.unique(rows.words[rows.words > 0])}
    rarest = min(counts, key=lambda word: counts[word])
    chosen = rows_for_rules(rows, np.arange(300), 10)
    assert int((rows.words[chosen] == rarest).any(1).sum()) == min(counts[rarest], 200)


def test_a_machine_with_rules_is_kept_and_read(tmp_path: Path) -> None:
    settings = {"rows": 2_000, "batch": 64, "actor": "rules", "rule_rows": 300, "short_rows": 0, "middle_rows": 0}
    rows = load("gscan", None, "train", size=300)
    machine, trained = train_machine("set-machine", settings, rows, tmp_path / "run", 0, lambda _line: None)
    assert isinstance(machine, SetMachine)
    examples = list(load("gscan", None, "test", size=20))
    assert machine.answers(examples) == load_machine(tmp_path / "run").answers(examples)
    assert trained.sizes["of the actor"] == len(machine.actor["tree"]) + np.count_nonzero(machine.actor["manners"])
    machine.actor["tree"][0, :3] = 0, 0, 0  # a node that leads to itself
    machine.save(tmp_path)
    with pytest.raises(FileError, match="leads nowhere"):
        SetMachine.load(tmp_path)
    machine.actor["tree"][:, 0], machine.actor["tree"][:, 1] = -1, ENDING + 1
    with pytest.raises(ValueError, match="no step"):
        as_rules(machine.actor, len(machine.known.words) + 1)
    for wrong in ({"actor": "rule"}, {"signal": "cells"}, {"actor": "rules", "signal": "actions"}):
        with pytest.raises(UsageError):
            train_machine("set-machine", wrong, rows, tmp_path / "wrong" / "-".join(wrong.values()), 0, lambda _line: None)


def test_likelihoods_are_of_the_right_actions() -> None:
    """The likelihood of each object is that of the actions at the same moments, aimed at that object."""
    batches = list(load("reascan", "simple", "train", size=30).batches())
    rows = rows_of(batches, vocabulary_of(batches))
    config = SetMachine.Config(moments=3, signal="actions")
    lesson, order = Lesson(rows, rows, walked(rows), config, 0), np.arange(5)
    moments, right = moments_of(lesson, order, np.zeros(5, np.int64), 0)
    assert right[::3].tolist() == [1] * 5  # the first moment of each row is its end
    weights = new_actor(int(rows.words.max()) + 1, rows.grid, (12, 6), np.random.default_rng(0))
    found = likelihoods(weights, rows, order, moments, right)
    assert (found.max(1) == 1).all()
    for thing in range(2):
        logs = log_shares(forward(weights, rows, order, aimed(rows, order, moments, np.full(5, thing))).logits)
        whole = logs[np.arange(15), right].reshape(5, 3).sum(1)
        other = log_shares(forward(weights, rows, order, aimed(rows, order, moments, found.argmax(1))).logits)
        best = other[np.arange(15), right].reshape(5, 3).sum(1)
        assert np.allclose(np.log(found[:, thing]), whole - best, atol=1e-4)


def test_objects_are_drawn_by_weight() -> None:
    weights = np.tile([1.0, 0.0, 3.0], (4_000, 1))
    counts = np.bincount(drawn(weights, "test"), minlength=3) / 4_000
    assert counts[1] == 0
    assert counts[2] == pytest.approx(0.75, abs=0.03)


def test_targets_are_found_from_actions_alone(tmp_path: Path) -> None:
    rows = load("reascan", "simple", "train", size=3_000)
    settings = {
        "rows": 40_000, "first": 32, "second": 16, "moments": 4, "short_rows": 0, "middle_rows": 0, "signal": "actions",
        "actor_rate": 5e-3,
    }  # fmt: skip
    machine, _ = train_machine("set-machine", settings, rows, tmp_path / "run", 0, lambda _line: None)
    assert isinstance(machine, SetMachine)
    tests = rows_of(load("reascan", "simple", "test", size=200).batches(), machine.known)
    _, cells = machine.run(tests, np.arange(200))
    assert (cells == walked(tests).targets).all(1).mean() > 0.8
    assert shares_of(Lesson(tests, tests, walked(tests), machine.config, 0), np.arange(200)).any(1).all()
