"""The contract, for every family × recipe × split × part: the conformance kit `recombine.testing` on our own families.

Families with very many like splits (SCAN's replicates) are covered by one split of each kind here and by their own tests.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import recombine
from recombine import kernels, testing
from recombine.abilities import Filing
from recombine.columns import Coded
from recombine.core import Batch, Family, Job
from recombine.data import columns
from recombine.data.generate import generate
from recombine.errors import RecombineError
from recombine.families import OURS, family
from recombine.jobs import make_job

WARM_ROWS = 40
SAMPLED_ROWS = 60
"""Rows over which a sample of the contract compares seeds and parts: it may have to make them interpreted."""
CASES = [(name, case) for name in OURS for case in testing.cases(family(name))]


@functools.cache
def _warm(name: str, recipe: str, is_whole: bool) -> None:
    """Load the compiled kernels once: small jobs then use them too, and the wide checks take a fraction of the time.

    A sample of the contract is too small to compile for: it takes the machine code that lies on disk already.
    """
    item = family(name)
    split = next(s for s in testing.kinds(item) if recipe in item.SPLITS[s].recipes)
    job = make_job(item, split, None, recipe, testing.SEED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "is_worth_compiling", lambda kernel, *_: is_whole or kernels.is_ready(kernel))
        item.generate(job.rows(0, min(job.stop, WARM_ROWS)))


@pytest.fixture(scope="module", autouse=True)
def narrow(request: pytest.FixtureRequest) -> Iterator[None]:
    """A sample compares fewer rows."""
    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("--contract-sample") > 1:
            patch.setattr(testing, "WIDE_ROWS", SAMPLED_ROWS)
        yield


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join([case[0], *case[1]]))
def case(request: pytest.FixtureRequest) -> tuple[Family, Job]:
    name, (recipe, split, part) = request.param
    _warm(name, recipe, request.config.getoption("--contract-sample") <= 1)
    item = family(name)
    return item, make_job(item, split, part, recipe, testing.SEED)


@pytest.mark.parametrize("check", list(testing.PART_CHECKS))
def test_part(case: tuple[Family, Job], check: str) -> None:
    assert list(testing.PART_CHECKS[check](*case)) == []


@pytest.mark.parametrize("check", list(testing.FAMILY_CHECKS))
@pytest.mark.parametrize("name", list(OURS))
def test_family(name: str, check: str) -> None:
    assert list(testing.FAMILY_CHECKS[check](family(name))) == []


@pytest.mark.parametrize("name", list(OURS))
def test_folder_round_trip(name: str, tmp_path: Path) -> None:
    item = family(name)
    split = testing.kinds(item)[0]
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


@pytest.mark.parametrize("name", list(OURS))
def test_native_layout_reads_back(name: str, tmp_path: Path) -> None:
    item = family(name)
    recipe = "release" if "release" in item.RECIPES else next(iter(item.RECIPES))
    split = next(s for s in testing.kinds(item) if recipe in item.SPLITS[s].recipes)
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
        assert folder.plan.parts[0].job.part in file.name or isinstance(item, Filing)
        found = recombine.audit(file, name)
        assert found.checked == 12
        assert found.ok, found.problems[:3]


@pytest.mark.parametrize("name", list(OURS))
def test_wrong_requests_are_typed_errors(name: str) -> None:
    for words in ({"split": "no-such"}, {"part": "no-such"}, {"seed": -1}, {"size": 0}, {"no_such": 1}, {"split": "\0"}):
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


def test_few_rows_of_a_long_list_of_values() -> None:
    values = [f"value {i}" for i in range(1_000)]
    item, job = family("scan"), make_job(family("scan"), "length", "test")
    batch = item.generate(job.rows(0, 5))
    for codes in ([999, 3, 3, 0, 998], list(range(5))):
        column = Coded(np.array(codes, dtype=np.int32), values)
        table = columns.to_arrow(Batch(job, 0, {**batch.columns, "command": column}), item.SCHEMA)
        assert table["command"].to_pylist() == [values[code] for code in codes]
    for code in (-1, 1_000):
        column = Coded(np.array([0, 1, 2, 3, code], dtype=np.int32), values)
        with pytest.raises(IndexError):
            columns.to_arrow(Batch(job, 0, {**batch.columns, "command": column}), item.SCHEMA)
