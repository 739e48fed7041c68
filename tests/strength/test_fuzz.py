"""The corpora of all fuzz targets, and a few hundred random changes of each of their inputs: typed errors only."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def _beside(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


targets, mutations = _beside("targets"), _beside("mutations")


@pytest.mark.parametrize("name", sorted(targets.TARGETS))
def test_corpus(name: str) -> None:
    seeds = targets.seeds(name)
    assert seeds, f"corpora/{name} is empty"
    for number, raw in enumerate(seeds):
        targets.survives(name, raw)
        times = 20 if name.startswith("released-") else 150
        for changed in mutations.garbled(raw, max(3, times // len(seeds)), number):
            targets.survives(name, changed)
