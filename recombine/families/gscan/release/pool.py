"""The original's data set as lists of items: which (command, target, direction, distance, repetition) belong to which part.

All parts of one seed are cut from one pool, as in the original. Nothing here depends on how worlds look except two things that
the original also decides last: test items equivalent to a training item are dropped, and `target_lengths` sorts by length.
With 5 repetitions and one shot every published size comes out exactly, but for the test part: about 19,200 of 41,294 random items
are left there, and how many depends on the draw (published: 19,282).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recombine import kernels, keys
from recombine.core import Job, option
from recombine.families.gscan.plan import commands
from recombine.families.gscan.rows import (
    AGENT_C,
    AGENT_R,
    COMMAND,
    COMPILE_FROM_ROWS,
    LENGTH,
    LOAD_FROM_ROWS,
    MOVED,
    Rows,
    new_rows,
    shape_of,
)
from recombine.families.gscan.splits import MAIN, OPTIONS, SHOT_SPLIT, SPLITS, Rule, bit_of, bits_kept_from, rules, tags
from recombine.grid.codes import COLORS, COLUMN, HEAVY_FROM, ROW, SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

KERNEL_NAME = "recombine.families.gscan.release.kernel"
TEST_SHARE = 10
"""One in this many items without a held-out combination is put aside for testing."""
VALIDATION_SHARE = 100
_STRAIGHT, _DIAGONAL = (0, 2, 4, 6), (1, 3, 5, 7)
_CHUNK = 50_000


@dataclass(frozen=True)
class Pool:
    """Every item of one data set: command, target size, colour, direction, distance; and how each is keyed."""

    grid: int
    items: NDArray[np.int64]
    cell_states: NDArray[np.uint64]
    states: NDArray[np.uint64]
    order: NDArray[np.int64]
    """All items in a random order that depends on the seed alone."""


def specifications(grid: int, resampling: int) -> list[tuple[int, int]]:
    """(direction, distance) of every situation of one target: extreme distances once, the others `resampling` times."""
    found = []
    for direction in _STRAIGHT:
        for distance in range(1, grid):
            found += [(direction, distance)] * (resampling if 1 < distance < grid - 1 else 1)
    for direction in _DIAGONAL:
        for distance in range(2, 2 * (grid - 1) + 1):
            found += [(direction, distance)] * (resampling if distance < 2 * (grid - 1) else 1)
    return found


@lru_cache(maxsize=2)
def pool(version: int, grid: int, resampling: int, seed: int) -> Pool:
    """The pool of a seed, with every item's tags and keys."""
    specs = np.array(specifications(grid, resampling), dtype=np.int64)
    pairs = np.array(_targets(), dtype=np.int64)
    n, m = len(pairs), len(specs)
    items = np.empty((n * m, 5), dtype=np.int64)
    items[:, :3] = np.repeat(pairs, m, axis=0)
    items[:, 3:] = np.tile(specs, (n, 1))
    name = (f"gscan@{version}/release/pool", grid, resampling, seed)
    shape = shape_of(items[:, 0])
    situation = ((items[:, 1] - 1) * 4 + items[:, 2]) * 3 + shape
    cells = keys.states(keys.state(*name, "cells"), 0, 48 * m)
    states = keys.states(keys.state(*name, "worlds"), 0, n * m)
    shuffled = keys.states(keys.state(*name, "order"), 0, n * m)
    cell_states = cells[situation * m + np.tile(np.arange(m), n)]
    return Pool(grid, items, cell_states, states, np.argsort(shuffled, kind="stable"))


def _targets() -> list[tuple[int, int, int]]:
    """(command number, target size, target colour) of every command with each of its possible targets."""
    found = []
    for number, command in enumerate(commands()):
        sizes = {"": (1, 2, 3, 4), "small": (1, 2, 3), "big": (2, 3, 4)}[command.phrase.size]
        for size in sizes:
            for color, name in enumerate(COLORS):
                if command.phrase.color in ("", name):
                    found.append((number, size, color))
    return found


MOST_OBJECTS = 12


def worlds(pool: Pool, which: NDArray[np.int64], compile_from: int = COMPILE_FROM_ROWS) -> Rows:
    """The rows of these items."""
    rows = new_rows(len(which), MOST_OBJECTS, pool.grid)
    items = np.ascontiguousarray(pool.items[which])
    kernels.for_rows(KERNEL_NAME, len(which), compile_from, LOAD_FROM_ROWS).release_rows(
        items, pool.grid, pool.cell_states[which], pool.states[which], rows
    )
    return rows


def listed(job: Job) -> NDArray[np.int64]:
    """The items of the job's part, in its order."""
    grid, resampling = option(job, OPTIONS, "grid_size"), option(job, OPTIONS, "resampling")
    if SPLITS[job.split].by_length:
        return _by_length(job.version, grid, resampling, job.seed, option(job, OPTIONS, "cutoff"))[job.part]
    whole = (job.version, grid, resampling, job.seed)
    return _by_tag(whole, option(job, OPTIONS, "k"), job.split, job.part, rules())


def pool_of(job: Job) -> Pool:
    """The pool from which the job's part is cut."""
    return pool(job.version, option(job, OPTIONS, "grid_size"), option(job, OPTIONS, "resampling"), job.seed)


@lru_cache(maxsize=32)
def _by_tag(source: tuple[int, int, int, int], k: int, split: str, part: str, rules: tuple[Rule, ...]) -> NDArray[np.int64]:
    whole = pool(*source)
    command, size, color, direction, _ = whole.items[whole.order].T
    held = tags(rules)[command, size - 1, color, direction] & bits_kept_from(split)
    mine: NDArray[np.int64] = whole.order[held == bit_of(split)]
    if split != MAIN and part == "test":
        return mine[k:] if split == SHOT_SPLIT else mine
    plain: NDArray[np.int64] = whole.order[held == 0]
    tested, rest = plain[: len(plain) // TEST_SHARE], plain[len(plain) // TEST_SHARE :]
    aside = len(rest) // VALIDATION_SHARE
    if part == "validation":
        return rest[:aside]
    if part == "train":
        shots = whole.order[held == bit_of(SHOT_SPLIT)][:k] if split == MAIN else plain[:0]
        return np.concatenate([shots, rest[aside:]])
    return tested[~np.isin(_equivalence(whole, tested), _equivalence(whole, rest))]


def _equivalence(whole: Pool, which: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each item, equal exactly if command, actions and target cell are equal.

    The actions follow from the command, the two cells and how many push or pull actions there are.
    """
    found = np.empty(len(which), dtype=np.int64)
    for start in range(0, len(which), _CHUNK):
        chunk = which[start : start + _CHUNK]
        made = worlds(whole, chunk, compile_from=0)
        facts, target = made.facts, made.things[:, 0].astype(np.int64)
        acts = facts[:, MOVED] * np.where(target[:, SIZE] >= HEAVY_FROM, 2, 1)
        cells = (facts[:, AGENT_R] * 64 + facts[:, AGENT_C]) * 4096 + target[:, ROW] * 64 + target[:, COLUMN]
        found[start : start + _CHUNK] = (facts[:, COMMAND] << 40) + (cells << 12) + acts
    return found


@lru_cache(maxsize=2)
def _by_length(version: int, grid: int, resampling: int, seed: int, cutoff: int) -> dict[str, NDArray[np.int64]]:
    whole = pool(version, grid, resampling, seed)
    lengths = np.concatenate(
        [
            worlds(whole, whole.order[i : i + _CHUNK], compile_from=0).facts[:, LENGTH]
            for i in range(0, len(whole.order), _CHUNK)
        ]
    )
    short, long = whole.order[lengths <= cutoff], whole.order[lengths > cutoff]
    held = len(short) // VALIDATION_SHARE
    return {"train": short[held:], "validation": short[:held], "test": long}
