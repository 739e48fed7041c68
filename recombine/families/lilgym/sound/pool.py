"""Weighted choices, and frames: products of them that become plans."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from recombine.families.lilgym import plan as p


@dataclass(frozen=True)
class Pool:
    """Values to choose from, each with its weight."""

    values: tuple[Any, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, weighted: Iterable[tuple[Any, float]]) -> Pool:
        """A pool whose weights add up to 1."""
        listed = list(weighted)
        total = sum(weight for _, weight in listed)
        return cls(tuple(value for value, _ in listed), tuple(weight / total for _, weight in listed))

    def map(self, make: Callable[[Any], Any]) -> Pool:
        """The same choices, each made into something else."""
        return Pool(tuple(make(value) for value in self.values), self.weights)

    def __mul__(self, other: Pool) -> Pool:
        """Pairs of one value each."""
        pairs = itertools.product(zip(self.values, self.weights, strict=True), zip(other.values, other.weights, strict=True))
        return Pool.of(((a, b), v * w) for (a, v), (b, w) in pairs)


def mixed(*parts: tuple[float, Pool]) -> Pool:
    """One of several pools, by weight."""
    return Pool.of((value, share * w) for share, pool in parts for value, w in zip(pool.values, pool.weights, strict=True))


@dataclass(frozen=True)
class Frame:
    """A form of statement: its share in percent, what is chosen, and how the choices become a plan (None: not sayable)."""

    name: str
    share: float
    pools: tuple[Pool, ...]
    make: Callable[..., p.Plan | None]

    @property
    def size(self) -> int:
        """How many combinations of choices there are."""
        return functools.reduce(lambda n, pool: n * len(pool.values), self.pools, 1)

    def choices(self, rank: int) -> list[int]:
        """The place in each pool, the last pool varying fastest."""
        places = []
        for pool in reversed(self.pools):
            rank, place = divmod(rank, len(pool.values))
            places.append(place)
        return places[::-1]

    def plan(self, rank: int) -> p.Plan | None:
        """The plan of a rank; None if the choices cannot be said together."""
        return self.make(*(pool.values[place] for pool, place in zip(self.pools, self.choices(rank), strict=True)))
