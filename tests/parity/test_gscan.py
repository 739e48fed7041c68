"""Against what the original generator printed: 1,254 examples of all its non-empty splits, reproduced field by field."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recombine.core import Example
from recombine.families.gscan import GSCAN as gscan
from recombine.families.gscan import native
from recombine.grid.matching import fitting
from recombine.grid.play import plan, replay
from recombine.grid.tensor import GSCAN, tensor


@pytest.fixture(scope="module")
def path(shared: Path) -> Path:
    return shared / "gscan" / "generated_grid6.json.gz"


@pytest.fixture(scope="module")
def released(path: Path) -> dict[str, Any]:
    with gzip.open(path, "rt") as stream:
        document: dict[str, Any] = json.load(stream)
    return document


@pytest.fixture(scope="module")
def examples(path: Path) -> list[Example]:
    found = list(gscan.read(path))
    assert all(isinstance(item, Example) for item in found)
    return [item for item in found if isinstance(item, Example)]


def test_all_rows_are_read(examples: list[Example], released: dict[str, Any]) -> None:
    assert len(examples) == 1254
    sections = Counter(str(example.meta["place"]).partition("[")[0] for example in examples)
    assert sections == {name: len(rows) for name, rows in released["examples"].items() if rows}


def test_oracle_finds_no_error(examples: list[Example]) -> None:
    assert [p for example in examples for p in example.validate() if p.severity == "error"] == []


def test_referents_are_unique_and_right(examples: list[Example]) -> None:
    assert {fitting(example.world, example.plan.phrase, "superlative") for example in examples} == {(0,)}


def test_gold_actions_are_reproduced_and_replay(examples: list[Example]) -> None:
    for example in examples:
        actions = plan(example.world, 0, example.plan.verb, example.plan.adverb)
        assert ",".join(actions) == example.answer
        outcome = replay(example.world, actions)
        assert outcome.failures == ()
        assert outcome.reached == (example.world.things[0].row, example.world.things[0].column)


def test_every_field_is_reproduced(examples: list[Example], released: dict[str, Any]) -> None:
    for example in examples:
        section, _, index = str(example.meta["place"]).rstrip("]").partition("[")
        ours = native.record(example.plan, example.world, example.answer.split(","))
        assert ours == released["examples"][section][int(index)]


def test_header_is_reproduced(released: dict[str, Any]) -> None:
    ours = native.header(6)
    ours["percentage_train"] = released["percentage_train"]
    assert {key: value for key, value in released.items() if key != "examples"} == ours


def test_tensors_hold_the_released_bits(examples: list[Example], released: dict[str, Any]) -> None:
    raw = [row for rows in released["examples"].values() for row in rows]
    for example, row in zip(examples[::25], raw[::25], strict=True):
        grid = tensor(example.world, GSCAN)
        assert grid.shape == (6, 6, 16)
        for placed in row["situation"]["placed_objects"].values():
            place = placed["position"]
            bits = "".join(map(str, grid[int(place["row"]), int(place["column"]), :11]))
            assert bits == placed["vector"]


def test_survey_counts_needless_words(examples: list[Example]) -> None:
    found = gscan.survey(examples)
    assert found["words_needed"]["size"] == 1.0
    assert found["words_needed"]["color"] < 0.5
    assert found["chance"]["size,color,shape"]["chance_accuracy"] == round(1 / 12, 4)
