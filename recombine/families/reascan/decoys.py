"""Distractors: a decoy for every clause and word, size contrasts, an isomorphic group, random objects; each with its reason."""

from __future__ import annotations

from typing import Any

from recombine.draws import below
from recombine.families.reascan.building import build, choose_nodes, mark_fresh, plant
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
    NO_KIND,
    NODES,
    SPARE_OK,
    N,
    add,
    can_bind,
    cut,
    draw_cell,
    draw_size,
    fit,
    has_rival,
    is_unique,
)
from recombine.grid.codes import BIG, BOX, NO_SIZE, PAIRWISE, SMALL
from recombine.grid.kernel import phrase, popcount

KERNEL = True
LEAN = True

TARGET, PIVOT, RELATION, ATTRIBUTE, ISOMORPHISM, CONTRAST, RANDOM = 0, 1, 2, 3, 4, 5, 6
"""Roles of objects; names in `generate.ROLES`."""
SWAP = 64
"""What an isomorphic decoy is there for: SWAP + 8 * a + b, words of phrases a and b swapped."""


def is_word(words: Any, j: Any, kind: Any) -> Any:
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
            if not is_word(words, j, kind):
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
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    words: Any,
    links: Any,
    the: Any,
    marks: Any,
    scratch: Any,
    rng: Any,
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


def mark_spare(things: Any, sets: Any, st: Any, words: Any, links: Any, spare: Any, scratch: Any) -> None:
    """List the words and clauses that are not needed to find the target: spare[0] of them, from spare[1] on."""
    count = 0
    for j in range(st[NODES]):
        for kind in range(4):
            if is_word(words, j, kind) and not has_rival(things, sets, st, words, links, j, kind, scratch):
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
    for attempt in range(8):
        choose_nodes(things, sets, st, other, links, -1, NO_KIND, lists[0], lists[1], attempt, rng)
        if (
            build(things, sets, boards, st, pairs, other, links, lists[0], -1, NO_KIND, rng)
            and add_missing_sizes(things, sets, boards, st, other, lists[0], rng)
            and is_unique(things, sets, st, words, links, the, scratch)
            and is_meant(things, sets, st, other, links, lists[0, 0], scratch)
        ):
            name_new(before, st, marks[0], marks[1], ISOMORPHISM, SWAP + 8 * a + b)
            return True
        cut(things, sets, boards, st, before)
    return False


def add_missing_sizes(things: Any, sets: Any, boards: Any, st: Any, words: Any, node: Any, rng: Any) -> Any:
    """See that every size word is true of the object that its phrase uses, if need be by an object of the other size."""
    grid = st[GRID]
    for j in range(st[NODES]):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or node[j] < 0:
            continue
        if (phrase(sets, (1 << st[N]) - 1, size, color, shape, PAIRWISE) >> node[j]) & 1 == 1:
            continue
        if st[N] >= st[LIMIT]:
            return False
        kind = shape if shape >= 0 else below(rng, 3)
        value = st[HIGH] if size == SMALL else st[LOW]
        reach = grid - value if kind == BOX else grid - 1
        cell = draw_cell(boards, ANCHORS if kind == BOX else CELLS, 0, reach, 0, reach, rng)
        if cell < 0:
            return False
        add(things, sets, boards, st, value, color if color >= 0 else below(rng, 4), kind, cell >> 6, cell & 63)
    return True


def is_meant(things: Any, sets: Any, st: Any, words: Any, links: Any, root: Any, scratch: Any) -> Any:
    """Whether the description can mean object `root`, size words read pairwise."""
    for j in range(st[NODES]):
        scratch[0, j] = phrase(sets, (1 << st[N]) - 1, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
        scratch[1, j], scratch[2, j] = links[0, j], links[1, j]
    return (scratch[0, 0] >> root) & 1 == 1 and can_bind(things, sets, scratch, st[NODES], root)


def is_swappable(words: Any, a: Any, b: Any, kind: Any) -> Any:
    """Whether both phrases have that kind of word, they differ, and none is the head "box"."""
    x, y = words[a, kind], words[b, kind]
    if x == y:
        return False
    if kind == 0:
        return x != NO_SIZE and y != NO_SIZE
    return x >= 0 and y >= 0 and (kind == 1 or (x != BOX and y != BOX))


def add_random(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    links: Any,
    the: Any,
    marks: Any,
    scratch: Any,
    rng: Any,
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
