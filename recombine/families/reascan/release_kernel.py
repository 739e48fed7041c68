"""The hot loop of the release recipe: what the original generator does for one draw, its quirks included, many times over.

Size words are pairwise. Pivots go to the first free cell of the row or column. Size bounds belong to a shape or to a colour and
shape, never to "object"; a mentioned object without size word gets the bigger bound. Decoy groups copy descriptions, and of the
attribute relations only "same size" is carried over to them. A draw that is not unique is thrown away as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.reascan.commands import unpack
from recombine.families.reascan.decoys import ATTRIBUTE, CONTRAST, ISOMORPHISM, PIVOT, RANDOM, RELATION, TARGET, name_new
from recombine.families.reascan.growing import ANCHORS, CELLS, GRID, NODES, N, add, draw_cell
from recombine.families.reascan.kernel import clear, mentions_red_square
from recombine.families.reascan.rows import FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM, FLAG_RELATION, write_row
from recombine.grid.codes import (
    BIG,
    BOX,
    COLOR,
    COLUMN,
    CYLINDER,
    INSIDE,
    NO_SIZE,
    PAIRWISE,
    RED,
    ROW,
    SAME_COLOR,
    SAME_COLUMN,
    SAME_ROW,
    SAME_SHAPE,
    SAME_SIZE,
    SHAPE,
    SIZE,
    SMALL,
    SQUARE,
    YELLOW,
)
from recombine.grid.kernel import fill_board, is_bindable, lowest, phrase, plan, popcount

KERNEL = True
LEAN = True

FILL = 13
"""Random objects are added until there are so many."""
ALL_STRATEGIES, RANDOM_ONLY, RELATION_AND_RANDOM = 0, 1, 2
KEEP_ALL, KEEP_A1, KEEP_A2, KEEP_A3, KEEP_NO_RED_SQUARE = 0, 1, 2, 3, 4
"""Which draws a part keeps besides being unique."""
DROP = -1
ATTRIBUTE_NODE, ATTRIBUTE_KIND, SWAP_KIND = 0, 1, 2
SWAP_COLOR, SWAP_SIZE_SHAPE = 1, 2


def bound(bounds: Any, color: Any, shape: Any, is_small: Any) -> Any:
    """The small or big size that objects of this kind are bound to, or 0. Rows of bounds: 4 shapes, then 16 colours and shapes."""
    key = shape if bounds[shape, 0] != 0 else 4 + color * 4 + shape
    return bounds[key, 0] if is_small else bounds[key, 1]


def draw_bounds(words: Any, nodes: Any, bounds: Any, rng: Any) -> None:
    """Draw a pair of sizes for each sized phrase; one for a shape overwrites those for its colours."""
    for key in range(20):
        bounds[key, 0], bounds[key, 1] = 0, 0
    for j in range(nodes):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or shape < 0:
            continue
        low = 1 + below(rng, 3)
        high = low + 1 + below(rng, 4 - low)
        if color < 0:
            for c in range(4):
                bounds[4 + c * 4 + shape, 0], bounds[4 + c * 4 + shape, 1] = 0, 0
            bounds[shape, 0], bounds[shape, 1] = low, high
        else:
            key = 4 + color * 4 + shape
            bounds[key, 0], bounds[key, 1] = low, high


def draw_kind(bounds: Any, size: Any, color: Any, shape: Any, kind: Any, rng: Any) -> None:
    """Fill kind = [size, colour, shape] for a description: what it leaves open is uniform, sizes obey the bounds."""
    kind[1] = color if color >= 0 else below(rng, 4)
    kind[2] = shape if shape >= 0 else below(rng, 3)
    fixed = bound(bounds, kind[1], kind[2], size == SMALL)
    if fixed != 0:
        kind[0] = fixed
    elif size == SMALL:
        kind[0] = 1 + below(rng, 3)
    elif size == BIG:
        kind[0] = 2 + below(rng, 3)
    else:
        kind[0] = 1 + below(rng, 4)


def first_free(boards: Any, grid: Any, is_row: Any, line: Any) -> Any:
    """The first free cell of a row or column, from its beginning, as row * 64 + column; -1 if it is full."""
    for k in range(grid):
        row, column = (line, k) if is_row else (k, line)
        if (boards[CELLS, row] >> column) & 1 == 0:
            return row * 64 + column
    return -1


def place(things: Any, sets: Any, boards: Any, st: Any, kind: Any, parent: Any, relation: Any, rng: Any) -> Any:
    """Put an object down in its relation to object `parent` (-1: none); returns its index, or -1 if there is no cell."""
    grid, size = st[GRID], kind[0]
    if st[N] >= 30:
        return -1
    if kind[2] == BOX:
        top, bottom, left, right = 0, grid - size, 0, grid - size
        if parent >= 0 and relation == INSIDE:
            top, bottom = max(0, things[parent, ROW] - size + 1), min(grid - size, things[parent, ROW])
            left, right = max(0, things[parent, COLUMN] - size + 1), min(grid - size, things[parent, COLUMN])
        cell = draw_cell(boards, ANCHORS, top, bottom, left, right, rng)
    elif parent >= 0 and relation == SAME_ROW:
        cell = first_free(boards, grid, True, things[parent, ROW])
    elif parent >= 0 and relation == SAME_COLUMN:
        cell = first_free(boards, grid, False, things[parent, COLUMN])
    else:
        cell = draw_cell(boards, CELLS, 0, grid - 1, 0, grid - 1, rng)
    if cell < 0:
        return -1
    return add(things, sets, boards, st, size, kind[1], kind[2], cell >> 6, cell & 63)


def place_group(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    links: Any,
    bounds: Any,
    kinds: Any,
    skip: Any,
    lists: Any,
    rng: Any,
) -> Any:
    """Put down a fresh group for the description, without node `skip`; False if it stopped midway for want of a cell."""
    nodes = st[NODES]
    for j in range(nodes):
        if j != skip:
            draw_kind(bounds, words[j, 0], words[j, 1], words[j, 2], kinds[j], rng)
    for j in range(1, nodes):
        if j != skip and links[1, j] == SAME_SIZE:
            kinds[links[0, j], 0] = kinds[j, 0]
    for j in range(nodes):
        lists[0, j] = -1
        if j == skip:
            continue
        parent = lists[0, links[0, j]] if j > 0 else -1
        lists[0, j] = place(things, sets, boards, st, kinds[j], parent, links[1, j], rng)
        if lists[0, j] < 0:
            return False
    return True


def place_mentioned(
    things: Any, sets: Any, boards: Any, st: Any, words: Any, links: Any, bounds: Any, kinds: Any, rng: Any
) -> Any:
    """The mentioned objects: attributes drawn, copied from child to parent along same-attribute relations, bound, placed."""
    nodes = st[NODES]
    for key in range(20):
        bounds[key, 0], bounds[key, 1] = 0, 0
    for j in range(nodes):
        draw_kind(bounds, words[j, 0], words[j, 1], words[j, 2], kinds[j], rng)
    for j in range(nodes - 1, 0, -1):
        relation, parent = links[1, j], links[0, j]
        if relation == SAME_COLOR:
            kinds[parent, 1] = kinds[j, 1]
        elif relation == SAME_SHAPE:
            kinds[parent, 2] = kinds[j, 2]
        elif relation == SAME_SIZE:
            kinds[parent, 0] = kinds[j, 0]
    draw_bounds(words, nodes, bounds, rng)
    for j in range(nodes):
        fixed = bound(bounds, kinds[j, 1], kinds[j, 2], words[j, 0] == SMALL)
        if fixed != 0:
            kinds[j, 0] = fixed
    for j in range(nodes - 1, 0, -1):
        if links[1, j] == SAME_SIZE:
            kinds[links[0, j], 0] = kinds[j, 0]
    for j in range(nodes):  # noqa: SIM110 - Numba compiles no generators
        if place(things, sets, boards, st, kinds[j], links[0, j], links[1, j], rng) < 0:
            return False
    return True


def add_relation(
    things: Any, sets: Any, boards: Any, st: Any, words: Any, links: Any, bounds: Any, kinds: Any, lists: Any, rng: Any
) -> Any:
    """Groups that satisfy all clauses but one; True if all of them found their cells."""
    nodes = st[NODES]
    if nodes == 2:
        draw_kind(bounds, words[0, 0], words[0, 1], words[0, 2], kinds[0], rng)
        kinds[0, 0] = things[0, SIZE]
        return place(things, sets, boards, st, kinds[0], -1, 0, rng) >= 0
    if links[0, 2] == 1:
        return place_group(things, sets, boards, st, words, links, bounds, kinds, 2, lists, rng)
    for skip in range(1, nodes):  # noqa: SIM110
        if not place_group(things, sets, boards, st, words, links, bounds, kinds, skip, lists, rng):
            return False
    return True


def add_attribute(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    other: Any,
    links: Any,
    bounds: Any,
    kinds: Any,
    notes: Any,
    lists: Any,
    rng: Any,
) -> Any:
    """A group with one word of one phrase changed, unless two boxes are there; returns -1 if no phrase has a word to change."""
    nodes = st[NODES]
    n_able = 0
    for j in range(nodes):
        if words[j, 2] >= 0 and words[j, 2] != BOX:
            lists[1, n_able] = j
            n_able += 1
    if popcount(sets[SHAPE, BOX]) >= 2:
        return 0
    if n_able == 0:
        return -1
    node = lists[1, below(rng, n_able)]
    n_slots = 0
    for kind in range(3):
        if (kind == 0 and words[node, 0] != NO_SIZE) or (kind == 1 and words[node, 1] >= 0) or kind == 2:
            lists[1, n_slots] = kind
            n_slots += 1
    slot = lists[1, below(rng, n_slots)]
    for j in range(nodes):
        for a in range(3):
            other[j, a] = words[j, a]
    if slot == 0:
        other[node, 0] = SMALL + BIG - words[node, 0]
    else:
        other[node, 0] = NO_SIZE
        if slot == 1:
            other[node, 1] = (words[node, 1] + 1 + below(rng, 3)) % 4
        else:
            other[node, 1] = things[node, COLOR]
            other[node, 2] = (words[node, 2] + 1 + below(rng, 2)) % 3
    notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND] = node, slot
    return 1 if place_group(things, sets, boards, st, other, links, bounds, kinds, DROP, lists, rng) else 0


def add_size_contrasts(things: Any, sets: Any, boards: Any, st: Any, words: Any, bounds: Any, kinds: Any, rng: Any) -> None:
    """For each sized phrase with a shape, an object of its kind with the other bound, unless one is there."""
    for j in range(st[NODES]):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or shape < 0:
            continue
        kinds[0, 1] = color if color >= 0 else below(rng, 4)
        kinds[0, 2] = shape
        kinds[0, 0] = bound(bounds, kinds[0, 1], shape, size == BIG)
        serving = sets[SHAPE, shape] & sets[SIZE, kinds[0, 0]]
        if color >= 0:
            serving = serving & sets[COLOR, color]
        if serving == 0:
            place(things, sets, boards, st, kinds[0], -1, 0, rng)


def add_swapped(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    other: Any,
    links: Any,
    bounds: Any,
    kinds: Any,
    notes: Any,
    lists: Any,
    rng: Any,
) -> Any:
    """A group with colours, or sizes and shapes, swapped between the second and the third phrase; False if there is none."""
    if st[NODES] != 3 or words[1, 2] == BOX or words[2, 2] == BOX:
        return False
    for j in range(3):
        for a in range(3):
            other[j, a] = words[j, a]
    if below(rng, 2) == 0:
        notes[SWAP_KIND] = SWAP_COLOR
        other[1, 1], other[2, 1] = words[2, 1], words[1, 1]
    else:
        notes[SWAP_KIND] = SWAP_SIZE_SHAPE
        other[1, 0], other[2, 0] = words[2, 0], words[1, 0]
        other[1, 2], other[2, 2] = words[2, 2], words[1, 2]
    return place_group(things, sets, boards, st, other, links, bounds, kinds, DROP, lists, rng)


def add_fill(things: Any, sets: Any, boards: Any, st: Any, words: Any, bounds: Any, kinds: Any, lists: Any, rng: Any) -> Any:
    """Random objects of kinds that no mentioned object has, up to FILL objects in all; -1 if no kind is left."""
    nodes, before = st[NODES], st[N]
    n_kinds = 0
    for color in range(4):
        for shape in range(3):
            is_out = False
            for j in range(nodes):
                if things[j, COLOR] == color and things[j, SHAPE] == shape:
                    is_out = True
                if words[j, 1] == color and words[j, 2] < 0:
                    is_out = True
                if nodes == 1 and things[0, SHAPE] == shape:
                    is_out = True
            if not is_out:
                lists[1, n_kinds] = color * 4 + shape
                n_kinds += 1
    if n_kinds == 0 and before < FILL:
        return -1
    while st[N] < FILL:
        pick = lists[1, below(rng, n_kinds)]
        kinds[0, 1], kinds[0, 2] = pick // 4, pick % 4
        fixed = bound(bounds, kinds[0, 1], kinds[0, 2], below(rng, 2) == 0)
        kinds[0, 0] = fixed if fixed != 0 else 1 + below(rng, 4)
        if place(things, sets, boards, st, kinds[0], -1, 0, rng) < 0:
            break
    return st[N] - before


def draw_world(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    other: Any,
    links: Any,
    bounds: Any,
    kinds: Any,
    notes: Any,
    marks: Any,
    lists: Any,
    agent: Any,
    mode: Any,
    rng: Any,
) -> Any:
    """One draw, not yet judged; returns the flags of the strategies that worked, or -1 if an object found no place."""
    clear(sets, boards, marks, st)
    notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND], notes[SWAP_KIND] = -1, -1, 0
    nodes, flags = st[NODES], 0
    if not place_mentioned(things, sets, boards, st, words, links, bounds, kinds, rng):
        return -1
    name_new(0, st, marks[0], marks[1], PIVOT, -1)
    marks[0, 0] = TARGET
    if mode != RANDOM_ONLY and nodes > 1:
        before = st[N]
        if add_relation(things, sets, boards, st, words, links, bounds, kinds, lists, rng):
            flags |= FLAG_RELATION
        name_new(before, st, marks[0], marks[1], RELATION, -1)
    before = st[N]
    made = 0
    if mode == ALL_STRATEGIES:
        made = add_attribute(things, sets, boards, st, words, other, links, bounds, kinds, notes, lists, rng)
        if made == 1:
            flags |= FLAG_ATTRIBUTE
        name_new(before, st, marks[0], marks[1], ATTRIBUTE, -1)
    if made >= 0:
        before = st[N]
        add_size_contrasts(things, sets, boards, st, words, bounds, kinds, rng)
        name_new(before, st, marks[0], marks[1], CONTRAST, -1)
    if mode == ALL_STRATEGIES:
        before = st[N]
        if add_swapped(things, sets, boards, st, words, other, links, bounds, kinds, notes, lists, rng):
            flags |= FLAG_ISOMORPHISM
        name_new(before, st, marks[0], marks[1], ISOMORPHISM, -1)
    before = st[N]
    filled = add_fill(things, sets, boards, st, words, bounds, kinds, lists, rng)
    if filled < 0:
        return -1
    if filled > 0:
        flags |= FLAG_RANDOM
    name_new(before, st, marks[0], marks[1], RANDOM, -1)
    cell = draw_cell(boards, CELLS, 0, st[GRID] - 1, 0, st[GRID] - 1, rng)
    if cell < 0:
        return -1
    agent[0], agent[1], agent[2], agent[3] = cell >> 6, cell & 63, 0, 0
    return flags


def is_only_referent(things: Any, sets: Any, st: Any, words: Any, links: Any, scratch: Any) -> Any:
    """Whether the command means object 0 and nothing else, size words pairwise."""
    everything = (1 << st[N]) - 1
    for j in range(st[NODES]):
        scratch[0, j] = phrase(sets, everything, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
    left = scratch[0, 0]
    if left & 1 == 0:
        return False
    while left:
        root = lowest(left)
        left &= left - 1
        if is_bindable(things, sets, scratch[0], links[0], links[1], st[NODES], root, scratch[4], scratch[5]) != (root == 0):
            return False
    return True


def is_kept(things: Any, words: Any, nodes: Any, notes: Any, keep: Any) -> Any:
    """Whether the part keeps the draw: the attribute distractor must aim at the held-out word itself."""
    node, kind = notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND]
    if keep == KEEP_NO_RED_SQUARE:
        return not mentions_red_square(things, nodes)
    if keep == KEEP_A1:
        return kind == 1 and words[node, 1] == YELLOW and words[node, 2] == SQUARE
    if keep == KEEP_A3:
        return kind == 0 and words[node, 0] == SMALL and words[node, 2] == CYLINDER
    if keep == KEEP_A2:
        for j in range(nodes):
            if words[j, 1] == RED and words[j, 2] == SQUARE:
                return kind == 1 and words[node, 1] == RED and words[node, 2] == SQUARE
        return mentions_red_square(things, nodes)
    return True


def release_rows(
    states: Any,
    forms: Any,
    grid: Any,
    mode: Any,
    keep: Any,
    most: Any,
    wanted: Any,
    which: Any,
    letters: Any,
    starts: Any,
    rows: Any,
    flat: Any,
    flat_ends: Any,
    steps: Any,
    step_ends: Any,
    text: Any,
    text_ends: Any,
    spare: Any,
    strategy: Any,
    alive: Any,
    rejected: Any,
) -> Any:
    """One row per state and form, at most `most` draws each; alive[i] is how many of them were good, up to `wanted`.

    With wanted > 1 nothing is written: that call only asks which commands are worth their draws. Returns how many rows were found.
    """
    things = np.zeros((32, 5), dtype=np.int64)
    sets = np.zeros((5, max(5, grid)), dtype=np.int64)
    boards = np.zeros((2, grid), dtype=np.int64)
    st = np.zeros(8, dtype=np.int64)
    words = np.zeros((8, 3), dtype=np.int64)
    other = np.zeros((8, 3), dtype=np.int64)
    codes = np.zeros(8, dtype=np.int64)
    links = np.zeros((2, 8), dtype=np.int64)
    the = np.zeros(8, dtype=np.int64)
    bounds = np.zeros((20, 2), dtype=np.int64)
    kinds = np.zeros((8, 3), dtype=np.int64)
    notes = np.zeros(3, dtype=np.int64)
    marks = np.zeros((3, 64), dtype=np.int64)
    lists = np.zeros((2, 64), dtype=np.int64)
    scratch = np.zeros((6, 8), dtype=np.int64)
    agent = np.zeros(4, dtype=np.int64)
    out = np.zeros(20 * grid + 8, dtype=np.int64)
    rng = np.zeros(1, dtype=np.uint64)
    ends = np.zeros(4, dtype=np.int64)
    st[GRID] = grid
    done = 0
    for i in range(states.shape[0]):
        rng[0] = states[i]
        nodes = unpack(forms[i], words, codes, links)
        st[NODES] = nodes
        alive[i] = 0
        flags, draws = -1, 0
        for draw in range(most):
            flags = draw_world(
                things, sets, boards, st, words, other, links, bounds, kinds, notes, marks, lists, agent, mode, rng
            )
            if flags < 0 or not is_only_referent(things, sets, st, words, links, scratch):
                rejected[0] += 1
                continue
            if not is_kept(things, words, nodes, notes, keep):
                rejected[1] += 1
                continue
            alive[i] += 1
            draws = draw + 1
            if alive[i] >= wanted:
                break
        if wanted > 1 or alive[i] == 0:
            continue
        done += 1
        everything = (1 << st[N]) - 1
        for j in range(nodes):
            fitting = phrase(sets, everything, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
            the[j] = 1 if j == 0 or popcount(fitting) == 1 else 0
        for k in range(3):
            strategy[i, k] = notes[k]
        fill_board(boards[CELLS], grid, things, st[N])
        length = plan(boards[CELLS], grid, agent, things[0], forms[i] % 15 // 5, forms[i] % 5, out)
        write_row(
            i, forms[i], flags, draws, which[i], things, st, codes, links, the, marks, agent, out, length, letters, starts, rows,
            flat, flat_ends, steps, step_ends, text, text_ends, spare, ends,
        )  # fmt: skip
    return done
