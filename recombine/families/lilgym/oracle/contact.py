"""Decides whether two items touch by their true shapes. Programs use bounding squares instead.

In scenes of statements about contact, both methods must agree. `is_clear` checks this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

Thing = tuple[int, int, int, int, int, int]
"""Box, x, y, size, colour, shape."""
Picture = tuple[Thing, ...]
CLEARLY_APART = 5
"""Two items clearly do not touch if at least this many pixels lie between their bounding squares."""
CIRCLE, TRIANGLE = 0, 2


def is_clear(picture: Iterable[Thing]) -> bool:
    """Whether, for every two items of a box, true shapes and bounding squares clearly agree on contact."""
    things = tuple(picture)
    return all(a[0] != b[0] or _clear_contact(a, b) is not None for k, a in enumerate(things) for b in things[:k])


def _clear_contact(a: Thing, b: Thing) -> bool | None:
    """Clearly: bounding squares flush along a line, and the shapes meet there. Clearly not: squares far apart. Else None."""
    gaps = [max(b[axis] - a[axis] - a[3], a[axis] - b[axis] - b[3]) for axis in (1, 2)]
    if max(gaps) >= CLEARLY_APART:
        return False
    return True if max(gaps) == 0 and min(gaps) < 0 and distance(a, b) < 0.001 else None


def distance(a: Thing, b: Thing) -> float:
    """Pixels between two shapes that do not overlap. For a circle: the distance from its centre, minus its radius."""
    (corners, reach), (others, other_reach) = _core(a), _core(b)
    pairs = [(p, edge) for p in corners for edge in _edges(others)] + [(p, edge) for p in others for edge in _edges(corners)]
    return min(_from_edge(p, *edge) for p, edge in pairs) - reach - other_reach


def _core(t: Thing) -> tuple[list[tuple[float, float]], float]:
    _, x, y, size, _, shape = t
    if shape == CIRCLE:
        return [(x + size / 2, y + size / 2)], size / 2
    top = [(x + size / 2, y)] if shape == TRIANGLE else [(x, y), (x + size, y)]
    return [*top, (x + size, y + size), (x, y + size)], 0.0


def _edges(corners: list[tuple[float, float]]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(zip(corners, corners[1:] + corners[:1], strict=True))


def _from_edge(p: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    ex, ey = b[0] - a[0], b[1] - a[1]
    length = ex * ex + ey * ey
    along = 0.0 if length == 0 else min(1.0, max(0.0, ((p[0] - a[0]) * ex + (p[1] - a[1]) * ey) / length))
    return math.hypot(p[0] - a[0] - along * ex, p[1] - a[1] - along * ey)
