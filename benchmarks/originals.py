"""How many rows of the original recipes have a known flaw: the figures behind the chart of the demo page.

    python benchmarks/originals.py --rows 1000 --out recombine/gallery/originals.json

Rows are made by the `release` recipes, which do what the original authors' code does, and by the `sound` recipes beside them. The
oracle judges every row. An `artifact` is what `sound` does not allow. The figures are shares of rows, not of problems.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import recombine
from recombine.families import family

SETS = (
    ("gscan", "compositional", "test"),
    ("reascan", "all", "test"),
    ("clutrr", "generalization_23", "train"),
    ("clutrr", "generalization_23", "test_k10"),
    ("clutrr", "robust_clean", "test_disconnected"),
)
"""Family, split and part."""


def measure(name: str, split: str, part: str, recipe: str, rows: int) -> dict[str, object]:
    """The share of rows with each problem, and with any."""
    data = recombine.load(name, split=split, part=part, recipe=recipe, seed=0)
    looked = min(rows, len(data))
    counts: Counter[str] = Counter()
    wrong = flawed = 0
    for i in range(looked):
        problems = data[i].validate()
        counts.update({problem.code for problem in problems})
        flawed += bool(problems)
        wrong += any(problem.severity == "error" for problem in problems)
    return {"rows": looked, "flawed": flawed, "errors": wrong, "codes": dict(sorted(counts.items()))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    sets = []
    for name, split, part in SETS:
        found = {"family": name, "split": split, "part": part, "versions": {}, "recipes": {}}
        for recipe in ("release", "sound"):
            found["versions"][recipe] = family(name).RECIPES[recipe].version
            found["recipes"][recipe] = measure(name, split, part, recipe, given.rows)
        print(name, split, part, found["recipes"], flush=True)
        sets.append(found)
    made = {
        "command": f"python benchmarks/originals.py --rows {given.rows} --out recombine/gallery/originals.json",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "package": f"recombine {recombine.__version__}",
        "seed": 0,
        "sets": sets,
    }
    given.out.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
