"""Stories per CPU-second with text and proof, against the original generator's rates, and the probe of shallow readers."""

from __future__ import annotations

import argparse
import time

from recombine.core import make_job
from recombine.families import clutrr
from recombine.families.clutrr.survey import probe

ORIGINAL = {2: 30.0, 3: 69.0, 4: 166.0, 6: 156.0, 8: 125.0, 10: 48.0}
"""Kept examples per CPU-second of the original code, text included, as measured in its inner loop."""


def rate(k: int, noise: str, rows: int, part: str = "train") -> float:
    """Rows per CPU-second of generation, compiled kernels warm."""
    job = make_job(clutrr, "generalization_23", part, "sound", 1, {"k": str(k), "noise": noise})
    clutrr.generate(job.rows(0, 1_000))
    start = time.process_time()
    clutrr.generate(job.rows(0, rows))
    return rows / (time.process_time() - start)


def main() -> None:
    """Print the rates and the probe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    rows = parser.parse_args().rows
    print(f"{'k':>3} {'noise':<14} {'stories/CPU-s':>14} {'of the original':>16}")
    for k in (2, 3, 4, 6, 8, 10):
        for noise in ("clean", "supporting", "irrelevant", "disconnected", "all") if k in (2, 3, 10) else ("clean",):
            speed = rate(k, noise, rows)
            print(f"{k:>3} {noise:<14} {speed:>14,.0f} {speed / ORIGINAL[k]:>15,.0f}x")
    print("\nshallow readers, learnt by heart on train, scored on held-out clauses")
    for k in (2, 3, 4, 5, 6, 8, 10):
        train, test = (
            [clutrr.example(batch, row) for row in range(len(batch))]
            for part, count in (("train", 4_000), ("test_k2", 2_000))
            for batch in [clutrr.generate(make_job(clutrr, "generalization_23", part, None, 1, {"k": str(k)}).rows(0, count))]
        )
        print(f"{k:>3} " + "  ".join(f"{name} {value:.3f}" for name, value in probe(train, test).items()))


if __name__ == "__main__":
    main()
