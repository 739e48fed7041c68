"""`recombine.mix`: rows of several families in one sequence, by weight, index by index, with their own ids."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import overload

from recombine import keys
from recombine.core import Example
from recombine.data.datasets import Dataset, load
from recombine.errors import BadOption, UsageError, shown

__all__ = ["Mixture", "mix"]

BLOCK = 1_000
"""Rows over which the shares of a mixture are exact, up to rounding."""
WEIGHT_STEPS = 1_000_000


@dataclass(frozen=True)
class Mixture(Sequence[Example]):
    """Rows drawn from several data sets by weight. Row i is a function of the sources, the weights, the seed and i.

    The n-th row that falls to a source is its n-th row in an order drawn by the seed; after its last row the order is drawn again.
    """

    sources: tuple[Dataset, ...]
    weights: tuple[float, ...]
    size: int
    seed: int = 0
    _orders: dict[tuple[int, int], list[int]] = field(default_factory=dict, repr=False, compare=False)
    _blocks: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The example at an index (negative counts from the end), or a list of them for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self.size))]
        source, row = self.origin(index)
        return self.sources[source][row]

    def origin(self, index: int) -> tuple[int, int]:
        """The number of the source of a row, and the row there."""
        row = index + self.size if index < 0 else index
        if not 0 <= row < self.size:
            raise IndexError(f"the mixture has {self.size:,} rows; there is no row {index}")
        block, place = divmod(row, BLOCK)
        drawn = self._block(block)
        source = drawn[place]
        before = block * self._shares[source] + drawn[:place].count(source)
        rounds, nth = divmod(before, len(self.sources[source]))
        return source, self._order(source, rounds)[nth]

    @property
    def _shares(self) -> list[int]:
        """How many rows of each block fall to each source."""
        total = sum(self.weights)
        ends = [round(BLOCK * end / total) for end in accumulate(self.weights)]
        shares = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        while 0 in shares:  # rounding left a small source out; the largest gives it a row
            shares[shares.index(max(shares))] -= 1
            shares[shares.index(0)] += 1
        return shares

    def _block(self, block: int) -> list[int]:
        """The sources of the rows of one block, in order."""
        if block not in self._blocks:
            ends = list(accumulate(self._shares))
            order = keys.Stream("mix", self.seed, "block", block).sample(range(BLOCK), BLOCK)
            self._blocks[block] = [bisect.bisect_right(ends, place) for place in order]
        return self._blocks[block]

    def _order(self, source: int, rounds: int) -> list[int]:
        """The rows of a source in the order of one round."""
        at = source, rounds
        if at not in self._orders:
            data = self.sources[source]
            stream = keys.Stream("mix", self.seed, "order", data.job.key, rounds)
            self._orders[at] = list(stream.sample(range(len(data)), len(data)))
        return self._orders[at]


def mix(
    weights: Mapping[str, float], *, size: int | None = None, part: str | None = "train", seed: int = 0, rows: int | None = None
) -> Mixture:
    """A mixture of families by weight: `mix({"reascan": 2, "clutrr": 1}, seed=7)`; `family/split` names a split.

    `size` is the length of the mixture (all rows of the sources together unless given). `rows` cuts each source. `seed` draws the rows
    and their order. A family's name or a folder's path may stand for a source. Every source has at least one row of each thousand.
    """
    if not isinstance(weights, Mapping) or not weights:
        raise UsageError(
            f"weights are {shown(weights)}, but must map families to numbers, such as {{'reascan': 2, 'clutrr': 1}}."
        )
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < WEIGHT_STEPS:
            raise BadOption(
                f"the weight of {name} is {shown(weight)}, but must be a number above 0 and below {WEIGHT_STEPS:,}."
            )
    if sum(weights.values()) > BLOCK * min(weights.values()):
        raise BadOption(f"weights {shown(dict(weights))} differ by more than a factor of {BLOCK}; leave the smallest out.")
    sources = tuple(_source(name, part, seed, rows) for name in weights)
    for name, source in zip(weights, sources, strict=True):
        if not len(source):
            raise UsageError(f"{shown(name)} has no rows in {source.job.split}/{source.job.part}; leave it out.")
    whole = sum(map(len, sources)) if size is None else size
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
        raise BadOption(f"size is {shown(size)}, but must be a positive integer.")
    return Mixture(sources, tuple(map(float, weights.values())), whole, seed)


def _source(name: str, part: str | None, seed: int, rows: int | None) -> Dataset:
    from recombine.families import FAMILIES

    family, _, split = name.partition("/")
    if family in FAMILIES:
        return load(family, split or None, part, seed=seed, size=rows)
    return load(name, None, part, size=rows)
