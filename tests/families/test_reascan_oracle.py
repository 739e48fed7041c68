"""The oracle finds what is broken, and its two forms find the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example
from recombine.families.reascan import REASCAN as reascan
from recombine.families.reascan import oracle_batch, oracle_reader
from recombine.families.reascan.sound.generate import sound
from recombine.grid.world import Thing, World
from recombine.jobs import make_job


def batch_of(split: str, n: int = 12, part: str = "test", seed: int = 2) -> Batch:
    return reascan.generate(make_job(reascan, split, part, "sound", seed).rows(0, n))


def changed(example: Example, things: list[Thing] | None = None, **parts: object) -> Example:
    world: World = example.world
    new = dataclasses.replace(world, things=tuple(things)) if things is not None else world
    return dataclasses.replace(example, world=new, **parts)


def codes(example: Example) -> set[str]:
    return {problem.code for problem in example.validate() if problem.severity == "error"}


def test_wrong_actions() -> None:
    batch = batch_of("one_clause")
    for i in range(len(batch)):
        example = reascan.example(batch, i)
        for answer in (example.answer + ",walk", "walk", "", example.answer.replace("walk", "stay", 1)):
            assert "wrong_label" in codes(changed(example, answer=answer))


def test_a_second_referent() -> None:
    batch = batch_of("simple")
    for i in range(len(batch)):
        example = reascan.example(batch, i)
        target = example.world.things[0]
        free = _free_cell(example.world)
        twin = dataclasses.replace(target, row=free[0], column=free[1], role="random")
        assert "ambiguous" in codes(changed(example, [*example.world.things, twin]))


def _free_cell(world: World) -> tuple[int, int]:
    taken = {(t.row, t.column) for t in world.things if not t.is_box} | {(world.row, world.column)}
    return next((r, c) for r in range(world.size) for c in range(world.size) if (r, c) not in taken)


def test_a_missing_decoy_makes_a_word_spare() -> None:
    found = 0
    batch = batch_of("one_clause", 20)
    for i in range(len(batch)):
        example = reascan.example(batch, i)
        kept = [t for t in example.world.things if t.role not in ("attribute", "relation")]
        meta = {**example.meta, "object_catches": ()}
        found += "spare_word" in codes(changed(example, kept, meta=meta))
    assert found > 15


def test_a_false_mark() -> None:
    example = reascan.example(batch_of("one_clause"), 0)
    code, _ = next(oracle_reader.each_omission(oracle_reader.understand(str(example.inputs["command"])).nouns))
    assert "false_mark" in codes(changed(example, meta={**example.meta, "spare_words": [code]}))


def test_a_third_size() -> None:
    found = 0
    batch = batch_of("simple", 30)
    for i in range(len(batch)):
        example = reascan.example(batch, i)
        if not example.plan.phrases[0].size:
            continue
        sizes = {t.size for t in example.world.things}
        other = next(s for s in (1, 2, 3, 4) if s not in sizes) if len(sizes) < 4 else None
        if other is None:
            continue
        things = [*example.world.things]
        k = next(k for k in range(len(things) - 1, 0, -1) if things[k].shape == things[0].shape)
        things[k] = dataclasses.replace(things[k], size=other)
        found += bool({"size_class", "size_reading", "ambiguous", "no_referent"} & codes(changed(example, things)))
    assert found > 3


def test_wrong_determiners_fields_and_splits() -> None:
    batch = batch_of("one_clause")
    example = next(reascan.example(batch, i) for i in range(12) if " as a " in str(batch.columns["command"][i]))
    text = str(example.inputs["command"])
    assert "wrong_determiner" in codes(
        changed(example, inputs={**example.inputs, "command": text.replace(" as a ", " as the ")})
    )
    for name, value in (
        ("direction", "x"),
        ("distance", 99),
        ("verb", "fly"),
        ("form", 1),
        ("pattern", "2-2"),
        ("interaction", 7),
    ):
        assert "wrong_field" in codes(changed(example, meta={**example.meta, name: value})), name
    for split in ("a1", "b2", "c1", "c2", "simple", "nested"):
        assert "wrong_split" in codes(changed(example, meta={**example.meta, "split": split})), split
    assert codes(changed(example, inputs={**example.inputs, "command": "fly to the moon"})) == {"bad_command"}
    assert codes(changed(example, [])) == {"bad_world"}


@pytest.mark.parametrize("split", ["simple", "two_clauses", "nested", "all", "a2", "two_clauses_rd"])
def test_both_forms_of_the_oracle_find_nothing(split: str) -> None:
    batch = batch_of(split, 8)
    read = oracle_batch.read_batch(batch)
    assert len(read.rows) == len(batch)
    assert not oracle_batch.broken_laws(read, compiled=False).any()
    assert not oracle_batch.broken_fields(batch, read).any()
    assert not oracle_batch.broken_claims(reascan, batch, read).any()
    assert list(reascan.validate_batch(batch)) == []


def _with(batch: Batch, name: str, column: object) -> Batch:
    return dataclasses.replace(batch, columns={**batch.columns, name: column})


def test_both_forms_of_the_oracle_find_the_same_damage() -> None:
    """Objects are shifted, recoloured and resized at random; a row is bad for the plain oracle iff it is for the compiled one."""
    batch = batch_of("two_clauses", 40)
    rng = np.random.default_rng(3)
    columns = batch.columns
    sizes = columns["object_sizes"]
    assert isinstance(sizes, Ragged)
    for name, most in (("object_sizes", 4), ("object_colors", 4), ("object_rows", 6)):
        column = columns[name]
        assert isinstance(column, Ragged)
        values = column.values.codes.copy() if isinstance(column.values, Coded) else column.values.copy()
        hit = rng.random(len(values)) < 0.02
        values[hit] = rng.integers(0, most, hit.sum()) + (1 if name == "object_sizes" else 0)
        new = Coded(values, column.values.values) if isinstance(column.values, Coded) else values
        batch = _with(batch, name, Ragged(new, column.offsets))
    read = oracle_batch.read_batch(batch)
    suspects = np.ones(len(batch), dtype=bool)
    suspects[read.rows] = oracle_batch.broken_laws(read, compiled=False) != 0
    suspects[read.rows] |= oracle_batch.broken_fields(batch, read) | oracle_batch.broken_claims(reascan, batch, read)
    agree = 0
    for i in range(len(batch)):
        example = reascan.example(batch, i)
        errors = {p.code for p in example.validate()}
        assert bool(errors) == bool(suspects[i]), (i, errors)
        agree += bool(errors)
    assert agree > 8


@pytest.mark.slow
def test_large_release_batches_show_the_same_kinds_of_problems() -> None:
    batch = reascan.generate(make_job(reascan, "c2", "test", "release", 2).rows(0, 2_000))
    found: dict[int, set[tuple[str, str]]] = {}
    for row, problem in reascan.validate_batch(batch):
        found.setdefault(row, set()).add((problem.code, problem.severity))
    for row in range(0, 2_000, 100):
        assert found.get(row, set()) == {(p.code, p.severity) for p in reascan.example(batch, row).validate()}


@pytest.mark.slow
def test_interpreted_and_compiled_kernels_give_the_same_bytes() -> None:
    from recombine.data import columns
    from recombine.families.reascan.release.generate import release

    for recipe, make in (("sound", sound), ("release", release)):
        for split, about in reascan.SPLITS.items():
            if recipe not in about.recipes:
                continue
            part = list(about.parts)[-1]
            job = make_job(reascan, split, part, recipe, 9).rows(0, 2)
            slow, fast = make(job, compiled=False), make(job, compiled=True)
            assert columns.to_arrow(slow, reascan.SCHEMA).equals(columns.to_arrow(fast, reascan.SCHEMA)), (recipe, split)
            assert dict(slow.rejections) == dict(fast.rejections), (recipe, split)


@pytest.mark.slow
def test_twenty_thousand_examples() -> None:
    """All splits and parts through the compiled oracle; benchmarks/check_reascan.py does the same for a million."""
    parts = [(split, part) for split, about in reascan.SPLITS.items() for part in about.parts]
    n = -(-20_000 // len(parts))
    total = 0
    for split, part in parts:
        batch = reascan.generate(make_job(reascan, split, part, "sound", 4).rows(0, n))
        read = oracle_batch.read_batch(batch)
        assert len(read.rows) == len(batch)
        assert not oracle_batch.broken_laws(read, compiled=True).any(), (split, part)
        assert not oracle_batch.broken_fields(batch, read).any(), (split, part)
        assert not oracle_batch.broken_claims(reascan, batch, read).any(), (split, part)
        total += len(batch)
    assert total >= 20_000
