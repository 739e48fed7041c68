"""Simulated evaluations: how often the 95 % interval covers the truth, and how often an A/A comparison cries wolf.

python benchmarks/interval_coverage.py --times 10000
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from recombine.evaluate.statistics import compare, interval


def main() -> int:
    """Exit 1 if a setting with at least 30 clusters leaves 93.5–96.5 % coverage or 4–6 % false alarms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    failed = False
    print("clusters  per cluster  truth  correlation  coverage  A/A rejected")
    for groups, size, truth, rho in [
        (30, 20, 0.5, 0.3),
        (40, 25, 0.8, 0.3),
        (100, 6, 0.8, 0.3),
        (100, 6, 0.95, 0.2),
        (400, 1, 0.7, 0.0),
    ]:
        covered = alarms = 0
        clusters = np.repeat(np.arange(groups), size)
        labels = clusters.tolist()
        for _ in range(arguments.times):
            if rho:
                strength = (1 - rho) / rho
                rate = rng.beta(truth * strength, (1 - truth) * strength, groups)[clusters]
            else:
                rate = np.full(groups, truth)[clusters]
            a, b = ((rng.random(groups * size) < rate).astype(float) for _ in range(2))
            found = interval(a, labels)
            covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
            p = compare(a, b, labels).p
            alarms += p is not None and p < 0.05
        coverage, alarm = covered / arguments.times, alarms / arguments.times
        failed |= not (0.935 <= coverage <= 0.965 and 0.04 <= alarm <= 0.06)
        print(f"{groups:8}  {size:11}  {truth:5}  {rho:11}  {coverage:8.1%}  {alarm:12.1%}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
