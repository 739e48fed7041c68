"""The kinship machine: reads facts from a story, finds the chain of people between the two that are asked about, composes it.

Built in. The names of the people are known. A fact ties two people; an answer follows from one chain of facts without a
repeated person; the asked pair itself is not stated; relations compose pair by pair, in any order of brackets (a chart).
Learnt, supervised by the facts of the training stories: which word ties two people and what it means seen from either side (a
reader that weighs the words near their mentions, see `kinship_machine_kernel`), gender (names and words near them), which gender
each relation has, and all rules of composition (by expectation maximisation from the answers to chains of two and three facts).
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
    COMMA,
    MOST_CLUES,
    N_FEATURES,
    N_NOTHING,
    SIDES,
    STOP,
    WORD,
    Pairs,
    Reader,
    Slate,
    Stories,
)
from recombine.models.kinship_machine_rules import compose
from recombine.models.kinship_machine_text import (
    BUCKETS,
    CLOSEST,
    COMMAS,
    STOPS,
    Read,
    person_features,
    read,
    together,
)
from recombine.models.set_machine_finder import KERNEL_NAME
from recombine.schemas import anything, check, listing, mapping, record, text

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
ROWS = 1 << 18
"""Rows of the reader's table of weights."""


@dataclass(frozen=True)
class KinshipMachineConfig:
    """`epochs` over the facts in batches of `batch` pairs, with Adam at `rate`; `dropout`: share of features left out at each step."""

    epochs: int = 10
    batch: int = 1_024
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
        "the people's names; facts tie two people; the asked pair is not stated",
        "one chain without a repeated person; relations compose pair by pair",
        "supervised by the facts of the training stories (their graphs), not by answers alone",
    )
    LEARNT: ClassVar[tuple[str, ...]] = (
        "which words state which relation, seen from either side; which relations are each other's inverse",
        "genders of people and of relations",
        "all rules of composition",
    )

    def __init__(
        self, config: KinshipMachineConfig, relations: Sequence[str], common: Sequence[str], arrays: dict[str, NDArray[Any]]
    ) -> None:
        self.config, self.relations, self.arrays = config, tuple(relations), arrays
        self.words = word_numbers(common)
        self.remembered: dict[tuple[str, ...], int] = {}

    def answer(self, example: Example) -> str:
        """The relation of the second asked person to the first; the likeliest single step if no chain is found."""
        story = read(example, self.words)
        facts, links = self._facts(story)
        genders = self._genders(story)
        path = best_path(links, story.query)
        chain = [self._stated(facts, genders, a, b) for a, b in pairwise(path)]
        made = compose(chain, self.arrays["rules"].astype(np.float64))
        return self.relations[int(self._with_gender(made, genders[story.query[1]]).argmax())]

    def _facts(self, story: Read) -> tuple[Floats, Floats]:
        """The distribution over relations of each ordered pair, and the log-odds that two people are tied."""
        people, relations = len(story.people), len(self.relations)
        seen = list(together(story))
        facts = np.full((people, people, relations), 1.0 / relations)
        odds = np.full((people, people), np.log(LEAST_TIE))
        stories, pairs = stories_of([story], self.words), pairs_of([(0, places, 0) for _, _, places in seen], [story])
        p = np.zeros((len(seen), relations + 1))
        reader = Reader(self.arrays["weights"].astype(np.float64), self.arrays["meanings"].astype(np.float64))
        kernels.for_rows(READER_NAME, len(seen)).read_pairs(stories, pairs, reader, new_slate(), p)
        for (a, b, _), shares_of_pair in zip(seen, p, strict=True):
            tied = float(shares_of_pair[:-1].sum())
            facts[a, b] = shares_of_pair[:-1] / max(tied, 1e-12)
            odds[a, b] = np.log(tied + LEAST_TIE) - np.log(1 - tied + LEAST_TIE)
        return facts, (odds + odds.T) / 2

    def _stated(self, facts: Floats, genders: Floats, a: int, b: int) -> Floats:
        """What b is to a, read from both sides: where a seems to be b's aunt, b is likely a niece or nephew."""
        back = self.arrays["inverse"].astype(np.float64) @ self._with_gender(facts[b, a], genders[a])
        both = facts[a, b] * np.sqrt(back + LEAST_TIE)
        return self._with_gender(both / max(float(both.sum()), 1e-300), genders[b])

    def reversed(self, story: Read, facts: Iterable[tuple[int, int]]) -> list[Floats]:
        """What the reader takes the first person of each fact to be to the second: stories state one side only."""
        read_facts, genders = self._facts(story)[0], self._genders(story)
        return [self._with_gender(read_facts[b, a], genders[a]) for a, b in facts]

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
        return [self.answer(example) for example in examples]

    def sizes(self) -> dict[str, int]:
        """Parameters that are not zero: of the reader's weights and meanings, of genders, of rules."""
        return {name: int(np.count_nonzero(self.arrays[name])) for name in ("weights", "meanings", "gender", "rules")}

    def lines(self) -> list[tuple[str, ...]]:
        """The rules that are surer than one half, as rows of a table."""
        names, table = self.relations, self.arrays["rules"]
        found = np.argwhere(table > 0.5)
        return [(names[a], names[b], names[c], f"{table[a, b, c]:.2f}") for a, b, c in found.tolist()]

    def save(self, folder: Path) -> None:
        """Write `machine.npz`."""
        header = {"machine": self.NAME, "config": asdict(self.config), "relations": list(self.relations)}
        header["common"] = sorted(self.words)
        write_arrays(folder / FILE, header, {name: array.astype(np.float32) for name, array in self.arrays.items()})

    @classmethod
    def load(cls, folder: Path) -> KinshipMachine:
        """The machine of a run's folder; a damaged file is an error that names it."""
        path = inside(folder, FILE)
        header, arrays = read_arrays(path)
        check(header, SHAPE, shown(str(path)))
        count = len(header["relations"])
        wanted = array_shapes(count, len(header["common"]))
        for name, shape in wanted.items():
            if name not in arrays or arrays[name].shape != shape:
                raise FileError(f"{shown(str(path))} is no kinship machine: {name} must have the shape {shape}.")
        try:
            config = KinshipMachineConfig(**header["config"])
            return cls(config, header["relations"], header["common"], {name: arrays[name] for name in wanted})
        except TypeError as problem:
            raise FileError(f"{shown(str(path))} is no kinship machine: {str(problem)[:200]}.") from None


def word_numbers(common: Iterable[str]) -> dict[str, int]:
    """The numbers of the words that the reader knows; 0 stands for all others."""
    return {word: number for number, word in enumerate(sorted(common), start=1)}


def stories_of(stories: Sequence[Read], words: Mapping[str, int]) -> Stories:
    """The stories as numbers."""
    tokens = [-1 - int(t[1:]) if t[0] == "@" else words.get(t, 0) for story in stories for t in story.tokens]
    kinds = np.zeros(len(words) + 1, np.int64)
    for word, number in words.items():
        kinds[number] = STOP if word in STOPS else COMMA if word in COMMAS else WORD
    return Stories(np.array(tokens, np.int64), ends_of(stories), kinds)


def ends_of(stories: Sequence[Read]) -> NDArray[np.int64]:
    """Where each story begins among the tokens of all, and where the last one ends."""
    return np.cumsum([0, *(len(story.tokens) for story in stories)])


def pairs_of(seen: Sequence[tuple[int, list[tuple[int, int]], int]], stories: Sequence[Read]) -> Pairs:
    """Pairs of people as arrays, from (story, closest mentions, label)."""
    places, starts = np.full((len(seen), CLOSEST, 2), -1, np.int64), ends_of(stories)
    for n, (story, mentions, _) in enumerate(seen):
        places[n, : len(mentions)] = np.array(mentions) + starts[story]
    told = np.array([(story, label) for story, _, label in seen], np.int64).reshape(-1, 2)
    return Pairs(told[:, 0].copy(), places, told[:, 1].copy())


def new_slate() -> Slate:
    """Working space for the reader."""
    return Slate(
        np.zeros((MOST_CLUES, N_FEATURES), np.int64), np.zeros(MOST_CLUES, np.int64), np.zeros(CLOSEST * N_NOTHING, np.int64),
        np.zeros((MOST_CLUES, SIDES)),
    )  # fmt: skip


def array_shapes(relations: int, common: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a machine that knows so many relations and common words."""
    return {
        "weights": (ROWS, 2), "meanings": (common + 1, 2, relations), "gender": (BUCKETS, 2), "gender_bias": (2,),
        "relation_gender": (relations, 2), "inverse": (relations, relations), "rules": (relations, relations, relations),
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
        "common": listing(text(100)),
    }
)
"""What the header of a kinship machine's file holds."""
