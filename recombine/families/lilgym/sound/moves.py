"""Edits that a plan may use, in bulk: single edits, steps of random walks, and plans carried out again.

Edits are carried out by `play.kernel`. Plans use only safe ones, on which every rule book and every geometry agrees: an added item's
bounding square meets no other; it is not so near to another that the released code would pull it there; a removing cell is covered
by its item by a clear margin. Where a statement speaks of contact (`tidy`), an added item clearly touches or clearly does not touch
each other item of its box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.draws import below
from recombine.families.lilgym.play.kernel import (
    FINE,
    FIRST_REMOVE,
    ITEM_CODES,
    NEAR,
    Tables,
    covered,
    edit_scatter,
    edit_tower,
)
from recombine.families.lilgym.play.kernel import contact as nearness
from recombine.families.lilgym.scene import BOX, BOX_SIDE, FIELDS, SHAPE, SIZE, Counts, Flags, Items, Numbers, Words, X, Y
from recombine.families.lilgym.sound.kernel import APART, contact

KERNEL = True

COLORS, SHAPES, SIZES, TIDY = 0, 1, 2, 3
"""Places in a taste: which colours, shapes and sizes the statement speaks of (as sets), and whether it speaks of contact."""
CELL, CELLS = 20, 5
"""Pixels of a cell, and cells of a box on each axis."""
STRIDE_CELLS = 7
"""Columns of the action grid from one box to the next."""
ADD_CELLS = 19 * CELLS
MARGIN = 2_000_000
"""By how many millionths of a pixel a removing cell must be covered more by its item than by any other."""
DRAWN_ADDS = 14
"""ADDs that are tried in each box of scattered items."""
TRIES = 6
"""Edits proposed for one step of a walk before the step is skipped."""


class Ground(NamedTuple):
    """How edits are carried out; `rule` and `tables` are those of `play.kernel`."""

    rule: Numbers
    tables: Tables
    is_tower: bool


class Scenes(NamedTuple):
    """Scenes that kernels change in place."""

    items: Items  # (n, width, 6)
    counts: Counts  # (n,)


def is_safe_add(ground: Ground, items: Items, count: int, box: int, x: int, y: int, size: int, shape: int, tidy: bool) -> bool:
    """Whether an item can be added at (x, y) of a box safely."""
    if x + size > BOX_SIDE or y + size > BOX_SIDE:
        return False
    for k in range(count):
        if items[k, BOX] != box:
            continue
        ox, oy, other = int(items[k, X]), int(items[k, Y]), int(items[k, SIZE])
        gap = max(max(x - ox - other, ox - x - size), max(y - oy - other, oy - y - size))
        if gap >= APART:
            continue
        if gap < 0:
            return False
        is_unclear = contact(ox, oy, other, int(items[k, SHAPE]), x, y, size, shape) == 2
        kind = 3 * shape + size // 10 - 1
        if is_unclear and (tidy or nearness(ground.tables.contacts, items, k, kind, x, y) & NEAR != 0):
            return False
    return True


def clearly_removed(ground: Ground, items: Items, count: int, box: int, x: int, y: int) -> int:
    """The item that the cell at (x, y) removes, if it is covered by a clear margin; else -1."""
    best, second, found = 0, 0, -1
    for k in range(count):
        if items[k, BOX] == box:
            area = covered(ground.tables.areas, items, k, x, y, CELL)
            if area > best:
                best, second, found = area, best, k
            else:
                second = max(second, area)
    return found if best - second >= MARGIN else -1


def edited(ground: Ground, items: Items, count: int, action: int, tidy: bool, rect: Numbers) -> int:
    """Carry out a safe edit in place; the new number of items, or -1 if it is invalid or not safe."""
    if ground.is_tower:
        if edit_tower(items, count, action, True, rect) != FINE:
            return -1
        return count - 1 if action >= FIRST_REMOVE else count + 1
    removes = action > ITEM_CODES * ADD_CELLS
    code = action - 1 - ITEM_CODES * ADD_CELLS if removes else (action - 1) // ITEM_CODES
    box, column = code // CELLS // STRIDE_CELLS, code // CELLS % STRIDE_CELLS
    x, y = CELL * column, CELL * (code % CELLS)
    if column >= CELLS:
        return -1
    if removes:
        if clearly_removed(ground, items, count, box, x, y) < 0:
            return -1
    else:
        item = (action - 1) % ITEM_CODES
        if not is_safe_add(ground, items, count, box, x, y, 10 * (item % 3 + 1), item // 9, tidy):
            return -1
    if edit_scatter(ground.rule, ground.tables, items, count, action, True, rect) != FINE:
        return -1
    return count - 1 if removes else count + 1


# --- proposals -------------------------------------------------------------------------------------------------------


def removal(ground: Ground, items: Items, count: int, index: int) -> int:
    """A SCATTER action that removes this item safely, or -1."""
    box, x, y, size = int(items[index, BOX]), int(items[index, X]), int(items[index, Y]), int(items[index, SIZE])
    for column in range(x // CELL, min(CELLS - 1, (x + size - 1) // CELL) + 1):
        for row in range(y // CELL, min(CELLS - 1, (y + size - 1) // CELL) + 1):
            if clearly_removed(ground, items, count, box, CELL * column, CELL * row) == index:
                return 1 + ITEM_CODES * ADD_CELLS + CELLS * (column + STRIDE_CELLS * box) + row
    return -1


def member(rng: Words, wanted: int) -> int:
    """A random element of a set of 0, 1 and 2."""
    size = (wanted & 1) + (wanted >> 1 & 1) + (wanted >> 2 & 1)
    skip = below(rng, size)
    for value in range(3):
        if wanted >> value & 1:
            if skip == 0:
                return value
            skip -= 1
    return 0


def meeting_cell(rng: Words, items: Items, count: int, box: int, cells: int, size: int, shape: int) -> int:
    """A random cell of a box (CELLS * column + row) where a new item would clearly touch another one; -1 if there is none."""
    found, seen = -1, 0
    for column in range(cells):
        for row in range(cells):
            meets = False
            for k in range(count):
                if items[k, BOX] == box and not meets:
                    other = int(items[k, SIZE])
                    touch = contact(
                        int(items[k, X]), int(items[k, Y]), other, int(items[k, SHAPE]), CELL * column, CELL * row, size, shape
                    )
                    meets = touch == 1
            if meets:
                seen += 1
                if below(rng, seen) == 0:
                    found = CELLS * column + row
    return found


def addition(rng: Words, items: Items, count: int, box: int, taste: Numbers) -> int:
    """An ADD of something that the statement speaks of; one in four has another colour; where contact counts, most touch."""
    size, shape = member(rng, int(taste[SIZES])), member(rng, int(taste[SHAPES]))
    color = below(rng, 3) if below(rng, 4) == 0 else member(rng, int(taste[COLORS]))
    cells = CELLS - 1 if size == 2 else CELLS
    cell = -1
    if taste[TIDY] != 0 and below(rng, 3) > 0:
        cell = meeting_cell(rng, items, count, box, cells, 10 * (size + 1), shape)
    if cell < 0:
        column, row = below(rng, cells), below(rng, cells)
        if below(rng, 3) == 0:  # at a wall
            edge = below(rng, 2) * (cells - 1)
            if below(rng, 2) == 0:
                column = edge
            else:
                row = edge
        cell = CELLS * column + row
    return 1 + (((CELLS * STRIDE_CELLS * box + cell) * 3 + shape) * 3 + color) * 3 + size


def propose(ground: Ground, rng: Words, items: Items, count: int, taste: Numbers) -> int:
    """One edit of a walk, or -1: two in five remove something."""
    removes = count > 0 and below(rng, 5) < 2
    box = below(rng, 3)
    if ground.is_tower:
        return FIRST_REMOVE + box if removes else 1 + 3 * box + member(rng, int(taste[COLORS]))
    return removal(ground, items, count, below(rng, count)) if removes else addition(rng, items, count, box, taste)


# --- in bulk ---------------------------------------------------------------------------------------------------------


def copy(source: Items, count: int, target: Items) -> None:
    """The first items of a scene, in another array; the rest becomes zeros."""
    for k in range(len(target)):
        for f in range(FIELDS):
            target[k, f] = source[k, f] if k < count else 0


def singles(
    ground: Ground,
    states: Words,
    tastes: Numbers,
    given: Scenes,
    actions: Numbers,
    found: Numbers,
    after: Items,
    counts: Numbers,
) -> None:
    """Single edits worth trying, in a random order: actions (n, most), found (n), and the scenes after them (n, most, width, 6)."""
    rng, rect = np.zeros(1, np.uint64), np.zeros(4, np.int64)
    order = np.zeros(actions.shape[1], np.int64)
    for i in range(len(states)):
        rng[0] = states[i]
        items, count, proposed = given.items[i], int(given.counts[i]), 0
        if ground.is_tower:
            for action in range(1, 13):
                order[proposed] = action
                proposed += 1
        else:
            for k in range(count):
                order[proposed] = removal(ground, items, count, k)
                proposed += 1
            for box in range(3):
                for _ in range(DRAWN_ADDS):
                    order[proposed] = addition(rng, items, count, box, tastes[i])
                    proposed += 1
        for k in range(proposed - 1, 0, -1):
            other = below(rng, k + 1)
            order[k], order[other] = order[other], order[k]
        kept = 0
        for k in range(proposed):
            if order[k] > 0:
                copy(items, count, after[i, kept])
                new = edited(ground, after[i, kept], count, int(order[k]), tastes[i, TIDY] != 0, rect)
                if new >= 0:
                    actions[i, kept], counts[i, kept] = order[k], new
                    kept += 1
        found[i] = kept


def walk(
    ground: Ground, states: Words, tastes: Numbers, items: Items, counts: Numbers, moves: Numbers, lengths: Numbers
) -> None:
    """One step of every walk, in place: items (n, walks, width, 6), counts (n, walks), moves (n, walks, most), lengths (n, walks)."""
    rng, rect = np.zeros(1, np.uint64), np.zeros(4, np.int64)
    for i in range(len(states)):
        rng[0] = states[i]
        for w in range(items.shape[1]):
            for _ in range(TRIES):
                count = int(counts[i, w])
                action = propose(ground, rng, items[i, w], count, tastes[i])
                if action <= 0:
                    continue
                new = edited(ground, items[i, w], count, action, tastes[i, TIDY] != 0, rect)
                if new >= 0:
                    moves[i, w, lengths[i, w]] = action
                    lengths[i, w] += 1
                    counts[i, w] = new
                    break
        states[i] = rng[0]


def replay(ground: Ground, tastes: Numbers, plans: Numbers, lengths: Numbers, given: Scenes, valid: Flags) -> None:
    """Carry out plan i (n, most) on scene i, in place; valid[i] says whether every edit is safe."""
    rect = np.zeros(4, np.int64)
    for i in range(len(lengths)):
        count = int(given.counts[i])
        for k in range(lengths[i]):
            if count >= 0:
                count = edited(ground, given.items[i], count, int(plans[i, k]), tastes[i, TIDY] != 0, rect)
        valid[i] = count >= 0
        given.counts[i] = max(count, 0)
