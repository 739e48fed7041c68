"""Random but purposeful edits of SCATTER scenes, many episodes at once: the moves of the solver's search.

Plain functions in the subset that Numba compiles. A theme is what an episode is after: colour, shape and size index to add (-1
for any); a class of places; the boxes it works in, as a bit mask; and the chance in 100 to add rather than remove.
"""

from __future__ import annotations

import numpy as np

from recombine.draws import below
from recombine.families.lilgym.play.canvas import STRIDE
from recombine.families.lilgym.play.kernel import (
    CELL,
    COLUMNS,
    FINE,
    ITEM_CODES,
    ROWS,
    Tables,
    edit_scatter,
    find_removable,
)
from recombine.families.lilgym.scene import BOX, BOX_SIDE, COLOR, SHAPE, SIZE, Counts, Items, Numbers, Words, X, Y

KERNEL = True

THEME_COLOR, THEME_SHAPE, THEME_SIZE, THEME_PLACES, THEME_BOXES, THEME_GROWTH = 0, 1, 2, 3, 4, 5
"""Places in a theme."""
ANYWHERE, INSIDE, AT_A_WALL, IN_A_CORNER, AT_FAR_WALLS = 0, 1, 2, 3, 4
"""Classes of places in a theme."""
TRIES = 12
"""Proposals per step before an episode stays as it is."""


def pick_box(mask: int, rng: Words) -> int:
    """One of the boxes in the mask."""
    box: int = below(rng, 3)
    while (mask >> box) & 1 == 0:
        box = (box + 1) % 3
    return box


def pick_cell(places: int, cells: int, rng: Words) -> int:
    """A column or row of a box of `cells` cells a side: anywhere, inside, at either end, or at the far end."""
    if places == INSIDE and cells > 2:
        inner: int = 1 + below(rng, cells - 2)
        return inner
    if places == AT_A_WALL:
        end: int = (cells - 1) * below(rng, 2)
        return end
    if places == IN_A_CORNER:
        return cells - 1
    cell: int = below(rng, cells)
    return cell


def propose_add(rule: Numbers, theme: Numbers, rng: Words) -> int:
    """An ADD in the spirit of the theme; it need not fit."""
    cell, rows = int(rule[CELL]), int(rule[ROWS])
    cells, places = BOX_SIDE // cell, int(theme[THEME_PLACES])
    box = pick_box(int(theme[THEME_BOXES]), rng)
    across, down = places, places
    if places in (AT_A_WALL, AT_FAR_WALLS):
        free = below(rng, 2)
        across = 0 if free == 0 else (AT_A_WALL if places == AT_A_WALL else IN_A_CORNER)
        down = 0 if free == 1 else (AT_A_WALL if places == AT_A_WALL else IN_A_CORNER)
    if places == IN_A_CORNER:
        across, down = AT_A_WALL, AT_A_WALL
    size = int(theme[THEME_SIZE]) if theme[THEME_SIZE] >= 0 else below(rng, 3)
    column = box * (STRIDE // cell) + pick_cell(across, cells, rng)
    row = pick_cell(down, cells, rng)
    shape = int(theme[THEME_SHAPE]) if theme[THEME_SHAPE] >= 0 else below(rng, 3)
    color = int(theme[THEME_COLOR]) if theme[THEME_COLOR] >= 0 else below(rng, 3)
    return 1 + (((column * rows + row) * 3 + shape) * 3 + color) * 3 + size


def propose_remove(rule: Numbers, areas: Numbers, items: Items, count: int, theme: Numbers, rng: Words) -> int:
    """A REMOVE of an item of the theme's boxes, rather one that does not suit the theme; 0 if there is none."""
    cell, columns, rows = int(rule[CELL]), int(rule[COLUMNS]), int(rule[ROWS])
    chosen = -1
    for _ in range(6):
        if count == 0:
            return 0
        k = below(rng, count)
        if (int(theme[THEME_BOXES]) >> int(items[k, BOX])) & 1 == 1:
            chosen = k
            if (theme[THEME_COLOR] >= 0 and items[k, COLOR] != theme[THEME_COLOR]) or (
                theme[THEME_SHAPE] >= 0 and items[k, SHAPE] != theme[THEME_SHAPE]
            ):
                break
    if chosen < 0:
        return 0
    box, size = int(items[chosen, BOX]), int(items[chosen, SIZE])
    middle_x, middle_y = (int(items[chosen, X]) + size // 2) // cell, (int(items[chosen, Y]) + size // 2) // cell
    for step in range(9):
        x, y = middle_x + (0, 1, -1)[step % 3], middle_y + (0, 1, -1)[step // 3]
        if x < 0 or y < 0 or x >= BOX_SIDE // cell or y >= BOX_SIDE // cell:
            continue
        if find_removable(areas, items, count, box, x * cell, y * cell, cell) == chosen:
            return 1 + ITEM_CODES * columns * rows + (box * (STRIDE // cell) + x) * rows + y
    return 0


def wander(
    rule: Numbers, tables: Tables, items: Items, counts: Counts, themes: Numbers, states: Words, moves: Numbers, clock: int
) -> None:
    """One valid edit of every episode, in place; moves[i, clock] is the action, or 0 if none was found."""
    rect = np.zeros(4, np.int64)
    rng = np.zeros(1, np.uint64)
    last_add = ITEM_CODES * rule[COLUMNS] * rule[ROWS]
    for i in range(len(counts)):
        rng[0] = states[i]
        for _ in range(TRIES):
            if below(rng, 100) < themes[i, THEME_GROWTH]:
                action = propose_add(rule, themes[i], rng)
            else:
                action = propose_remove(rule, tables.areas, items[i], int(counts[i]), themes[i], rng)
            if action > 0 and edit_scatter(rule, tables, items[i], int(counts[i]), action, True, rect) == FINE:
                counts[i] += 1 if action <= last_add else -1
                moves[i, clock] = action
                break
        states[i] = rng[0]
