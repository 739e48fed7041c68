"""Job -> batch: both recipes fill the same arrays, and one function turns arrays into columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, values_of
from recombine.core import Batch, ColumnType, Example, Job, option
from recombine.errors import BadOption, Infeasible, UsageError
from recombine.families.gscan import rows as layout
from recombine.families.gscan.facets import facet_columns
from recombine.families.gscan.plan import TEMPLATES, commands, parse_any, spoken
from recombine.families.gscan.release import pool
from recombine.families.gscan.rows import COMPILE_FROM_ROWS, LOAD_FROM_ROWS, Rows
from recombine.families.gscan.sound import kernel as names
from recombine.families.gscan.splits import (
    MAIN,
    OPTIONS,
    SHOT_SPLIT,
    SPLITS,
    Rule,
    bit_of,
    bits_kept_from,
    is_possible,
    rules,
    settled_by,
    situations,
    tags,
)
from recombine.grid import forms, wording
from recombine.grid.codes import ADVERBS, COLORS, DIRECTIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.world import WORLD_SCHEMA, action_column, actions_at, inputs_at, world_at, world_columns
from recombine.predicates.draw import HOLD_OUT, PREDICATE, Source, draw, predicate_text, too_rare
from recombine.row_examples import RowExample, RowFields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.columns import Column
    from recombine.core import Family

KERNEL_NAME = "recombine.families.gscan.sound.kernel"
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
REJECTIONS = ("other split", "no such target", "other part", "no interaction", "wrong length")
_UNBOUNDED = 1 << 40


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop) of the part."""
    if wording.is_natural(job):
        return wording.reworded(job, generate(wording.plain_job(job)), lambda text: spoken(parse_any(text)))
    picked = pick(job, np.arange(job.start, job.stop, dtype=np.int64))
    if picked is not None:
        return replace(picked, start=job.start, indices=None)
    return _held_out(job) if job.split == HOLD_OUT else _sound(job)


def _held_out(job: Job) -> Batch:
    """Rows of a user's split. The kernel's tables settle the predicate as far as they can; the rest is drawn again."""
    predicate, _, is_exact = settled_by(job)
    return _sound(job) if is_exact else draw(job, predicate, SOURCE, is_wanted=job.part == "test")


def pick(job: Job, rows: NDArray[np.int64]) -> Batch | None:
    """Single rows of a release part in one call: each belongs to one item of the list."""
    if job.recipe != "release":
        return None
    if wording.is_natural(job):
        made = pick(wording.plain_job(job), rows)
        return None if made is None else wording.reworded(job, made, lambda text: spoken(parse_any(text)))
    items = pool.listed(job)
    last = int(rows.max()) if len(rows) else 0
    if last >= len(items):
        raise UsageError(f"{job.key} has {len(items)} rows, but row {last} was asked for; use a smaller size.")
    drawn = pool.worlds(pool.pool_of(job), items[rows])
    return Batch(job, int(rows[0]) if len(rows) else 0, columns(option(job, OPTIONS, "grid_size"), drawn), indices=rows)


def _sound(job: Job) -> Batch:
    rows, (dials, tables) = job.stop - job.start, _tables(job.rows(0, 0), rules())
    grid = int(dials[names.GRID])
    made = layout.new_rows(rows, int(dials[names.HIGH]), grid)
    rejected = np.zeros(len(REJECTIONS), dtype=np.int64)
    shared = replace(job, options=tuple(pair for pair in job.options if pair[0] != "k"))  # k changes the first k rows only
    states = keys.states(shared.base(), job.start, job.stop)
    kernel = kernels.for_rows(KERNEL_NAME, rows, COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    count = kernel.sound_rows(states, job.start, dials, tables, made, rejected)
    if count < rows:
        raise Infeasible(
            f"row {job.start + count} of {job.key} was not found in {names.MAX_ATTEMPTS} draws: hardly any action sequence has such a "
            f"length on a {grid} × {grid} grid; choose another cutoff."
        )
    counts = {reason: int(n) for reason, n in zip(REJECTIONS, rejected, strict=True) if n}
    return Batch(job, job.start, columns(grid, made), counts)


@lru_cache(maxsize=16)
def _tables(job: Job, known: tuple[Rule, ...]) -> tuple[NDArray[np.int64], names.Rules]:  # noqa: ARG001 - part of the key
    """The kernel's inputs in addition to the rows' states. They are cached, because callers often ask for single rows."""
    return sound_dials(job), sound_rules(job)


SOURCE = Source(_sound, facet_columns)
"""Where the rows of a user's split come from."""


def size(job: Job) -> int:
    """How many rows the part holds: counted for `release`, the default number for `sound`."""
    if job.recipe == "release":
        return len(pool.listed(wording.plain_job(job)))
    return SPLITS[job.split].parts[job.part].rows(job.recipe)


class Combination(NamedTuple):
    """The held-out combinations that a job's rows must, or must not, show."""

    rules: tuple[Rule, ...]
    held: int  # the bits that rows must not show, unless they are wanted
    wanted: int  # the bit that every row shows; 0 for none


UNREACHABLE = 2
"""The bit for a verb, adverb and direction with which no target can satisfy the wanted predicate."""


def combination(job: Job) -> Combination:
    """The combinations that the job's split and part ask for."""
    is_test = job.part == "test"
    if job.split != HOLD_OUT:
        return Combination(rules(), bits_kept_from(job.split), bit_of(job.split) if is_test else 0)
    predicate, known, is_exact = settled_by(job)
    if known is None or not (is_test or is_exact):
        return Combination((), 0, 0)
    shown, possible = tags((known,)), is_possible(situations())
    if not (possible & (shown == int(is_test))).any():
        raise too_rare(job, predicate, 0, int(possible.sum()), is_test)
    return Combination((known,), 1 | UNREACHABLE * is_test, int(is_test))


def vet(job: Job) -> None:
    """Refuse options that do not fit together: the objects need room on the grid."""
    grid, most = option(job, OPTIONS, "grid_size"), option(job, OPTIONS, "max_objects")
    if job.recipe == "sound" and most + 3 > grid * grid:
        raise BadOption(f"option max_objects is {most}, but a {grid} × {grid} grid holds at most {grid * grid - 3} objects.")


def sound_dials(job: Job) -> NDArray[np.int64]:
    """The numbers that steer the sound kernel: what the split wants and what the options say."""
    vet(job)
    grid, most = option(job, OPTIONS, "grid_size"), option(job, OPTIONS, "max_objects")
    dials = np.zeros(names.DIALS, dtype=np.int64)
    dials[names.GRID], dials[names.LOW], dials[names.HIGH] = grid, names.FEWEST_OBJECTS, most
    dials[names.INTERACTION] = round(option(job, OPTIONS, "interaction") * 1_000_000)
    dials[names.SHORTEST], dials[names.LONGEST] = 0, _UNBOUNDED
    dials[names.SHARE] = {"train": names.TRAIN, "validation": names.VALIDATION, "test": names.TEST}[job.part]
    asked = combination(job)
    dials[names.HELD], dials[names.WANTED] = asked.held, asked.wanted
    split, is_test = SPLITS[job.split], job.part == "test"
    if split.moves:
        dials[names.INTERACTION] = names.MILLION
    if split.by_length:
        cutoff = option(job, OPTIONS, "cutoff")
        dials[names.SHORTEST if is_test else names.LONGEST] = cutoff + is_test
    if is_test and job.split not in (MAIN, SHOT_SPLIT):  # held out by the rule, so every cell will do
        dials[names.SHARE] = names.ANY_PART
    if job.split == MAIN and job.part == "train":
        dials[names.SHOTS], dials[names.SHOT_TAG] = option(job, OPTIONS, "k"), bit_of(SHOT_SPLIT)
    return dials


def sound_rules(job: Job) -> names.Rules:
    """The held-out combinations as the tables that the sound kernel takes."""
    asked = combination(job)
    shown = tags(asked.rules)
    by_word = (len(VERBS), len(ADVERBS), -1, len(DIRECTIONS))
    settled = np.bitwise_and.reduce(np.moveaxis(shown, 3, 1).reshape(len(shown), len(DIRECTIONS), -1), axis=2)
    settled = np.bitwise_and.reduce(settled.reshape(by_word), axis=2)
    if job.split != HOLD_OUT:
        return names.Rules(shown, settled, np.stack([_implied(shown, asked.wanted), _implied(shown, bit_of(SHOT_SPLIT))]))
    shown = np.where(is_possible(situations()), shown, 0)
    reached = np.bitwise_or.reduce(np.moveaxis(shown, 3, 1).reshape(len(shown), len(DIRECTIONS), -1), axis=2)
    reached = np.bitwise_or.reduce(reached.reshape(by_word), axis=2)
    settled = settled | np.where(reached & asked.wanted == asked.wanted, 0, UNREACHABLE)
    return names.Rules(shown, settled, np.stack([_implied(shown, asked.wanted)] * 2))


def _implied(shown: NDArray[np.int64], bit: int) -> NDArray[np.int64]:
    """What a held-out combination says of the command, its extreme size and the direction; -1 where it leaves a choice."""
    implied = np.full(names.CHOICES, -1, dtype=np.int64)
    implied[names.TEMPLATE] = 0
    command, size, _, direction = np.nonzero(shown & bit)
    if not len(command):
        return implied
    word = layout.size_word_of(command)
    fields = {
        names.VERB: layout.verb_of(command),
        names.ADVERB: layout.adverb_of(command),
        names.WAY: direction,
        names.WORD: word,
        names.EXTREME: size + 1,
    }
    for field, values in fields.items():
        if (values == values[0]).all():
            implied[field] = values[0]
    if (layout.color_word_of(command) > 0).all():
        implied[names.TEMPLATE] |= names.COLOR_SHAPE
    if (word > 0).all():
        implied[names.TEMPLATE] |= names.SIZE_SHAPE
    return implied


@cache
def _texts() -> tuple[str, ...]:
    return tuple(str(command) for command in commands())


def columns(grid: int, rows: Rows) -> dict[str, Column]:
    """The columns of SCHEMA from the rows that a kernel filled."""
    facts, things, roles, actions = rows
    command = facts[:, layout.COMMAND]
    word, color_word = layout.size_word_of(command), layout.color_word_of(command)
    target = np.ascontiguousarray(things[:, 0, :])
    agents = np.zeros((len(facts), 3), dtype=np.int64)
    agents[:, :2] = facts[:, layout.AGENT_R : layout.AGENT_C + 1]
    distance = np.abs(target[:, 3] - agents[:, 0]) + np.abs(target[:, 4] - agents[:, 1])
    return {
        "command": Coded(command.astype(np.int16), _texts()),
        "actions": action_column(actions, facts[:, layout.LENGTH]),
        "verb": Coded(layout.verb_of(command).astype(np.int8), VERBS),
        "adverb": Coded(layout.adverb_of(command).astype(np.int8), ADVERBS),
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


# --- one row ---------------------------------------------------------------------------------------------------------

_TOLD = tuple(name for name in SCHEMA if name not in WORLD_SCHEMA and name not in ("command", "actions"))


def example(family: Family, batch: Batch, row: int) -> Example:
    """The readable view of one row: the plan is the command, the world has the target as its first object."""
    return RowExample.at(family, batch, row, _FIELDS)


def _meta(batch: Batch, row: int) -> dict[str, Any]:
    meta = {**_job_meta(batch.job), **{name: batch.value(name, row) for name in _TOLD}}
    if wording.is_natural(batch.job):
        meta["command"] = plain_text(batch.value("command", row))  # rows of one command are not independent
    return meta


@lru_cache(maxsize=16)
def _job_meta(job: Job) -> Mapping[str, Any]:
    """What `meta` says of every row of a job."""
    meta: dict[str, Any] = {"recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed}
    if SPLITS[job.split].by_length:
        meta["cutoff"] = option(job, OPTIONS, "cutoff")
    else:
        meta["shots"] = option(job, OPTIONS, "k")
    if job.split == HOLD_OUT:
        meta[PREDICATE] = predicate_text(job, OPTIONS)
    if wording.is_natural(job):
        meta[wording.WORDING] = wording.NATURAL
    return meta


_FIELDS = RowFields(inputs_at, actions_at, lambda batch, row: parse_any(batch.value("command", row)), world_at, _meta)


def canonical(example: Example) -> bytes:
    """Command in plain words, agent and the objects by place."""
    return forms.canonical(plain_text(str(example.inputs["command"])), example.world)


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits for each row's canonical form."""
    command = batch.columns["command"]
    if isinstance(command, Coded):
        words = np.array([_word(text) for text in command.values], dtype=np.uint64)[command.codes]
    else:
        words = np.array([_word(str(command[row])) for row in range(len(batch))], dtype=np.uint64)
    return forms.canonical_batch(words, batch)


def clusters(batch: Batch) -> Column:
    """The command of every row in plain words."""
    column = batch.columns["command"]
    if not wording.is_natural(batch.job):
        return column
    return Coded(np.array([_numbers()[plain_text(text)] for text in values_of(column)], np.int16), _texts())


@cache
def _word(command: str) -> int:
    """A number for a command: its own, or a hash of a text that is none (the oracle says so)."""
    plain = plain_text(command)
    number = _numbers().get(plain)
    return keys.state("not a command", plain) if number is None else number


def plain_text(text: str) -> str:
    """The command in plain words; a text that is no command stays as it is."""
    if text in _numbers():
        return text
    try:
        return str(parse_any(text))
    except UsageError:
        return text


@cache
def _numbers() -> dict[str, int]:
    return {text: number for number, text in enumerate(_texts())}
