"""Draws worlds for a rule: the objects that the phrases mean, contrasts for size words, decoys, and other objects.

A rule is `rule[4]`: pattern, first phrase, first step, second step. A *reader* drops one word or clause of the rule; what is left is a
weaker rule in the same four numbers.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints, Words, below
from recombine.families.abstract.effect_kernel import NO_EFFECT, effect, fits_in
from recombine.families.abstract.kernel import N_PHRASES, NESTED, ONE, SIMPLE, TWO, is_bound, only_meant, pivot_of
from recombine.families.abstract.operations import COPY
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
from recombine.grid.kernel import lowest, nth, popcount

KERNEL = True
LEAN = True
PLACE_TRIES = 12
N_VALUES = 4
CLASS_CODES, COLOR_CODES = 25, 5
PATTERN, ROOT, FIRST, SECOND = 0, 1, 2, 3
N_WORDS = 3
"""Words of a phrase: size, colour, shape."""
DROPS_CLAUSES, DROPS_LAST, DROPS_FIRST = 9, 10, 11
N_READERS = 12
"""Readers 0 to 8 drop word r % 3 of phrase r // 3."""


# --- the rule --------------------------------------------------------------------------------------------------------


def node_count(rule: Ints) -> Any:
    """How many phrases the rule has."""
    return 1 if rule[PATTERN] == SIMPLE else 2 if rule[PATTERN] == ONE else 3


def code_of(rule: Ints, k: int) -> Any:
    """Phrase k of the rule."""
    return rule[ROOT] if k == 0 else rule[ROOT + k] % N_PHRASES


def relation_of(rule: Ints, k: int) -> Any:
    """How the phrase above phrase k > 0 is related to it."""
    return rule[ROOT + k] // N_PHRASES


def parent_of(rule: Ints, k: int) -> Any:
    """The phrase on which phrase k > 0 hangs."""
    return 1 if rule[PATTERN] == NESTED and k == 2 else 0


def described(rule: Ints) -> Any:
    """How many objects the rule needs: one for each phrase and one for each size word."""
    count = node_count(rule)
    for k in range(node_count(rule)):
        if code_of(rule, k) // CLASS_CODES != NO_SIZE:
            count += 1
    return count


def weaker(code: int, word: int) -> Any:
    """The phrase without its size word (0), colour word (1) or shape word (2); the same code if it has none."""
    if word == 0:
        return code % CLASS_CODES
    if word == 1:
        return code - code // COLOR_CODES % COLOR_CODES * COLOR_CODES
    return code - code % COLOR_CODES


def read_carelessly(rule: Ints, reader: int, weak: Ints) -> Any:
    """Fill `weak` with what the reader is left with; returns False if the rule has nothing that this reader drops."""
    for a in range(4):
        weak[a] = rule[a]
    if reader == DROPS_CLAUSES:
        weak[PATTERN] = SIMPLE
        return rule[PATTERN] != SIMPLE
    if reader == DROPS_LAST:
        weak[PATTERN] = ONE
        return rule[PATTERN] == TWO or rule[PATTERN] == NESTED
    if reader == DROPS_FIRST:
        weak[PATTERN], weak[FIRST] = ONE, rule[SECOND]
        return rule[PATTERN] == TWO
    k, word = reader // N_WORDS, reader % N_WORDS
    if k >= node_count(rule):
        return False
    code = code_of(rule, k)
    weak[ROOT + k] += weaker(code, word) - code
    # A thing with objects inside is a box even if the description does not say so.
    return weaker(code, word) != code and not (k > 0 and word == 2 and relation_of(rule, k) == INSIDE)


# --- objects ---------------------------------------------------------------------------------------------------------


def dress(things: Ints, k: int, code: int, rng: Words) -> None:
    """Give object k random attributes that the words of the phrase allow."""
    word, color, shape = code // CLASS_CODES, code // COLOR_CODES % COLOR_CODES - 1, code % COLOR_CODES - 1
    if word == NO_SIZE:
        things[k, SIZE] = 1 + below(rng, N_VALUES)
    else:
        things[k, SIZE] = (1 if word == SMALL else 2) + below(rng, N_VALUES - 1)
    things[k, COLOR] = color if color >= 0 else below(rng, N_VALUES)
    things[k, SHAPE] = shape if shape >= 0 else below(rng, N_VALUES)


def adjust(things: Ints, k: int, relation: int, other: int, is_child: bool, rng: Words) -> None:
    """Give object k what it needs to stand in the relation to `other` (as child: `other` stands in it to k)."""
    if relation == SAME_ROW:
        things[k, ROW] = things[other, ROW]
    elif relation == SAME_COLUMN:
        things[k, COLUMN] = things[other, COLUMN]
    elif relation == SAME_COLOR:
        things[k, COLOR] = things[other, COLOR]
    elif relation == SAME_SHAPE:
        things[k, SHAPE] = things[other, SHAPE]
    elif relation == SAME_SIZE:
        things[k, SIZE] = things[other, SIZE]
    elif relation == INSIDE and is_child:
        things[k, ROW] = things[other, ROW] - below(rng, things[k, SIZE])
        things[k, COLUMN] = things[other, COLUMN] - below(rng, things[k, SIZE])
    elif relation == INSIDE:
        span = things[other, SIZE] if things[other, SHAPE] == BOX else 1
        things[k, ROW] = things[other, ROW] + below(rng, span)
        things[k, COLUMN] = things[other, COLUMN] + below(rng, span)


def move_anywhere(things: Ints, k: int, grid: int, rng: Words) -> None:
    """Give object k a random cell in which it does not leave the grid."""
    reach = things[k, SIZE] if things[k, SHAPE] == BOX else 1
    things[k, ROW] = below(rng, grid - reach + 1)
    things[k, COLUMN] = below(rng, grid - reach + 1)


def is_placed(things: Ints, k: int, grid: int) -> Any:
    """Whether object k fits among the objects before it."""
    return fits_in(things, k, grid, k, things[k, ROW], things[k, COLUMN], things[k, SHAPE], things[k, SIZE])


def scatter(things: Ints, k: int, grid: int, rng: Words) -> Any:
    """Give object k a random cell that is free; returns whether one was found."""
    for _ in range(PLACE_TRIES):
        move_anywhere(things, k, grid, rng)
        if is_placed(things, k, grid):
            return True
    return False


def build(things: Ints, rule: Ints, n: int, grid: int, rng: Words) -> Any:
    """A world of n objects that may suit the rule; returns False if the draw went wrong."""
    nodes = node_count(rule)
    dress(things, 0, rule[ROOT], rng)
    if not scatter(things, 0, grid, rng):
        return False
    for k in range(1, nodes):
        is_done = False
        for _ in range(PLACE_TRIES):
            dress(things, k, code_of(rule, k), rng)
            move_anywhere(things, k, grid, rng)
            adjust(things, k, relation_of(rule, k), parent_of(rule, k), True, rng)
            if is_placed(things, k, grid):
                is_done = True
                break
        if not is_done:
            return False
    k = nodes
    for node in range(nodes):
        code = code_of(rule, node)
        word = code // CLASS_CODES
        if word != NO_SIZE and k < n:
            size = things[node, SIZE]
            dress(things, k, code % CLASS_CODES, rng)
            if word == SMALL:
                things[k, SIZE] = size + 1 + below(rng, N_VALUES - size)
            elif word == BIG:
                things[k, SIZE] = 1 + below(rng, size - 1)
            if not scatter(things, k, grid, rng):
                return False
            k += 1
    while k < n:
        if not add_other(things, k, rule, grid, rng):
            return False
        k += 1
    return True


def add_other(things: Ints, k: int, rule: Ints, grid: int, rng: Words) -> Any:
    """Object k: like a phrase and elsewhere; like a phrase but for one attribute, and related; or anything."""
    nodes = node_count(rule)
    for _ in range(PLACE_TRIES):
        kind = below(rng, 8)
        node = below(rng, nodes)
        if kind < 2:
            dress(things, k, code_of(rule, node) % CLASS_CODES, rng)
            move_anywhere(things, k, grid, rng)
        elif kind < 6 and nodes > 1:
            for a in range(SHAPE + 1):
                things[k, a] = things[node, a]
            what = below(rng, N_WORDS)
            if what == SIZE:
                things[k, SIZE] = 1 + below(rng, N_VALUES)
            else:
                things[k, what] = below(rng, N_VALUES)
            move_anywhere(things, k, grid, rng)
            if node == 0:
                other = 1 + below(rng, nodes - 1)
                if parent_of(rule, other) != 0:
                    other = 1
                adjust(things, k, relation_of(rule, other), other, False, rng)
            else:
                adjust(things, k, relation_of(rule, node), below(rng, k), True, rng)
        else:
            dress(things, k, 0, rng)
            move_anywhere(things, k, grid, rng)
        if is_placed(things, k, grid):
            return True
    return False


def suits(things: Ints, n: int, grid: int, fits: Ints, rel: Ints, rule: Ints, op: Ints) -> Any:
    """The effect of the rule in a world that was looked at; NO_EFFECT unless object 0 is meant under every reading.

    Where the operation copies, object 1 must be the only pivot under every reading.
    """
    for reading in range(2 if rule[PATTERN] < TWO else 4):
        here = fits[reading & 1]
        if only_meant(here, rel, rule[PATTERN], rule[ROOT], rule[FIRST], rule[SECOND], reading >> 1) != 0:
            return NO_EFFECT
        if op[COPY] >= 0 and pivot_of(here, rel, rule[PATTERN], rule[FIRST], rule[SECOND], reading >> 1, 0) != 1:
            return NO_EFFECT
    return effect(things, n, grid, op, 0, 1 if op[COPY] >= 0 else -1)


# --- decoys ----------------------------------------------------------------------------------------------------------


def is_tempting(here: Ints, rel: Ints, weak: Ints) -> Any:
    """Whether this careless reader finds another object than 0."""
    left = here[weak[ROOT]] & ~1
    while left:
        if is_bound(here, rel, weak[PATTERN], weak[FIRST], weak[SECOND], 0, lowest(left)):
            return True
        left &= left - 1
    return False


def missing_decoys(fits: Ints, rel: Ints, rule: Ints, weak: Ints) -> Any:
    """How many careless readers (one drops a word or a clause) find no other object in this world; `weak` is scratch."""
    missing = 0
    for reader in range(N_READERS):
        if read_carelessly(rule, reader, weak) and not is_tempting(fits[0], rel, weak):
            missing += 1
    return missing


def missing_reader(here: Ints, rel: Ints, rule: Ints, weak: Ints, number: int) -> Any:
    """The reader with this number among those who find no other object; fills `weak` with what that reader is left with."""
    for reader in range(N_READERS):
        if read_carelessly(rule, reader, weak) and not is_tempting(here, rel, weak):
            if number == 0:
                return reader
            number -= 1
    return -1


def plant(
    things: Ints, n: int, most: int, here: Ints, rel: Ints, rule: Ints, weak: Ints, number: int, bound: Ints, grid: int, rng: Words
) -> Any:  # fmt: skip
    """Add objects that this missing reader may take for the referent and its pivots; returns how many there are then, or -1.

    Each phrase of the weaker rule is bound to an object that is there, or to a new one. What the reader does not drop may stay bound to
    the objects of the rule itself.
    """
    reader = missing_reader(here, rel, rule, weak, number)
    nodes, fresh = node_count(weak), 0
    for k in range(nodes):
        left = here[code_of(weak, k)]
        is_dropped = reader == N_WORDS * k + reader % N_WORDS or (reader == DROPS_LAST and k == 1 and rule[PATTERN] == NESTED)
        if k == 0 or is_dropped:
            left &= ~(1 << k)
        bound[k] = -1
        if left and below(rng, 4) < (2 if k == 0 else 3):
            bound[k] = nth(left, below(rng, popcount(left)))
        else:
            fresh += 1
    if fresh == 0:
        bound[0], fresh = -1, 1
    if n + fresh > most:
        return -1
    for k in range(nodes):
        if bound[k] < 0:
            if not place_bound(things, n, k, weak, bound, grid, rng):
                return -1
            bound[k] = n
            n += 1
    return n


def place_bound(things: Ints, at: int, k: int, weak: Ints, bound: Ints, grid: int, rng: Words) -> Any:
    """Make object `at` one that phrase k can mean, related to the objects that the phrases around it are bound to."""
    for _ in range(PLACE_TRIES):
        dress(things, at, code_of(weak, k), rng)
        move_anywhere(things, at, grid, rng)
        for child in range(1, node_count(weak)):
            parent = parent_of(weak, child)
            if k == child and bound[parent] >= 0:
                adjust(things, at, relation_of(weak, child), bound[parent], True, rng)
            elif k == parent and bound[child] >= 0:
                adjust(things, at, relation_of(weak, child), bound[child], False, rng)
        if is_placed(things, at, grid):
            return True
    return False
