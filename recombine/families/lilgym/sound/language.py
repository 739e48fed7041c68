"""The statements of `sound`: which there are, and in which order a part asks them.

`statements.npz` lists the selected codes of the grammar with their weights (`selection.py` makes it). An order is a weighted shuffle
that the job's key decides: code i comes at time -log(u_i) / weight_i. So every prefix has about the corpus's mix of phenomena, no
statement comes twice, and row i depends on the job and i only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
    goals: NDArray[np.int16]  # (n,): first scene from scratch in which it holds


@functools.cache
def table(kind: Kind) -> Table:
    """The selection for a kind of scene."""
    with np.load(TABLE, allow_pickle=False) as stored:
        codes = np.cumsum(stored[f"{kind}_steps"].astype(np.int64))
        return Table(codes, np.exp(stored[f"{kind}_weights"].astype(np.float32)), stored[f"{kind}_goals"])


@functools.lru_cache(maxsize=50_000)
def statement(kind: Kind, place: int) -> Statement:
    """The statement at a place of the table."""
    known = table(kind)
    return Statement(plan_of(kind, int(known.codes[place])), kind, int(known.goals[place]))


class Sequel:
    """The statements of a part in the order in which it asks them, found as far as they were asked for."""

    def __init__(self, kind: Kind, split: str, part: str, base: int, from_nothing: bool) -> None:
        self.kind, self.split, self.part, self.from_nothing = kind, split, part, from_nothing
        known = table(kind)
        units = (keys.states(base, 0, len(known.codes)) >> np.uint64(11)).astype(np.float64) / 2.0**53
        times = -np.log1p(-units) / known.weights
        self._left: Iterator[int] = iter(np.argsort(times, kind="stable").tolist())
        self._found: list[int] = []

    def upto(self, count: int) -> Sequence[int]:
        """The places in the table of the first `count` statements, or of all if there are fewer."""
        while len(self._found) < count:
            place = next(self._left, None)
            if place is None:
                break
            candidate = statement(self.kind, place)
            # What the empty scene fulfils is no task from scratch.
            if (candidate.goal != 0 or not self.from_nothing) and splits.part_of(self.split, candidate) == self.part:
                self._found.append(place)
        return self._found

    @property
    def size(self) -> int:
        """How many statements the part has."""
        return len(self.upto(len(table(self.kind).codes)))


@functools.lru_cache(maxsize=16)
def sequel(kind: Kind, split: str, part: str, base: int, from_nothing: bool) -> Sequel:
    """The statements of a part, remembered within the process."""
    return Sequel(kind, split, part, base, from_nothing)
