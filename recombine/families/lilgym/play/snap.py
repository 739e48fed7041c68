"""Where the released code pulls a new item: the nearest points of two outlines, found in the operation order of its geometry library.

Plain functions in the subset that Numba compiles. Outlines are closed rings of corners on the canvas.
"""

from __future__ import annotations

import numpy as np

from recombine.families.lilgym.play.canvas import STRIDE
from recombine.families.lilgym.scene import BOX, CIRCLE, SHAPE, SIZE, SQUARE, Floats, ItemRow, Items, Numbers, X, Y

KERNEL = True

SEGMENTS = 64
"""Corners of a circle."""


def ring(directions: Floats, shape: int, x: float, y: float, size: int, out: Floats) -> int:
    """Write the closed ring of a released shape at canvas place (x, y); its number of corners, the first one repeated."""
    if shape == CIRCLE:
        r = size / 2
        for k in range(SEGMENTS):
            out[k, 0] = x + r + r * directions[k, 0]
            out[k, 1] = y + r + r * directions[k, 1]
        corners = SEGMENTS
    elif shape == SQUARE:
        out[0, 0], out[0, 1] = x + size, y
        out[1, 0], out[1, 1] = x + size, y + size
        out[2, 0], out[2, 1] = x, y + size
        out[3, 0], out[3, 1] = x, y
        corners = 4
    else:
        out[0, 0], out[0, 1] = x, y + size
        out[1, 0], out[1, 1] = x + size, y + size
        out[2, 0], out[2, 1] = x + size / 2, y
        corners = 3
    out[corners, 0], out[corners, 1] = out[0, 0], out[0, 1]
    return corners + 1


def point_gap(px: float, py: float, ax: float, ay: float, bx: float, by: float) -> float:
    """The distance from a point to a segment, in the operation order of the original's geometry library."""
    square = (bx - ax) * (bx - ax) + (by - ay) * (by - ay)
    r = ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / square
    if r <= 0.0:
        return float(np.sqrt((px - ax) * (px - ax) + (py - ay) * (py - ay)))
    if r >= 1.0:
        return float(np.sqrt((px - bx) * (px - bx) + (py - by) * (py - by)))
    s = ((ay - py) * (bx - ax) - (ax - px) * (by - ay)) / square
    return float(abs(s) * np.sqrt(square))


def foot(px: float, py: float, ax: float, ay: float, bx: float, by: float, out: Floats, place: int) -> float:
    """Write the point of a segment nearest to (px, py) at out[place]; how far it is."""
    r = ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / ((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    if 0.0 < r < 1.0:
        qx, qy = ax + r * (bx - ax), ay + r * (by - ay)
    else:
        to_a = np.sqrt((px - ax) * (px - ax) + (py - ay) * (py - ay))
        to_b = np.sqrt((px - bx) * (px - bx) + (py - by) * (py - by))
        if to_a < to_b:
            qx, qy = ax, ay
        else:
            qx, qy = bx, by
    out[place, 0], out[place, 1] = qx, qy
    return float(np.sqrt((px - qx) * (px - qx) + (py - qy) * (py - qy)))


def segment_pair(a: Floats, i: int, b: Floats, j: int, feet: Floats, out: Floats) -> None:
    """The nearest points of two disjoint segments, into out[0] (on a's) and out[1] (on b's); the first of ties wins."""
    best = foot(b[j, 0], b[j, 1], a[i, 0], a[i, 1], a[i + 1, 0], a[i + 1, 1], out, 0)
    out[1, 0], out[1, 1] = b[j, 0], b[j, 1]
    gap = foot(b[j + 1, 0], b[j + 1, 1], a[i, 0], a[i, 1], a[i + 1, 0], a[i + 1, 1], feet, 0)
    if gap < best:
        best = gap
        out[0, 0], out[0, 1] = feet[0, 0], feet[0, 1]
        out[1, 0], out[1, 1] = b[j + 1, 0], b[j + 1, 1]
    for end in range(2):
        gap = foot(a[i + end, 0], a[i + end, 1], b[j, 0], b[j, 1], b[j + 1, 0], b[j + 1, 1], feet, 0)
        if gap < best:
            best = gap
            out[0, 0], out[0, 1] = a[i + end, 0], a[i + end, 1]
            out[1, 0], out[1, 1] = feet[0, 0], feet[0, 1]


def envelope_gap(a: Floats, i: int, b: Floats, j: int) -> float:
    """A lower bound of the distance of two segments: that of their bounding boxes on the worse axis."""
    dx = max(min(a[i, 0], a[i + 1, 0]) - max(b[j, 0], b[j + 1, 0]), min(b[j, 0], b[j + 1, 0]) - max(a[i, 0], a[i + 1, 0]))
    dy = max(min(a[i, 1], a[i + 1, 1]) - max(b[j, 1], b[j + 1, 1]), min(b[j, 1], b[j + 1, 1]) - max(a[i, 1], a[i + 1, 1]))
    return float(max(dx, dy))


def shift_to(directions: Floats, item: ItemRow, items: Items, k: int, bound: float, shift: Numbers) -> None:
    """How the sticky snap moves `item` towards item k: the difference of their nearest points, each cut to whole pixels.

    The points are found on the canvas, not in the box, and the first nearest pair of segments wins: pairs of parallel facets of
    two circles differ in the last bit only, so the place and the order decide. `bound` is above the distance.
    """
    shift[0], shift[1] = 0, 0
    a = np.empty((SEGMENTS + 2, 2), np.float64)
    b = np.empty((SEGMENTS + 2, 2), np.float64)
    feet = np.empty((1, 2), np.float64)
    pair = np.empty((2, 2), np.float64)
    left = float(STRIDE * int(item[BOX]))
    na = ring(directions, int(item[SHAPE]), left + item[X], float(item[Y]), int(item[SIZE]), a)
    nb = ring(directions, int(items[k, SHAPE]), left + items[k, X], float(items[k, Y]), int(items[k, SIZE]), b)
    best = bound
    for i in range(na - 1):
        for j in range(nb - 1):
            if envelope_gap(a, i, b, j) > best:
                continue
            gap = point_gap(a[i, 0], a[i, 1], b[j, 0], b[j, 1], b[j + 1, 0], b[j + 1, 1])
            gap = min(gap, point_gap(a[i + 1, 0], a[i + 1, 1], b[j, 0], b[j, 1], b[j + 1, 0], b[j + 1, 1]))
            gap = min(gap, point_gap(b[j, 0], b[j, 1], a[i, 0], a[i, 1], a[i + 1, 0], a[i + 1, 1]))
            gap = min(gap, point_gap(b[j + 1, 0], b[j + 1, 1], a[i, 0], a[i, 1], a[i + 1, 0], a[i + 1, 1]))
            if gap < best:
                best = gap
                segment_pair(a, i, b, j, feet, pair)
                shift[0] = int(pair[1, 0]) - int(pair[0, 0])
                shift[1] = int(pair[1, 1]) - int(pair[0, 1])
