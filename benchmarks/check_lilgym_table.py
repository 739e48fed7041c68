"""Makes lilGym's table of statements again and compares it with the one that is shipped, column by column.

    python -P benchmarks/check_lilgym_table.py

Takes some five CPU-minutes. Exits with 1 if a column differs. Weights are floats, so another machine may round a few differently;
`--within` says what share of a fitted column may do so.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from recombine.families.lilgym.scene import KINDS
from recombine.families.lilgym.sound import language, selection

FITTED = ("weights", "visits", "limits")
"""Columns that floats decide."""


def main() -> int:
    """Print each column's share of equal values; 1 if a column differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--within", type=float, default=0.001, help="share of a fitted column that may differ")
    within, faults = parser.parse_args().within, 0
    for kind in KINDS:
        table, made = language.table(kind), selection.select(kind)
        for name, column in made.items():
            shipped = np.asarray(getattr(table, name))
            if name == "weights":
                column = np.exp(column.astype(np.float32))
            share = float((shipped == column).mean()) if shipped.shape == column.shape else 0.0
            is_fault = share < (1 - within if name in FITTED else 1.0)
            faults += is_fault
            print(f"{kind:8} {name:10} {share:8.4%} equal{'  <--' if is_fault else ''}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
