"""The hot loop of the sound recipe: commands, worlds, roles, actions and texts of many rows, straight into arrays.

A world is grown, never repaired: target, agent and mentioned objects first; then, for every word and every clause, a decoy that
a reader who skips it would take for the target, unless one is already there; then an isomorphic decoy and random objects.
After each addition the target must still be the only referent, or the addition is taken back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below
from recombine.families.reascan.commands import TAG_A2, bucket_of, draw_form, is_dead, spell, tags_of, unpack
from recombine.families.reascan.growing import (
    ANCHORS,
    CELLS,
    DROP_CLAUSE,
    DROP_COLOR,
    DROP_SHAPE,
    DROP_SIZE,
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
    choose_nodes,
    cut,
    draw_cell,
    draw_size,
    fit,
    has_rival,
    is_unique,
    mark_fresh,
    plant,
    set_pairs,
)
from recombine.grid.codes import (
    BIG,
    BOX,
    CAUTIOUS,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    DO_PULL,
    DO_PUSH,
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
from recombine.grid.kernel import arrival, fill_board, plan, popcount, travel

KERNEL = True
LEAN = True

TARGET, PIVOT, RELATION, ATTRIBUTE, ISOMORPHISM, CONTRAST, RANDOM = 0, 1, 2, 3, 4, 5, 6
"""Roles of objects; names in `generate.ROLES`."""
SWAP = 64
"""What an isomorphic decoy is there for: SWAP + 8 * a + b, words of phrases a and b swapped."""


def is_word(words: Any, links: Any, j: Any, kind: Any) -> Any:
    """Whether node j has that word or clause, and it is not the "box" after "inside of", which the relation already says."""
    if kind == DROP_SIZE:
        return words[j, 0] != NO_SIZE
    if kind == DROP_COLOR:
        return words[j, 1] >= 0
    if kind == DROP_SHAPE:
        return words[j, 2] >= 0 and words[j, 2] != BOX
    return j > 0


def name_new(before: Any, st: Any, roles: Any, catches: Any, role: Any, catch: Any) -> None:
    """Write role and reason of the objects from index `before` on."""
    for i in range(before, st[N]):
        roles[i] = role
        catches[i] = catch


def add_decoys(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    links: Any,
    the: Any,
    marks: Any,
    lists: Any,
    scratch: Any,
    rng: Any,
) -> Any:
    """A decoy for every clause, then for every word; False if one cannot be had and may not be marked as spare."""
    roles, catches, spare = marks[0], marks[1], marks[2]
    n_spare = 0
    for step in range(4):
        kind = DROP_CLAUSE if step == 0 else step - 1
        for j in range(st[NODES]):
            if not is_word(words, links, j, kind):
                continue
            if has_rival(things, sets, st, words, links, j, kind, scratch):
                continue
            before = st[N]
            if plant(things, sets, boards, st, pairs, words, links, the, j, kind, 24, lists, scratch, rng):
                name_new(before, st, roles, catches, RELATION if kind == DROP_CLAUSE else ATTRIBUTE, 8 * j + kind)
            elif st[SPARE_OK] != 0:
                spare[1 + n_spare] = 8 * j + kind
                n_spare += 1
            else:
                return False
    spare[0] = n_spare
    return True


def add_contrasts(
    things: Any, sets: Any, boards: Any, st: Any, pairs: Any, words: Any, links: Any, the: Any, marks: Any, scratch: Any, rng: Any
) -> Any:
    """For worlds without decoys: see that each sized phrase's class has both sizes, as its size word needs."""
    grid = st[GRID]
    for j in range(st[NODES]):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or fit(sets, st, SMALL + BIG - size, color, shape) != 0:
            continue
        before = st[N]
        is_done = False
        for _ in range(24):
            if st[N] >= st[LIMIT]:
                return False
            c = color if color >= 0 else below(rng, 4)
            s = shape if shape >= 0 else below(rng, 3)
            value = st[HIGH] if size == SMALL else st[LOW]
            reach = grid - value if s == BOX else grid - 1
            cell = draw_cell(boards, ANCHORS if s == BOX else CELLS, 0, reach, 0, reach, rng)
            if cell < 0:
                return False
            add(things, sets, boards, st, value, c, s, cell >> 6, cell & 63)
            if is_unique(things, sets, st, words, links, the, scratch):
                is_done = True
                break
            cut(things, sets, boards, st, before)
        if not is_done:
            return False
        name_new(before, st, marks[0], marks[1], CONTRAST, 8 * j + DROP_SIZE)
    return True


def mark_spare(
    things: Any, sets: Any, st: Any, words: Any, links: Any, spare: Any, scratch: Any
) -> None:
    """List the words and clauses that are not needed to find the target: spare[0] of them, from spare[1] on."""
    count = 0
    for j in range(st[NODES]):
        for kind in range(4):
            if is_word(words, links, j, kind) and not has_rival(things, sets, st, words, links, j, kind, scratch):
                count += 1
                spare[count] = 8 * j + kind
    spare[0] = count


def add_isomorph(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    links: Any,
    the: Any,
    marks: Any,
    other: Any,
    lists: Any,
    scratch: Any,
    rng: Any,
) -> Any:
    """Try to add what the command means with one kind of word swapped between two of its phrases; True if it is there."""
    nodes = st[NODES]
    n_swaps = 0
    for a in range(nodes):
        for b in range(a + 1, nodes):
            for kind in range(3):
                if is_swappable(words, a, b, kind):
                    lists[2, n_swaps] = (a * 8 + b) * 4 + kind
                    n_swaps += 1
    if n_swaps == 0:
        return False
    pick = lists[2, below(rng, n_swaps)]
    a, b, kind = pick // 32, pick // 4 % 8, pick % 4
    for i in range(nodes):
        for w in range(3):
            other[i, w] = words[i, w]
    other[a, kind], other[b, kind] = words[b, kind], words[a, kind]
    before = st[N]
    mark_fresh(st, links, b, NO_KIND, lists[1])
    i = a
    while i >= 0:
        lists[1, i] = 1
        i = links[0, i]
    for attempt in range(6):
        choose_nodes(things, sets, st, other, links, -1, NO_KIND, lists[0], lists[1], attempt, rng)
        if (
            build(things, sets, boards, st, pairs, other, links, lists[0], -1, NO_KIND, rng)
            and is_unique(things, sets, st, words, links, the, scratch)
        ):
            name_new(before, st, marks[0], marks[1], ISOMORPHISM, SWAP + 8 * a + b)
            return True
        cut(things, sets, boards, st, before)
    return False


def is_swappable(words: Any, a: Any, b: Any, kind: Any) -> Any:
    """Whether both phrases have that kind of word, they differ, and none is the head "box"."""
    x, y = words[a, kind], words[b, kind]
    if x == y:
        return False
    if kind == 0:
        return x != NO_SIZE and y != NO_SIZE
    return x >= 0 and y >= 0 and (kind == 1 or (x != BOX and y != BOX))


def add_random(
    things: Any, sets: Any, boards: Any, st: Any, pairs: Any, words: Any, links: Any, the: Any, marks: Any, scratch: Any, rng: Any
) -> Any:
    """Random objects up to a random number, and a second fit for each phrase that is to be said with "a"; how many were added."""
    start = st[N]
    for j in range(1, st[NODES]):
        if the[j] == 0 and popcount(fit(sets, st, words[j, 0], words[j, 1], words[j, 2])) == 1:
            scatter(things, sets, boards, st, pairs, words, links, the, words[j, 0], words[j, 1], words[j, 2], -1, scratch, rng)
    goal = min(st[LIMIT], 10 + below(rng, 7))
    for _ in range(24):
        if st[N] >= goal:
            break
        shape = BOX if below(rng, 10) == 0 else below(rng, 3)
        scatter(things, sets, boards, st, pairs, words, links, the, NO_SIZE, -1, shape, -1, scratch, rng)
    name_new(start, st, marks[0], marks[1], RANDOM, -1)
    return st[N] - start


def scatter(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    links: Any,
    the: Any,
    size: Any,
    color: Any,
    shape: Any,
    at: Any,
    scratch: Any,
    rng: Any,
) -> Any:
    """Try to add one object of this description, at cell `at` (row * 64 + column) or anywhere if that is negative."""
    if st[N] >= st[LIMIT]:
        return False
    before = st[N]
    c = color if color >= 0 else below(rng, 4)
    s = shape if shape >= 0 else below(rng, 3)
    if size == SMALL:
        value = st[LOW]
    elif size == BIG:
        value = st[HIGH]
    else:
        value = draw_size(pairs, st, c, s, rng)
    cell = at
    if at < 0:
        reach = st[GRID] - value if s == BOX else st[GRID] - 1
        cell = draw_cell(boards, ANCHORS if s == BOX else CELLS, 0, reach, 0, reach, rng)
    if cell < 0:
        return False
    add(things, sets, boards, st, value, c, s, cell >> 6, cell & 63)
    if is_unique(things, sets, st, words, links, the, scratch):
        return True
    cut(things, sets, boards, st, before)
    return False


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
FORM, AGENT_CELL, MOVED, LENGTH, THE, FLAGS, SPARE, PATTERN, ATTEMPTS = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Columns of `rows`, the scalars of each row."""
FLAG_RELATION, FLAG_ATTRIBUTE, FLAG_ISOMORPHISM, FLAG_RANDOM = 1, 2, 4, 8
R_COMMAND, R_PART, R_WORLD, R_CLAIM, R_GIVEN_UP = 0, 1, 2, 3, 4
"""Rows of the rejection counts: commands outside the split, draws of other parts, worlds, worlds outside the split, commands."""
P_GRID, P_RD, P_PART, P_TAGS, P_MANNER, P_LENGTH, P_CUT, P_INTERACTION, P_SPARE_OK, P_SHOTS, P_FIRST = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
"""Settings of the whole call; -1 in P_PART or P_TAGS is "any"."""
MILLION = 1_000_000


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
    if not add_contrasts(things, sets, boards, st, pairs, words, links, the, marks, scratch, rng):
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
    for i in range(nodes):
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

    given[i] is row i's form, or 0 to draw one. patterns[p] = [phrases, parents…, object limit] (columns 0, 1–6, 7),
    `shares` the running sums of their weights.
    flat[7, …] receives size, colour, shape, row, column, role and catch of all objects end to end, `steps` the actions, `text` the
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
        tries, attempts, p, length = 0, 0, 0, 0
        form = given[i]
        while found < 0:
            tries += 1
            if tries > 100_000:
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
                if (red == 0 and mentions_red_square(things, 1)) or not can_have_length(form, agent, things, settings, boards, out):
                    rejected[R_CLAIM] += 1
                    found = -4
                    break
                for attempt in range(6):
                    attempts += 1
                    st[SPARE_OK] = 1 if settings[P_SPARE_OK] != 0 and attempt == 5 else 0
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
                rejected[R_GIVEN_UP] += 1
        write_row(
            i, form, found, attempts, p, things, sets, boards, st, words, codes, links, the, marks, agent, out, length,
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


def write_row(
    i: Any,
    form: Any,
    flags: Any,
    attempts: Any,
    p: Any,
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    codes: Any,
    links: Any,
    the: Any,
    marks: Any,
    agent: Any,
    out: Any,
    length: Any,
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
    ends: Any,
) -> None:
    """Write a finished row to the outputs; `ends` holds how far each of them is filled."""
    nodes, n = st[NODES], st[N]
    the[0] = 1
    said = 1
    for j in range(1, nodes):
        the[j] = 1 if popcount(fit(sets, st, words[j, 0], words[j, 1], words[j, 2])) == 1 else 0
        said |= the[j] << j
    m = ends[0]
    for k in range(n):
        for a in range(5):
            flat[a, m] = things[k, a]
        flat[5, m] = marks[0, k]
        flat[6, m] = marks[1, k]
        m += 1
    ends[0] = m
    flat_ends[i] = m
    m = ends[1]
    for k in range(length):
        steps[m] = out[k]
        m += 1
    ends[1] = m
    step_ends[i] = m
    ends[2] = spell(form, the, nodes, codes, links, letters, starts, text, ends[2])
    text_ends[i] = ends[2]
    for k in range(marks[2, 0]):
        spare[ends[3]] = marks[2, 1 + k]
        ends[3] += 1
    has_moved = 0
    for k in range(length):
        if out[k] == DO_PUSH or out[k] == DO_PULL:
            has_moved = 1
    rows[i, FORM] = form
    rows[i, AGENT_CELL] = agent[0] * st[GRID] + agent[1]
    rows[i, MOVED] = has_moved
    rows[i, LENGTH] = length
    rows[i, THE] = said
    rows[i, FLAGS] = flags
    rows[i, SPARE] = marks[2, 0]
    rows[i, PATTERN] = p
    rows[i, ATTEMPTS] = attempts
