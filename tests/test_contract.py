"""The contract, for every family × recipe × split × part: what core.Family promises is tried on real rows.

Families with very many like splits (SCAN's replicates) are covered by one split of each kind here and by their own tests.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import recombine
from recombine.abilities import Checking
from recombine.columns import Coded
from recombine.core import Batch, Example, Family, Job
from recombine.data import columns
from recombine.data.generate import generate
from recombine.data.verify import canonical_words
from recombine.errors import RecombineError
from recombine.families import FAMILIES, family
from recombine.jobs import make_job

ROWS = 6


def _kinds(item: Family) -> list[str]:
    """The splits to try: all, or the first of those whose names differ only in their numbers."""
    kinds: dict[str, str] = {}
    for name, split in item.SPLITS.items():
        if not split.needs_files:
            kinds.setdefault(re.sub(r"\d+", "#", name) if len(item.SPLITS) > 40 else name, name)
    return list(kinds.values())


def _cases() -> Iterator[tuple[str, str, str, str]]:
    for name in FAMILIES:
        item = family(name)
        for recipe in item.RECIPES:
            for split in _kinds(item):
                if recipe in item.SPLITS[split].recipes:
                    for part in item.SPLITS[split].parts:
                        yield name, recipe, split, part


CASES = list(_cases())


def _batch(item: Family, job: Job, start: int = 0, stop: int = ROWS) -> Batch:
    return item.generate(job.rows(start, min(stop, job.stop)))


def _same(a: Batch, b: Batch, item: Family) -> bool:
    return bool(columns.to_arrow(a, item.SCHEMA).drop(["id"]).equals(columns.to_arrow(b, item.SCHEMA).drop(["id"])))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case))
def case(request: pytest.FixtureRequest) -> tuple[Family, Job]:
    name, recipe, split, part = request.param
    item = family(name)
    return item, make_job(item, split, part, recipe, 7)


def test_rows_keep_the_contract(case: tuple[Family, Job]) -> None:
    item, job = case
    batch = _batch(item, job)
    assert len(batch) == min(ROWS, job.stop) > 0
    assert _same(batch, _batch(item, job), item), "the same job gives other rows"
    pieces = [_batch(item, job, 0, 2), _batch(item, job, 2, ROWS)] if job.stop > 2 else [batch]
    joined = columns.join(pieces)
    assert _same(batch, joined, item), "slices do not join to the whole"
    back = columns.from_arrow(columns.to_arrow(batch, item.SCHEMA), job)
    for row in range(len(batch)):
        example, again = item.example(batch, row), item.example(back, row)
        _check_example(example, again, job.id(row))
    if isinstance(item, Checking):
        assert [problem for _, problem in item.validate_batch(batch) if problem.severity == "error"] == []
        assert len(item.canonical_batch(batch)) == len(batch)


def _check_example(example: Example, again: Example, identifier: str) -> None:
    assert example.id == again.id == identifier
    assert dict(example.inputs) == dict(again.inputs)
    assert example.answer == again.answer
    problems = [p for p in again.validate() if p.severity == "error"]
    assert problems == [], problems
    assert example.recipe in identifier
    assert example.score(example.answer).value == 1.0
    assert example.score(example.answer).status == "right"
    assert example.family.canonical(example) == again.family.canonical(again)
    explanation = example.explain()
    assert explanation.steps
    assert explanation.shortcuts
    for shortcut in explanation.shortcuts:
        if shortcut.answer is not None and example.score(shortcut.answer).value < 1.0:
            assert shortcut.name in example.score(shortcut.answer).mistakes, shortcut
    for hostile in ("", " ", "\0", "x" * 100_000, "__import__('os').system('x')", "I_WALK " * 20_000, "🙂", "[[" * 5_000):
        assert example.score(hostile).value == 0.0, hostile[:40]
    text = example.render("text")
    assert isinstance(text, str)
    assert text.strip()


def test_a_corrupted_answer_is_caught(case: tuple[Family, Job]) -> None:
    item, job = case
    batch = _batch(item, job, 0, 3)
    example = item.example(batch, 0)
    wrong = [s.answer for s in example.explain().shortcuts if s.answer is not None and example.score(s.answer).value < 1.0]
    for answer in [*wrong[:3], "nonsense"]:
        corrupted = dataclasses.replace(example, answer=answer)
        assert any(p.severity == "error" for p in item.validate(corrupted)), answer


def test_seeds_share_no_more_than_chance(case: tuple[Family, Job]) -> None:
    item, job = case
    if item.SPLITS[job.split].parts[job.part].finite:
        pytest.skip("a finite part")
    other = make_job(item, job.split, job.part, job.recipe, 8)
    assert not _same(_batch(item, job, 0, 10), _batch(item, other, 0, 10), item)


def test_media(case: tuple[Family, Job]) -> None:
    item, job = case
    if job.part != "test" and not job.part.startswith("test"):
        pytest.skip("one part of each split is enough for pictures")
    example = item.example(_batch(item, job, 0, 1), 0)
    for medium in item.MEDIA:
        made = example.render(medium)
        if medium == "png":
            assert isinstance(made, bytes)
            assert made.startswith(b"\x89PNG")
        else:
            assert isinstance(made, str)
            assert made.lstrip().startswith("<svg") or medium != "svg"
            assert "<script" not in made


@pytest.mark.parametrize("name", list(FAMILIES))
def test_folder_round_trip(name: str, tmp_path: Path) -> None:
    item = family(name)
    split = _kinds(item)[0]
    folder = generate(name, tmp_path / "out", split=split, size=25, seed=3)
    verdict = recombine.verify(folder.path)
    assert verdict.ok, verdict.problems[:3]
    job = folder.plan.parts[-1].job
    data = recombine.load(folder.path, split=job.split, part=job.part)
    fresh = recombine.load(name, split=job.split, part=job.part, seed=3, size=25)
    for i in (0, 24):
        assert data[i].id == fresh[i].id
        assert data[i].answer == fresh[i].answer
        assert dict(data[i].inputs) == dict(fresh[i].inputs)
    jsonl = generate(name, tmp_path / "jsonl", split=split, size=25, seed=3, format="jsonl")
    assert jsonl.manifest["fingerprint"] == folder.manifest["fingerprint"]
    assert recombine.verify(jsonl.path).ok


@pytest.mark.parametrize("name", list(FAMILIES))
def test_native_layout_reads_back(name: str, tmp_path: Path) -> None:
    item = family(name)
    recipe = "release" if "release" in item.RECIPES else next(iter(item.RECIPES))
    split = next(s for s in _kinds(item) if recipe in item.SPLITS[s].recipes)
    folder = generate(
        name,
        tmp_path / "out",
        split=split,
        part="test" if "test" in item.SPLITS[split].parts else (),
        size=12,
        recipe=recipe,
        format="native",
    )
    for file in folder.files(0):
        assert folder.plan.parts[0].job.part in file.name
        found = recombine.audit(file, name)
        assert found.checked == 12
        assert found.ok, found.problems[:3]


@pytest.mark.parametrize("name", list(FAMILIES))
def test_parts_do_not_overlap(name: str) -> None:
    item = family(name)
    split = _kinds(item)[0]
    seen: dict[str, np.ndarray] = {}
    for part in item.SPLITS[split].parts.values():
        job = make_job(item, split, part.name, None, 5)
        words = canonical_words(item, item.generate(job.rows(0, min(300, job.stop))))
        for other, theirs in seen.items():
            if other not in part.shares and part.name not in item.SPLITS[split].parts[other].shares:
                assert not np.isin(words, theirs).any(), (part.name, other)
        seen[part.name] = words


@pytest.mark.parametrize("name", list(FAMILIES))
def test_wrong_requests_are_typed_errors(name: str) -> None:
    for words in (
        {"split": "no-such"},
        {"part": "no-such"},
        {"recipe": "no-such"},
        {"seed": -1},
        {"size": 0},
        {"no_such": 1},
        {"split": "../x"},
        {"split": "\0"},
    ):
        with pytest.raises(RecombineError):
            recombine.load(name, **words)


def test_columns_take_and_join() -> None:
    item = family("scan")
    job = make_job(item, "length", "test")
    batch = item.generate(job.rows(0, 50))
    rows = np.array([3, 7, 7, 49])
    taken = columns.take(batch, rows)
    assert [taken.row(i) for i in range(4)] == [batch.row(int(r)) for r in rows]
    assert [taken.id(i) for i in range(4)] == [batch.id(int(r)) for r in rows]
    assert isinstance(batch.columns["command"], Coded)
