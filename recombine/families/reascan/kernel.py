"""The hot loop of the sound recipe: commands, worlds, roles, actions and texts of many rows, straight into arrays.

A world is grown, never repaired: target, agent and mentioned objects first; then, for every word and every clause, a decoy that
a reader who skips it would take for the target, unless one is already there; then an isomorphic decoy and random objects.
After each addition the target must still be the only referent, or the addition is taken back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.reascan.commands import TAG_A2, bucket_of, draw_form, is_dead, tags_of, unpack
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
    HIGH,
    LIMIT,
    LOW,
    NEW,
    NO_KIND,
    NODES,
    SPARE_OK,
    N,
    add,
    build,
    draw_size,
    fit,
    is_unique,
    set_pairs,
)
from recombine.families.reascan.rows import FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM, FLAG_RELATION, write_row
from recombine.grid.codes import (
    BIG,
    CAUTIOUS,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    NO_SIZE,
    PULL,
    PUSH,
    RED,
    ROW,
    ROW_STEP,
    SHAPE,
    SIZE,
    SMALL,
    SPIN,
    SQUARE,
    WALK,
    ZIGZAG,
)
from recombine.grid.kernel import arrival, fill_board, plan, popcount

KERNEL = True
LEAN = True


# --- where target and agent stand --------------------------------------------------------------------------------------


def draw_cumulative(weights: Any, rng: Any) -> Any:
    """An index with probability proportional to its weight, given the running sums (at most 2**31); -1 if they are 0."""
    size = weights.shape[0]
    total = weights[size - 1]
    if total == 0:
        return -1
    point = below(rng, total)
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if weights[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


ANYWHERE, CAN_PUSH, CAN_PUSH_ZIGZAG, CANNOT_PULL = 0, 1, 2, 3
"""Which pairs of cells the aim tables allow: all; something to push into (for either way of walking); no agent next to the target."""
R_COMMAND, R_PART, R_WORLD, R_CLAIM, R_GIVEN_UP = 0, 1, 2, 3, 4
"""Rows of the rejection counts: commands outside the split, draws of other parts, worlds, worlds outside the split, commands."""
(
    P_GRID, P_RD, P_PART, P_TAGS, P_MANNER, P_LENGTH, P_CUT, P_INTERACTION, P_SPARE_OK, P_SHOTS, P_FIRST,
) = range(11)  # fmt: skip
"""Settings of the whole call; -1 in P_PART or P_TAGS is "any"."""
MILLION = 1_000_000
GIVEN_TRIES = 60
"""After so many draws, a row whose command was given may mark words as spare instead."""
MOST_TRIES, MOST_COMMANDS = 100_000, 300
"""A row is hopeless after so many draws of a command, or after so many commands without a world."""


def draw_aim(verb: Any, adverb: Any, settings: Any, targets: Any, agents: Any, aim: Any, rng: Any) -> Any:
    """Draw aim = [target cell, agent cell, whether something must move]; False if no agent fits."""
    cells = targets.shape[1]
    share = settings[P_INTERACTION]
    mode, aim[2] = ANYWHERE, 0
    if verb == PULL:
        if below(rng, MILLION) < share:
            aim[2] = 1
        else:
            mode = CANNOT_PULL
        aim[0] = draw_cumulative(targets[mode], rng)
    elif verb == PUSH:
        able = CAN_PUSH_ZIGZAG if adverb == ZIGZAG else CAN_PUSH
        everywhere, somewhere = targets[ANYWHERE, cells - 1], targets[able, cells - 1]
        if share * everywhere <= MILLION * somewhere:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
            is_able = aim[0] >= 0 and agents[able, aim[0], cells - 1] > 0
            if is_able and below(rng, MILLION) * somewhere < share * everywhere:
                mode, aim[2] = able, 1
        elif below(rng, MILLION) < share and somewhere > 0:
            mode, aim[2] = able, 1
            aim[0] = draw_cumulative(targets[able], rng)
        else:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    else:
        aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    if aim[0] < 0:
        return False
    aim[1] = draw_cumulative(agents[mode, aim[0]], rng)
    return aim[1] >= 0


def is_manner_wanted(manner: Any, rule: Any, row: Any, shots: Any) -> Any:
    """Whether verb and adverb belong to the split: rule 0 any; 1 cautiously, 2 not; 3 pull while spinning, 4 not.

    Under rule 2 the first `shots` rows are "cautiously" and no others.
    """
    verb, adverb = manner // 5, manner % 5
    if rule == 1 or (rule == 2 and row < shots):
        return adverb == CAUTIOUS
    if rule == 2:
        return adverb != CAUTIOUS
    if rule == 3:
        return verb == PULL and adverb == SPIN
    if rule == 4:
        return verb != PULL or adverb != SPIN
    return True


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


def mentions_red_square(things: Any, nodes: Any) -> Any:
    """Whether the target or another object that the command speaks of is a red square."""
    for i in range(nodes):  # noqa: SIM110 - Numba compiles no generators
        if things[i, COLOR] == RED and things[i, SHAPE] == SQUARE:
            return True
    return False


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


def wanted_red(form: Any, nodes: Any, words: Any, codes: Any, links: Any, settings: Any, row: Any, mixer: Any) -> Any:
    """-2 if the command is outside the split; else whether a mentioned object must be a red square (1), must not (0), or may (-1)."""
    if not is_manner_wanted(form % 15, settings[P_MANNER], row, settings[P_SHOTS]):
        return -2
    wanted = settings[P_TAGS]
    if wanted < 0:
        return -1
    tags = tags_of(nodes, words, codes, links, mixer)
    if (tags | TAG_A2) != (wanted | TAG_A2):
        return -2
    if wanted & TAG_A2 == 0:
        return -2 if tags & TAG_A2 != 0 else 0
    if tags & TAG_A2 != 0:
        return -1
    for j in range(nodes):
        if (words[j, 1] < 0 or words[j, 1] == RED) and (words[j, 2] < 0 or words[j, 2] == SQUARE):
            return 1
    return -2


def is_part(form: Any, things: Any, aim: Any, settings: Any, mixer: Any) -> Any:
    """Whether command, target and agent belong to the part: a hash of the three decides, so parts are disjoint."""
    if settings[P_PART] < 0:
        return True
    cells = settings[P_GRID] * settings[P_GRID]
    kind = (things[0, SIZE] * 4 + things[0, COLOR]) * 4 + things[0, SHAPE]
    return min(bucket_of(form, (kind * cells + aim[0]) * cells + aim[1], mixer), 2) == settings[P_PART]


def can_have_length(form: Any, agent: Any, things: Any, settings: Any, boards: Any, out: Any) -> Any:
    """Whether the number of actions can still be what the split asks for, judged by the way to the target."""
    if settings[P_LENGTH] == 0:
        return True
    walk = plan(boards[CELLS], settings[P_GRID], agent, things[0], WALK, form % 5, out)
    if settings[P_LENGTH] == 1:
        return walk <= settings[P_CUT]
    most = 0 if form % 15 // 5 == WALK else 10 * settings[P_GRID]
    return walk + most > settings[P_CUT]


def draw_target(
    things: Any,
    st: Any,
    pairs: Any,
    words: Any,
    settings: Any,
    targets: Any,
    agents: Any,
    aim: Any,
    agent: Any,
    manner: Any,
    rng: Any,
) -> Any:
    """Draw the pair of sizes, the target's attributes, and where it and the agent stand; False if no agent fits."""
    st[LOW] = 1 + below(rng, 3)
    st[HIGH] = st[LOW] + 1 + below(rng, 4 - st[LOW])
    color = words[0, 1] if words[0, 1] >= 0 else below(rng, 4)
    shape = words[0, 2] if words[0, 2] >= 0 else below(rng, 3)
    if words[0, 0] == SMALL:
        size = st[LOW]
    elif words[0, 0] == BIG:
        size = st[HIGH]
    else:
        size = draw_size(pairs, st, color, shape, rng)
    things[0, SIZE], things[0, COLOR], things[0, SHAPE] = size, color, shape
    if not draw_aim(manner // 5, manner % 5, settings, targets, agents, aim, rng):
        return False
    grid = st[GRID]
    things[0, ROW], things[0, COLUMN] = aim[0] // grid, aim[0] % grid
    agent[0], agent[1], agent[2], agent[3] = aim[1] // grid, aim[1] % grid, 0, 0
    return True
