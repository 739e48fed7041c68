"""Distractors: a decoy for every clause and word, size contrasts, an isomorphic group, random objects; each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.draws import below
from recombine.families.reascan.kernel import (
    ANCHORS,
    ATTRIBUTE,
    CELLS,
    CONTRAST,
    FLAG_ATTRIBUTE,
    FLAG_RELATION,
    GOAL,
    GRID,
    HIGH,
    ISOMORPHISM,
    LIMIT,
    LOW,
    NODES,
    RANDOM,
    RELATION,
    SPARE_OK,
    VARIANT,
    N,
    add,
    column_of,
    cut,
    draw_cell,
    name_new,
    row_of,
)
from recombine.families.reascan.sound.world import (
    DROP_CLAUSE,
    DROP_COLOR,
    DROP_SHAPE,
    DROP_SIZE,
    NO_KIND,
    build,
    can_bind,
    choose_nodes,
    draw_size,
    fit,
    has_rival,
    is_unique,
    mark_fresh,
    plant,
)
from recombine.grid.codes import BIG, BOX, NO_SIZE, PAIRWISE, SMALL
from recombine.grid.kernel import phrase, popcount

if TYPE_CHECKING:
    from recombine.families.reascan.rows import Desk, Ints, Saying, Scene, Words

KERNEL = True
LEAN = True

SWAP = 64
"""What an isomorphic decoy is there for: SWAP + VARIANT * a + b, words of phrases a and b swapped."""
SWAP_KINDS = 4
"""A swap among the choices is (a * VARIANT + b) * SWAP_KINDS + kind of word."""
PLANT_TRIES, CONTRAST_TRIES, SWAP_TRIES, FILL_TRIES, GOAL_TRIES = 24, 24, 8, 24, 80
FILL_FROM, FILL_SPREAD = 10, 7
"""Random objects fill a world up to a uniform number from FILL_FROM on."""
BOX_SHARE = 10
"""One in this many random objects is a box."""
ANYWHERE = -1
"""No cell is given."""


def is_word(words: Ints, j: int, kind: int) -> Any:
    """Whether node j has that word or clause, and it is not the "box" after "inside of", which the relation already says."""
    if kind == DROP_SIZE:
        return words[j, 0] != NO_SIZE
    if kind == DROP_COLOR:
        return words[j, 1] >= 0
    if kind == DROP_SHAPE:
        return words[j, 2] >= 0 and words[j, 2] != BOX
    return j > 0


def add_decoys(strategies: int, scene: Scene, said: Saying, desk: Desk) -> Any:
    """A decoy for every clause, then for every word, as the strategies say; False if one cannot be had and may not be spare."""
    st, spare = scene.st, desk.marks[2]
    n_spare = 0
    for step in range(4):
        kind = DROP_CLAUSE if step == 0 else step - 1
        if strategies & (FLAG_RELATION if kind == DROP_CLAUSE else FLAG_ATTRIBUTE) == 0:
            continue
        for j in range(st[NODES]):
            if not is_word(said.words, j, kind):
                continue
            if has_rival(scene.things, scene.sets, st, said.words, said.links, j, kind, desk.scratch):
                continue
            before = st[N]
            if plant(j, kind, PLANT_TRIES, scene, said, desk):
                role = RELATION if kind == DROP_CLAUSE else ATTRIBUTE
                name_new(before, st, desk.marks[0], desk.marks[1], role, VARIANT * j + kind)
            elif st[SPARE_OK] != 0:
                spare[1 + n_spare] = VARIANT * j + kind
                n_spare += 1
            else:
                return False
    spare[0] = n_spare
    return True


def add_contrasts(scene: Scene, said: Saying, desk: Desk) -> Any:
    """For worlds without decoys: see that each sized phrase's class has both sizes, as its size word needs."""
    things, sets, boards, st, words, rng = scene.things, scene.sets, scene.boards, scene.st, said.words, desk.rng
    for j in range(st[NODES]):
        size, color, shape = words[j, 0], words[j, 1], words[j, 2]
        if size == NO_SIZE or fit(sets, st, SMALL + BIG - size, color, shape) != 0:
            continue
        before = st[N]
        is_done = False
        for _ in range(CONTRAST_TRIES):
            if st[N] >= st[LIMIT]:
                return False
            c = color if color >= 0 else below(rng, 4)
            s = shape if shape >= 0 else below(rng, 3)
            value = st[HIGH] if size == SMALL else st[LOW]
            reach = st[GRID] - value if s == BOX else st[GRID] - 1
            cell = draw_cell(boards, ANCHORS if s == BOX else CELLS, 0, reach, 0, reach, rng)
            if cell < 0:
                return False
            add(things, sets, boards, st, value, c, s, row_of(cell), column_of(cell))
            if is_unique(things, sets, st, words, said.links, said.the, desk.scratch):
                is_done = True
                break
            cut(things, sets, boards, st, before)
        if not is_done:
            return False
        name_new(before, st, desk.marks[0], desk.marks[1], CONTRAST, VARIANT * j + DROP_SIZE)
    return True


def mark_spare(things: Ints, sets: Ints, st: Ints, words: Ints, links: Ints, spare: Ints, scratch: Ints) -> None:
    """List the words and clauses that are not needed to find the target: spare[0] of them, from spare[1] on."""
    count = 0
    for j in range(st[NODES]):
        for kind in range(4):
            if is_word(words, j, kind) and not has_rival(things, sets, st, words, links, j, kind, scratch):
                count += 1
                spare[count] = VARIANT * j + kind
    spare[0] = count


def add_isomorph(scene: Scene, said: Saying, desk: Desk) -> Any:
    """Try to add what the command means with one kind of word swapped between two of its phrases; True if it is there."""
    things, sets, boards, st = scene.things, scene.sets, scene.boards, scene.st
    words, links, other = said.words, said.links, said.other
    lists, scratch, rng = desk.lists, desk.scratch, desk.rng
    nodes = st[NODES]
    n_swaps = 0
    for a in range(nodes):
        for b in range(a + 1, nodes):
            for kind in range(3):
                if is_swappable(words, a, b, kind):
                    lists[2, n_swaps] = (a * VARIANT + b) * SWAP_KINDS + kind
                    n_swaps += 1
    if n_swaps == 0:
        return False
    pick = lists[2, below(rng, n_swaps)]
    a, b, kind = pick // (VARIANT * SWAP_KINDS), pick // SWAP_KINDS % VARIANT, pick % SWAP_KINDS
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
    for attempt in range(SWAP_TRIES):
        choose_nodes(things, sets, st, other, links, -1, NO_KIND, lists[0], lists[1], attempt, rng)
        if (
            build(things, sets, boards, st, scene.pairs, other, links, lists[0], -1, NO_KIND, rng)
            and add_missing_sizes(things, sets, boards, st, other, lists[0], rng)
            and is_unique(things, sets, st, words, links, said.the, scratch)
            and is_meant(things, sets, st, other, links, lists[0, 0], scratch)
        ):
            name_new(before, st, desk.marks[0], desk.marks[1], ISOMORPHISM, SWAP + VARIANT * a + b)
            return True
        cut(things, sets, boards, st, before)
    return False


def add_missing_sizes(things: Ints, sets: Ints, boards: Ints, st: Ints, words: Ints, node: Ints, rng: Words) -> Any:
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
        add(things, sets, boards, st, value, color if color >= 0 else below(rng, 4), kind, row_of(cell), column_of(cell))
    return True


def is_meant(things: Ints, sets: Ints, st: Ints, words: Ints, links: Ints, root: int, scratch: Ints) -> Any:
    """Whether the description can mean object `root`, size words read pairwise."""
    for j in range(st[NODES]):
        scratch[0, j] = phrase(sets, (1 << st[N]) - 1, words[j, 0], words[j, 1], words[j, 2], PAIRWISE)
        scratch[1, j], scratch[2, j] = links[0, j], links[1, j]
    return (scratch[0, 0] >> root) & 1 == 1 and can_bind(things, sets, scratch, st[NODES], root)


def is_swappable(words: Ints, a: int, b: int, kind: int) -> Any:
    """Whether both phrases have that kind of word, they differ, and none is the head "box"."""
    x, y = words[a, kind], words[b, kind]
    if x == y:
        return False
    if kind == 0:
        return x != NO_SIZE and y != NO_SIZE
    return x >= 0 and y >= 0 and (kind == 1 or (x != BOX and y != BOX))


def add_seconds(scene: Scene, said: Saying, desk: Desk) -> None:
    """A second object for each phrase that is to be said with "a" and fits one object only, so that "the" is no cue."""
    st, words = scene.st, said.words
    before = st[N]
    for j in range(1, st[NODES]):
        if said.the[j] == 0 and popcount(fit(scene.sets, st, words[j, 0], words[j, 1], words[j, 2])) == 1:
            scatter(words[j, 0], words[j, 1], words[j, 2], ANYWHERE, scene, said, desk)
    name_new(before, st, desk.marks[0], desk.marks[1], RANDOM, -1)


def add_random(scene: Scene, said: Saying, desk: Desk) -> Any:
    """Random objects up to the world's goal, or to a random number; False if the goal is not met."""
    st, rng = scene.st, desk.rng
    before, is_due = st[N], st[GOAL] > 0
    goal = st[GOAL] if is_due else min(st[LIMIT], FILL_FROM + below(rng, FILL_SPREAD))
    for _ in range(GOAL_TRIES if is_due else FILL_TRIES):
        if st[N] >= goal:
            break
        shape = BOX if below(rng, BOX_SHARE) == 0 else below(rng, 3)
        scatter(NO_SIZE, -1, shape, ANYWHERE, scene, said, desk)
    name_new(before, st, desk.marks[0], desk.marks[1], RANDOM, -1)
    return not is_due or st[N] == goal


def scatter(size: int, color: int, shape: int, at: int, scene: Scene, said: Saying, desk: Desk) -> Any:
    """Try to add one object of this description, in the cell `at` or anywhere."""
    things, sets, boards, st, rng = scene.things, scene.sets, scene.boards, scene.st, desk.rng
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
        value = draw_size(scene.pairs, st, c, s, rng)
    cell = at
    if at < 0:
        reach = st[GRID] - value if s == BOX else st[GRID] - 1
        cell = draw_cell(boards, ANCHORS if s == BOX else CELLS, 0, reach, 0, reach, rng)
    if cell < 0:
        return False
    add(things, sets, boards, st, value, c, s, row_of(cell), column_of(cell))
    # An object that no phrase fits changes nothing about what the command means.
    if not is_named(said.words, st, value, c, s) or is_unique(things, sets, st, said.words, said.links, said.the, desk.scratch):
        return True
    cut(things, sets, boards, st, before)
    return False


def is_named(words: Ints, st: Ints, size: int, color: int, shape: int) -> Any:
    """Whether some phrase fits an object of this kind."""
    for j in range(st[NODES]):
        if words[j, 0] != NO_SIZE and size != (st[LOW] if words[j, 0] == SMALL else st[HIGH]):
            continue
        if (words[j, 1] < 0 or words[j, 1] == color) and (words[j, 2] < 0 or words[j, 2] == shape):
            return True
    return False
