"""Make every single file operation of small runs fail once with each of five errors: one line, no loss, the same command goes on.

python benchmarks/faults.py [--every 1] [generate again verify evaluate ask train]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from collections import Counter
from pathlib import Path

HARNESS = Path(__file__).resolve().parent.parent / "tests" / "strength" / "fault_runs.py"


def main() -> int:
    """Exit 1 if a single fault costs something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=["generate", "again", "verify", "evaluate", "ask", "train"])
    parser.add_argument("--every", type=int, default=1, help="only every so-manyth operation")
    given = parser.parse_args()
    spec = importlib.util.spec_from_file_location("fault_runs", HARNESS)
    assert spec is not None
    assert spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.cases:
            case = harness.CASES[name](Path(scratch))
            names = harness.count(case, Path(scratch, "count"))
            kinds = Counter(text.split()[0] for text in names)
            tried = 0
            for at in range(1, len(names) + 1, given.every):
                for code in harness.CODES:
                    tried += 1
                    told = harness.trial(case, Path(scratch, "trial"), at, code)
                    if told:
                        wrong += 1
                        print("WRONG", told, flush=True)
            print(f"{name}: {len(names)} operations ({dict(kinds)}), {tried} faults", flush=True)
    print("nothing was lost" if not wrong else f"{wrong} WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
