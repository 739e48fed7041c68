"""The hot loops of acting: edits of scenes, their validity, rewards, and pictures kept up to date rectangle by rectangle.

Plain functions in the subset that Numba compiles. Scenes are rows of the packed form of `scene.py`; `rule` is `Setting.rule`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.families.lilgym.play.canvas import HEIGHT, STRIDE, WIDTH, paint, shrink, stamp
from recombine.families.lilgym.play.snap import shift_to
from recombine.families.lilgym.scene import (
    BOX,
    BOX_SIDE,
    COLOR,
    FIELDS,
    SHAPE,
    SIZE,
    SQUARE,
    TOWER_HEIGHT,
    TOWER_PITCH,
    TOWER_SIZE,
    TOWER_X,
    Bytes,
    Codes,
    Counts,
    Flags,
    Floats,
    ItemRow,
    Items,
    Numbers,
    X,
    Y,
)

KERNEL = True

TOWER_RULE, COLUMNS, ROWS, CELL, RELEASED, HORIZON, DRAW = 0, 1, 2, 3, 4, 5, 6
"""Places in `rule`."""
FINE, DOES_NOT_FIT, ON_SEPARATOR, NOTHING_TO_REMOVE, STOPPED_EARLY, NEVER_STOPPED = 0, 1, 2, 3, 4, 5
"""Error codes, in the order of `edits.ERRORS`."""
REACH = 34
NEAR, MEETS, MEETS_EXACTLY = 7, 8, 16
"""Parts of a contact; see `geometry.py`."""
KINDS = 9
"""Shapes × sizes."""
ITEM_CODES = 27
"""Shapes × colours × sizes: the ADD actions of one cell."""
FIRST_REMOVE = 10
"""The first of TOWER's REMOVE actions."""


class Tables(NamedTuple):
    """The arrays that all episodes share; `episodes.tables()` makes them."""

    contacts: Bytes  # (kind, kind, dy + REACH, dx + REACH): contact of two shapes
    areas: Numbers  # (kind, columns, rows): area of a shape's first columns and rows, in millionths of a pixel
    directions: Floats  # (64, 2): corners of the unit 64-gon
    blank: Bytes  # (380,): one row of the empty canvas
    spans: Numbers  # (kind, row, 2): first pixel of a shape's row and the one after the last
    blend: Bytes  # (625, 3): colour of a half-size pixel by its four canvas codes


class Board(NamedTuple):
    """The episodes' present state; kernels change it in place."""

    items: Items  # (n, width, 6)
    counts: Counts  # (n,)
    clocks: Numbers  # (n,): steps taken
    active: Flags  # (n,)
    canvases: Bytes  # (n, 100, 380), or (n, 0, 0) without pictures
    images: Bytes  # (n, height, width, 3)


class Results(NamedTuple):
    """What one step gives."""

    rewards: Floats  # (n,)
    ended: Flags  # (n, 2): terminated, truncated
    errors: Codes  # (n,): index into `edits.ERRORS`


# --- lists of items --------------------------------------------------------------------------------------------------


def box_end(items: Items, count: int, box: int) -> int:
    """The place after the last item of a box (items are grouped by box)."""
    place = 0
    while place < count and items[place, BOX] <= box:
        place += 1
    return place


def insert(items: Items, count: int, place: int, item: ItemRow) -> None:
    """Put an item at a place, moving the later ones up."""
    for k in range(count, place, -1):
        for f in range(FIELDS):
            items[k, f] = items[k - 1, f]
    for f in range(FIELDS):
        items[place, f] = item[f]


def delete(items: Items, count: int, place: int) -> None:
    """Take an item out, moving the later ones down; the freed row becomes zeros."""
    for k in range(place, count - 1):
        for f in range(FIELDS):
            items[k, f] = items[k + 1, f]
    for f in range(FIELDS):
        items[count - 1, f] = 0


# --- geometry --------------------------------------------------------------------------------------------------------


def contact(contacts: Bytes, items: Items, k: int, kind: int, x: int, y: int) -> int:
    """The contact of item k with a shape of `kind` at (x, y) in the same box."""
    dx = int(items[k, X]) - x
    dy = int(items[k, Y]) - y
    if dx < -REACH or dx > REACH or dy < -REACH or dy > REACH:
        return 0
    other = 3 * int(items[k, SHAPE]) + int(items[k, SIZE]) // 10 - 1
    return int(contacts[kind, other, dy + REACH, dx + REACH])


def covered(areas: Numbers, items: Items, k: int, x: int, y: int, cell: int) -> int:
    """How much of item k lies in the square cell at (x, y) of its box, in millionths of a pixel."""
    size = int(items[k, SIZE])
    kind = 3 * int(items[k, SHAPE]) + size // 10 - 1
    x0, x1 = max(0, x - int(items[k, X])), min(size, x + cell - int(items[k, X]))
    y0, y1 = max(0, y - int(items[k, Y])), min(size, y + cell - int(items[k, Y]))
    if x1 <= x0 or y1 <= y0:
        return 0
    return int(areas[kind, x1, y1] - areas[kind, x0, y1] - areas[kind, x1, y0] + areas[kind, x0, y0])


# --- edits -----------------------------------------------------------------------------------------------------------


def edit_tower(items: Items, count: int, action: int, apply: bool, rect: Numbers) -> int:
    """Do (or only judge) TOWER action 1 to 12; an error code. `rect` becomes the changed rectangle of the canvas."""
    box = (action - 1) // 3 if action < FIRST_REMOVE else action - FIRST_REMOVE
    end = box_end(items, count, box)
    height = 0
    while height < end and items[end - 1 - height, BOX] == box:
        height += 1
    if action >= FIRST_REMOVE:
        if height == 0:
            return NOTHING_TO_REMOVE
        if apply:
            mark(items[end - 1], rect)
            delete(items, count, end - 1)
        return FINE
    if height >= TOWER_HEIGHT:
        return DOES_NOT_FIT
    if apply:
        item = np.zeros(FIELDS, np.int16)
        item[BOX], item[X], item[Y], item[SIZE], item[COLOR], item[SHAPE] = (
            box,
            TOWER_X,
            BOX_SIDE - TOWER_SIZE - TOWER_PITCH * height,
            TOWER_SIZE,
            (action - 1) % 3,
            SQUARE,
        )
        insert(items, count, end, item)
        mark(item, rect)
    return FINE


def place_of(rule: Numbers, column: int, row: int, place: Numbers) -> bool:
    """Write box, x, y of a cell of the action grid; whether it lies in a box and not on a separator."""
    x = column * rule[CELL]
    box = x // STRIDE
    place[0], place[1], place[2] = box, x - STRIDE * box, row * rule[CELL]
    return bool(x - STRIDE * box < BOX_SIDE)


def edit_scatter(rule: Numbers, tables: Tables, items: Items, count: int, action: int, apply: bool, rect: Numbers) -> int:
    """Do (or only judge) a SCATTER action other than STOP; an error code. `rect` becomes the changed rectangle."""
    # An item must lie in one box and share area with no other item; REMOVE takes what covers most of its cell.
    cells = rule[COLUMNS] * rule[ROWS]
    place = np.zeros(3, np.int64)
    if action > ITEM_CODES * cells:
        cell = action - 1 - ITEM_CODES * cells
        if not place_of(rule, cell // rule[ROWS], cell % rule[ROWS], place):
            return ON_SEPARATOR
        k = find_removable(tables.areas, items, count, int(place[0]), int(place[1]), int(place[2]), int(rule[CELL]))
        if k < 0:
            return NOTHING_TO_REMOVE
        if apply:
            mark(items[k], rect)
            delete(items, count, k)
        return FINE
    code = action - 1
    size, code = code % 3, code // 3
    color, code = code % 3, code // 3
    shape, cell = code % 3, code // 3
    if not place_of(rule, cell // rule[ROWS], cell % rule[ROWS], place):
        return ON_SEPARATOR
    x, y, side = int(place[1]), int(place[2]), 10 * (size + 1)
    if not is_free(tables.contacts, items, count, int(place[0]), 3 * shape + size, x, y, rule[RELEASED] != 0) or count >= len(
        items
    ):
        return DOES_NOT_FIT
    if apply:
        item = np.zeros(FIELDS, np.int16)
        item[BOX], item[X], item[Y], item[SIZE], item[COLOR], item[SHAPE] = place[0], x, y, side, color, shape
        if rule[RELEASED] != 0:
            snap(tables.contacts, tables.directions, items, count, item)
        insert(items, count, box_end(items, count, int(place[0])), item)
        mark(item, rect)
    return FINE


def find_removable(areas: Numbers, items: Items, count: int, box: int, x: int, y: int, cell: int) -> int:
    """The item of a box that covers most of a cell (the first on ties), or -1."""
    best, found = 0, -1
    for k in range(count):
        if items[k, BOX] == box:
            area = covered(areas, items, k, x, y, cell)
            if area > best:
                best, found = area, k
    return found


def is_free(contacts: Bytes, items: Items, count: int, box: int, kind: int, x: int, y: int, released: bool) -> bool:
    """Whether a shape of `kind` at (x, y) lies in its box and shares area with no item there."""
    side = 10 * (kind % 3 + 1)
    if x + side > BOX_SIDE or y + side > BOX_SIDE:
        return False
    bit = MEETS if released else MEETS_EXACTLY
    meeting = 0
    for k in range(count):
        if items[k, BOX] == box:
            meeting |= contact(contacts, items, k, kind, x, y)
    return meeting & bit == 0


def snap(contacts: Bytes, directions: Floats, items: Items, count: int, item: ItemRow) -> None:
    """Move a fitting new item to its nearest neighbour within four pixels, as the released code does, unchecked."""
    kind = 3 * int(item[SHAPE]) + int(item[SIZE]) // 10 - 1
    best, found = 6, -1
    for k in range(count):
        if items[k, BOX] == item[BOX]:
            near = contact(contacts, items, k, kind, int(item[X]), int(item[Y])) & NEAR
            if 0 < near < best:
                best, found = near, k
    if found >= 0:
        shift = np.zeros(2, np.int64)
        shift_to(directions, item, items, found, float(best), shift)
        item[X] += shift[0]
        item[Y] += shift[1]


def edit_many(rule: Numbers, tables: Tables, items: Items, counts: Counts, actions: Numbers, valid: Flags) -> None:
    """One SCATTER edit per scene, in place, without episodes; valid[i] says whether it was carried out."""
    rect = np.zeros(4, np.int64)
    for i in range(len(counts)):
        action = int(actions[i])
        error = edit_scatter(rule, tables, items[i], int(counts[i]), action, True, rect)
        valid[i] = error == FINE
        if error == FINE:
            counts[i] += 1 if action <= ITEM_CODES * rule[COLUMNS] * rule[ROWS] else -1


# --- validity masks --------------------------------------------------------------------------------------------------


def mask_tower(items: Items, counts: Counts, out: Flags) -> None:
    """Which of the 13 TOWER actions are valid, for each row."""
    rect = np.zeros(4, np.int64)
    for i in range(len(counts)):
        out[i, 0] = True
        for action in range(1, 13):
            out[i, action] = edit_tower(items[i], counts[i], action, False, rect) == FINE


def mask_scatter(rule: Numbers, tables: Tables, items: Items, count: int, add: Flags, remove: Flags) -> None:
    """Which placements are valid in one scene: add[kind, column, row] and remove[column, row]; item by item."""
    place = np.zeros(3, np.int64)
    cell = int(rule[CELL])
    for column in range(rule[COLUMNS]):
        for row in range(rule[ROWS]):
            inside = place_of(rule, column, row, place)
            remove[column, row] = False
            for kind in range(KINDS):
                side = 10 * (kind % 3 + 1)
                add[kind, column, row] = inside and place[1] + side <= BOX_SIDE and place[2] + side <= BOX_SIDE
    bit = MEETS if rule[RELEASED] != 0 else MEETS_EXACTLY
    for k in range(count):
        left, other = int(items[k, BOX]) * (STRIDE // cell), 3 * int(items[k, SHAPE]) + int(items[k, SIZE]) // 10 - 1
        for column in range(BOX_SIDE // cell):
            dx = int(items[k, X]) - column * cell + REACH
            if dx < 0 or dx > 2 * REACH:
                continue
            for row in range(rule[ROWS]):
                dy = int(items[k, Y]) - row * cell + REACH
                if dy < 0 or dy > 2 * REACH:
                    continue
                if covered(tables.areas, items, k, column * cell, row * cell, cell) > 0:
                    remove[left + column, row] = True
                for kind in range(KINDS):
                    if int(tables.contacts[kind, other, dy, dx]) & bit != 0:
                        add[kind, left + column, row] = False


def mask_many(rule: Numbers, tables: Tables, items: Items, counts: Counts, add: Flags, remove: Flags) -> None:
    """`mask_scatter` for many scenes."""
    for i in range(len(counts)):
        mask_scatter(rule, tables, items[i], int(counts[i]), add[i], remove[i])


def mask_actions(rule: Numbers, tables: Tables, items: Items, counts: Counts, out: Flags) -> None:
    """Which SCATTER actions are valid, for each row: `mask_scatter` laid out by action number."""
    columns, rows = int(rule[COLUMNS]), int(rule[ROWS])
    add, remove = np.empty((KINDS, columns, rows), np.bool_), np.empty((columns, rows), np.bool_)
    for i in range(len(counts)):
        mask_scatter(rule, tables, items[i], int(counts[i]), add, remove)
        out[i, 0] = True
        place = 1
        for column in range(columns):
            for row in range(rows):
                out[i, 1 + ITEM_CODES * columns * rows + column * rows + row] = remove[column, row]
                for shape in range(3):
                    for _color in range(3):
                        for size in range(3):
                            out[i, place] = add[3 * shape + size, column, row]
                            place += 1


# --- one step of many episodes ---------------------------------------------------------------------------------------


def advance(
    rule: Numbers, step_cost: float, tables: Tables, board: Board, actions: Numbers, met: Flags, results: Results
) -> None:
    """One step of every active row, in place. `met`: whether the target holds now (read for STOP only).

    Inactive rows are left alone, with zeros in the results.
    """
    rect = np.zeros(4, np.int64)
    released = rule[RELEASED] != 0
    rewards, ended, errors = results.rewards, results.ended, results.errors
    items, counts, clocks = board.items, board.counts, board.clocks
    for i in range(len(counts)):
        rewards[i], errors[i] = 0.0, FINE
        ended[i, 0], ended[i, 1] = False, False
        if not board.active[i]:
            continue
        clocks[i] += 1
        last = clocks[i] >= rule[HORIZON]
        action = int(actions[i])
        # STOP ends the episode: +1 where the target holds, else -1.
        if action == 0:
            rewards[i] = 1.0 if met[i] else -1.0
            errors[i] = FINE if met[i] else STOPPED_EARLY
            ended[i, 0], ended[i, 1] = True, released and last
            continue
        # The last action before the horizon is judged but not carried out.
        if rule[TOWER_RULE] != 0:
            error = edit_tower(items[i], counts[i], action, not last, rect)
        else:
            error = edit_scatter(rule, tables, items[i], counts[i], action, not last, rect)
        if error != FINE:
            rewards[i], errors[i] = -1.0, error
            ended[i, 0], ended[i, 1] = not released, released
        elif last:
            rewards[i], errors[i] = -step_cost if released else -1.0, NEVER_STOPPED
            ended[i, 1] = True
        else:
            rewards[i] = -step_cost
            removes = action >= FIRST_REMOVE if rule[TOWER_RULE] != 0 else action > ITEM_CODES * rule[COLUMNS] * rule[ROWS]
            counts[i] += -1 if removes else 1
            if rule[DRAW] != 0:
                paint(board.canvases[i], tables.blank, tables.spans, items[i], counts[i], rect)
                shrink(board.canvases[i], tables.blend, board.images[i], rect)


def draw(canvases: Bytes, images: Bytes, spans: Numbers, blend: Bytes, items: Items, counts: Counts, rows: Numbers) -> None:
    """Draw the scenes of the given rows onto empty canvases and their half-size images."""
    rect = np.zeros(4, np.int64)
    for i in rows:
        for k in range(counts[i]):
            stamp(canvases[i], spans, items[i, k], 0, 0, WIDTH, HEIGHT)
        for k in range(counts[i]):
            mark(items[i, k], rect)
            shrink(canvases[i], blend, images[i], rect)


def mark(item: ItemRow, rect: Numbers) -> None:
    """Write the canvas rectangle of an item: x0, y0, x1, y1, the ends excluded."""
    rect[0] = STRIDE * int(item[BOX]) + int(item[X])
    rect[1] = int(item[Y])
    rect[2] = rect[0] + int(item[SIZE])
    rect[3] = rect[1] + int(item[SIZE])
