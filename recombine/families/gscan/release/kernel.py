"""The original's recipe as a hot loop: situations listed by target, direction and distance, half of a fixed pool as distractors."""

from __future__ import annotations

import numpy as np

from recombine.draws import Ints, Words, below
from recombine.families.gscan.rows import (
    AGENT_C,
    AGENT_R,
    COLUMN_SIGN,
    COMMAND,
    COUNT,
    DIRECTION,
    RANDOM,
    ROW_SIGN,
    SIZE_DECOY,
    TARGET,
    Rows,
    color_word_of,
    contrast,
    finish,
    most_actions,
    place,
    shape_of,
    size_word_of,
    write_row,
)
from recombine.grid.codes import COLOR, COLUMN, ROW, SHAPE, SIZE
from recombine.grid.kernel import lift, put

KERNEL = True


def release_cells(rng: Words, grid: int, direction: int, distance: int, agent: Ints, target: Ints) -> None:
    """Agent and target cells for a direction and distance: a uniform split of the steps, then a uniform agent cell."""
    down, right = distance, distance
    if direction & 1:
        low = max(1, distance - grid + 1)
        down = low + below(rng, min(distance - 1, grid - 1) - low + 1)
        right = distance - down
    down, right = down * ROW_SIGN[direction], right * COLUMN_SIGN[direction]
    agent[0] = below(rng, grid - abs(down)) + max(0, -down)
    agent[1] = below(rng, grid - abs(right)) + max(0, -right)
    target[ROW], target[COLUMN] = agent[0] + down, agent[1] + right


def release_things(rng: Words, word: int, color_word: int, pool: Ints, things: Ints, roles: Ints) -> int:
    """Objects 1 … around the target in things[0] by the original's rule: half of the other kinds; returns the count."""
    target = things[0]
    roles[0] = TARGET
    kinds = 0
    if word == 0 and color_word < 0:
        for shape in range(3):
            if shape != target[SHAPE]:
                pool[kinds] = below(rng, 4) * 4 + shape
                kinds += 1
    else:
        for shape in range(3):
            for color in range(4):
                if shape != target[SHAPE] or color != target[COLOR]:
                    pool[kinds] = color * 4 + shape
                    kinds += 1
    n = 1
    if word:
        things[n, SIZE], things[n, COLOR], things[n, SHAPE] = contrast(rng, word, target[SIZE]), target[COLOR], target[SHAPE]
        roles[n] = SIZE_DECOY
        n += 1
    for k in range(kinds // 2):
        j = k + below(rng, kinds - k)
        pool[k], pool[j] = pool[j], pool[k]
        for _ in range(2 if word else 1):
            things[n, COLOR], things[n, SHAPE], roles[n] = pool[k] // 4, pool[k] % 4, RANDOM
            if word and color_word < 0 and things[n, SHAPE] == target[SHAPE]:
                things[n, SIZE] = contrast(rng, word, target[SIZE])
            else:
                things[n, SIZE] = 1 + below(rng, 4)
            n += 1
    return n


def release_rows(items: Ints, grid: int, cell_states: Words, states: Words, rows: Rows) -> None:
    """Rows of the release recipe. items[row] = command, target size, colour, direction, distance.

    `cell_states` key the agent's and target's cells, which the original shares between commands; `states` key the rest.
    """
    rng, nowhere = np.zeros(1, np.uint64), np.zeros(0, np.int64)
    scratch, role, pool = np.zeros((16, 5), np.int64), np.zeros(16, np.int64), np.zeros(12, np.int64)
    agent, board, out = np.zeros(4, np.int64), np.zeros(grid, np.int64), np.zeros(most_actions(grid), np.int64)
    facts = rows.facts
    for i in range(len(states)):
        command, direction = items[i, 0], items[i, 3]
        target = scratch[0]
        target[SIZE], target[COLOR], target[SHAPE] = items[i, 1], items[i, 2], shape_of(command)
        rng[0] = cell_states[i]
        release_cells(rng, grid, direction, items[i, 4], agent, target)
        rng[0] = states[i]
        n = release_things(rng, size_word_of(command), color_word_of(command) - 1, pool, scratch, role)
        for r in range(grid):
            board[r] = 0
        put(board, target[ROW], target[COLUMN])
        put(board, agent[0], agent[1])
        place(rng, grid, n, scratch, role, board, -1, nowhere)
        lift(board, agent[0], agent[1])
        facts[i, COMMAND], facts[i, DIRECTION], facts[i, COUNT] = command, direction, n
        facts[i, AGENT_R], facts[i, AGENT_C] = agent[0], agent[1]
        finish(grid, command, agent, target, board, out, facts[i])
        write_row(i, scratch, role, out, rows)
