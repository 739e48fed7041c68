"""Plans as numbers: a row of `WIDTH` small integers, as the table stores them and the kernel `truth.py` reads them.

A statement is a junction and two clauses. A clause is five numbers and two slots. A slot is four numbers and a noun. A noun is up to
three levels of five numbers: each level describes items, and its relation leads to the next.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym import plan as p
from recombine.families.lilgym.scene import COLORS, SHAPES, SIZE_NAMES
from recombine.families.lilgym.sound.truth import (
    ALL_SAME,
    BOTH,
    BOXES,
    CLAUSE,
    COMPARE,
    EITHER,
    EVERY_BOX,
    EVERY_ITEM,
    HAS,
    HAS_ONLY,
    HAS_VARIETY,
    HEAD,
    ITEMS,
    LEVEL,
    LEVELS,
    NOT,
    SAME_COUNT,
    SIMPLE,
    SLOT,
    SLOT_HEAD,
    VARIETY,
    WIDTH,
)

Codes = NDArray[np.int8]
QUANTIFIERS: tuple[p.Quantifier, ...] = get_args(p.Quantifier)
ATTRIBUTES: tuple[p.Attribute, ...] = get_args(p.Attribute)
PLACES = ("", *p.PLACES)
RELATIONS = ("", *p.RELATIONS)
_COLORS, _SHAPES, _SIZES = ("", *COLORS), ("", *SHAPES), ("", *SIZE_NAMES)
_NO_SLOT = (0,) * SLOT
_NO_CLAUSE = (0,) * CLAUSE


def encode(plan: p.Plan) -> Codes:
    """The row of a plan."""
    match plan:
        case p.Both(first, second):
            row = (BOTH, *_clause(first), *_clause(second))
        case p.Either(first, second):
            row = (EITHER, *_clause(first), *_clause(second))
        case p.Not(inner):
            row = (NOT, *_clause(inner), *_NO_CLAUSE)
        case _:
            row = (SIMPLE, *_clause(plan), *_NO_CLAUSE)
    return np.array(row, np.int8)


def _clause(plan: p.Simple) -> tuple[int, ...]:
    match plan:
        case p.Items(quantifier, number, noun):
            return (ITEMS, QUANTIFIERS.index(quantifier), number, 0, 0, *_slot(noun), *_NO_SLOT)
        case p.Boxes(quantifier, number, conditions, plain):
            return (BOXES, QUANTIFIERS.index(quantifier), number, 0, int(plain), *_conditions(conditions))
        case p.EveryBox(conditions):
            return (EVERY_BOX, 0, 0, 0, 0, *_conditions(conditions))
        case p.EveryItem(noun, predicate):
            return (EVERY_ITEM, 0, 0, 0, 0, *_slot(noun), *_slot(predicate))
        case p.AllSame(noun, attribute):
            return (ALL_SAME, 0, 0, ATTRIBUTES.index(attribute), 0, *_slot(noun), *_NO_SLOT)
        case p.Variety(quantifier, number, attribute, noun):
            return (VARIETY, QUANTIFIERS.index(quantifier), number, ATTRIBUTES.index(attribute), 0, *_slot(noun), *_NO_SLOT)
        case p.Compare(more, first, second):
            return (COMPARE, 0, 0, 0, int(more), *_slot(first), *_slot(second))
        case p.SameCount(some):
            return (SAME_COUNT, 0, 0, 0, int(some), *_NO_SLOT, *_NO_SLOT)


def _conditions(conditions: tuple[p.Condition, ...]) -> tuple[int, ...]:
    slots = [_condition(condition) for condition in conditions] + [_NO_SLOT] * (2 - len(conditions))
    return (*slots[0], *slots[1])


@functools.cache
def _condition(condition: p.Condition) -> tuple[int, ...]:
    match condition:
        case p.Has(quantifier, number, noun):
            return (HAS, QUANTIFIERS.index(quantifier), number, 0, *_noun(noun))
        case p.HasOnly(noun):
            return (HAS_ONLY, 0, 0, 0, *_noun(noun))
        case p.HasVariety(quantifier, number, attribute):
            return (HAS_VARIETY, QUANTIFIERS.index(quantifier), number, ATTRIBUTES.index(attribute), *_noun(p.Noun()))


def _slot(noun: p.Noun) -> tuple[int, ...]:
    return (0, 0, 0, 0, *_noun(noun))


@functools.cache
def _noun(noun: p.Noun) -> tuple[int, ...]:
    levels: list[int] = []
    inner: p.Noun | None = noun
    while inner is not None:
        named = (_COLORS.index(inner.color), _SHAPES.index(inner.shape), _SIZES.index(inner.size))
        levels += [*named, PLACES.index(inner.place), RELATIONS.index(inner.relation)]
        inner = inner.other
    return tuple(levels + [0] * (LEVELS * LEVEL - len(levels)))


# --- and back --------------------------------------------------------------------------------------------------------


def decode(row: Codes) -> p.Plan:
    """The plan of a row. Equal parts of plans are one object, so what is worked out of them is worked out once."""
    numbers = row.tobytes()
    first = _decoded_clause(numbers[1 : 1 + CLAUSE])
    if numbers[0] in (BOTH, EITHER):
        second = _decoded_clause(numbers[1 + CLAUSE : WIDTH])
        return p.Both(first, second) if numbers[0] == BOTH else p.Either(first, second)
    return p.Not(first) if numbers[0] == NOT else first


@functools.lru_cache(maxsize=8192)
def _decoded_clause(row: bytes) -> p.Simple:
    form, quantifier, number, attribute, flag = row[:HEAD]
    one, two = row[HEAD : HEAD + SLOT], row[HEAD + SLOT :]
    match form:
        case 1:  # ITEMS
            return p.Items(QUANTIFIERS[quantifier], number, _decoded_noun(one[SLOT_HEAD:]))
        case 2:  # BOXES
            return p.Boxes(QUANTIFIERS[quantifier], number, _decoded_conditions(one, two), bool(flag))
        case 3:  # EVERY_BOX
            return p.EveryBox(_decoded_conditions(one, two))
        case 4:  # EVERY_ITEM
            return p.EveryItem(_decoded_noun(one[SLOT_HEAD:]), _decoded_noun(two[SLOT_HEAD:]))
        case 5:  # ALL_SAME
            return p.AllSame(_decoded_noun(one[SLOT_HEAD:]), ATTRIBUTES[attribute])
        case 6:  # VARIETY
            return p.Variety(QUANTIFIERS[quantifier], number, ATTRIBUTES[attribute], _decoded_noun(one[SLOT_HEAD:]))
        case 7:  # COMPARE
            return p.Compare(bool(flag), _decoded_noun(one[SLOT_HEAD:]), _decoded_noun(two[SLOT_HEAD:]))
        case _:
            return p.SameCount(bool(flag))


def _decoded_conditions(one: bytes, two: bytes) -> tuple[p.Condition, ...]:
    first = _decoded_condition(one)
    return (first, _decoded_condition(two)) if two[0] else (first,)


@functools.cache
def _decoded_condition(row: bytes) -> p.Condition:
    form, quantifier, number, attribute = row[:SLOT_HEAD]
    if form == HAS:
        return p.Has(QUANTIFIERS[quantifier], number, _decoded_noun(row[SLOT_HEAD:]))
    if form == HAS_ONLY:
        return p.HasOnly(_decoded_noun(row[SLOT_HEAD:]))
    return p.HasVariety(QUANTIFIERS[quantifier], number, ATTRIBUTES[attribute])


@functools.cache
def _decoded_noun(row: bytes) -> p.Noun:
    color, shape, size, place, relation = row[:LEVEL]
    other = _decoded_noun(row[LEVEL:]) if relation else None
    return p.Noun(_COLORS[color], _SHAPES[shape], _SIZES[size], PLACES[place], RELATIONS[relation], other)


def encode_all(plans: Sequence[p.Plan]) -> Codes:
    """The rows of many plans."""
    return np.stack([encode(plan) for plan in plans]) if plans else np.zeros((0, WIDTH), np.int8)


RELATION_PLACES = tuple(
    1 + clause * CLAUSE + HEAD + slot * SLOT + SLOT_HEAD + level * LEVEL + LEVEL - 1
    for clause in range(2)
    for slot in range(2)
    for level in range(LEVELS)
)
"""Where a row has the relations of its nouns."""
