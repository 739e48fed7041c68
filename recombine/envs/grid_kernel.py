"""Many grid worlds stepped together: the loop over places around the grid's own simulator."""

from __future__ import annotations

import numpy as np

from recombine.draws import Ints, SmallInts
from recombine.grid.kernel import act, fill_board

KERNEL = True

STOP = 6
"""The action after the six that change the world."""


def advance(
    things: Ints, counts: Ints, boards: Ints, grids: Ints, agents: Ints, clocks: Ints, active: Ints, actions: Ints, errors: Ints
) -> None:
    """Do one action in every active place; errors[i] is the simulator's outcome (0: done)."""
    for i in range(len(counts)):
        errors[i] = 0
        if active[i]:
            clocks[i] += 1
            if actions[i] != STOP:
                errors[i] = act(things[i], counts[i], boards[i], grids[i], agents[i], actions[i])


def restart(things: Ints, counts: Ints, boards: Ints, grids: Ints, which: Ints) -> None:
    """Lay out the boards of the places `which`."""
    for i in which:
        fill_board(boards[i], grids[i], things[i], counts[i])


def masks(things: Ints, counts: Ints, boards: Ints, grids: Ints, agents: Ints, out: Ints) -> None:
    """Which of the seven actions would change or keep the world without bumping into anything."""
    scratch = np.empty_like(things[0])
    board = np.empty_like(boards[0])
    agent = np.empty_like(agents[0])
    for i in range(len(counts)):
        out[i, STOP] = True
        for action in range(STOP):
            scratch[:] = things[i]
            board[:] = boards[i]
            agent[:] = agents[i]
            out[i, action] = act(scratch, counts[i], board, grids[i], agent, action) == 0


def replay(things: Ints, counts: Ints, boards: Ints, grids: Ints, agents: Ints, golds: Ints, lengths: Ints) -> None:
    """Do the gold actions of every place, in place."""
    for i in range(len(counts)):
        for k in range(lengths[i]):
            act(things[i], counts[i], boards[i], grids[i], agents[i], golds[i, k])


def look(things: Ints, counts: Ints, agents: Ints, shape_bits: Ints, color_bits: Ints, out: SmallInts) -> None:
    """Fill the tensors of all places, which are empty before: `recombine.grid.tensor` says what they hold."""
    width = out.shape[3] - 5
    for i in range(len(counts)):
        for k in range(counts[i]):
            row, column = things[i, k, 3], things[i, k, 4]
            out[i, row, column, things[i, k, 0] - 1] += 1
            out[i, row, column, shape_bits[things[i, k, 2]]] += 1
            out[i, row, column, color_bits[things[i, k, 1]]] += 1
        out[i, agents[i, 0], agents[i, 1], width] = 1
        out[i, agents[i, 0], agents[i, 1], width + 1 + agents[i, 2]] = 1
