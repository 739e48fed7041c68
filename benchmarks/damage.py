"""Damage a folder in random ways (one bit flipped, a file cut, two shards swapped) and see that `verify` finds each.

python benchmarks/damage.py --times 10000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from recombine.data import plan
from recombine.data.generate import generate
from recombine.data.verify import verify


def main() -> int:
    """Exit 1 if a single damage goes unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--family", default="scan")
    arguments = parser.parse_args()
    plan.SHARD_ROWS, plan.CHUNK_ROWS = 100, 50
    dice = random.Random(0)
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = generate(arguments.family, f"{scratch}/out", size=200).path
        files = sorted(Path(folder).rglob("*.parquet"))
        originals = {file: file.read_bytes() for file in files}
        for i in range(arguments.times):
            kind = ("flip", "cut", "swap")[i % 3]
            file, other = dice.sample(files, 2)
            raw = bytearray(originals[file])
            if kind == "flip":
                raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
                file.write_bytes(raw)
            elif kind == "cut":
                file.write_bytes(raw[: dice.randrange(len(raw))])
            else:
                file.write_bytes(originals[other])
                other.write_bytes(originals[file])
            if verify(folder, sample=1, workers=1).ok:
                missed += 1
                print(f"MISSED: {kind} of {file.name}")
            file.write_bytes(originals[file])
            other.write_bytes(originals[other])
        print(f"{arguments.times} damages, {missed} missed; intact folder in order: {verify(folder, workers=1).ok}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
