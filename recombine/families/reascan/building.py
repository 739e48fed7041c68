"""Building groups of objects that satisfy a command, or a variant of it that drops one word or clause."""

from __future__ import annotations

from typing import Any

from recombine.draws import below
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
    NODES,
    N,
    add,
    cut,
    draw_cell,
    draw_size,
    fit,
    fit_without,
    has_rival,
    is_unique,
    may_have,
)
from recombine.grid.codes import (
    BIG,
    BOX,
    COLOR,
    COLUMN,
    INSIDE,
    ROW,
    SAME_COLOR,
    SAME_COLUMN,
    SAME_ROW,
    SAME_SHAPE,
    SAME_SIZE,
    SHAPE,
    SIZE,
    SMALL,
)
from recombine.grid.kernel import children, nth, popcount

KERNEL = True
LEAN = True

# node[i] in `build`: the object in use, or one of these
NEW, ABSENT = -1, -2


def build(
    things: Any, sets: Any, boards: Any, st: Any, pairs: Any, words: Any, links: Any, node: Any, j: Any, kind: Any, rng: Any
) -> Any:
    """Put down new objects for every node i with node[i] == NEW so that the description holds; False if one does not fit.

    node[i] is the object that node i uses, NEW, or ABSENT for a node that takes no part. Parents come before their children, so a
    new node meets its parent's object and those of its children that are in use. Node j breaks the word `kind`, if there is one.
    """
    grid = st[GRID]
    for i in range(st[NODES]):
        if node[i] != NEW:
            continue
        if st[N] >= st[LIMIT]:
            return False
        size, color, shape = words[i, 0], words[i, 1], words[i, 2]
        if size == SMALL:
            size = st[LOW]
        elif size == BIG:
            size = st[HIGH]
        if i == j:
            if kind == DROP_SIZE:
                size = st[HIGH] + st[LOW] - size
            elif kind == DROP_COLOR:
                color = (color + 1 + below(rng, 3)) % 4
            elif kind == DROP_SHAPE:
                shape = (shape + 1 + below(rng, 2)) % 3
        top, bottom, left, right = 0, grid - 1, 0, grid - 1
        # the neighbours in the tree whose objects are known: the parent, and children in use
        for e in range(st[NODES]):
            other = -1
            if e == i and i > 0:
                other = links[0, i]
            elif e > i and links[0, e] == i and node[e] >= 0:
                other = e
            if other < 0 or node[other] < 0:
                continue
            it = node[other]
            relation = links[1, e]
            if relation == SAME_ROW:
                top, bottom = max(top, things[it, ROW]), min(bottom, things[it, ROW])
            elif relation == SAME_COLUMN:
                left, right = max(left, things[it, COLUMN]), min(right, things[it, COLUMN])
            elif relation == SAME_COLOR:
                if color >= 0 and color != things[it, COLOR]:
                    return False
                color = things[it, COLOR]
            elif relation == SAME_SHAPE:
                if shape >= 0 and shape != things[it, SHAPE]:
                    return False
                shape = things[it, SHAPE]
            elif relation == SAME_SIZE:
                if size > 0 and size != things[it, SIZE]:
                    return False
                size = things[it, SIZE]
            elif relation == INSIDE and other > i:
                top, bottom = max(top, things[it, ROW]), min(bottom, things[it, ROW] + things[it, SIZE] - 1)
                left, right = max(left, things[it, COLUMN]), min(right, things[it, COLUMN] + things[it, SIZE] - 1)
        if color < 0:
            color = below(rng, 4)
        if shape < 0:
            shape = below(rng, 3)
        if size <= 0:
            size = draw_size(pairs, st, color, shape, rng)
        if not may_have(pairs, st, color, shape, size):
            return False
        board = CELLS
        if shape == BOX:
            board = ANCHORS
            if i > 0 and links[1, i] == INSIDE:
                it = node[links[0, i]]
                top, bottom = max(top, things[it, ROW] - size + 1), min(bottom, things[it, ROW])
                left, right = max(left, things[it, COLUMN] - size + 1), min(right, things[it, COLUMN])
            bottom, right = min(bottom, grid - size), min(right, grid - size)
        cell = draw_cell(boards, board, top, bottom, left, right, rng)
        if cell < 0:
            return False
        node[i] = add(things, sets, boards, st, size, color, shape, cell >> 6, cell & 63)
    return True


def choose_nodes(
    things: Any,
    sets: Any,
    st: Any,
    words: Any,
    links: Any,
    j: Any,
    kind: Any,
    node: Any,
    fresh: Any,
    attempt: Any,
    rng: Any,
) -> None:
    """Decide which nodes of a variant reuse an object and which get a new one, with as few new ones as can be at first.

    fresh[i] != 0 marks the way from the root to the node where the variant departs from the command. That last node is new; the
    others on the way may be objects that already look like them. Off the way, what is there is reused, at first always.
    """
    used = sets[SIZE, 0] & 0
    last = links[0, j] if kind == DROP_CLAUSE else j
    node[0] = NEW
    if last > 0 and attempt % 4 != 3:
        pick_one(fit(sets, st, words[0, 0], words[0, 1], words[0, 2]) & ~1, node, 0, rng)
    for i in range(st[NODES]):
        if i > 0:
            parent = links[0, i]
            choices = sets[SIZE, 0] & 0
            node[i] = NEW
            if fresh[i] != 0:
                if i == last:
                    if kind != DROP_CLAUSE and node[parent] == NEW and is_leaf(links, st[NODES], i) and below(rng, 4) > 0:
                        choices = fit_without(sets, st, words, i, kind) & ~fit(sets, st, words[i, 0], words[i, 1], words[i, 2])
                elif node[parent] >= 0 and below(rng, 4) > 0:
                    choices = fit(sets, st, words[i, 0], words[i, 1], words[i, 2])
                    choices &= children(things, sets, links[1, i], node[parent])
            elif node[parent] != NEW or (kind == DROP_CLAUSE and i == j):
                node[i] = ABSENT
            elif attempt < 6 or below(rng, 3) > 0:
                choices = choices + (1 << i)
                if is_leaf(links, st[NODES], i) and below(rng, 3) == 0:
                    choices = fit(sets, st, words[i, 0], words[i, 1], words[i, 2])
            pick_one(choices & ~used, node, i, rng)
        if node[i] >= 0:
            used |= 1 << node[i]


def pick_one(choices: Any, node: Any, i: Any, rng: Any) -> None:
    """Let node i use one of the objects, if there is any."""
    count = popcount(choices)
    if count:
        node[i] = nth(choices, below(rng, count))


def is_leaf(links: Any, nodes: Any, i: Any) -> Any:
    """Whether no phrase hangs on phrase i."""
    for e in range(i + 1, nodes):  # noqa: SIM110 - Numba compiles no generators
        if links[0, e] == i:
            return False
    return True


def mark_fresh(st: Any, links: Any, j: Any, kind: Any, fresh: Any) -> None:
    """The nodes from the root down to node j (or, for a dropped clause, to the phrase it hangs on)."""
    for i in range(st[NODES]):
        fresh[i] = 0
    i = links[0, j] if kind == DROP_CLAUSE else j
    while i >= 0:
        fresh[i] = 1
        i = links[0, i]


def plant(
    things: Any,
    sets: Any,
    boards: Any,
    st: Any,
    pairs: Any,
    words: Any,
    links: Any,
    the: Any,
    j: Any,
    kind: Any,
    tries: Any,
    lists: Any,
    scratch: Any,
    rng: Any,
) -> Any:
    """Add a decoy that a reader takes for the target who skips `kind` of node j; False if none of the tries worked."""
    before = st[N]
    mark_fresh(st, links, j, kind, lists[1])
    for attempt in range(tries):
        if before >= st[LIMIT]:
            return False
        choose_nodes(things, sets, st, words, links, j, kind, lists[0], lists[1], attempt, rng)
        if (
            build(things, sets, boards, st, pairs, words, links, lists[0], j, kind, rng)
            and is_unique(things, sets, st, words, links, the, scratch)
            and has_rival(things, sets, st, words, links, j, kind, scratch)
        ):
            return True
        cut(things, sets, boards, st, before)
    return False
