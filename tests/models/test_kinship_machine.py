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
    meanings_of,
    new_slate,
    stories_of,
    word_kinds,
    word_numbers,
)
from recombine.models.kinship_machine_kernel import CLUE, UNTIED, Facts, Reader, Slopes, Stories
from recombine.models.kinship_machine_rules import compose, learn_rules
from recombine.models.kinship_machine_text import narrowed, read
from recombine.models.kinship_machine_train import SLOPES_NAME, _logit_slopes
from recombine.models.kinship_machine_words import clue_words, common_words
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
    example = story('Ann hugged her son Bo. "Hi!" [Bo]\'s aunt Ann-Marie left.', ["Ann", "Bo", "Ann-Marie"], ["Bo", "Ann"])
    found = read(example)
    assert found.tokens == ("@0", "hugged", "her", "son", "@1", ".", '"', "hi", '"', "@1", "'s", "aunt", "@2", "left", ".")
    assert found.mentions == ((0,), (4, 9), (12,))
    assert found.query == (1, 0)
    known = word_kinds(["her"], ["son", "aunt"])
    assert narrowed(found, known).tokens[:9] == ("@0", "<rare>", "her", "son", "@1", ".", '"', "<rare>", '"')


def test_an_unknown_plural_counts_as_its_singular() -> None:
    known = word_kinds(["a"], ["son-in-law", "dad"])
    assert "".join(known) == "a's!.?,:;\"dadson-in-law"  # an order of its own: the file of a machine holds it
    found = narrowed(read(story("Ann met sons-in-law, dads, as glass.", ["Ann"], ["Ann", "Ann"])), known)
    assert found.tokens == ("@0", "<rare>", "son-in-law", ",", "dad", ",", "<rare>", "<rare>", ".")


def test_clues_are_the_words_that_tell_which_facts_are_stated() -> None:
    told = {"dad": 0, "mum": 1, "bro": 2}
    tokens = [["the", word, "and", f"w{n % 7}", "left", "."] for n in range(300) for word in told]
    facts = [[relation] for _ in range(300) for relation in told.values()]
    clues = clue_words(tokens, facts, 3)
    assert {word: int(guess.argmax()) for word, guess in clues.items()} == told
    assert "and" in common_words(tokens, clues)
    assert not set(common_words(tokens, clues)) & set(clues)
    assert clue_words([["."]], [[0]], 3) == {}


def small_reader() -> tuple[Stories, Facts, Reader]:
    """Three short stories, with weights and meanings drawn at random."""
    words = word_kinds(["her", "who"], ["son", "aunt"])
    numbers = word_numbers(words)
    texts = ["Ann hugged her son Bo.", 'Bo\'s aunt Cy, left. "My son," Ann sang.', "Cy, son, her aunt Ann. Bo."]
    stories = [narrowed(read(story(text, ["Ann", "Bo", "Cy"], ["Ann", "Bo"])), words) for text in texts]
    rng = np.random.default_rng(1)
    relations = np.full((3, 3, 3), UNTIED)
    relations[0, 0, 1], relations[1, 1, 2], relations[1, 0, 1], relations[2, 2, 0] = 0, 1, 2, 1
    genders = np.array([0, 1, 0] * 3)
    told = stories_of(stories, numbers, words, genders)
    meanings = meanings_of(
        rng.normal(0, 1, (len(words) + 1, 3)), rng.normal(0, 1, (3, 3)), np.array([[0.2, 0.8], [0.7, 0.3], [0.5, 0.5]])
    )
    return told, Facts(np.arange(3) * 9, relations.reshape(-1), genders), Reader(rng.normal(0, 0.5, 101), meanings)


def test_the_reader_shares_each_clue_out_among_pairs_of_people() -> None:
    stories, _, reader = small_reader()
    assert np.diff(stories.clue_ends).tolist() == [1, 2, 2]
    out = np.zeros((2, 3, 3))
    kernels.load(READER_NAME, compiled=False).read_story(stories, 1, reader, new_slate(2), out)
    assert np.all(out.sum((1, 2)) < 1.0)
    assert np.all(out.sum((1, 2)) > 0.0)
    assert np.all(out[:, np.arange(3), np.arange(3)] == 0.0)
    assert not np.allclose(out[0], out[0].T)


@pytest.mark.parametrize("dropout", [0, 300])
def test_the_readers_slopes_are_those_of_its_loss(dropout: int) -> None:
    stories, facts, reader = small_reader()
    kernel, order = kernels.load(SLOPES_NAME, compiled=False), np.arange(3)

    def loss(slopes: Slopes | None = None) -> float:
        nowhere = Slopes(np.zeros_like(reader.weights), np.zeros_like(reader.meanings))
        return float(kernel.learn_stories(order, stories, facts, reader, new_slate(2), 7, dropout, slopes or nowhere))

    slopes = Slopes(np.zeros_like(reader.weights), np.zeros_like(reader.meanings))
    loss(slopes)
    for array, slope in zip(reader, slopes, strict=True):
        assert np.abs(slope).max() > 0.01
        for place in np.argsort(-np.abs(slope).reshape(-1))[:6]:
            assert slope_of(loss, array.reshape(-1), place) == pytest.approx(slope.reshape(-1)[place], rel=1e-4, abs=1e-6)


def slope_of(loss: Any, flat: Any, place: int) -> float:
    """The slope of a loss at one entry, by a small step to either side."""
    kept = flat[place]
    flat[place] = kept + 1e-5
    above = loss()
    flat[place] = kept - 1e-5
    below = loss()
    flat[place] = kept
    return float((above - below) / 2e-5)


def test_slopes_go_through_the_meanings_to_their_logits() -> None:
    rng = np.random.default_rng(2)
    words, inverse, pull = rng.normal(0, 1, (4, 3)), rng.normal(0, 1, (3, 3)), rng.normal(0, 1, (4, 2, 2, 3))
    genders = np.array([[0.1, 0.9], [0.6, 0.4], [0.5, 0.5]])
    assert np.allclose(meanings_of(words, inverse, genders).sum(3), 1.0)
    found = _logit_slopes(words, inverse, genders, pull)
    for array, slope in zip((words, inverse), found, strict=True):
        for place in range(array.size):
            wanted = slope_of(lambda: float((pull * meanings_of(words, inverse, genders)).sum()), array.reshape(-1), place)
            assert slope.reshape(-1)[place] == pytest.approx(wanted, rel=1e-5, abs=1e-7)


class Few(list[Example]):
    """Some rows that stand for a part."""

    job = SimpleNamespace(key="few")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Example]]:
    rows: Any = Few(load("clutrr", "generalization_23", "train", size=400))
    folder = tmp_path_factory.mktemp("kinship") / "run"
    train_machine("kinship-machine", {"epochs": 8, "batch": 32}, rows, folder, 0, lambda _line: None)
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
    assert {"son", "mother", "hubby"} <= {word for word, kind in machine.words.items() if kind == CLUE}


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
        read(load("scan", "simple", "test").pick([0])[0])
    few: Any = Few(load("scan", "simple", "test").pick([0]))
    with pytest.raises(UsageError, match="facts"):
        train_machine("kinship-machine", {}, few, tmp_path / "run", 0, lambda _line: None)
