"""Jobs to rows: statements first, then scenes, then an edit plan that reaches the target. Row i depends on the job and i only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.columns import Coded, Ragged
from recombine.core import FILES, Batch, ColumnType, Example, Job, Option, option
from recombine.errors import Infeasible
from recombine.families.lilgym import native, phenomena, program, splits
from recombine.families.lilgym.play.edits import format_edits
from recombine.families.lilgym.scene import Kind, Scene
from recombine.families.lilgym.sound import planner, statements, worlds
from recombine.families.lilgym.sound.planner import World
from recombine.families.lilgym.sound.statements import Statement

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
CANDIDATES = 10
"""Scenes drawn per row; the first with the wanted truth value is taken."""
ATTEMPTS = 400
"""Statements and scenes tried for one row before the job is given up."""
CHUNK = 2048
COMPILE_FROM_ROWS = 12
"""From so many rows on, loading the compiled kernels pays."""


@dataclass
class Draft:
    """A row in the making."""

    index: int
    word: int
    stream: keys.Stream
    statement: Statement | None = None
    world: World = ()
    truth: bool = False
    plan: tuple[int, ...] | None = None
    round: int = 0
    rejections: Counter[str] = field(default_factory=Counter)


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop): drawn (`sound`), or read from the published files (`official`)."""
    if job.recipe == "official":
        return native.official(job, OPTIONS)
    kind: Kind = option(job, OPTIONS, "scene")
    start: Start = option(job, OPTIONS, "start")
    task: Task = option(job, OPTIONS, "task")
    drafts: list[Draft] = []
    for low in range(job.start, job.stop, CHUNK):
        high = min(low + CHUNK, job.stop)
        words = keys.states(job.base(), low, high).tolist()
        part = [Draft(i, word, keys.Stream("lilgym", "item", word)) for i, word in zip(range(low, high), words, strict=True)]
        _fill(part, job, kind, start, task)
        drafts += part
    rejected: Counter[str] = Counter()
    for draft in drafts:
        rejected.update(draft.rejections)
    return Batch(job, job.start, _columns(drafts, kind, start, task), dict(sorted(rejected.items())))


def _fill(drafts: Sequence[Draft], job: Job, kind: Kind, start: Start, task: Task) -> None:
    """Draw until every row has a statement, a scene and a plan."""
    pending = list(drafts)
    fast = job.stop - job.start >= COMPILE_FROM_ROWS
    while pending:
        for draft in pending:
            draft.round += 1
            if draft.round > ATTEMPTS:
                raise Infeasible(f"no statement of {job.key} was found for row {draft.index} in {ATTEMPTS} attempts.")
        _draw_statements(pending, job, kind, start == "scratch" and task == "edit", fast)
        if task == "edit" and start == "scratch":
            _build(pending, kind, fast)
        else:
            _draw_worlds(pending, kind, start == "scratch", fast)
            if task == "edit":
                _flip(pending, kind, fast)
        pending = [draft for draft in pending if task == "edit" and draft.plan is None]


def _draw_statements(drafts: Sequence[Draft], job: Job, kind: Kind, from_nothing: bool, fast: bool) -> None:
    """A statement of the job's part for each row: neither constant nor out of reach."""
    pending = list(drafts)
    while pending:
        for draft in pending:
            draft.statement = _statement_of_part(draft, job, kind)
        judged = worlds.verdicts(kind, [_known(draft).program for draft in pending], fast)
        left = []
        for draft, (reason, first) in zip(pending, judged, strict=True):
            why = "true_of_nothing" if not reason and from_nothing and first == 0 else reason
            if why:
                draft.rejections[why] += 1
                left.append(draft)
        pending = left


def _statement_of_part(draft: Draft, job: Job, kind: Kind) -> Statement:
    for _ in range(5_000):
        statement = statements.draw(kind, draft.stream)
        if splits.part_of(job.split, statement) == job.part:
            return statement
        draft.rejections["other_part"] += 1
    raise Infeasible(f"no statement of {job.key} was found for row {draft.index}.")


def _known(draft: Draft) -> Statement:
    assert draft.statement is not None
    return draft.statement


def _draw_worlds(drafts: Sequence[Draft], kind: Kind, scratch: bool, fast: bool) -> None:
    """A scene for each row; half of the rows want one in which the statement holds."""
    words = [keys.states(keys.state("lilgym", "scenes", draft.word, draft.round), 0, CANDIDATES) for draft in drafts]
    tidy = np.repeat([worlds.is_tidy(kind, _known(draft).program) for draft in drafts], CANDIDATES)
    items, counts = worlds.draw_scenes(kind, scratch, np.concatenate(words), fast, tidy)
    programs = [program.compile(_known(draft).program) for draft in drafts]
    index: NDArray[np.int64] = np.repeat(np.arange(len(drafts)), CANDIDATES)
    truths = worlds.truths(programs, index, items, counts, fast).reshape(len(drafts), CANDIDATES)
    for row, draft in enumerate(drafts):
        wanted = draft.stream.below(2) == 1
        fitting = np.flatnonzero(truths[row] == wanted)
        chosen = int(fitting[0]) if len(fitting) else 0
        draft.truth = bool(truths[row, chosen])
        place = row * CANDIDATES + chosen
        draft.world = tuple(tuple(item) for item in items[place, : int(counts[place])].tolist())


def _flip(drafts: Sequence[Draft], kind: Kind, fast: bool) -> None:
    """A plan for each row that flips the statement's truth."""
    programs = [program.compile(_known(draft).program) for draft in drafts]
    searches = [
        planner.search(kind, draft.world, not draft.truth, planner.Taste.of(_known(draft).program), draft.stream)
        for draft in drafts
    ]
    for draft, plan in zip(drafts, planner.run(searches, programs, fast), strict=True):
        draft.plan = plan
        if plan is None:
            draft.rejections["no_plan_found"] += 1


def _build(drafts: Sequence[Draft], kind: Kind, fast: bool) -> None:
    """A plan for each row that makes the statement true from the empty scene."""
    programs = [program.compile(_known(draft).program) for draft in drafts]
    firsts = [first for _, first in worlds.verdicts(kind, [p.text for p in programs], fast)]
    builds = []
    for compiled, first in zip(programs, firsts, strict=True):
        looks = worlds.looks(kind, True, worlds.is_tidy(kind, compiled.text))
        goal = tuple(tuple(item) for item in looks.items[first, : int(looks.counts[first])].tolist())
        builds.append(planner.build(kind, goal))
    for draft, plan in zip(drafts, planner.run(builds, programs, fast), strict=True):
        draft.plan = plan
        draft.world, draft.truth = (), False


# --- columns ---------------------------------------------------------------------------------------------------------


def _columns(drafts: Sequence[Draft], kind: Kind, start: Start, task: Task) -> dict[str, Any]:
    found = [_known(draft) for draft in drafts]
    answers = [_answer(draft, kind, task) for draft in drafts]
    target = [True if task == "truth" else not draft.truth for draft in drafts]
    n = len(drafts)
    return columns_of(
        {
            "statement": [s.text for s in found],
            "program": [s.program for s in found],
            "scene": [kind] * n,
            "start": [start] * n,
            "task": [task] * n,
            "target": target,
            "items": [[value for row in draft.world for value in row] for draft in drafts],
            "answer": answers,
            "edits": [len(draft.plan or ()) for draft in drafts],
            "depth": [s.depth for s in found],
            "key": [""] * n,
        }
    )


def _answer(draft: Draft, kind: Kind, task: Task) -> str:
    if task == "truth":
        return "true" if draft.truth else "false"
    assert draft.plan is not None
    return answer_text(kind, draft.plan)


def answer_text(kind: Kind, plan: Sequence[int]) -> str:
    """A plan as an answer: edits on one line, ended by STOP."""
    return format_edits(planner.SETTINGS[kind], [*plan, 0]).replace("\n", "; ")


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
    shown = [phenomena.phenomena(text) for text in programs]
    flat = _coded([name for row in shown for name in row])
    return Ragged(flat, np.concatenate([[0], np.cumsum([len(row) for row in shown])]).astype(np.int64))


def scene_of(row: dict[str, Any]) -> Scene:
    """The initial scene of a row."""
    return Scene.of_flat(row["scene"], row["items"])


def example(batch: Batch, row: int) -> Example:
    """The readable view of one row, from its columns alone."""
    from recombine.families.lilgym import LILGYM

    values = batch.row(row)
    scene = scene_of(values)
    meta = {name: values[name] for name in SCHEMA if name not in ("statement", "items", "answer")}
    return Example(
        LILGYM,
        batch.id(row),
        inputs_of(values["statement"], scene, values["task"], values["target"]),
        values["answer"],
        plan=values["program"],
        world=scene,
        meta=meta | {"recipe": batch.job.recipe},
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
