"""Worlds as ARC grids: each cell is a block of 5 × 5 colour codes from which objects are read back exactly.

An object that is no box is a glyph of 3 × 3 in rows and columns 1 to 3 of its block, with a bar of as many codes as its size below
it. A box is a corner in row 0 and column 0 of the block of its north-western cell, with arms as long as its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from recombine.grid.world import Thing

BLOCK = 5
MAX_SIDE = 30
"""The largest ARC grid."""
CODES: Mapping[str, int] = MappingProxyType({"blue": 1, "red": 2, "green": 3, "yellow": 4})
"""ARC's own colours; 0 is black, the background."""
_NAMES = {code: name for name, code in CODES.items()}
GLYPHS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {"circle": (".#.", "#.#", ".#."), "cylinder": ("#.#", "#.#", "#.#"), "square": ("###", "###", "###")}
)
Grid = list[list[int]]


def paint(size: int, things: Iterable[Thing]) -> Grid:
    """The ARC grid of a world."""
    grid = [[0] * (size * BLOCK) for _ in range(size * BLOCK)]
    for t in things:
        top, left, code = t.row * BLOCK, t.column * BLOCK, CODES[t.color]
        if t.is_box:
            for k in range(t.size):
                grid[top][left + k] = grid[top + k][left] = code
            continue
        for r, line in enumerate(GLYPHS[t.shape], 1):
            for c, mark in enumerate(line, 1):
                if mark == "#":
                    grid[top + r][left + c] = code
        for k in range(1, t.size + 1):
            grid[top + BLOCK - 1][left + k] = code
    return grid


def read(grid: Any) -> list[Thing]:
    """The objects of an ARC grid; ValueError if it is not one of ours."""
    side = _side_of(grid)
    things = []
    for row in range(side // BLOCK):
        for column in range(side // BLOCK):
            block = [line[column * BLOCK : (column + 1) * BLOCK] for line in grid[row * BLOCK : (row + 1) * BLOCK]]
            things += _read_block(block, row, column)
    if paint(side // BLOCK, things) != grid:
        raise ValueError("the grid holds cells that no object explains")
    return things


def _side_of(grid: Any) -> int:
    if not isinstance(grid, list) or not grid or len(grid) > MAX_SIDE or len(grid) % BLOCK:
        raise ValueError(f"the grid must be a list of at most {MAX_SIDE} rows, a multiple of {BLOCK}")
    for line in grid:
        if not isinstance(line, list) or len(line) != len(grid):
            raise ValueError("the grid must be square")
        if any(type(code) is not int or not 0 <= code <= 9 for code in line):
            raise ValueError("a cell of the grid must be a number from 0 to 9")
    return len(grid)


def _read_block(block: Grid, row: int, column: int) -> list[Thing]:
    found = []
    if block[0][0]:
        arm = sum(1 for code in block[0] if code == block[0][0])
        found.append(_thing(block[0][0], "box", arm, row, column))
    glyph = [line[1:4] for line in block[1:4]]
    codes = {code for line in glyph for code in line if code}
    if codes:
        code = codes.pop()
        lines = tuple("".join("#" if c == code else "." for c in line) for line in glyph)
        shape = next((name for name, marks in GLYPHS.items() if marks == lines), None)
        if shape is None:
            raise ValueError(f"the block in row {row + 1}, column {column + 1} shows no known shape")
        found.append(_thing(code, shape, sum(1 for c in block[BLOCK - 1][1:] if c), row, column))
    return found


def _thing(code: int, shape: str, size: int, row: int, column: int) -> Thing:
    if code not in _NAMES or not 1 <= size <= 4:
        raise ValueError(f"the block in row {row + 1}, column {column + 1} shows no known object")
    return Thing(size, _NAMES[code], shape, row, column)
