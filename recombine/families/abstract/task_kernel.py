"""One task: a test world with decoys, a pool of demonstrations, and the greedy choice of those that leave no rival."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.draws import Ints, Words, below
from recombine.families.abstract.effect_kernel import NO_EFFECT, fits_in
from recombine.families.abstract.kernel import (
    FULL,
    N_PHRASES,
    N_STEPS,
    enumerate_space,
    keep_fitting,
    kept,
    look,
    matching_operations,
    narrow,
    operation_masks,
)
from recombine.families.abstract.operations import COPY
from recombine.families.abstract.world_kernel import (
    FIRST,
    N_READERS,
    PATTERN,
    ROOT,
    SECOND,
    add_other,
    build,
    described,
    missing_decoys,
    plant,
    suits,
)
from recombine.grid.codes import COLUMN, ROW, SHAPE, SIZE

KERNEL = True
LEAN = True

# settings
S_GRID, S_LOW, S_HIGH, S_DEMONSTRATIONS, S_POOL, S_ROUNDS, S_WORLD_TRIES, S_TEST_TRIES, S_DEEPEST, S_EXTRA = range(10)
N_SETTINGS = 10
# columns of Desk.tally
OPERATIONS, COPIES, RIVALS = 0, 1, 2
# reasons for which draws are given up
NO_TEST, NO_WORLD, NOT_DETERMINED, TOO_MANY = 0, 1, 2, 3
MAX_OPERATIONS = 16
DECOY_TRIES = 60
"""Objects that are tried as decoys of one test world."""
TWIN_EDITS, TWIN_OBJECTS = 60, 3
"""Edits that are tried on the only demonstration, and objects in which it must differ from the test world."""
N_FIELDS, N_VALUES = 5, 4
DECOY_ODDS = 2
"""One in this many demonstrations is drawn with decoys."""


class Desk(NamedTuple):
    """Scratch arrays. World 0 is the test world, then comes the pool, then room for one more."""

    things: Ints  # [2 + pool, most objects, 5]
    counts: Ints  # [2 + pool]
    effects: Ints  # [2 + pool]
    fits: Ints  # [2 + pool, 2, 75]
    rel: Ints  # [2 + pool, 6, most objects]
    sets: Ints  # [5, 17]
    plain: Ints  # [2 + pool, most objects]
    copied: Ints  # [2 + pool, most objects, most objects]
    reach: Ints  # [450]
    image: Ints  # [450, most steps of a phrase]
    forms: Ints  # [hypotheses]
    reads: Ints  # [hypotheses]
    masks: Ints  # [hypotheses]
    rivals: Ints  # [hypotheses]
    trial: Ints  # [hypotheses]
    ops: Ints  # [MAX_OPERATIONS]
    rule: Ints  # [4]: pattern, first phrase, first step, second step
    weak: Ints  # [4]: the same for a careless reader
    bound: Ints  # [3]: the object of each phrase
    bounds: Ints  # [20, 2]: see `grid.size_bounds`
    rng: Words  # [1]
    tally: Ints  # [3]: operations that fit the first demonstration, those that copy as bits, hypotheses with rivals


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
    """Fill world w of the desk with one in which the rule applies; False if none was found."""
    desk.rule[SECOND] = form % N_STEPS
    desk.rule[FIRST] = form // N_STEPS % N_STEPS
    desk.rule[ROOT] = form // (N_STEPS * N_STEPS) % N_PHRASES
    desk.rule[PATTERN] = form // (N_STEPS * N_STEPS * N_PHRASES)
    grid, things, fits, rel = settings[S_GRID], desk.things[w], desk.fits[w], desk.rel[w]
    for _ in range(tries):
        low, high = settings[S_LOW], settings[S_HIGH]
        n = min(low, described(desk.rule)) if with_decoys else low + below(rng, high - low + 1)
        if not build(things, desk.rule, n, grid, rng):
            continue
        look(things, n, desk.sets, fits, rel)
        shown = suits(things, n, grid, fits, rel, desk.rule, op)
        if shown == NO_EFFECT:
            continue
        if with_decoys:
            n = add_decoys(desk, w, n, settings, op, rng)
            if n < 0:
                continue
            shown = suits(things, n, grid, fits, rel, desk.rule, op)
        desk.counts[w] = n
        desk.effects[w] = shown
        return True
    return False


def draw_demonstration(desk: Desk, w: int, form: int, op: Ints, settings: Ints, rng: Words) -> bool:
    """Fill world w; some worlds have decoys, which refute rules that are weaker than the task's."""
    if below(rng, DECOY_ODDS) == 0 and draw_world(desk, w, form, op, settings, 1, True, rng):
        return True
    return draw_world(desk, w, form, op, settings, settings[S_WORLD_TRIES], False, rng)


def add_decoys(desk: Desk, w: int, n: int, settings: Ints, op: Ints, rng: Words) -> Any:
    """Add objects until every careless reader finds something wrong in world w and it holds enough; returns their number, or -1.

    New objects stay only if the rule still applies and fewer readers find nothing.
    """
    grid, things, fits, rel = settings[S_GRID], desk.things[w], desk.fits[w], desk.rel[w]
    missing = missing_decoys(fits, rel, desk.rule, desk.weak)
    for _ in range(DECOY_TRIES):
        if missing == 0 and n >= settings[S_LOW]:
            break
        if missing == 0:
            more = n + 1 if n < settings[S_HIGH] and add_other(things, n, desk.rule, grid, rng) else -1
        else:
            more = plant(
                things, n, settings[S_HIGH], fits[0], rel, desk.rule, desk.weak, below(rng, missing), desk.bound, grid, rng
            )
        if more < 0:
            continue
        look(things, more, desk.sets, fits, rel)
        left = N_READERS
        if suits(things, more, grid, fits, rel, desk.rule, op) != NO_EFFECT:
            left = missing_decoys(fits, rel, desk.rule, desk.weak)
        if left < missing or (left == 0 and missing == 0):
            missing, n = left, more
        else:
            look(things, n, desk.sets, fits, rel)
    return n if missing == 0 and n >= settings[S_LOW] else -1


def set_masks(desk: Desk, w: int, m: int, grammar: Grammar, grid: int) -> None:
    """Work out which of the m operations give the output of world w, for each object."""
    operation_masks(
        desk.things[w], desk.counts[w], grid, grammar.table, desk.effects[w], desk.ops, m, desk.plain[w], desk.copied[w]
    )


def rivals_after(desk: Desk, w: int, size: int, copies: int, fewest: int) -> Any:
    """How many hypotheses would still have an operation with another test output after demonstration w; stops at `fewest`."""
    return narrow(
        desk.fits[w], desk.rel[w], desk.forms, desk.reads, desk.rivals, size, desk.plain[w], desk.copied[w], copies, False,
        desk.trial, fewest,
    )  # fmt: skip


def eliminate(desk: Desk, w: int, size: int, copies: int) -> Any:
    """Drop what demonstration w refutes; returns the new number of hypotheses."""
    return keep_fitting(
        desk.fits[w], desk.rel[w], desk.forms, desk.reads, desk.masks, desk.rivals, size, desk.plain[w], desk.copied[w], copies
    )


def first_hypotheses(desk: Desk, grammar: Grammar, settings: Ints, w: int) -> Any:
    """List the hypotheses that fit world w, and the operations of each that miss the test output; returns how many, or FULL."""
    grid = settings[S_GRID]
    desk.tally[OPERATIONS] = matching_operations(desk.things[w], desk.counts[w], grid, grammar.table, desk.effects[w], desk.ops)
    copies = 0
    for a in range(desk.tally[OPERATIONS]):
        if grammar.table[desk.ops[a], COPY] >= 0:
            copies |= 1 << a
    desk.tally[COPIES] = copies
    set_masks(desk, 0, desk.tally[OPERATIONS], grammar, grid)
    set_masks(desk, w, desk.tally[OPERATIONS], grammar, grid)
    size = enumerate_space(
        desk.fits[w], desk.rel[w], desk.counts[w], settings[S_DEEPEST], grammar.roots, grammar.steps, grammar.counts,
        desk.plain[w], desk.copied[w], copies, desk.reach, desk.image, desk.forms, desk.reads, desk.masks,
    )  # fmt: skip
    if size != FULL:
        desk.tally[RIVALS] = narrow(
            desk.fits[0], desk.rel[0], desk.forms, desk.reads, desk.masks, size, desk.plain[0], desk.copied[0], copies, True,
            desk.rivals, size + 1,
        )  # fmt: skip
    return size


def choose(desk: Desk, grammar: Grammar, settings: Ints, form: int, op: Ints, order: Ints, survivors: Ints, rng: Words) -> Any:
    """Choose demonstrations, each time the world that leaves fewest rivals; returns the number of hypotheses left if no rival is.

    The last demonstration may also be a new world: they are drawn until one leaves no rival. Returns -1 if none does, or FULL.
    """
    k, pool, grid = settings[S_DEMONSTRATIONS], settings[S_POOL], settings[S_GRID]
    size = first_hypotheses(desk, grammar, settings, 1)
    if size == FULL:
        return FULL
    m, copies, left = desk.tally[OPERATIONS], desk.tally[COPIES], desk.tally[RIVALS]
    for w in range(2, pool + 1):
        set_masks(desk, w, m, grammar, grid)
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
        if d == k - 1 and fewest > 0:
            for _ in range(settings[S_EXTRA]):
                if not draw_demonstration(desk, pool + 1, form, op, settings, rng):
                    break
                set_masks(desk, pool + 1, m, grammar, grid)
                if rivals_after(desk, pool + 1, size, copies, 1) == 0:
                    best, fewest = pool + 1, 0
                    break
            if fewest > 0:
                return -1
        order[d] = best
        size = eliminate(desk, best, size, copies)
        survivors[d] = kept(desk.masks, size)
        left = fewest
    return size if left == 0 else -1


def foreign_objects(things: Ints, others: Ints, n: int) -> Any:
    """How many objects of one world of n objects the other does not hold, with the same attributes in the same cell."""
    count = n
    for i in range(n):
        for j in range(n):
            is_same = True
            for a in range(N_FIELDS):
                is_same = is_same and others[i, a] == things[j, a]
            if is_same:
                count -= 1
                break
    return count


def draw_twin(desk: Desk, grammar: Grammar, settings: Ints, op: Ints, order: Ints, survivors: Ints, rng: Words) -> Any:
    """A single demonstration: the test world, edited object by object as long as one test output is left.

    Returns the number of hypotheses left, or -1 if fewer than TWIN_OBJECTS objects could be changed.
    """
    n, grid, things = desk.counts[0], settings[S_GRID], desk.things[1]
    desk.counts[1] = n
    for i in range(n):
        for a in range(N_FIELDS):
            things[i, a] = desk.things[0, i, a]
    for _ in range(TWIN_EDITS):
        i, a = below(rng, n), below(rng, N_FIELDS)
        old_row, old_column, old = things[i, ROW], things[i, COLUMN], things[i, a]
        if a == SIZE:
            things[i, SIZE] = 1 + below(rng, N_VALUES)
        elif a < ROW:
            things[i, a] = below(rng, N_VALUES)
        else:
            things[i, ROW], things[i, COLUMN] = below(rng, grid), below(rng, grid)
        is_settled = False
        if fits_in(things, n, grid, i, things[i, ROW], things[i, COLUMN], things[i, SHAPE], things[i, SIZE]):
            look(things, n, desk.sets, desk.fits[1], desk.rel[1])
            desk.effects[1] = suits(things, n, grid, desk.fits[1], desk.rel[1], desk.rule, op)
            if desk.effects[1] != NO_EFFECT:
                is_settled = first_hypotheses(desk, grammar, settings, 1) != FULL and desk.tally[RIVALS] == 0
        if not is_settled:
            things[i, a] = old
            things[i, ROW], things[i, COLUMN] = old_row, old_column
    if foreign_objects(desk.things[0], things, n) < TWIN_OBJECTS:
        return -1
    look(things, n, desk.sets, desk.fits[1], desk.rel[1])
    desk.effects[1] = suits(things, n, grid, desk.fits[1], desk.rel[1], desk.rule, op)
    size = first_hypotheses(desk, grammar, settings, 1)
    if size == FULL or desk.tally[RIVALS] > 0:
        return -1
    order[0] = 1
    survivors[0] = kept(desk.masks, size)
    return size


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
        is_single = settings[S_DEMONSTRATIONS] == 1
        for w in range(1, 0 if is_single else settings[S_POOL] + 1):
            if not draw_demonstration(desk, w, form, row_op, settings, rng):
                rejected[NO_WORLD] += 1
                return False
        if is_single:
            size = draw_twin(desk, grammar, settings, row_op, order, sink.survivors[row], rng)
        else:
            size = choose(desk, grammar, settings, form, row_op, order, sink.survivors[row], rng)
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
) -> int:  # fmt: skip
    """Fill each row of the sink by the first of its rules that works; sink.rules says which, -1 if none. Returns how many failed."""
    failed = 0
    for row in range(len(states)):
        desk.rng[0] = states[row]
        sink.rules[row] = -1
        for a in range(forms.shape[1]):
            if draw_task(desk, grammar, settings, forms[row, a], ops[row, a], sink, row, order, rejected, desk.rng):
                sink.rules[row] = a
                break
        if sink.rules[row] < 0:
            failed += 1
    return failed
