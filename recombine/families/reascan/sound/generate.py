"""Job -> batch of the sound recipe: settings and tables for the kernel, and the commands of a pattern by number."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.core import Batch, Job, option
from recombine.errors import BadOption, Infeasible
from recombine.families.reascan.kernel import FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM, FLAG_RELATION
from recombine.families.reascan.plan import (
    MAX_PHRASES,
    N_MANNERS,
    Widths,
    count_structures,
    parse_pattern,
)
from recombine.families.reascan.rows import (
    Asked,
    Ints,
    bench_of,
    columns,
    conditions_of,
    grammar_of,
    saying_of,
    sink_of,
    speech_of,
)
from recombine.families.reascan.sound import kernel
from recombine.families.reascan.splits import CROWD, CROWD_SHARES, LIES, OPTIONS, Combination, Rule, rule_of, strategies_of
from recombine.grid.codes import DIRECTIONS
from recombine.grid.world import direction_codes

REJECTIONS = ("command outside the split", "other part", "no such world", "world outside the split", "command given up")
KERNEL_NAME = "recombine.families.reascan.sound.kernel"
COMMANDS_NAME = "recombine.families.reascan.commands"
ALL_FLAGS = FLAG_RELATION | FLAG_ATTRIBUTE | FLAG_ISOMORPHISM | FLAG_RANDOM
PART_CODES = MappingProxyType({"test": 0, "validation": 1, "train": 2})
BLOCK = 1 << 15
"""Commands of a pattern are listed in blocks of this many numbers."""
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 12_000, 300
"""Interpreted rows that take as long as compiling the kernels, and as loading them from disk."""
N_MODES = 4
ROUNDS = 60
UNIT = 1 << 24
"""The weights of one target's agents sum to about this much."""


class Aims(NamedTuple):
    """Where target and agent may stand, for each mode of the kernel."""

    targets: Ints  # [4, cells]: running sums of the weights of target cells
    agents: Ints  # [4, target cells, agent cells]: running sums of the weights of agent cells


def rule_for(job: Job) -> Rule:
    """The part's rule, with the options filled in."""
    rule = rule_of(job.split, job.part, str(option(job, OPTIONS, "c2_relations")))
    if rule.patterns:
        return rule
    return rule._replace(patterns=((parse_pattern(option(job, OPTIONS, "pattern")), 1),))


def vet(job: Job) -> None:
    """Refuse options that do not fit together, or not with the split."""
    rule = rule_for(job)
    _most_objects(job, rule, asked_of(job, rule))
    _check_commands(job, rule)


def _most_objects(job: Job, rule: Rule, asked: Asked) -> int:
    """The most objects of a world; an error if the commands need more, or if the grid has no room for so many."""
    grid, most = int(option(job, OPTIONS, "grid_size")), int(option(job, OPTIONS, "max_objects"))
    grammar = grammar_of(rule.patterns, most)
    limit = int(grammar.patterns[:, 1 + MAX_PHRASES].max())
    if asked.settings[kernel.P_MATCHED]:
        limit = max(CROWD)
    least = 2 * int(grammar.patterns[:, 0].max()) + 1
    if limit < least:
        raise BadOption(f"option max_objects is {limit}, but commands of this split need at least {least} objects.")
    if limit + 4 > grid * grid:
        raise BadOption(
            f"option grid_size is {grid}, but up to {limit} objects need a larger grid; set max_objects to {grid * grid - 4}."
        )
    return limit


def _check_commands(job: Job, rule: Rule) -> None:
    """Only a split of one pattern goes through all its commands."""
    if option(job, OPTIONS, "commands") != "sampled" and (len(rule.patterns) != 1 or rule.wanted or rule.unwanted):
        raise BadOption(
            f"option commands is 'all', but split {job.split!r} does not go through the commands of one pattern; use 'sampled'."
        )


def sound(job: Job, compiled: bool | None = None, rule: Rule | None = None) -> Batch:
    """Rows [job.start, job.stop) of a sound part; row i depends on the job's key and i alone, never on `compiled`.

    `rule` replaces the rule of the job's part.
    """
    n = job.stop - job.start
    rule = rule_for(job) if rule is None else rule
    grid, most = int(option(job, OPTIONS, "grid_size")), int(option(job, OPTIONS, "max_objects"))
    grammar, asked = grammar_of(rule.patterns, most), asked_of(job, rule)
    limit = _most_objects(job, rule, asked)
    if compiled is None:
        compiled = kernels.is_worth_compiling(KERNEL_NAME, n, COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    sink = sink_of(n, grid, limit)
    rejected = np.zeros(len(REJECTIONS), dtype=np.int64)
    done = kernels.load(KERNEL_NAME, compiled).sound_rows(
        keys.states(job.base(), job.start, job.stop), _given(job, rule), asked, grammar, aims_of(grid, directions_of(rule)),
        speech_of(), bench_of(grid), sink, rejected,
    )  # fmt: skip
    if done < n:
        raise Infeasible(
            f"{job.id(job.start + int(done))}: no example keeps all laws; use a larger grid_size or other options."
        )
    counts = {reason: int(count) for reason, count in zip(REJECTIONS, rejected, strict=True) if count}
    return Batch(job, job.start, columns(grid, sink, [widths for widths, _ in rule.patterns]), counts)


def asked_of(job: Job, rule: Rule) -> Asked:
    """What the kernel is asked for."""
    strategies = strategies_of(job, FLAG_RANDOM if rule.random_only else ALL_FLAGS)
    is_crowded = rule.is_matched and not option(job, OPTIONS, "max_objects") and option(job, OPTIONS, "crowding") == "matched"
    settings = np.zeros(kernel.N_SETTINGS, dtype=np.int64)
    settings[kernel.P_GRID] = option(job, OPTIONS, "grid_size")
    settings[kernel.P_STRATEGIES] = strategies
    settings[kernel.P_PART] = PART_CODES[job.part] if rule.is_hashed else -1
    settings[kernel.P_LENGTH] = rule.length
    settings[kernel.P_CUT] = option(job, OPTIONS, "longest")
    settings[kernel.P_INTERACTION] = round(option(job, OPTIONS, "interaction") * kernel.MILLION)
    settings[kernel.P_SPARE_OK] = option(job, OPTIONS, "max_objects") > 0
    settings[kernel.P_SHOTS] = option(job, OPTIONS, "shots") if rule.has_shots else 0
    settings[kernel.P_FIRST] = job.start
    settings[kernel.P_MATCHED] = is_crowded and strategies & FLAG_RANDOM != 0
    crowd = np.array([CROWD, np.cumsum(CROWD_SHARES)], dtype=np.int64)
    return Asked(settings, *conditions_of(rule.wanted, rule.unwanted), crowd)


def directions_of(rule: Rule) -> tuple[int, ...]:
    """The directions in which the target may lie, as far as they alone decide whether a row is wanted."""
    found = []
    for code in range(len(DIRECTIONS)):
        is_out = any(_shows_by_direction(combination, code) is False for combination in rule.wanted)
        is_out = is_out or (not rule.has_shots and any(_shows_by_direction(c, code) is True for c in rule.unwanted))
        if not is_out:
            found.append(code)
    return tuple(found)


def _shows_by_direction(combination: Combination, code: int) -> bool | None:
    """Whether a target in this direction shows the combination; None if that depends on more."""
    alternatives = []
    for atoms in combination:
        is_false = any(atom.kind == LIES and atom.a != code for atom in atoms)
        alternatives.append(False if is_false else True if all(atom.kind == LIES for atom in atoms) else None)
    return True if True in alternatives else None if None in alternatives else False


def _given(job: Job, rule: Rule) -> NDArray[np.int64]:
    """The forms of the rows where the option `commands` is `all`; zeros where commands are drawn."""
    n = job.stop - job.start
    if option(job, OPTIONS, "commands") == "sampled":
        return np.zeros(n, dtype=np.int64)
    _check_commands(job, rule)
    widths = rule.patterns[0][0]
    total = count_structures(widths) if sum(widths) < 4 and len(widths) < 3 else int(_listing(widths).sum())
    index = np.arange(job.start, job.stop, dtype=np.int64)
    structures, places = np.unique(index % total, return_inverse=True)
    listed = forms_at(widths, structures)
    manner = (index // total + index % total) % N_MANNERS
    forms: NDArray[np.int64] = listed[places] * N_MANNERS + manner
    return forms


# --- the commands of a pattern by number -------------------------------------------------------------------------------


@functools.cache
def _listing(widths: Widths) -> NDArray[np.int64]:
    """How many structures each block of BLOCK numbers holds."""
    none, blocks = np.zeros(0, dtype=np.int64), -(-_proposals(widths) // BLOCK)
    return np.array([_list_block(widths, block, none) for block in range(blocks)], dtype=np.int64)


def _proposals(widths: Widths) -> int:
    """How many structures `draw_form` proposes, those that break a rule included."""
    grammar = grammar_of(((widths, 1),), 0)
    return int(int(grammar.roots[0, 0]) * grammar.steps.shape[1] ** (int(grammar.patterns[0, 0]) - 1))


def _list_block(widths: Widths, block: int, out: NDArray[np.int64]) -> int:
    """Write the structures of a block to `out`, as far as it reaches; returns how many there are."""
    grammar, said, proposals = grammar_of(((widths, 1),), 0), saying_of(), _proposals(widths)
    found = kernels.load(COMMANDS_NAME, proposals > BLOCK).list_forms(
        grammar.patterns[0], grammar.roots[0], grammar.steps, grammar.counts, said.codes, said.links,
        block * BLOCK, min((block + 1) * BLOCK, proposals), out,
    )  # fmt: skip
    return int(found)


def forms_at(widths: Widths, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The structures with these numbers (sorted, from 0), without verb and adverb; they are not listed to find one."""
    held = _listing(widths)
    ends = np.cumsum(held)
    found = np.zeros(len(ranks), dtype=np.int64)
    blocks = np.searchsorted(ends, ranks, side="right")
    for block in np.unique(blocks):
        out = np.zeros(int(held[block]), dtype=np.int64)
        _list_block(widths, int(block), out)
        inside = blocks == block
        found[inside] = out[ranks[inside] - (ends[block] - held[block])]
    return found


# --- where targets and agents may stand --------------------------------------------------------------------------------

# Target and agent are uniform over the cells, and the eight directions are balanced. All at once this is a transport problem
# (a corner target can be approached from three directions only). It is solved by scaling the weights of pairs of cells to each
# of the three margins in turn, in integers, so that every machine draws the same.


def offsets_of(grid: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(down, right) from agent to target, for [target cell, agent cell]."""
    row, column = np.divmod(np.arange(grid * grid, dtype=np.int64), grid)
    return row[:, None] - row[None, :], column[:, None] - column[None, :]


def allowed_pairs(mode: int, grid: int) -> NDArray[np.bool_]:
    """Which [target cell, agent cell] fit a mode of the kernel (`kernel.ANYWHERE` and the others)."""
    down, right = offsets_of(grid)
    apart: NDArray[np.bool_] = (down != 0) | (right != 0)
    if mode == kernel.ANYWHERE:
        return apart
    if mode == kernel.CANNOT_PULL:
        nearby: NDArray[np.bool_] = np.abs(down) + np.abs(right) > 1
        return nearby
    row, column = np.divmod(np.arange(grid * grid, dtype=np.int64), grid)
    is_along_row = (down == 0) | ((np.abs(right) > np.abs(down)) & (mode == kernel.CAN_PUSH_ZIGZAG))
    next_row, next_column = row[:, None] + np.sign(down), column[:, None] + np.sign(right)
    has_room: NDArray[np.bool_] = np.where(
        is_along_row, (next_column >= 0) & (next_column < grid), (next_row >= 0) & (next_row < grid)
    )
    return apart & has_room


@functools.cache
def aims_of(grid: int, allowed: tuple[int, ...]) -> Aims:
    """The aims of a grid; the target lies in one of the directions `allowed` from the agent."""
    directions = direction_codes(*offsets_of(grid))
    is_wanted = np.isin(directions, allowed)
    is_weighed = np.ones_like(is_wanted) if is_one_sided(allowed) else is_wanted
    weights = np.stack([balanced(allowed_pairs(mode, grid) & is_weighed, directions) for mode in range(N_MODES)]) * is_wanted
    targets = (weights.sum(axis=2) > 0).astype(np.int64)
    return Aims(np.cumsum(targets, axis=1), np.cumsum(weights, axis=2))


def is_one_sided(allowed: Sequence[int]) -> bool:
    """Whether these directions leave half of the circle empty.

    If targets to the south-west only were balanced by themselves, nearly all would touch the agent: where agents and targets are
    spread evenly, the mean distance is fixed, and it is the shortest one. Such targets keep the weights that they have among all.
    """
    turns = np.diff([*sorted(allowed), min(allowed, default=0) + len(DIRECTIONS)])
    return bool((turns >= len(DIRECTIONS) // 2).any())


def balanced(is_allowed: NDArray[np.bool_], directions: NDArray[np.int8]) -> NDArray[np.int64]:
    """Integer weights of the allowed pairs: equal sums for the targets, and as equal as can be for agents and directions."""
    weights = np.where(is_allowed, UNIT // 64, 0).astype(np.int64)
    total = UNIT * int(is_allowed.any(axis=1).sum())
    margins = (
        np.arange(len(weights))[None, :] + 0 * directions,
        np.maximum(directions, 0),
        np.arange(len(weights))[:, None] + 0 * directions,
    )
    for _ in range(ROUNDS):
        for groups in margins:
            sums = np.bincount(groups.reshape(-1), weights=weights.reshape(-1)).astype(np.int64)
            goal = total // max(1, int((sums > 0).sum()))
            scaled = weights * goal // np.maximum(sums, 1)[groups]
            weights = np.where(is_allowed, np.maximum(scaled, 1), 0)
    return weights
