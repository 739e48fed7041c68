"""Examples per CPU-second of ReaSCAN on one core, everything included: generated, digested and written as parquet.

    python benchmarks/speed_reascan.py [rows] [--suite]

--suite writes every release part at its published size instead and prints the CPU seconds. A first run fills the compile cache.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from recombine.data.generate import generate
from recombine.families import family
from recombine.jobs import make_job

ORIGINAL = {"simple": 111.0, "one_clause": 17.3, "two_clauses": 6.4, "two_clauses_rd": 6.4}
"""Accepted examples per CPU-second of the original generator."""
SPLITS = (
    "simple",
    "one_clause",
    "two_clauses",
    "two_clauses_rd",
    "nested",
    "three_clauses",
    "all",
    "a2",
    "b1",
    "c1",
    "c2",
    "direction",
    "length",
)


def written(split: str, recipe: str, rows: int | None, part: str) -> tuple[int, float]:
    """(rows, CPU seconds) of one part, written to a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        made = generate("reascan", Path(folder) / "out", split=split, part=part, size=rows, recipe=recipe, engine="serial")
        return sum(made.manifest["counts"].values()), time.process_time() - start


def main(arguments: list[str]) -> None:
    """Print a table of rates, or the time of the whole release suite."""
    item = family("reascan")
    if "--suite" in arguments:
        total, seconds = 0, 0.0
        for split, about in item.SPLITS.items():
            if "release" not in about.recipes:
                continue
            for part in about.parts:
                rows, spent = written(split, "release", None, part)
                total, seconds = total + rows, seconds + spent
                print(f"release {split:15} {part:11} {rows:8} rows {spent:8.1f} CPU-s", flush=True)
        print(f"release suite: {total:,} rows, {seconds:.1f} CPU-seconds")
        return
    rows = int(arguments[0]) if arguments else 100_000
    written("simple", "sound", 2_000, "test")
    names = [name for name in arguments[1:] if name in item.SPLITS] or SPLITS
    for recipe in item.RECIPES:
        for split in names:
            if recipe not in item.SPLITS[split].recipes:
                continue
            part = "train" if "train" in item.SPLITS[split].parts else "test"
            job = make_job(item, split, part, recipe)
            item.generate(job.rows(0, 2_000))
            start, few = time.process_time(), min(10_000, job.stop)
            item.generate(job.rows(0, few))
            alone = few / (time.process_time() - start)
            count, spent = written(split, recipe, min(rows, job.stop), part)
            ratio = f"{count / spent / ORIGINAL[split]:7,.0f} x the original" if split in ORIGINAL else ""
            print(
                f"{recipe:8}{split:15}{count:8} rows {count / spent:10,.0f} per CPU-second ({alone:,.0f} without files) {ratio}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
