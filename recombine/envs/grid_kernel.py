"""Many grid worlds stepped together: the loop over places around the grid's own simulator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.draws import Ints, SmallInts
from recombine.grid.codes import OUTCOMES
from recombine.grid.kernel import act, fill_board

KERNEL = True

STOP = 6
"""The action after the six that change the world."""
SEQUENCE, MOST_STEPS = 0, 1
"""Places in `rule`: whether only the gold actions count, and the horizon."""
STOPPED_EARLY, NEVER_STOPPED = len(OUTCOMES), len(OUTCOMES) + 1
"""Error codes after the simulator's own outcomes."""
Flags = NDArray[Any]


class Places(NamedTuple):
    """Episodes under way, one per place; kernels change them in place."""

    rows: Ints  # (n,): which instance
    things: Ints  # (n, most, 5)
    counts: Ints  # (n,)
    boards: Ints  # (n, MAX_GRID)
    grids: Ints  # (n,)
    agents: Ints  # (n, 4)
    clocks: Ints  # (n,): steps taken
    faithful: Flags  # (n,): whether all actions were the gold ones
    active: Flags  # (n,)


class Gold(NamedTuple):
    """The goal of each instance: the gold actions, and their end state."""

    actions: Ints  # (instances, longest)
    lengths: Ints  # (instances,)
    things: Ints  # (instances, most, 5)
    agents: Ints  # (instances, 4)


class Results(NamedTuple):
    """What one step gives."""

    rewards: NDArray[np.float64]  # (n,)
    ended: Flags  # (n, 2): terminated, truncated
    errors: Ints  # (n,)


def advance(rule: Ints, penalty: float, places: Places, gold: Gold, actions: Ints, results: Results) -> None:
    """One step of every active place, in place; the others stay as they are, with zeros in the results."""
    for i in range(len(places.counts)):
        results.rewards[i], results.errors[i] = 0.0, 0
        results.ended[i, 0], results.ended[i, 1] = False, False
        if not places.active[i]:
            continue
        row, action, clock = places.rows[i], actions[i], places.clocks[i]
        places.clocks[i] = clock + 1
        # STOP ends the episode: +1 where the command leads, else 0.
        if action == STOP:
            is_solved = is_reached(rule, places, gold, i, clock)
            results.rewards[i], results.errors[i] = 1.0 if is_solved else 0.0, 0 if is_solved else STOPPED_EARLY
            results.ended[i, 0], places.active[i] = True, False
            continue
        if clock >= gold.lengths[row] or gold.actions[row, clock] != action:
            places.faithful[i] = False
        results.errors[i] = act(places.things[i], places.counts[i], places.boards[i], places.grids[i], places.agents[i], action)
        results.rewards[i] = 0.0 - penalty
        # Where the sequence counts, the first other action ends the episode; so does the horizon, everywhere.
        if rule[SEQUENCE] != 0 and not places.faithful[i]:
            results.errors[i], results.ended[i, 0], places.active[i] = STOPPED_EARLY, True, False
        elif clock + 1 >= rule[MOST_STEPS]:
            results.errors[i], results.ended[i, 1], places.active[i] = NEVER_STOPPED, True, False


def is_reached(rule: Ints, places: Places, gold: Gold, i: int, clock: int) -> bool:
    """Whether place i is where the command leads: objects and agent in the gold cells; or all gold actions done."""
    row = places.rows[i]
    if rule[SEQUENCE] != 0:
        return bool(places.faithful[i] and clock == gold.lengths[row])
    if places.agents[i, 0] != gold.agents[row, 0] or places.agents[i, 1] != gold.agents[row, 1]:
        return False
    for k in range(places.things.shape[1]):
        for field in range(places.things.shape[2]):
            if places.things[i, k, field] != gold.things[row, k, field]:
                return False
    return True


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
