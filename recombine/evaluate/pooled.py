"""One comparison of two runs over several sets.

The estimate is the mean of the sets' differences: every set counts the same, whatever its size. The standard error is stratified by
set and cluster-robust. A cluster that stands in several sets counts once, so shared contexts do not make the interval too narrow.
The degrees of freedom are Satterthwaite's. The statement is about these sets, not about sets that might have been drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.evaluate.statistics import FEWEST_CLUSTERS, Floats, t_quantile, t_tail

ALPHA = 0.05


@dataclass(frozen=True)
class Stratum:
    """The paired scores of two runs on one set. `clusters` are names that mean the same thing in every set."""

    a: Sequence[float]
    b: Sequence[float]
    clusters: Sequence[Any]


@dataclass(frozen=True)
class Pooled:
    """The mean difference a - b over `sets`, with a 95 % interval.

    `ahead` and `behind` count the sets in which a is better or worse. `left_out` names the sets with too few clusters.
    `low`, `high` and `p` are None if no set has enough clusters. `holm` is p corrected for the number of pairs of runs.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    df: float
    sets: tuple[str, ...]
    ahead: int
    behind: int
    left_out: tuple[str, ...] = ()
    holm: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether the difference stands: the p-value is below 0.05, after Holm's correction if there are several pairs."""
        decisive = self.p if self.holm is None else self.holm
        return decisive is not None and decisive < ALPHA

    @property
    def sentence(self) -> str:
        """`alpha is ahead of beta by 7.0 points [3.1, 10.9], in 5 of 6 sets`, or why neither is ahead."""
        count = f"{len(self.sets)} {'set' if len(self.sets) == 1 else 'sets'}"
        if self.low is None or self.high is None:
            return f"{self.a} and {self.b} cannot be compared: no set has {FEWEST_CLUSTERS} clusters"
        if not self.is_decided:
            span = f"[{100 * self.low:+.1f}, {100 * self.high:+.1f}]"
            why = f" (p = {self.holm:.2g} after Holm's correction)" if self.holm is not None and self.holm != self.p else ""
            return f"{self.a} and {self.b} cannot be told apart: {100 * self.difference:+.1f} points {span} over {count}{why}"
        leader, other, won = (self.a, self.b, self.ahead) if self.difference > 0 else (self.b, self.a, self.behind)
        low, high = sorted((abs(self.low), abs(self.high)))
        span = f"[{100 * low:.1f}, {100 * high:.1f}]"
        return f"{leader} is ahead of {other} by {100 * abs(self.difference):.1f} points {span}, in {won} of {count}"


def pool(a: str, b: str, strata: Mapping[str, Stratum], confidence: float = 0.95) -> Pooled:
    """Compare run a with run b over the sets of `strata` (set -> paired scores)."""
    differences: list[float] = []
    variances: list[float] = []
    counts: list[int] = []
    moments: dict[Any, float] = {}
    used, left_out = [], []
    for name, stratum in strata.items():
        gap = np.asarray(stratum.a, dtype=np.float64) - np.asarray(stratum.b, dtype=np.float64)
        labels = [str(cluster) for cluster in stratum.clusters]
        if len(set(labels)) < FEWEST_CLUSTERS:
            left_out.append(name)
            continue
        used.append(name)
        mean, clusters, parts = _influence(gap, labels)
        differences.append(mean)
        counts.append(len(clusters))
        variances.append(float((parts**2).sum()) + _sparse(len(gap), len(clusters)))
        for cluster, part in zip(clusters, parts.tolist(), strict=True):
            moments[cluster] = moments.get(cluster, 0.0) + part
    ahead, behind = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    if not used:
        return Pooled(a, b, 0.0, None, None, None, 0.0, (), 0, 0, tuple(left_out))
    sets = len(used)
    sparse = sum(_sparse(len(strata[name].a), groups) for name, groups in zip(used, counts, strict=True))
    error = math.sqrt(sum(value * value for value in moments.values()) + sparse) / sets
    df = sum(variances) ** 2 / sum(v * v / (groups - 1) for v, groups in zip(variances, counts, strict=True))
    difference = sum(differences) / sets
    half = t_quantile(0.5 + confidence / 2, df) * error
    p = t_tail(difference / error, df)
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    return Pooled(a, b, difference, low, high, p, df, tuple(used), ahead, behind, tuple(left_out))


def _influence(gap: Floats, labels: Sequence[str]) -> tuple[float, list[str], Floats]:
    """The mean, the clusters' names, and what each cluster adds to the error of the mean (with the small-sample factor)."""
    names, inverse = np.unique(np.asarray(labels), return_inverse=True)
    mean = float(gap.mean())
    parts = np.bincount(inverse, weights=gap - mean).astype(np.float64) / len(gap)
    groups = len(names)
    return mean, [str(name) for name in names], parts * math.sqrt(groups / (groups - 1))


def _sparse(rows: int, clusters: int) -> float:
    """The variance that two extra discordant rows would add, one for each run.

    Without it, runs that always agree would get an interval of width 0.
    """
    return 2 / (rows * clusters)
