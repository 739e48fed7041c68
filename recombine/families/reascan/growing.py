"""Growing a world: objects put down and taken back, sizes, and the referents of a command's variants.

Size words are read by the one pair of sizes (small, big) that all comparison classes of the world share, so adding objects
never takes a referent away. `st` holds the small numbers of one row, `links` parents and relations, `the` the phrases that were
promised "the". A variant of a command drops one thing of one phrase: a word, or the clause that the phrase hangs by.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import below
from recombine.grid.codes import (
    BIG,
    BOX,
    COLOR,
    COLUMN,
    NO_SIZE,
    ROW,
    SHAPE,
    SIZE,
    SMALL,
)
from recombine.grid.kernel import children, lowest, nth, parents, popcount

KERNEL = True
LEAN = True

# st: the small numbers of one row
N, GRID, LIMIT, LOW, HIGH, NODES, SPARE_OK = 0, 1, 2, 3, 4, 5, 6
# what a variant drops from node j; its code is 8 * j + kind
NO_KIND, DROP_SIZE, DROP_COLOR, DROP_SHAPE, DROP_CLAUSE = -1, 0, 1, 2, 3
# boards: cells that objects take or that are kept free; anchors of boxes
CELLS, ANCHORS = 0, 1


# --- putting objects down and taking them back -------------------------------------------------------------------------


def add(things: Any, sets: Any, boards: Any, st: Any, size: Any, color: Any, shape: Any, row: Any, column: Any) -> Any:
    """Put an object into the world; returns its index."""
    i = st[N]
    things[i, SIZE], things[i, COLOR], things[i, SHAPE], things[i, ROW], things[i, COLUMN] = size, color, shape, row, column
    bit = 1 << i
    sets[SIZE, size] |= bit
    sets[COLOR, color] |= bit
    sets[SHAPE, shape] |= bit
    sets[ROW, row] |= bit
    sets[COLUMN, column] |= bit
    board = ANCHORS if shape == BOX else CELLS
    boards[board, row] |= 1 << column
    st[N] = i + 1
    return i


def cut(things: Any, sets: Any, boards: Any, st: Any, n: Any) -> None:
    """Take back the objects from index n on."""
    while st[N] > n:
        i = st[N] - 1
        keep = ~(1 << i)
        for a in range(5):
            sets[a, things[i, a]] &= keep
        board = ANCHORS if things[i, SHAPE] == BOX else CELLS
        boards[board, things[i, ROW]] &= ~(1 << things[i, COLUMN])
        st[N] = i


def draw_cell(boards: Any, board: Any, top: Any, bottom: Any, left: Any, right: Any, rng: Any) -> Any:
    """A uniform free cell of the rectangle (ends included) as row * 64 + column, or -1 if there is none.

    A few cells are tried before the free ones are counted: in open rectangles that is quicker, and just as uniform.
    """
    if top > bottom or left > right:
        return -1
    wide = right - left + 1
    area = wide * (bottom - top + 1)
    for _ in range(3):
        k = below(rng, area)
        row, column = top + k // wide, left + k % wide
        if (boards[board, row] >> column) & 1 == 0:
            return row * 64 + column
    mask = ((1 << (right + 1)) - 1) & ~((1 << left) - 1)
    free = 0
    for r in range(top, bottom + 1):
        free += popcount(mask & ~boards[board, r])
    if free == 0:
        return -1
    k = below(rng, free)
    for r in range(top, bottom + 1):
        word = mask & ~boards[board, r]
        here = popcount(word)
        if k < here:
            return r * 64 + nth(word, k)
        k -= here
    return -1


# --- sizes -----------------------------------------------------------------------------------------------------------


def set_pairs(words: Any, st: Any, pairs: Any) -> None:
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


def draw_size(pairs: Any, st: Any, color: Any, shape: Any, rng: Any) -> Any:
    """A size that an object of this kind may have."""
    if pairs[color, shape] != 0:
        return st[LOW] if below(rng, 2) == 0 else st[HIGH]
    return below(rng, 4) + 1


def may_have(pairs: Any, st: Any, color: Any, shape: Any, size: Any) -> Any:
    """Whether an object of this kind may have this size."""
    return pairs[color, shape] == 0 or size == st[LOW] or size == st[HIGH]


# --- what a phrase, or a variant of the command, fits ------------------------------------------------------------------


def fit(sets: Any, st: Any, size: Any, color: Any, shape: Any) -> Any:
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


def fit_without(sets: Any, st: Any, words: Any, i: Any, kind: Any) -> Any:
    """The objects that phrase i fits without its size word, its colour word, or its shape word."""
    size, color, shape = words[i, 0], words[i, 1], words[i, 2]
    if kind == DROP_SIZE:
        size = NO_SIZE
    elif kind == DROP_COLOR:
        color = -1
    elif kind == DROP_SHAPE:
        shape = -1
    return fit(sets, st, size, color, shape)


def has_rival(things: Any, sets: Any, st: Any, words: Any, links: Any, j: Any, kind: Any, scratch: Any) -> Any:
    """Whether the command without `kind` of node j means an object besides the target (which it always means).

    links[0] are parents, links[1] relations. scratch is int64[6, nodes]: 0 fits, 1 parents, 2 relations, 3 new numbers, 4–5 search.
    """
    m = 0
    for i in range(st[NODES]):
        is_gone = kind == DROP_CLAUSE and i == j
        if i > 0 and not is_gone and scratch[3, links[0, i]] < 0:
            is_gone = True
        if is_gone:
            scratch[3, i] = -1
            continue
        scratch[0, m] = fit_without(sets, st, words, i, kind if i == j else NO_KIND)
        scratch[1, m] = scratch[3, links[0, i]] if i > 0 else -1
        scratch[2, m] = links[1, i]
        scratch[3, i] = m
        m += 1
    roots = scratch[0, 0] & ~1
    for i in range(1, m):
        if scratch[1, i] != 0 or roots == 0:
            break
        left = scratch[0, i]
        reach = left & 0
        while left:
            reach |= parents(things, sets, st[GRID], scratch[2, i], lowest(left))
            left &= left - 1
        roots &= reach
    while roots:
        root = lowest(roots)
        roots &= roots - 1
        if can_bind(things, sets, scratch, m, root):
            return True
    return False


def can_bind(things: Any, sets: Any, scratch: Any, m: Any, root: Any) -> Any:
    """Whether all m nodes can bind to different objects if the first is `root`; rows of scratch as in `has_rival`.

    One or two children of the root are settled by counting, larger trees by search.
    """
    if m == 1:
        return True
    used = 1 << root
    scratch[5, 1] = scratch[0, 1] & children(things, sets, scratch[2, 1], root)
    if scratch[5, 1] == 0:
        return False
    if m == 2:
        return True
    if m == 3 and scratch[1, 2] == 0:
        second = scratch[0, 2] & children(things, sets, scratch[2, 2], root)
        both = second | scratch[5, 1]
        return second != 0 and both & (both - 1) != 0
    scratch[4, 0] = root
    k = 1
    while k > 0:
        if scratch[5, k] == 0:
            k -= 1
            if k > 0:
                used &= ~(1 << scratch[4, k])
            continue
        pick = lowest(scratch[5, k])
        scratch[5, k] &= scratch[5, k] - 1
        scratch[4, k] = pick
        if k == m - 1:
            return True
        used |= 1 << pick
        k += 1
        scratch[5, k] = scratch[0, k] & children(things, sets, scratch[2, k], scratch[4, scratch[1, k]]) & ~used
    return False


def is_unique(things: Any, sets: Any, st: Any, words: Any, links: Any, the: Any, scratch: Any) -> Any:
    """Whether the command means one object only, and every phrase that was promised "the" fits one object only."""
    for j in range(1, st[NODES]):
        if the[j] != 0 and popcount(fit(sets, st, words[j, 0], words[j, 1], words[j, 2])) > 1:
            return False
    return not has_rival(things, sets, st, words, links, -1, NO_KIND, scratch)
