"""A world that grows: sizes, the referents of a command and of its variants, and groups of new objects.

One pair of sizes (small, big) serves all comparison classes of a world, so adding objects never takes a referent away. A
variant of a command drops one thing of one phrase: a word, or the clause that the phrase hangs by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.commands import is_leaf
from recombine.families.reascan.kernel import (
    ANCHORS,
    CELLS,
    GRID,
    HIGH,
    LIMIT,
    LOW,
    NODES,
    N,
    add,
    column_of,
    cut,
    draw_cell,
    row_of,
)
from recombine.grid.codes import (
    BIG,
    BOX,
    COLOR,
    COLUMN,
    INSIDE,
    NO_SIZE,
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
from recombine.grid.kernel import children, lowest, nth, parents, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Desk, Ints, Saying, Scene, Words

KERNEL = True
LEAN = True

NO_KIND, DROP_SIZE, DROP_COLOR, DROP_SHAPE, DROP_CLAUSE = -1, 0, 1, 2, 3
"""What a variant drops."""
NEW, ABSENT = -1, -2
"""Entries of `node` in `build` that are no object: one is to be made; the node takes no part."""
FIT_ROW, PARENT_ROW, RELATION_ROW, NUMBER_ROW, CHOSEN_ROW, LEFT_ROW = 0, 1, 2, 3, 4, 5
"""Rows of `scratch` while a variant is matched."""


# --- sizes -----------------------------------------------------------------------------------------------------------


def set_pairs(words: Ints, st: Ints, pairs: Ints) -> None:
    """Mark in pairs[colour, shape] the kinds of objects that may only have the pair's two sizes.

    These are the comparison class of every sized phrase, and that class without the phrase's colour or shape word.
    """
    for c in range(4):
        for s in range(4):
            pairs[c, s] = 0
    for j in range(st[NODES]):
        if words[j, 0] == NO_SIZE:
            continue
        for c in range(4):
            for s in range(4):
                if words[j, 1] < 0 or words[j, 2] < 0 or words[j, 1] == c or words[j, 2] == s:
                    pairs[c, s] = 1


def draw_size(pairs: Ints, st: Ints, color: int, shape: int, rng: Words) -> Any:
    """A size that an object of this kind may have."""
    if pairs[color, shape] != 0:
        return st[LOW] if below(rng, 2) == 0 else st[HIGH]
    return below(rng, 4) + 1


def may_have(pairs: Ints, st: Ints, color: int, shape: int, size: int) -> Any:
    """Whether an object of this kind may have this size."""
    return pairs[color, shape] == 0 or size == st[LOW] or size == st[HIGH]


# --- what a phrase, or a variant of the command, fits ------------------------------------------------------------------


def fit(sets: Ints, st: Ints, size: int, color: int, shape: int) -> Any:
    """The objects that a phrase fits, with the size word read by the pair."""
    found = (1 << st[N]) - 1
    if color >= 0:
        found = found & sets[COLOR, color]
    if shape >= 0:
        found = found & sets[SHAPE, shape]
    if size == SMALL:
        found = found & sets[SIZE, st[LOW]]
    elif size == BIG:
        found = found & sets[SIZE, st[HIGH]]
    return found


def fit_without(sets: Ints, st: Ints, words: Ints, i: int, kind: int) -> Any:
    """The objects that phrase i fits without its size word, its colour word, or its shape word."""
    size, color, shape = words[i, 0], words[i, 1], words[i, 2]
    if kind == DROP_SIZE:
        size = NO_SIZE
    elif kind == DROP_COLOR:
        color = -1
    elif kind == DROP_SHAPE:
        shape = -1
    return fit(sets, st, size, color, shape)


def has_rival(things: Ints, sets: Ints, st: Ints, words: Ints, links: Ints, j: int, kind: int, scratch: Ints) -> Any:
    """Whether the command without `kind` of node j means a further object (it always means the target).

    links[0] are parents, links[1] relations. scratch is int64[6, nodes]: 0 fits, 1 parents, 2 relations, 3 new numbers, 4–5 search.
    """
    m = 0
    for i in range(st[NODES]):
        is_gone = kind == DROP_CLAUSE and i == j
        if i > 0 and not is_gone and scratch[NUMBER_ROW, links[0, i]] < 0:
            is_gone = True
        if is_gone:
            scratch[NUMBER_ROW, i] = -1
            continue
        scratch[FIT_ROW, m] = fit_without(sets, st, words, i, kind if i == j else NO_KIND)
        scratch[PARENT_ROW, m] = scratch[NUMBER_ROW, links[0, i]] if i > 0 else -1
        scratch[RELATION_ROW, m] = links[1, i]
        scratch[NUMBER_ROW, i] = m
        m += 1
    roots = scratch[FIT_ROW, 0] & ~1
    for i in range(1, m):
        if scratch[PARENT_ROW, i] != 0 or roots == 0:
            break
        left = scratch[FIT_ROW, i]
        reach = left & 0
        while left:
            reach |= parents(things, sets, st[GRID], scratch[RELATION_ROW, i], lowest(left))
            left &= left - 1
        roots &= reach
    while roots:
        root = lowest(roots)
        roots &= roots - 1
        if can_bind(things, sets, scratch, m, root):
            return True
    return False


def can_bind(things: Ints, sets: Ints, scratch: Ints, m: int, root: int) -> Any:
    """Whether all m nodes can bind to different objects if the first is `root`; rows of scratch as in `has_rival`.

    One or two children of the root are settled by counting, larger trees by search.
    """
    if m == 1:
        return True
    used = 1 << root
    scratch[LEFT_ROW, 1] = scratch[FIT_ROW, 1] & children(things, sets, scratch[RELATION_ROW, 1], root)
    if scratch[LEFT_ROW, 1] == 0:
        return False
    if m == 2:
        return True
    if m == 3 and scratch[PARENT_ROW, 2] == 0:
        second = scratch[FIT_ROW, 2] & children(things, sets, scratch[RELATION_ROW, 2], root)
        both = second | scratch[LEFT_ROW, 1]
        return second != 0 and both & (both - 1) != 0
    scratch[CHOSEN_ROW, 0] = root
    k = 1
    while k > 0:
        if scratch[LEFT_ROW, k] == 0:
            k -= 1
            if k > 0:
                used &= ~(1 << scratch[CHOSEN_ROW, k])
            continue
        pick = lowest(scratch[LEFT_ROW, k])
        scratch[LEFT_ROW, k] &= scratch[LEFT_ROW, k] - 1
        scratch[CHOSEN_ROW, k] = pick
        if k == m - 1:
            return True
        used |= 1 << pick
        k += 1
        scratch[LEFT_ROW, k] = (
            scratch[FIT_ROW, k]
            & children(things, sets, scratch[RELATION_ROW, k], scratch[CHOSEN_ROW, scratch[PARENT_ROW, k]])
            & ~used
        )
    return False


def is_unique(things: Ints, sets: Ints, st: Ints, words: Ints, links: Ints, the: Ints, scratch: Ints) -> Any:
    """Whether the command means the target only, and every phrase that was promised "the" fits one object only.

    Two phrases may mean the same object here, but no object is related to itself. That reading means at least all that the
    reading with different objects means, so one referent under it is one referent under both.
    """
    nodes = st[NODES]
    for j in range(nodes):
        scratch[FIT_ROW, j] = fit(sets, st, words[j, 0], words[j, 1], words[j, 2])
        if j > 0 and the[j] != 0 and popcount(scratch[FIT_ROW, j]) > 1:
            return False
    for j in range(nodes - 1, 0, -1):
        left = scratch[FIT_ROW, j]
        reach = left & 0
        while left:
            reach |= parents(things, sets, st[GRID], links[1, j], lowest(left))
            left &= left - 1
        scratch[FIT_ROW, links[0, j]] &= reach
    return scratch[FIT_ROW, 0] & ~1 == 0


# --- groups of new objects -------------------------------------------------------------------------------------------


def build(
    things: Ints, sets: Ints, boards: Ints, st: Ints, pairs: Ints, words: Ints, links: Ints, node: Ints, j: int, kind: int,
    rng: Words,
) -> Any:  # fmt: skip
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
        node[i] = add(things, sets, boards, st, size, color, shape, row_of(cell), column_of(cell))
    return True


def choose_nodes(
    things: Ints,
    sets: Ints,
    st: Ints,
    words: Ints,
    links: Ints,
    j: int,
    kind: int,
    node: Ints,
    fresh: Ints,
    attempt: int,
    rng: Words,
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


def pick_one(choices: int, node: Ints, i: int, rng: Words) -> None:
    """Let node i use one of the objects, if there is any."""
    count = popcount(choices)
    if count:
        node[i] = nth(choices, below(rng, count))


def mark_fresh(st: Ints, links: Ints, j: int, kind: int, fresh: Ints) -> None:
    """The nodes from the root down to node j (or, for a dropped clause, to the phrase it hangs on)."""
    for i in range(st[NODES]):
        fresh[i] = 0
    i = links[0, j] if kind == DROP_CLAUSE else j
    while i >= 0:
        fresh[i] = 1
        i = links[0, i]


def plant(j: int, kind: int, tries: int, scene: Scene, said: Saying, desk: Desk) -> Any:
    """Add a decoy that a reader takes for the target who skips `kind` of node j; False if none of the tries worked."""
    things, sets, boards, st, pairs = scene.things, scene.sets, scene.boards, scene.st, scene.pairs
    words, links, the = said.words, said.links, said.the
    lists, scratch, rng = desk.lists, desk.scratch, desk.rng
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
