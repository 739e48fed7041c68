"""Job -> batch: settings for the kernels, arrays for them to fill, columns out of the arrays."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, Ragged, Text
from recombine.core import Batch, ColumnType, Job, option
from recombine.errors import BadOption, Infeasible
from recombine.families.reascan import asking, rows
from recombine.families.reascan.aiming import MILLION
from recombine.families.reascan.placing import aim_tables
from recombine.families.reascan.plan import (
    MAX_PHRASES,
    PATTERNS,
    Widths,
    count_structures,
    parents_of,
    parse_pattern,
    roots,
    spellings,
    step_table,
)
from recombine.families.reascan.splits import OPTIONS, RULES, Rule
from recombine.grid.codes import ACTIONS, ADVERBS, COLORS, DIRECTIONS, HEADINGS, SHAPES, VERBS
from recombine.grid.world import WORLD_SCHEMA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.columns import Column

ROLES = ("target", "pivot", "relation", "attribute", "isomorphism", "contrast", "random")
"""Why an object is there; codes in `decoys`."""
SCHEMA: Mapping[str, ColumnType] = MappingProxyType(
    {
        "command": "string",
        "actions": "list<string>",
        "verb": "string",
        "adverb": "string",
        "pattern": "string",
        "clauses": "int8",
        "form": "int64",
        "direction": "string",
        "distance": "int8",
        "action_count": "int16",
        "object_count": "int8",
        "interaction": "bool",
        "relation_distractor": "bool",
        "attribute_distractor": "bool",
        "isomorphism_distractor": "bool",
        "random_distractor": "bool",
        **WORLD_SCHEMA,
        "object_catches": "list<int8>",
        "spare_words": "list<int8>",
        "strategy": "list<int8>",
    }
)
"""`object_catches`: the code of the reader whom a decoy is there to catch, -1 for none (see `explain.reader_name`);
`spare_words`: codes of words and clauses that are not needed; `strategy`: what the release recipe notes down (see `release`)."""
REJECTIONS = ("command outside the split", "other part", "no such world", "world outside the split", "command given up")
KERNEL_NAME = "recombine.families.reascan.kernel"
PART_CODES = MappingProxyType({"test": 0, "validation": 1, "train": 2})
LIMITS: Mapping[int, int] = MappingProxyType({1: 16, 2: 16, 3: 20, 4: 24})
"""Most objects in a world by the number of phrases; 28 beyond."""
BLOCK = 1 << 15
"""Commands of a pattern are listed in blocks of so many numbers."""


@dataclass
class Filled:
    """What a kernel fills: scalars per row, and objects, actions, texts and spare words end to end with each row's end."""

    rows: NDArray[np.int64]
    flat: NDArray[np.int8]
    flat_ends: NDArray[np.int64]
    steps: NDArray[np.int8]
    step_ends: NDArray[np.int64]
    text: NDArray[np.uint8]
    text_ends: NDArray[np.int64]
    spare: NDArray[np.int8]

    @classmethod
    def empty(cls, n: int, grid: int, limit: int) -> Filled:
        """Arrays large enough for n rows."""
        return cls(
            np.zeros((n, 8), dtype=np.int64),
            np.empty((7, n * limit), dtype=np.int8),
            np.empty(n, dtype=np.int64),
            np.empty(n * (20 * grid + 8), dtype=np.int8),
            np.empty(n, dtype=np.int64),
            np.empty(n * (80 * MAX_PHRASES), dtype=np.uint8),
            np.empty(n, dtype=np.int64),
            np.empty(n * 4 * MAX_PHRASES, dtype=np.int8),
        )


@dataclass(frozen=True)
class Patterns:
    """Patterns as the kernels take them: rows of [phrases, parents, object limit], running weights, phrases to begin with."""

    table: NDArray[np.int64]
    shares: NDArray[np.int64]
    roots: NDArray[np.int64]
    widths: tuple[Widths, ...]


def pattern_name(widths: Widths) -> str:
    """`simple`, `two_clauses`, …, or the widths: `2-1`."""
    for name, known in PATTERNS.items():
        if known == widths:
            return name
    return "-".join(str(w) for w in widths)


@functools.cache
def pattern_tables(patterns: tuple[tuple[Widths, int], ...], max_objects: int) -> Patterns:
    """The tables of some weighted patterns; max_objects 0 takes each pattern's own limit."""
    table = np.zeros((len(patterns), 2 + MAX_PHRASES), dtype=np.int64)
    first = np.zeros((len(patterns), 80), dtype=np.int64)
    for p, (widths, _) in enumerate(patterns):
        parents = parents_of(widths)
        table[p, 0] = len(parents)
        table[p, 1 : 1 + len(parents)] = parents
        table[p, 1 + MAX_PHRASES] = max_objects or LIMITS.get(len(parents), 28)
        codes = roots(widths)
        first[p, 0] = len(codes)
        first[p, 1 : 1 + len(codes)] = codes
    shares = np.cumsum([weight for _, weight in patterns]).astype(np.int64)
    return Patterns(table, shares, first, tuple(widths for widths, _ in patterns))


def rule_of(job: Job) -> Rule:
    """The part's rule, with the option `pattern` filled in."""
    rule = RULES[job.split, job.part]
    if job.split != "pattern":
        return rule
    return Rule(((parse_pattern(option(job, OPTIONS, "pattern")), 1),))


def sound(job: Job, compiled: bool | None = None) -> Batch:
    """Rows [job.start, job.stop) of a sound part; row i depends on the job's key and i alone, never on `compiled`."""
    n = job.stop - job.start
    rule, grid = rule_of(job), int(option(job, OPTIONS, "grid_size"))
    patterns = pattern_tables(rule.patterns, int(option(job, OPTIONS, "max_objects")))
    limit = int(patterns.table[:, 1 + MAX_PHRASES].max())
    least = 2 * int(patterns.table[:, 0].max()) + 1
    if limit < least:
        raise BadOption(f"option max_objects is {limit}, but commands of this split need at least {least} objects.")
    if limit + 4 > grid * grid:
        raise BadOption(
            f"option grid_size is {grid}, but up to {limit} objects need a larger grid; set max_objects to {grid * grid - 4}."
        )
    if compiled is None:
        compiled = n >= kernels.COMPILE_FROM_ROWS
    filled = Filled.empty(n, grid, limit)
    rejected = np.zeros(len(REJECTIONS), dtype=np.int64)
    targets, agents = aim_tables(grid, rule.directions)
    done = kernels.load(KERNEL_NAME, compiled).sound_rows(
        keys.states(job.base(), job.start, job.stop), _given(job, rule), _settings(job, rule), patterns.table, patterns.shares,
        patterns.roots, *step_table(), targets, agents, *spellings(), filled.rows, filled.flat, filled.flat_ends, filled.steps,
        filled.step_ends, filled.text, filled.text_ends, filled.spare, rejected,
    )  # fmt: skip
    if done < n:
        raise Infeasible(
            f"{job.id(job.start + int(done))}: no example keeps all laws; use a larger grid_size or other options."
        )
    counts = {reason: int(count) for reason, count in zip(REJECTIONS, rejected, strict=True) if count}
    return Batch(job, job.start, columns(grid, filled, patterns), counts)


def _settings(job: Job, rule: Rule) -> NDArray[np.int64]:
    """The kernel's settings (`kernel.P_…`)."""
    settings = np.zeros(11, dtype=np.int64)
    settings[asking.P_GRID] = option(job, OPTIONS, "grid_size")
    settings[asking.P_RD] = rule.random_only
    settings[asking.P_PART] = PART_CODES[job.part] if rule.keeps_part else -1
    settings[asking.P_TAGS] = rule.tags
    settings[asking.P_MANNER] = 2 if rule.manner == 5 else rule.manner
    settings[asking.P_LENGTH] = rule.length
    settings[asking.P_CUT] = option(job, OPTIONS, "longest")
    settings[asking.P_INTERACTION] = round(option(job, OPTIONS, "interaction") * MILLION)
    settings[asking.P_SPARE_OK] = option(job, OPTIONS, "max_objects") > 0
    settings[asking.P_SHOTS] = option(job, OPTIONS, "shots") if rule.manner == 2 else 0
    settings[asking.P_FIRST] = job.start
    return settings


def _given(job: Job, rule: Rule) -> NDArray[np.int64]:
    """The forms of the rows where the option `commands` is `all`; zeros where commands are drawn."""
    n = job.stop - job.start
    if option(job, OPTIONS, "commands") == "sampled":
        return np.zeros(n, dtype=np.int64)
    if len(rule.patterns) != 1 or rule.tags >= 0:
        raise BadOption(
            f"option commands is 'all', but split {job.split!r} does not go through the commands of one pattern; use 'sampled'."
        )
    widths = rule.patterns[0][0]
    total = count_structures(widths) if sum(widths) < 4 and len(widths) < 3 else int(_listing(widths).sum())
    index = np.arange(job.start, job.stop, dtype=np.int64)
    structures, places = np.unique(index % total, return_inverse=True)
    listed = forms_at(widths, structures)
    manner = (index // total + index % total) % 15
    forms: NDArray[np.int64] = listed[places] * 15 + manner
    return forms


@functools.cache
def _listing(widths: Widths) -> NDArray[np.int64]:
    """How many structures each block of BLOCK numbers holds."""
    patterns = pattern_tables(((widths, 1),), 0)
    table, counts = step_table()
    proposals = int(patterns.roots[0, 0]) * table.shape[1] ** (int(patterns.table[0, 0]) - 1)
    kernel = kernels.load("recombine.families.reascan.commands", proposals > BLOCK)
    codes, links, none = np.zeros(8, dtype=np.int64), np.zeros((2, 8), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.array(
        [
            kernel.list_forms(
                patterns.table[0], patterns.roots[0], table, counts, codes, links, start, min(start + BLOCK, proposals), none
            )
            for start in range(0, proposals, BLOCK)
        ],
        dtype=np.int64,
    )


def forms_at(widths: Widths, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The structures with these numbers (sorted, from 0), without verb and adverb; they are not listed to find one."""
    held = _listing(widths)
    ends = np.cumsum(held)
    patterns = pattern_tables(((widths, 1),), 0)
    table, counts = step_table()
    proposals = int(patterns.roots[0, 0]) * table.shape[1] ** (int(patterns.table[0, 0]) - 1)
    kernel = kernels.load("recombine.families.reascan.commands", proposals > BLOCK)
    codes, links = np.zeros(8, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)
    found = np.zeros(len(ranks), dtype=np.int64)
    blocks = np.searchsorted(ends, ranks, side="right")
    for block in np.unique(blocks):
        out = np.zeros(int(held[block]), dtype=np.int64)
        start = int(block) * BLOCK
        kernel.list_forms(
            patterns.table[0], patterns.roots[0], table, counts, codes, links, start, min(start + BLOCK, proposals), out
        )
        inside = blocks == block
        found[inside] = out[ranks[inside] - (ends[block] - held[block])]
    return found


def offsets(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """n + 1 offsets from each row's end."""
    return np.concatenate([np.zeros(1, dtype=np.int64), ends])


def columns(grid: int, filled: Filled, patterns: Patterns) -> dict[str, Column]:
    """The columns of SCHEMA from what a kernel filled."""
    scalars, n = filled.rows, len(filled.rows)
    ends = offsets(filled.flat_ends)
    flat = filled.flat[:, : int(ends[-1])]
    manner = scalars[:, rows.FORM] % 15
    agent_row, agent_column = scalars[:, rows.AGENT_CELL] // grid, scalars[:, rows.AGENT_CELL] % grid
    target_row, target_column = flat[3][ends[:-1]].astype(np.int64), flat[4][ends[:-1]].astype(np.int64)
    down, right = target_row - agent_row, target_column - agent_column
    which = scalars[:, rows.PATTERN].astype(np.int8)
    flags = scalars[:, rows.FLAGS]

    def lists(a: int, values: tuple[str, ...] = ()) -> Ragged:
        piece = np.ascontiguousarray(flat[a])
        return Ragged(Coded(piece, values) if values else piece, ends)

    spare_ends = offsets(np.cumsum(scalars[:, rows.SPARE]))
    step_ends, text_ends = offsets(filled.step_ends), offsets(filled.text_ends)
    return {
        "command": Text(filled.text[: int(text_ends[-1])], text_ends),
        "actions": Ragged(Coded(filled.steps[: int(step_ends[-1])], ACTIONS), step_ends),
        "verb": Coded((manner // 5).astype(np.int8), VERBS),
        "adverb": Coded((manner % 5).astype(np.int8), ADVERBS),
        "pattern": Coded(which, tuple(pattern_name(w) for w in patterns.widths)),
        "clauses": np.array([sum(w) for w in patterns.widths], dtype=np.int8)[which],
        "form": np.ascontiguousarray(scalars[:, rows.FORM]),
        "direction": Coded(_DIRECTION[np.sign(down) + 1, np.sign(right) + 1], DIRECTIONS),
        "distance": (np.abs(down) + np.abs(right)).astype(np.int8),
        "action_count": scalars[:, rows.LENGTH].astype(np.int16),
        "object_count": np.diff(ends).astype(np.int8),
        "interaction": scalars[:, rows.MOVED] != 0,
        "relation_distractor": flags & rows.FLAG_RELATION != 0,
        "attribute_distractor": flags & rows.FLAG_ATTRIBUTE != 0,
        "isomorphism_distractor": flags & rows.FLAG_ISOMORPHISM != 0,
        "random_distractor": flags & rows.FLAG_RANDOM != 0,
        "grid_size": np.full(n, grid, dtype=np.int8),
        "agent_row": agent_row.astype(np.int8),
        "agent_column": agent_column.astype(np.int8),
        "agent_heading": Coded(np.zeros(n, dtype=np.int8), HEADINGS),
        "object_sizes": lists(0),
        "object_colors": lists(1, COLORS),
        "object_shapes": lists(2, SHAPES),
        "object_rows": lists(3),
        "object_columns": lists(4),
        "object_roles": lists(5, ROLES),
        "object_catches": lists(6),
        "spare_words": Ragged(filled.spare[: int(spare_ends[-1])], spare_ends),
        "strategy": Ragged(np.zeros(0, dtype=np.int8), np.zeros(n + 1, dtype=np.int64)),
    }


def _direction_table() -> NDArray[Any]:
    named = (("nw", "n", "ne"), ("w", "", "e"), ("sw", "s", "se"))
    return np.array([[DIRECTIONS.index(d) if d else 0 for d in row] for row in named], dtype=np.int8)


_DIRECTION = _direction_table()
