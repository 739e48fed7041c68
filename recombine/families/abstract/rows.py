"""The columns of a task, and the readable view of one row.

World 0 of a row is the test world, the others are the demonstrations. An output world is its input without the object `gone` and
with the object `new`.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.core import Batch, ColumnType, Example, Family, Job, option
from recombine.families.abstract import operations
from recombine.families.abstract.answers import Scene, write_answer
from recombine.families.abstract.effect_kernel import CODE_BASE
from recombine.families.abstract.plan import N_PHRASES, N_STEPS, PATTERNS, Form, Rule, describe, pattern_of, space_size
from recombine.families.abstract.splits import OPTIONS
from recombine.grid.codes import COLORS, RELATIONS, SHAPES, SIZES
from recombine.grid.world import Thing
from recombine.predicates.draw import HOLD_OUT, PREDICATE, predicate_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.columns import Column
    from recombine.families.abstract.task_kernel import Sink

SCHEMA: dict[str, ColumnType] = {
    "description": "string",
    "operation": "string",
    "pattern": "string",
    "kind": "string",
    "relations": "list<string>",
    "form": "int64",
    "grid_size": "int8",
    "demonstrations": "int8",
    "world_sizes": "list<int8>",
    "object_sizes": "list<int8>",
    "object_colors": "list<string>",
    "object_shapes": "list<string>",
    "object_rows": "list<int8>",
    "object_columns": "list<int8>",
    "gone": "list<int8>",
    "new": "list<int8>",
    "answer": "string",
    "object_count": "int8",
    "clauses": "int8",
    "space": "int64",
    "survivors": "list<int64>",
    "rivals_left": "int64",
    "rival_bits": "int8",
    "proved_unique": "bool",
    "determined": "bool",
}
NEW_FIELDS = 5
"""Numbers that say which object is new: size, colour, shape, row, column; size 0 for none."""


@dataclass(frozen=True)
class Task:
    """All worlds of a task: the demonstrations as (input, output), the test input, and its output."""

    demonstrations: tuple[tuple[Scene, Scene], ...]
    test: Scene
    output: Scene


def columns(job: Job, sink: Sink, chosen: NDArray[np.int64], rivals: NDArray[np.int64]) -> dict[str, Column]:
    """The columns of finished rows; `chosen` holds the form and the operation of each."""
    forms, ops = chosen
    n, worlds = sink.counts.shape
    counts = sink.counts.astype(np.int64)
    inside = np.arange(sink.things.shape[2])[None, None, :] < counts[:, :, None]
    flat = sink.things[inside]
    offsets = np.concatenate([[0], np.cumsum(counts.sum(axis=1))]).astype(np.int64)
    new = unpack(sink.effects % CODE_BASE)
    gone = np.where(sink.effects >= CODE_BASE, 0, -1).astype(np.int8)
    grid = int(option(job, OPTIONS, "grid_size"))
    patterns, first, second = pattern_of(forms), forms // N_STEPS % N_STEPS, forms % N_STEPS
    kinds = np.array([operations.KINDS.index(kind) for kind in operations.kinds()], dtype=np.int8)
    each = np.arange(n + 1, dtype=np.int64)

    def lists(field: int) -> NDArray[np.int8]:
        return np.ascontiguousarray(flat[:, field])

    said = np.minimum(patterns, 2)
    relations = np.stack([first, second], axis=1)[np.arange(2) < said[:, None]] // N_PHRASES
    spaces = np.array([space_size(p) if p in patterns else 0 for p in range(len(PATTERNS))], dtype=np.int64)
    style = str(option(job, OPTIONS, "answer_form"))
    return {
        "description": [describe(Form.decode(form)) for form in forms.tolist()],
        "operation": Coded(ops.astype(np.int16), operations.texts()),
        "pattern": Coded(patterns.astype(np.int8), PATTERNS),
        "kind": Coded(kinds[ops], operations.KINDS),
        "relations": Ragged(
            Coded(relations.astype(np.int8), RELATIONS), np.concatenate([[0], np.cumsum(said)]).astype(np.int64)
        ),
        "form": forms,
        "grid_size": np.full(n, grid, dtype=np.int8),
        "demonstrations": np.full(n, worlds - 1, dtype=np.int8),
        "world_sizes": Ragged(sink.counts.reshape(-1), each * worlds),
        "object_sizes": Ragged(lists(0), offsets),
        "object_colors": Ragged(Coded(lists(1), COLORS), offsets),
        "object_shapes": Ragged(Coded(lists(2), SHAPES), offsets),
        "object_rows": Ragged(lists(3), offsets),
        "object_columns": Ragged(lists(4), offsets),
        "gone": Ragged(gone.reshape(-1), each * worlds),
        "new": Ragged(new.reshape(-1), each * worlds * NEW_FIELDS),
        "answer": _answers(sink, new, gone, grid, style),
        "object_count": sink.counts[:, 0],
        "clauses": said.astype(np.int8),
        "space": spaces[patterns],
        "survivors": Ragged(sink.survivors.reshape(-1), each * (worlds - 1)),
        "rivals_left": rivals,
        "rival_bits": np.array([int(count).bit_length() for count in rivals.tolist()], dtype=np.int8),
        "proved_unique": sink.unique.astype(bool),
        "determined": rivals == 0,
    }


def unpack(codes: NDArray[np.int64]) -> NDArray[np.int8]:
    """[..., 5] numbers of the objects with these codes (see `kernel.object_code`); zeros for code 0."""
    rest = np.maximum(codes - 1, 0)
    fields = [rest % 4 + 1, rest // 16 % 4, rest // 4 % 4, rest // 1024, rest // 64 % 16]
    return np.where((codes > 0)[..., None], np.stack(fields, axis=-1), 0).astype(np.int8)


def _answers(sink: Sink, new: NDArray[np.int8], gone: NDArray[np.int8], grid: int, style: str) -> list[str]:
    """The test output of each row as text."""
    if style == "objects":
        return _listed_outputs(sink, new[:, 0].astype(np.int64), gone[:, 0])
    found = []
    for things, n, coming, going in zip(
        sink.things[:, 0].tolist(), sink.counts[:, 0].tolist(), new[:, 0].tolist(), gone[:, 0].tolist(), strict=True
    ):
        before = Scene(grid, tuple(_thing(*values) for values in things[:n]))
        after = changed(before, going, coming)
        found.append(write_answer(style, before, after))
    return found


def _listed_outputs(sink: Sink, new: NDArray[np.int64], gone: NDArray[np.int8]) -> list[str]:
    """The answers in the form `objects`, without a Python object per thing: the order is that of `Scene.ordered`."""
    things = np.concatenate([sink.things[:, 0].astype(np.int64), new[:, None, :]], axis=1)
    most = things.shape[1] - 1
    stays = np.arange(most + 1) < sink.counts[:, 0, None]
    stays[:, 0] &= gone < 0
    stays[:, most] = new[:, 0] > 0
    rows, places = np.nonzero(stays)
    size, color, shape, row, column = things[rows, places].T
    ranks = [np.argsort(np.argsort(names)) for names in (COLORS, SHAPES)]
    order = np.lexsort((size, ranks[1][shape], ranks[0][color], shape == SHAPES.index("box"), column, row, rows))
    kinds = [f"{c} {s} {k} at " for c in COLORS for s in SHAPES for k in SIZES]
    codes = ((color * len(SHAPES) + shape) * len(SIZES) + size - 1)[order].tolist()
    cells = zip((row[order] + 1).tolist(), (column[order] + 1).tolist(), strict=True)
    texts = [f"{kinds[code]}{r},{c}" for code, (r, c) in zip(codes, cells, strict=True)]
    ends = np.concatenate([[0], np.cumsum(stays.sum(axis=1))]).tolist()
    return ["; ".join(texts[a:b]) or "nothing" for a, b in itertools.pairwise(ends)]


def _thing(size: int, color: int, shape: int, row: int, column: int) -> Thing:
    return Thing(size, COLORS[color], SHAPES[shape], row, column)


def changed(scene: Scene, gone: int, new: Sequence[int]) -> Scene:
    """The output of a world: without object `gone`, with the object of these five numbers."""
    things = [thing for i, thing in enumerate(scene.things) if i != gone]
    if new[0]:
        things.append(_thing(*new))
    return Scene(scene.size, tuple(things))


def task_of(row: Mapping[str, Any]) -> Task:
    """The worlds that the columns of one row hold."""
    fields = ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")
    things = [Thing(*values) for values in zip(*(row[name] for name in fields), strict=True)]
    pairs, at, grid = [], 0, int(row["grid_size"])
    for w, n in enumerate(row["world_sizes"]):
        scene = Scene(grid, tuple(things[at : at + n]))
        pairs.append((scene, changed(scene, row["gone"][w], row["new"][w * NEW_FIELDS : (w + 1) * NEW_FIELDS])))
        at += n
    return Task(tuple(pairs[1:]), *pairs[0])


def inputs_of(task: Task, answer_form: str) -> dict[str, Any]:
    """What a model may see: the demonstrations and the test input. No rule, no roles, objects by place."""
    return {
        "grid_size": task.test.size,
        "demonstrations": [{"input": a.listed(), "output": b.listed()} for a, b in task.demonstrations],
        "test": task.test.listed(),
        "answer_form": answer_form,
    }


META = (
    "description", "operation", "pattern", "kind", "relations", "form", "clauses", "object_count", "space", "survivors",
    "rivals_left", "rival_bits", "proved_unique", "determined", "demonstrations",
)  # fmt: skip
"""The columns that an example keeps as facts about itself."""


def meta_of(job: Job, values: Mapping[str, Any]) -> dict[str, Any]:
    """The facts about a row that models do not see."""
    meta = {
        "recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed,
        "asked_demonstrations": int(option(job, OPTIONS, "demonstrations")),
        "asked_pattern": str(option(job, OPTIONS, "pattern")),
        **{name: values[name] for name in META},
    }  # fmt: skip
    if job.split == HOLD_OUT:
        meta[PREDICATE] = predicate_text(job, OPTIONS)
    return meta


def example(family: Family, batch: Batch, row: int) -> Example:
    """The readable view of one row."""
    values, job = batch.row(row), batch.job
    task, meta = task_of(values), meta_of(job, values)
    rule = Rule(Form.decode(values["form"]), str(values["operation"]))
    inputs = inputs_of(task, str(option(job, OPTIONS, "answer_form")))
    return Example(family, batch.id(row), inputs, str(values["answer"]), plan=rule, world=task, meta=meta)


def canonical(example: Example) -> bytes:
    """The worlds of a task without order: demonstrations as a set, objects as sets."""
    task: Task = example.world
    pairs = sorted(f"{a.key()}>{b.key()}" for a, b in task.demonstrations)
    return hashlib.blake2b("|".join([task.test.key(), *pairs]).encode(), digest_size=16).digest()
