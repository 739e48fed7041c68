"""The few formulas behind every interval and comparison, in numpy; tests hold them against scipy and statsmodels.

Rows that share a context (a command, a sentence) are not independent. Intervals here take the rows' clusters: the standard
error is cluster-robust, the quantile is Student's with clusters - 1 degrees of freedom, and the shape is Wilson's, which keeps its
coverage near 0 and 1. With fewer than `FEWEST_CLUSTERS` clusters nothing is printed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST_CLUSTERS = 10
"""Below this many clusters a standard error says nothing."""
LEAST_SPREAD = 2.0
"""The least sum of squared deviations of clusters, in rows: as if two rows had fallen differently, one each way.

Clusters that all score alike have no spread. Without this floor their interval would have no width and their p-value would be 0.
"""


# --- quantiles -------------------------------------------------------------------------------------------------------


def normal_quantile(p: float) -> float:
    """The p-quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(p)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (modified Lentz)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 500):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + numerator / c
            c = c if abs(c) > tiny else tiny
            h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return h


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def t_tail(t: float, df: float) -> float:
    """The probability that |T| exceeds |t| under Student's distribution."""
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's distribution, p in (0.5, 1), by bisection."""
    low, high = 0.0, 1.0
    while t_tail(high, df) / 2 >= 1 - p and high < 1e6:
        low, high = high, 2 * high
    for _ in range(200):
        if high - low <= 1e-13 * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if t_tail(middle, df) / 2 < 1 - p else (middle, high)
    return (low + high) / 2


# --- one proportion --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """A mean with its interval; `low` and `high` are None where there are too few clusters to say."""

    mean: float
    low: float | None
    high: float | None
    rows: int
    clusters: int
    design_effect: float = 1.0
    correlation: float | None = None

    @property
    def text(self) -> str:
        """`81.2 % [78.9, 83.3]`, or the mean and the reason why there is no interval."""
        if self.low is None or self.high is None:
            return f"{self.mean:.1%} (too few clusters: {self.clusters})"
        return f"{self.mean:.1%} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def wilson(successes: float, rows: float, quantile: float) -> tuple[float, float]:
    """Wilson's score interval for a proportion, with any quantile and any effective number of rows.

    With no success the low end is exactly 0, with successes only the high end is exactly 1: rounding must not move them.
    """
    if rows <= 0:
        return 0.0, 1.0
    p, z2 = successes / rows, quantile * quantile
    centre = (p + z2 / (2 * rows)) / (1 + z2 / rows)
    half = quantile / (1 + z2 / rows) * math.sqrt(p * (1 - p) / rows + z2 / (4 * rows * rows))
    return 0.0 if p <= 0 else max(0.0, centre - half), 1.0 if p >= 1 else min(1.0, centre + half)


def _sums(values: Floats, clusters: Sequence[Any]) -> tuple[Floats, Floats]:
    """Per cluster: the sum of values and the number of rows."""
    _, inverse = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    return np.bincount(inverse, weights=values).astype(np.float64), np.bincount(inverse).astype(np.float64)


def intra_cluster_correlation(sums: Floats, sizes: Floats, values: Floats) -> float | None:
    """The ANOVA estimate of how alike rows of one cluster are; None where every cluster is a single row."""
    groups, rows = len(sizes), float(sizes.sum())
    if rows <= groups or groups < 2:
        return None
    mean = values.mean()
    between = float((sizes * (sums / sizes - mean) ** 2).sum()) / (groups - 1)
    within = (float((values**2).sum()) - float((sums**2 / sizes).sum())) / (rows - groups)
    size = (rows - float((sizes**2).sum()) / rows) / (groups - 1)
    total = between + (size - 1) * within
    return None if total <= 0 else float(np.clip((between - within) / total, -1.0, 1.0))


def interval(values: Sequence[float] | Floats, clusters: Sequence[Any], confidence: float = 0.95) -> Interval:
    """The mean of 0/1 scores with a clustered interval."""
    scores = np.asarray(values, dtype=np.float64)
    rows = len(scores)
    if rows == 0:
        return Interval(0.0, None, None, 0, 0)
    mean = float(scores.mean())
    sums, sizes = _sums(scores, clusters)
    groups = len(sizes)
    correlation = intra_cluster_correlation(sums, sizes, scores)
    if groups < FEWEST_CLUSTERS:
        return Interval(mean, None, None, rows, groups, correlation=correlation)
    naive = mean * (1 - mean) / rows
    least = LEAST_SPREAD * 4 * mean * (1 - mean)  # rows that are nearly all right, or all wrong, vary less
    robust = groups / (groups - 1) * max(least, float(((sums - sizes * mean) ** 2).sum())) / rows**2
    effect = robust / naive if naive > 0 else rows / groups
    single = groups == rows
    effective = rows if single else rows / effect
    quantile = normal_quantile(0.5 + confidence / 2) if single else t_quantile(0.5 + confidence / 2, groups - 1)
    low, high = wilson(mean * effective, effective, quantile)
    return Interval(mean, low, high, rows, groups, 1.0 if single else effect, correlation)


# --- two runs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Two runs over the same rows: the difference a - b with a clustered interval, and two tests of it."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    only_a: int
    only_b: int
    mcnemar: float
    rows: int
    clusters: int


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p-value of McNemar's test from the discordant counts."""
    n, k = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - n * math.log(2) for i in range(k + 1)]
    top = max(logs)
    return min(1.0, 2 * math.exp(top) * sum(math.exp(value - top) for value in logs))


def compare(a: Sequence[float], b: Sequence[float], clusters: Sequence[Any], confidence: float = 0.95) -> Comparison:
    """Paired comparison of two runs' scores on the same rows."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if len(first) != len(second) or len(first) != len(clusters):
        raise ValueError(f"paired comparison needs equal lengths, got {len(first)}, {len(second)} and {len(clusters)}")
    gap = first - second
    rows, mean = len(gap), float(gap.mean()) if len(gap) else 0.0
    only_a, only_b = int(((first == 1) & (second < 1)).sum()), int(((second == 1) & (first < 1)).sum())
    sums, sizes = _sums(gap, clusters)
    groups = len(sizes)
    low = high = p = None
    if groups >= FEWEST_CLUSTERS:
        spread = max(LEAST_SPREAD, float(((sums - sizes * mean) ** 2).sum()))
        error = math.sqrt(groups / (groups - 1) * spread) / rows
        quantile = t_quantile(0.5 + confidence / 2, groups - 1)
        low, high = max(-1.0, mean - quantile * error), min(1.0, mean + quantile * error)
        p = t_tail(mean / error, groups - 1)
    return Comparison(mean, low, high, p, only_a, only_b, mcnemar(only_a, only_b), rows, groups)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjusted p-values."""
    adjusted, worst = {}, 0.0
    ordered = sorted(p_values.items(), key=lambda pair: pair[1])
    for rank, (name, p) in enumerate(ordered):
        worst = max(worst, min(1.0, (len(ordered) - rank) * p))
        adjusted[name] = worst
    return {name: adjusted[name] for name in p_values}


def tied_groups(means: Mapping[str, float], p_values: Mapping[tuple[str, str], float], alpha: float = 0.05) -> list[list[str]]:
    """Runs from best to worst, grouped with all that the group's leader does not beat; never rank inside a group."""
    left = sorted(means, key=lambda name: (-means[name], name))
    groups = []
    while left:
        leader = left[0]
        group = [leader]
        for name in left[1:]:
            p = p_values.get((leader, name), p_values.get((name, leader), 1.0))
            if p < alpha:
                break
            group.append(name)
        groups.append(group)
        left = left[len(group) :]
    return groups


# --- dials -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threshold:
    """Where accuracy falls through one half along a dial; `value` is None where it does not, and `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    slope: float
    reason: str = ""


def threshold(dial: Sequence[float], scores: Sequence[float], clusters: Sequence[Any]) -> Threshold:
    """The 50 % point of a logistic curve over a dial, with a cluster-robust delta-method interval."""
    x, y = np.asarray(dial, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if len(np.unique(x)) < 2:
        return Threshold(None, None, None, 0.0, "the dial has one value")
    if y.min() == y.max():
        return Threshold(None, None, None, 0.0, "always right" if y.min() == 1 else "never right")
    centre, scale = float(x.mean()), float(x.std())
    design = np.column_stack([np.ones_like(x), (x - centre) / scale])
    fitted = _logistic(design, y, clusters)
    if fitted is None or not np.isfinite(fitted[1]).all() or fitted[1][1, 1] <= 0:
        return Threshold(None, None, None, 0.0, "the dial separates right from wrong; no curve fits")
    (b0, b1), covariance = fitted
    slope = b1 / scale
    if len(np.unique(np.asarray(clusters).astype(str))) < FEWEST_CLUSTERS:
        return Threshold(None, None, None, slope, "too few clusters")
    if abs(b1) < 1.96 * math.sqrt(covariance[1, 1]):
        return Threshold(None, None, None, slope, "accuracy does not change along the dial")
    point = -b0 / b1
    gradient = np.array([-1 / b1, b0 / b1**2])
    error = 1.96 * math.sqrt(max(0.0, float(gradient @ covariance @ gradient)))
    value, half = centre + scale * point, scale * error
    if not x.min() <= value <= x.max():
        return Threshold(None, None, None, slope, f"outside the dial's range (about {value:.1f})")
    return Threshold(value, value - half, value + half, slope)


def _logistic(design: Floats, y: Floats, clusters: Sequence[Any]) -> tuple[Floats, Floats] | None:
    """Coefficients and sandwich covariance by Newton's method; None if they run away."""
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        information = (design * (p * (1 - p))[:, None]).T @ design
        try:
            step = np.linalg.solve(information, design.T @ (y - p))
        except np.linalg.LinAlgError:
            return None
        beta = beta + step
        if np.abs(beta).max() > 25:
            return None
        if np.abs(step).max() < 1e-10:
            break
    p = 1 / (1 + np.exp(-design @ beta))
    information = (design * (p * (1 - p))[:, None]).T @ design
    if np.linalg.cond(information) > 1e12:
        return None
    bread = np.linalg.inv(information)
    _, inverse = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    scores = design * (y - p)[:, None]
    grouped = np.column_stack([np.bincount(inverse, weights=column) for column in scores.T])
    groups = len(grouped)
    meat = grouped.T @ grouped * (groups / max(1, groups - 1))
    return beta, bread @ meat @ bread


# --- planning --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SizePlan:
    """How many rows and clusters a paired comparison needs."""

    rows: int
    clusters: int
    rows_per_cluster: int
    design_effect: float


def plan_size(
    detect: float,
    power: float = 0.8,
    *,
    alpha: float = 0.05,
    discordant: float = 0.2,
    per_cluster: int = 1,
    correlation: float = 0.3,
) -> SizePlan:
    """Rows to detect a difference of `detect` (0.03 for 3 points) between two runs that disagree on a share `discordant`."""
    if not 0 < detect <= discordant < 1:
        raise ValueError(
            f"a difference of {detect} needs a share of disagreement of at least that, below 1; it is {discordant}"
        )
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(power)
    rows = ((z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - detect**2)) / detect) ** 2
    effect = 1 + (per_cluster - 1) * correlation
    clusters = max(FEWEST_CLUSTERS, math.ceil(rows * effect / per_cluster))
    return SizePlan(clusters * per_cluster, clusters, per_cluster, effect)
