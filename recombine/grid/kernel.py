"""The grid's hot functions: boards, sets of objects, noun phrases, injective matching, planner and simulator.

A *board* is an int64 array with one word per row of the grid; bit c of word r is the cell (r, c). A *set* of objects is one
word, bit i for object i. Everything stays below 2**31, so plain Python, NumPy and compiled integers agree. Only objects that
are no boxes are on the board: boxes block nothing and are blocked by nothing.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints, Words, below
from recombine.grid.codes import (
    AGENT_COLUMN,
    AGENT_ROW,
    BLOCKED,
    BOX,
    CAUTIOUS,
    CHARGE,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    DO_LEFT,
    DO_PULL,
    DO_PUSH,
    DO_RIGHT,
    DO_STAY,
    DO_WALK,
    EAST,
    HEADING,
    HEAVY_FROM,
    HESITANT,
    INSIDE,
    NO_SIZE,
    NORTH,
    NOTHING,
    OK,
    PAIRWISE,
    PULL,
    ROW,
    ROW_STEP,
    SAME_COLOR,
    SAME_COLUMN,
    SAME_ROW,
    SAME_SHAPE,
    SHAPE,
    SIZE,
    SMALL,
    SOUTH,
    SPIN,
    WALK,
    WALL,
    WEST,
    ZIGZAG,
)

KERNEL = True
LEAN = True


# --- bits ------------------------------------------------------------------------------------------------------------


def popcount(word: int) -> Any:
    """How many bits of a word below 2**31 are set."""
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) & 0xFFFFFFFF) >> 24


def lowest(word: int) -> Any:
    """The index of the lowest set bit; the word must not be 0."""
    return popcount((word & -word) - 1)


def nth(word: int, k: int) -> Any:
    """The index of the k-th set bit, from 0; the word must have more than k."""
    while k > 0:
        word &= word - 1
        k -= 1
    return lowest(word)


# --- boards ----------------------------------------------------------------------------------------------------------


def fill_board(board: Ints, grid: int, things: Ints, n: int) -> None:
    """Put every object that is no box on the board."""
    for r in range(grid):
        board[r] = 0
    for i in range(n):
        if things[i, SHAPE] != BOX:
            board[things[i, ROW]] |= 1 << things[i, COLUMN]


def is_taken(board: Ints, row: int, column: int) -> Any:
    """Whether the cell is on the board."""
    return (board[row] >> column) & 1 != 0


def put(board: Ints, row: int, column: int) -> None:
    """Add the cell to the board."""
    board[row] |= 1 << column


def lift(board: Ints, row: int, column: int) -> None:
    """Remove the cell from the board."""
    board[row] &= ~(1 << column)


def count_free(board: Ints, grid: int) -> Any:
    """How many cells of the grid are not on the board."""
    total = grid * grid
    for r in range(grid):
        total -= popcount(board[r])
    return total


def draw_free(board: Ints, grid: int, rng: Words) -> Any:
    """A uniform free cell as row * grid + column, or -1 if there is none (no draw is made then)."""
    free = count_free(board, grid)
    if free == 0:
        return -1
    k = below(rng, free)
    full = (1 << grid) - 1
    for r in range(grid):
        word = full & ~board[r]
        here = popcount(word)
        if k < here:
            return r * grid + nth(word, k)
        k -= here
    return -1


# --- sets of objects -------------------------------------------------------------------------------------------------


def index_things(things: Ints, n: int, sets: Ints) -> Any:
    """Fill `sets[column of things, value]`, an int64 array of at least (5, max(5, grid)); returns the set of all objects."""
    for a in range(5):
        for b in range(sets.shape[1]):
            sets[a, b] = 0
    for i in range(n):
        bit = 1 << i
        for a in range(5):
            sets[a, things[i, a]] |= bit
    return (1 << n) - 1


def covering(things: Ints, sets: Ints, row: int, column: int) -> Any:
    """The boxes that cover the cell."""
    boxes = sets[SHAPE, BOX]
    found = boxes & 0
    while boxes:
        i = lowest(boxes)
        boxes &= boxes - 1
        top, left, k = things[i, ROW], things[i, COLUMN], things[i, SIZE]
        if top <= row < top + k and left <= column < left + k:
            found |= 1 << i
    return found


def contents(things: Ints, sets: Ints, grid: int, i: int) -> Any:
    """The objects whose anchor lies inside box i, itself excluded; the empty set if i is no box."""
    if things[i, SHAPE] != BOX:
        return sets[SHAPE, BOX] & 0
    rows, columns = sets[ROW, 0] & 0, sets[ROW, 0] & 0
    for d in range(things[i, SIZE]):
        if things[i, ROW] + d < grid:
            rows |= sets[ROW, things[i, ROW] + d]
        if things[i, COLUMN] + d < grid:
            columns |= sets[COLUMN, things[i, COLUMN] + d]
    return rows & columns & ~(1 << i)


def children(things: Ints, sets: Ints, relation: int, i: int) -> Any:
    """The objects j such that i stands in the relation to j ("i is inside of j"), i itself excluded."""
    if relation == INSIDE:
        found = covering(things, sets, things[i, ROW], things[i, COLUMN])
    elif relation == SAME_ROW:
        found = sets[ROW, things[i, ROW]]
    elif relation == SAME_COLUMN:
        found = sets[COLUMN, things[i, COLUMN]]
    elif relation == SAME_COLOR:
        found = sets[COLOR, things[i, COLOR]]
    elif relation == SAME_SHAPE:
        found = sets[SHAPE, things[i, SHAPE]]
    else:
        found = sets[SIZE, things[i, SIZE]]
    return found & ~(1 << i)


def parents(things: Ints, sets: Ints, grid: int, relation: int, j: int) -> Any:
    """The objects i such that i stands in the relation to j, j itself excluded."""
    if relation == INSIDE:
        return contents(things, sets, grid, j)
    return children(things, sets, relation, j)


def described(sets: Ints, everything: int, color: int, shape: int) -> Any:
    """The objects of this colour and shape; -1 leaves either open."""
    found = everything
    if color >= 0:
        found = found & sets[COLOR, color]
    if shape >= 0:
        found = found & sets[SHAPE, shape]
    return found


def sized(sets: Ints, members: int, word: int, reading: int) -> Any:
    """Those of `members` (the comparison class) of which the size word holds under the reading."""
    if word == NO_SIZE or members == 0:
        return members
    low, high = 1, 4
    while sets[SIZE, low] & members == 0:
        low += 1
    while sets[SIZE, high] & members == 0:
        high -= 1
    if reading == PAIRWISE:
        extreme = high if word == SMALL else low
        return members & ~sets[SIZE, extreme]
    extreme = low if word == SMALL else high
    return members & sets[SIZE, extreme]


def phrase(sets: Ints, everything: int, word: int, color: int, shape: int, reading: int) -> Any:
    """The objects that the noun phrase (size word, colour, shape; relations ignored) fits."""
    return sized(sets, described(sets, everything, color, shape), word, reading)


# --- injective matching ----------------------------------------------------------------------------------------------


def referents(things: Ints, sets: Ints, fits: Ints, parent: Ints, relation: Ints, nodes: int, chosen: Ints, left: Ints) -> Any:
    """The set of objects that can be node 0 when all nodes bind to different objects and every relation holds.

    Node k > 0 hangs on node parent[k] < k by relation[k] ("parent[k] is … as k"); fits[k] is the set its phrase allows.
    `chosen` and `left` are int64 scratch arrays of at least `nodes`; after the call `chosen` holds nothing of meaning.
    """
    found = fits[0] & 0
    roots = fits[0]
    while roots:
        root = lowest(roots)
        roots &= roots - 1
        if is_bindable(things, sets, fits, parent, relation, nodes, root, chosen, left):
            found |= 1 << root
    return found


def is_bindable(
    things: Ints, sets: Ints, fits: Ints, parent: Ints, relation: Ints, nodes: int, root: int, chosen: Ints, left: Ints
) -> Any:
    """Whether the other nodes can bind if node 0 is `root`; `chosen` then holds one such binding."""
    chosen[0] = root
    used = 1 << root
    k = 1
    if nodes == 1:
        return True
    left[1] = fits[1] & children(things, sets, relation[1], root) & ~used
    while k > 0:
        if left[k] == 0:
            k -= 1
            if k > 0:
                used &= ~(1 << chosen[k])
            continue
        pick = lowest(left[k])
        left[k] &= left[k] - 1
        chosen[k] = pick
        if k == nodes - 1:
            return True
        used |= 1 << pick
        k += 1
        left[k] = fits[k] & children(things, sets, relation[k], chosen[parent[k]]) & ~used
    return False


# --- the planner -----------------------------------------------------------------------------------------------------


def turn_to(heading: int, goal: int, out: Ints, m: int) -> Any:
    """Append the turns from one heading to another (a half turn is two to the left); returns the new length."""
    turn = (goal - heading) % 4
    if turn == 1:
        out[m] = DO_RIGHT
        return m + 1
    if turn == 3:
        out[m] = DO_LEFT
        return m + 1
    if turn == 2:
        out[m] = DO_LEFT
        out[m + 1] = DO_LEFT
        return m + 2
    return m


def effort(action: int, heading: int, goal: int, adverb: int, out: Ints, m: int) -> Any:
    """Append one walk, push or pull in the manner of the adverb, turning to `goal` first; returns the new length."""
    if adverb == SPIN:
        for _ in range(4):
            out[m] = DO_LEFT
            m += 1
    m = turn_to(heading, goal, out, m)
    if adverb == CAUTIOUS:
        out[m] = DO_LEFT
        out[m + 1] = DO_RIGHT
        out[m + 2] = DO_RIGHT
        out[m + 3] = DO_LEFT
        m += 4
    out[m] = action
    m += 1
    if adverb == HESITANT:
        out[m] = DO_STAY
        m += 1
    return m


def plan(board: Ints, grid: int, agent: Ints, target: Ints, verb: int, adverb: int, out: Ints) -> Any:
    """Write the gold actions to `out` and return how many: to the target's cell, then push or pull as far as it goes.

    `target` is a row of `things`. Horizontal steps come first; objects never block walking. `out` needs 20 * grid + 8 places.
    """
    heading = agent[HEADING]
    down = target[ROW] - agent[AGENT_ROW]
    right = target[COLUMN] - agent[AGENT_COLUMN]
    across = EAST if right > 0 else WEST
    along = SOUTH if down > 0 else NORTH
    h, v = abs(right), abs(down)
    m = 0
    if adverb == ZIGZAG and h > 0 and v > 0:
        while h > 0 and v > 0:
            m = effort(DO_WALK, heading, across, adverb, out, m)
            m = effort(DO_WALK, across, along, adverb, out, m)
            heading = along
            h -= 1
            v -= 1
    for _ in range(h):
        m = effort(DO_WALK, heading, across, adverb, out, m)
        heading = across
    for _ in range(v):
        m = effort(DO_WALK, heading, along, adverb, out, m)
        heading = along
    if verb == WALK:
        return m
    action = DO_PULL if verb == PULL else DO_PUSH
    way = (heading + 2) % 4 if verb == PULL else heading
    times = 2 if target[SIZE] >= HEAVY_FROM else 1
    for _ in range(travel(board, grid, target[ROW], target[COLUMN], way)):
        for _ in range(times):
            m = effort(action, heading, heading, adverb, out, m)
    return m


def arrival(agent: Ints, target: Ints, adverb: int) -> Any:
    """The heading with which the plan reaches the target's cell (before any push or pull)."""
    down = target[ROW] - agent[AGENT_ROW]
    right = target[COLUMN] - agent[AGENT_COLUMN]
    across = EAST if right > 0 else WEST
    along = SOUTH if down > 0 else NORTH
    if right == 0 and down == 0:
        return agent[HEADING]
    if down == 0:
        return across
    if adverb == ZIGZAG and abs(right) > abs(down):
        return across
    return along


def travel(board: Ints, grid: int, row: int, column: int, way: int) -> Any:
    """How many cells an object can move this way before the wall or another object stops it."""
    cells = 0
    row += ROW_STEP[way]
    column += COLUMN_STEP[way]
    while 0 <= row < grid and 0 <= column < grid and not is_taken(board, row, column):
        cells += 1
        row += ROW_STEP[way]
        column += COLUMN_STEP[way]
    return cells


# --- the simulator ---------------------------------------------------------------------------------------------------


def act(things: Ints, n: int, board: Ints, grid: int, agent: Ints, action: int) -> Any:
    """Do one action; changes things, board and agent in place and returns OK, WALL, BLOCKED or NOTHING (then nothing changes).

    Push and pull move the object in the agent's cell, and the agent with it, ahead or backwards without turning. A heavy
    object moves on the second effort in the same direction; turning and staying in between are allowed, walking is not.
    """
    heading = agent[HEADING]
    if action == DO_STAY:
        return OK
    if action == DO_LEFT:
        agent[HEADING] = (heading + 3) % 4
        return OK
    if action == DO_RIGHT:
        agent[HEADING] = (heading + 1) % 4
        return OK
    way = (heading + 2) % 4 if action == DO_PULL else heading
    row, column = agent[AGENT_ROW] + ROW_STEP[way], agent[AGENT_COLUMN] + COLUMN_STEP[way]
    is_outside = row < 0 or row >= grid or column < 0 or column >= grid
    if action == DO_WALK:
        if is_outside:
            return WALL
        agent[AGENT_ROW], agent[AGENT_COLUMN], agent[CHARGE] = row, column, 0
        return OK
    i = thing_at(things, n, agent[AGENT_ROW], agent[AGENT_COLUMN])
    if i < 0:
        return NOTHING
    if is_outside:
        return WALL
    if is_taken(board, row, column):
        return BLOCKED
    if things[i, SIZE] >= HEAVY_FROM and agent[CHARGE] != way + 1:
        agent[CHARGE] = way + 1
        return OK
    lift(board, things[i, ROW], things[i, COLUMN])
    put(board, row, column)
    things[i, ROW], things[i, COLUMN] = row, column
    agent[AGENT_ROW], agent[AGENT_COLUMN], agent[CHARGE] = row, column, 0
    return OK


def thing_at(things: Ints, n: int, row: int, column: int) -> Any:
    """The index of the object (no box) in the cell, or -1."""
    for i in range(n):
        if things[i, ROW] == row and things[i, COLUMN] == column and things[i, SHAPE] != BOX:
            return i
    return -1


def replay(things: Ints, n: int, board: Ints, grid: int, agent: Ints, actions: Ints, m: int) -> Any:
    """Do m actions from a full world (the board is filled here); returns how many of them were not OK."""
    fill_board(board, grid, things, n)
    failed = 0
    for k in range(m):
        if act(things, n, board, grid, agent, actions[k]) != OK:
            failed += 1
    return failed


def trace(things: Ints, n: int, board: Ints, grid: int, agent: Ints, actions: Ints, m: int, out: Ints) -> None:
    """Like `replay`, and out[k] becomes the agent's row and column after action k and what became of it."""
    fill_board(board, grid, things, n)
    for k in range(m):
        out[k, 2] = act(things, n, board, grid, agent, actions[k])
        out[k, 0], out[k, 1] = agent[AGENT_ROW], agent[AGENT_COLUMN]
