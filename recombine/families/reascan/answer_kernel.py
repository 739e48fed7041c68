"""Which careless readers would have answered as given, for many rows: the readers of `explain` as a kernel.

`score` does the same for one row in plain Python; a test says that both agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from recombine.draws import Ints
from recombine.grid.answer_kernel import (
    FAILED,
    SAME,
    TARGET_CELL,
    distance,
    is_same,
    likeness,
    measure,
    plan_to,
    set_scene,
)
from recombine.grid.codes import ANY, BOX, NO_SIZE, PAIRWISE, PLAIN, PULL, PUSH, SHAPE, WALK
from recombine.grid.kernel import index_things, phrase, referents

KERNEL = True
MOST_NODES = 6
KINDS = 4
"""A reader leaves out a size word, a colour, a noun or a clause."""
SWAPPED = 3
"""Two phrases can exchange their size words, colours or nouns."""
PAIRS = MOST_NODES * (MOST_NODES - 1) // 2
FIRST_SWAP = MOST_NODES * KINDS
NEAREST_MATCH = FIRST_SWAP + PAIRS * SWAPPED
NEAREST_OBJECT, IGNORES_ADVERB, WALKS_ONLY, SWAPS_VERB = (
    NEAREST_MATCH + 1,
    NEAREST_MATCH + 2,
    NEAREST_MATCH + 3,
    NEAREST_MATCH + 4,
)
SLOTS = SWAPS_VERB + 1
"""One place for each reader: `4 * phrase + kind`, then each pair of phrases with each kind of word, then the five others."""


class Commands(NamedTuple):
    """What is said in each row."""

    words: Ints  # [rows, MOST_NODES, 3]: size word, colour, shape
    parents: Ints  # [rows, MOST_NODES]
    relations: Ints  # [rows, MOST_NODES]
    nodes: Ints  # [rows]
    manners: Ints  # [rows, 2]: verb, adverb


class Reading(NamedTuple):
    """Working space for changed descriptions."""

    sets: Ints  # [5, 24]
    words: Ints  # [MOST_NODES, 3]
    fits: Ints  # [MOST_NODES]
    parent: Ints  # [MOST_NODES]
    relation: Ints  # [MOST_NODES]
    scratch: Ints  # [2, MOST_NODES]
    place: Ints  # [MOST_NODES]: the new number of each phrase that stays, -1 for the others


class Verdicts(NamedTuple):
    """What is found for each row."""

    figures: Ints  # [rows, FIGURES]
    readers: Ints  # [rows, SLOTS]: whether it is this reader's answer


def judge_rows(worlds: Any, given: Any, gold: Any, commands: Any, is_named: Any, desk: Any, reading: Any, found: Any) -> None:
    """Fill `found` for every row: how far the answer is right and, if `is_named`, whose answer it is."""
    for row in range(len(worlds.counts)):
        grid, n = worlds.grids[row], set_scene(worlds, row, desk)
        figures = found.figures[row]
        is_right = measure(desk, n, grid, given, gold, row, figures)
        if is_right or not is_named:
            continue
        is_elsewhere = figures[TARGET_CELL] == 0 and figures[FAILED] == 0
        verb, adverb = commands.manners[row, 0], commands.manners[row, 1]
        hits = explaining(desk, n, grid, verb, adverb, given, gold, row, is_elsewhere)
        readers = found.readers[row]
        name_listeners(desk, n, commands, row, hits, reading, readers)
        if adverb != PLAIN:
            readers[IGNORES_ADVERB] = is_done(desk, n, grid, verb, PLAIN, given, gold, row)
        if verb != WALK:
            readers[WALKS_ONLY] = is_done(desk, n, grid, WALK, adverb, given, gold, row)
            readers[SWAPS_VERB] = is_done(desk, n, grid, PULL if verb == PUSH else PUSH, adverb, given, gold, row)


def explaining(desk: Any, n: Any, grid: Any, verb: Any, adverb: Any, given: Any, gold: Any, row: Any, is_elsewhere: Any) -> Any:
    """The objects, the target excepted, to which a plan is the answer or ends as it does."""
    hits = 0
    for i in range(1, n):
        m = plan_to(desk, grid, i, verb, adverb)
        if is_same(desk.out, m, gold.codes, gold.offsets[row], gold.offsets[row + 1]):
            continue
        if likeness(desk, n, grid, m, given.codes, given.offsets[row], given.offsets[row + 1], is_elsewhere):
            hits |= 1 << i
    return hits


def is_done(desk: Any, n: Any, grid: Any, verb: Any, adverb: Any, given: Any, gold: Any, row: Any) -> Any:
    """1 if the answer is the plan of a reader who finds the target but follows this verb and adverb, else 0."""
    m = plan_to(desk, grid, 0, verb, adverb)
    if is_same(desk.out, m, gold.codes, gold.offsets[row], gold.offsets[row + 1]):
        return 0
    found = likeness(desk, n, grid, m, given.codes, given.offsets[row], given.offsets[row + 1], False)
    return 1 if found == SAME else 0


def name_listeners(desk: Any, n: Any, commands: Any, row: Any, hits: Any, reading: Any, readers: Any) -> None:
    """The readers who take another object because they leave out or exchange words."""
    if hits == 0:
        return
    everything = index_things(desk.things, n, reading.sets)
    nodes = commands.nodes[row]
    words = commands.words[row]
    for j in range(nodes):
        for kind in range(SWAPPED):
            word = words[j, kind]
            none = NO_SIZE if kind == 0 else ANY
            if word != none and not (kind == 2 and word == BOX):
                set_words(reading, words, nodes)
                reading.words[j, kind] = none
                taken = meant(desk, commands, row, -1, everything, reading)
                readers[KINDS * j + kind] = 1 if taken & hits else 0
        if j > 0:
            set_words(reading, words, nodes)
            readers[KINDS * j + SWAPPED] = 1 if meant(desk, commands, row, j, everything, reading) & hits else 0
    slot = FIRST_SWAP
    for a in range(MOST_NODES):
        for b in range(a + 1, MOST_NODES):
            if b < nodes:
                for kind in range(SWAPPED):
                    x, y = words[a, kind], words[b, kind]
                    none = NO_SIZE if kind == 0 else ANY
                    if x != none and y != none and x != y and not (kind == 2 and (x == BOX or y == BOX)):
                        set_words(reading, words, nodes)
                        reading.words[a, kind], reading.words[b, kind] = y, x
                        readers[slot + kind] = 1 if meant(desk, commands, row, -1, everything, reading) & hits else 0
            slot += SWAPPED
    if nodes > 1:
        alone = phrase(reading.sets, everything, words[0, 0], words[0, 1], words[0, 2], PAIRWISE) & ~1
        readers[NEAREST_MATCH] = 1 if nearest(desk, n, alone) & hits else 0
    solid = everything & ~1
    for i in range(n):
        if desk.things[i, SHAPE] == BOX:
            solid &= ~(1 << i)
    readers[NEAREST_OBJECT] = 1 if nearest(desk, n, solid) & hits else 0


def set_words(reading: Any, words: Any, nodes: Any) -> None:
    """Begin with the words as they are said."""
    for j in range(nodes):
        for kind in range(SWAPPED):
            reading.words[j, kind] = words[j, kind]


def meant(desk: Any, commands: Any, row: Any, dropped: Any, everything: Any, reading: Any) -> Any:
    """The objects, the target excepted, that the changed words can mean, without phrase `dropped` and what hangs on it."""
    kept = 0
    for k in range(commands.nodes[row]):
        parent = commands.parents[row, k]
        reading.place[k] = -1
        if k == dropped or (k > 0 and reading.place[parent] < 0):
            continue
        reading.place[k] = kept
        reading.fits[kept] = phrase(
            reading.sets, everything, reading.words[k, 0], reading.words[k, 1], reading.words[k, 2], PAIRWISE
        )
        reading.parent[kept] = reading.place[parent] if k > 0 else -1
        reading.relation[kept] = commands.relations[row, k]
        kept += 1
    found = referents(
        desk.things, reading.sets, reading.fits, reading.parent, reading.relation, kept, reading.scratch[0], reading.scratch[1]
    )
    return found & ~1


def nearest(desk: Any, n: Any, members: Any) -> Any:
    """The set with the nearest of these objects, the first of equals; empty if there are none."""
    best = -1
    for i in range(n):
        if members >> i & 1 and (best < 0 or distance(desk, i) < distance(desk, best)):
            best = i
    return 0 if best < 0 else 1 << best
