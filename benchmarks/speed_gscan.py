"""Examples per CPU-second of gSCAN on one core, columns included; and the ratio to the original generator's rate.

python benchmarks/speed_gscan.py [rows]
"""

from __future__ import annotations

import sys
import time

from recombine.families.gscan import GSCAN
from recombine.jobs import make_job

ORIGINAL = 513
"""Examples per CPU-second of the original generator on a like machine."""


def main(rows: int) -> None:
    GSCAN.generate(make_job(GSCAN, "compositional", "train").rows(0, 2_000))
    for recipe in GSCAN.RECIPES:
        for split, entry in GSCAN.SPLITS.items():
            if recipe not in entry.recipes:
                continue
            job = make_job(GSCAN, split, "test" if "train" not in entry.parts else "train", recipe)
            GSCAN.generate(job.rows(0, 2_000))
            count = min(rows, job.stop)
            start = time.process_time()
            for first in range(0, count, 10_000):
                GSCAN.generate(job.rows(first, min(count, first + 10_000)))
            rate = count / (time.process_time() - start)
            print(f"{recipe:8} {split:15} {count:7} rows  {rate:10,.0f} per CPU-second  {rate / ORIGINAL:7,.0f} x the original")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
