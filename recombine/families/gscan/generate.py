"""Job -> batch: both recipes fill the same arrays, and one function turns arrays into columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded
from recombine.core import Batch, ColumnType, Job, option
from recombine.errors import BadOption, Infeasible, UsageError
from recombine.families.gscan import kernel as names
from recombine.families.gscan import release
from recombine.families.gscan import rows as layout
from recombine.families.gscan.plan import TEMPLATES, commands
from recombine.families.gscan.splits import OPTIONS, SPLITS, TAGS
from recombine.grid.codes import ADVERBS, COLORS, DIRECTIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.world import WORLD_SCHEMA, action_column, world_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.columns import Column

KERNEL_NAME = "recombine.families.gscan.kernel"
ROLES = ("target", "size decoy", "color decoy", "shape decoy", "blocker", "random")
SCHEMA: Mapping[str, ColumnType] = MappingProxyType(
    {
        "command": "string",
        "actions": "list<string>",
        "verb": "string",
        "adverb": "string",
        "template": "string",
        "size_word": "string",
        "color_word": "string",
        "target_size": "int8",
        "target_color": "string",
        "target_shape": "string",
        "direction": "string",
        "distance": "int8",
        "action_count": "int16",
        "object_count": "int8",
        "cells_moved": "int8",
        **WORLD_SCHEMA,
    }
)
ALWAYS_MOVING = ("contextual", "adverb_2")
"""Sound splits about how things are pushed or pulled: an example in which nothing moves would test nothing."""
REJECTIONS = ("other split", "no such target", "other part", "no interaction", "wrong length")
COMPILE_FROM_ROWS = 400
"""Interpreted rows take milliseconds here, so compiled kernels pay earlier than elsewhere."""
_UNBOUNDED = 1 << 40


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop) of the part."""
    picked = pick(job, np.arange(job.start, job.stop, dtype=np.int64))
    return _sound(job) if picked is None else replace(picked, start=job.start, indices=None)


def _is_compiled(kernel: str, rows: int) -> bool:
    return rows >= COMPILE_FROM_ROWS or kernels.is_loaded(kernel)


def pick(job: Job, rows: NDArray[np.int64]) -> Batch | None:
    """Single rows of a release part in one call: each belongs to one item of the list."""
    if job.recipe != "release":
        return None
    items = release.listed(job)
    last = int(rows.max()) if len(rows) else 0
    if last >= len(items):
        raise UsageError(f"{job.key} has {len(items)} rows, but row {last} was asked for; use a smaller size.")
    arrays = release.worlds(release.pool_of(job), items[rows], _is_compiled(release.KERNEL_NAME, len(rows)))
    return Batch(job, int(rows[0]) if len(rows) else 0, columns(option(job, OPTIONS, "grid_size"), *arrays), indices=rows)


def _sound(job: Job) -> Batch:
    rows, dials = job.stop - job.start, sound_dials(job)
    grid, most = int(dials[names.GRID]), int(dials[names.HIGH])
    facts = np.zeros((rows, layout.FACTS), dtype=np.int64)
    things, roles = np.zeros((rows, most, 5), dtype=np.int8), np.zeros((rows, most), dtype=np.int8)
    actions = np.zeros((rows, 20 * grid + 8), dtype=np.int8)
    rejected = np.zeros(len(REJECTIONS), dtype=np.int64)
    shared = replace(job, options=tuple(pair for pair in job.options if pair[0] != "k"))  # k changes the first k rows only
    states = keys.states(shared.base(), job.start, job.stop)
    kernel = kernels.load(KERNEL_NAME, _is_compiled(KERNEL_NAME, rows))
    made = kernel.sound_rows(states, job.start, dials, facts, things, roles, actions, rejected)
    if made < rows:
        raise Infeasible(
            f"row {job.start + made} of {job.key} was not found in {names.MAX_ATTEMPTS} draws: hardly any action sequence has such a "
            f"length on a {grid} × {grid} grid; choose another cutoff."
        )
    counts = {reason: int(n) for reason, n in zip(REJECTIONS, rejected, strict=True) if n}
    return Batch(job, job.start, columns(grid, facts, things, roles, actions), counts)


def size(job: Job) -> int:
    """How many rows the part holds: counted for `release`, the default number for `sound`."""
    if job.recipe == "release":
        return len(release.listed(job))
    return SPLITS[job.split].parts[job.part].rows(job.recipe)


def sound_dials(job: Job) -> NDArray[np.int64]:
    """The numbers that steer the sound kernel: what the split wants and what the options say."""
    grid, most = option(job, OPTIONS, "grid_size"), option(job, OPTIONS, "max_objects")
    if most + 3 > grid * grid:
        raise BadOption(f"option max_objects is {most}, but a {grid} × {grid} grid holds at most {grid * grid - 3} objects.")
    dials = np.zeros(names.DIALS, dtype=np.int64)
    dials[names.GRID], dials[names.LOW], dials[names.HIGH] = grid, names.FEWEST_OBJECTS, most
    dials[names.INTERACTION] = round(option(job, OPTIONS, "interaction") * 1_000_000)
    dials[names.SHORTEST], dials[names.LONGEST] = 0, _UNBOUNDED
    dials[names.SHARE] = {"train": names.TRAIN, "validation": names.VALIDATION, "test": names.TEST}[job.part]
    if job.split == "target_lengths":
        cutoff = option(job, OPTIONS, "cutoff")
        dials[names.IS_OPEN] = 1
        if job.part == "test":
            dials[names.SHORTEST], dials[names.SHARE] = cutoff + 1, names.ANY_PART
        else:
            dials[names.LONGEST] = cutoff
        return dials
    dials[names.WANTED] = TAGS[job.split]
    if job.split in ALWAYS_MOVING:
        dials[names.INTERACTION] = 1_000_000
    if job.split == "compositional" and job.part == "train":
        dials[names.SHOTS] = option(job, OPTIONS, "k")
    elif job.split != "compositional":
        dials[names.SHARE] = names.TEST if job.split == "adverb_1" else names.ANY_PART
    return dials


@cache
def _texts() -> tuple[str, ...]:
    return tuple(str(command) for command in commands())


def columns(
    grid: int, facts: NDArray[Any], things: NDArray[Any], roles: NDArray[Any], actions: NDArray[Any]
) -> dict[str, Column]:
    """The columns of SCHEMA from the arrays that a kernel filled."""
    command = facts[:, layout.COMMAND]
    word, color_word = command % 3, command // 3 % 5
    target = np.ascontiguousarray(things[:, 0, :])
    agents = np.zeros((len(facts), 3), dtype=np.int64)
    agents[:, :2] = facts[:, layout.AGENT_R : layout.AGENT_C + 1]
    distance = np.abs(target[:, 3] - agents[:, 0]) + np.abs(target[:, 4] - agents[:, 1])
    return {
        "command": Coded(command.astype(np.int16), _texts()),
        "actions": action_column(actions, facts[:, layout.LENGTH]),
        "verb": Coded((command // 225).astype(np.int8), VERBS),
        "adverb": Coded((command // 45 % 5).astype(np.int8), ADVERBS),
        "template": Coded(((color_word > 0) + 2 * (word > 0)).astype(np.int8), TEMPLATES),
        "size_word": Coded(word.astype(np.int8), SIZE_WORDS),
        "color_word": Coded(color_word.astype(np.int8), ("", *COLORS)),
        "target_size": target[:, 0],
        "target_color": Coded(target[:, 1], COLORS),
        "target_shape": Coded(target[:, 2], SHAPES),
        "direction": Coded(facts[:, layout.DIRECTION].astype(np.int8), DIRECTIONS),
        "distance": distance.astype(np.int8),
        "action_count": facts[:, layout.LENGTH].astype(np.int16),
        "object_count": facts[:, layout.COUNT].astype(np.int8),
        "cells_moved": facts[:, layout.MOVED].astype(np.int8),
        **world_columns(grid, things, facts[:, layout.COUNT], agents, roles, ROLES),
    }
