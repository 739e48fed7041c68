"""Splits of the largest compound divergence that the search finds, for every family: figures and CPU-seconds.

    python benchmarks/mcd.py [FAMILY …] [--pool TRAIN,TEST]

One line per family: rows of the pools and of the choice, atom and compound divergence, CPU-seconds.
"""

from __future__ import annotations

import argparse
import time

from recombine.data.mcd import POOL_ROWS, make_mcd_plan
from recombine.errors import RecombineError
from recombine.families import OURS


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(OURS))
    parser.add_argument("--pool", default=",".join(map(str, POOL_ROWS)))
    parser.add_argument("--target", type=float)
    arguments = parser.parse_args()
    train, test = (int(word) for word in arguments.pool.split(","))
    for family in arguments.families:
        began = time.process_time()
        try:
            plan, choice = make_mcd_plan(family, arguments.target, pool=(train, test))
        except RecombineError as problem:
            print(f"{family}: {problem}", flush=True)
            continue
        rows = " + ".join(f"{part.rows:,} of {part.available:,}" for part in plan.parts)
        whole = time.process_time() - began
        print(
            f"{family}: {rows}; D_A {choice.atoms:.4f}, D_C {choice.compounds:.4f}; {whole:.0f} CPU-s",
            flush=True,
        )


if __name__ == "__main__":
    main()
