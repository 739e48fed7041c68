"""A deliberate second implementation: edits carried out by a simulator of its own, with polygons clipped by polygons."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from recombine.errors import shown
from recombine.families.lilgym.oracle.contact import Picture, Thing
from recombine.families.lilgym.oracle.meaning import COLOR_WORDS, SHAPE_WORDS, SIZE_WORDS, stacked
from recombine.families.lilgym.oracle.nouns import Unreadable

BOX_WORDS = {"left": 0, "middle": 1, "right": 2}
MOST_EDITS = 10


class Ending(NamedTuple):
    """Where a list of edits leads."""

    picture: Picture
    edits: int


def carry_out(answer: str, picture: Picture, is_tower: bool) -> Ending:
    """The scene at STOP; `Unreadable` if the answer is no list of valid edits that ends in its only STOP."""
    steps = [step.strip() for step in answer.split(";")]
    if len(answer) > 2000 or steps[-1] != "STOP":
        raise Unreadable("the answer does not end in STOP.")
    if len(steps) - 1 > MOST_EDITS:
        raise Unreadable(f"the answer has {len(steps) - 1} edits, but at most {MOST_EDITS} fit before the horizon.")
    return Ending(after(steps[:-1], picture, is_tower), len(steps) - 1)


def after(edits: Sequence[str], picture: Picture, is_tower: bool) -> Picture:
    """The scene after these edits; `Unreadable` if one of them is invalid."""
    for edit in edits:
        picture = _edited_tower(edit, picture) if is_tower else _edited_scatter(edit, picture)
    return picture


def _edited_tower(step: str, picture: Picture) -> Picture:
    found = re.fullmatch(r"(?:ADD (yellow|black|blue)|REMOVE) (left|middle|right)", step)
    if found is None:
        raise Unreadable(f"{shown(step)} is no edit of a tower.")
    color, box = found[1], BOX_WORDS[found[2]]
    stack = stacked(tuple(t for t in picture if t[0] == box))
    if color is None:
        if not stack:
            raise Unreadable(f"{shown(step)}: there is nothing to remove.")
        return tuple(t for t in picture if t != stack[-1])
    if len(stack) >= 4:
        raise Unreadable(f"{shown(step)}: a fifth block does not fit.")
    return (*picture, (box, 40, 80 - 21 * len(stack), 20, COLOR_WORDS[color], 1))


def _edited_scatter(step: str, picture: Picture) -> Picture:
    pattern = r"(?:ADD (small|medium|big) (yellow|black|blue) (circle|square|triangle)|REMOVE) (\d{1,3}) (\d{1,3})"
    found = re.fullmatch(pattern, step)
    if found is None:
        raise Unreadable(f"{shown(step)} is no edit of a scatter.")
    box, x = divmod(int(found[4]), 140)
    y = int(found[5])
    if x % 20 or y % 20 or x >= 100 or y >= 100 or box > 2:
        raise Unreadable(f"{shown(step)} is at no cell of a box.")
    if found[1] is None:
        return _removed(step, picture, box, x, y)
    size = SIZE_WORDS[found[1]]
    new = (box, x, y, size, COLOR_WORDS[found[2]], SHAPE_WORDS[found[3]])
    if max(x, y) + size > 100 or any(t[0] == box and overlap(t, new) for t in picture):
        raise Unreadable(f"{shown(step)}: it does not fit there.")
    return (*picture, new)


def _removed(step: str, picture: Picture, box: int, x: int, y: int) -> Picture:
    cell = [(float(x), float(y)), (x + 20.0, float(y)), (x + 20.0, y + 20.0), (float(x), y + 20.0)]
    covers = [(_area(_clipped(_outline(t), cell)), t) for t in picture if t[0] == box]
    best = max(covers, key=lambda pair: pair[0], default=None)
    if best is None or best[0] <= 0:
        raise Unreadable(f"{shown(step)}: there is nothing to remove.")
    return tuple(t for t in picture if t != best[1])


def _outline(t: Thing) -> list[tuple[float, float]]:
    """The corners of a shape in its box, in one turn; a circle has 180."""
    _, x, y, size, _, shape = t
    if shape == 1:
        return [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    if shape == 2:
        return [(x + size / 2, y), (x + size, y + size), (x, y + size)]
    r = size / 2
    return [(x + r + r * math.cos(k * math.pi / 90), y + r + r * math.sin(k * math.pi / 90)) for k in range(180)]


def overlap(a: Thing, b: Thing) -> bool:
    apart = a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1] or a[2] + a[3] <= b[2] or b[2] + b[3] <= a[2]
    return not apart and _area(_clipped(_outline(a), _outline(b))) > 0.01


def _clipped(shape: list[tuple[float, float]], window: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The part of a convex shape inside a convex window; both turn the same way."""
    for (ax, ay), (bx, by) in zip(window, window[1:] + window[:1], strict=True):
        sides = [(bx - ax) * (py - ay) - (by - ay) * (px - ax) for px, py in shape]
        kept: list[tuple[float, float]] = []
        for k, (point, side) in enumerate(zip(shape, sides, strict=True)):
            last, before = shape[k - 1], sides[k - 1]
            if (side >= 0) != (before >= 0):
                t = before / (before - side)
                kept.append((last[0] + t * (point[0] - last[0]), last[1] + t * (point[1] - last[1])))
            if side >= 0:
                kept.append(point)
        shape = kept
        if not shape:
            return []
    return shape


def _area(shape: Sequence[tuple[float, float]]) -> float:
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(shape, [*shape[1:], *shape[:1]], strict=True))) / 2
