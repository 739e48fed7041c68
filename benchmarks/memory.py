"""Generate very many examples and watch the memory of the process: it must stay flat after warm-up.

python benchmarks/memory.py reascan --split simple --size 10000000
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from recombine.data.generate import run
from recombine.data.plan import make_plan


def resident_mib() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def main() -> int:
    """Exit 1 if memory grows by 5 % or more after a tenth of the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family")
    parser.add_argument("--split")
    parser.add_argument("--part", default="train")
    parser.add_argument("--size", type=int, default=10_000_000)
    arguments = parser.parse_args()
    plan = make_plan(arguments.family, (arguments.split,) if arguments.split else (), (arguments.part,), size=arguments.size)
    seen, marks = 0, []

    def tick(rows: int) -> None:
        nonlocal seen
        seen += rows
        if not marks or seen - marks[-1][0] >= arguments.size // 20:
            marks.append((seen, resident_mib()))
            print(f"{seen:>12,} rows  {marks[-1][1]:7.0f} MiB  {time.process_time():7.0f} CPU-s", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        run(plan, f"{scratch}/out", engine="serial", on_rows=tick)
        size = sum(p.stat().st_size for p in Path(scratch).rglob("*") if p.is_file())
    warm = max(memory for rows, memory in marks if rows <= arguments.size // 10 or rows == marks[0][0])
    growth = max(memory for _, memory in marks) / warm - 1
    rate = seen / time.process_time()
    print(
        f"{seen:,} rows, {size / seen:.1f} bytes a row, {rate:,.0f} rows per CPU-second, memory grew by {growth:.1%} after warm-up"
    )
    return 1 if growth >= 0.05 else 0


if __name__ == "__main__":
    sys.exit(main())
