"""What an operation does to an object, in numbers.

An *effect* packs the object that goes and the object that comes; two operations with the same effect give the same output world.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints
from recombine.families.abstract.operations import (
    ADD_COLOR,
    ADD_HEADING,
    ADD_SHAPE,
    ADD_SIZE,
    COPY,
    COPY_COLOR,
    COPY_SHAPE,
    COPY_SIZE,
    MOVE,
    PAINT,
    REMOVE,
    RESHAPE,
    RESIZE,
    STEP,
)
from recombine.grid.codes import BOX, COLOR, COLUMN, COLUMN_STEP, ROW, ROW_STEP, SHAPE, SIZE

KERNEL = True
LEAN = True
IDLE = -1
NO_EFFECT = -1
MAX_SIZE = 4
CODE_BASE = 1 << 15
"""One more than the largest object code plus one, rounded up."""


def object_code(row: int, column: int, color: int, shape: int, size: int) -> Any:
    """An object as a number from 1."""
    return ((((row * 16 + column) * 4 + color) * 4 + shape) * 4 + size - 1) + 1


def fits_in(things: Ints, n: int, grid: int, i: int, row: int, column: int, shape: int, size: int) -> Any:
    """Whether an object of this shape and size may stand in the cell, object i left out: in the grid, and no other on it."""
    reach = size if shape == BOX else 1
    if row < 0 or column < 0 or row + reach > grid or column + reach > grid:
        return False
    for j in range(n):
        is_alike = (things[j, SHAPE] == BOX) == (shape == BOX)
        if j != i and is_alike and things[j, ROW] == row and things[j, COLUMN] == column:
            return False
    return True


def effect(things: Ints, n: int, grid: int, op: Ints, t: int, p: int) -> Any:
    """What the operation `op` (a row of the table) does to object t with pivot p; NO_EFFECT if it may not be done.

    Every part of the operation must change something, and the new object must fit.
    """
    row, column, color = things[t, ROW], things[t, COLUMN], things[t, COLOR]
    shape, size = things[t, SHAPE], things[t, SIZE]
    gone = object_code(row, column, color, shape, size)
    if op[REMOVE] == 1:
        return gone * CODE_BASE
    if op[ADD_SIZE] != IDLE:
        row += ROW_STEP[op[ADD_HEADING]]
        column += COLUMN_STEP[op[ADD_HEADING]]
        if not fits_in(things, n, grid, -1, row, column, op[ADD_SHAPE], op[ADD_SIZE]):
            return NO_EFFECT
        return object_code(row, column, op[ADD_COLOR], op[ADD_SHAPE], op[ADD_SIZE])
    paint, reshape, resize = op[PAINT], op[RESHAPE], op[RESIZE]
    if op[COPY] != IDLE:
        if p < 0:
            return NO_EFFECT
        if op[COPY] == COPY_COLOR:
            paint = things[p, COLOR]
        elif op[COPY] == COPY_SHAPE:
            reshape = things[p, SHAPE]
        elif op[COPY] == COPY_SIZE:
            resize = things[p, SIZE]
    if op[STEP] != 0:
        resize = size + op[STEP]
        if resize < 1 or resize > MAX_SIZE:
            return NO_EFFECT
    if paint == color or reshape == shape or resize == size:
        return NO_EFFECT
    if paint != IDLE:
        color = paint
    if reshape != IDLE:
        shape = reshape
    if resize != IDLE:
        size = resize
    if op[MOVE] != IDLE:
        row += ROW_STEP[op[MOVE]]
        column += COLUMN_STEP[op[MOVE]]
    if not fits_in(things, n, grid, t, row, column, shape, size):
        return NO_EFFECT
    return gone * CODE_BASE + object_code(row, column, color, shape, size)
