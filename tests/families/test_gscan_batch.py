"""gSCAN's oracle over whole batches against the plain one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine.checks import by_row
from recombine.columns import Coded, Ragged, values_of
from recombine.core import Batch, Example, Problem
from recombine.data.columns import from_arrow, to_arrow
from recombine.families.gscan import GSCAN, oracle, oracle_claims
from recombine.families.gscan.generate import SCHEMA
from recombine.jobs import make_job


def _judged(batch: Batch) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """What the batched oracle and the plain one find."""
    plain = by_row(range(len(batch)), lambda row: oracle.validate(GSCAN.example(batch, row)))
    found = [[(row, problem.text) for row, problem in each] for each in (GSCAN.validate_batch(batch), plain)]
    return found[0], found[1]


@pytest.mark.parametrize("name", [*SCHEMA])
def test_the_batched_oracle_finds_what_the_plain_one_finds(name: str) -> None:
    """Each column is damaged in turn; no row may pass that the plain oracle complains about, and none may be invented."""
    job = make_job(GSCAN, "compositional", "train")
    batch = from_arrow(to_arrow(GSCAN.generate(job.rows(0, 24)), SCHEMA), job)
    column, generator = batch.columns[name], np.random.default_rng(7)
    values = values_of(column)
    if isinstance(column, Ragged):
        flat = values_of(column.values)
        some = generator.permutation(len(flat))[: len(flat) // 3]
        shuffled = [flat[i] for i in generator.permutation(some)]
        for i, value in zip(some.tolist(), shuffled, strict=True):
            flat[i] = value
        kinds = sorted(set(map(str, flat)))
        changed: Any = Ragged(
            Coded(np.array([kinds.index(value) for value in flat]), kinds) if isinstance(flat[0], str) else np.array(flat),
            column.offsets,
        )
    elif isinstance(values[0], str):
        changed = [values[i] for i in generator.permutation(len(values))]
    else:
        changed = np.array(values) + (np.arange(len(values)) % 2)
    batched, plain = _judged(replace(batch, columns={**batch.columns, name: changed}))
    assert batched == plain
    if name not in ("agent_heading",):
        assert plain, f"damage to {name} goes unseen"


def test_the_batched_oracle_is_silent_on_right_rows_without_asking_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def validate(example: Example) -> list[Problem]:
        asked.append(example.id)
        return []

    monkeypatch.setattr(oracle, "validate", validate)
    batch = GSCAN.generate(make_job(GSCAN, "visual", "test").rows(0, 60))
    assert not list(GSCAN.validate_batch(batch))
    assert not asked


def test_a_split_with_a_claim_of_its_own_is_left_to_the_plain_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch states the published claims only: a changed claim must be asked, in training too."""
    batch = GSCAN.generate(make_job(GSCAN, "visual", "train").rows(0, 6))
    assert not list(GSCAN.validate_batch(batch))
    monkeypatch.setitem(oracle_claims.CLAIMS, "compositional", lambda _example, _part: "no row may stand here")
    assert [(row, p.code) for row, p in GSCAN.validate_batch(batch)] == [(row, "wrong_split") for row in range(6)]
