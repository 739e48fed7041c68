"""Judges many answers in many grid worlds: what each one does, and which shortcut reader's plan it equals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from recombine.draws import Ints
from recombine.grid.codes import AGENT_COLUMN, AGENT_ROW, COLUMN, DO_PULL, DO_PUSH, OK, ROW
from recombine.grid.kernel import act, fill_board, plan

KERNEL = True
MOST_THINGS, MOST_GRID = 32, 24
LONGEST_PLAN = 20 * MOST_GRID + 8
# columns of `figures`
TARGET_CELL, END_STATE, PREFIX, FAILED = 0, 1, 2, 3
FIGURES = 4
# columns of `Desk.note`
REACHED_ROW, REACHED_COLUMN, FAILURES = 0, 1, 2


class Worlds(NamedTuple):
    """The worlds that answers act in."""

    things: Ints  # [rows, most, 5]: size, colour, shape, row, column
    counts: Ints  # [rows]
    agents: Ints  # [rows, 4]: row, column, heading, charge
    grids: Ints  # [rows]


class Answers(NamedTuple):
    """Action codes end to end, and n + 1 offsets."""

    codes: Ints
    offsets: Ints


class Desk(NamedTuple):
    """Working space for one row."""

    things: Ints  # [32, 5]: the world at its beginning
    agent: Ints  # [4]
    end_things: Ints  # [32, 5]: the world after the answer
    end_agent: Ints  # [4]
    other_things: Ints  # [32, 5]: the world after another plan
    other_agent: Ints  # [4]
    board: Ints  # [24]: objects at the beginning
    scratch: Ints  # [24]: a board that acting changes
    out: Ints  # [LONGEST_PLAN]: the present plan
    note: Ints  # [3]: reached row and column, failures


def desk_of() -> Desk:
    """Empty working space."""
    worlds = np.zeros((3, MOST_THINGS, 5), np.int64)
    agents = np.zeros((3, 4), np.int64)
    boards = np.zeros((2, MOST_GRID), np.int64)
    out, note = np.zeros(LONGEST_PLAN, np.int64), np.zeros(3, np.int64)
    return Desk(worlds[0], agents[0], worlds[1], agents[1], worlds[2], agents[2], boards[0], boards[1], out, note)


def set_scene(worlds: Any, row: Any, desk: Any) -> Any:
    """Put a row's world on the desk; returns how many objects it has."""
    n = worlds.counts[row]
    for i in range(n):
        for a in range(5):
            desk.things[i, a] = worlds.things[row, i, a]
    for a in range(4):
        desk.agent[a] = worlds.agents[row, a]
    fill_board(desk.board, worlds.grids[row], desk.things, n)
    return n


def follow(desk: Any, n: Any, grid: Any, actions: Any, start: Any, stop: Any, things: Any, agent: Any) -> None:
    """Do the actions from the beginning; `things`, `agent` and `desk.note` hold what comes of it."""
    note = desk.note
    for i in range(n):
        for a in range(5):
            things[i, a] = desk.things[i, a]
    for a in range(4):
        agent[a] = desk.agent[a]
    fill_board(desk.scratch, grid, things, n)
    note[REACHED_ROW], note[REACHED_COLUMN], note[FAILURES] = -1, -1, 0
    for k in range(start, stop):
        if note[REACHED_ROW] < 0 and (actions[k] == DO_PUSH or actions[k] == DO_PULL):
            note[REACHED_ROW], note[REACHED_COLUMN] = agent[AGENT_ROW], agent[AGENT_COLUMN]
        if act(things, n, desk.scratch, grid, agent, actions[k]) != OK:
            note[FAILURES] += 1
    if note[REACHED_ROW] < 0:
        note[REACHED_ROW], note[REACHED_COLUMN] = agent[AGENT_ROW], agent[AGENT_COLUMN]


def measure(desk: Any, n: Any, grid: Any, given: Any, gold: Any, row: Any, figures: Any) -> Any:
    """Act out a row's answer and fill its figures; the end is left in `desk.end_*`. Returns whether the answer is right."""
    start, stop = given.offsets[row], given.offsets[row + 1]
    first, last = gold.offsets[row], gold.offsets[row + 1]
    k = 0
    while start + k < stop and first + k < last and given.codes[start + k] == gold.codes[first + k]:
        k += 1
    figures[PREFIX] = k
    follow(desk, n, grid, gold.codes, first, last, desk.other_things, desk.other_agent)
    follow(desk, n, grid, given.codes, start, stop, desk.end_things, desk.end_agent)
    is_there = desk.note[REACHED_ROW] == desk.things[0, ROW] and desk.note[REACHED_COLUMN] == desk.things[0, COLUMN]
    figures[TARGET_CELL] = 1 if is_there else 0
    is_right_end = are_alike(n, desk.end_things, desk.end_agent, desk.other_things, desk.other_agent)
    figures[END_STATE] = 1 if is_right_end else 0
    figures[FAILED] = desk.note[FAILURES]
    return start + k == stop and first + k == last


def is_same(out: Any, m: Any, actions: Any, start: Any, stop: Any) -> Any:
    """Whether the first m actions of `out` are actions[start:stop]."""
    if m != stop - start:
        return False
    for k in range(m):  # noqa: SIM110 - compiled
        if out[k] != actions[start + k]:
            return False
    return True


def are_alike(n: Any, things: Any, agent: Any, other_things: Any, other_agent: Any) -> Any:
    """Whether everything lies in the same place; the heading does not matter."""
    if agent[AGENT_ROW] != other_agent[AGENT_ROW] or agent[AGENT_COLUMN] != other_agent[AGENT_COLUMN]:
        return False
    for i in range(n):  # noqa: SIM110 - compiled
        if things[i, ROW] != other_things[i, ROW] or things[i, COLUMN] != other_things[i, COLUMN]:
            return False
    return True


SAME, ALIKE = 1, 2


def likeness(desk: Any, n: Any, grid: Any, m: Any, given: Any, start: Any, stop: Any, may_be_alike: Any) -> Any:
    """How the plan in `desk.out` compares with the answer: SAME actions, ALIKE end, or 0. An empty plan is like nothing."""
    if m == 0:
        return 0
    if is_same(desk.out, m, given, start, stop):
        return SAME
    if not may_be_alike:
        return 0
    follow(desk, n, grid, desk.out, 0, m, desk.other_things, desk.other_agent)
    return ALIKE if are_alike(n, desk.end_things, desk.end_agent, desk.other_things, desk.other_agent) else 0


def plan_to(desk: Any, grid: Any, target: Any, verb: Any, adverb: Any) -> Any:
    """Write the plan to an object to `desk.out`; returns its length."""
    return plan(desk.board, grid, desk.agent, desk.things[target], verb, adverb, desk.out)


def distance(desk: Any, i: Any) -> Any:
    """Steps from the agent to an object."""
    return abs(desk.things[i, ROW] - desk.agent[AGENT_ROW]) + abs(desk.things[i, COLUMN] - desk.agent[AGENT_COLUMN])
