"""Put N sound tasks of a pattern through the oracle: every one must have exactly one output that fits the demonstrations.

    python benchmarks/check_abstract.py 1000000 --pattern one_clause --state check.json

The compiled elimination judges all rows, and the plain oracle those in which something is wrong. With --state the run can be stopped and taken up again. Exit code 1 if anything is found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from recombine.abilities import Checking
from recombine.families import family
from recombine.jobs import make_job

CHUNK = 5_000


def check(pattern: str, start: int, stop: int, seed: int) -> Counter[str]:
    """Problem code -> count over some rows."""
    item = family("abstract")
    options = {} if pattern == "one_clause" else {"pattern": pattern}
    batch = item.generate(make_job(item, "random", "train", "sound", seed, options).rows(start, stop))
    assert isinstance(item, Checking)
    return Counter(problem.code for _, problem in item.validate_batch(batch))


def main() -> int:
    """Run the check and print its findings as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--pattern", default="one_clause", choices=("one_clause", "two_clauses", "nested"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=None, help="remember finished chunks here")
    arguments = parser.parse_args()
    state = arguments.state
    done: dict[str, dict[str, int]] = json.loads(state.read_text()) if state and state.exists() else {}
    began = time.process_time()
    for start in range(0, arguments.count, CHUNK):
        stop = min(start + CHUNK, arguments.count)
        name = f"{arguments.pattern}/{arguments.seed}/{start}-{stop}"
        if name in done:
            continue
        done[name] = {"rows": stop - start, **check(arguments.pattern, start, stop, arguments.seed)}
        print(name, done[name], file=sys.stderr, flush=True)
        if state:
            state.write_text(json.dumps(done))
    totals: Counter[str] = Counter()
    for counted in done.values():
        totals.update(counted)
    broken = sum(totals.values()) - totals["rows"]
    print(json.dumps({**totals, "broken": broken, "cpu_seconds": round(time.process_time() - began, 1)}, indent=2))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
