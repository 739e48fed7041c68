"""What a statement means, as a value in normal form: two statements with equal meanings hold of the same scenes.

The oracle reads the sentence (`sentence.py`) and the program (`formula.py`) into the same form and compares (`difference.py`).
Every property of an item depends on its own box alone. So a scene enters a meaning only through three contributions, one per box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recombine.families.lilgym.oracle.contact import Picture, Thing, distance

MANY = 99
"""The upper end of a span without one."""
COLOR_WORDS = {"yellow": 0, "black": 1, "blue": 2}
SHAPE_WORDS = {"circle": 0, "square": 1, "triangle": 2}
SIZE_WORDS = {"small": 10, "medium": 20, "big": 30}
FIELDS = {"color": 4, "shape": 5, "size": 3}
"""Attribute -> its place in a thing."""
Box = tuple[Thing, ...]


class Span(NamedTuple):
    """A range of numbers, both ends included."""

    low: int
    high: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.low <= number <= self.high

    def clipped(self, most: int) -> Span:
        """The same range of numbers that never exceed `most`."""
        return Span(self.low, min(self.high, most))


SOME, NONE = Span(1, MANY), Span(0, 0)


# --- which items -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Is:
    """The item has this attribute value."""

    attribute: str
    value: int


@dataclass(frozen=True)
class At:
    """The item is at a place: `top`, `bottom`, `second`, `third`, a wall (`wall`, `left wall`, …), `no wall` or a `corner`."""

    place: str
    slack: int = 0


@dataclass(frozen=True)
class Related:
    """This many other items of the box, with these properties, stand in the relation: the item is `above` them, `touching` them …"""

    relation: str
    others: Filter
    span: Span


Filter = frozenset["Is | At | Related"]
"""Properties that hold together; the empty set holds of every item."""


def fits(filter: Filter, thing: Thing, box: Box) -> bool:  # noqa: A002 - the word of the module
    """Whether an item of a box has all the properties."""
    return all(_fits(test, thing, box) for test in filter)


def chosen(filter: Filter, box: Box) -> list[Thing]:  # noqa: A002
    """The items of a box that have all the properties."""
    return [thing for thing in box if fits(filter, thing, box)]


def _fits(test: Is | At | Related, thing: Thing, box: Box) -> bool:
    if isinstance(test, Is):
        return thing[FIELDS[test.attribute]] == test.value
    if isinstance(test, At):
        return _is_at(test, thing, box)
    others = [u for u in box if u != thing and _RELATIONS[test.relation](thing, u, box) and fits(test.others, u, box)]
    return len(others) in test.span


def stacked(box: Box) -> list[Thing]:
    """The items of a box from the lowest to the highest."""
    return sorted(box, key=lambda t: -t[2])


def walls(thing: Thing, slack: int) -> set[str]:
    """The walls that an item touches, or comes within `slack` pixels of."""
    _, x, y, size, _, _ = thing
    rooms = {"left wall": x, "top wall": y, "right wall": 100 - x - size, "bottom wall": 100 - y - size}
    return {side for side, room in rooms.items() if room <= slack}


def _is_at(test: At, thing: Thing, box: Box) -> bool:
    levels = {"bottom": 0, "second": 1, "third": 2, "top": -1}
    if test.place in levels:
        return stacked(box)[levels[test.place] :][:1] == [thing]
    touched = walls(thing, test.slack)
    if test.place == "corner":
        return bool(touched & {"left wall", "right wall"}) and bool(touched & {"top wall", "bottom wall"})
    if test.place in ("wall", "no wall"):
        return bool(touched) == (test.place == "wall")
    return test.place in touched


def _rise(thing: Thing, other: Thing, box: Box) -> int:
    stack = stacked(box)
    return stack.index(thing) - stack.index(other)


_RELATIONS: dict[str, Callable[[Thing, Thing, Box], bool]] = {
    "directly above": lambda t, u, box: _rise(t, u, box) == 1,
    "directly below": lambda t, u, box: _rise(t, u, box) == -1,
    "above": lambda t, u, box: _rise(t, u, box) > 0,
    "below": lambda t, u, box: _rise(t, u, box) < 0,
    "touching": lambda t, u, _box: distance(t, u) <= 1.0,  # the blocks of a tower stand one pixel apart
    "in the same box": lambda _t, _u, _box: True,
}
"""What it is to be `directly above` …: (item, other, box) -> bool."""


# --- which boxes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Has:
    """The box has this many items with these properties."""

    items: Filter
    span: Span


@dataclass(frozen=True)
class Only:
    """The box has items, and all have these properties."""

    items: Filter


@dataclass(frozen=True)
class Mixed:
    """The items of the box show this many values of an attribute."""

    attribute: str
    span: Span


Condition = Has | Only | Mixed
NOT_EMPTY = Has(frozenset(), SOME)


def _keeps(condition: Condition, box: Box) -> bool:
    if isinstance(condition, Has):
        return len(chosen(condition.items, box)) in condition.span
    if isinstance(condition, Only):
        return bool(box) and len(chosen(condition.items, box)) == len(box)
    return len({thing[FIELDS[condition.attribute]] for thing in box}) in condition.span


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Items:
    """This many items have these properties."""

    items: Filter
    span: Span

    def of_box(self, box: Box) -> int:
        """How many of one box do."""
        return len(chosen(self.items, box))

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds, given what each box contributes."""
        return sum(parts) in self.span


@dataclass(frozen=True)
class Boxes:
    """This many boxes keep all these conditions."""

    conditions: frozenset[Condition]
    span: Span

    def of_box(self, box: Box) -> int:
        """1 if the box does."""
        return int(all(_keeps(condition, box) for condition in self.conditions))

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds."""
        return sum(parts) in self.span


@dataclass(frozen=True)
class Every:
    """There are such items, and all of them have the other properties as well."""

    items: Filter
    also: Filter

    def of_box(self, box: Box) -> tuple[int, int]:
        """How many such items the box has, and how many of them lack the other properties."""
        found = chosen(self.items, box)
        return len(found), sum(not fits(self.also, thing, box) for thing in found)

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds."""
        return any(p[0] for p in parts) and not any(p[1] for p in parts)


@dataclass(frozen=True)
class Variety:
    """Such items show this many values of an attribute."""

    items: Filter
    attribute: str
    span: Span

    def of_box(self, box: Box) -> frozenset[int]:
        """The values in one box."""
        return frozenset(thing[FIELDS[self.attribute]] for thing in chosen(self.items, box))

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds."""
        return len(frozenset().union(*parts)) in self.span


@dataclass(frozen=True)
class Compare:
    """There are more items of the first sort than of the second, or as many of both (then the order does not matter)."""

    first: Filter
    second: Filter
    more: bool

    def of_box(self, box: Box) -> tuple[int, int]:
        """How many of each sort one box has."""
        return len(chosen(self.first, box)), len(chosen(self.second, box))

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds."""
        first, second = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return bool(first > second if self.more else first == second)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Compare) or self.more != other.more:
            return False
        if self.more:
            return (self.first, self.second) == (other.first, other.second)
        return {self.first, self.second} == {other.first, other.second}

    def __hash__(self) -> int:
        return hash((self.more, frozenset((self.first, self.second))))


@dataclass(frozen=True)
class EqualBoxes:
    """Two boxes (`towers`: two that are not empty) hold the same number of items; or no two do."""

    towers: bool
    some: bool

    def of_box(self, box: Box) -> int:
        """How many items the box holds."""
        return len(box)

    def judge(self, parts: Sequence[Any]) -> bool:
        """Whether the statement holds."""
        counted = [n for n in parts if n > 0 or not self.towers]
        return (len(set(counted)) < len(counted)) == self.some


Atom = Items | Boxes | Every | Variety | Compare | EqualBoxes


@dataclass(frozen=True)
class Joined:
    """All of the parts hold, or (`every` is False) at least one."""

    parts: frozenset[Meaning]
    every: bool


@dataclass(frozen=True)
class Denied:
    """The part does not hold."""

    part: Meaning


Meaning = Atom | Joined | Denied


def join(parts: Sequence[Meaning], every: bool) -> Meaning:
    """`and` (or `or`) of statements; nested ones become one, repeated ones are said once."""
    flat: set[Meaning] = set()
    for part in parts:
        flat |= part.parts if isinstance(part, Joined) and part.every == every else {part}
    return next(iter(flat)) if len(flat) == 1 else Joined(frozenset(flat), every)


def deny(part: Meaning) -> Meaning:
    """`not` of a statement; "not at least two" becomes "at most one"."""
    if isinstance(part, Denied):
        return part.part
    if isinstance(part, EqualBoxes):
        return EqualBoxes(part.towers, not part.some)
    if isinstance(part, Items | Boxes | Variety):
        top = MANY if isinstance(part, Items) else 3
        low, high = part.span
        rest = Span(0, low - 1) if high >= top and low > 0 else Span(high + 1, top) if low == 0 and high < top else None
        if rest is not None:
            return _with_span(part, rest)
    return Denied(part)


def _with_span(part: Items | Boxes | Variety, span: Span) -> Meaning:
    if isinstance(part, Items):
        return Items(part.items, span)
    return Boxes(part.conditions, span) if isinstance(part, Boxes) else Variety(part.items, part.attribute, span)


# --- truth -----------------------------------------------------------------------------------------------------------


def atoms(meaning: Meaning) -> Iterator[Atom]:
    """The statements that a meaning joins or denies, in no order that matters."""
    if isinstance(meaning, Joined):
        for part in meaning.parts:
            yield from atoms(part)
    elif isinstance(meaning, Denied):
        yield from atoms(meaning.part)
    else:
        yield meaning


def holds(meaning: Meaning, picture: Picture) -> bool:
    """Whether a statement is true of a scene."""
    boxes = tuple(tuple(t for t in picture if t[0] == box) for box in range(3))
    return judged(meaning, [contribution(meaning, box) for box in boxes])


Contribution = dict[Atom, Any]
"""What one box adds to each statement."""


def contribution(meaning: Meaning, box: Box) -> Contribution:
    return {atom: atom.of_box(box) for atom in atoms(meaning)}


def judged(meaning: Meaning, boxes: Sequence[Contribution]) -> bool:
    if isinstance(meaning, Joined):
        values = (judged(part, boxes) for part in meaning.parts)
        return all(values) if meaning.every else any(values)
    if isinstance(meaning, Denied):
        return not judged(meaning.part, boxes)
    return meaning.judge([box[meaning] for box in boxes])
