"""CLUTRR: claims of the splits, rows of the wrong shape, and mutants of every column."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example, Problem
from recombine.errors import FileError, RecombineError
from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.claims import CLAIMS, story_rank
from recombine.families.clutrr.generate import SCHEMA
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.oracle import FREE_COLUMNS
from recombine.families.clutrr.splits import SPLITS, HoldOut, StoryPart, StorySplit
from recombine.jobs import make_job


def batch_of(count: int, split: str, part: str, recipe: str = "sound", seed: int = 4, **options: object) -> Batch:
    job = make_job(CLUTRR, split, part, recipe, seed, options)
    return CLUTRR.generate(job.rows(0, min(count, job.stop)))


def examples_of(batch: Batch) -> Iterator[Example]:
    return (CLUTRR.example(batch, row) for row in range(len(batch)))


def errors(problems: list[Problem]) -> set[str]:
    return {problem.code for problem in problems if problem.severity == "error"}


def moved(example: Example, part: str) -> Example:
    return dataclasses.replace(example, meta={**example.meta, "part": part})


# --- claims ----------------------------------------------------------------------------------------------------------


def test_every_split_has_a_claim() -> None:
    assert set(CLUTRR.CLAIMS) == set(CLUTRR.SPLITS)


@pytest.mark.parametrize("recipe", ["sound", "release"])
@pytest.mark.parametrize("split", list(SPLITS))
def test_no_row_fits_another_role(split: str, recipe: str) -> None:
    """Every row fits its own part. Claims refuse test rows in train or validation, and train rows in a test."""
    if recipe not in SPLITS[split].recipes:
        pytest.skip("the split has no such recipe")
    for part, contents in SPLITS[split].parts.items():
        assert isinstance(contents, StoryPart)
        for row, example in enumerate(examples_of(batch_of(8, split, part, recipe))):
            assert CLAIMS[split](example, part) == ""
            others = {"train": ["test"], "validation": ["test"], "test": ["train", "validation"]}[contents.role]
            if recipe == "sound" and contents.role != "test":
                others.append({"train": "validation", "validation": "train"}[contents.role])
            refused_as = ""
            for other, theirs in SPLITS[split].parts.items():
                if isinstance(theirs, StoryPart) and theirs.role in others:
                    assert CLAIMS[split](example, other) != "", (example.id, other)
                    if row < 3 and theirs.role != refused_as:  # whole verdicts on a few; the claims judge every row and part
                        refused_as = theirs.role
                        assert "wrong_split" in errors(moved(example, other).validate()), (example.id, other)


@pytest.mark.parametrize("options", [{"paraphrases": "shared"}, {"language": "simple"}, {"hold_out": 0}, {"k": "2"}])
def test_roles_stay_apart_under_options(options: dict[str, object]) -> None:
    for part, other in (("test_k2", "train"), ("train", "test_k2"), ("validation", "train")):  # k is that of test_k2
        for example in examples_of(batch_of(6, "generalization_23", part, **options)):
            assert errors(example.validate()) == set()
            assert "wrong_split" in errors(moved(example, other).validate())


def test_a_batch_has_the_findings_of_its_rows() -> None:
    batch = batch_of(6, "generalization_23", "test_k3")
    false = dataclasses.replace(batch, job=dataclasses.replace(batch.job, part="train"))
    one_by_one = [(row, p) for row, e in enumerate(examples_of(false)) for p in e.validate()]
    assert list(CLUTRR.validate_batch(false)) == one_by_one
    assert {row for row, problem in one_by_one if problem.code == "wrong_split"} == set(range(6))


def test_an_unknown_split_is_a_problem() -> None:
    example = CLUTRR.example(batch_of(1, "generalization_23", "train"), 0)
    astray = dataclasses.replace(example, meta={**example.meta, "split": "no_such"})
    assert "unjudged_split" in errors(astray.validate())


def test_the_rank_of_a_story_is_the_generators() -> None:
    shares = [story_rank(e.plan) / (1 << 24) for e in examples_of(batch_of(40, "generalization_23", "validation", k="2"))]
    assert all(0.1 <= share < 0.2 for share in shares)


def _mothers_of_wives(words: list[str]) -> bool:
    return ("wife", "mother") in pairwise(words)


def test_a_split_is_one_entry_and_one_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new held-out combination from outside: no kernel, generator or oracle is touched, and a false claim is caught."""
    parts = {
        "train": StoryPart("train", "k = 2, 3, 4; never a wife's mother.", 100, ks=(2, 3, 4)),
        "test": StoryPart("test", "k = 2, 3, 4; always a wife's mother.", 100, ks=(2, 3, 4), role="test"),
    }
    split = StorySplit("wives_mothers", "Does a wife's mother come out right?", parts, recipes=("sound",),
                       axis="composition", hold_out=HoldOut(pairs=(("wife", "mother"),)))  # fmt: skip

    def claim(example: Example, part: str) -> str:
        held = _mothers_of_wives([RELATIONS[fact.relation] for fact in example.plan.path])
        return "" if held == (part == "test") else "a wife's mother is told of" if held else "no wife's mother is told of"

    monkeypatch.setitem(SPLITS, "wives_mothers", split)
    train = batch_of(60, "wives_mothers", "train")
    assert {p.code for _, p in CLUTRR.validate_batch(train)} == {"unjudged_split"}
    monkeypatch.setitem(CLAIMS, "wives_mothers", claim)
    test = batch_of(100, "wives_mothers", "test")
    for batch in (train, test):
        assert list(CLUTRR.validate_batch(batch)) == []
    assert set(test.columns["k"].tolist()) == {2, 3, 4}
    for example in examples_of(test):
        assert "wrong_split" in errors(moved(example, "train").validate())
    monkeypatch.setitem(CLAIMS, "wives_mothers", lambda example, part: claim(example, "train"))
    assert {p.code for _, p in CLUTRR.validate_batch(test)} == {"wrong_split"}
    with pytest.raises(RecombineError, match="unknown relation 'wive'"):
        HoldOut(pairs=(("wive", "mother"),)).held_out(0.1)


# --- ages and conventions --------------------------------------------------------------------------------------------


def test_at_most_four_generations_act_together() -> None:
    rise = {"father": 1, "mother": 1, "son": -1, "daughter": -1, "grandfather": 2, "grandmother": 2, "grandson": -2,
            "granddaughter": -2, "uncle": 1, "aunt": 1, "nephew": -1, "niece": -1, "father-in-law": 1, "mother-in-law": 1,
            "son-in-law": -1, "daughter-in-law": -1}  # fmt: skip
    for example in examples_of(batch_of(400, "generalization_23", "test_k10")):
        height, at = [0], 0
        for fact in example.plan.path:
            at += rise.get(RELATIONS[fact.relation], 0)
            height.append(at)
        assert max(height) - min(height) <= 3, example.id


def test_the_oracle_counts_generations() -> None:
    from recombine.families.clutrr import oracle_kernel, oracle_rules

    five = [0, 0, 1, 0, 1, 2, 0, 2, 3, 0, 3, 4]  # a father's father's father's father
    for people, fits in ((4, True), (5, False)):
        facts = np.array(five[: 3 * (people - 1)])
        found = oracle_kernel.check_generations(
            facts, people - 1, people, np.array(oracle_rules.RISE), np.zeros(people, np.int64)
        )
        assert found == fits


def test_without_conventions_only_what_follows_is_asked() -> None:
    whole = batch_of(300, "generalization_23", "train", k="2,3,4")
    bare = batch_of(300, "generalization_23", "train", k="2,3,4", conventions="none")
    assert list(CLUTRR.validate_batch(bare)) == []
    assert not {"husband", "wife"} & {example.answer for example in examples_of(bare)}
    claimed = dataclasses.replace(whole, job=bare.job)
    caught = {row for row, problem in CLUTRR.validate_batch(claimed) if problem.code in ("ambiguous", "bad_proof")}
    assert len(caught) > 60
    assert all("in these families" in str(CLUTRR.example(whole, row).explain()) for row in caught)
    assert not any("in these families" in str(example.explain()) for example in examples_of(bare))


# --- rows of the wrong shape -----------------------------------------------------------------------------------------


def with_list(batch: Batch, column: str, row: int, values: list[Any]) -> Batch:
    """The batch with one list replaced."""
    lists = [batch.columns[column][i] if i != row else values for i in range(len(batch))]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in lists])]).astype(np.int64)
    flat = [value for own in lists for value in own]
    cells: Any
    if column == "names":
        names = sorted(set(flat))
        cells = Coded(np.array([names.index(value) for value in flat]), names)
    else:
        cells = np.array(flat, np.int64)
    return dataclasses.replace(batch, columns={**batch.columns, column: Ragged(cells, offsets)})


SHAPES: list[tuple[str, list[Any]]] = [
    ("genders", [1] * 30_000), ("genders", []), ("genders", [7, 1, 0]), ("facts", [0, 1]), ("facts", []), ("facts", [0, 0, 31_000] * 3),
    ("facts", [99, 0, 1] * 3), ("places", [0]), ("places", [-9, 0, 1]), ("kinds", [0, 0, 0, 0]), ("kinds", [9, 9, 9]),
    ("query", [0]), ("query", [0, 500]), ("query", [-1, 0]), ("proof", [1, 2]), ("proof", [0, 300, 1, 2, 3, 4]),
    ("family", [0, -1, -1]), ("family", [1, 32_000, 32_000, -1] * 9), ("family", []), ("names", ["Ann"]), ("names", []),
]  # fmt: skip


@pytest.mark.parametrize("recipe", ["sound", "release"])
@pytest.mark.parametrize(("column", "values"), SHAPES)
def test_a_row_of_the_wrong_shape_is_a_problem_and_the_others_are_judged(column: str, values: list[Any], recipe: str) -> None:
    batch = with_list(batch_of(5, "generalization_23", "test_k3", recipe), column, 2, values)
    found = [(row, problem) for row, problem in CLUTRR.validate_batch(batch) if problem.severity == "error"]
    assert [row for row, _ in found] == [2]
    assert found[0][1].code == "malformed"
    assert len(CLUTRR.canonical_batch(batch)) == 5
    try:
        example = CLUTRR.example(batch, 2)
    except FileError as problem:
        assert "malformed" in str(problem)
    else:
        assert errors(example.validate()) == {"malformed"}


def test_compiled_kernels_survive_bad_rows() -> None:
    batch = batch_of(400, "generalization_23", "train", k="3")
    for column, values in SHAPES:
        found = {row for row, _ in CLUTRR.validate_batch(with_list(batch, column, 399, values))}
        assert found == {399}


# --- mutants ---------------------------------------------------------------------------------------------------------


def _mutants(batch: Batch, row: int, stream: np.random.Generator) -> Iterator[tuple[str, Batch]]:
    """For each column, the batch with a changed value in this row."""
    cells = batch.row(row)
    for name, kind in SCHEMA.items():
        value = cells[name]
        if kind == "string":
            text = {"target": RELATIONS[(RELATIONS.index(cells["target"]) + int(stream.integers(1, 22))) % 22],
                    "noise": "irrelevant" if value != "irrelevant" else "clean", "clause": value + "-father",
                    "story": value.replace(cells["names"][0], cells["names"][1]),
                    "question": value.replace(cells["names"][cells["query"][0]], "Zoe")}[name]  # fmt: skip
            column: Any = [batch.columns[name][i] if i != row else text for i in range(len(batch))]
        elif kind.startswith("list"):
            if not value:
                continue
            at = int(stream.integers(len(value)))
            changed = list(value)
            changed[at] = "Zoe" if kind == "list<string>" else changed[at] + int(stream.choice([-1, 1]))
            yield name, with_list(batch, name, row, changed)
            continue
        else:
            column = np.array(batch.columns[name]).copy()
            column[row] = not column[row] if kind == "bool" else column[row] + 1
        yield name, dataclasses.replace(batch, columns={**batch.columns, name: column})


@pytest.mark.parametrize("recipe", ["sound", "release"])
def test_mutants_of_every_column_are_caught(recipe: str) -> None:
    stream = np.random.default_rng(5)
    missed: dict[str, int] = {}
    tried: dict[str, int] = {}
    for part in ("train", "test_k3", "test_k4"):
        job = make_job(CLUTRR, "generalization_23", part, recipe, 4)
        for row in range(12):
            for name, mutant in _mutants(CLUTRR.generate(job.rows(row, row + 1)), 0, stream):
                tried[name] = tried.get(name, 0) + 1
                if not any(problem.severity == "error" for _, problem in CLUTRR.validate_batch(mutant)):
                    missed[name] = missed.get(name, 0) + 1
    assert set(tried) >= set(SCHEMA) - {"members"}
    assert set(missed) <= {"family", "members"}, missed  # relatives whom nobody mentions are free, and so are symmetries
    assert set(FREE_COLUMNS) < set(SCHEMA)


# --- facets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", ["sound", "release"])
def test_facets_of_a_batch_are_those_of_its_rows(recipe: str) -> None:
    batch = batch_of(30, "robust_irrelevant", "test_irrelevant", recipe)
    columns = CLUTRR.facet_columns(batch, list(CLUTRR.FACETS))
    for row, example in enumerate(examples_of(batch)):
        values = CLUTRR.facet_values(example)
        assert set(values) == set(CLUTRR.FACETS)
        for name, facet in CLUTRR.FACETS.items():
            found = columns[name][row]
            found = tuple(found) if facet.many else found.item() if hasattr(found, "item") else found
            assert found == values[name], name
            assert facet.kind != "word" or not facet.values or set(found if facet.many else [found]) <= set(facet.values)
