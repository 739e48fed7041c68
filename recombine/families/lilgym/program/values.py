"""The values of programs: items and boxes as programs see them, colours, shapes, sizes and sides, and the tests on values.

Coordinates are those of programs: y grows upwards, so an item's `top` is 100 − y and its `bottom` is 100 − (y + size). Sets are
walked in the order of their elements (items by box, then by place in the box), so that nothing depends on hashing.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recombine.errors import ProgramError, shown
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.scene import BOX_SIDE, COLORS, SHAPES, SIZES, Scene

CONTACT, CLOSE, NEAR = 1, 4, 10
"""Pixels: two items touch within 1, anything is *closely* touching within 4, and near a wall within 10."""


class Color(enum.Enum):
    """Colours by their scene code."""

    YELLOW, BLACK, BLUE = range(3)


class Shape(enum.Enum):
    """Shapes by their scene code."""

    CIRCLE, SQUARE, TRIANGLE = range(3)


class Size(enum.Enum):
    """Sizes by their index: 10, 20 and 30 pixels."""

    SMALL, MEDIUM, BIG = range(3)


class Side(enum.Enum):
    """The walls of a box; ANY is some wall."""

    ANY, LEFT, RIGHT, TOP, BOTTOM = range(5)


ENUMS: Mapping[str, type[enum.Enum]] = {"Color": Color, "Shape": Shape, "Size": Size, "Side": Side}
MEMBERS: Mapping[str, Mapping[str, enum.Enum]] = {
    name: dict(members.__members__) | ({"LARGE": Size.BIG} if name == "Size" else {}) for name, members in ENUMS.items()
}


_COLORS, _SHAPES, _SIZES = tuple(Color), tuple(Shape), tuple(Size)


class Thing:
    """An item as programs see it; two things are equal only if they are the same one."""

    def __init__(self, index: int, box: Box, numbers: Sequence[int]) -> None:
        _, x, y, size, color, shape = numbers
        self.index, self.box = index, box
        self.left, self.right, self.top, self.bottom = x, x + size, BOX_SIDE - y, BOX_SIDE - y - size
        self.color, self.shape, self.size = _COLORS[color], _SHAPES[shape], _SIZES[SIZES.index(size)]
        self.walls: dict[int, tuple[Side, ...]] = {}

    def __repr__(self) -> str:
        return f"{self.size.name.lower()} {COLORS[self.color.value]} {SHAPES[self.shape.value]} {self.index}"


class Box:
    """A box as programs see it: its items, in list order."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.items: list[Thing] = []

    @cached_property
    def is_tower(self) -> bool:
        """Not empty, only squares, and all their right edges in line."""
        return bool(self.items) and all(i.shape is Shape.SQUARE for i in self.items) and len({i.right for i in self.items}) == 1

    @cached_property
    def tops(self) -> tuple[int, int]:
        """The lowest and the highest top edge of its items; only of a box that has some."""
        edges = [item.top for item in self.items]
        return min(edges), max(edges)

    def __repr__(self) -> str:
        return f"box {self.index}"


@dataclass(frozen=True)
class World:
    """A scene's boxes and items as programs see them."""

    boxes: list[Box]
    items: list[Thing]

    @classmethod
    def of(cls, scene: Scene) -> World:
        boxes = [Box(index) for index in range(3)]
        for index, item in enumerate(scene.items):
            boxes[item.box].items.append(Thing(index, boxes[item.box], item))
        return cls(boxes, [item for box in boxes for item in box.items])


@dataclass(frozen=True)
class Closure:
    """A lambda with the variables around it."""

    node: Node
    variables: Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    """A box's method that was named but not called."""

    box: Box
    name: str


# --- values ----------------------------------------------------------------------------------------------------------


def truth(value: Any) -> bool:
    """Whether a value counts as true: bools as they are, collections if not empty, items and uncalled methods always."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | frozenset):
        return len(value) > 0
    if is_int(value):
        return bool(value != 0)
    if isinstance(value, Thing | Method):
        return True
    raise ProgramError(f"{shown(value)} is neither true nor false.")


def elements(value: Any) -> list[Any]:
    """The elements of a list, tuple, set or box, in order."""
    if isinstance(value, Box):
        return value.items
    if isinstance(value, frozenset):
        return sorted(
            value, key=lambda v: v.index if isinstance(v, Thing | Box) else v.value if isinstance(v, enum.Enum) else v
        )
    if isinstance(value, list | tuple):
        return list(value)
    raise ProgramError(f"{shown(value)} is not a collection.")


def is_int(value: Any) -> bool:
    return type(value) is int


def sort_of(value: Any) -> object:
    return type(value) if not isinstance(value, bool) else bool


def need_ints(*values: Any) -> None:
    for value in values:
        if not is_int(value):
            raise ProgramError(f"{shown(value)} is not an integer.")


def need_bool(value: Any) -> bool:
    if value is not True and value is not False:
        raise ProgramError(f"{shown(value)} is not True or False.")
    return bool(value)


def things(value: Any) -> list[Thing]:
    """The items of a collection; a bare item is a collection of one."""
    found = [value] if isinstance(value, Thing) else elements(value)
    for thing in found:
        if not isinstance(thing, Thing):
            raise ProgramError(f"{shown(thing)} is not an item.")
    return found


def need_thing(value: Any) -> Thing:
    if not isinstance(value, Thing):
        raise ProgramError(f"{shown(value)} is not an item.")
    return value


def make_set(values: Iterable[Any]) -> frozenset[Any]:
    found = list(values)
    kinds = {sort_of(value) for value in found}
    if len(kinds) > 1 or not all(isinstance(value, Thing | Box | enum.Enum) or is_int(value) for value in found):
        raise ProgramError(f"{shown(found)} is not a set of items, boxes, colours, shapes, sizes or integers.")
    return frozenset(found)


def distinct(values: Sequence[Any]) -> int:
    """How many different values there are; tuples and lists are different unless they are the same object."""
    return len({value if isinstance(value, enum.Enum | bool) or is_int(value) else id(value) for value in values})


def need_single(value: Any) -> Any:
    if isinstance(value, Thing | Box | enum.Enum | bool) or is_int(value):
        return value
    raise ProgramError(f"{shown(value)} is not a single value.")


def compared(sign: str, left: Any, right: Any) -> bool:
    if sign in ("in", "not in"):
        return bool((left in elements(right)) == (sign == "in"))
    if sign in ("==", "!="):
        if sort_of(left) != sort_of(right) and {sort_of(left), sort_of(right)} != {bool, int}:
            raise ProgramError(f"{shown(left)} and {shown(right)} are of different types, so they are never equal.")
        return bool((left == right) == (sign == "=="))
    need_ints(left, right)
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign])


# --- geometry --------------------------------------------------------------------------------------------------------


def walls(item: Thing, tolerance: int) -> tuple[Side, ...]:
    """The walls of its box that the item's bounding square touches, within this many pixels."""
    if tolerance not in item.walls:
        rooms = ((Side.LEFT, item.left), (Side.RIGHT, BOX_SIDE - item.right), (Side.TOP, BOX_SIDE - item.top))
        touched = tuple(side for side, room in (*rooms, (Side.BOTTOM, item.bottom)) if room <= tolerance)
        item.walls[tolerance] = touched
    return item.walls[tolerance]


def touches(item: Thing, side: Side, tolerance: int) -> bool:
    touched = walls(item, tolerance)
    return bool(touched) if side is Side.ANY else side in touched


def is_cornered(item: Thing, sides: Sequence[Side], tolerance: int) -> bool:
    return len(walls(item, tolerance)) == 2 and all(touches(item, side, tolerance) for side in sides)


def gap(a: Thing, b: Thing) -> int:
    """The largest of the four signed distances between facing edges; negative if the bounding squares overlap."""
    return max(a.left - b.right, b.left - a.right, a.bottom - b.top, b.bottom - a.top)


def is_facing(a: Thing, b: Thing) -> bool:
    return any(abs(d) <= CLOSE for d in (a.left - b.right, a.right - b.left, a.top - b.bottom, a.bottom - b.top))
