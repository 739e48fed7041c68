"""A sample of `benchmarks/mutants.py`: whatever is changed in a row, the oracle objects, or the change is harmless."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from recombine.families import OURS

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "mutants.py"


@pytest.mark.parametrize("name", list(OURS))
def test_no_true_mutant_survives(name: str) -> None:
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.main(12, [name], None) == 0
