"""Worlds, referents, effects and elimination in arrays: the hot part of the sound recipe.

A world is `things[n, 5]` (see `recombine.grid.codes`); in a world that the generator builds, object 0 is the referent and
objects 1 and 2 are what the other phrases mean. Sets of objects are bits of one word. An *effect* packs the object that goes and
the object that comes; two operations with the same effect give the same output world.

A hypothesis is a row of `list_forms`, `list_reads`, `list_masks`: a form, a reading (bit 0: superlative size words; bit 1: phrases
may share an object) and the set of operations that still fit.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints
from recombine.families.abstract.operations import (
    ADD_COLOR,
    ADD_HEADING,
    ADD_SHAPE,
    ADD_SIZE,
    COPY,
    COPY_COLOR,
    COPY_SHAPE,
    COPY_SIZE,
    MOVE,
    PAINT,
    REMOVE,
    RESHAPE,
    RESIZE,
    STEP,
)
from recombine.grid.codes import (
    BOX,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    INSIDE,
    ROW,
    ROW_STEP,
    SAME_COLOR,
    SAME_COLUMN,
    SAME_ROW,
    SAME_SHAPE,
    SHAPE,
    SIZE,
)
from recombine.grid.kernel import index_things, lowest, phrase, popcount

KERNEL = True
LEAN = True

SIMPLE, ONE, TWO, NESTED = 0, 1, 2, 3
N_PHRASES, N_STEPS, N_RELATIONS = 75, 450, 6
IDLE = -1
NO_EFFECT = -1
MAX_SIZE = 4
CODE_BASE = 1 << 15
"""One more than the largest object code plus one, rounded up."""
FULL = -2
"""The list of hypotheses has no room; the draw is given up."""


# --- effects ---------------------------------------------------------------------------------------------------------


def object_code(row: int, column: int, color: int, shape: int, size: int) -> Any:
    """An object as a number from 1."""
    return ((((row * 16 + column) * 4 + color) * 4 + shape) * 4 + size - 1) + 1


def fits_in(things: Ints, n: int, grid: int, i: int, row: int, column: int, shape: int, size: int) -> Any:
    """Whether an object of this shape and size may stand in the cell, object i left out: in the grid, and no other on it."""
    reach = size if shape == BOX else 1
    if row < 0 or column < 0 or row + reach > grid or column + reach > grid:
        return False
    for j in range(n):
        is_alike = (things[j, SHAPE] == BOX) == (shape == BOX)
        if j != i and is_alike and things[j, ROW] == row and things[j, COLUMN] == column:
            return False
    return True


def effect(things: Ints, n: int, grid: int, op: Ints, t: int, p: int) -> Any:
    """What the operation `op` (a row of the table) does to object t with pivot p; NO_EFFECT if it may not be done.

    Every part of the operation must change something, and the new object must fit.
    """
    row, column, color = things[t, ROW], things[t, COLUMN], things[t, COLOR]
    shape, size = things[t, SHAPE], things[t, SIZE]
    gone = object_code(row, column, color, shape, size)
    if op[REMOVE] == 1:
        return gone * CODE_BASE
    if op[ADD_SIZE] != IDLE:
        row += ROW_STEP[op[ADD_HEADING]]
        column += COLUMN_STEP[op[ADD_HEADING]]
        if not fits_in(things, n, grid, -1, row, column, op[ADD_SHAPE], op[ADD_SIZE]):
            return NO_EFFECT
        return object_code(row, column, op[ADD_COLOR], op[ADD_SHAPE], op[ADD_SIZE])
    paint, reshape, resize = op[PAINT], op[RESHAPE], op[RESIZE]
    if op[COPY] != IDLE:
        if p < 0:
            return NO_EFFECT
        if op[COPY] == COPY_COLOR:
            paint = things[p, COLOR]
        elif op[COPY] == COPY_SHAPE:
            reshape = things[p, SHAPE]
        elif op[COPY] == COPY_SIZE:
            resize = things[p, SIZE]
    if op[STEP] != 0:
        resize = size + op[STEP]
        if resize < 1 or resize > MAX_SIZE:
            return NO_EFFECT
    if paint == color or reshape == shape or resize == size:
        return NO_EFFECT
    if paint != IDLE:
        color = paint
    if reshape != IDLE:
        shape = reshape
    if resize != IDLE:
        size = resize
    if op[MOVE] != IDLE:
        row += ROW_STEP[op[MOVE]]
        column += COLUMN_STEP[op[MOVE]]
    if not fits_in(things, n, grid, t, row, column, shape, size):
        return NO_EFFECT
    return gone * CODE_BASE + object_code(row, column, color, shape, size)


# --- referents -------------------------------------------------------------------------------------------------------


def holds(things: Ints, relation: int, i: int, j: int) -> Any:
    """Whether object i stands in the relation to object j; i and j differ."""
    if relation == SAME_ROW:
        return things[i, ROW] == things[j, ROW]
    if relation == SAME_COLUMN:
        return things[i, COLUMN] == things[j, COLUMN]
    if relation == SAME_COLOR:
        return things[i, COLOR] == things[j, COLOR]
    if relation == SAME_SHAPE:
        return things[i, SHAPE] == things[j, SHAPE]
    if relation == INSIDE:
        down, right = things[i, ROW] - things[j, ROW], things[i, COLUMN] - things[j, COLUMN]
        return things[j, SHAPE] == BOX and 0 <= down < things[j, SIZE] and 0 <= right < things[j, SIZE]
    return things[i, SIZE] == things[j, SIZE]


def look(things: Ints, n: int, sets: Ints, fits: Ints, rel: Ints) -> None:
    """Fill `fits[2, 75]`, the objects that each phrase fits, and `rel[6, n]`, the objects to which each one is related."""
    everything = index_things(things, n, sets)
    for reading in range(2):
        for code in range(N_PHRASES):
            fits[reading, code] = phrase(sets, everything, code // 25, code // 5 % 5 - 1, code % 5 - 1, reading)
    for r in range(N_RELATIONS):
        for i in range(n):
            found = 0
            for j in range(n):
                if j != i and holds(things, r, i, j):
                    found |= 1 << j
            rel[r, i] = found


def glance(things: Ints, n: int, sets: Ints, fits: Ints, rel: Ints, root: int, first: int, second: int) -> None:
    """Fill what one description needs of `fits` and `rel`: a part of what `look` does, for worlds that may be thrown away."""
    everything = index_things(things, n, sets)
    for reading in range(2):
        for k in range(3):
            code = root if k == 0 else first % N_PHRASES if k == 1 else second % N_PHRASES
            fits[reading, code] = phrase(sets, everything, code // 25, code // 5 % 5 - 1, code % 5 - 1, reading)
    for k in range(2):
        r = first // N_PHRASES if k == 0 else second // N_PHRASES
        for i in range(n):
            found = 0
            for j in range(n):
                if j != i and holds(things, r, i, j):
                    found |= 1 << j
            rel[r, i] = found


def is_bound(fits: Ints, rel: Ints, pattern: int, first: int, second: int, can_share: int, i: int) -> Any:
    """Whether the other phrases can be bound if the first one means object i."""
    if pattern == SIMPLE:
        return True
    near = rel[first // N_PHRASES, i] & fits[first % N_PHRASES]
    if near == 0 or pattern == ONE:
        return near != 0
    if pattern == TWO:
        other = rel[second // N_PHRASES, i] & fits[second % N_PHRASES]
        return other != 0 and (can_share or near != other or near & (near - 1) != 0)
    hidden = 0 if can_share else 1 << i
    while near:
        j = lowest(near)
        near &= near - 1
        if rel[second // N_PHRASES, j] & fits[second % N_PHRASES] & ~hidden:
            return True
    return False


def meant(fits: Ints, rel: Ints, pattern: int, root: int, first: int, second: int, can_share: int) -> Any:
    """The set of objects that the description can mean."""
    found, left = 0, fits[root]
    while left:
        i = lowest(left)
        left &= left - 1
        if is_bound(fits, rel, pattern, first, second, can_share, i):
            found |= 1 << i
    return found


def pivot_of(fits: Ints, rel: Ints, pattern: int, first: int, second: int, can_share: int, t: int) -> Any:
    """The one object that the second phrase can mean if the first means t; -1 if there are several or none."""
    if pattern != ONE and pattern != NESTED:
        return -1
    near = rel[first // N_PHRASES, t] & fits[first % N_PHRASES]
    if pattern == NESTED:
        hidden = 0 if can_share else 1 << t
        left, near = near, 0
        while left:
            j = lowest(left)
            left &= left - 1
            if rel[second // N_PHRASES, j] & fits[second % N_PHRASES] & ~hidden:
                near |= 1 << j
    if near == 0 or near & (near - 1) != 0:
        return -1
    return lowest(near)


# --- elimination -----------------------------------------------------------------------------------------------------


def may_change(things: Ints, t: int, shown: int) -> Any:
    """Whether the shown effect can be one on object t: nothing goes, or t goes."""
    if shown < CODE_BASE:
        return True
    code = object_code(things[t, ROW], things[t, COLUMN], things[t, COLOR], things[t, SHAPE], things[t, SIZE])
    return code == shown // CODE_BASE


def matching_operations(things: Ints, n: int, grid: int, table: Ints, shown: int, ops: Ints) -> Any:
    """Write the operations that can give the shown effect on some object to `ops`; returns how many."""
    m = 0
    for o in range(table.shape[0]):
        is_hit = False
        if (table[o, ADD_SIZE] != IDLE) == (shown < CODE_BASE):
            for t in range(n):
                if not may_change(things, t, shown):
                    continue
                if table[o, COPY] == IDLE:
                    is_hit = is_hit or effect(things, n, grid, table[o], t, -1) == shown
                else:
                    for p in range(n):
                        is_hit = is_hit or (p != t and effect(things, n, grid, table[o], t, p) == shown)
        if is_hit and m < len(ops):
            ops[m] = o
            m += 1
    return m


def operation_masks(
    things: Ints, n: int, grid: int, table: Ints, shown: int, ops: Ints, m: int, plain: Ints, copied: Ints
) -> None:
    """plain[t]: which of the m operations turn object t into what is shown; copied[t, p]: those that copy from p."""
    for t in range(n):
        plain[t] = 0
        for p in range(n):
            copied[t, p] = 0
        if not may_change(things, t, shown):
            continue
        for k in range(m):
            op = table[ops[k]]
            if op[COPY] == IDLE:
                if effect(things, n, grid, op, t, -1) == shown:
                    plain[t] |= 1 << k
            else:
                for p in range(n):
                    if p != t and effect(things, n, grid, op, t, p) == shown:
                        copied[t, p] |= 1 << k


def surviving(fits: Ints, rel: Ints, form: int, reading: int, mask: int, plain: Ints, copied: Ints, copies: int) -> Any:
    """Which operations of `mask` still fit the hypothesis in a world that was looked at; 0 if its referent is not unique."""
    second = form % N_STEPS
    first = form // N_STEPS % N_STEPS
    root = form // (N_STEPS * N_STEPS) % N_PHRASES
    pattern = form // (N_STEPS * N_STEPS * N_PHRASES)
    here = fits[reading & 1]
    found = meant(here, rel, pattern, root, first, second, reading >> 1)
    if found == 0 or found & (found - 1) != 0:
        return 0
    t = lowest(found)
    allowed = plain[t]
    if mask & copies:
        p = pivot_of(here, rel, pattern, first, second, reading >> 1, t)
        if p >= 0:
            allowed |= copied[t, p]
    return mask & allowed


def enumerate_space(
    fits: Ints, rel: Ints, n: int, deepest: int, roots: Ints, steps: Ints, counts: Ints, plain: Ints, copied: Ints, copies: int,
    reach: Ints, forms: Ints, reads: Ints, masks: Ints,
) -> Any:  # fmt: skip
    """List every hypothesis of the space that fits one demonstration; returns how many, or FULL.

    `reach[450]` is scratch: the objects that each step allows. A hypothesis can only fit if its referent t has plain[t] or copied[t].
    """
    changed = 0
    for t in range(n):
        some = plain[t]
        for p in range(n):
            some |= copied[t, p]
        if some:
            changed |= 1 << t
    every = -1
    m = 0
    for size_reading in range(2):
        here = fits[size_reading]
        for step in range(N_STEPS):
            found, seen = 0, here[step % N_PHRASES]
            if seen:
                for i in range(n):
                    if rel[step // N_PHRASES, i] & seen:
                        found |= 1 << i
            reach[step] = found
        for a in range(len(roots)):
            root = roots[a]
            if here[root] & changed == 0:
                continue
            base = root * N_STEPS * N_STEPS
            m = note(fits, rel, base, size_reading, every, plain, copied, copies, forms, reads, masks, m)
            for b in range(counts[root]):
                first = steps[root, b]
                if here[root] & reach[first] & changed == 0:
                    continue
                code = ((ONE * N_PHRASES + root) * N_STEPS + first) * N_STEPS
                m = note(fits, rel, code, size_reading, every, plain, copied, copies, forms, reads, masks, m)
                if deepest >= TWO:
                    for c in range(b + 1, counts[root]):
                        second = steps[root, c]
                        is_said = first // N_PHRASES < second // N_PHRASES and first % N_PHRASES != second % N_PHRASES
                        if is_said and here[root] & reach[first] & reach[second] & changed:
                            code = ((TWO * N_PHRASES + root) * N_STEPS + first) * N_STEPS + second
                            for share in range(2):
                                read = size_reading + 2 * share
                                m = note(fits, rel, code, read, every, plain, copied, copies, forms, reads, masks, m)
                if deepest >= NESTED:
                    middle = first % N_PHRASES
                    between, left = (
                        0,
                        here[root] & changed,
                    )  # what the second phrase can mean if the first means a changed object
                    while left:
                        between |= rel[first // N_PHRASES, lowest(left)]
                        left &= left - 1
                    between &= here[middle]
                    for c in range(counts[middle]):
                        second = steps[middle, c]
                        if second % N_PHRASES != root and between & reach[second]:
                            code = ((NESTED * N_PHRASES + root) * N_STEPS + first) * N_STEPS + second
                            for share in range(2):
                                read = size_reading + 2 * share
                                m = note(fits, rel, code, read, every, plain, copied, copies, forms, reads, masks, m)
                if m >= len(forms) - 2 * N_STEPS:
                    return FULL
    return m


def note(
    fits: Ints, rel: Ints, form: int, reading: int, mask: int, plain: Ints, copied: Ints, copies: int, forms: Ints, reads: Ints,
    masks: Ints, m: int,
) -> Any:  # fmt: skip
    """Append the hypothesis if some operation fits it; returns the new length."""
    left = surviving(fits, rel, form, reading, mask, plain, copied, copies)
    if left:
        forms[m], reads[m], masks[m] = form, reading, left
        m += 1
    return m


def predictions(
    fits: Ints, rel: Ints, forms: Ints, reads: Ints, masks: Ints, m: int, plain: Ints, copied: Ints, copies: int, rivals: Ints
) -> Any:
    """rivals[h]: the operations of hypothesis h that do not give the test output. Returns how many hypotheses have some."""
    count = 0
    for h in range(m):
        agreed = surviving(fits, rel, forms[h], reads[h], masks[h], plain, copied, copies)
        rivals[h] = masks[h] & ~agreed
        if rivals[h]:
            count += 1
    return count


def count_rivals(
    fits: Ints, rel: Ints, forms: Ints, reads: Ints, rivals: Ints, m: int, plain: Ints, copied: Ints, copies: int, fewest: int
) -> Any:
    """How many hypotheses keep a rival operation in a world that was looked at; counting stops at `fewest`."""
    count = 0
    for h in range(m):
        if rivals[h] and surviving(fits, rel, forms[h], reads[h], rivals[h], plain, copied, copies):
            count += 1
            if count >= fewest:
                break
    return count


def keep_fitting(
    fits: Ints, rel: Ints, forms: Ints, reads: Ints, masks: Ints, rivals: Ints, m: int, plain: Ints, copied: Ints, copies: int
) -> Any:
    """Drop the hypotheses that do not fit a world that was looked at; returns how many are left."""
    left = 0
    for h in range(m):
        mask = surviving(fits, rel, forms[h], reads[h], masks[h], plain, copied, copies)
        if mask:
            forms[left], reads[left], masks[left], rivals[left] = forms[h], reads[h], mask, rivals[h] & mask
            left += 1
    return left


def kept(masks: Ints, m: int) -> Any:
    """How many hypotheses with their operations are left."""
    total = 0
    for h in range(m):
        total += popcount(masks[h])
    return total
