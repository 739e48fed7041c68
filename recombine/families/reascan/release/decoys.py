"""The objects of one draw of the release recipe: the mentioned ones and the original's four distractor strategies.

Size bounds belong to the shape, or to the colour and shape, that a sized phrase's object happens to have, "object" included. A new
object takes the bound of its kind, else a size that is forced on it, else one by its size word. Decoy groups copy descriptions, and
of the attribute relations only "same size" is carried over to them. A group that finds no cell stops midway and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.kernel import ANCHORS, CELLS, GRID, NODES, N, add, column_of, draw_cell, encode_cell, row_of
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
from recombine.grid.kernel import popcount
from recombine.grid.size_bounds import bind, bound, clear_bounds

if TYPE_CHECKING:
    from recombine.families.reascan.release.kernel import Draft
    from recombine.families.reascan.rows import Desk, Ints, Saying, Scene, Words

KERNEL = True
LEAN = True

FILL = 13
"""Random objects are added until there are this many."""
EVERYONE = -1
"""No phrase is left out of a group."""
ATTRIBUTE_NODE, ATTRIBUTE_KIND, SWAP_KIND = 0, 1, 2
"""What `notes` holds: the phrase and word that the attribute distractor changes, and which words the isomorphic one swaps."""
SWAP_COLOR, SWAP_SIZE_SHAPE = 1, 2
MOST_PLACED = 30
"""No object is placed beyond this many."""
AT, SOME, FORCED = 0, 1, 2
"""Rows of `lists`: where the objects of a group are, some choices, sizes forced on a group (0: none)."""


# --- kinds and sizes -------------------------------------------------------------------------------------------------


def draw_bounds(words: Ints, kinds: Ints, nodes: int, bounds: Ints, rng: Words) -> None:
    """Bind the kind of each sized phrase's object to a pair of sizes."""
    clear_bounds(bounds)
    for j in range(nodes):
        if words[j, 0] != NO_SIZE:
            bind(bounds, -1 if words[j, 1] < 0 else kinds[j, 1], kinds[j, 2], rng)


def draw_kind(bounds: Ints, size: int, color: int, shape: int, forced: int, kind: Ints, rng: Words) -> None:
    """Fill kind = [size, colour, shape] for a description: what it leaves open is uniform; the bound goes before the forced size."""
    kind[1] = color if color >= 0 else below(rng, 4)
    kind[2] = shape if shape >= 0 else below(rng, 3)
    fixed = bound(bounds, kind[1], kind[2], size == SMALL)
    if fixed != 0:
        kind[0] = fixed
    elif forced != 0:
        kind[0] = forced
    elif size == SMALL:
        kind[0] = 1 + below(rng, 3)
    elif size == BIG:
        kind[0] = 2 + below(rng, 3)
    else:
        kind[0] = 1 + below(rng, 4)


# --- places ----------------------------------------------------------------------------------------------------------


def first_free(boards: Ints, grid: int, is_row: bool, line: int) -> Any:
    """The first free cell of a row or column, from its beginning, as row * 64 + column; -1 if it is full."""
    for k in range(grid):
        row, column = (line, k) if is_row else (k, line)
        if (boards[CELLS, row] >> column) & 1 == 0:
            return encode_cell(row, column)
    return -1


def place(things: Ints, sets: Ints, boards: Ints, st: Ints, kind: Ints, parent: int, relation: int, rng: Words) -> Any:
    """Put an object down in its relation to object `parent` (-1: none); returns its index, or -1 if there is no cell."""
    grid, size = st[GRID], kind[0]
    if st[N] >= MOST_PLACED:
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
    return add(things, sets, boards, st, size, kind[1], kind[2], row_of(cell), column_of(cell))


def place_mentioned(
    things: Ints, sets: Ints, boards: Ints, st: Ints, words: Ints, links: Ints, bounds: Ints, kinds: Ints, rng: Words
) -> Any:
    """The mentioned objects: attributes drawn, copied from child to parent along same-attribute relations, bound, placed."""
    nodes = st[NODES]
    clear_bounds(bounds)
    for j in range(nodes):
        draw_kind(bounds, words[j, 0], words[j, 1], words[j, 2], 0, kinds[j], rng)
    for j in range(1, nodes):
        relation, parent = links[1, j], links[0, j]
        if relation == SAME_COLOR:
            kinds[parent, 1] = kinds[j, 1]
        elif relation == SAME_SHAPE:
            kinds[parent, 2] = kinds[j, 2]
        elif relation == SAME_SIZE:
            kinds[parent, 0] = kinds[j, 0]
    draw_bounds(words, kinds, nodes, bounds, rng)
    for j in range(nodes):
        fixed = bound(bounds, kinds[j, 1], kinds[j, 2], words[j, 0] == SMALL)
        if fixed != 0:
            kinds[j, 0] = fixed
    for j in range(1, nodes):
        if links[1, j] == SAME_SIZE:
            kinds[links[0, j], 0] = kinds[j, 0]
    for j in range(nodes):  # noqa: SIM110 - Numba compiles no generators
        if place(things, sets, boards, st, kinds[j], links[0, j], links[1, j], rng) < 0:
            return False
    return True


def place_group(
    things: Ints,
    sets: Ints,
    boards: Ints,
    st: Ints,
    words: Ints,
    links: Ints,
    bounds: Ints,
    kinds: Ints,
    skip: int,
    lists: Ints,
    rng: Words,
) -> Any:
    """Put down a fresh group for the description, without node `skip`; False if it stopped midway for want of a cell."""
    nodes = st[NODES]
    for j in range(nodes):
        if j != skip:
            draw_kind(bounds, words[j, 0], words[j, 1], words[j, 2], lists[FORCED, j], kinds[j], rng)
    for j in range(1, nodes):
        if j != skip and links[1, j] == SAME_SIZE:
            kinds[links[0, j], 0] = kinds[j, 0]
    for j in range(nodes):
        lists[AT, j] = -1
        if j == skip:
            continue
        parent = lists[AT, links[0, j]] if j > 0 else -1
        lists[AT, j] = place(things, sets, boards, st, kinds[j], parent, links[1, j], rng)
        if lists[AT, j] < 0:
            return False
    return True


def force_none(lists: Ints, nodes: int) -> None:
    """No size is forced on the next group."""
    for j in range(nodes):
        lists[FORCED, j] = 0


# --- the strategies --------------------------------------------------------------------------------------------------


def add_relation(scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """Groups that satisfy all clauses but one (for one clause: another object like the target); True if one is whole."""
    things, sets, boards, st, words, links = scene.things, scene.sets, scene.boards, scene.st, said.words, said.links
    bounds, kinds, lists, rng = draft.bounds, draft.kinds, desk.lists, desk.rng
    nodes = st[NODES]
    force_none(lists, nodes)
    if nodes == 2:
        draw_kind(bounds, words[0, 0], words[0, 1], words[0, 2], things[0, SIZE], kinds[0], rng)
        return place(things, sets, boards, st, kinds[0], -1, 0, rng) >= 0
    if links[0, 2] == 1:
        return place_group(things, sets, boards, st, words, links, bounds, kinds, 2, lists, rng)
    is_any = False
    for skip in range(1, nodes):
        is_any = place_group(things, sets, boards, st, words, links, bounds, kinds, skip, lists, rng) or is_any
    return is_any


def choose_change(things: Ints, sets: Ints, st: Ints, words: Ints, other: Ints, notes: Ints, lists: Ints, rng: Words) -> Any:
    """Which word the attribute distractor changes: fills `other`, `notes` and the forced sizes.

    Returns 1; or 0 if two boxes are there, so that only size contrasts follow; or -1 if no phrase can be changed: nothing follows.
    """
    nodes = st[NODES]
    if popcount(sets[SHAPE, BOX]) >= 2:
        return 0
    n_able = 0
    for j in range(nodes):
        if words[j, 2] >= 0 and words[j, 2] != BOX:
            lists[SOME, n_able] = j
            n_able += 1
    if n_able == 0:
        return -1
    node = lists[SOME, below(rng, n_able)]
    n_slots = 0
    for kind in range(3):
        if (kind == 0 and words[node, 0] != NO_SIZE) or (kind == 1 and words[node, 1] >= 0) or kind == 2:
            lists[SOME, n_slots] = kind
            n_slots += 1
    slot = lists[SOME, below(rng, n_slots)]
    force_none(lists, nodes)
    for j in range(nodes):
        for a in range(3):
            other[j, a] = words[j, a]
    if slot == 0:
        other[node, 0] = SMALL + BIG - words[node, 0]
        for j in range(nodes):
            lists[FORCED, j] = things[j, SIZE]
    else:
        other[node, 0] = NO_SIZE
        if slot == 1:
            other[node, 1] = (words[node, 1] + 1 + below(rng, 3)) % 4
        else:
            other[node, 1] = things[node, COLOR]
            other[node, 2] = (words[node, 2] + 1 + below(rng, 2)) % 3
    notes[ATTRIBUTE_NODE], notes[ATTRIBUTE_KIND] = node, slot
    return 1


def list_contrasts(things: Ints, sets: Ints, st: Ints, words: Ints, bounds: Ints, covered: int, due: Ints) -> Any:
    """Fill due = [size word, colour, shape, size] with a contrast for each sized phrase but `covered`; returns how many.

    A phrase with a shape needs none if an object of its kind has the other size already; one with "object" always gets one.
    """
    found = 0
    for j in range(st[NODES]):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or j == covered:
            continue
        wanted = bound(bounds, things[j, COLOR], things[j, SHAPE], size == BIG)
        if shape >= 0:
            serving = sets[SHAPE, shape] & sets[SIZE, wanted]
            if color >= 0:
                serving = serving & sets[COLOR, color]
            if serving != 0:
                continue
        due[found, 0], due[found, 1], due[found, 2], due[found, 3] = SMALL + BIG - size, color, shape, wanted
        found += 1
    return found


def add_contrasts(
    things: Ints, sets: Ints, boards: Ints, st: Ints, bounds: Ints, due: Ints, count: int, kind: Ints, rng: Words
) -> Any:
    """Put the listed contrasts down anywhere; False if it stopped for want of a cell."""
    for k in range(count):
        draw_kind(bounds, due[k, 0], due[k, 1], due[k, 2], due[k, 3], kind, rng)
        if place(things, sets, boards, st, kind, -1, 0, rng) < 0:
            return False
    return True


def add_swapped(scene: Scene, said: Saying, draft: Draft, desk: Desk) -> Any:
    """A group with colours, or sizes and shapes, swapped between the second and the third phrase; False if there is none."""
    words, other = said.words, said.other
    if scene.st[NODES] != 3 or words[1, 2] == BOX or words[2, 2] == BOX:
        return False
    for j in range(3):
        for a in range(3):
            other[j, a] = words[j, a]
    if (words[1, 1] >= 0 or words[2, 1] >= 0) and below(desk.rng, 2) == 0:
        draft.notes[SWAP_KIND] = SWAP_COLOR
        other[1, 1], other[2, 1] = words[2, 1], words[1, 1]
    else:
        draft.notes[SWAP_KIND] = SWAP_SIZE_SHAPE
        other[1, 0], other[2, 0] = words[2, 0], words[1, 0]
        other[1, 2], other[2, 2] = words[2, 2], words[1, 2]
    force_none(desk.lists, 3)
    return place_group(
        scene.things,
        scene.sets,
        scene.boards,
        scene.st,
        other,
        said.links,
        draft.bounds,
        draft.kinds,
        EVERYONE,
        desk.lists,
        desk.rng,
    )


def list_kinds(things: Ints, st: Ints, words: Ints, kinds_out: Ints) -> Any:
    """Write the kinds (4 * colour + shape) that random objects may have: no mentioned one; returns how many.

    The shapes of the mentioned objects are out too while they and their kinds are fewer than three things: so for simple commands.
    """
    shapes, combos = 0, 0
    for j in range(st[NODES]):
        shapes |= 1 << things[j, SHAPE]
        combos |= 1 << (things[j, COLOR] * 4 + things[j, SHAPE])
        if words[j, 1] >= 0 and words[j, 2] < 0:
            combos |= 15 << (things[j, COLOR] * 4)
    is_strict = popcount(shapes) + popcount(combos) < 3
    found = 0
    for color in range(4):
        for shape in range(3):
            if (combos >> (color * 4 + shape)) & 1 == 0 and not (is_strict and (shapes >> shape) & 1 == 1):
                kinds_out[found] = color * 4 + shape
                found += 1
    return found


def add_fill(
    things: Ints, sets: Ints, boards: Ints, st: Ints, words: Ints, bounds: Ints, kind: Ints, lists: Ints, rng: Words
) -> Any:
    """Random objects of kinds that no mentioned object has, up to FILL objects in all; how many, or -1 if no kind is left."""
    before = st[N]
    if before >= FILL:
        return 0
    n_kinds = list_kinds(things, st, words, lists[SOME])
    if n_kinds == 0:
        return -1
    while st[N] < FILL:
        pick = lists[SOME, below(rng, n_kinds)]
        kind[1], kind[2] = pick // 4, pick % 4
        fixed = bound(bounds, kind[1], kind[2], below(rng, 2) == 0)
        kind[0] = fixed if fixed != 0 else 1 + below(rng, 4)
        if place(things, sets, boards, st, kind, -1, 0, rng) < 0:
            break
    return st[N] - before
