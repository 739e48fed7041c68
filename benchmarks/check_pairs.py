"""So many matched pairs of every facet and family, each judged by the family's oracle.

    python benchmarks/check_pairs.py [FAMILY …] [--pairs 1000]

`make_pairs` stops at the first pair in which the oracle finds a wrong answer or a difference in more than one facet.
"""

from __future__ import annotations

import argparse
import time

from recombine.abilities import Pairing
from recombine.errors import Infeasible
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.pairs import make_pairs


def main() -> None:
    """Print one line per facet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(OURS))
    parser.add_argument("--pairs", type=int, default=1000)
    arguments = parser.parse_args()
    for name in arguments.families:
        found = family(name)
        for facet in found.PAIRS if isinstance(found, Pairing) else ():
            began = time.perf_counter()
            try:
                count = sum(1 for _ in make_pairs(found, make_job(found), (facet,), arguments.pairs))
                print(f"{name} {facet}: {count:,} pairs, all judged right, {time.perf_counter() - began:.0f} s", flush=True)
            except Infeasible as problem:
                print(f"{name} {facet}: {problem}", flush=True)


if __name__ == "__main__":
    main()
