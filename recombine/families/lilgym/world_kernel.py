"""Drawing scenes: towers and scattered items, with a theme each, so that rare statements have scenes in which they hold.

A theme is a palette (all colours, two, mostly one), a taste in shapes, a taste in places, and whether boxes repeat one another.
`scratch` scenes are those that ten ADDs can build (empty boxes, positions on the 20-pixel grid); others look like the corpus (no
empty box, any position, items hugging walls now and then). Bounding squares never overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below

KERNEL = True


def colored(rng: Any, palette: Any, hue: Any) -> Any:
    """A colour under a palette: 0, 1 any; 2 not `hue`; 3 mostly `hue`."""
    if palette == 2:
        return (hue + 1 + below(rng, 2)) % 3
    if palette == 3 and below(rng, 5) > 0:
        return hue
    return below(rng, 3)


def draw_tower(rng: Any, scratch: Any, items: Any) -> Any:
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
            height = min(height, 10 - count)
        if box == 0:
            first = height
        for level in range(height):
            color = colored(rng, palette, hue)
            if repeat == 0 and box > 0 and level < first and below(rng, 6) > 0:
                color = items[level, 4]
            items[count, 0] = box
            items[count, 1] = 40
            items[count, 2] = 80 - 21 * level
            items[count, 3] = 20
            items[count, 4] = color
            items[count, 5] = 1
            count += 1
    return count


def place(rng: Any, scratch: Any, taste: Any, size: Any, spot: Any) -> None:
    """A place for an item: spot[0], spot[1]. Tastes: 0, 1 anywhere; 2 at walls; 3 in corners; 4 away from walls."""
    room = 100 - size
    if scratch:
        cells = room // 20 + 1
        for axis in range(2):
            spot[axis] = 20 * below(rng, cells)
        if taste in (2, 3):
            spot[below(rng, 2)] = 0 if below(rng, 2) == 0 else (20 * (cells - 1))
        if taste == 3:
            for axis in range(2):
                spot[axis] = 0 if below(rng, 2) == 0 else (20 * (cells - 1))
        if taste == 4:
            for axis in range(2):
                spot[axis] = 20 * (1 + below(rng, 3))
        return
    for axis in range(2):
        spot[axis] = below(rng, room + 1)
        if taste == 4:
            spot[axis] = 5 + below(rng, room - 9)
    hugging = below(rng, 10)
    if taste == 4 or (taste < 2 and hugging > 3):
        return
    slack = 1 + below(rng, 4) if below(rng, 4) == 0 else 0
    for axis in range(2):
        if taste == 3 or axis == hugging % 2:
            spot[axis] = slack if below(rng, 2) == 0 else room - slack


def clashes(items: Any, start: Any, count: Any, x: Any, y: Any, size: Any) -> Any:
    """Whether a bounding square meets one of the items from `start` on."""
    for k in range(start, count):
        if (
            x < items[k, 1] + items[k, 3]
            and items[k, 1] < x + size
            and y < items[k, 2] + items[k, 3]
            and items[k, 2] < y + size
        ):
            return True
    return False


def draw_scatter(rng: Any, scratch: Any, items: Any) -> Any:
    """Write a SCATTER scene into items (21, 6); the number of its items."""
    palette, hue, repeat, taste = below(rng, 4), below(rng, 3), below(rng, 5), below(rng, 6)
    shapes, shape_hue, likes = below(rng, 4), below(rng, 3), below(rng, 3)
    spot = np.zeros(2, np.int64)
    count, first = 0, 0
    for box in range(3):
        wanted = below(rng, 5) if scratch else 1 + below(rng, 7)
        if scratch and below(rng, 3) == 0:
            wanted = 0
        if likes == 0:
            wanted = min(wanted, 2)
        if scratch:
            wanted = min(wanted, 10 - count)
        start = count
        if repeat == 0 and box > 0:
            for k in range(first):
                if not scratch or count < 10:
                    for field in range(6):
                        items[count, field] = items[k, field]
                    items[count, 0] = box
                    if below(rng, 6) == 0:
                        items[count, 4] = below(rng, 3)
                    count += 1
            continue
        for _ in range(wanted):
            pick = below(rng, 20)
            size = 10 if pick < 7 else (20 if pick < 15 else 30)
            color, shape = colored(rng, palette, hue), colored(rng, shapes, shape_hue)
            for _ in range(12):
                place(rng, scratch, taste, size, spot)
                if not clashes(items, start, count, spot[0], spot[1], size):
                    items[count, 0] = box
                    items[count, 1] = spot[0]
                    items[count, 2] = spot[1]
                    items[count, 3] = size
                    items[count, 4] = color
                    items[count, 5] = shape
                    count += 1
                    break
        if box == 0:
            first = count
    return count


def draw_scenes(states: Any, tower: Any, scratch: Any, items: Any, counts: Any) -> None:
    """Scene i from the word states[i] (uint64): items (n, width, 6) int16, zeroed, width 12 or 21; counts (n) int64."""
    rng = np.zeros(1, np.uint64)
    for i in range(len(states)):
        rng[0] = states[i]
        if tower:
            counts[i] = draw_tower(rng, scratch, items[i])
        else:
            counts[i] = draw_scatter(rng, scratch, items[i])
