"""The oracle of abstract tasks over a batch: it clears the rows that the plain oracle clears, and no row that was changed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recombine import columns as columns_module
from recombine.batches import take
from recombine.core import Batch
from recombine.data.columns import from_arrow, to_arrow
from recombine.families.abstract import ABSTRACT, oracle_batch
from recombine.families.abstract.oracle_batch import canonical_batch, suspects
from recombine.jobs import make_job

ROWS, ROW = 2, 1
"""Rows of a batch, and the one that is changed."""


@functools.cache
def made(pattern: str = "one_clause", rows: int = ROWS) -> Batch:
    return ABSTRACT.generate(make_job(ABSTRACT, "random", "test", "sound", 6, {"pattern": pattern}).rows(0, rows))


def changed(batch: Batch, **new: Any) -> Batch:
    """The batch with other values in row ROW."""
    found: dict[str, Any] = {name: columns_module.values_of(column) for name, column in batch.columns.items()}
    for name, value in new.items():
        found[name] = [value if row == ROW else old for row, old in enumerate(found[name])]
    listed = {name: packed(values, batch.columns[name]) for name, values in found.items()}
    return replace(batch, columns=listed)


def packed(values: list[Any], like: Any) -> Any:
    """A column of the same kind with these values."""
    if isinstance(like, columns_module.Ragged):
        flat = [value for listed in values for value in listed]
        offsets = np.concatenate([[0], np.cumsum([len(listed) for listed in values])]).astype(np.int64)
        inner = flat if isinstance(like.values, columns_module.Coded) else np.array(flat, dtype=like.values.dtype)
        return columns_module.Ragged(packed(inner, like.values) if inner is flat else inner, offsets)
    if isinstance(like, columns_module.Coded):
        words = sorted(set(values))
        return columns_module.Coded(np.array([words.index(word) for word in values], dtype=np.int16), words)
    return np.array(values, dtype=like.dtype) if isinstance(like, np.ndarray) else values


def test_rows_that_keep_every_law_are_cleared() -> None:
    assert suspects(ABSTRACT, made(), compiled=False) == []
    assert suspects(ABSTRACT, changed(made()), compiled=False) == []


@pytest.mark.parametrize("pattern", ["two_clauses", "nested"])
def test_deeper_rules_are_judged_as_by_the_plain_oracle(pattern: str) -> None:
    batch = made(pattern, 1)
    assert suspects(ABSTRACT, batch) == []
    assert ABSTRACT.validate(ABSTRACT.example(batch, 0)) == []


def other_word(words: str, pairs: Mapping[str, str]) -> str:
    return next(words.replace(old, new) for old, new in pairs.items() if old in words)


CHANGES: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "survivors": lambda row: {"survivors": [row["survivors"][0] + 1, *row["survivors"][1:]]},
    "proved_unique": lambda row: {"proved_unique": not row["proved_unique"]},
    "rivals": lambda row: {"rivals_left": 1},
    "form": lambda row: {"form": row["form"] + 1},
    "kind": lambda row: {"kind": "grow" if row["kind"] != "grow" else "paint"},
    "space": lambda row: {"space": 1},
    "answer": lambda row: {"answer": row["answer"].rpartition("; ")[0]},
    "no answer": lambda row: {"answer": "x"},
    "operation": lambda row: {"operation": "remove" if row["operation"] != "remove" else "grow"},
    "no rule": lambda row: {"description": "the thing"},
    "relation": lambda row: {"description": other_word(row["description"], {" row ": " column ", "same ": "odd ", "inside": "in"})},
    "demonstration": lambda row: {"gone": [row["gone"][0], -1, *row["gone"][2:]]},
    "new object": lambda row: {"new": [*row["new"][:5], 9, *row["new"][6:]]},
    "outside": lambda row: {"object_rows": [row["object_rows"][0] + 9, *row["object_rows"][1:]]},
    "size": lambda row: {"object_sizes": [*row["object_sizes"][:-1], 7]},
    "lists": lambda row: {"object_sizes": row["object_sizes"][:-1]},
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_row_is_suspected_and_judged_by_the_plain_oracle(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = made()
    wrong = changed(batch, **CHANGES[name](batch.row(ROW)))
    if name == "lists":
        with pytest.raises(ValueError, match="lists"):
            suspects(ABSTRACT, wrong, compiled=False)
    else:
        assert suspects(ABSTRACT, wrong, compiled=False) == [ROW]
    monkeypatch.setattr("recombine.kernels.is_worth_compiling", lambda *_: True)
    monkeypatch.setattr(oracle_batch.kernels, "load", interpreted(oracle_batch.kernels.load))
    found = list(ABSTRACT.validate_batch(wrong))
    assert {row for row, _ in found} == {ROW}
    assert all(problem.severity == "error" for _, problem in found)


def interpreted(load: Callable[[str, bool], Any]) -> Callable[[str, bool], Any]:
    """A loader that compiles nothing."""
    return lambda name, _compiled: load(name, False)


def test_undetermined_rows_are_suspected() -> None:
    """The last demonstration becomes a copy of the first: the hypotheses that it alone refuted come back."""
    batch = made(rows=8)
    found = 0
    for row in range(len(batch)):
        values = take(batch, np.array([row])).row(0)
        sizes = values["world_sizes"]
        places = [*range(sum(sizes[:-1])), *range(sizes[0], sizes[0] + sizes[1])]
        names = ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")
        twice = {
            **{name: [values[name][place] for place in places] for name in names},
            "world_sizes": [*sizes[:-1], sizes[1]],
            "gone": [*values["gone"][:-1], values["gone"][1]],
            "new": [*values["new"][:-5], *values["new"][5:10]],
        }
        single = take(batch, np.array([row] * (ROW + 1)))
        wrong = changed(single, **twice)
        read = oracle_batch.read_worlds(wrong)
        rule = oracle_batch.oracle.parse_rule(values["description"], values["operation"])
        judged = oracle_batch.judge(read, np.full(len(wrong), values["grid_size"]), [None] * ROW + [rule], False)
        plain = [problem for problem in ABSTRACT.validate(ABSTRACT.example(wrong, ROW)) if problem.code == "undetermined"]
        found += bool(plain)
        assert bool(judged.against[ROW]) == bool(plain)
        if plain:
            assert plain[0].text.startswith(f"{judged.against[ROW]} of {judged.survivors[ROW, -1]} hypotheses")
    assert found > 0


def test_canonical_words_ignore_order_and_nothing_else() -> None:
    batch = made(rows=6)
    words = canonical_batch(batch)
    assert len(set(words.tolist())) == 6
    assert canonical_batch(from_arrow(to_arrow(batch, ABSTRACT.SCHEMA), batch.job)).tolist() == words.tolist()
    row = batch.row(ROW)
    sizes, names = row["world_sizes"], ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    order = [0, *range(len(sizes) - 1, 0, -1)]
    swapped = {name: [value for w in order for value in row[name][bounds[w] : bounds[w + 1]]] for name in names}
    swapped |= {"world_sizes": [sizes[w] for w in order], "gone": [row["gone"][w] for w in order]}
    swapped["new"] = [value for w in order for value in row["new"][5 * w : 5 * w + 5]]
    assert canonical_batch(changed(batch, **swapped)).tolist() == words.tolist()
    for name, wrong in {
        "object_sizes": [5 - row["object_sizes"][0], *row["object_sizes"][1:]],
        "gone": [*row["gone"][:-1], 1 - row["gone"][-1]],
        "grid_size": 7,
    }.items():
        other = canonical_batch(changed(batch, **{name: wrong}))
        assert [k for k in range(6) if other[k] != words[k]] == [ROW], name
