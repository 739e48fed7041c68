"""The plan of a statement: a small tree that is said in English and written as a program, side by side.

Every wording has one reading. Numbers are always marked (exactly, at least, at most); "every" and "all the same" say first that
there is something to speak of; a plural that could be read together says "each"; "or" says "or both"; a place that could belong to
two nouns is not said at all. Parts whose order does not matter stand in one order, so a statement has one wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recombine.families.lilgym.scene import Kind

Quantifier = Literal["some", "none", "exactly", "at_least", "at_most"]
Attribute = Literal["color", "shape", "size"]
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
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
}
"""Relation -> how it is said, and the items to which it holds."""


@dataclass(frozen=True)
class Noun:
    """A description of items: their attributes, and at most one of a place and a relation to another noun."""

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


@dataclass(frozen=True)
class Has:
    """Of a box: it has so many of these."""

    quantifier: Quantifier
    number: int
    noun: Noun


@dataclass(frozen=True)
class HasOnly:
    """Of a box: it has some of these and nothing else."""

    noun: Noun


@dataclass(frozen=True)
class HasVariety:
    """Of a box: its items are of so many colours (shapes, sizes)."""

    quantifier: Quantifier
    number: int
    attribute: Attribute


Condition = Has | HasOnly | HasVariety


@dataclass(frozen=True)
class Items:
    """There are so many of these."""

    quantifier: Quantifier
    number: int
    noun: Noun


@dataclass(frozen=True)
class Boxes:
    """There are so many boxes (towers) with these one or two properties."""

    quantifier: Quantifier
    number: int
    conditions: tuple[Condition, ...]


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
    """So many different colours (shapes, sizes) occur among these."""

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


# --- in English ------------------------------------------------------------------------------------------------------


def say(plan: Plan, kind: Kind) -> str:
    """The statement in English: a sentence with its full stop."""
    text = _clause(plan, kind)
    return text[0].upper() + text[1:] + "."


def _clause(plan: Plan, kind: Kind) -> str:
    match plan:
        case Both(first, second):
            return f"{_clause(first, kind)}, and {_clause(second, kind)}"
        case Either(first, second):
            return f"{_clause(first, kind)}, or {_clause(second, kind)}, or both"
        case Not(inner):
            return f"it is not true that {_clause(inner, kind)}"
        case _:
            return _simple(plan, kind)


def _simple(plan: Simple, kind: Kind) -> str:
    many = noun_words(kind)[1]
    match plan:
        case Items(quantifier, number, noun):
            be = "is" if _is_one(quantifier, number) else "are"
            return f"there {be} {_counted(quantifier, number, noun, kind, False)}"
        case Boxes():
            return _boxes(plan, kind)
        case EveryBox(conditions) if kind == "tower":
            return "every box has a tower that " + " and that ".join(_said(c, kind, "has") for c in conditions)
        case EveryBox(conditions):
            return "every box " + " and ".join(_said(c, kind, "contains") for c in conditions)
        case EveryItem(noun, predicate):
            one = _noun(noun, kind, 1, False)
            return f"there is at least one {one}, and every {one} is {predicate.color or _after(predicate, kind, False)}"
        case AllSame(noun, attribute):
            several = _noun(noun, kind, 2, False)
            return f"there are at least two {several}, and all {several} have the same {attribute}"
        case Variety(quantifier, number, attribute, noun):
            occur = f"different {attribute}s occur" if number > 1 else f"{attribute} occurs"
            return f"{_marked(quantifier, number)} {occur} among the {_noun(noun, kind, 2, False)}"
        case Compare(more, first, second):
            a, b = _noun(first, kind, 2, False), _noun(second, kind, 2, False)
            return f"there are more {a} than {b}" if more else f"there are as many {a} as {b}"
        case SameCount(some):
            boxes = "towers have" if kind == "tower" else "boxes contain"
            return f"{'at least' if some else 'no'} two {boxes} the same number of {many}"


def _boxes(plan: Boxes, kind: Kind) -> str:
    one = _is_one(plan.quantifier, plan.number)
    box, has = ("tower", "has" if one else "have") if kind == "tower" else ("box", "contains" if one else "contain")
    plural = box if one else "towers" if kind == "tower" else "boxes"
    article = {"some": "a", "none": "no"}.get(plan.quantifier) or _marked(plan.quantifier, plan.number)
    link = "that" if one else "that each"
    said = f" and {link} ".join(_said(c, kind, has) for c in plan.conditions)
    return f"there {'is' if one else 'are'} {article} {plural} {link} {said}"


def _said(condition: Condition, kind: Kind, has: str) -> str:
    many = noun_words(kind)[1]
    match condition:
        case Has(quantifier, number, noun):
            return f"{has} {_counted(quantifier, number, noun, kind, True)}"
        case HasOnly(noun):
            return f"{has} one or more {_noun(noun, kind, 2, True)} and nothing else"
        case HasVariety(quantifier, number, attribute):
            return f"{has} {many} of {_marked(quantifier, number)} {attribute}{'' if number == 1 else 's'}"


def noun_words(kind: Kind) -> tuple[str, str]:
    """What an item is called, one and several."""
    return ("block", "blocks") if kind == "tower" else ("object", "objects")


def _is_one(quantifier: Quantifier, number: int) -> bool:
    return quantifier in ("some", "none") or number == 1


def _marked(quantifier: Quantifier, number: int) -> str:
    return f"{quantifier.replace('_', ' ')} {NUMBERS[number]}"


def _counted(quantifier: Quantifier, number: int, noun: Noun, kind: Kind, inside: bool) -> str:
    one = _is_one(quantifier, number)
    phrase = _noun(noun, kind, 1 if one else 2, inside)
    if quantifier == "some":
        return _with_article(phrase)
    return f"no {phrase}" if quantifier == "none" else f"{_marked(quantifier, number)} {phrase}"


def _with_article(phrase: str) -> str:
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def _noun(noun: Noun, kind: Kind, number: int, inside: bool) -> str:
    word = noun.shape or noun_words(kind)[0]
    head = " ".join(w for w in (noun.size, noun.color, word + ("s" if number > 1 else "")) if w)
    after = _after(noun, kind, inside)
    return f"{head} {after}" if after else head


def _after(noun: Noun, kind: Kind, inside: bool) -> str:
    if noun.place:
        return PLACES[noun.place][1 if inside else 0]
    if noun.other is not None:
        return f"{RELATIONS[noun.relation][0]} {_with_article(_noun(noun.other, kind, 1, inside))}"
    return ""


# --- as a program ----------------------------------------------------------------------------------------------------

_SIGNS = {"exactly": "==", "at_least": ">=", "at_most": "<="}


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
        case Boxes(quantifier, number, conditions):
            tests = " and ".join(_test(c) for c in conditions)
            return _count(quantifier, number, f"filter_obj(all_boxes, lambda x: {_tower(kind)}{tests})")
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
        tests.append(f"exist({_chosen(related, noun.other, chr(ord(variable) + 1))})")
    return " and ".join(tests)


def _test(condition: Condition) -> str:
    match condition:
        case Has(quantifier, number, noun):
            return _count(quantifier, number, _chosen("x.all_items_in_box()", noun, "y"))
        case HasOnly(noun):
            return f"All(x.all_items_in_box(), lambda y: {_predicate(noun, 'y')})"
        case HasVariety(quantifier, number, attribute):
            return f"count(get_set_{attribute}s(x.all_items_in_box())) {_SIGNS[quantifier]} {number}"
