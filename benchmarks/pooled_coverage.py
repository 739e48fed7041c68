"""Simulated pooled comparisons: how often the 95 % interval covers the truth, and how often equal runs seem to differ.

python benchmarks/pooled_coverage.py --times 10000
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from recombine.evaluate.pooled import Stratum, pool


@dataclass(frozen=True)
class Setting:
    """Sets as (clusters, rows a cluster, accuracy of a, accuracy of b); `shared` sets have the same clusters."""

    name: str
    sets: tuple[tuple[int, int, float, float], ...]
    correlation: float
    shared: bool = False


SETTINGS = (
    Setting("six equal sets", ((40, 10, 0.7, 0.63),) * 6, 0.3),
    Setting("unequal sets", ((15, 20, 0.5, 0.4), (200, 2, 0.9, 0.8), (60, 5, 0.3, 0.35), (400, 1, 0.6, 0.6)), 0.2),
    Setting("near the ceiling", ((80, 5, 0.97, 0.95), (100, 3, 0.95, 0.92), (50, 8, 0.96, 0.96)), 0.2),
    Setting("two sets without clusters", ((200, 1, 0.8, 0.7), (300, 1, 0.4, 0.45)), 0.0),
    Setting("shared clusters", ((60, 6, 0.6, 0.5), (60, 6, 0.7, 0.65), (60, 6, 0.5, 0.5)), 0.3, shared=True),
)


def draw(setting: Setting, rng: np.random.Generator, equal: bool) -> dict[str, Stratum]:
    """One evaluation. With `equal`, run b is as good as run a in every set."""
    found = {}
    levels: dict[int, np.ndarray] = {}
    for number, (groups, size, first, second) in enumerate(setting.sets):
        clusters = np.repeat(np.arange(groups), size)
        names = [f"{0 if setting.shared else number}:{cluster}" for cluster in clusters.tolist()]
        scores = []
        for run, rate in ((0, first), (1, first if equal else second)):
            if setting.correlation:
                strength = (1 - setting.correlation) / setting.correlation
                # A shared cluster has one level of difficulty in all sets; the runs differ in how they take it.
                if setting.shared:
                    level = levels.setdefault(run, rng.standard_normal(groups))
                    own = _rates(level, _centre(rate, SPREAD), SPREAD)
                else:
                    own = rng.beta(rate * strength, (1 - rate) * strength, groups)
            else:
                own = np.full(groups, rate)
            scores.append((rng.random(groups * size) < own[clusters]).astype(float).tolist())
        found[str(number)] = Stratum(scores[0], scores[1], names)
    return found


SPREAD = 1.2
"""How much shared clusters differ in difficulty, in logits."""
GRID = np.array([NormalDist().inv_cdf((i + 0.5) / 2000) for i in range(2000)])
"""Normal quantiles that stand in for the distribution of difficulty."""


@cache
def _centre(rate: float, spread: float) -> float:
    """The centre at which logistic rates with normal difficulty have this mean."""
    low, high = -20.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _rates(GRID, middle, spread).mean() < rate else (low, middle)
    return low


def _rates(level: np.ndarray, centre: float, spread: float) -> np.ndarray:
    return 1 / (1 + np.exp(-(centre + spread * level)))


def simulate(setting: Setting, times: int, seed: int = 0) -> tuple[float, float]:
    """The coverage of the interval, and the share of comparisons of equal runs with p < 0.05."""
    rng = np.random.default_rng(seed)
    truth = float(np.mean([a - b for _, _, a, b in setting.sets]))
    covered = alarms = 0
    for _ in range(times):
        found = pool("a", "b", draw(setting, rng, equal=False))
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
        p = pool("a", "b", draw(setting, rng, equal=True)).p
        alarms += p is not None and p < 0.05
    return covered / times, alarms / times


def main() -> int:
    """Exit 1 if a setting leaves 93.5–96.5 % coverage or has more than 6 % false alarms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    arguments = parser.parse_args()
    failed = False
    print(f"{'setting':28}  coverage  false alarms")
    for setting in SETTINGS:
        coverage, alarms = simulate(setting, arguments.times)
        failed |= not (0.935 <= coverage <= 0.965 and alarms <= 0.06)
        print(f"{setting.name:28}  {coverage:8.1%}  {alarms:12.1%}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
