"""Draws worlds for a rule: the objects that the phrases mean, contrasts for size words, decoys, and other objects."""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints, Words, below
from recombine.families.abstract.kernel import N_PHRASES, NESTED, NO_EFFECT, ONE, SIMPLE, TWO, effect, fits_in, meant, pivot_of
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

KERNEL = True
LEAN = True
PLACE_TRIES = 12
N_VALUES = 4
CLASS_CODES, COLOR_CODES = 25, 5


def dress(things: Ints, k: int, code: int, rng: Words) -> None:
    """Give object k random attributes that the words of the phrase allow."""
    word, color, shape = code // CLASS_CODES, code // COLOR_CODES % COLOR_CODES - 1, code % COLOR_CODES - 1
    if word == NO_SIZE:
        things[k, SIZE] = 1 + below(rng, N_VALUES)
    else:
        things[k, SIZE] = (1 if word == SMALL else 2) + below(rng, N_VALUES - 1)
    things[k, COLOR] = color if color >= 0 else below(rng, N_VALUES)
    things[k, SHAPE] = shape if shape >= 0 else below(rng, N_VALUES)


def relate(things: Ints, k: int, relation: int, other: int, is_child: bool, grid: int, rng: Words) -> None:
    """Give object k a random cell, and what it needs to stand in the relation to `other` (as child: `other` stands in it to k)."""
    reach = things[k, SIZE] if things[k, SHAPE] == BOX else 1
    things[k, ROW] = below(rng, grid - reach + 1)
    things[k, COLUMN] = below(rng, grid - reach + 1)
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


def is_placed(things: Ints, k: int, grid: int) -> Any:
    """Whether object k fits among the objects before it."""
    return fits_in(things, k, grid, k, things[k, ROW], things[k, COLUMN], things[k, SHAPE], things[k, SIZE])


def scatter(things: Ints, k: int, grid: int, rng: Words) -> Any:
    """Give object k a random cell that is free; returns whether one was found."""
    for _ in range(PLACE_TRIES):
        relate(things, k, -1, 0, False, grid, rng)
        if is_placed(things, k, grid):
            return True
    return False


def parent_of(pattern: int, k: int) -> Any:
    """The phrase on which phrase k > 0 hangs."""
    return 1 if pattern == NESTED and k == 2 else 0


def build(things: Ints, pattern: int, codes: Ints, relations: Ints, n: int, grid: int, rng: Words) -> Any:
    """A world of n objects that may suit the description; returns False if the draw went wrong.

    codes[k] is phrase k; relations[k] is how the phrase above it is related to it.
    """
    nodes = 1 if pattern == SIMPLE else 2 if pattern == ONE else 3
    dress(things, 0, codes[0], rng)
    if not scatter(things, 0, grid, rng):
        return False
    for k in range(1, nodes):
        is_done = False
        for _ in range(PLACE_TRIES):
            dress(things, k, codes[k], rng)
            relate(things, k, relations[k], parent_of(pattern, k), True, grid, rng)
            if is_placed(things, k, grid):
                is_done = True
                break
        if not is_done:
            return False
    k = nodes
    for node in range(nodes):
        word = codes[node] // CLASS_CODES
        if word != NO_SIZE and k < n:
            size = things[node, SIZE]
            dress(things, k, codes[node] % CLASS_CODES, rng)
            if word == SMALL:
                things[k, SIZE] = size + 1 + below(rng, N_VALUES - size)
            elif word == BIG:
                things[k, SIZE] = 1 + below(rng, size - 1)
            if not scatter(things, k, grid, rng):
                return False
            k += 1
    while k < n:
        if not add_other(things, k, pattern, codes, relations, nodes, grid, rng):
            return False
        k += 1
    return True


def add_other(things: Ints, k: int, pattern: int, codes: Ints, relations: Ints, nodes: int, grid: int, rng: Words) -> Any:
    """Object k: like a phrase and elsewhere; like a phrase but for one attribute, and related; or anything."""
    for _ in range(PLACE_TRIES):
        kind = below(rng, 8)
        node = below(rng, nodes)
        if kind < 2:
            dress(things, k, codes[node] % CLASS_CODES, rng)
            relate(things, k, -1, 0, False, grid, rng)
        elif kind < 6 and nodes > 1:
            for a in range(SHAPE + 1):
                things[k, a] = things[node, a]
            what = below(rng, 3)
            if what == SIZE:
                things[k, SIZE] = 1 + below(rng, N_VALUES)
            else:
                things[k, what] = below(rng, N_VALUES)
            if node == 0:
                other = 1 + below(rng, nodes - 1)
                if parent_of(pattern, other) != 0:
                    other = 1
                relate(things, k, relations[other], other, False, grid, rng)
            else:
                relate(things, k, relations[node], below(rng, k), True, grid, rng)
        else:
            dress(things, k, 0, rng)
            relate(things, k, -1, 0, False, grid, rng)
        if is_placed(things, k, grid):
            return True
    return False


def suits(
    things: Ints, n: int, grid: int, fits: Ints, rel: Ints, pattern: int, root: int, first: int, second: int, op: Ints
) -> Any:
    """The effect of the rule in a world that was looked at; NO_EFFECT unless object 0 is meant under every reading.

    Where the operation copies, object 1 must be the only pivot under every reading.
    """
    for reading in range(4):
        here = fits[reading & 1]
        if meant(here, rel, pattern, root, first, second, reading >> 1) != 1:
            return NO_EFFECT
        if op[COPY] >= 0 and pivot_of(here, rel, pattern, first, second, reading >> 1, 0) != 1:
            return NO_EFFECT
    return effect(things, n, grid, op, 0, 1 if op[COPY] >= 0 else -1)


def is_tempting(fits: Ints, rel: Ints, pattern: int, root: int, first: int, second: int) -> Any:
    """Whether the reader of this weaker description finds another object than 0."""
    return meant(fits, rel, pattern, root, first, second, 0) & ~1 != 0


def weaker(code: int, word: int) -> Any:
    """The phrase without its size word (0), colour word (1) or shape word (2); the same code if it has none."""
    if word == 0:
        return code % CLASS_CODES
    if word == 1:
        return code - code // COLOR_CODES % COLOR_CODES * COLOR_CODES
    return code - code % COLOR_CODES


def missing_decoys(fits: Ints, rel: Ints, pattern: int, root: int, first: int, second: int) -> Any:
    """How many careless readers (one drops a word or a clause) find no other object in this world."""
    here = fits[0]
    missing = 0
    for word in range(3):
        if weaker(root, word) != root and not is_tempting(here, rel, pattern, weaker(root, word), first, second):
            missing += 1
        for node in range(1, 1 if pattern == SIMPLE else 2 if pattern == ONE else 3):
            step = first if node == 1 else second
            relation, code = step // N_PHRASES, step % N_PHRASES
            if weaker(code, word) == code or (relation == INSIDE and word == 2):
                continue
            other = relation * N_PHRASES + weaker(code, word)
            a, b = (other, second) if node == 1 else (first, other)
            if not is_tempting(here, rel, pattern, root, a, b):
                missing += 1
    if pattern != SIMPLE and not is_tempting(here, rel, SIMPLE, root, 0, 0):
        missing += 1
    if pattern == TWO:
        if not is_tempting(here, rel, ONE, root, first, 0):
            missing += 1
        if not is_tempting(here, rel, ONE, root, second, 0):
            missing += 1
    if pattern == NESTED and not is_tempting(here, rel, ONE, root, first, 0):
        missing += 1
    return missing
