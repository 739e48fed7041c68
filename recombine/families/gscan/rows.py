"""A row of either recipe: where its scalars are, its objects' cells, its plan, and how it is written.

A row's scalars go to `facts[row]` (columns COMMAND … below), its objects to `things[row]` and `roles[row]`, its actions to
`actions[row]`.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import below
from recombine.grid.codes import COLUMN, PULL, ROW, SMALL, WALK
from recombine.grid.kernel import arrival, draw_free, plan, put, travel

KERNEL = True

# columns of `facts`
COMMAND, LENGTH, MOVED, AGENT_R, AGENT_C, COUNT, DIRECTION = 0, 1, 2, 3, 4, 5, 6
FACTS = 7
# roles
TARGET, SIZE_DECOY, COLOR_DECOY, SHAPE_DECOY, BLOCKER, RANDOM = 0, 1, 2, 3, 4, 5
ROW_SIGN = (0, 1, 1, 1, 0, -1, -1, -1)
COLUMN_SIGN = (1, 1, 0, -1, -1, -1, 0, 1)


def contrast(rng: Any, word: Any, size: Any) -> Any:
    """A uniform size that makes `size` the small or the big one."""
    if word == SMALL:
        return size + 1 + below(rng, 4 - size)
    return 1 + below(rng, size - 1)


def way_of(verb: Any, adverb: Any, agent: Any, target: Any) -> Any:
    """The heading in which the verb moves the target once the agent has arrived."""
    heading = arrival(agent, target, adverb)
    return (heading + 2) % 4 if verb == PULL else heading


def place(rng: Any, grid: Any, n: Any, things: Any, roles: Any, board: Any, blocked_cell: Any, agent: Any) -> None:
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


def finish(grid: Any, verb: Any, adverb: Any, agent: Any, target: Any, board: Any, out: Any, facts: Any) -> None:
    """Plan the actions and note their number and how many cells the target moves; the board must hold the objects only."""
    facts[LENGTH] = plan(board, grid, agent, target, verb, adverb, out)
    facts[MOVED] = 0
    if verb != WALK:
        facts[MOVED] = travel(board, grid, target[ROW], target[COLUMN], way_of(verb, adverb, agent, target))


def write_row(facts: Any, scratch: Any, role: Any, out: Any, things: Any, roles: Any, actions: Any) -> None:
    """Copy one row from the scratch arrays to the (small-integer) output arrays."""
    for k in range(facts[COUNT]):
        for a in range(5):
            things[k, a] = scratch[k, a]
        roles[k] = role[k]
    for k in range(facts[LENGTH]):
        actions[k] = out[k]
