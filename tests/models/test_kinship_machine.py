"""The kinship machine: rules from chains of two and three, the path between two people, what is read of a story, and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recombine import kernels
from recombine.core import Example
from recombine.data.datasets import load
from recombine.errors import FileError, UsageError
from recombine.models.kinship_machine import (
    READER_NAME,
    KinshipMachine,
    best_path,
    new_slate,
    pairs_of,
    stories_of,
    word_numbers,
)
from recombine.models.kinship_machine_kernel import Pairs, Reader, Stories
from recombine.models.kinship_machine_rules import compose, learn_rules
from recombine.models.kinship_machine_text import read, together
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
    assert [(a, b) for a, b, _ in together(found)] == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert next(places for a, b, places in together(found) if (a, b) == (1, 2)) == [(6, 9), (4, 9)]
    far = story("Ann " + "walked " * 40 + "Bo.", ["Ann", "Bo"], ["Ann", "Bo"])
    assert list(together(read(far, ()))) == []


def small_reader() -> tuple[Stories, Pairs, Reader]:
    """Three short stories, with weights and meanings drawn at random."""
    words = word_numbers(["her", "son", "aunt", "'s", ".", ","])
    texts = ["Ann hugged her son Bo.", "Bo 's aunt Cy, left. Ann sang.", "Cy, son, her Ann. Bo."]
    stories = [read(story(text, ["Ann", "Bo", "Cy"], ["Ann", "Bo"]), words) for text in texts]
    seen = [(n, places, (n + a + b) % 4) for n, found in enumerate(stories) for a, b, places in together(found)]
    rng = np.random.default_rng(1)
    meanings = rng.random((len(words) + 1, 2, 3))
    reader = Reader(rng.normal(0, 1, (101, 2)), meanings / meanings.sum(2, keepdims=True))
    return stories_of(stories, words), pairs_of(seen, stories), reader


def test_the_reader_gives_each_pair_a_distribution_that_depends_on_the_side() -> None:
    stories, pairs, reader = small_reader()
    out = np.zeros((len(pairs.story), 4))
    kernels.load(READER_NAME, compiled=False).read_pairs(stories, pairs, reader, new_slate(), out)
    assert np.allclose(out.sum(1), 1.0)
    ann_to_bo, bo_to_ann = out[0], out[1]
    assert not np.allclose(ann_to_bo, bo_to_ann)


@pytest.mark.parametrize("dropout", [0, 300])
def test_the_readers_slopes_are_those_of_its_loss(dropout: int) -> None:
    stories, pairs, reader = small_reader()
    kernel, order = kernels.load(READER_NAME, compiled=False), np.arange(len(pairs.story))

    def loss(weights: Any, logits: Any, slopes: Reader | None = None) -> float:
        e = np.exp(logits)
        nowhere = Reader(np.zeros_like(weights), np.zeros_like(logits))
        now = Reader(weights, e / e.sum(2, keepdims=True))
        return float(kernel.learn_pairs(order, stories, pairs, now, new_slate(), 7, dropout, slopes or nowhere))

    logits = np.log(reader.meanings)
    slopes = Reader(np.zeros_like(reader.weights), np.zeros_like(logits))
    loss(reader.weights, logits, slopes)
    for array, slope in ((reader.weights, slopes.weights), (logits, slopes.meanings)):
        flat, strongest = array.reshape(-1), np.argsort(-np.abs(slope).reshape(-1))[:6]
        assert np.abs(slope).max() > 0.01
        for place in strongest:
            kept = flat[place]
            flat[place] = kept + 1e-5
            above = loss(reader.weights, logits)
            flat[place] = kept - 1e-5
            below = loss(reader.weights, logits)
            flat[place] = kept
            assert (above - below) / 2e-5 == pytest.approx(slope.reshape(-1)[place], rel=1e-4, abs=1e-6)


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
