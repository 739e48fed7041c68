"""A row of either recipe: the number of its command, its scalars, its objects' cells, its plan, and how it is written.

Kernels write a row to `Rows`: its scalars to `facts[row]` (columns COMMAND … below), its objects to `things[row]` and
`roles[row]`, its actions to `actions[row]`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from recombine.draws import Ints, SmallInts, Words, below
from recombine.grid.codes import COLUMN, PULL, ROW, SMALL, WALK
from recombine.grid.kernel import arrival, draw_free, plan, put, travel

KERNEL = True
Number = TypeVar("Number", int, Ints)

# columns of `facts`
COMMAND, LENGTH, MOVED, AGENT_R, AGENT_C, COUNT, DIRECTION = 0, 1, 2, 3, 4, 5, 6
FACTS = 7
# roles
TARGET, SIZE_DECOY, COLOR_DECOY, SHAPE_DECOY, BLOCKER, RANDOM = 0, 1, 2, 3, 4, 5
ROW_SIGN = (0, 1, 1, 1, 0, -1, -1, -1)
COLUMN_SIGN = (1, 1, 0, -1, -1, -1, 0, 1)


COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 12_000, 400
"""Interpreted rows that take as long as compiling the kernels, and as loading them from disk."""
SIZE_WORDS, COLOR_WORDS, NOUNS, MANNERS, VERBS = 3, 5, 3, 5, 3
"""How many values each digit of a command's number has, from the last digit on."""
COMMANDS = SIZE_WORDS * COLOR_WORDS * NOUNS * MANNERS * VERBS


class Rows(NamedTuple):
    """The rows that a kernel fills."""

    facts: Ints  # (rows, FACTS)
    things: SmallInts  # (rows, most objects, 5): size, colour, shape, row, column
    roles: SmallInts  # (rows, most objects)
    actions: SmallInts  # (rows, most actions)


def new_rows(rows: int, most: int, grid: int) -> Rows:
    """Empty rows for worlds of up to `most` objects on a grid of this size."""
    return Rows(
        np.zeros((rows, FACTS), np.int64),
        np.zeros((rows, most, 5), np.int8),
        np.zeros((rows, most), np.int8),
        np.zeros((rows, most_actions(grid)), np.int8),
    )


def most_actions(grid: int) -> int:
    """Room for the longest right answer on a grid of this size."""
    return 20 * grid + 8


# A command's number has five digits. These functions take one number or an array of them.


def encode_command(verb: int, adverb: int, shape: int, color_word: int, size_word: int) -> int:
    """The number of a command; `color_word` is 0 for none, else the colour's code + 1."""
    return (((verb * MANNERS + adverb) * NOUNS + shape) * COLOR_WORDS + color_word) * SIZE_WORDS + size_word


def size_word_of(command: Number) -> Number:
    """The code of the size word; 0 for none."""
    return command % SIZE_WORDS


def color_word_of(command: Number) -> Number:
    """The code of the colour word + 1; 0 for none."""
    return command // SIZE_WORDS % COLOR_WORDS


def shape_of(command: Number) -> Number:
    """The code of the noun."""
    return command // (SIZE_WORDS * COLOR_WORDS) % NOUNS


def adverb_of(command: Number) -> Number:
    """The code of the adverb."""
    return command // (SIZE_WORDS * COLOR_WORDS * NOUNS) % MANNERS


def verb_of(command: Number) -> Number:
    """The code of the verb."""
    return command // (SIZE_WORDS * COLOR_WORDS * NOUNS * MANNERS)


def contrast(rng: Words, word: int, size: int) -> int:
    """A uniform size that makes `size` the small or the big one."""
    if word == SMALL:
        return size + 1 + below(rng, 4 - size)
    return 1 + below(rng, size - 1)


def way_of(verb: int, adverb: int, agent: Ints, target: Ints) -> int:
    """The heading in which the verb moves the target once the agent has arrived."""
    heading: int = arrival(agent, target, adverb)
    return (heading + 2) % 4 if verb == PULL else heading


def place(rng: Words, grid: int, n: int, things: Ints, roles: Ints, board: Ints, blocked_cell: int, agent: Ints) -> None:
    """Cells for objects 1 … n - 1 among those free on the board; one of them takes `blocked_cell` if that is >= 0.

    With an agent of four numbers cells are as likely as the target's: those in the agent's row or column (grid - 1) / 2 times
    as likely as others, because directions are balanced. With an empty agent array they are uniform.
    """
    blocker = -1
    if blocked_cell >= 0:
        blocker = 1 + below(rng, n - 1)
        things[blocker, ROW], things[blocker, COLUMN] = blocked_cell // grid, blocked_cell % grid
        put(board, things[blocker, ROW], things[blocker, COLUMN])
        if roles[blocker] == RANDOM:
            roles[blocker] = BLOCKER
    for i in range(1, n):
        if i == blocker:
            continue
        while True:
            cell = draw_free(board, grid, rng)
            row, column = cell // grid, cell % grid
            if len(agent) == 0 or row == agent[0] or column == agent[1] or below(rng, grid - 1) < 2:
                break
        things[i, ROW], things[i, COLUMN] = row, column
        put(board, row, column)


def finish(grid: int, command: int, agent: Ints, target: Ints, board: Ints, out: Ints, facts: Ints) -> None:
    """Plan the actions and note their number and how many cells the target moves; the board must hold the objects only."""
    verb, adverb = verb_of(command), adverb_of(command)
    facts[LENGTH] = plan(board, grid, agent, target, verb, adverb, out)
    facts[MOVED] = 0
    if verb != WALK:
        facts[MOVED] = travel(board, grid, target[ROW], target[COLUMN], way_of(verb, adverb, agent, target))


def write_row(row: int, scratch: Ints, role: Ints, out: Ints, rows: Rows) -> None:
    """Copy one row from the scratch arrays to the (small-integer) output arrays."""
    for k in range(rows.facts[row, COUNT]):
        for a in range(5):
            rows.things[row, k, a] = scratch[k, a]
        rows.roles[row, k] = role[k]
    for k in range(rows.facts[row, LENGTH]):
        rows.actions[row, k] = out[k]
