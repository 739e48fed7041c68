"""A sample of `benchmarks/faults.py`: single file operations fail, nothing is lost, and the same command goes on."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("fault_runs", Path(__file__).with_name("fault_runs.py"))
assert _spec is not None and _spec.loader is not None
fault_runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fault_runs)


@pytest.mark.parametrize(
    ("name", "points"), [("generate", 24), ("again", 8), ("verify", 6), ("evaluate", 12), ("ask", 16), ("train", 10)]
)
def test_a_fault_costs_nothing(name: str, points: int, tmp_path: Path) -> None:
    case = fault_runs.CASES[name](tmp_path)
    names = fault_runs.count(case, tmp_path / "count")
    assert len(names) >= points // 2
    wrong = []
    for number in range(points):
        at = 1 + number * len(names) // points
        wrong.append(fault_runs.trial(case, tmp_path / "trial", at, fault_runs.CODES[number % len(fault_runs.CODES)]))
    assert [text for text in wrong if text] == []
