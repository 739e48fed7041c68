"""The statements of `sound`: which there are, in which order a part asks them, and in which words.

`statements.npz` lists the selected plans with what follows from them (`selection.py` makes it). The job's key decides the order. From
scratch every statement comes once, in a weighted shuffle: statement i comes at time -log(u_i) / weight_i. Elsewhere each comes as
often as it has visits, in a plain shuffle. So row i depends on the job and i only, and no row comes twice.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.columns import Coded, Column, Ragged
from recombine.families.lilgym import plan as p
from recombine.families.lilgym import splits
from recombine.families.lilgym.facets import NAMES, SHOWN, read_column
from recombine.families.lilgym.phrases import Mode, Voice, has_new
from recombine.families.lilgym.scene import COLORS, SHAPES, SIZE_NAMES, Bytes, Flags, Kind, Numbers
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
from recombine.families.lilgym.wording import MOST_WORDS, say
from recombine.predicates import mask
from recombine.predicates.draw import HOLD_OUT

Codes = NDArray[np.int8]
QUANTIFIERS: tuple[p.Quantifier, ...] = get_args(p.Quantifier)
ATTRIBUTES: tuple[p.Attribute, ...] = get_args(p.Attribute)
PLACES = ("", *p.PLACES)
RELATIONS = ("", *p.RELATIONS)
_COLORS, _SHAPES, _SIZES = ("", *COLORS), ("", *SHAPES), ("", *SIZE_NAMES)
_NO_SLOT = (0,) * SLOT
_NO_CLAUSE = (0,) * CLAUSE

TABLE = Path(__file__).with_name("statements.npz")
LONG_ENOUGH = 12
"""Spaces from which on a second wording is tried, and the shorter one taken."""
TRIES = 12
"""Wordings tried until one fits; the plain one always does."""


@dataclass(frozen=True)
class Statement:
    """A plan with its kind of scene; its plain wording, its program and what it is made of follow."""

    plan: p.Plan
    kind: Kind

    @cached_property
    def text(self) -> str:
        """The sentence in its plain wording."""
        return say(self.plan, self.kind)

    @cached_property
    def program(self) -> str:
        """The program."""
        return p.write(self.plan, self.kind)

    @property
    def words(self) -> int:
        """How many words the plain wording has."""
        return self.text.count(" ") + 1

    @property
    def depth(self) -> int:
        """How deep its quantifiers are nested."""
        return p.depth(self.plan)


@dataclass(frozen=True)
class Table:
    """The selected statements of a kind of scene, n of them."""

    codes: Codes  # (n, WIDTH): the plans
    weights: NDArray[np.float32]  # (n,): how early a statement comes from scratch
    visits: Bytes  # (n,): how often it is asked where statements may come again
    goals: NDArray[np.int16]  # (n,): first scene of `worlds.looks` from scratch in which it holds; 0 is the empty scene
    answers: NDArray[np.int16]  # (n, MAX_EDITS): the edits that make it true from scratch, padded with zeros
    tastes: NDArray[np.uint16]  # (n,): what it speaks of, as `planner.pack_tastes` makes it
    phenomena: NDArray[np.uint32]  # (n,): which phenomena its program shows, as a set of places in the corpus's table
    tenths: Bytes  # (n,): the tenth of [0, 1) in which the hash of its program lies
    rules: Bytes  # (n,): which rules of splits it satisfies, as a set of places in `splits.RULES`
    words: Bytes  # (n,): words of the plain wording
    depths: Bytes  # (n,): how deep its quantifiers are nested
    eases: Bytes  # (n,): in how many of `fit.TRIALS` scenes a search found a plan
    bases: NDArray[np.float16]  # (n,): logarithm of its weight in the grammar
    spoken: NDArray[np.float16]  # (n,): mean number of words of a few wordings
    limits: Bytes  # (n,): the most visits that can be made

    def phenomena_of(self, places: Numbers) -> Ragged:
        """The names of the phenomena of the statements at these places, in the order of `facets.phenomena`."""
        shown = (self.phenomena[places][:, None] >> SHOWN.astype(np.uint32)) & 1 == 1
        offsets: Numbers = np.concatenate([[0], np.cumsum(shown.sum(1))]).astype(np.int64)
        return Ragged(Coded(np.broadcast_to(SHOWN, shown.shape)[shown], list(NAMES)), offsets)


@functools.cache
def table(kind: Kind) -> Table:
    """The selection for a kind of scene."""
    with np.load(TABLE, allow_pickle=False) as stored:
        found = {name: stored[f"{kind}_{name}"] for name in Table.__dataclass_fields__}
    codes, answers = (np.ascontiguousarray(found.pop(name).T) for name in ("codes", "answers"))  # stored by column
    return Table(codes=codes, answers=answers, weights=np.exp(found.pop("weights").astype(np.float32)), **found)


@functools.lru_cache(maxsize=100_000)
def statement(kind: Kind, place: int) -> Statement:
    """The statement at a place of the table."""
    return Statement(decode(table(kind).codes[place]), kind)


# --- words -----------------------------------------------------------------------------------------------------------


class Manner(NamedTuple):
    """Which wordings a part uses."""

    mode: Mode
    least: int = 1  # words
    most: int = MOST_WORDS
    predicate: str = ""  # what the part's statements must (not) satisfy in the words that are used

    def allows(self, statement: Statement, text: str) -> bool:
        """Whether a wording fits."""
        count = text.count(" ") + 1
        if not self.least <= count <= self.most or (self.mode == "new" and not has_new(text)):
            return False
        if not self.predicate:
            return True
        rule = splits.held_out_by(self.predicate)
        return rule(statement, count) == rule(statement, statement.words)


def said(statement: Statement, manner: Manner, seed: int) -> str:
    """The statement in one of its wordings; the seed decides. Where the first is long, the shorter of two is taken."""
    found = ""
    for attempt in range(TRIES):
        seeded = (seed + attempt * 0xD1342543DE82EF95) & keys.MASK
        text = say(statement.plan, statement.kind, Voice(manner.mode, seeded))
        if manner.allows(statement, text):
            if found or text.count(" ") < LONG_ENOUGH:
                return min(text, found, key=len) if found else text
            found = text
    return found or (say(statement.plan, statement.kind, Voice("fresh")) if manner.mode == "new" else statement.text)


def manner(kind: Kind, split: str, part: str, predicate: str = "") -> Manner:
    """How a part speaks: in known words where new ones are held out, in long sentences where length is."""
    if split == splits.WORDING:
        return Manner("new" if part == "test" else "known")
    if split == splits.LENGTH:
        long = splits.LONG[kind]
        return Manner("any", least=long) if part == "test" else Manner("any", most=long - 1)
    return Manner("any", predicate=predicate if predicate and splits.speaks_of_words(predicate) else "")


# --- order -----------------------------------------------------------------------------------------------------------


class Sequel:
    """What a part asks, in order: each statement once, or as often as it has visits."""

    def __init__(self, kind: Kind, split: str, part: str, base: int, from_nothing: bool, predicate: str = "") -> None:
        known = table(kind)
        visits = np.ones(len(known.codes), np.int64) if from_nothing else known.visits.astype(np.int64)
        places: Numbers = np.repeat(np.arange(len(visits)), visits)
        numbers: Numbers = np.arange(len(places)) - np.repeat(np.cumsum(visits) - visits, visits)
        units = (keys.states(base, 0, len(places)) >> np.uint64(11)).astype(np.float64) / 2.0**53
        asked = belongs(kind, split, part, predicate)
        if from_nothing:  # what the empty scene fulfils is no task from scratch
            asked = asked & (known.goals != 0)
        mine = np.flatnonzero(asked[places])
        times = -np.log1p(-units[mine]) / known.weights[places[mine]] if from_nothing else units[mine]
        order = mine[np.argsort(times, kind="stable")]
        self.places, self.numbers = places[order], numbers[order]

    @property
    def size(self) -> int:
        """How many rows the part has."""
        return len(self.places)


@functools.lru_cache(maxsize=16)
def sequel(kind: Kind, split: str, part: str, base: int, from_nothing: bool, predicate: str = "") -> Sequel:
    """The statements of a part, remembered within the process."""
    return Sequel(kind, split, part, base, from_nothing, predicate)


@functools.lru_cache(maxsize=16)
def belongs(kind: Kind, split: str, part: str, predicate: str = "") -> Flags:
    """Which statements of the table a part has."""
    known = table(kind)
    if split == "random":
        return np.isin(known.tenths, {"train": range(8), "validation": (8,), "test": (9,)}[part])
    if split == splits.WORDING:
        return known.tenths == 9 if part == "validation" else known.tenths < 9
    if split == splits.LENGTH:
        held = known.words >= splits.LONG[kind]
    elif split in splits.RULES:
        held = known.rules >> tuple(splits.RULES).index(split) & 1 == 1
    elif split == HOLD_OUT:
        held = held_out(kind, predicate or str(splits.OPTION.default))
    else:
        rule = splits.rule_of(split)
        held = np.array([rule(statement(kind, place)) for place in range(len(known.codes))], np.bool_)
    if part == "test":
        return np.asarray(held)
    return np.asarray(~held & ((known.tenths == 9) == (part == "validation")))


@functools.lru_cache(maxsize=16)
def held_out(kind: Kind, predicate: str) -> Flags:
    """Which statements of the table satisfy a user's predicate, in their plain wording."""
    known = table(kind)
    parsed, names = splits.predicate_of(predicate)
    columns: dict[str, Column] = {
        "scene": Coded(np.zeros(len(known.codes), np.int32), [kind]),
        "words": known.words,
        "depth": known.depths,
        "phenomenon": known.phenomena_of(np.arange(len(known.codes))),
    }
    if names - set(columns):
        programs = [statement(kind, place).program for place in range(len(known.codes))]
        columns |= {name: read_column(name, programs) for name in names - set(columns)}
    return mask(parsed, columns)


# --- plans as numbers ------------------------------------------------------------------------------------------------
# A statement is a junction and two clauses. A clause is five numbers and two slots. A slot is four numbers and a noun. A noun is up
# to three levels of five numbers: each level describes items, and its relation leads to the next. `truth.py` reads such rows.


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
