"""Sprite loops: a scene painted onto a canvas of codes, and the half-size image kept up to date, rectangle by rectangle.

Plain functions in the subset that Numba compiles. `spans` and `blend` are the tables of `pictures.py`.
"""

from __future__ import annotations

from recombine.families.lilgym.scene import BOX, COLOR, SHAPE, SIZE, Bytes, ItemRow, Items, Numbers, X, Y

KERNEL = True

STRIDE = 140
"""Canvas pixels from one box's left edge to the next one's."""
WIDTH, HEIGHT = 380, 100


def paint(canvas: Bytes, blank: Bytes, spans: Numbers, items: Items, count: int, rect: Numbers) -> None:
    """Draw the part of a scene inside a canvas rectangle from scratch; `blank` is one row of the empty canvas."""
    x0, y0, x1, y1 = max(0, rect[0]), max(0, rect[1]), min(WIDTH, rect[2]), min(HEIGHT, rect[3])
    for y in range(y0, y1):
        for x in range(x0, x1):
            canvas[y, x] = blank[x]
    for k in range(count):
        stamp(canvas, spans, items[k], x0, y0, x1, y1)


def stamp(canvas: Bytes, spans: Numbers, item: ItemRow, x0: int, y0: int, x1: int, y1: int) -> None:
    """Draw the part of an item inside the rectangle; canvas codes: 0 box, 1 separator, 2 + colour."""
    left, top, size = STRIDE * int(item[BOX]) + int(item[X]), int(item[Y]), int(item[SIZE])
    if left >= x1 or left + size <= x0 or top >= y1 or top + size <= y0:
        return
    kind, code = 3 * int(item[SHAPE]) + size // 10 - 1, 2 + int(item[COLOR])
    for y in range(max(top, y0), min(top + size, y1)):
        for x in range(max(left + spans[kind, y - top, 0], x0), min(left + spans[kind, y - top, 1], x1)):
            canvas[y, x] = code


def shrink(canvas: Bytes, blend: Bytes, image: Bytes, rect: Numbers) -> None:
    """Bring the half-size image up to date inside a canvas rectangle: the mean of each 2 × 2 block, cut to an integer."""
    x0, y0 = max(0, rect[0]) // 2, max(0, rect[1]) // 2
    x1, y1 = (min(WIDTH, rect[2]) + 1) // 2, (min(HEIGHT, rect[3]) + 1) // 2
    for y in range(y0, y1):
        for x in range(x0, x1):
            code = int(canvas[2 * y, 2 * x]) * 125 + int(canvas[2 * y, 2 * x + 1]) * 25
            code += int(canvas[2 * y + 1, 2 * x]) * 5 + int(canvas[2 * y + 1, 2 * x + 1])
            image[y, x, 0] = blend[code, 0]
            image[y, x, 1] = blend[code, 1]
            image[y, x, 2] = blend[code, 2]
