"""One task: a test world with decoys, a pool of demonstrations, and the greedy choice of those that leave no rival."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.draws import Ints, Words, below
from recombine.families.abstract.kernel import (
    FULL,
    N_PHRASES,
    N_STEPS,
    NO_EFFECT,
    count_rivals,
    enumerate_space,
    glance,
    keep_fitting,
    kept,
    look,
    matching_operations,
    operation_masks,
    predictions,
)
from recombine.families.abstract.operations import COPY
from recombine.families.abstract.world_kernel import add_other, build, missing_decoys, suits

KERNEL = True
LEAN = True

# settings
S_GRID, S_LOW, S_HIGH, S_DEMONSTRATIONS, S_POOL, S_ROUNDS, S_WORLD_TRIES, S_TEST_TRIES, S_DEEPEST = range(9)
N_SETTINGS = 9
# reasons for which draws are given up
NO_TEST, NO_WORLD, NOT_DETERMINED, TOO_MANY = 0, 1, 2, 3
MAX_OPERATIONS = 16
DECOY_TRIES = 60
"""Objects that are tried as decoys of one test world."""


class Desk(NamedTuple):
    """Scratch arrays. World 0 is the test world, the others are the pool."""

    things: Ints  # [1 + pool, most objects, 5]
    counts: Ints  # [1 + pool]
    effects: Ints  # [1 + pool]
    fits: Ints  # [1 + pool, 2, 75]
    rel: Ints  # [1 + pool, 6, most objects]
    sets: Ints  # [5, 17]
    plain: Ints  # [1 + pool, most objects]
    copied: Ints  # [1 + pool, most objects, most objects]
    reach: Ints  # [450]
    forms: Ints  # [hypotheses]
    reads: Ints  # [hypotheses]
    masks: Ints  # [hypotheses]
    rivals: Ints  # [hypotheses]
    ops: Ints  # [MAX_OPERATIONS]
    codes: Ints  # [3]
    relations: Ints  # [3]


class Grammar(NamedTuple):
    """The tables of the language."""

    roots: Ints  # [60]
    steps: Ints  # [75, most]
    counts: Ints  # [75]
    table: Ints  # [operations, fields]


class Sink(NamedTuple):
    """Finished rows: world 0 is the test world, worlds 1 to k are the demonstrations."""

    things: NDArray[np.int8]  # [rows, 1 + k, most objects, 5]
    counts: NDArray[np.int8]  # [rows, 1 + k]
    effects: Ints  # [rows, 1 + k]
    survivors: Ints  # [rows, k]: hypotheses left after each demonstration
    rules: Ints  # [rows]: number of the rule among those offered, or -1
    unique: NDArray[np.int8]  # [rows]


def draw_world(desk: Desk, w: int, form: int, op: Ints, settings: Ints, tries: int, with_decoys: bool, rng: Words) -> bool:
    """Fill world w of the desk with one in which the rule applies; False if none was found.

    With decoys: objects are added one by one, and an object stays if it gives another careless reader something to find.
    """
    second = form % N_STEPS
    first = form // N_STEPS % N_STEPS
    root = form // (N_STEPS * N_STEPS) % N_PHRASES
    pattern = form // (N_STEPS * N_STEPS * N_PHRASES)
    desk.codes[0], desk.codes[1], desk.codes[2] = root, first % N_PHRASES, second % N_PHRASES
    desk.relations[1], desk.relations[2] = first // N_PHRASES, second // N_PHRASES
    grid = settings[S_GRID]
    things = desk.things[w]
    for _ in range(tries):
        n = settings[S_LOW]
        if not with_decoys:
            n += below(rng, settings[S_HIGH] - settings[S_LOW] + 1)
        if not build(things, pattern, desk.codes, desk.relations, n, grid, rng):
            continue
        glance(things, n, desk.sets, desk.fits[w], desk.rel[w], root, first, second)
        shown = suits(things, n, grid, desk.fits[w], desk.rel[w], pattern, root, first, second, op)
        if shown == NO_EFFECT:
            continue
        look(things, n, desk.sets, desk.fits[w], desk.rel[w])
        if with_decoys:
            missing = missing_decoys(desk.fits[w], desk.rel[w], pattern, root, first, second)
            for _ in range(DECOY_TRIES):
                if missing == 0 or n == settings[S_HIGH]:
                    break
                if not add_other(things, n, pattern, desk.codes, desk.relations, min(pattern, 2) + 1, grid, rng):
                    continue
                glance(things, n + 1, desk.sets, desk.fits[w], desk.rel[w], root, first, second)
                after = suits(things, n + 1, grid, desk.fits[w], desk.rel[w], pattern, root, first, second, op)
                if after == NO_EFFECT:
                    continue
                look(things, n + 1, desk.sets, desk.fits[w], desk.rel[w])
                left = missing_decoys(desk.fits[w], desk.rel[w], pattern, root, first, second)
                if left < missing:
                    missing, shown, n = left, after, n + 1
            if missing:
                continue
            look(things, n, desk.sets, desk.fits[w], desk.rel[w])
        desk.counts[w] = n
        desk.effects[w] = shown
        return True
    return False


def set_masks(desk: Desk, w: int, m: int, grammar: Grammar, grid: int) -> None:
    """Work out which of the m operations give the output of world w, for each object."""
    operation_masks(
        desk.things[w], desk.counts[w], grid, grammar.table, desk.effects[w], desk.ops, m, desk.plain[w], desk.copied[w]
    )


def rivals_after(desk: Desk, w: int, size: int, copies: int, fewest: int) -> Any:
    """How many hypotheses would still have an operation with another test output after demonstration w; stops at `fewest`."""
    return count_rivals(
        desk.fits[w], desk.rel[w], desk.forms, desk.reads, desk.rivals, size, desk.plain[w], desk.copied[w], copies, fewest
    )


def eliminate(desk: Desk, w: int, size: int, copies: int) -> Any:
    """Drop what demonstration w refutes; returns the new number of hypotheses."""
    return keep_fitting(
        desk.fits[w], desk.rel[w], desk.forms, desk.reads, desk.masks, desk.rivals, size, desk.plain[w], desk.copied[w], copies
    )


def choose(desk: Desk, grammar: Grammar, settings: Ints, order: Ints, survivors: Ints) -> int:
    """Choose demonstrations from the pool, each time the one that leaves fewest rivals.

    Returns the number of hypotheses left if no rival is; otherwise -1, or FULL.
    """
    grid, k, pool = settings[S_GRID], settings[S_DEMONSTRATIONS], settings[S_POOL]
    m = matching_operations(desk.things[1], desk.counts[1], grid, grammar.table, desk.effects[1], desk.ops)
    copies = 0
    for a in range(m):
        if grammar.table[desk.ops[a], COPY] >= 0:
            copies |= 1 << a
    for w in range(pool + 1):
        set_masks(desk, w, m, grammar, grid)
    size = enumerate_space(
        desk.fits[1], desk.rel[1], desk.counts[1], settings[S_DEEPEST], grammar.roots, grammar.steps, grammar.counts,
        desk.plain[1], desk.copied[1], copies, desk.reach, desk.forms, desk.reads, desk.masks,
    )  # fmt: skip
    if size == FULL:
        return FULL
    left = predictions(
        desk.fits[0], desk.rel[0], desk.forms, desk.reads, desk.masks, size, desk.plain[0], desk.copied[0], copies, desk.rivals
    )
    order[0] = 1
    survivors[0] = kept(desk.masks, size)
    for d in range(1, k):
        best, fewest = -1, size + 1
        for w in range(2, pool + 1):
            is_used = False
            for e in range(d):
                is_used = is_used or order[e] == w
            if not is_used:
                count = rivals_after(desk, w, size, copies, fewest)
                if count < fewest:
                    best, fewest = w, count
        order[d] = best
        size = eliminate(desk, best, size, copies)
        survivors[d] = kept(desk.masks, size)
        left = fewest
    return size if left == 0 else -1


def is_one_rule(desk: Desk, size: int) -> bool:
    """Whether one description with one operation is left, however it is read."""
    for h in range(size):
        if desk.forms[h] != desk.forms[0] or desk.masks[h] != desk.masks[0] or desk.masks[h] & (desk.masks[h] - 1) != 0:
            return False
    return True


def draw_task(
    desk: Desk,
    grammar: Grammar,
    settings: Ints,
    form: int,
    op: int,
    sink: Sink,
    row: int,
    order: Ints,
    rejected: Ints,
    rng: Words,
) -> bool:
    """Make one row for the rule; False if the rule is given up."""
    row_op = grammar.table[op]
    if not draw_world(desk, 0, form, row_op, settings, settings[S_TEST_TRIES], True, rng):
        rejected[NO_TEST] += 1
        return False
    for _ in range(settings[S_ROUNDS]):
        for w in range(1, settings[S_POOL] + 1):
            if not draw_world(desk, w, form, row_op, settings, settings[S_WORLD_TRIES], False, rng):
                rejected[NO_WORLD] += 1
                return False
        size = choose(desk, grammar, settings, order, sink.survivors[row])
        if size < 0:
            rejected[TOO_MANY if size == FULL else NOT_DETERMINED] += 1
            continue
        sink.unique[row] = 1 if is_one_rule(desk, size) else 0
        for d in range(settings[S_DEMONSTRATIONS] + 1):
            w = 0 if d == 0 else order[d - 1]
            sink.counts[row, d] = desk.counts[w]
            sink.effects[row, d] = desk.effects[w]
            for i in range(desk.counts[w]):
                for a in range(5):
                    sink.things[row, d, i, a] = desk.things[w, i, a]
        return True
    return False


def draw_tasks(
    states: Words, forms: Ints, ops: Ints, desk: Desk, grammar: Grammar, settings: Ints, sink: Sink, order: Ints, rejected: Ints,
    rng: Words,
) -> int:  # fmt: skip
    """Fill each row of the sink by the first of its rules that works; sink.rules says which, -1 if none. Returns how many failed."""
    failed = 0
    for row in range(len(states)):
        rng[0] = states[row]
        sink.rules[row] = -1
        for a in range(forms.shape[1]):
            if draw_task(desk, grammar, settings, forms[row, a], ops[row, a], sink, row, order, rejected, rng):
                sink.rules[row] = a
                break
        if sink.rules[row] < 0:
            failed += 1
    return failed
