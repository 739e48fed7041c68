"""How often the embedded statements show each phenomenon, beside the corpus's table.

    python benchmarks/check_lilgym_phenomena.py [--rows 5000] [--within 5] [--files FOLDER]

Counts generated rows (split `random`, part `train`, FLIPIT and SCRATCH). With `--files`, the published statements of the files in
FOLDER are counted by the same function, so that the table itself is checked. Exits with 1 if a FLIPIT share lies further than
`--within` points from the table. SCRATCH lies further off in negation by its nature: what the empty scene fulfils is no task there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recombine import files
from recombine.families.lilgym import LILGYM
from recombine.families.lilgym.facets import CORPUS, shares
from recombine.families.lilgym.scene import KINDS, Kind
from recombine.jobs import make_job


def generated(kind: Kind, start: str, rows: int) -> list[str]:
    """The programs of so many rows."""
    job = make_job(LILGYM, "random", "train", None, 0, {"scene": kind, "start": start})
    batch = LILGYM.generate(job.rows(0, rows))
    return [str(batch.columns["program"][row]) for row in range(len(batch))]


def published(kind: Kind, folder: Path) -> list[str]:
    """The programs of the distinct published statements."""
    records = [record for path in sorted(folder.glob(f"{kind}_scratch_*.json*")) for record in files.read_json(path).values()]
    return list({str(record.get("sentence", record)): str(record["lf"]) for record in records}.values())


def main() -> int:
    """Print the comparison; 1 if a share is too far off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--within", type=float, default=5.0, help="points that a share may lie off the table")
    parser.add_argument("--files", type=Path, default=None, help="a folder of published lilGym files")
    asked = parser.parse_args()
    faults = 0
    for kind in KINDS:
        columns = {start: shares(generated(kind, start, asked.rows)) for start in ("flipit", "scratch")}
        if asked.files:
            columns["files"] = shares(published(kind, asked.files))
        print(f"{kind.upper():16}{'table':>8}" + "".join(f"{name:>10}" for name in columns) + f"{'off by':>10}")
        for name, percent in CORPUS[kind].items():
            off = columns["flipit"][name] - percent
            faults += abs(off) > asked.within
            cells = "".join(f"{column[name]:10.1f}" for column in columns.values())
            print(f"  {name:14}{percent:8.1f}{cells}{off:+10.1f}{'  <--' if abs(off) > asked.within else ''}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
