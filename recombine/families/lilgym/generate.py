"""Jobs to rows: statements first, then scenes, then an edit plan that reaches the target. Row i depends on the job and i only."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, Ragged
from recombine.core import FILES, Batch, ColumnType, Example, Job, Option, option
from recombine.errors import Infeasible, UsageError
from recombine.families.lilgym import facets, native
from recombine.families.lilgym.play.edits import format_edits
from recombine.families.lilgym.scene import FIELDS, Counts, Flags, Items, Kind, Numbers, Scene, Words
from recombine.families.lilgym.sound import language, planner, worlds
from recombine.families.lilgym.splits import OPTION
from recombine.predicates.draw import HOLD_OUT, PREDICATE, predicate_text
from recombine.row_examples import RowExample, RowFields

Start = Literal["flipit", "scratch"]
Task = Literal["edit", "truth"]

OPTIONS: dict[str, Option] = {
    "scene": Option(
        "tower", "what the boxes hold: blocks stacked to towers, or items scattered freely", choices=("tower", "scatter")
    ),
    "start": Option(
        "flipit",
        "flip the truth of the statement in a given scene, or make it true from scratch",
        choices=("flipit", "scratch"),
    ),
    "task": Option("edit", "answer with edits that end in STOP, or with true or false (NLVR)", choices=("edit", "truth")),
    "permutations": Option(False, "official files only: every order of the three boxes as a start of its own (six per scene)"),
    FILES: Option("", "the folder of the published lilGym files (tower_flipit_dev.json, …, plain or .gz)"),
    PREDICATE: OPTION,
}
SCHEMA: dict[str, ColumnType] = {
    "statement": "string",
    "program": "string",
    "scene": "string",
    "start": "string",
    "task": "string",
    "target": "bool",
    "items": "list<int16>",
    "answer": "string",
    "edits": "int16",
    "objects": "int16",
    "words": "int16",
    "depth": "int8",
    "phenomena": "list<string>",
    "key": "string",
}
CHUNK = 2048
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 2_000, 50
"""Rows that take as long interpreted as compiling the kernels does, and as loading their machine code does."""
SCENES, WORDS = 1, 3
"""Salts of a row's random states, by purpose."""


@dataclass(frozen=True)
class Wanted:
    """The settings of a job, without its rows."""

    kind: Kind
    start: Start
    task: Task
    fast: bool = False

    @classmethod
    def of(cls, job: Job) -> Wanted:
        """The job's options."""
        kind, start, task = (option(job, OPTIONS, name) for name in ("scene", "start", "task"))
        return cls(kind, start, task)

    @property
    def from_nothing(self) -> bool:
        """Whether statements are made true from the empty scene."""
        return self.start == "scratch" and self.task == "edit"


@dataclass
class Rows:
    """Rows in the making, as arrays of n."""

    states: Words  # (n,): random states
    places: Numbers  # (n,): statements, by their place in the table
    visits: Numbers  # (n,): how many times the statement was asked before
    items: Items  # (n, width, 6)
    counts: Counts  # (n,)
    truths: Flags  # (n,): of the statement in its scene
    plans: Numbers  # (n, MAX_EDITS): padded with zeros
    edits: Numbers  # (n,)


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop): drawn (`sound`), or read from the published files (`official`)."""
    if job.recipe == "official":
        return native.official(job, OPTIONS)
    return _generated(job, np.arange(job.start, job.stop), None)


def pick(job: Job, rows: Numbers) -> Batch | None:
    """These rows of the part, as `generate` makes them; None for published parts, which are read whole."""
    return None if job.recipe == "official" else _generated(job, np.asarray(rows, np.int64), np.asarray(rows, np.int64))


def _generated(job: Job, indices: Numbers, picked: Numbers | None) -> Batch:
    fast = kernels.is_worth_compiling(planner.FLIP, len(indices), COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    wanted = replace(Wanted.of(job), fast=fast)
    rejected: Counter[str] = Counter()
    parts = []
    for low in range(0, len(indices), CHUNK):
        rows = _begun(job, wanted, indices[low : low + CHUNK])
        rejected.update(_fill(rows, job, wanted))
        parts.append(rows)
    whole = parts[0] if len(parts) == 1 else _joined(parts) if parts else _begun(job, wanted, indices)
    return Batch(job, job.start, _columns(whole, job, wanted), dict(sorted(rejected.items())), picked)


def _joined(parts: Sequence[Rows]) -> Rows:
    return Rows(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Rows)))


def _sequel(job: Job, wanted: Wanted) -> language.Sequel:
    return language.sequel(wanted.kind, job.split, job.part, job.base("statements"), wanted.from_nothing, _predicate(job))


def _predicate(job: Job) -> str:
    return predicate_text(job, OPTIONS) if job.split == HOLD_OUT else ""


def available(job: Job) -> int:
    """How many rows a part of `sound` has."""
    return _sequel(job, Wanted.of(job)).size


def default_size(job: Job, rows: int) -> int:
    """The default number of rows, or fewer where a part has fewer."""
    return min(rows, available(job))


def recurring(job: Job, rows: int) -> float:
    """The share of the first rows whose statements stand among the first rows of another seed. From scratch a statement is the whole task."""
    wanted = Wanted.of(job)
    if job.recipe == "official" or not wanted.from_nothing or not rows:
        return 0.0
    mine, theirs = (_sequel(one, wanted).places[:rows] for one in (job, replace(job, seed=job.seed ^ 1)))
    return len(np.intersect1d(mine, theirs)) / rows


def _begun(job: Job, wanted: Wanted, indices: Numbers) -> Rows:
    """Rows with their statements."""
    known = _sequel(job, wanted)
    if len(indices) and int(indices.max()) >= known.size:
        raise UsageError(
            f"{job.key} has {known.size:,} rows, but row {int(indices.max()):,} was asked for; use a smaller size."
        )
    n, width = len(indices), worlds.WIDTHS[wanted.kind]
    states = keys.derived(np.asarray(indices, np.uint64), job.base())
    return Rows(
        states, known.places[indices], known.numbers[indices], np.zeros((n, width, FIELDS), np.int16), np.zeros(n, np.int64),
        np.zeros(n, np.bool_), np.zeros((n, planner.MAX_EDITS), np.int64), np.zeros(n, np.int64),
    )  # fmt: skip


def _fill(rows: Rows, job: Job, wanted: Wanted) -> Counter[str]:
    """Give every row its scene and its plan; the draws thrown away, by reason."""
    table, places = language.table(wanted.kind), rows.places
    if wanted.from_nothing:
        rows.plans[:] = table.answers[places]
        rows.edits[:] = (rows.plans > 0).sum(1)
        return Counter()
    asked = planner.Asked(table.codes[places], table.tastes[places], rows.visits, table.visits[places].astype(np.int64))
    made = planner.make(
        wanted.kind,
        asked,
        keys.derived(rows.states, SCENES),
        from_scratch=wanted.start == "scratch",
        flips=wanted.task == "edit",
        compiled=wanted.fast,
    )
    if len(lost := np.flatnonzero(made.truths == 0)):
        raise Infeasible(
            f"no scene of {job.key} was found for {len(lost)} rows, the first is about statement {places[lost[0]]}."
        )
    rows.items, rows.counts, rows.truths, rows.plans, rows.edits = (
        made.items,
        made.counts,
        made.truths > 0,
        made.plans,
        made.edits,
    )
    return +Counter({"no_plan_found": int((made.rounds - 1).sum())})


# --- columns ---------------------------------------------------------------------------------------------------------


def _columns(rows: Rows, job: Job, wanted: Wanted) -> dict[str, Any]:
    table, n = language.table(wanted.kind), len(rows.places)
    manner = language.manner(wanted.kind, job.split, job.part, _predicate(job))
    found, codes = np.unique(rows.places, return_inverse=True)
    statements = [language.statement(wanted.kind, place) for place in found.tolist()]
    seeds = keys.derived(rows.states, WORDS).tolist()
    texts = [language.said(statements[code], manner, seed) for code, seed in zip(codes.tolist(), seeds, strict=True)]
    is_truth = wanted.task == "truth"
    answers = ["true" if truth else "false" for truth in rows.truths.tolist()] if is_truth else _answers(rows, wanted.kind)
    return {
        "statement": _coded(texts),
        "program": Coded(codes.astype(np.int32), [statement.program for statement in statements]),
        "scene": _constant(wanted.kind, n),
        "start": _constant(wanted.start, n),
        "task": _constant(wanted.task, n),
        "target": np.ones(n, np.bool_) if is_truth else ~rows.truths,
        "items": unpack_rows(rows.items, rows.counts),
        "answer": _coded(answers),
        "edits": rows.edits.astype(np.int16),
        "objects": rows.counts.astype(np.int16),
        "words": np.array([text.count(" ") + 1 for text in texts], np.int16),
        "depth": table.depths[rows.places].astype(np.int8),
        "phenomena": table.phenomena_of(rows.places),
        "key": _constant("", n),
    }


def _constant(value: str, n: int) -> Coded:
    return Coded(np.zeros(n, np.int32), [value])


def _answers(rows: Rows, kind: Kind) -> list[str]:
    return [answer_text(kind, plan[:edits]) for plan, edits in zip(rows.plans.tolist(), rows.edits.tolist(), strict=True)]


def answer_text(kind: Kind, plan: Sequence[int]) -> str:
    """A plan as an answer: edits on one line, ended by STOP."""
    return "; ".join([*(_edit_text(kind, action) for action in plan), "STOP"])


@functools.cache
def _edit_text(kind: Kind, action: int) -> str:
    return format_edits(planner.SETTINGS[kind], [action])


def columns_of(rows: dict[str, list[Any]]) -> dict[str, Any]:
    """The columns of SCHEMA from lists of values; those that follow from others are worked out."""
    texts, items = rows["statement"], rows["items"]
    return {
        "statement": _coded(texts),
        "program": _coded(rows["program"]),
        "scene": _coded(rows["scene"]),
        "start": _coded(rows["start"]),
        "task": _coded(rows["task"]),
        "target": np.array(rows["target"], np.bool_),
        "items": _ragged([value for row in items for value in row], [len(row) for row in items]),
        "answer": _coded(rows["answer"]),
        "edits": np.array(rows["edits"], np.int16),
        "objects": np.array([len(row) // 6 for row in items], np.int16),
        "words": np.array([len(text.split()) for text in texts], np.int16),
        "depth": np.array(rows["depth"], np.int8),
        "phenomena": _phenomena(rows["program"]),
        "key": _coded(rows["key"]),
    }


def _coded(values: Sequence[str]) -> Coded:
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(value, len(places)) for value in values], np.int32)
    return Coded(codes, list(places))


def _ragged(values: Sequence[int], lengths: Sequence[int]) -> Ragged:
    return Ragged(np.array(values, np.int16), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _phenomena(programs: Sequence[str]) -> Ragged:
    shown = [facets.phenomena(text) for text in programs]
    flat = _coded([name for row in shown for name in row])
    return Ragged(flat, np.concatenate([[0], np.cumsum([len(row) for row in shown])]).astype(np.int64))


def unpack_rows(items: Items, counts: Counts) -> Ragged:
    """The column form of packed scenes."""
    taken = items[np.arange(items.shape[1]) < np.asarray(counts)[:, None]]
    offsets: Numbers = np.concatenate(([0], np.cumsum(np.asarray(counts, np.int64) * FIELDS)))
    return Ragged(taken.reshape(-1).astype(np.int16), offsets)


def scene_of(row: dict[str, Any]) -> Scene:
    """The initial scene of a row."""
    return Scene.of_flat(row["scene"], row["items"])


def example(batch: Batch, row: int) -> Example:
    """The readable view of one row, from its columns alone; each field is read when it is first asked for."""
    from recombine.families.lilgym import LILGYM

    return RowExample.at(LILGYM, batch, row, READ)


def _world(batch: Batch, row: int) -> Scene:
    return scene_of({name: batch.value(name, row) for name in ("scene", "items")})


def _inputs(batch: Batch, row: int) -> dict[str, Any]:
    statement, task, target = (batch.value(name, row) for name in ("statement", "task", "target"))
    return inputs_of(str(statement), _world(batch, row), str(task), bool(target))


def _meta(batch: Batch, row: int) -> dict[str, Any]:
    values, job = batch.row(row), batch.job
    meta = {name: values[name] for name in SCHEMA if name not in ("statement", "items", "answer")}
    held = {PREDICATE: predicate_text(job, OPTIONS)} if job.split == HOLD_OUT else {}
    return meta | {"recipe": job.recipe, "split": job.split, "part": job.part} | held


READ = RowFields(
    inputs=_inputs,
    answer=lambda batch, row: str(batch.columns["answer"][row]),
    plan=lambda batch, row: str(batch.columns["program"][row]),
    world=_world,
    meta=_meta,
)


def inputs_of(statement: str, scene: Scene, task: str, target: bool) -> dict[str, Any]:
    """All that a model may see: the statement, the scene, the task, and in editing the truth value to reach."""
    seen = {
        "statement": statement,
        "scene": scene.kind,
        "boxes": [[list(item[1:]) for item in box] for box in scene.boxes],
        "task": task,
    }
    return seen | ({"target": target} if task == "edit" else {})
