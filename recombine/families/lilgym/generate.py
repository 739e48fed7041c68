"""Jobs to rows: statements first, then scenes, then an edit plan that reaches the target. Row i depends on the job and i only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, Ragged
from recombine.core import FILES, Batch, ColumnType, Example, Job, Option, option
from recombine.errors import Infeasible, UsageError
from recombine.families.lilgym import facets, native
from recombine.families.lilgym.play.edits import format_edits
from recombine.families.lilgym.scene import Counts, Flags, Items, Kind, Numbers, Scene
from recombine.families.lilgym.sound import language, planner, worlds
from recombine.families.lilgym.sound.language import Statement
from recombine.families.lilgym.sound.truth import World
from recombine.families.lilgym.splits import OPTION
from recombine.predicates.draw import HOLD_OUT, PREDICATE, predicate_text

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
CANDIDATES, MANY_CANDIDATES = 4, 24
"""Scenes drawn per row, and for a row that needs a rare truth value; the first with the wanted one is taken."""
STRICT_ROUNDS = 60
"""Draws in which a row looks for a scene of the other truth value, after no plan was found from the one."""
ROUNDS = 1_000
"""Draws of scenes for one row before the job is given up."""
CHUNK = 2048
COMPILE_FROM_ROWS = 12
"""From so many rows on, loading the compiled kernels pays."""


@dataclass
class Draft:
    """A row in the making."""

    index: int
    word: int
    stream: keys.Stream
    statement: Statement
    visit: int
    world: World = ()
    truth: bool = False
    plan: tuple[int, ...] | None = None
    round: int = 0
    hard: bool | None = None  # the truth value from which no plan was found


@dataclass(frozen=True)
class Wanted:
    """What a job asks for, besides its rows."""

    kind: Kind
    start: Start
    task: Task
    fast: bool

    @classmethod
    def of(cls, job: Job) -> Wanted:
        """The job's options."""
        kind, start, task = (option(job, OPTIONS, name) for name in ("scene", "start", "task"))
        is_fast = job.stop - job.start >= COMPILE_FROM_ROWS or kernels.is_loaded(worlds.KERNEL_NAME)
        return cls(kind, start, task, is_fast)

    @property
    def from_nothing(self) -> bool:
        """Whether statements are made true from the empty scene."""
        return self.start == "scratch" and self.task == "edit"


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop): drawn (`sound`), or read from the published files (`official`)."""
    if job.recipe == "official":
        return native.official(job, OPTIONS)
    wanted = Wanted.of(job)
    drafts: list[Draft] = []
    rejected: Counter[str] = Counter()
    for low in range(job.start, job.stop, CHUNK):
        part = _drafts(job, wanted, low, min(low + CHUNK, job.stop))
        rejected.update(_fill(part, job, wanted))
        drafts += part
    return Batch(job, job.start, _columns(drafts, wanted), dict(sorted(rejected.items())))


def _statements(job: Job, wanted: Wanted) -> language.Sequel:
    predicate = predicate_text(job, OPTIONS) if job.split == HOLD_OUT else ""
    return language.sequel(wanted.kind, job.split, job.part, job.base("statements"), wanted.from_nothing, predicate)


def available(job: Job) -> int:
    """How many rows a part of `sound` has."""
    return _statements(job, Wanted.of(job)).size


def default_size(job: Job, rows: int) -> int:
    """The default number of rows, or fewer where a part from scratch has fewer statements."""
    wanted = Wanted.of(job)
    return min(rows, len(_statements(job, wanted).upto(rows))) if wanted.from_nothing else rows


def _drafts(job: Job, wanted: Wanted, low: int, high: int) -> list[Draft]:
    """Rows with their statements."""
    known = _statements(job, wanted).upto(high)
    if len(known) < high:
        raise UsageError(f"{job.key} has {len(known):,} rows, but row {high - 1:,} was asked for; use a smaller size.")
    found = []
    for index, word in zip(range(low, high), keys.states(job.base(), low, high).tolist(), strict=True):
        statement = language.statement(wanted.kind, known[index].place)
        found.append(Draft(index, word, keys.Stream("lilgym", "item", word), statement, known[index].number))
    return found


def _fill(drafts: Sequence[Draft], job: Job, wanted: Wanted) -> Counter[str]:
    """Draw until every row has a scene and a plan; the draws thrown away, by reason."""
    rejected: Counter[str] = Counter()
    pending = list(drafts)
    if wanted.from_nothing:
        _build(pending, wanted)
        return rejected
    while pending:
        for draft in pending:
            draft.round += 1
            if draft.round > ROUNDS:
                raise Infeasible(f"no scene of {job.key} was found for row {draft.index} in {ROUNDS} rounds.")
        easy, hard = ([draft for draft in pending if (draft.hard is None) == is_easy] for is_easy in (True, False))
        drawn = [*_draw_worlds(easy, wanted, CANDIDATES), *_draw_worlds(hard, wanted, MANY_CANDIDATES)]
        if wanted.task == "edit":
            _flip(drawn, wanted)
            for draft in drawn:
                if draft.plan is None:
                    draft.hard = draft.truth
                    rejected["no_plan_found"] += 1
        rejected["no_scene_found"] += len(pending) - len(drawn)
        done = {id(draft) for draft in drawn if draft.plan is not None or wanted.task == "truth"}
        pending = [draft for draft in pending if id(draft) not in done]
    return +rejected


def _draw_worlds(drafts: Sequence[Draft], wanted: Wanted, candidates: int) -> list[Draft]:
    """A scene for each row that finds one; half of the rows want one in which the statement holds."""
    if not drafts:
        return []
    words = np.array([keys.state("lilgym", "scenes", draft.word, draft.round) for draft in drafts], np.uint64)
    tidy = np.array([worlds.is_tidy(wanted.kind, draft.statement.program) for draft in drafts], np.bool_)
    visits = np.array([draft.visit for draft in drafts], np.int64)
    drawn = worlds.draw_visits(wanted.kind, wanted.start == "scratch", words, visits, tidy, candidates, wanted.fast)
    rows, places = np.nonzero(np.arange(candidates) < drawn.found[:, None])
    truths = np.zeros((len(drafts), candidates), np.int8)
    truths[rows, places] = _truths(drafts, wanted, rows, drawn.items[rows, places], drawn.counts[rows, places]) * 2 - 1
    found = []
    for row, draft in enumerate(drafts):
        sought = 2 * draft.stream.below(2) - 1
        if draft.hard is not None:  # what cannot be flipped one way is flipped the other way
            sought = -1 if draft.hard else 1
        fitting = np.flatnonzero(truths[row] == sought)
        chosen = int(fitting[0]) if len(fitting) else 0
        if len(fitting) or (truths[row, chosen] != 0 and (draft.hard is None or draft.round > STRICT_ROUNDS)):
            draft.truth = bool(truths[row, chosen] > 0)
            draft.world = tuple(tuple(item) for item in drawn.items[row, chosen, : int(drawn.counts[row, chosen])].tolist())
            found.append(draft)
    return found


def _truths(drafts: Sequence[Draft], wanted: Wanted, rows: Numbers, items: Items, counts: Counts) -> Flags:
    """Value k: whether the statement of row rows[k] holds of scene k."""
    if wanted.fast:
        from recombine.families.lilgym import program

        bank = program.Bank([program.compile(draft.statement.program) for draft in drafts])
        return bank.evaluate(rows, items, counts, True)
    scenes = [tuple(tuple(item) for item in items[k, : int(counts[k])].tolist()) for k in range(len(rows))]
    return _judge(drafts, wanted)(rows.tolist(), scenes)


def _judge(drafts: Sequence[Draft], wanted: Wanted) -> planner.Judge:
    """How the drafts' statements are judged: by compiled programs in large jobs, by their plans in small ones."""
    if not wanted.fast:
        return planner.by_plans(wanted.kind, [draft.statement.plan for draft in drafts])
    from recombine.families.lilgym import program

    return planner.by_programs([program.compile(draft.statement.program) for draft in drafts], True)


def _flip(drafts: Sequence[Draft], wanted: Wanted) -> None:
    """A plan for each row that flips the statement's truth."""
    searches = [
        planner.search(wanted.kind, draft.world, not draft.truth, planner.Taste.of(draft.statement.program), draft.stream)
        for draft in drafts
    ]
    for draft, plan in zip(drafts, planner.run(searches, _judge(drafts, wanted)), strict=True):
        draft.plan = plan


def _build(drafts: Sequence[Draft], wanted: Wanted) -> None:
    """A plan for each row that makes the statement true from the empty scene."""
    builds = []
    for draft in drafts:
        looks = worlds.looks(wanted.kind, True, worlds.is_tidy(wanted.kind, draft.statement.program))
        goal = draft.statement.goal
        scene = tuple(tuple(item) for item in looks.items[goal, : int(looks.counts[goal])].tolist())
        builds.append(planner.build(wanted.kind, scene))
    for draft, plan in zip(drafts, planner.run(builds, _judge(drafts, wanted)), strict=True):
        draft.plan = plan


# --- columns ---------------------------------------------------------------------------------------------------------


def _columns(drafts: Sequence[Draft], wanted: Wanted) -> dict[str, Any]:
    n, found = len(drafts), [draft.statement for draft in drafts]
    return columns_of(
        {
            "statement": [s.text for s in found],
            "program": [s.program for s in found],
            "scene": [wanted.kind] * n,
            "start": [wanted.start] * n,
            "task": [wanted.task] * n,
            "target": [wanted.task == "truth" or not draft.truth for draft in drafts],
            "items": [[value for row in draft.world for value in row] for draft in drafts],
            "answer": [_answer(draft, wanted) for draft in drafts],
            "edits": [len(draft.plan or ()) for draft in drafts],
            "depth": [s.depth for s in found],
            "key": [""] * n,
        }
    )


def _answer(draft: Draft, wanted: Wanted) -> str:
    if wanted.task == "truth":
        return "true" if draft.truth else "false"
    assert draft.plan is not None
    return answer_text(wanted.kind, draft.plan)


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
    shown = [facets.phenomena(text) for text in programs]
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
        meta=meta | {"recipe": batch.job.recipe, "split": batch.job.split, "part": batch.job.part} | _held_out(batch.job),
    )


def _held_out(job: Job) -> dict[str, str]:
    return {PREDICATE: predicate_text(job, OPTIONS)} if job.split == HOLD_OUT else {}


def inputs_of(statement: str, scene: Scene, task: str, target: bool) -> dict[str, Any]:
    """All that a model may see: the statement, the scene, the task, and in editing the truth value to reach."""
    seen = {
        "statement": statement,
        "scene": scene.kind,
        "boxes": [[list(item[1:]) for item in box] for box in scene.boxes],
        "task": task,
    }
    return seen | ({"target": target} if task == "edit" else {})
