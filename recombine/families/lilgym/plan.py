"""The plan of a statement: a small tree that is said in English (`wording.py`) and written as a program, side by side.

Parts whose order does not matter stand in one order, so a statement has one plan, one wording and one program.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from recombine.families.lilgym.scene import Kind

Quantifier = Literal["some", "none", "exactly", "at_least", "at_most"]
Attribute = Literal["color", "shape", "size"]
SIDES = ("left", "right", "top", "bottom")
PLACES: dict[str, tuple[str, str, str]] = {
    "top": ("at the top of a tower", "at the top", "is_top({v})"),
    "bottom": ("at the bottom of a tower", "at the bottom", "is_bottom({v})"),
    "second": ("in second place from the bottom of a tower", "in second place from the bottom", "is_second({v})"),
    "third": ("in third place from the bottom of a tower", "in third place from the bottom", "is_third({v})"),
    "wall": ("touching a wall", "touching a wall", "is_touching_wall({v})"),
    "no_wall": ("not touching any wall", "not touching any wall", "not is_touching_wall({v})"),
    "near_wall": ("touching or almost touching a wall",) * 2 + ("is_closely_touching_wall({v})",),
    **{
        f"{side}_wall": (f"touching the {side} wall",) * 2 + (f"is_touching_wall({{v}}, Side.{side.upper()})",)
        for side in SIDES
    },
    **{
        f"near_{side}_wall": (f"touching or almost touching the {side} wall",) * 2
        + (f"is_closely_touching_wall({{v}}, Side.{side.upper()})",)
        for side in SIDES
    },
    "corner": ("in a corner", "in a corner", "is_touching_corner({v})"),
    "near_corner": ("in or almost in a corner", "in or almost in a corner", "is_closely_touching_corner({v})"),
}
"""Place -> how it is said of an item of the image, of an item of a box, and the predicate."""
RELATIONS: dict[str, tuple[str, str]] = {
    "directly_above": ("directly above", "get_below({v})"),
    "directly_below": ("directly below", "get_above({v})"),
    "above": ("somewhere above", "get_box_all_below({v})"),
    "below": ("somewhere below", "get_box_all_above({v})"),
    "touching": ("touching", "get_touching({v})"),
    "same_box": ("in the same box as", "get_box_exclusive({v})"),
    "contact": ("touches", "get_touching({v})"),
    "no_contact": ("touches no", "get_touching({v})"),
}
"""Relation -> how it is said, and the items to which it holds (`no_contact`: to none of them). The last two are SCATTER's."""


@dataclass(frozen=True)
class Noun:
    """A description of items: their attributes, a place, and a relation to another noun."""

    color: str = ""
    shape: str = ""
    size: str = ""
    place: str = ""
    relation: str = ""
    other: Noun | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it describes every item."""
        return self == Noun()

    @property
    def is_short(self) -> bool:
        """Whether it has neither a place nor a relation, so that nothing follows the noun."""
        return not self.place and self.other is None

    @property
    def attributes(self) -> tuple[str, str, str]:
        """Colour, shape and size; what is left open is empty."""
        return self.color, self.shape, self.size

    def implies(self, other: Noun) -> bool:
        """Whether every item with these attributes has the other's as well, so that one can say "another"."""
        return all(not b or a == b for a, b in zip(self.attributes, other.attributes, strict=True))


@dataclass(frozen=True)
class Has:
    """Of a box: it has this many of these."""

    quantifier: Quantifier
    number: int
    noun: Noun


@dataclass(frozen=True)
class HasOnly:
    """Of a box: it has some of these and nothing else."""

    noun: Noun


@dataclass(frozen=True)
class HasVariety:
    """Of a box: its items are of this many colours (shapes, sizes)."""

    quantifier: Quantifier
    number: int
    attribute: Attribute


Condition = Has | HasOnly | HasVariety


@dataclass(frozen=True)
class Items:
    """There are this many of these."""

    quantifier: Quantifier
    number: int
    noun: Noun


@dataclass(frozen=True)
class Boxes:
    """There are this many boxes (towers) with these one or two properties; `plain`: TOWER's boxes, which may be empty."""

    quantifier: Quantifier
    number: int
    conditions: tuple[Condition, ...]
    plain: bool = False


@dataclass(frozen=True)
class EveryBox:
    """Every box has these one or two properties."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class EveryItem:
    """There is such an item, and every such item has the colour, place or relation of the second noun."""

    noun: Noun
    predicate: Noun


@dataclass(frozen=True)
class AllSame:
    """There are at least two of these, and all have the same colour (shape, size)."""

    noun: Noun
    attribute: Attribute


@dataclass(frozen=True)
class Variety:
    """This many different colours (shapes, sizes) occur among these."""

    quantifier: Quantifier
    number: int
    attribute: Attribute
    noun: Noun


@dataclass(frozen=True)
class Compare:
    """There are more of the first than of the second, or as many."""

    more: bool
    first: Noun
    second: Noun


@dataclass(frozen=True)
class SameCount:
    """At least two boxes (towers), or no two of them, have the same number of items."""

    some: bool


@dataclass(frozen=True)
class Both:
    """Both hold."""

    first: Simple
    second: Simple


@dataclass(frozen=True)
class Either:
    """The one holds, or the other, or both."""

    first: Simple
    second: Simple


@dataclass(frozen=True)
class Not:
    """It does not hold."""

    inner: Simple


Simple = Items | Boxes | EveryBox | EveryItem | AllSame | Variety | Compare | SameCount
Plan = Simple | Both | Either | Not


# --- what a plan is made of ------------------------------------------------------------------------------------------


def depth(plan: Plan | Condition) -> int:
    """How deep quantifiers are nested: items in boxes are two deep, and every relation adds one."""
    match plan:
        case Both(first, second) | Either(first, second):
            return max(depth(first), depth(second))
        case Not(inner):
            return depth(inner)
        case Boxes() | EveryBox():
            return 1 + max(depth(condition) for condition in plan.conditions)
        case SameCount():
            return 2
        case _:
            return 1 + max((_relations(noun) for _, noun in nouns(plan)), default=0)


def _relations(noun: Noun) -> int:
    return 0 if noun.other is None else 1 + _relations(noun.other)


def nouns(plan: Plan | Condition) -> Iterator[tuple[str, Noun]]:
    """Every noun with the quantifier that governs it; of "every A is B" also the noun that is both."""
    match plan:
        case Both(first, second) | Either(first, second):
            yield from nouns(first)
            yield from nouns(second)
        case Not(inner):
            yield from nouns(inner)
        case Boxes() | EveryBox():
            for condition in plan.conditions:
                yield from nouns(condition)
        case EveryItem(noun, also):
            yield "every", noun
            yield "every", also
            yield "every", Noun(noun.color or also.color, noun.shape, noun.size, also.place, also.relation, also.other)
        case Compare(_, first_noun, second_noun):
            yield "compared", first_noun
            yield "compared", second_noun
        case Items(quantifier, _, noun) | Has(quantifier, _, noun):
            yield quantifier, noun
        case HasOnly(noun):
            yield "every", noun
        case AllSame(noun) | Variety(noun=noun):
            yield "same", noun
        case _:
            return


def parts(plan: Plan) -> Iterator[Simple]:
    """The clauses that a plan joins or denies."""
    match plan:
        case Both(first, second) | Either(first, second):
            yield first
            yield second
        case Not(inner):
            yield inner
        case _:
            yield plan


def mentioned(plan: Plan) -> Iterator[Noun]:
    """Every noun, and those to which relations lead."""
    for _, noun in nouns(plan):
        inner: Noun | None = noun
        while inner is not None:
            yield inner
            inner = inner.other


# --- as a program ----------------------------------------------------------------------------------------------------

_SIGNS = {"exactly": "==", "at_least": ">=", "at_most": "<="}
_NEXT = {"x": "y", "y": "z", "z": "w", "w": "v"}
"""The variable of an inner lambda."""


def write(plan: Plan, kind: Kind) -> str:
    """The statement as a program of the annotation language."""
    match plan:
        case Both(first, second):
            return f"{write(first, kind)} and {write(second, kind)}"
        case Either(first, second):
            return f"{write(first, kind)} or {write(second, kind)}"
        case Not(inner):
            return f"not ({write(inner, kind)})"
        case Items(quantifier, number, noun):
            return _count(quantifier, number, _chosen("all_items", noun, "x"))
        case Boxes(quantifier, number, conditions, plain):
            tests = ("" if plain else _tower(kind)) + " and ".join(_test(c) for c in conditions)
            return _count(quantifier, number, f"filter_obj(all_boxes, lambda x: {tests})")
        case EveryBox(conditions):
            return f"All(all_boxes, lambda x: {_tower(kind)}{' and '.join(_test(c) for c in conditions)})"
        case EveryItem(noun, predicate):
            return f"All({_chosen('all_items', noun, 'x')}, lambda x: {_predicate(predicate, 'x')})"
        case AllSame(noun, attribute):
            chosen = _chosen("all_items", noun, "x")
            return f"count({chosen}) >= 2 and all_same_{attribute}({chosen})"
        case Variety(quantifier, number, attribute, noun):
            return f"count(get_set_{attribute}s({_chosen('all_items', noun, 'x')})) {_SIGNS[quantifier]} {number}"
        case Compare(more, first, second):
            a, b = (f"count({_chosen('all_items', noun, 'x')})" for noun in (first, second))
            return f"{a} {'>' if more else '=='} {b}"
        case SameCount(some):
            return _same_count(some, kind)


def _same_count(some: bool, kind: Kind) -> str:
    boxes = "filter_obj(all_boxes, lambda x: x.is_tower())" if kind == "tower" else "all_boxes"
    equal = "count(x[0].all_items_in_box()) == count(x[1].all_items_in_box())"
    return f"{'' if some else 'not '}exist(filter_obj(combinations({boxes}, 2), lambda x: {equal}))"


def _tower(kind: Kind) -> str:
    return "x.is_tower() and " if kind == "tower" else ""


def _count(quantifier: Quantifier, number: int, chosen: str) -> str:
    if quantifier in ("some", "none"):
        return f"exist({chosen})" if quantifier == "some" else f"not exist({chosen})"
    return f"count({chosen}) {_SIGNS[quantifier]} {number}"


def _chosen(items: str, noun: Noun, variable: str) -> str:
    """The items that a noun describes; a colour or a shape alone has a filter of its own."""
    if noun.is_bare:
        return items
    if noun == Noun(color=noun.color):
        return f"filter_color({items}, Color.{noun.color.upper()})"
    if noun == Noun(shape=noun.shape):
        return f"filter_shape({items}, Shape.{noun.shape.upper()})"
    return f"filter_obj({items}, lambda {variable}: {_predicate(noun, variable)})"


def _predicate(noun: Noun, variable: str) -> str:
    tests = [f"is_{word}({variable})" for word in (noun.size, noun.color, noun.shape) if word]
    if noun.place:
        tests.append(PLACES[noun.place][2].format(v=variable))
    if noun.other is not None:
        related = RELATIONS[noun.relation][1].format(v=variable)
        not_any = "not " if noun.relation == "no_contact" else ""
        tests.append(f"{not_any}exist({_chosen(related, noun.other, _NEXT[variable])})")
    return " and ".join(tests)


@functools.lru_cache(maxsize=8_192)
def _test(condition: Condition) -> str:
    match condition:
        case Has(quantifier, number, noun):
            return _count(quantifier, number, _chosen("x.all_items_in_box()", noun, "y"))
        case HasOnly(noun):
            return f"All(x.all_items_in_box(), lambda y: {_predicate(noun, 'y')})"
        case HasVariety(quantifier, number, attribute):
            return f"count(get_set_{attribute}s(x.all_items_in_box())) {_SIGNS[quantifier]} {number}"
