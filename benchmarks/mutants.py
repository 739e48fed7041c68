"""Mutation testing of the oracles: change one value of a row, and see whether the oracle objects.

python benchmarks/mutants.py [--rows 2000] [--family NAME] [--split NAME]

For every column of every family, each row gets another value there: a neighbouring number, another row's text, a list with one
element changed. A mutant that the oracle accepts is a *survivor*. It is harmless only if the family declares the column free, or
if the generator's own code, which shares nothing with the oracle, still derives the row's answer from the changed row. Any other
survivor is a hole: exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from recombine import kernels, keys
from recombine.core import Batch, Example, Family
from recombine.data import columns
from recombine.data.verify import _problems
from recombine.families import OURS, family
from recombine.jobs import make_job
from recombine.testing import kinds


def changed(value: Any, others: Sequence[Any], stream: keys.Stream) -> Any:
    """Another value of the same kind; the value itself if no other can be found."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (1 if stream.below(2) else -1)
    if isinstance(value, float):
        return value + 0.5
    if isinstance(value, list):
        return _changed_list(value, others, stream)
    different = [other for other in others if other != value]
    return stream.choice(different) if different else f"{value}x"


def _changed_list(value: list[Any], others: Sequence[Any], stream: keys.Stream) -> list[Any]:
    elements = [element for other in others for element in other]
    if not value:
        return [stream.choice(elements)] if elements else value
    place, new = stream.below(len(value)), list(value)
    new[place] = changed(value[place], elements[:500], stream)
    return new


def mutate(batch: Batch, item: Family, column: str, stream: keys.Stream) -> tuple[Batch, list[int]]:
    """The batch with another value in this column of every row, and the rows that really changed."""
    table = columns.to_arrow(batch, item.SCHEMA)
    before = table.column(column).to_pylist()
    kind = table.schema.field(column).type
    after = [_fitting(changed(value, before[:200], stream), value, kind) for value in before]
    where = table.schema.get_field_index(column)
    mutant = table.set_column(where, table.schema.field(column), pa.array(after, kind))
    rows = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return columns.from_arrow(mutant, batch.job), rows


def _fitting(new: Any, old: Any, kind: Any) -> Any:
    """The new value if the column's type can hold it, else the old one."""
    try:
        pa.array([new], kind)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return old
    return new


def is_harmless(item: Family, mutant: Batch, row: int, column: str) -> bool:
    """Whether the family says that the column is free, or the generator's code still gives the row's answer."""
    if column in getattr(item, "FREE_COLUMNS", {}):
        return True
    example = item.example(mutant, row)
    if item.NAME in ("gscan", "reascan"):
        from recombine.grid.matching import fitting, referents
        from recombine.grid.play import plan

        said, world = example.plan, example.world
        for reading in ("pairwise", "superlative"):
            found = (
                fitting(world, said.phrase, reading) if item.NAME == "gscan" else referents(world, said.description, reading)
            )
            if tuple(found) != (0,):
                return False
        return ",".join(plan(world, 0, said.verb, said.adverb)) == example.answer
    if item.NAME == "lilgym":  # any edits that reach the goal are right: play them by the environments' code
        return example.score(example.answer).value == 1.0
    if item.NAME == "abstract":
        return is_determined(example)
    return False


def is_determined(example: Example) -> bool:
    """Whether the generator's elimination, run on the worlds of the row, keeps its rule and leaves one test output, with decoys."""
    from recombine.families.abstract import generate as making
    from recombine.families.abstract import operations, plan, task_kernel
    from recombine.families.abstract.answers import read_answer
    from recombine.families.abstract.effect_kernel import CODE_BASE, object_code
    from recombine.grid.codes import COLORS, SHAPES

    task, form = example.world, example.plan.form
    worlds = [(task.test, task.output), *task.demonstrations]
    if read_answer(task.test, example.answer) != task.output:
        return False
    settings = np.zeros(task_kernel.N_SETTINGS, dtype=np.int64)
    settings[task_kernel.S_GRID] = task.test.size
    settings[task_kernel.S_HIGH] = max(len(before.things) for before, _ in worlds)
    settings[task_kernel.S_DEMONSTRATIONS] = settings[task_kernel.S_POOL] = len(task.demonstrations)
    settings[task_kernel.S_DEEPEST] = max(form.pattern, plan.ONE)
    desk = making.desk_of(settings)
    run = kernels.load(making.KERNEL_NAME, compiled=True)

    def code(thing: Any) -> int:
        row, column, color, shape, size = (
            thing.row,
            thing.column,
            COLORS.index(thing.color),
            SHAPES.index(thing.shape),
            thing.size,
        )
        return int(object_code(row, column, color, shape, size))

    for w, (before, after) in enumerate(worlds):
        gone = [code(t) for t in before.things if t not in after.things]
        new = [code(t) for t in after.things if t not in before.things]
        if len(gone) > 1 or len(new) > 1:
            return False
        desk.counts[w] = len(before.things)
        desk.effects[w] = sum(gone) * CODE_BASE + sum(new)
        for i, t in enumerate(before.things):
            desk.things[w, i] = (t.size, COLORS.index(t.color), SHAPES.index(t.shape), t.row, t.column)
        run.look(desk.things[w], desk.counts[w], desk.sets, desk.fits[w], desk.rel[w])
    grammar = task_kernel.Grammar(plan.roots(), *plan.steps(), operations.table())
    k = len(task.demonstrations)
    op = operations.numbers()[example.plan.operation]
    order, survivors, rng = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64), np.zeros(1, dtype=np.uint64)
    size = run.choose(desk, grammar, settings, form.encode(), grammar.table[op], order, survivors, rng)
    if size < 0 or run.missing_decoys(desk.fits[0], desk.rel[0], np.array(form, dtype=np.int64), desk.weak):
        return False
    mine = [int(desk.masks[h]) for h in range(size) if desk.forms[h] == form.encode()]
    return len(mine) == plan.READINGS[form.pattern] and all(mask >> desk.ops.tolist().index(op) & 1 for mask in mine)


def main(rows: int, names: Sequence[str], wanted: str | None) -> int:
    """Print a line for each column; return 1 if there is a hole."""
    holes = 0
    for name in names:
        item = family(name)
        for split in [wanted] if wanted else kinds(item)[:3]:
            part = next(iter(item.SPLITS[split].parts))
            job = make_job(item, split, part)
            batch = item.generate(job.rows(0, min(rows, job.stop)))
            for column in item.SCHEMA:
                stream = keys.Stream("mutants", name, split, column)
                mutant, true = mutate(batch, item, column, stream)
                found = {row for row, p in _problems(item, mutant, range(len(mutant)), True) if p.severity == "error"}
                alive = [row for row in true if row not in found]
                bad = [row for row in alive if not is_harmless(item, mutant, row, column)]
                counts = Counter({"mutants": len(true), "caught": len(true) - len(alive), "harmless": len(alive) - len(bad)})
                print(f"{name:8} {split:24} {column:24} {dict(counts)} {'HOLES ' + str(len(bad)) if bad else ''}", flush=True)
                holes += len(bad)
    return 1 if holes else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--family", action="append", choices=list(OURS))
    parser.add_argument("--split")
    given = parser.parse_args()
    sys.exit(main(given.rows, given.family or list(OURS), given.split))
