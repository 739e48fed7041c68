"""Overlap, distance and covered area of circles, squares and triangles, as tables over their kinds and integer offset.

Two readings of a circle exist side by side. The **exact** one is the disc: all its tests are in integers. The **released**
one is the regular 64-gon that the original's geometry library makes of it; its distances, cut to whole pixels, decide the
sticky snap. They differ only where a gap is thinner than 0.04 pixels. Distances of convex shapes come from one idea: two
shapes lie as far apart as their offset lies from the Minkowski difference of the shapes.

A shape's kind is `3 * shape + size index`, 0 to 8. Offsets are those of the bounding squares' top-left corners.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym.scene import CIRCLE, SHAPES, SIZES, SQUARE

KIND_COUNT = len(SHAPES) * len(SIZES)
REACH = 34
"""Shapes whose corners are further apart than this on one axis are at least five pixels apart."""
NEAR = 7
"""Mask of a contact: 1 + the whole pixels, 0 to 4, between the released shapes; 0 if further apart or overlapping."""
MEETS = 8
"""Bit of a contact: the released shapes share area."""
MEETS_EXACTLY = 16
"""Bit of a contact: the exact shapes share area."""
AREA_UNIT = 1_000_000
"""Areas are counted in millionths of a pixel, so that equal areas are equal numbers."""
SEGMENTS = 64
_SLACK = 1e-9

Floats = NDArray[np.float64]


def kind_of(shape: int, size: int) -> int:
    """The kind of a shape of `size` pixels."""
    return 3 * shape + SIZES.index(size)


@functools.cache
def outline(kind: int) -> Floats:
    """The corners of the released shape around the top-left corner of its square, in the order of the original's rings.

    A circle is 64 corners clockwise (seen with y upwards) from its rightmost point; sines below 5e-16 count as 0.
    """
    shape, s = kind // 3, SIZES[kind % 3]
    if shape == CIRCLE:
        corners = [(s / 2 + s / 2 * x, s / 2 + s / 2 * y) for x, y in map(direction, range(SEGMENTS))]
    elif shape == SQUARE:
        corners = [(s, 0.0), (s, s), (0.0, s), (0.0, 0.0)]
    else:
        corners = [(0.0, s), (s, s), (s / 2, 0.0)]
    return np.array(corners, np.float64)


@functools.cache
def direction(index: int) -> tuple[float, float]:
    """The corner of the unit 64-gon; components that are 0 but for rounding are 0."""
    angle = -index * (2 * math.pi / SEGMENTS)
    x, y = math.cos(angle), math.sin(angle)
    return (0.0 if abs(x) < 5e-16 else x), (0.0 if abs(y) < 5e-16 else y)


# --- contact ---------------------------------------------------------------------------------------------------------


@functools.cache
def contact_table() -> NDArray[np.uint8]:
    """[kind a, kind b, dy + REACH, dx + REACH] -> contact, where b's corner lies (dx, dy) from a's. About 0.2 s, once."""
    span = 2 * REACH + 1
    table = np.zeros((KIND_COUNT, KIND_COUNT, span, span), np.uint8)
    dx, dy = np.meshgrid(np.arange(-REACH, REACH + 1), np.arange(-REACH, REACH + 1))
    for a in range(KIND_COUNT):
        for b in range(a, KIND_COUNT):
            contact = _contacts(a, b, dx, dy)
            table[a, b] = contact
            table[b, a] = contact[::-1, ::-1]
    table.setflags(write=False)
    return table


def _contacts(a: int, b: int, dx: NDArray[np.int64], dy: NDArray[np.int64]) -> NDArray[np.uint8]:
    distance = _distance_from(_difference(outline(a), outline(b)), dx.astype(float), dy.astype(float))
    near = np.where((distance >= -_SLACK) & (distance < 5 - _SLACK), np.floor(np.maximum(distance + _SLACK, 0)) + 1, 0)
    contact: NDArray[np.uint8] = near.astype(np.uint8)
    contact[distance < -_SLACK] |= MEETS
    contact[exact_overlap(a, b, dx, dy)] |= MEETS_EXACTLY
    return contact


def _difference(a: Floats, b: Floats) -> Floats:
    """The corners, in order of angle, of all offsets of b's corner at which b meets a: the hull of a − b."""
    points = (a[:, None, :] - b[None, :, :]).reshape(-1, 2)
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    halves: list[list[Floats]] = []
    for chain in (points, points[::-1]):
        hull: list[Floats] = []
        for point in chain:
            while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) <= _SLACK:
                hull.pop()
            hull.append(point)
        halves.append(hull[:-1])
    return np.array(halves[0] + halves[1])


def _turn(p: Floats, q: Floats, r: Floats) -> float:
    return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))


def _distance_from(hull: Floats, x: Floats, y: Floats) -> Floats:
    """How far each point lies outside a convex hull (negative: how deep inside)."""
    nearest = np.full(x.shape, np.inf)
    deepest = np.full(x.shape, -np.inf)
    for (px, py), (qx, qy) in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        ex, ey = qx - px, qy - py
        length = math.hypot(ex, ey)
        along = np.clip(((x - px) * ex + (y - py) * ey) / length**2, 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - px - along * ex, y - py - along * ey))
        deepest = np.maximum(deepest, ((x - px) * ey - (y - py) * ex) / length)
    return np.where(deepest > 0, nearest, deepest)


def exact_overlap(a: int, b: int, dx: NDArray[np.int64], dy: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the exact shapes share area, in integers throughout."""
    shape_a, shape_b = a // 3, b // 3
    if shape_a > shape_b:
        return exact_overlap(b, a, -dx, -dy)
    s, r = SIZES[a % 3], SIZES[b % 3]
    if shape_a != CIRCLE:
        return _straight_overlap(a, b, dx, dy)
    cx, cy = s // 2 - dx, s // 2 - dy  # the centre of disc a, seen from b's corner
    radius = s // 2
    if shape_b == CIRCLE:
        return (cx - r // 2) ** 2 + (cy - r // 2) ** 2 < (radius + r // 2) ** 2
    corners = [(int(x), int(y)) for x, y in outline(b)]
    inside = np.ones(dx.shape, np.bool_)
    reached = np.zeros(dx.shape, np.bool_)
    turn = 1 if shape_b == SQUARE else -1
    for (px, py), (qx, qy) in zip(corners, corners[1:] + corners[:1], strict=True):
        ex, ey = qx - px, qy - py
        square = ex * ex + ey * ey
        cross = ex * (cy - py) - ey * (cx - px)
        along = (cx - px) * ex + (cy - py) * ey
        inside &= turn * cross > 0
        beside = (along >= 0) & (along <= square) & (cross * cross < radius * radius * square)
        reached |= beside | ((cx - px) ** 2 + (cy - py) ** 2 < radius * radius)
    return inside | reached


def _straight_overlap(a: int, b: int, dx: NDArray[np.int64], dy: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Separating axes of squares and triangles: every edge normal of both is one of four integer directions."""
    apart = np.zeros(dx.shape, np.bool_)
    for nx, ny in ((1, 0), (0, 1), (2, 1), (2, -1)):
        low_a, high_a = _shadow(a, nx, ny)
        low_b, high_b = _shadow(b, nx, ny)
        shift = dx * nx + dy * ny
        apart |= (low_b + shift >= high_a) | (high_b + shift <= low_a)
    return ~apart


def _shadow(kind: int, nx: int, ny: int) -> tuple[int, int]:
    along = [int(x) * nx + int(y) * ny for x, y in outline(kind)]
    return min(along), max(along)


# --- area ------------------------------------------------------------------------------------------------------------


@functools.cache
def area_table() -> NDArray[np.int64]:
    """[kind, i, j] -> area of the released shape in its first i columns and j rows of pixels, in millionths of a pixel.

    The area inside any rectangle of pixels is a sum of four entries.
    """
    table = np.zeros((KIND_COUNT, SIZES[-1] + 1, SIZES[-1] + 1), np.int64)
    for kind in range(KIND_COUNT):
        s = SIZES[kind % 3]
        pixels = np.zeros((SIZES[-1], SIZES[-1]))
        for i in range(s):
            for j in range(s):
                pixels[i, j] = _pixel_area(kind, i, j)
        table[kind, 1:, 1:] = np.rint(pixels * AREA_UNIT).astype(np.int64).cumsum(0).cumsum(1)
    table.setflags(write=False)
    return table


def _pixel_area(kind: int, i: int, j: int) -> float:
    """The area of a shape inside one pixel: most pixels are full or empty, the rest are clipped."""
    shape, s = kind // 3, SIZES[kind % 3]
    if shape == SQUARE:
        return 1.0
    if shape == CIRCLE:
        if 2 * i >= s:
            i = s - 1 - i  # exact symmetry, so that mirrored pixels have equal areas
        if 2 * j >= s:
            j = s - 1 - j
        half = s / 2
        if math.hypot(half - i, half - j) < half * math.cos(math.pi / SEGMENTS):
            return 1.0
        if math.hypot(half - i - 1, half - j - 1) > half:
            return 0.0
    elif 2 * i >= s:
        i = s - 1 - i
    polygon = [(float(x), float(y)) for x, y in outline(kind)]
    for axis, bound, sign in ((0, i, 1), (0, i + 1, -1), (1, j, 1), (1, j + 1, -1)):
        polygon = _clip(polygon, axis, bound, sign)
    total = sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True))
    return abs(total) / 2


def _clip(polygon: list[tuple[float, float]], axis: int, bound: float, sign: int) -> list[tuple[float, float]]:
    """The part of a convex polygon where sign * (coordinate − bound) is not negative."""
    kept: list[tuple[float, float]] = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        a, b = sign * (p[axis] - bound), sign * (q[axis] - bound)
        if a >= 0:
            kept.append(p)
        if a * b < 0:
            t = a / (a - b)
            kept.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    return kept
