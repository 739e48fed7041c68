"""What the kernels of both recipes share: objects on boards, and finished rows.

Outer functions take bundles of arrays (`rows.Scene` and others). Inner functions take the arrays themselves, because unpacking
a bundle in an inner loop costs a quarter of the speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.commands import adverb_of, spell, verb_of
from recombine.grid.codes import (
    BOX,
    COLOR,
    COLUMN,
    DO_PULL,
    DO_PUSH,
    ROW,
    SHAPE,
    SIZE,
)
from recombine.grid.kernel import fill_board, nth, plan, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Desk, Ints, Saying, Scene, Sink, Speech, Words

KERNEL = True
LEAN = True

N, GRID, LIMIT, LOW, HIGH, NODES, SPARE_OK, GOAL = 0, 1, 2, 3, 4, 5, 6, 7
"""`st`: objects so far, grid size, most objects, the small and the big size, phrases, whether words may be marked as spare, how many
objects there must be in the end (0: as many as come)."""
CELLS, ANCHORS = 0, 1
"""`boards`: cells that objects take or that are kept free; anchors of boxes."""
CELL_BITS = 6
"""A cell is encode_cell(row, column), so the grid has at most 64 columns."""
TARGET, PIVOT, RELATION, ATTRIBUTE, ISOMORPHISM, CONTRAST, RANDOM = 0, 1, 2, 3, 4, 5, 6
"""Roles of objects; their names are `rows.ROLES`."""
FLAG_RELATION, FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM = 1, 2, 4, 8
"""The strategies that worked, as a sum."""
FORM, AGENT_CELL, MOVED, LENGTH, FLAGS, SPARE, PATTERN, ATTEMPTS = 0, 1, 2, 3, 4, 5, 6, 7
"""Columns of `Sink.rows`."""
ROLE_ROW, CATCH_ROW = 5, 6
"""Rows of `Sink.flat` after the five columns of an object; rows 0 and 1 of `marks` hold the same for the present world."""
VARIANT = 8
"""A variant of a command drops one thing of one phrase j: its code is VARIANT * j + kind."""


# --- objects ---------------------------------------------------------------------------------------------------------


def encode_cell(row: int, column: int) -> int:
    """A cell as one number."""
    return (row << CELL_BITS) + column


def row_of(cell: int) -> int:
    """The row of a cell."""
    return cell >> CELL_BITS


def column_of(cell: int) -> int:
    """The column of a cell."""
    return cell & ((1 << CELL_BITS) - 1)


def add(things: Ints, sets: Ints, boards: Ints, st: Ints, size: int, color: int, shape: int, row: int, column: int) -> Any:
    """Put an object into the world; returns its index."""
    i = st[N]
    things[i, SIZE], things[i, COLOR], things[i, SHAPE], things[i, ROW], things[i, COLUMN] = size, color, shape, row, column
    bit = 1 << i
    sets[SIZE, size] |= bit
    sets[COLOR, color] |= bit
    sets[SHAPE, shape] |= bit
    sets[ROW, row] |= bit
    sets[COLUMN, column] |= bit
    board = ANCHORS if shape == BOX else CELLS
    boards[board, row] |= 1 << column
    st[N] = i + 1
    return i


def cut(things: Ints, sets: Ints, boards: Ints, st: Ints, n: int) -> None:
    """Take back the objects from index n on."""
    while st[N] > n:
        i = st[N] - 1
        keep = ~(1 << i)
        for a in range(5):
            sets[a, things[i, a]] &= keep
        board = ANCHORS if things[i, SHAPE] == BOX else CELLS
        boards[board, things[i, ROW]] &= ~(1 << things[i, COLUMN])
        st[N] = i


def clear(sets: Ints, boards: Ints, marks: Ints, st: Ints) -> None:
    """An empty world."""
    st[N] = 0
    for a in range(5):
        for b in range(sets.shape[1]):
            sets[a, b] = 0
    for a in range(2):
        for r in range(boards.shape[1]):
            boards[a, r] = 0
    marks[2, 0] = 0


def draw_cell(boards: Ints, board: int, top: int, bottom: int, left: int, right: int, rng: Words) -> Any:
    """A uniform free cell of the rectangle (ends included) as encode_cell(row, column), or -1 if there is none.

    A few cells are tried before the free ones are counted: in open rectangles that is quicker, and just as uniform.
    """
    if top > bottom or left > right:
        return -1
    wide = right - left + 1
    area = wide * (bottom - top + 1)
    for _ in range(3):
        k = below(rng, area)
        row, column = top + k // wide, left + k % wide
        if (boards[board, row] >> column) & 1 == 0:
            return encode_cell(row, column)
    mask = ((1 << (right + 1)) - 1) & ~((1 << left) - 1)
    free = 0
    for r in range(top, bottom + 1):
        free += popcount(mask & ~boards[board, r])
    if free == 0:
        return -1
    k = below(rng, free)
    for r in range(top, bottom + 1):
        word = mask & ~boards[board, r]
        here = popcount(word)
        if k < here:
            return encode_cell(r, nth(word, k))
        k -= here
    return -1


def name_new(before: int, st: Ints, roles: Ints, catches: Ints, role: int, catch: int) -> None:
    """Write role and reason of the objects from index `before` on."""
    for i in range(before, st[N]):
        roles[i] = role
        catches[i] = catch


# --- finished rows ---------------------------------------------------------------------------------------------------


def finish(form: int, scene: Scene, desk: Desk) -> Any:
    """Write the actions of a finished world to `desk.out`; returns how many."""
    board, grid = scene.boards[CELLS], scene.st[GRID]
    fill_board(board, grid, scene.things, scene.st[N])
    return plan(board, grid, scene.agent, scene.things[0], verb_of(form), adverb_of(form), desk.out)


def write_row(
    i: int,
    form: int,
    flags: int,
    attempts: int,
    p: int,
    length: int,
    scene: Scene,
    said: Saying,
    desk: Desk,
    sink: Sink,
    speech: Speech,
) -> None:
    """Write the present world as row i of the outputs."""
    st, marks, out, ends = scene.st, desk.marks, desk.out, sink.ends
    at = ends[0]
    for k in range(st[N]):
        for a in range(5):
            sink.flat[a, at] = scene.things[k, a]
        sink.flat[ROLE_ROW, at] = marks[0, k]
        sink.flat[CATCH_ROW, at] = marks[1, k]
        at += 1
    ends[0] = at
    sink.flat_ends[i] = at
    has_moved = 0
    at = ends[1]
    for k in range(length):
        sink.steps[at] = out[k]
        at += 1
        if out[k] == DO_PUSH or out[k] == DO_PULL:
            has_moved = 1
    ends[1] = at
    sink.step_ends[i] = at
    ends[2] = spell(form, said.the, st[NODES], said.codes, said.links, speech.letters, speech.starts, sink.text, ends[2])
    sink.text_ends[i] = ends[2]
    for k in range(marks[2, 0]):
        sink.spare[ends[3]] = marks[2, 1 + k]
        ends[3] += 1
    sink.rows[i, FORM] = form
    sink.rows[i, AGENT_CELL] = scene.agent[0] * st[GRID] + scene.agent[1]
    sink.rows[i, MOVED] = has_moved
    sink.rows[i, LENGTH] = length
    sink.rows[i, FLAGS] = flags
    sink.rows[i, SPARE] = marks[2, 0]
    sink.rows[i, PATTERN] = p
    sink.rows[i, ATTEMPTS] = attempts
