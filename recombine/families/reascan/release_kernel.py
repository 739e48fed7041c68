"""The hot loop of the release recipe: what the original generator does for one draw, its quirks included, many times over.

Size words are pairwise, pivots go to the first free cell of the row or column, and a draw that is not unique is thrown away as a
whole. What is put into a world, and how, is in `release_decoys`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.families.reascan.asking import mentions_red_square
from recombine.families.reascan.commands import unpack
from recombine.families.reascan.decoys import ATTRIBUTE, CONTRAST, ISOMORPHISM, PIVOT, RANDOM, RELATION, TARGET, name_new
from recombine.families.reascan.growing import CELLS, GRID, NODES, N, draw_cell
from recombine.families.reascan.kernel import clear
from recombine.families.reascan.release_decoys import (
    ATTRIBUTE_KIND,
    ATTRIBUTE_NODE,
    EVERYONE,
    SWAP_KIND,
    add_contrasts,
    add_fill,
    add_relation,
    add_swapped,
    choose_change,
    list_contrasts,
    place_group,
    place_mentioned,
)
from recombine.families.reascan.rows import FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM, FLAG_RELATION, write_row
from recombine.grid.codes import CYLINDER, PAIRWISE, RED, SMALL, SQUARE, YELLOW
from recombine.grid.kernel import fill_board, is_bindable, lowest, phrase, plan, popcount

KERNEL = True
LEAN = True

ALL_STRATEGIES, RANDOM_ONLY, RELATION_AND_RANDOM = 0, 1, 2
KEEP_ALL, KEEP_A1, KEEP_A2, KEEP_A3, KEEP_NO_RED_SQUARE = 0, 1, 2, 3, 4
"""Which draws a part keeps besides being unique."""


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
    due: Any,
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
    flags = 0
    if not place_mentioned(things, sets, boards, st, words, links, bounds, kinds, rng):
        return -1
    name_new(0, st, marks[0], marks[1], PIVOT, -1)
    marks[0, 0] = TARGET
    before = st[N]
    if (
        mode != RANDOM_ONLY
        and st[NODES] > 1
        and add_relation(things, sets, boards, st, words, links, bounds, kinds, lists, rng)
    ):
        flags |= FLAG_RELATION
    name_new(before, st, marks[0], marks[1], RELATION, -1)
    if add_changed(things, sets, boards, st, words, other, links, bounds, kinds, due, notes, marks, lists, mode, rng):
        flags |= FLAG_ATTRIBUTE
    before = st[N]
    if mode == ALL_STRATEGIES and add_swapped(things, sets, boards, st, words, other, links, bounds, kinds, notes, lists, rng):
        flags |= FLAG_ISOMORPHISM
    name_new(before, st, marks[0], marks[1], ISOMORPHISM, -1)
    before = st[N]
    filled = add_fill(things, sets, boards, st, words, bounds, kinds[0], lists, rng)
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


def add_changed(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    other: Any,
    links: Any,
    bounds: Any,
    kinds: Any,
    due: Any,
    notes: Any,
    marks: Any,
    lists: Any,
    mode: Any,
    rng: Any,
) -> Any:
    """The attribute distractor with the size contrasts that belong to it, or these alone; True if the former is there in full.

    Which contrasts are due is decided before the group is there, and they are left out when it stops midway.
    """
    made = choose_change(things, sets, st, words, other, notes, lists, rng) if mode == ALL_STRATEGIES else 0
    if made < 0:
        return False
    covered = notes[ATTRIBUTE_NODE] if notes[ATTRIBUTE_KIND] == 0 else -1
    count = list_contrasts(things, sets, st, words, bounds, covered, due)
    before = st[N]
    is_whole = True
    if made == 1:
        is_whole = place_group(things, sets, boards, st, other, links, bounds, kinds, EVERYONE, lists, rng)
        name_new(before, st, marks[0], marks[1], ATTRIBUTE, -1)
    before = st[N]
    if is_whole:
        is_whole = add_contrasts(things, sets, boards, st, bounds, due, count, kinds[0], rng)
        name_new(before, st, marks[0], marks[1], CONTRAST, -1)
    return is_whole and made == 1


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


def is_kept(things: Any, words: Any, nodes: Any, notes: Any, flags: Any, keep: Any) -> Any:
    """Whether the part keeps the draw: the attribute distractor must be there in full and aim at the held-out word itself."""
    node, kind = notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND] if flags & FLAG_ATTRIBUTE != 0 else -1
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
    due = np.zeros((8, 4), dtype=np.int64)
    notes = np.zeros(3, dtype=np.int64)
    marks = np.zeros((3, 64), dtype=np.int64)
    lists = np.zeros((3, 64), dtype=np.int64)
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
                things, sets, boards, st, words, other, links, bounds, kinds, due, notes, marks, lists, agent, mode, rng
            )
            if flags < 0 or not is_only_referent(things, sets, st, words, links, scratch):
                rejected[0] += 1
                continue
            if not is_kept(things, words, nodes, notes, flags, keep):
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
