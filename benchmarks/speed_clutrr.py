"""Stories per CPU-second with text and proof, written to parquet by `generate`, against the original generator's rates.

One process, compiled kernels warm; the folder is whole at the end: shards, hashes, card and manifest.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from recombine.data.generate import generate
from recombine.families.clutrr import CLUTRR
from recombine.jobs import make_job

ORIGINAL = {2: 30.0, 3: 69.0, 4: 166.0, 6: 156.0, 8: 125.0, 10: 48.0}
"""Kept examples per CPU-second of the original code, text included, as measured in its inner loop."""
NOISES = ("clean", "supporting", "irrelevant", "disconnected", "all")


def rates(k: int, noise: str, rows: int, part: str = "train") -> tuple[float, float]:
    """(rows per CPU-second into memory, rows per CPU-second into a folder of parquet)."""
    part = part if part == "train" else f"test_k{k}"
    options = {"k": str(k), "noise": noise}
    job = make_job(CLUTRR, "generalization_23", part, "sound", 1, options)
    CLUTRR.generate(job.rows(0, 1_000))
    start = time.process_time()
    CLUTRR.generate(job.rows(0, rows))
    made = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        generate(
            "clutrr", Path(folder) / "out", split="generalization_23", part=part, size=rows, seed=1, recipe="sound",
            options=options, engine="serial",
        )  # fmt: skip
    return rows / (made - start), rows / (time.process_time() - made)


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    rows = parser.parse_args().rows
    rates(2, "clean", 1_000)
    print(f"{'k':>3} {'noise':<14} {'part':<8} {'to memory':>10} {'to parquet':>11}   stories per CPU-second; of the original")
    for k in (2, 3, 4, 6, 8, 10):
        for noise in NOISES if k in (2, 3, 10) else NOISES[:1]:
            for part in ("train", "test_k2") if noise == "clean" else ("train",):
                memory, parquet = rates(k, noise, rows, part)
                print(
                    f"{k:>3} {noise:<14} {part[:5]:<8} {memory:>10,.0f} {parquet:>11,.0f} {parquet / ORIGINAL[k]:>10,.0f}x",
                    flush=True,
                )


if __name__ == "__main__":
    main()
