"""Random but purposeful edits of SCATTER scenes, many episodes at once: the moves of the solver's search.

Plain functions in the subset that Numba compiles. A theme is what an episode is after: colour, shape and size index to add (-1
for any); a class of places; the boxes it works in, as a bit mask; and the chance in 100 to add rather than remove.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.lilgym.play.kernel import edit_scatter, find_removable

KERNEL = True

COLOR, SHAPE, SIZE, PLACES, BOXES, GROWTH = 0, 1, 2, 3, 4, 5
"""Places in a theme."""
TRIES = 12


def pick_box(mask: int, rng: Any) -> Any:
    """One of the boxes in the mask."""
    box = below(rng, 3)
    while (mask >> box) & 1 == 0:
        box = (box + 1) % 3
    return box


def pick_cell(places: int, cells: int, rng: Any) -> Any:
    """A column or row of a box of `cells` cells a side: anywhere, inside, at either end, or at the far end."""
    if places == 1 and cells > 2:
        return 1 + below(rng, cells - 2)
    if places == 2:
        return (cells - 1) * below(rng, 2)
    if places == 3:
        return cells - 1
    return below(rng, cells)


def propose_add(rule: Any, theme: Any, rng: Any) -> Any:
    """An ADD in the spirit of the theme; it need not fit. Place classes: 0 any, 1 inside, 2 wall, 3 corner, 4 far walls."""
    cell, rows = int(rule[3]), int(rule[2])
    cells, places = 100 // cell, int(theme[PLACES])
    box = pick_box(int(theme[BOXES]), rng)
    across, down = places, places
    if places == 2 or places == 4:
        free = below(rng, 2)
        across = 0 if free == 0 else (2 if places == 2 else 3)
        down = 0 if free == 1 else (2 if places == 2 else 3)
    if places == 3:
        across, down = 2, 2
    size = int(theme[SIZE]) if theme[SIZE] >= 0 else below(rng, 3)
    column = box * (140 // cell) + pick_cell(across, cells, rng)
    row = pick_cell(down, cells, rng)
    shape = int(theme[SHAPE]) if theme[SHAPE] >= 0 else below(rng, 3)
    color = int(theme[COLOR]) if theme[COLOR] >= 0 else below(rng, 3)
    return 1 + (((column * rows + row) * 3 + shape) * 3 + color) * 3 + size


def propose_remove(rule: Any, areas: Any, items: Any, count: int, theme: Any, rng: Any) -> Any:
    """A REMOVE of an item of the theme's boxes, rather one that does not suit the theme; 0 if there is none."""
    cell, columns, rows = int(rule[3]), int(rule[1]), int(rule[2])
    chosen = -1
    for _ in range(6):
        if count == 0:
            return 0
        k = below(rng, count)
        if (int(theme[BOXES]) >> int(items[k, 0])) & 1 == 1:
            chosen = k
            if (theme[COLOR] >= 0 and items[k, 4] != theme[COLOR]) or (theme[SHAPE] >= 0 and items[k, 5] != theme[SHAPE]):
                break
    if chosen < 0:
        return 0
    box, size = int(items[chosen, 0]), int(items[chosen, 3])
    middle_x, middle_y = (int(items[chosen, 1]) + size // 2) // cell, (int(items[chosen, 2]) + size // 2) // cell
    for step in range(9):
        x, y = middle_x + (0, 1, -1)[step % 3], middle_y + (0, 1, -1)[step // 3]
        if x < 0 or y < 0 or x >= 100 // cell or y >= 100 // cell:
            continue
        if find_removable(areas, items, count, box, x * cell, y * cell, cell) == chosen:
            return 1 + 27 * columns * rows + (box * (140 // cell) + x) * rows + y
    return 0


def wander(
    rule: Any,
    contacts: Any,
    areas: Any,
    directions: Any,
    items: Any,
    counts: Any,
    themes: Any,
    states: Any,
    moves: Any,
    clock: int,
) -> None:
    """One valid edit of every episode, in place; moves[i, clock] is the action, or 0 if none was found."""
    rect = np.zeros(4, np.int64)
    rng = np.zeros(1, np.uint64)
    last_add = 27 * rule[1] * rule[2]
    for i in range(len(counts)):
        rng[0] = states[i]
        for _ in range(TRIES):
            if below(rng, 100) < themes[i, GROWTH]:
                action = propose_add(rule, themes[i], rng)
            else:
                action = propose_remove(rule, areas, items[i], int(counts[i]), themes[i], rng)
            if (
                action > 0
                and edit_scatter(rule, contacts, areas, directions, items[i], int(counts[i]), action, True, rect) == 0
            ):
                counts[i] += 1 if action <= last_add else -1
                moves[i, clock] = action
                break
        states[i] = rng[0]
