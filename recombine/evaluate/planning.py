"""How many rows of a part a comparison needs, if the rows of the part share a limited number of contexts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from recombine.data.datasets import Dataset
from recombine.evaluate.rows import clusters_of
from recombine.evaluate.statistics import SizePlan

MEASURED_ROWS = 500
"""Rows that are generated to learn how many contexts an unbounded part has."""
MOST_ROWS = 10_000_000


@dataclass(frozen=True)
class Contexts:
    """The contexts (clusters) of a part: their sizes if it is finite, and an estimate of their number if it is not."""

    available: int | None
    sizes: tuple[int, ...] = ()
    number: float = math.inf

    def __str__(self) -> str:
        if self.available is not None:
            return f"{self.available:,} rows in {len(self.sizes):,} clusters"
        return f"about {self.number:,.0f} clusters" if self.number < math.inf else "no two rows in one cluster"

    def met(self, rows: int) -> float:
        """How many contexts this many rows, drawn at random, meet on average."""
        if self.available is not None:
            left = 1 - min(rows, self.available) / self.available
            return sum(1 - left**size for size in self.sizes)
        if self.number == math.inf:
            return float(rows)
        return -self.number * math.expm1(rows * math.log1p(-1 / self.number)) if self.number > 1 else 1.0

    def needed(self, base: int, correlation: float) -> int | None:
        """How many rows are worth `base` independent ones; None if the part is too small."""

        def is_enough(rows: int) -> bool:
            return base * (1 + (rows / self.met(rows) - 1) * correlation) <= rows

        low, high = max(1, base - 1), self.available or MOST_ROWS
        if high < base or not is_enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high


def contexts_of(rows: Dataset) -> Contexts:
    """The contexts of a part, counted if it is finite, else estimated from how often its first rows meet the same one."""
    available = rows.plan.available if rows.folder is None else len(rows)
    limit = MEASURED_ROWS if available is None else available
    found: Counter[str] = Counter()
    for batch in rows.batches(min(limit, 10_000)):
        column = clusters_of(rows.family, batch)
        found.update(str(column[row]) for row in range(min(len(batch), limit - found.total())))
        if found.total() >= limit:
            break
    if available is not None:
        return Contexts(available, tuple(found.values()))
    return Contexts(None, number=_number(found.total(), len(found)))


def _number(rows: int, met: int) -> float:
    """How many equally likely contexts there are, if this many rows meet this many of them."""
    if met >= rows:
        return math.inf
    low, high = float(met), 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if Contexts(None, number=middle).met(rows) < met else (low, middle)
    return high


def plan_rows(plan: SizePlan, contexts: Contexts, correlation: float) -> SizePlan | None:
    """The plan for rows of this part, from one for independent rows; None if the part is too small."""
    rows = contexts.needed(plan.rows, correlation)
    if rows is None:
        return None
    met = max(1, round(contexts.met(rows)))
    per_cluster = rows / contexts.met(rows)
    return SizePlan(rows, met, max(1, round(per_cluster)), 1 + (per_cluster - 1) * correlation)


def smallest_difference(rows_for: Callable[[float], int], contexts: Contexts, correlation: float, top: float) -> float | None:
    """The smallest difference that all rows of the part can show; None if not even `top`."""
    if contexts.needed(rows_for(top), correlation) is None:
        return None
    low, high = 0.0, top
    for _ in range(60):
        middle = (low + high) / 2
        is_enough = contexts.needed(rows_for(middle), correlation) is not None
        low, high = (low, middle) if is_enough else (middle, high)
    return high
