"""Tasks per CPU-second of the family `abstract` on one core, everything included: generated, digested and written as parquet.

    python benchmarks/speed_abstract.py [rows]

A first run fills the compile cache.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from recombine.data.generate import generate

PATTERNS = {"one_clause": 1.0, "two_clauses": 0.1, "nested": 0.03}
"""Pattern -> share of the rows that are made."""


def written(pattern: str, rows: int) -> float:
    """CPU seconds for one part, written to a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        options = {} if pattern == "one_clause" else {"pattern": pattern}
        generate("abstract", Path(folder) / "out", split="random", part="train", size=rows, engine="serial", options=options)
        return time.process_time() - start


def main(arguments: list[str]) -> None:
    """Print a table of rates."""
    total = int(arguments[0]) if arguments else 10_000
    written("one_clause", 10)
    for pattern, share in PATTERNS.items():
        rows = max(10, round(total * share))
        seconds = written(pattern, rows)
        print(f"{pattern:12} {rows:8} rows {rows / seconds:8,.0f} per CPU-second", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
