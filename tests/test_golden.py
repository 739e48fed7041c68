"""A few examples of every family and split, kept as text: the same job must give the same rows, today and in five years.

`make golden` writes them anew. Rows that changed need a raised version of their recipe in the same commit; new jobs do not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from recombine import kernels
from recombine.families import OURS, family
from recombine.testing import compare_golden, golden

FOLDER = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", list(OURS))
def test_golden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are the same at both speeds, so machine code that lies on disk may make them."""
    monkeypatch.setattr(kernels, "is_worth_compiling", lambda kernel, *_: kernels.is_ready(kernel))
    kept = json.loads((FOLDER / f"{name}.json").read_text())
    assert compare_golden(kept, golden(family(name))) == []


def test_new_jobs_are_told_apart_from_changed_ones() -> None:
    kept = {"version": {"sound": 1}, "a": {"rows": "1"}, "b": {"rows": "2"}}
    (text,) = compare_golden(kept, {**kept, "c": {"rows": "3"}})
    assert "1 jobs are new" in text
    assert "no version need change" in text
    (text,) = compare_golden(kept, {**kept, "a": {"rows": "9"}})
    assert "raise the recipe's version" in text
    (text,) = compare_golden(kept, {"version": {"sound": 1}, "a": {"rows": "1"}})
    assert "1 jobs are gone" in text


if __name__ == "__main__":
    for family_name in sys.argv[1:] or OURS:
        text = json.dumps(golden(family(family_name)), indent=1, sort_keys=True, ensure_ascii=False)
        (FOLDER / f"{family_name}.json").write_text(text + "\n")
