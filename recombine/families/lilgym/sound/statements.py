"""Drawing statements: a weighted grammar whose phenomena occur about as often as in the annotated corpus (`phenomena.py`).

`draw` gives any statement of the language; whether it is worth asking (neither constant nor out of reach) is decided in
`worlds.py` by looking at scenes, and to which part it belongs in `splits.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from recombine.families.lilgym import plan as p
from recombine.families.lilgym.scene import COLORS, SHAPES, SIZE_NAMES, Kind
from recombine.families.lilgym.wording import say
from recombine.keys import Stream

T = TypeVar("T")


@dataclass(frozen=True)
class Statement:
    """A plan with its kind of scene; its wording, its program and what it is made of follow."""

    plan: p.Plan
    kind: Kind

    @cached_property
    def text(self) -> str:
        """The sentence."""
        return say(self.plan, self.kind)

    @cached_property
    def program(self) -> str:
        """The program."""
        return p.write(self.plan, self.kind)

    @cached_property
    def words(self) -> int:
        """How many words the sentence has."""
        return len(self.text.split())

    @property
    def depth(self) -> int:
        """How deep its quantifiers are nested."""
        return _depth(self.plan)

    @cached_property
    def nouns(self) -> tuple[tuple[str, p.Noun], ...]:
        """Every noun with the quantifier that governs it, outermost first."""
        return tuple(_nouns(self.plan))


def _depth(plan: p.Plan | p.Condition) -> int:
    match plan:
        case p.Both(first, second) | p.Either(first, second):
            return max(_depth(first), _depth(second))
        case p.Not(inner):
            return _depth(inner)
        case p.Boxes() | p.EveryBox():
            return 1 + max(_depth(condition) for condition in plan.conditions)
        case p.EveryItem():
            return 1 + max(int(plan.noun.other is not None), int(plan.predicate.other is not None))
        case p.Compare():
            return 1 + max(int(plan.first.other is not None), int(plan.second.other is not None))
        case p.SameCount():
            return 2
        case p.HasVariety():
            return 1
        case _:
            return 1 + int(plan.noun.other is not None)


def _nouns(plan: p.Plan | p.Condition) -> Iterator[tuple[str, p.Noun]]:
    match plan:
        case p.Both(first, second) | p.Either(first, second):
            yield from _nouns(first)
            yield from _nouns(second)
        case p.Not(inner):
            yield from _nouns(inner)
        case p.Boxes() | p.EveryBox():
            for condition in plan.conditions:
                yield from _nouns(condition)
        case p.EveryItem():
            yield "every", plan.noun
            yield "every", plan.predicate
        case p.Compare():
            yield "compared", plan.first
            yield "compared", plan.second
        case p.Items() | p.Has():
            yield plan.quantifier, plan.noun
        case p.HasOnly():
            yield "every", plan.noun
        case p.AllSame() | p.Variety():
            yield "same", plan.noun
        case _:
            return


# --- the grammar -----------------------------------------------------------------------------------------------------


def pick(stream: Stream, weights: Mapping[T, float]) -> T:
    """One of the keys, by weight."""
    return list(weights)[stream.weighted(list(weights.values()))]


ROOTS: Mapping[Kind, Mapping[str, float]] = {
    "tower": {
        "items": 20, "boxes": 62, "every_box": 2.5, "every_item": 2, "all_same": 1.2, "variety": 1.2, "compare": 0.4,
        "same_count": 1.2, "both": 3, "either": 3.5, "not": 2.3,
    },
    "scatter": {
        "items": 31, "boxes": 54, "every_box": 1.5, "every_item": 1.5, "all_same": 1.2, "variety": 1, "compare": 0.6,
        "same_count": 0.7, "both": 3, "either": 1.6, "not": 4.5,
    },
}  # fmt: skip
QUANTIFIERS: Mapping[str, Mapping[p.Quantifier, float]] = {
    "tower items": {"some": 36, "exactly": 55, "at_least": 16, "none": 2.5, "at_most": 1.5},
    "tower boxes": {"some": 41, "exactly": 62, "at_least": 5, "none": 1.5, "at_most": 0.7},
    "tower inside": {"some": 54, "exactly": 46, "at_least": 7.5, "none": 3, "at_most": 0.5},
    "scatter items": {"some": 33, "exactly": 48, "at_least": 15, "none": 3, "at_most": 1.5},
    "scatter boxes": {"some": 43, "exactly": 49, "at_least": 5, "none": 2, "at_most": 0.7},
    "scatter inside": {"some": 39, "exactly": 50, "at_least": 6, "none": 3.5, "at_most": 0.5},
    "bare": {"exactly": 88, "at_least": 10, "at_most": 2},
    "variety": {"exactly": 75, "at_least": 25},
}
NUMBERS: Mapping[str, Mapping[int, float]] = {
    "items": {1: 25, 2: 35, 3: 22, 4: 12, 5: 6},
    "boxes": {1: 40, 2: 52, 3: 8},
    "inside": {1: 34, 2: 38, 3: 22, 4: 6},
    "bare": {1: 15, 2: 30, 3: 33, 4: 22},
    "many": {2: 20, 3: 25, 4: 25, 5: 15, 6: 10, 7: 5},
}
TWO_CONDITIONS: Mapping[Kind, float] = {"tower": 48, "scatter": 68}
"""Percent of boxes of which two things are said."""
PLAIN = 22
"""Percent of TOWER's box statements that speak of boxes, which may be empty, and not of towers."""
TOWER_PLACES = {"top": 44, "bottom": 40, "second": 7, "third": 3, "bottom_wall": 6}
TOWER_RELATIONS = {"directly_above": 34, "directly_below": 30, "above": 12, "below": 9, "touching": 15}
SCATTER_PLACES: Mapping[str, float] = {
    "wall": 30, "no_wall": 8, "near_wall": 11, "corner": 6, "near_corner": 8, "bottom_wall": 10, "right_wall": 6, "top_wall": 4,
    "left_wall": 4, "near_bottom_wall": 4, "near_right_wall": 3, "near_top_wall": 3, "near_left_wall": 3,
}  # fmt: skip


def draw(kind: Kind, stream: Stream) -> Statement:
    """A statement of the language."""
    grammar = _Grammar(kind, stream)
    return Statement(grammar.plan(), kind)


class _Grammar:
    """The draws of one statement."""

    def __init__(self, kind: Kind, stream: Stream) -> None:
        self.kind: Kind = kind
        self.stream = stream

    def chance(self, percent: float) -> bool:
        return self.stream.unit() * 100 < percent

    def plan(self) -> p.Plan:
        root = pick(self.stream, ROOTS[self.kind])
        if root in ("both", "either"):
            parts = sorted((self.part(), self.part()), key=lambda part: p.write(part, self.kind))
            if parts[0] == parts[1]:
                return parts[0]
            return p.Both(*parts) if root == "both" else p.Either(*parts)
        if root == "not":
            return p.Not(self.denied())
        return self.simple(root)

    def part(self) -> p.Simple:
        return self.simple(pick(self.stream, {"items": 70, "boxes": 25, "compare": 3, "variety": 2}))

    def denied(self) -> p.Simple:
        """What "it is not true that" is said of: a clause without a negation of its own."""
        while True:
            inner = self.simple(pick(self.stream, {"items": 45, "boxes": 50, "compare": 5}))
            denies = any(quantifier == "none" or noun.relation == "no_contact" for quantifier, noun in _nouns(inner))
            if not denies and not (isinstance(inner, p.Boxes) and inner.quantifier == "none"):
                return inner

    def simple(self, root: str) -> p.Simple:
        tower = self.kind == "tower"
        match root:
            case "items":
                quantifier = pick(self.stream, QUANTIFIERS[f"{self.kind} items"])
                return self.counted(p.Items, quantifier, "items", self.noun(57, 33) if tower else self.noun(70, 5, 5))
            case "boxes":
                quantifier = pick(self.stream, QUANTIFIERS[f"{self.kind} boxes"])
                return p.Boxes(
                    quantifier, self.number(quantifier, "boxes"), self.conditions(quantifier), tower and self.chance(PLAIN)
                )
            case "every_box":
                return p.EveryBox(self.conditions("every"))
            case "every_item":
                return self.every_item()
            case "all_same":
                return self.all_same()
            case "variety":
                attribute = self.attribute()
                quantifier = pick(self.stream, QUANTIFIERS["variety"])
                number = 2 if quantifier == "at_least" else pick(self.stream, {1: 25, 2: 60, 3: 15})
                return p.Variety(quantifier, number, attribute, self.without(attribute, self.noun(60, 0)))
            case "compare":
                return self.compare()
            case _:
                return p.SameCount(self.chance(70))

    def counted(self, make: Callable[[p.Quantifier, int, p.Noun], T], quantifier: p.Quantifier, table: str, noun: p.Noun) -> T:
        """So many of a noun; "no object that touches no other" is not said."""
        quantifier = "some" if quantifier == "none" and noun.relation == "no_contact" else quantifier
        return make(quantifier, self.number(quantifier, table), noun)

    def number(self, quantifier: p.Quantifier, table: str) -> int:
        """The number of a quantifier, where it has one; at least one and at most none are said otherwise."""
        if quantifier in ("some", "none"):
            return 0
        number = pick(self.stream, NUMBERS[table])
        if table == "boxes" and quantifier != "exactly":
            return 2 if quantifier == "at_least" else pick(self.stream, {1: 60, 2: 40})
        return max(2, number) if quantifier == "at_least" else number

    def attribute(self) -> p.Attribute:
        if self.kind == "tower":
            return "color"
        return pick(self.stream, {"color": 60, "shape": 32, "size": 8})

    def without(self, attribute: p.Attribute, noun: p.Noun) -> p.Noun:
        """The noun without the attribute that is spoken of."""
        return p.Noun(
            "" if attribute == "color" else noun.color, "" if attribute == "shape" else noun.shape,
            "" if attribute == "size" else noun.size, noun.place, noun.relation, noun.other,
        )  # fmt: skip

    def described(self) -> p.Noun:
        """A noun with attributes only, at least one."""
        while True:
            if self.kind == "tower":
                return p.Noun(self.stream.choice(COLORS))
            noun = p.Noun(
                self.stream.choice(COLORS) if self.chance(68) else "",
                self.stream.choice(SHAPES) if self.chance(53) else "",
                self.stream.choice(SIZE_NAMES) if self.chance(3) else "",
            )
            if not noun.is_bare:
                return noun

    def noun(self, placed: float, related: float, touching: float = 0, single: float = 0) -> p.Noun:
        """A noun with attributes, perhaps with a place, perhaps with a relation or (SCATTER) contact to another noun (percent)."""
        noun = self.only() if single and self.chance(single) else self.described()
        point = self.stream.unit() * 100
        if point < placed:
            if self.kind == "scatter" and self.chance(14):
                noun = p.Noun()
            return p.Noun(noun.color, noun.shape, noun.size, place=self.place())
        if point < placed + related:
            return self.related(noun)
        if point < placed + related + touching:
            return self.touching(p.Noun() if self.chance(20) else noun)
        return noun

    def place(self) -> str:
        return pick(self.stream, TOWER_PLACES if self.kind == "tower" else SCATTER_PLACES)

    def related(self, noun: p.Noun) -> p.Noun:
        """The noun with a relation to another; in SCATTER the other is of another colour or shape, so it is another item."""
        if self.kind == "tower":
            relation = pick(self.stream, TOWER_RELATIONS)
            return p.Noun(noun.color, relation=relation, other=self.described())
        if not noun.color and not noun.shape:
            noun = p.Noun(self.stream.choice(COLORS))
        while True:
            other = self.described()
            colors, shapes = {noun.color, other.color}, {noun.shape, other.shape}
            if (len(colors) == 2 and "" not in colors) or (len(shapes) == 2 and "" not in shapes):
                return p.Noun(*noun.attributes, relation="same_box", other=other)

    def touching(self, noun: p.Noun) -> p.Noun:
        """The noun with contact to another, or without any: to any item at all, or to one with certain attributes."""
        relation = pick(self.stream, {"contact": 80, "no_contact": 20})
        other = p.Noun() if self.chance(30) else self.described()
        return p.Noun(*noun.attributes, relation=relation, other=other)

    def conditions(self, outer: str) -> tuple[p.Condition, ...]:
        first = self.condition(outer)
        if not self.chance(TWO_CONDITIONS[self.kind]):
            return (first,)
        for _ in range(20):
            second = self.condition(outer)
            if not self.clash(first, second):
                return tuple(sorted((first, second), key=lambda c: p.write(p.EveryBox((c,)), self.kind)))
        return (first,)

    def clash(self, first: p.Condition, second: p.Condition) -> bool:
        """Whether two conditions speak of the same noun or of varieties twice: such pairs are contradictions or repetitions."""
        if isinstance(first, p.Has) and isinstance(second, p.Has):
            return first.noun == second.noun
        return type(first) is type(second) or {type(first), type(second)} == {p.HasOnly, p.HasVariety}

    def condition(self, outer: str) -> p.Condition:
        """A property of a box; heights of towers are asked for more often where the towers themselves are not counted."""
        tower = self.kind == "tower"
        bare = 10 if not tower else 21 if outer == "some" else 8
        match pick(self.stream, {"has": 66, "bare": bare, "only": 3, "variety": 4.5}):
            case "bare":
                quantifier = pick(self.stream, QUANTIFIERS["bare"])
                number = self.number(quantifier, "bare" if tower else "many")
                return p.Has(quantifier, min(number, 3) if quantifier == "at_most" else number, p.Noun())
            case "only":
                return p.HasOnly(self.only())
            case "variety":
                quantifier = pick(self.stream, QUANTIFIERS["variety"])
                number = 2 if quantifier == "at_least" else pick(self.stream, {1: 40, 2: 45, 3: 15})
                return p.HasVariety(quantifier, number, self.attribute())
            case _:
                noun = self.noun(37, 24) if tower else self.noun(20, 0, 2, single=60)
                if noun.place and tower:
                    return p.Has(pick(self.stream, {"some": 95, "none": 5}), 0, noun)
                return self.counted(p.Has, pick(self.stream, QUANTIFIERS[f"{self.kind} inside"]), "inside", noun)

    def only(self) -> p.Noun:
        """A noun with one attribute, a colour or a shape."""
        if self.kind == "tower" or self.chance(60):
            return p.Noun(self.stream.choice(COLORS))
        return p.Noun(shape=self.stream.choice(SHAPES))

    def every_item(self) -> p.EveryItem:
        noun = self.described()
        if self.kind == "tower":
            if self.chance(70):
                return p.EveryItem(noun, p.Noun(place=self.place()))
            return p.EveryItem(noun, p.Noun(relation=pick(self.stream, TOWER_RELATIONS), other=self.described()))
        if noun.shape and not noun.color and self.chance(50):
            return p.EveryItem(noun, p.Noun(color=self.stream.choice(COLORS)))
        if self.chance(20):
            return p.EveryItem(noun, self.touching(p.Noun()))
        return p.EveryItem(noun, p.Noun(place=self.place()))

    def all_same(self) -> p.AllSame:
        attribute = self.attribute()
        if self.kind == "tower":
            return p.AllSame(p.Noun(place=self.place()), attribute)
        noun = self.without(attribute, self.noun(40, 0))
        return p.AllSame(noun if not noun.is_bare else p.Noun(place=self.place()), attribute)

    def compare(self) -> p.Compare:
        more = self.chance(65)
        while True:
            first, second = self.noun(30, 0), self.noun(30, 0)
            if first != second:
                break
        if not more and p.write(p.Compare(False, second, first), self.kind) < p.write(
            p.Compare(False, first, second), self.kind
        ):
            first, second = second, first
        return p.Compare(more, first, second)
