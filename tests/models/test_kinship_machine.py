"""The kinship machine: rules from chains of two and three, the path between two people, what is read of a story, and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recombine.core import Example
from recombine.data.datasets import load
from recombine.errors import FileError, UsageError
from recombine.models.kinship_machine import KinshipMachine, best_path
from recombine.models.kinship_machine_rules import compose, learn_rules
from recombine.models.kinship_machine_text import pair_features, person_features, read
from recombine.models.machines import load_machine, train_machine

FAMILY: Any = None


def story(text: str, people: list[str], query: list[str]) -> Example:
    return Example(FAMILY, "story", {"story": text, "entities": people, "query": query}, "")


def test_rules_come_from_chains_of_two_and_three() -> None:
    """Steps of a clock with five hours: 1 + 1 = 2 and 1 + 2 = 3 are shown, 2 + 2 = 4 only inside a chain of three."""
    chains = [(1, 1), (1, 2), (2, 1), (1, 1, 2)]
    table = learn_rules(chains, [2, 3, 3, 4], 5)
    assert table[1, 1].argmax() == 2
    assert table[2, 2, 4] + table[1, 3, 4] > 0.6  # either bracketing explains the chain of three
    assert table[0, 0].sum() < 0.1  # nothing is known of a pair that never occurred
    eye = np.eye(5)
    assert compose([eye[1], eye[1], eye[2]], table).argmax() == 4
    assert compose([eye[1], eye[2]], table).argmax() == 3


def test_a_bracketing_that_needs_unknown_rules_counts_for_nothing() -> None:
    table = learn_rules([(0, 1), (2, 0)], [2, 3], 4)
    eye = np.eye(4)
    made = compose([eye[0], eye[1], eye[0]], table)  # (0 1) 0 -> 2 0 -> 3; 1 0 makes nothing
    assert made.argmax() == 3


def test_the_path_goes_by_links_and_never_straight() -> None:
    links = np.full((4, 4), -5.0)
    for a, b in ((0, 1), (1, 2), (2, 3)):
        links[a, b] = links[b, a] = 4.0
    links[0, 3] = links[3, 0] = 9.0  # the asked pair itself is not stated
    assert best_path(links, (0, 3)) == (0, 1, 2, 3)
    links[0, 3] = links[3, 0] = -5.0
    assert best_path(links, (3, 1)) == (3, 2, 1)
    assert best_path(np.zeros((2, 2)), (0, 1)) == (0, 1)


def test_a_story_is_read_without_its_graph() -> None:
    example = story("Ann hugged her son Bo. [Bo]'s aunt Ann-Marie left.", ["Ann", "Bo", "Ann-Marie"], ["Bo", "Ann"])
    found = read(example, {"her", "son", "aunt", "'s", "."})
    assert found.tokens == ("@0", "<rare>", "her", "son", "@1", ".", "@1", "'s", "aunt", "@2", "<rare>", ".")
    assert found.mentions == ((0,), (4, 6), (9,))
    assert found.query == (1, 0)
    remembered: dict[tuple[str, ...], int] = {}
    forward, backward = pair_features(found, 0, 1, remembered), pair_features(found, 1, 0, remembered)
    assert forward
    assert set(forward).isdisjoint(backward)  # from which side a relation is seen matters
    assert 0 not in {*forward, *backward, *person_features(found, 1, remembered)}
    far = story("Ann " + "walked " * 40 + "Bo.", ["Ann", "Bo"], ["Ann", "Bo"])
    assert pair_features(read(far, ()), 0, 1, remembered) == []


class Few(list[Example]):
    """Some rows that stand for a part."""

    job = SimpleNamespace(key="few")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Example]]:
    rows: Any = Few(load("clutrr", "generalization_23", "train", size=400))
    folder = tmp_path_factory.mktemp("kinship") / "run"
    train_machine("kinship-machine", {"epochs": 6, "batch": 256}, rows, folder, 0, lambda _line: None)
    return folder, rows


def test_it_learns_a_few_stories(trained: tuple[Path, list[Example]]) -> None:
    folder, rows = trained
    machine = load_machine(folder)
    hidden = [replace(e, inputs={**e.inputs, "graph": None}, answer="") for e in rows[:60]]
    answers = machine.answers(hidden)
    right = sum(answer == example.answer for answer, example in zip(answers, rows, strict=False))
    assert right >= 50, right
    assert machine.lines()
    assert machine.sizes()["rules"] > 0


def test_the_same_seed_gives_the_same_bytes(trained: tuple[Path, list[Example]], tmp_path: Path) -> None:
    folder, rows = trained
    few: Any = Few(rows[:40])
    for name in ("a", "b"):
        train_machine("kinship-machine", {"epochs": 1}, few, tmp_path / name, 0, lambda _line: None)
    assert (tmp_path / "a" / "machine.npz").read_bytes() == (tmp_path / "b" / "machine.npz").read_bytes()
    assert (folder / "machine.npz").read_bytes() != (tmp_path / "a" / "machine.npz").read_bytes()


def test_damaged_files_and_other_families_are_refused(trained: tuple[Path, list[Example]], tmp_path: Path) -> None:
    folder, _ = trained
    whole = (folder / "machine.npz").read_bytes()
    (tmp_path / "machine.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="cannot read the machine"):
        KinshipMachine.load(tmp_path)
    with pytest.raises(UsageError, match="stories"):
        read(load("scan", "simple", "test").pick([0])[0], ())
    few: Any = Few(load("scan", "simple", "test").pick([0]))
    with pytest.raises(UsageError, match="facts"):
        train_machine("kinship-machine", {}, few, tmp_path / "run", 0, lambda _line: None)
