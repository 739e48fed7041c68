"""Drawing scenes: towers and scattered items, with a theme each, so that rare statements have scenes in which they hold.

A theme is a palette (all colours, two, mostly one), a taste in shapes, a taste in places, and whether boxes repeat one another.
`scratch` scenes are those that ten ADDs can build (empty boxes, positions on the 20-pixel grid); others look like the corpus (no
empty box, any position, items hugging walls now and then). Bounding squares never overlap. In `tidy` scenes of scattered items every
two of a box clearly touch or clearly do not: statements about contact are asked of those only.
"""

from __future__ import annotations

import numpy as np

from recombine.draws import below
from recombine.families.lilgym.scene import (
    BOX,
    BOX_SIDE,
    CIRCLE,
    COLOR,
    SHAPE,
    SIZE,
    SQUARE,
    TOWER_PITCH,
    TOWER_SIZE,
    TOWER_X,
    TRIANGLE,
    Counts,
    Flags,
    Items,
    Numbers,
    Words,
    X,
    Y,
)

KERNEL = True

ALL_BUT_ONE, MOSTLY_ONE = 2, 3
"""Palettes; the others (0 and 1) take every colour alike."""
AT_WALLS, IN_CORNERS, AWAY_FROM_WALLS = 2, 3, 4
"""Tastes in places; the others (0 and 1) take every place alike."""
MOST_BUILT = 10
"""Items that a scene from scratch may have: one ADD each."""


def colored(rng: Words, palette: int, hue: int) -> int:
    """A colour (or shape) under a palette; `hue` is the one that the palette avoids or prefers."""
    color: int = hue
    if palette == ALL_BUT_ONE:
        color = (hue + 1 + below(rng, 2)) % 3
    elif palette != MOSTLY_ONE or below(rng, 5) == 0:
        color = below(rng, 3)
    return color


def draw_tower(rng: Words, scratch: bool, items: Items) -> int:
    """Write a TOWER scene into items (12, 6); the number of its blocks."""
    palette, hue, repeat = below(rng, 4), below(rng, 3), below(rng, 4)
    count, first = 0, 0
    for box in range(3):
        height = below(rng, 5) if scratch else 1 + below(rng, 4)
        if scratch and below(rng, 3) == 0:
            height = 0
        if repeat == 0 and box > 0:
            height = first
        if scratch:
            height = min(height, MOST_BUILT - count)
        if box == 0:
            first = height
        for level in range(height):
            color = colored(rng, palette, hue)
            if repeat == 0 and box > 0 and level < first and below(rng, 6) > 0:
                color = items[level, COLOR]
            items[count, BOX] = box
            items[count, X] = TOWER_X
            items[count, Y] = BOX_SIDE - TOWER_SIZE - TOWER_PITCH * level
            items[count, SIZE] = TOWER_SIZE
            items[count, COLOR] = color
            items[count, SHAPE] = SQUARE
            count += 1
    return count


def place(rng: Words, scratch: bool, taste: int, size: int, spot: Numbers) -> None:
    """A place for an item: spot[0], spot[1]. The taste is one of the constants above."""
    room = BOX_SIDE - size
    if scratch:
        cells = room // 20 + 1
        for axis in range(2):
            spot[axis] = 20 * below(rng, cells)
        if taste in (AT_WALLS, IN_CORNERS):
            spot[below(rng, 2)] = 0 if below(rng, 2) == 0 else (20 * (cells - 1))
        if taste == IN_CORNERS:
            for axis in range(2):
                spot[axis] = 0 if below(rng, 2) == 0 else (20 * (cells - 1))
        if taste == AWAY_FROM_WALLS:
            for axis in range(2):
                spot[axis] = 20 * (1 + below(rng, 3))
        return
    for axis in range(2):
        spot[axis] = below(rng, room + 1)
        if taste == AWAY_FROM_WALLS:
            spot[axis] = 5 + below(rng, room - 9)
    hugging = below(rng, 10)
    if taste == AWAY_FROM_WALLS or (taste < 2 and hugging > 3):
        return
    slack = 1 + below(rng, 4) if below(rng, 4) == 0 else 0
    for axis in range(2):
        if taste == IN_CORNERS or axis == hugging % 2:
            spot[axis] = slack if below(rng, 2) == 0 else room - slack


APART = 5
"""From this many pixels between their bounding squares on, two items clearly do not touch (one more than "almost touching")."""


def reach(shape: int, size: int, side: int) -> tuple[int, int, int]:
    """Where a shape comes up to a side of its bounding square (0 left, 1 right, 2 top, 3 bottom): first and last pixel, and point.

    A square all along, a triangle along its base: the point is -1. A circle in the middle, a triangle at its tip or a foot.
    """
    if shape == CIRCLE:
        return size // 2 - 1, size // 2, size // 2
    if shape == TRIANGLE and side == 2:
        return size // 2, size // 2, size // 2
    if shape == TRIANGLE and side < 2:
        return size - 1, size - 1, size
    return 0, size - 1, -1


def adjoin(shape: int, size: int, at: int, other_shape: int, other_size: int, other_at: int, upright: bool) -> bool:
    """Whether two shapes with flush squares meet at the common line: the first left of the other, or above it (`upright`)."""
    low, high, point = reach(shape, size, 3 if upright else 1)
    other_low, other_high, other_point = reach(other_shape, other_size, 2 if upright else 0)
    if point >= 0 and other_point >= 0 and at + point != other_at + other_point:
        return False
    return max(at + low, other_at + other_low) <= min(at + high, other_at + other_high)


def contact(ax: int, ay: int, a_size: int, a_shape: int, bx: int, by: int, b_size: int, b_shape: int) -> int:
    """Whether two items of one box touch: 0 clearly not, 1 clearly, 2 a matter of how one looks.

    Clearly: their bounding squares are flush along a line, the exact shapes meet there, and pixels of theirs lie side by side.
    Clearly not: at least five pixels lie between their bounding squares on some axis.
    """
    across = max(bx - ax - a_size, ax - bx - b_size)
    down = max(by - ay - a_size, ay - by - b_size)
    if max(across, down) >= APART:
        return 0
    if max(across, down) != 0 or min(across, down) >= 0:
        return 2
    upright = down == 0
    is_first = ay < by if upright else ax < bx
    a_at, b_at = (ax, bx) if upright else (ay, by)
    if is_first:
        meets = adjoin(a_shape, a_size, a_at, b_shape, b_size, b_at, upright)
    else:
        meets = adjoin(b_shape, b_size, b_at, a_shape, a_size, a_at, upright)
    return 1 if meets else 2


def blurs(items: Items, start: int, count: int, x: int, y: int, size: int, shape: int) -> bool:
    """Whether it is unclear of a new item and one of those from `start` on if they touch."""
    k = start
    while k < count and contact(items[k, X], items[k, Y], items[k, SIZE], items[k, SHAPE], x, y, size, shape) != 2:
        k += 1
    return k < count


def place_tidily(
    rng: Words, scratch: bool, shift: Numbers, items: Items, start: int, count: int, size: int, spot: Numbers
) -> None:
    """A place on the grid that plans build on (20 pixels; 10 where the scene is given), or flush with an item that is there."""
    step, room = 20 if scratch else 10, 100 - size
    for axis in range(2):
        spot[axis] = shift[axis] + step * below(rng, (room - shift[axis]) // step + 1)
    if count == start or below(rng, 3) == 0:
        return
    other = start + below(rng, count - start)
    axis = below(rng, 2)
    before, after = items[other, 1 + axis] - size, items[other, 1 + axis] + items[other, SIZE]
    flush = before if below(rng, 2) == 0 else after
    if 0 <= flush <= room and (not scratch or flush % step == 0):
        spot[axis] = flush
        aside = items[other, 2 - axis] + step * (below(rng, 3) - 1)
        spot[1 - axis] = aside if 0 <= aside <= room else min(items[other, 2 - axis], room // step * step)


def clashes(items: Items, start: int, count: int, x: int, y: int, size: int) -> bool:
    """Whether a bounding square meets one of the items from `start` on."""
    for k in range(start, count):
        if (
            x < items[k, X] + items[k, SIZE]
            and items[k, X] < x + size
            and y < items[k, Y] + items[k, SIZE]
            and items[k, Y] < y + size
        ):
            return True
    return False


def draw_scatter(rng: Words, scratch: bool, tidy: bool, items: Items) -> int:
    """Write a SCATTER scene into items (21, 6); the number of its items."""
    palette, hue, repeat, taste = below(rng, 4), below(rng, 3), below(rng, 5), below(rng, 6)
    shapes, shape_hue, likes = below(rng, 4), below(rng, 3), below(rng, 3)
    spot, shift = np.zeros(2, np.int64), np.zeros(2, np.int64)
    count, first = 0, 0
    for box in range(3):
        wanted = below(rng, 5) if scratch else 1 + below(rng, 7)
        if scratch and below(rng, 3) == 0:
            wanted = 0
        if likes == 0:
            wanted = min(wanted, 2)
        if scratch:
            wanted = min(wanted, MOST_BUILT - count)
        shift[0] = shift[1] = 0
        if tidy and not scratch and below(rng, 3) == 0:
            shift[0], shift[1] = below(rng, 10), below(rng, 10)
        start = count
        if repeat == 0 and box > 0:
            for k in range(first):
                if not scratch or count < MOST_BUILT:
                    for field in range(6):
                        items[count, field] = items[k, field]
                    items[count, BOX] = box
                    if below(rng, 6) == 0:
                        items[count, COLOR] = below(rng, 3)
                    count += 1
            continue
        for _ in range(wanted):
            pick = below(rng, 20)
            size = 10 if pick < 7 else (20 if pick < 15 else 30)
            if tidy and scratch and below(rng, 2) == 0:
                size = 20  # on the grid of plans, only items of its own size have neighbours that touch
            color, shape = colored(rng, palette, hue), colored(rng, shapes, shape_hue)
            for _ in range(12):
                if tidy:
                    place_tidily(rng, scratch, shift, items, start, count, size, spot)
                else:
                    place(rng, scratch, taste, size, spot)
                if tidy:
                    unfit = blurs(items, start, count, spot[0], spot[1], size, shape)
                else:
                    unfit = clashes(items, start, count, spot[0], spot[1], size)
                if not unfit:
                    items[count, BOX] = box
                    items[count, X] = spot[0]
                    items[count, Y] = spot[1]
                    items[count, SIZE] = size
                    items[count, COLOR] = color
                    items[count, SHAPE] = shape
                    count += 1
                    break
        if box == 0:
            first = count
    return count


def draw_scenes(states: Words, tidy: Flags, tower: bool, scratch: bool, items: Items, counts: Counts) -> None:
    """Scene i from the word states[i] (uint64) and tidy[i] (bool): items (n, width, 6) int16, zeroed, width 12 or 21; counts (n)
    int64."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(states)):
        rng[0] = states[i]
        if tower:
            counts[i] = draw_tower(rng, scratch, items[i])
        else:
            counts[i] = draw_scatter(rng, scratch, tidy[i], items[i])


# --- scenes by class -------------------------------------------------------------------------------------------------

PRIME = 2147483647
CLASSES = 250
"""The most visits of a statement. Visit v of a statement with n visits takes its scene from class v of n, so no two share a scene."""


def item_class(items: Items, k: int, color: int) -> int:
    """What item k, in this colour, adds to the class of its scene; its box does not matter."""
    value = np.int64(items[k, X]) * 101 + np.int64(items[k, Y])
    value = ((value * 31 + np.int64(items[k, SIZE])) * 7 + color) * 5 + np.int64(items[k, SHAPE])
    spread = (value * 48271 + 11) % PRIME
    return int((spread * spread + value) % PRIME)


def scene_class(items: Items, count: int, classes: int) -> int:
    """A number in [0, classes) that depends neither on the order of boxes nor on the order of items in a box."""
    total = np.int64(0)
    for k in range(count):
        total += item_class(items, k, items[k, COLOR])
    return int(total % classes)


def recolored(rng: Words, items: Items, count: int, classes: int, wanted: int) -> bool:
    """Give one item another colour so that the scene comes into a class; whether that is possible."""
    total = np.int64(0)
    for k in range(count):
        total += item_class(items, k, items[k, COLOR])
    if total % classes == wanted:
        return True
    start = below(rng, 2 * count) if count > 0 else 0
    for variant in range(2 * count):
        k = (start + variant) // 2 % count
        old = int(items[k, COLOR])
        new = int((old + 1 + (start + variant) % 2) % 3)
        if (total - item_class(items, k, old) + item_class(items, k, new)) % classes == wanted:
            items[k, COLOR] = new
            return True
    return False
