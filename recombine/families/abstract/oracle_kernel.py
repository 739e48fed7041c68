"""The oracle's elimination over arrays: the same laws as `oracle_elimination`, for many tasks at once.

This is a second implementation on purpose: it shares no code with the generator's kernels. Sets of objects and of operations are bits.
World 0 of a task is the test world, the others are the demonstrations. A step is bond * 75 + phrase.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KERNEL = True
LEAN = True
Ints = NDArray[np.int64]

SIMPLE, ONE, TWO, NESTED = 0, 1, 2, 3
N_PHRASES, N_STEPS, N_BONDS, N_KINDS, N_WORDS = 75, 450, 6, 25, 5
SIZE, HUE, FIGURE, ROW, COLUMN = 0, 1, 2, 3, 4
N_VALUES, BOX, INSIDE = 4, 3, 5
MOST_OBJECTS = 14
"""Objects of a world for which there is room, an added one included."""
MOST_DEEDS = 60
"""Operations that can explain a first demonstration; their set is one word."""
# columns of Language.deeds; KEEP stands where a property stays as it is
TO_HUE, TO_FIGURE, TO_SIZE, GROWTH, DOWN, RIGHT, ACT, COPIED = 0, 1, 2, 3, 4, 5, 6, 7
KEEP = -1
CHANGE, REMOVE, ADD, COPY = 0, 1, 2, 3
# faults
IMPOSSIBLE, CROWDED, WRONG_RULE, NO_DECOY = 1, 2, 4, 8


class Language(NamedTuple):
    """Every description and every operation."""

    ends: Ints  # [4]: where the descriptions of each pattern end
    heads: Ints  # [descriptions]: first phrase
    firsts: Ints  # [descriptions]: first step
    seconds: Ints  # [descriptions]: second step
    deeds: Ints  # [operations, 8]


class Tasks(NamedTuple):
    """Tasks as numbers."""

    grids: Ints  # [n]
    starts: Ints  # [n, 1 + k]: where the objects of each world begin
    counts: Ints  # [n, 1 + k]
    things: Ints  # [objects, 5]
    gone: Ints  # [n, 1 + k]: which object the output lacks, -1 for none
    new: Ints  # [n, 1 + k, 5]: the object that only the output has; size 0 for none
    rules: Ints  # [n, 3]: pattern, description, operation
    weak: Ints  # [n, 12, 4]: pattern, first phrase and steps of each careless reader; pattern -1 for none


class Verdicts(NamedTuple):
    """What elimination finds."""

    survivors: Ints  # [n, k]: hypotheses left after each demonstration
    against: Ints  # [n]: hypotheses left that do not give the test output
    unique: Ints  # [n]: 1 if one description with one operation is left
    faults: Ints  # [n]: bits


class Sight(NamedTuple):
    """The worlds of one task, looked at; superlative size words have number 1 in the second axis."""

    named: Ints  # [1 + k, 2, 75]: the objects that a phrase fits
    linked: Ints  # [1 + k, 6, objects]: the objects to which each one stands in a bond
    reach: Ints  # [1 + k, 2, 450]: the objects from which a step leads somewhere
    plain: Ints  # [1 + k, objects]: the operations that give the output shown if they are done to the object
    copied: Ints  # [1 + k, objects, objects]: those that copy from another object
    listed: Ints  # [MOST_DEEDS]: the operations that can explain the first demonstration


def name_objects(things: Ints, n: int, named: Ints) -> None:
    """Fill `named`: which objects each phrase fits, with pairwise and with superlative size words."""
    for kind in range(N_KINDS):
        hue, figure = kind // N_WORDS - 1, kind % N_WORDS - 1
        members = 0
        for i in range(n):
            if (hue < 0 or things[i, HUE] == hue) and (figure < 0 or things[i, FIGURE] == figure):
                members |= 1 << i
        has_bigger = has_smaller = 0
        for i in range(n):
            for j in range(n):
                if members >> i & 1 and members >> j & 1:
                    if things[j, SIZE] > things[i, SIZE]:
                        has_bigger |= 1 << i
                    if things[j, SIZE] < things[i, SIZE]:
                        has_smaller |= 1 << i
        for reading in range(2):
            named[reading, kind] = members
        named[0, N_KINDS + kind], named[0, 2 * N_KINDS + kind] = has_bigger, has_smaller
        named[1, N_KINDS + kind], named[1, 2 * N_KINDS + kind] = members & ~has_smaller, members & ~has_bigger


def is_linked(a: Ints, b: Ints, bond: int) -> Any:
    """Whether object a stands in the bond to object b: a shared row, column, colour, shape or size, or a lies in box b."""
    if bond == INSIDE:
        down, right = a[ROW] - b[ROW], a[COLUMN] - b[COLUMN]
        return b[FIGURE] == BOX and 0 <= down < b[SIZE] and 0 <= right < b[SIZE]
    field = ROW if bond == 0 else COLUMN if bond == 1 else HUE if bond == 2 else FIGURE if bond == 3 else SIZE
    return a[field] == b[field]


def look_around(things: Ints, n: int, named: Ints, linked: Ints, reach: Ints) -> None:
    """Fill the tables of one world."""
    name_objects(things, n, named)
    for bond in range(N_BONDS):
        for i in range(n):
            linked[bond, i] = 0
            for j in range(n):
                if i != j and is_linked(things[i], things[j], bond):
                    linked[bond, i] |= 1 << j
    for reading in range(2):
        for step in range(N_STEPS):
            reach[reading, step] = 0
            for i in range(n):
                if linked[step // N_PHRASES, i] & named[reading, step % N_PHRASES]:
                    reach[reading, step] |= 1 << i


def leads_on(named: Ints, linked: Ints, second: int, middle: int, hidden: int, n: int) -> Any:
    """Those of the objects `middle` from which the second step leads to an object that is not hidden."""
    found = 0
    for j in range(n):
        if middle >> j & 1 and linked[second // N_PHRASES, j] & named[second % N_PHRASES] & ~hidden:
            found |= 1 << j
    return found


def partners(named: Ints, linked: Ints, pattern: int, first: int, second: int, can_share: int, i: int, n: int) -> Any:
    """The objects that the second phrase can mean if the first means object i."""
    near = linked[first // N_PHRASES, i] & named[first % N_PHRASES]
    if pattern == NESTED and near:
        return leads_on(named, linked, second, near, 0 if can_share else 1 << i, n)
    return near


def meaning(
    named: Ints, linked: Ints, reach: Ints, pattern: int, head: int, first: int, second: int, can_share: int, n: int
) -> Any:
    """The objects that a description can mean."""
    found = named[head]
    if pattern == SIMPLE:
        return found
    found &= reach[first]
    if pattern == TWO:
        found &= reach[second]
    if pattern == ONE or found == 0 or (pattern == TWO and can_share):
        return found
    for i in range(n):
        if found >> i & 1:
            near = linked[first // N_PHRASES, i] & named[first % N_PHRASES]
            if pattern == TWO:
                # Two phrases that can only mean one and the same object mean nothing.
                is_lost = near & (near - 1) == 0 and near == linked[second // N_PHRASES, i] & named[second % N_PHRASES]
            else:
                near &= reach[second]
                is_lost = near == 0 or (not can_share and leads_on(named, linked, second, near, 1 << i, n) == 0)
            if is_lost:
                found &= ~(1 << i)
    return found


def place_of(single: int, n: int) -> Any:
    """The object of a set that has only one; -1 if it has several or none."""
    if single == 0 or single & (single - 1):
        return -1
    for i in range(n):
        if single >> i & 1:
            return i
    return -1


# --- operations ------------------------------------------------------------------------------------------------------


def has_room(things: Ints, n: int, grid: int, item: Ints, ignored: int) -> Any:
    """Whether the object is a possible one, lies in the grid and shares its cell with none of its sort, `ignored` left out."""
    if item[SIZE] < 1 or item[SIZE] > N_VALUES or item[HUE] < 0 or item[HUE] >= N_VALUES or item[FIGURE] < 0:
        return False
    span = item[SIZE] if item[FIGURE] == BOX else 1
    if item[FIGURE] > BOX or item[ROW] < 0 or item[COLUMN] < 0 or item[ROW] + span > grid or item[COLUMN] + span > grid:
        return False
    for j in range(n):
        if (
            j != ignored
            and things[j, ROW] == item[ROW]
            and things[j, COLUMN] == item[COLUMN]
            and (things[j, FIGURE] == BOX) == (item[FIGURE] == BOX)
        ):
            return False
    return True


def altered(value: int, wanted: int) -> Any:
    """The new value of a property; -2 if the operation would leave it as it is."""
    return value if wanted == KEEP else -2 if wanted == value else wanted


def gives(item: Ints, deed: Ints, pivot: Ints, new: Ints) -> Any:
    """Whether the operation on this object makes exactly the object `new`, by changing something with each of its acts."""
    if deed[ACT] == ADD:
        is_same = new[SIZE] == deed[TO_SIZE] and new[HUE] == deed[TO_HUE] and new[FIGURE] == deed[TO_FIGURE]
        return is_same and new[ROW] == item[ROW] + deed[DOWN] and new[COLUMN] == item[COLUMN] + deed[RIGHT]
    hue, figure, size = deed[TO_HUE], deed[TO_FIGURE], deed[TO_SIZE]
    if deed[ACT] == COPY:
        if deed[COPIED] == HUE:
            hue = pivot[HUE]
        elif deed[COPIED] == FIGURE:
            figure = pivot[FIGURE]
        else:
            size = pivot[SIZE]
    if deed[GROWTH] != 0:
        size = item[SIZE] + deed[GROWTH]
    is_same = new[HUE] == altered(item[HUE], hue) and new[FIGURE] == altered(item[FIGURE], figure)
    is_same = is_same and new[SIZE] == altered(item[SIZE], size)
    return is_same and new[ROW] == item[ROW] + deed[DOWN] and new[COLUMN] == item[COLUMN] + deed[RIGHT]


def explain_world(
    things: Ints, n: int, gone: int, new: Ints, deeds: Ints, listed: Ints, m: int, plain: Ints, copied: Ints
) -> Any:
    """Fill `plain` and `copied` for the m listed operations; returns the set of those that can give the output shown."""
    some = 0
    for i in range(n):
        plain[i] = 0
        for p in range(n):
            copied[i, p] = 0
        if gone >= 0 and i != gone:
            continue
        for k in range(m):
            deed = deeds[listed[k]]
            if (deed[ACT] == ADD) != (gone < 0) or (deed[ACT] == REMOVE) != (new[SIZE] == 0):
                continue
            if deed[ACT] == COPY:
                for p in range(n):
                    if p != i and gives(things[i], deed, things[p], new):
                        copied[i, p] |= 1 << k
                        some |= 1 << k
            elif deed[ACT] == REMOVE or gives(things[i], deed, things[i], new):
                plain[i] |= 1 << k
                some |= 1 << k
    return some


def list_deeds(things: Ints, n: int, gone: int, new: Ints, deeds: Ints, sight: Sight, w: int) -> Any:
    """List the operations that can give the output of world w; returns how many, or -1 if there is no room."""
    m = 0
    for o in range(len(deeds)):
        sight.listed[m] = o
        if explain_world(things, n, gone, new, deeds, sight.listed[m:], 1, sight.plain[w], sight.copied[w]):
            m += 1
            if m == MOST_DEEDS:
                return -1
    return m


# --- elimination -----------------------------------------------------------------------------------------------------


def count_bits(word: int) -> Any:
    """How many bits are set."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


def explained(sight: Sight, w: int, pattern: int, head: int, first: int, second: int, reading: int, n: int) -> Any:
    """The operations that, with this description, give the output of world w. Bit 1 of `reading`: phrases may share an object."""
    named, linked = sight.named[w, reading & 1], sight.linked[w]
    i = place_of(meaning(named, linked, sight.reach[w, reading & 1], pattern, head, first, second, reading >> 1, n), n)
    if i < 0:
        return 0
    found = sight.plain[w, i]
    if pattern in (ONE, NESTED):
        p = place_of(partners(named, linked, pattern, first, second, reading >> 1, i, n), n)
        if p >= 0:
            found |= sight.copied[w, i, p]
    return found


def can_mean(sight: Sight, some: int, pattern: int, first: int, second: int, superlative: int, n: int) -> Any:
    """Whether the description may mean one of the objects `some` of world 1, which fit its first phrase and first step."""
    if pattern == TWO:
        return some & sight.reach[1, superlative, second] != 0
    if pattern == NESTED:
        middle = sight.named[1, superlative, first % N_PHRASES] & sight.reach[1, superlative, second]
        found = False
        for i in range(n):
            found = found or (some >> i & 1 == 1 and sight.linked[1, first // N_PHRASES, i] & middle != 0)
        return found
    return True


def changed_objects(sight: Sight, n: int) -> Any:
    """The objects of world 1 on which some operation gives the output shown."""
    found = 0
    for i in range(n):
        some = sight.plain[1, i]
        for p in range(n):
            some |= sight.copied[1, i, p]
        if some:
            found |= 1 << i
    return found


def judge_task(tasks: Tasks, t: int, language: Language, sight: Sight, m: int, verdicts: Verdicts) -> None:
    """Try every hypothesis on every world of a task that was looked at. Bit 1 of a reading: phrases may share an object."""
    worlds, n, survivors = tasks.counts.shape[1], tasks.counts[t, 1], verdicts.survivors[t]
    pattern_of_rule, mine, deed = tasks.rules[t, 0], tasks.rules[t, 1], tasks.rules[t, 2]
    wanted, mine_left, last, last_mask = changed_objects(sight, n), 0, -1, 0
    bit = 0
    for k in range(m):
        if sight.listed[k] == deed:
            bit = 1 << k
    verdicts.unique[t] = 1
    for pattern in range(max(pattern_of_rule, ONE) + 1):
        old_head, old_first, some, others = -1, -1, 0, 0
        for d in range(language.ends[pattern - 1] if pattern else 0, language.ends[pattern]):
            head, first, second = language.heads[d], language.firsts[d], language.seconds[d]
            # Descriptions that differ in their second step only stand together: what they share is worked out once.
            if head != old_head or first != old_first:
                old_head, old_first = head, first
                some, others = wanted & sight.named[1, 0, head], wanted & sight.named[1, 1, head]
                if pattern != SIMPLE:
                    some, others = some & sight.reach[1, 0, first], others & sight.reach[1, 1, first]
            if some | others == 0:
                continue
            for reading in range(2 if pattern < TWO else 4):
                met = others if reading & 1 else some
                if met == 0 or not can_mean(sight, met, pattern, first, second, reading & 1, n):
                    continue
                mask = -1
                for w in range(1, worlds):
                    mask &= explained(sight, w, pattern, head, first, second, reading, tasks.counts[t, w])
                    if mask == 0:
                        break
                    survivors[w - 1] += count_bits(mask)
                if mask == 0:
                    continue
                lost = mask & ~explained(sight, 0, pattern, head, first, second, reading, tasks.counts[t, 0])
                verdicts.against[t] += count_bits(lost)
                if mask & (mask - 1) or (last >= 0 and (d != last or mask != last_mask)):
                    verdicts.unique[t] = 0
                last, last_mask = d, mask
                if d == mine and mask & ~lost & bit:
                    mine_left += 1
    if mine_left != (2 if pattern_of_rule < TWO else 4):
        verdicts.faults[t] |= WRONG_RULE


def check_worlds(tasks: Tasks, t: int, sight: Sight) -> Any:
    """Look at the worlds of a task; returns False if a world or its output is impossible."""
    for w in range(tasks.counts.shape[1]):
        start, n, gone, grid = tasks.starts[t, w], tasks.counts[t, w], tasks.gone[t, w], tasks.grids[t]
        if n < 1 or n > MOST_OBJECTS or gone < -1 or gone >= n:
            return False
        things = tasks.things[start : start + n]
        for i in range(n):
            if not has_room(things, n, grid, things[i], i):
                return False
        if tasks.new[t, w, SIZE] != 0 and not has_room(things, n, grid, tasks.new[t, w], gone):
            return False
        look_around(things, n, sight.named[w], sight.linked[w], sight.reach[w])
    return True


def check_decoys(tasks: Tasks, t: int, sight: Sight) -> Any:
    """Whether every careless reader finds several objects in the test world."""
    for reader in range(tasks.weak.shape[1]):
        pattern, head, first, second = tasks.weak[t, reader]
        if pattern >= 0:
            met = meaning(
                sight.named[0, 0], sight.linked[0], sight.reach[0, 0], pattern, head, first, second, 0, tasks.counts[t, 0]
            )
            if met & (met - 1) == 0:
                return False
    return True


def judge_tasks(tasks: Tasks, language: Language, sight: Sight, verdicts: Verdicts) -> None:
    """Fill the verdict of every task."""
    for t in range(len(tasks.grids)):
        if not check_worlds(tasks, t, sight):
            verdicts.faults[t] |= IMPOSSIBLE
            continue
        start, n = tasks.starts[t, 1], tasks.counts[t, 1]
        m = list_deeds(tasks.things[start : start + n], n, tasks.gone[t, 1], tasks.new[t, 1], language.deeds, sight, 1)
        if m < 0:
            verdicts.faults[t] |= CROWDED
            continue
        for w in range(tasks.counts.shape[1]):
            start, n = tasks.starts[t, w], tasks.counts[t, w]
            explain_world(
                tasks.things[start : start + n], n, tasks.gone[t, w], tasks.new[t, w], language.deeds, sight.listed, m,
                sight.plain[w], sight.copied[w],
            )  # fmt: skip
        judge_task(tasks, t, language, sight, m, verdicts)
        if not check_decoys(tasks, t, sight):
            verdicts.faults[t] |= NO_DECOY
