"""The statements of `sound`: which there are, and in which order a part asks them.

`statements.npz` lists the selected codes of the grammar (`selection.py` makes it). The job's key decides the order. From scratch
every statement comes once, in a weighted shuffle: statement i comes at time -log(u_i) / weight_i. Elsewhere each comes as often as
it has visits, in a plain shuffle. So row i depends on the job and i only, and no row comes twice.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import splits
from recombine.families.lilgym.scene import Kind, Numbers
from recombine.families.lilgym.sound.grammar import plan_of
from recombine.families.lilgym.wording import say

TABLE = Path(__file__).with_name("statements.npz")


@dataclass(frozen=True)
class Statement:
    """A plan with its kind of scene; its wording, its program and what it is made of follow.

    `goal` is the first scene among `worlds.looks` from scratch in which it holds; 0 is the empty scene.
    """

    plan: p.Plan
    kind: Kind
    goal: int = -1

    @cached_property
    def text(self) -> str:
        """The sentence."""
        return say(self.plan, self.kind)

    @cached_property
    def program(self) -> str:
        """The program."""
        return p.write(self.plan, self.kind)

    @property
    def words(self) -> int:
        """How many words the sentence has."""
        return len(self.text.split())

    @property
    def depth(self) -> int:
        """How deep its quantifiers are nested."""
        return p.depth(self.plan)


@dataclass(frozen=True)
class Table:
    """The selected statements of a kind of scene."""

    codes: Numbers  # (n,): frame and rank in the grammar
    weights: NDArray[np.float32]  # (n,): how early a statement comes
    visits: NDArray[np.uint8]  # (n,): how often it is asked where statements may come again
    goals: NDArray[np.int16]  # (n,): first scene from scratch in which it holds


@functools.cache
def table(kind: Kind) -> Table:
    """The selection for a kind of scene."""
    with np.load(TABLE, allow_pickle=False) as stored:
        codes = np.cumsum(stored[f"{kind}_steps"].astype(np.int64))
        weights = np.exp(stored[f"{kind}_weights"].astype(np.float32))
        return Table(codes, weights, stored[f"{kind}_visits"], stored[f"{kind}_goals"])


@functools.lru_cache(maxsize=50_000)
def statement(kind: Kind, place: int) -> Statement:
    """The statement at a place of the table."""
    known = table(kind)
    return Statement(plan_of(kind, int(known.codes[place])), kind, int(known.goals[place]))


class Visit(NamedTuple):
    """A statement, by its place in the table, and how many times it was asked before."""

    place: int
    number: int


class Sequel:
    """What a part asks, in order, found as far as it was asked for: each statement once, or as often as it has visits."""

    def __init__(self, kind: Kind, split: str, part: str, base: int, from_nothing: bool, predicate: str = "") -> None:
        self.predicate = predicate
        self.kind, self.split, self.part, self.from_nothing = kind, split, part, from_nothing
        known = table(kind)
        visits = np.ones(len(known.codes), np.int64) if from_nothing else known.visits.astype(np.int64)
        self._places: Numbers = np.repeat(np.arange(len(visits)), visits)
        self._numbers: Numbers = np.arange(len(self._places)) - np.repeat(np.cumsum(visits) - visits, visits)
        units = (keys.states(base, 0, len(self._places)) >> np.uint64(11)).astype(np.float64) / 2.0**53
        times = -np.log1p(-units) / known.weights if from_nothing else units
        self._left: Iterator[int] = iter(np.argsort(times, kind="stable").tolist())
        self._found: list[Visit] = []
        self._belongs: dict[int, bool] = {}

    def upto(self, count: int) -> Sequence[Visit]:
        """The first `count` visits, or all if there are fewer."""
        while len(self._found) < count:
            turn = next(self._left, None)
            if turn is None:
                break
            place = int(self._places[turn])
            if place not in self._belongs:
                self._belongs[place] = self._is_asked(statement(self.kind, place))
            if self._belongs[place]:
                self._found.append(Visit(place, int(self._numbers[turn])))
        return self._found

    def _is_asked(self, candidate: Statement) -> bool:
        """Whether the part has the statement. What the empty scene fulfils is no task from scratch."""
        is_task = candidate.goal != 0 or not self.from_nothing
        return is_task and splits.part_of(self.split, candidate, self.predicate) == self.part

    @property
    def size(self) -> int:
        """How many rows the part has."""
        return len(self.upto(len(self._places)))


@functools.lru_cache(maxsize=16)
def sequel(kind: Kind, split: str, part: str, base: int, from_nothing: bool, predicate: str = "") -> Sequel:
    """The statements of a part, remembered within the process."""
    return Sequel(kind, split, part, base, from_nothing, predicate)
