"""CLUTRR against the originally released files: the closure, every target, the repairs, both file shapes."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

from recombine.core import Example, Problem
from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.release.closure import RELEASED, closure
from recombine.families.clutrr.release.oracle import derivable

_NEUTRAL = {
    "child": 1,
    "inv-child": 0,
    "SO": 2,
    "sibling": 3,
    "grand": 5,
    "inv-grand": 4,
    "un": 7,
    "inv-un": 6,
    "in-law": 9,
    "inv-in-law": 8,
}
"""The original's names of relations -> ours."""


@pytest.fixture(scope="module")
def released(shared: Path) -> dict[str, list[Example]]:
    found = {}
    for path in sorted((shared / "clutrr").glob("data_*/*.csv.gz")):
        items = list(CLUTRR.read(path))
        assert all(isinstance(item, Example) for item in items), path
        found[f"{path.parent.name}/{path.name}"] = [item for item in items if isinstance(item, Example)]
    return found


@pytest.fixture(scope="module")
def findings(released: dict[str, list[Example]]) -> dict[str, list[list[Problem]]]:
    """What the oracle says of every row, asked once."""
    return {name: [example.validate() for example in examples] for name, examples in released.items()}


def test_the_closure_is_reproduced_exactly(shared: Path) -> None:
    with gzip.open(shared / "clutrr" / "closure_554.csv.gz", "rt") as lines:
        theirs = {(int(row["x"]), int(row["y"])): _NEUTRAL[row["relation_of_y_to_x"]] for row in csv.DictReader(lines)}
    assert closure(RELEASED) == theirs


def test_every_target_is_derived_again(released: dict[str, list[Example]], findings: dict[str, list[list[Problem]]]) -> None:
    every = [example for examples in released.values() for example in examples]
    assert len(every) == 4_700
    for example, problems in zip(every, (found for rows in findings.values() for found in rows), strict=True):
        assert [p for p in problems if p.severity == "error"] == [], example.meta["place"]


def test_ambiguous_rows_are_the_known_ones(
    released: dict[str, list[Example]], findings: dict[str, list[list[Problem]]]
) -> None:
    found = {name: sum("ambiguous" in {p.code for p in problems} for problems in rows) for name, rows in findings.items()}
    assert found["data_089907f8/1.3_test.csv.gz"] == 15
    assert sum(found.values()) == 72
    for example in released["data_089907f8/1.3_test.csv.gz"]:
        answers = derivable([fact.relation // 2 for fact in example.plan.path])
        assert len(answers) == 1 or answers == {0, 8}


def test_missing_noise_types_are_repaired(released: dict[str, list[Example]]) -> None:
    noisy = [e for name, examples in released.items() if name.split("/")[1][0] in "234" for e in examples]
    assert len(noisy) == 408
    for example in noisy:
        assert example.meta["repaired_noise"] == len(example.plan.facts) - example.meta["k"] > 0
        assert "untyped_noise" not in example.meta
        for fact in example.plan.facts:
            assert fact.relation % 2 == 1 - example.plan.genders[fact.relative]


def test_soundness_summary(released: dict[str, list[Example]]) -> None:
    shares = {k: Counter() for k in range(2, 11)}
    for name, examples in released.items():
        if name.startswith("data_089907f8") and "test" in name:
            figures = CLUTRR.survey(examples)["soundness"]
            shares[examples[0].meta["k"]] = Counter(figures)
    shorter = [round(100 * shares[k]["shorter path"] / shares[k]["rows"]) for k in range(4, 11)]
    assert shorter == [7, 25, 41, 58, 59, 62, 73]
    assert sum(s["wrong label"] for s in shares.values()) == 0


def test_the_hugging_face_shape(shared: Path, released: dict[str, list[Example]]) -> None:
    items = list(CLUTRR.read(shared / "clutrr" / "hf_gen_train23_test.csv.gz"))
    assert len(items) == 1_146
    theirs = {e.id: e for name, examples in released.items() if name.startswith("data_089907f8") for e in examples}
    for item in items:
        assert isinstance(item, Example)
        assert item.answer == theirs[item.id].answer
        assert item.plan.facts == theirs[item.id].plan.facts


def test_proofs_replay(released: dict[str, list[Example]]) -> None:
    for examples in released.values():
        for example in examples[:60]:
            steps = example.plan.proof
            assert len(steps) == example.meta["k"] - 1
            assert RELATIONS[steps[0].result] == example.answer
            for step in steps:
                assert step.result // 2 in derivable([step.first // 2, step.second // 2])


def test_stories_can_be_worded_with_original_templates(shared: Path) -> None:
    """The sample has two texts per clause, so only `shared` paraphrases are enough; clauses it lacks are redrawn."""
    from recombine.jobs import make_job

    options = {"templates": str(shared / "clutrr" / "original_templates_sample.json.gz"), "paraphrases": "shared", "k": "2"}
    batch = CLUTRR.generate(make_job(CLUTRR, "generalization_23", "train", "sound", 1, options).rows(0, 5))
    for row in range(5):
        example = CLUTRR.example(batch, row)
        assert all(name in example.inputs["story"] for name in example.plan.names)
