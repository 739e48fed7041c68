"""A few examples of every family and split, kept as text: the same job must give the same rows, today and in five years.

`make golden` writes them anew. A change there is a change of the data: raise the family's VERSION in the same commit.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from recombine.data import columns
from recombine.families import FAMILIES, family
from recombine.jobs import make_job

FOLDER = Path(__file__).parent / "golden"
ROWS = 3


def golden(name: str) -> dict[str, Any]:
    """For every recipe, split and part: the digest of the first rows, and the first example in full."""
    item = family(name)
    found: dict[str, Any] = {"version": {name: recipe.version for name, recipe in item.RECIPES.items()}}
    for recipe in item.RECIPES:
        for split in item.SPLITS.values():
            if recipe not in split.recipes or split.needs_files:
                continue
            for part in split.parts:
                job = make_job(item, split.name, part, recipe, 11)
                batch = item.generate(job.rows(0, min(ROWS, job.stop)))
                example = item.example(batch, 0)
                found[job.key] = {
                    "rows": columns.digest(columns.to_arrow(batch, item.SCHEMA)),
                    "answer": example.answer,
                    "inputs": hashlib.sha256(json.dumps(example.inputs, sort_keys=True).encode()).hexdigest()[:16],
                }
    return found


@pytest.mark.parametrize("name", list(FAMILIES))
def test_golden(name: str) -> None:
    kept = json.loads((FOLDER / f"{name}.json").read_text())
    made = golden(name)
    assert kept["version"] == made["version"], "run `make golden` after raising a VERSION"
    changed = [key for key in {**kept, **made} if kept.get(key) != made.get(key)]
    assert changed == [], "the same jobs yield other data: raise VERSION and run `make golden`"


if __name__ == "__main__":
    for family_name in FAMILIES:
        text = json.dumps(golden(family_name), indent=1, sort_keys=True, ensure_ascii=False)
        (FOLDER / f"{family_name}.json").write_text(text + "\n")
