"""The kinship machine: reads facts from a story, finds the chain of people between the two that are asked about, composes it.

Built in. The names of the people are known. A fact ties two people and is stated by one word, a clue, near both of their names; the name of
a relation begins as a word for it; an unknown plural counts as its singular. An answer follows from one chain of facts without a
repeated person; the asked pair itself is not stated; relations compose pair by pair, in any order of brackets (a chart).
Learnt, supervised by the facts of the training stories: which words are clues (`kinship_machine_words`), whose relative a clue
names, who that is, and when a clue states nothing (`kinship_machine_kernel`), what each clue means, which relations are each
other's inverse, gender (of names, of the words near them, of relations), and all rules of composition (by expectation maximisation
from the answers to chains of two and three facts).
Trained in two stages: the reader from facts, the rules from answers. Answers read text, names and query, never the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.errors import FileError, shown
from recombine.files import inside
from recombine.models.arrays import read_arrays, write_arrays
from recombine.models.kinship_machine_kernel import (
    CLUE,
    COMMA,
    COMMON,
    N_FEATURES,
    N_NOTHING,
    N_PAIR,
    OTHER,
    PLACES,
    QUOTE,
    ROLES,
    STOP,
    Reader,
    Slate,
    Stories,
)
from recombine.models.kinship_machine_rules import compose
from recombine.models.kinship_machine_text import BUCKETS, COMMAS, QUOTES, STOPS, Read, narrowed, person_features, read
from recombine.models.set_machine_finder import KERNEL_NAME
from recombine.schemas import anything, check, listing, mapping, record, text, whole

if TYPE_CHECKING:
    from pathlib import Path

    from recombine.core import Example

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
FILE = "machine.npz"
BEAM = 300
NO_GENDER = 1e-3
LEAST_TIE = 1e-6
READER_NAME = "recombine.models.kinship_machine_kernel"
CLUES = 10
"""A story has about this many clues; each is a row for the reader."""
ROWS = 1 << 18
"""Rows of the reader's table of weights."""


@dataclass(frozen=True)
class KinshipMachineConfig:
    """`epochs` over the stories in batches of `batch`, with Adam at `rate`; `dropout`: share of features left out at each step."""

    epochs: int = 10
    batch: int = 128
    rate: float = 0.05
    dropout: float = 0.3


def padded(lists: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Feature numbers, one row each, with -1 behind them."""
    out = np.full((len(lists), max([1, *map(len, lists)])), -1, np.int64)
    for i, features in enumerate(lists):
        out[i, : len(features)] = features
    return out


def logits(table: Singles, bias: Singles, seen: NDArray[np.int64]) -> Singles:
    """The sum of the table's rows of each line's features, and the bias."""
    out = np.zeros((len(seen), table.shape[1]), np.float32)
    kernel = kernels.for_rows(KERNEL_NAME, len(seen))
    kernel.add_features(seen, np.zeros(len(seen), np.int64), bias.reshape(1, -1), table, out)
    return out


def shares(scores: NDArray[np.floating[Any]]) -> Floats:
    """Probabilities from logits."""
    e = np.exp((scores - scores.max(1, keepdims=True)).astype(np.float64))
    out: Floats = e / e.sum(1, keepdims=True)
    return out


class KinshipMachine:
    """A reader of facts, a table of rules, and a search for the chain."""

    NAME: ClassVar[str] = "kinship-machine"
    Config: ClassVar[type[KinshipMachineConfig]] = KinshipMachineConfig
    BUILT_IN: ClassVar[tuple[str, ...]] = (
        "the people's names; a fact ties two people and is stated by one word, mentioned near both; the asked pair is not stated",
        "sentences, quotations and plurals; the name of a relation begins as a word for it",
        "one chain without a repeated person; relations compose pair by pair",
        "supervised by the facts of the training stories (their graphs), not by answers alone",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "which words state facts, which relation each states, and which relations are each other's inverse",
        "whose relative a word names, who that is, and when it states nothing (denials)",
        "genders of people and of relations",
        "all rules of composition",
    )

    def __init__(
        self, config: KinshipMachineConfig, relations: Sequence[str], words: Mapping[str, int], arrays: dict[str, NDArray[Any]]
    ) -> None:
        self.config, self.relations, self.arrays, self.words = config, tuple(relations), arrays, dict(words)
        self.numbers = word_numbers(words)
        self.reader = Reader(
            arrays["weights"].astype(np.float64),
            meanings_of(*(arrays[name].astype(np.float64) for name in ("meanings", "inverse", "relation_gender"))),
        )
        self.remembered: dict[tuple[str, ...], int] = {}

    def answer(self, example: Example) -> str:
        """The relation of the second asked person to the first; the likeliest single step if no chain is found."""
        story = narrowed(read(example), self.words)
        genders = self._genders(story)
        stories, stated = self._stated(story, genders)
        genders = self._surer(stories, stated, genders)
        facts, links = self._facts(stories, stated, genders)
        path = best_path(links, story.query)
        made = compose([facts[a, b] for a, b in pairwise(path)], self.arrays["rules"].astype(np.float64))
        return self.relations[int(self._with_gender(made, genders[story.query[1]]).argmax())]

    def _stated(self, story: Read, genders: Floats) -> tuple[Stories, Floats]:
        """The story as numbers, and for each clue the probability of every [owner, relative]."""
        stories = stories_of([story], self.numbers, self.words, genders.argmax(1))
        stated = np.zeros((len(stories.clues), len(story.people), len(story.people)))
        kernel = kernels.for_rows(READER_NAME, len(stories.clues))
        kernel.read_story(stories, 0, self.reader, new_slate(len(stories.clues)), stated)
        return stories, stated

    def _surer(self, stories: Stories, stated: Floats, genders: Floats) -> Floats:
        """The genders, updated by the clues that name each person: a person whom a clue calls a son is male."""
        means = shares(self.arrays["meanings"].astype(np.float64)[stories.tokens[stories.clues]])
        named = means @ self.arrays["relation_gender"].astype(np.float64)
        for relative, gender in zip(stated.sum(1), named, strict=True):
            genders = genders * (1.0 - relative[:, None] + relative[:, None] * gender)
        out: Floats = genders / genders.sum(1, keepdims=True)
        return out

    def _facts(self, stories: Stories, stated: Floats, genders: Floats) -> tuple[Floats, Floats]:
        """The distribution over relations of each ordered pair, and the log-odds that two people are tied."""
        people, relations = len(genders), len(self.relations)
        facts, missed = np.full((people, people, relations), LEAST_TIE / relations), np.ones((people, people))
        for clue, told in zip(stories.tokens[stories.clues].tolist(), stated, strict=True):
            meaning = np.einsum("sgr,pg->spr", self.reader.meanings[clue], genders)
            facts += told[:, :, None] * meaning[0][None, :, :] + told.T[:, :, None] * meaning[1][None, :, :]
            missed *= 1.0 - np.minimum(told + told.T, 1.0)
        odds = np.log(1.0 - missed + LEAST_TIE) - np.log(missed + LEAST_TIE)
        return facts / facts.sum(2, keepdims=True), odds

    def _genders(self, story: Read) -> Floats:
        """The probability of each person's gender."""
        seen = padded([person_features(story, person, self.remembered) for person in range(len(story.people))])
        return shares(logits(self.arrays["gender"], self.arrays["gender_bias"], seen))

    def _with_gender(self, relation: Floats, gender: Floats) -> Floats:
        """A distribution over relations, given the gender of the person that the relation names."""
        weighted: Floats = relation * (self.arrays["relation_gender"].astype(np.float64) @ gender + NO_GENDER)
        return weighted / max(float(weighted.sum()), 1e-300) * float(relation.sum())

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""
        kernels.for_rows(READER_NAME, CLUES * len(examples))  # once it is compiled, every story is read by it
        return [self.answer(example) for example in examples]

    def sizes(self) -> dict[str, int]:
        """Parameters that are not zero (of the reader's weights and meanings, of inverses, of genders), and the rules of `lines`."""
        counted = {name: int(np.count_nonzero(self.arrays[name])) for name in ("weights", "meanings", "inverse", "gender")}
        return {**counted, "rules": len(self.lines())}

    def lines(self) -> list[tuple[str, ...]]:
        """The rules that are surer than one half, as rows of a table."""
        names, table = self.relations, self.arrays["rules"]
        found = np.argwhere(table > 0.5)
        return [(names[a], names[b], names[c], f"{table[a, b, c]:.2f}") for a, b, c in found.tolist()]

    def save(self, folder: Path, single: type[np.floating[Any]] = np.float32) -> None:
        """Write `machine.npz`; `single` is the type in which numbers are kept."""
        header = {"machine": self.NAME, "config": asdict(self.config), "relations": list(self.relations), "words": self.words}
        write_arrays(folder / FILE, header, {name: array.astype(single) for name, array in self.arrays.items()})

    @classmethod
    def load(cls, folder: Path) -> KinshipMachine:
        """The machine of a run's folder; a damaged file is an error that names it."""
        path = inside(folder, FILE)
        header, arrays = read_arrays(path)
        check(header, SHAPE, shown(str(path)))
        count = len(header["relations"])
        wanted = array_shapes(count, len(header["words"]))
        for name, shape in wanted.items():
            if name not in arrays or arrays[name].shape != shape:
                raise FileError(f"{shown(str(path))} is no kinship machine: {name} must have the shape {shape}.")
        try:
            config = KinshipMachineConfig(**header["config"])
            return cls(config, header["relations"], header["words"], {name: arrays[name].astype(np.float32) for name in wanted})
        except TypeError as problem:
            raise FileError(f"{shown(str(path))} is no kinship machine: {str(problem)[:200]}.") from None


def word_kinds(common: Iterable[str], clues: Iterable[str]) -> dict[str, int]:
    """The kind of each known word; all other words have the kind OTHER."""
    marks = {mark: kind for kind, own in ((STOP, STOPS), (COMMA, COMMAS), (QUOTE, QUOTES)) for mark in sorted(own)}
    return {**dict.fromkeys(sorted(common), COMMON), "'s": COMMON, **marks, **dict.fromkeys(sorted(clues), CLUE)}


def word_numbers(words: Iterable[str]) -> dict[str, int]:
    """The numbers of the words that the reader knows; 0 stands for all others."""
    return {word: number for number, word in enumerate(sorted(words), start=1)}


def stories_of(
    stories: Sequence[Read], numbers: Mapping[str, int], words: Mapping[str, int], genders: NDArray[np.int64]
) -> Stories:
    """The stories as numbers; `genders` of all their people, one story behind the other."""
    tokens = np.array(
        [-1 - int(t[1:]) if t[0] == "@" else numbers.get(t, 0) for story in stories for t in story.tokens], np.int64
    )
    kinds = np.full(len(numbers) + 1, OTHER, np.int64)
    for word, number in numbers.items():
        kinds[number] = words[word]
    ends = np.cumsum([0, *(len(story.tokens) for story in stories)])
    clues = np.flatnonzero((tokens >= 0) & (kinds[np.maximum(tokens, 0)] == CLUE))
    people = np.cumsum([0, *(len(story.people) for story in stories)])
    return Stories(tokens, ends, kinds, clues, np.searchsorted(clues, ends), people, genders)


def meanings_of(words: Floats, inverse: Floats, relation_gender: NDArray[Any]) -> Floats:
    """What each word means from each side [words, 2, genders, relations], given the gender of the person whom the relation names.

    `words` are the logits of what the relative is to the owner; `inverse`, of what one is to somebody to whom the other is a relation.
    """
    given = np.log(relation_gender.astype(np.float64).T + NO_GENDER)
    direct = shares((words[:, None] + given).reshape(-1, words.shape[1])).reshape(len(words), 2, -1)
    back = shares((inverse[:, None] + given).reshape(-1, words.shape[1])).reshape(len(inverse), 2, -1)
    return np.stack([direct, np.einsum("wr,rgs->wgs", shares(words), back)], 1)


def new_slate(clues: int) -> Slate:
    """Working space for stories of at most this many clues."""
    return Slate(
        np.zeros((clues, PLACES), np.int64), np.zeros((clues, PLACES), np.int64), np.zeros((clues, PLACES, ROLES, N_FEATURES), np.int64),
        np.zeros((clues, PLACES, PLACES, N_PAIR), np.int64), np.zeros((clues, N_NOTHING), np.int64),
        np.zeros((clues, PLACES, PLACES)), np.zeros(clues),
    )  # fmt: skip


def array_shapes(relations: int, words: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a machine that knows this many relations and words."""
    return {
        "weights": (ROWS,), "meanings": (words + 1, relations), "inverse": (relations, relations), "gender": (BUCKETS, 2), "gender_bias": (2,),
        "relation_gender": (relations, 2), "rules": (relations, relations, relations),
    }  # fmt: skip


def best_path(links: Floats, query: tuple[int, int]) -> tuple[int, ...]:
    """The simple path between the asked people with the largest sum of link log-odds, by a beam; not the direct step."""
    start, goal = query
    beam: list[tuple[float, tuple[int, ...]]] = [(0.0, (start,))]
    best: tuple[float, tuple[int, ...]] | None = None
    for _ in range(len(links) - 1):
        grown = []
        for score, path in beam:
            for person in range(len(links)):
                if person in path or (person == goal and len(path) == 1):
                    continue
                found = score + float(links[path[-1], person]), (*path, person)
                if person == goal:
                    best = found if best is None or found > best else best
                else:
                    grown.append(found)
        beam = sorted(grown, reverse=True)[:BEAM]
    return best[1] if best is not None else query


SHAPE = record(
    {
        "machine": text(100, "kinship-machine"),
        "config": mapping(anything),
        "relations": listing(text(100), 1),
        "words": mapping(whole()),
    }
)
"""What the header of a kinship machine's file holds."""
