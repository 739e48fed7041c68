"""The picture of one object by itself, as pixels: for machines that see instead of being told size, colour and shape."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from recombine.grid.canvas import Canvas
from recombine.grid.codes import SIZES
from recombine.grid.draw import CELL, paint_box, paint_thing
from recombine.grid.world import Thing

PIXELS = 16
"""Pixels of a portrait along the side of one cell."""
SPAN = max(SIZES)
"""Cells along the side of a portrait: the largest box fits."""


def portrait(size: int, color: str, shape: str) -> NDArray[np.uint8]:
    """The object in the top-left cell of a white square; a box covers as many cells as in its world. No digit tells the size."""
    from PIL import Image

    thing = Thing(size, color, shape, 0, 0)
    canvas = Canvas(SPAN * CELL, SPAN * CELL)
    if thing.is_box:
        paint_box(canvas, thing, 0.0, 0.0)
    else:
        paint_thing(canvas, thing, CELL / 2, CELL / 2, CELL, has_digit=False)
    with Image.open(io.BytesIO(canvas.png())) as image:
        return np.asarray(image.convert("RGB").reduce(int(CELL) // PIXELS), np.uint8)
