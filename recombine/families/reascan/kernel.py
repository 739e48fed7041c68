"""The hot loop of the sound recipe: commands, worlds, roles, actions and texts of many rows, straight into arrays.

A world is grown, never repaired: target, agent and mentioned objects first; then, for every word and every clause, a decoy that
a reader who skips it would take for the target, unless one is already there; then an isomorphic decoy and random objects.
After each addition the target must still be the only referent, or the addition is taken back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.reascan.aiming import draw_cumulative, draw_target
from recombine.families.reascan.asking import (
    P_CUT,
    P_FIRST,
    P_GRID,
    P_LENGTH,
    P_RD,
    P_SPARE_OK,
    can_have_length,
    is_part,
    mentions_red_square,
    wanted_red,
)
from recombine.families.reascan.building import NEW, build
from recombine.families.reascan.commands import draw_form, is_dead, unpack
from recombine.families.reascan.decoys import (
    ATTRIBUTE,
    PIVOT,
    RANDOM,
    RELATION,
    TARGET,
    add_contrasts,
    add_decoys,
    add_isomorph,
    add_random,
    mark_spare,
    name_new,
    scatter,
)
from recombine.families.reascan.growing import (
    CELLS,
    GRID,
    LIMIT,
    NO_KIND,
    NODES,
    SPARE_OK,
    N,
    add,
    fit,
    is_unique,
    set_pairs,
)
from recombine.families.reascan.rows import FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM, FLAG_RELATION, write_row
from recombine.grid.codes import (
    COLOR,
    COLUMN_STEP,
    NO_SIZE,
    PULL,
    ROW_STEP,
    SHAPE,
    SIZE,
    WALK,
)
from recombine.grid.kernel import arrival, fill_board, plan, popcount

KERNEL = True
LEAN = True


R_COMMAND, R_PART, R_WORLD, R_CLAIM, R_GIVEN_UP = 0, 1, 2, 3, 4
"""Rows of the rejection counts: commands outside the split, draws of other parts, worlds, worlds outside the split, commands."""
GIVEN_TRIES = 60
"""After so many draws, a row whose command was given may mark words as spare instead."""
MOST_TRIES, MOST_COMMANDS = 100_000, 300
"""A row is hopeless after so many draws of a command, or after so many commands without a world."""


# --- one world -------------------------------------------------------------------------------------------------------


def clear(sets: Any, boards: Any, marks: Any, st: Any) -> None:
    """An empty world."""
    st[N] = 0
    for a in range(5):
        for b in range(sets.shape[1]):
            sets[a, b] = 0
    for a in range(2):
        for r in range(boards.shape[1]):
            boards[a, r] = 0
    marks[2, 0] = 0


def grow(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    other: Any,
    links: Any,
    the: Any,
    marks: Any,
    lists: Any,
    scratch: Any,
    aim: Any,
    agent: Any,
    manner: Any,
    is_rd: Any,
    red: Any,
    attempt: Any,
    rng: Any,
) -> Any:
    """Everything after the target's own attributes; returns the flags of the strategies used, or -1 if this attempt failed.

    things[0] already holds the target. `red`: 1 if a mentioned object must be a red square, 0 if none may be, -1 if it is all one;
    -2 is returned if it is not so, -3 if the mentioned objects do not fit with this target. Later attempts promise less "the".
    """
    grid = st[GRID]
    target_size, target_color, target_shape = things[0, SIZE], things[0, COLOR], things[0, SHAPE]
    row, column = aim[0] // grid, aim[0] % grid
    clear(sets, boards, marks, st)
    add(things, sets, boards, st, target_size, target_color, target_shape, row, column)
    boards[CELLS, agent[0]] |= 1 << agent[1]
    way = arrival(agent, things[0], manner % 5)
    if manner // 5 == PULL:
        way = (way + 2) % 4
    next_row, next_column = row + ROW_STEP[way], column + COLUMN_STEP[way]
    is_in = 0 <= next_row < grid and 0 <= next_column < grid
    if aim[2] != 0:
        boards[CELLS, next_row] |= 1 << next_column
    nodes = st[NODES]
    lists[0, 0] = 0
    for j in range(1, nodes):
        lists[0, j] = NEW
    promise_the(links, nodes, the, attempt, is_rd, rng)
    if not build(things, sets, boards, st, pairs, words, links, lists[0], -1, NO_KIND, rng):
        return -3
    if red >= 0 and mentions_red_square(things, nodes) != (red == 1):
        return -2
    name_new(0, st, marks[0], marks[1], PIVOT, -1)
    marks[0, 0] = TARGET
    if not is_unique(things, sets, st, words, links, the, scratch):
        return -1
    flags = 0
    if is_rd == 0:
        if not add_decoys(things, sets, boards, st, pairs, words, links, the, marks, lists, scratch, rng):
            return -1
        if add_isomorph(things, sets, boards, st, pairs, words, links, the, marks, other, lists, scratch, rng):
            flags |= FLAG_ISOMORPHISM
    if not add_contrasts(things, sets, boards, st, words, links, the, marks, scratch, rng):
        return -1
    if manner // 5 != WALK and aim[2] == 0 and is_in and (boards[CELLS, next_row] >> next_column) & 1 == 0:
        before = st[N]
        for _ in range(12):
            at = next_row * 64 + next_column
            if scatter(things, sets, boards, st, pairs, words, links, the, NO_SIZE, -1, -1, at, scratch, rng):
                break
        if st[N] == before:
            return -1
        name_new(before, st, marks[0], marks[1], RANDOM, -1)
        flags |= FLAG_RANDOM
    if add_random(things, sets, boards, st, pairs, words, links, the, marks, scratch, rng) > 0:
        flags |= FLAG_RANDOM
    if is_rd != 0 or st[SPARE_OK] != 0:
        mark_spare(things, sets, st, words, links, marks[2], scratch)
    for i in range(nodes, st[N]):
        if marks[0, i] == RELATION:
            flags |= FLAG_RELATION
        elif marks[0, i] == ATTRIBUTE:
            flags |= FLAG_ATTRIBUTE
    return flags


def promise_the(links: Any, nodes: Any, the: Any, attempt: Any, is_rd: Any, rng: Any) -> None:
    """Choose the phrases that must fit one object only: in about half of the first attempts one of the last clause's, else none.

    A phrase with a clause of its own is never chosen: its clause is needed only if the phrase alone fits several objects.
    """
    for j in range(nodes):
        the[j] = 0
    if is_rd != 0 or nodes == 1 or below(rng, 2 + attempt) > 0:
        return
    j = 1 + below(rng, nodes - 1)
    while j + 1 < nodes and links[0, j + 1] == j:
        j += 1
    the[j] = 1


def sound_rows(
    states: Any,
    given: Any,
    settings: Any,
    patterns: Any,
    shares: Any,
    roots: Any,
    table: Any,
    counts: Any,
    targets: Any,
    agents: Any,
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
    rejected: Any,
) -> Any:
    """Generate one row per state. Returns the number of rows done: fewer than asked if no example keeps the split's claim.

    given[i] is row i's form, or 0 to draw one. patterns[p] = [phrases, parents…, object limit] (columns 0, 1–6, 7), `shares` the
    running sums of their weights. flat[7, …] receives size, colour, shape, row, column, role and catch of all objects end to end, `steps` the actions, `text` the
    commands, `spare` the codes of words that are not needed; the *_ends arrays say where each row ends.
    """
    grid = settings[P_GRID]
    width = max(5, grid)
    things = np.zeros((32, 5), dtype=np.int64)
    sets = np.zeros((5, width), dtype=np.int64)
    boards = np.zeros((2, grid), dtype=np.int64)
    st = np.zeros(8, dtype=np.int64)
    pairs = np.zeros((4, 4), dtype=np.int64)
    words = np.zeros((8, 3), dtype=np.int64)
    other = np.zeros((8, 3), dtype=np.int64)
    codes = np.zeros(8, dtype=np.int64)
    links = np.zeros((2, 8), dtype=np.int64)
    the = np.zeros(8, dtype=np.int64)
    marks = np.zeros((3, 64), dtype=np.int64)
    lists = np.zeros((3, 64), dtype=np.int64)
    scratch = np.zeros((6, 8), dtype=np.int64)
    aim = np.zeros(3, dtype=np.int64)
    agent = np.zeros(4, dtype=np.int64)
    out = np.zeros(20 * grid + 8, dtype=np.int64)
    rng = np.zeros(1, dtype=np.uint64)
    mixer = np.zeros(1, dtype=np.uint64)
    st[GRID] = grid
    ends = np.zeros(4, dtype=np.int64)
    for i in range(states.shape[0]):
        rng[0] = states[i]
        found = -1
        tries, failures, attempts, p, length = 0, 0, 0, 0, 0
        form = given[i]
        while found < 0:
            tries += 1
            if tries > MOST_TRIES or failures > MOST_COMMANDS:
                return i
            p = draw_cumulative(shares, rng)
            if given[i] == 0:
                form = draw_form(patterns[p], roots[p], table, counts, codes, links, rng)
            nodes = unpack(form, words, codes, links)
            red = wanted_red(form, nodes, words, codes, links, settings, settings[P_FIRST] + i, mixer)
            if red == -2 or (given[i] == 0 and is_dead(nodes, words, links)):
                rejected[R_COMMAND] += 1
                continue
            st[NODES] = nodes
            st[LIMIT] = patterns[p, 7]
            set_pairs(words, st, pairs)
            for _ in range(8):
                if not draw_target(things, st, pairs, words, settings, targets, agents, aim, agent, form % 15, rng):
                    rejected[R_WORLD] += 1
                    continue
                if not is_part(form, things, aim, settings, mixer):
                    rejected[R_PART] += 1
                    found = -4
                    break
                if (red == 0 and mentions_red_square(things, 1)) or not can_have_length(
                    form, agent, things, settings, boards, out
                ):
                    rejected[R_CLAIM] += 1
                    found = -4
                    break
                for attempt in range(6):
                    attempts += 1
                    is_last_resort = settings[P_SPARE_OK] != 0 or (given[i] != 0 and tries > GIVEN_TRIES)
                    st[SPARE_OK] = 1 if is_last_resort and attempt == 5 else 0
                    found = grow(
                        things, sets, boards, st, pairs, words, other, links, the, marks, lists, scratch, aim, agent,
                        form % 15, settings[P_RD], red, attempt, rng,
                    )  # fmt: skip
                    if found != -1:
                        break
                    rejected[R_WORLD] += 1
                if found >= 0:
                    fill_board(boards[CELLS], grid, things, st[N])
                    length = plan(boards[CELLS], grid, agent, things[0], form % 15 // 5, form % 5, out)
                    if settings[P_LENGTH] != 0 and (length > settings[P_CUT]) != (settings[P_LENGTH] == 2):
                        found = -2
                if found == -2:
                    rejected[R_CLAIM] += 1
                if found >= 0 or found == -2:
                    break
            if found == -1 or found == -3:
                failures += 1
                rejected[R_GIVEN_UP] += 1
        for j in range(nodes):
            the[j] = 1 if j == 0 or popcount(fit(sets, st, words[j, 0], words[j, 1], words[j, 2])) == 1 else 0
        write_row(
            i, form, found, attempts, p, things, st, codes, links, the, marks, agent, out, length,
            letters, starts, rows, flat, flat_ends, steps, step_ends, text, text_ends, spare, ends,
        )  # fmt: skip
    return states.shape[0]
