"""The meaning of programs, written plainly: a tree walker over Python values with a count of its steps.

This is what a program *means*; the fast form (`program_compiler`, `program_kernel`) must agree with it on every scene, and a check
says so. Coordinates are those of programs: y grows upwards, so an item's `top` is 100 − y and its `bottom` is 100 − (y + size).
Sets are walked in the order of their elements (items by box, then by place in the box), so that nothing depends on hashing.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recombine.errors import ProgramError, UnknownName, shown
from recombine.families.lilgym.program_syntax import Node
from recombine.families.lilgym.scene import BOX_SIDE, COLORS, SHAPES, SIZES, Scene

FUEL = 25_000
"""Steps that one evaluation may take, about 100 ms; the hungriest annotated program takes under 3,000."""
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


class Thing:
    """An item as programs see it; two things are equal only if they are the same one."""

    def __init__(self, index: int, box: Box, numbers: Sequence[int]) -> None:
        _, x, y, size, color, shape = numbers
        self.index, self.box = index, box
        self.left, self.right, self.top, self.bottom = x, x + size, BOX_SIDE - y, BOX_SIDE - y - size
        self.color, self.shape, self.size = Color(color), Shape(shape), Size(SIZES.index(size))

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


def evaluate(tree: Node, scene: Scene, fuel: int = FUEL) -> bool:
    """The value of a program on a scene; a `ProgramError` if it fails, runs out of steps, or its value is no bool."""
    return evaluate_world(tree, World.of(scene), fuel)


def evaluate_world(tree: Node, world: World, fuel: int = FUEL) -> bool:
    """The same for a scene that is laid out already; worlds do not change, so one serves many programs."""
    value = Run(world, fuel).value(tree, {})
    if value is not True and value is not False:
        raise ProgramError(f"the program's value is {shown(value)}, but must be True or False.")
    return bool(value)


class Run:
    """One evaluation: the world, and the steps that are left."""

    def __init__(self, world: World, fuel: int = FUEL) -> None:
        self.world = world
        self.fuel = fuel

    def spend(self, steps: int = 1) -> None:
        """Count steps; the error stops programs that would run for ages."""
        self.fuel -= steps
        if self.fuel < 0:
            raise ProgramError("the program takes too many steps on this scene.")

    def value(self, node: Node, variables: Mapping[str, Any]) -> Any:
        """The value of a node, given the variables."""
        self.spend()
        return _WALKERS[node.kind](self, node, variables)

    def call(self, function: Any, *values: Any) -> Any:
        """The value of a lambda or of a function passed by name."""
        if isinstance(function, Closure):
            if len(values) != 1:
                raise ProgramError("a lambda takes one argument.")
            return self.value(function.node.children[0], {**function.variables, function.node.name: values[0]})
        if isinstance(function, Function):
            self.spend()
            return function.apply(self, values, {})
        raise ProgramError(f"{shown(function)} is not a function.")


# --- walking ---------------------------------------------------------------------------------------------------------


def _name(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    if node.name in variables:
        return variables[node.name]
    if node.name == "all_items":
        return list(run.world.items)
    if node.name == "all_boxes":
        return list(run.world.boxes)
    if node.name in FUNCTIONS:
        return FUNCTIONS[node.name]
    raise ProgramError(str(UnknownName("name in a program", node.name, [*FUNCTIONS, *ENUMS, "all_items", "all_boxes"])))


def _attr(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    owner = node.children[0]
    if owner.kind == "name" and owner.name in ENUMS and owner.name not in variables:
        if node.name not in MEMBERS[owner.name]:
            raise ProgramError(str(UnknownName(f"{owner.name} in a program", node.name, MEMBERS[owner.name])))
        return MEMBERS[owner.name][node.name]
    value = run.value(owner, variables)
    if isinstance(value, Thing) and node.name == "box":
        return value.box
    if isinstance(value, Box) and node.name in ("is_tower", "all_items_in_box"):
        return Method(value, node.name)
    raise ProgramError(f"{shown(value)} has no {shown(node.name)}; items have .box, boxes .is_tower() and .all_items_in_box().")


def _call(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    function = run.value(node.children[0], variables)
    values = [run.value(child, variables) for child in node.children[1:]]
    plain = values[: len(values) - len(node.names)]
    named = dict(zip(node.names, values[len(plain) :], strict=True))
    if isinstance(function, Method):
        if values:
            raise ProgramError(f"{function.name} takes no arguments.")
        return function.box.is_tower if function.name == "is_tower" else list(function.box.items)
    if not isinstance(function, Function):
        raise ProgramError(f"{shown(function)} cannot be called.")
    return function.apply(run, plain, named)


def _index(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    values, place = (run.value(child, variables) for child in node.children)
    if not isinstance(values, list | tuple) or not _is_int(place):
        raise ProgramError("a subscript takes a list and an integer.")
    if not 0 <= place < len(values):
        raise ProgramError(f"there is no element {place} in a list of {len(values)}.")
    return values[place]


def _slice(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    values = run.value(node.children[0], variables)
    low, high = (None if bound.kind == "bool" else run.value(bound, variables) for bound in node.children[1:])
    if not isinstance(values, list | tuple) or not all(bound is None or _is_int(bound) for bound in (low, high)):
        raise ProgramError("a slice takes a list and integers.")
    return list(values[low:high])


def _and(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    value: Any = True
    for child in node.children:
        value = run.value(child, variables)
        if not truth(value):
            return value
    return value


def _or(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    value: Any = False
    for child in node.children:
        value = run.value(child, variables)
        if truth(value):
            return value
    return value


def _compare(run: Run, node: Node, variables: Mapping[str, Any]) -> bool:
    left = run.value(node.children[0], variables)
    for sign, child in zip(node.names, node.children[1:], strict=True):
        right = run.value(child, variables)
        if not _compared(sign, left, right):
            return False
        left = right
    return True


def _compared(sign: str, left: Any, right: Any) -> bool:
    if sign in ("in", "not in"):
        return bool((left in elements(right)) == (sign == "in"))
    if sign in ("==", "!="):
        if _sort(left) != _sort(right) and {_sort(left), _sort(right)} != {bool, int}:
            raise ProgramError(f"{shown(left)} and {shown(right)} are of different types, so they are never equal.")
        return bool((left == right) == (sign == "=="))
    _need_ints(left, right)
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign])


def _add(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    left, right = (run.value(child, variables) for child in node.children)
    if isinstance(left, list) and isinstance(right, list):
        run.spend(len(left) + len(right))
        return left + right
    _need_ints(left, right)
    return left + right


def _mod(run: Run, node: Node, variables: Mapping[str, Any]) -> int:
    left, right = (run.value(child, variables) for child in node.children)
    _need_ints(left, right)
    if right == 0:
        raise ProgramError("the remainder by 0 does not exist.")
    return int(left % right)


_WALKERS: Mapping[str, Callable[[Run, Node, Mapping[str, Any]], Any]] = {
    "name": _name,
    "attr": _attr,
    "call": _call,
    "index": _index,
    "slice": _slice,
    "and": _and,
    "or": _or,
    "compare": _compare,
    "add": _add,
    "mod": _mod,
    "int": lambda _run, node, _variables: node.value,
    "bool": lambda _run, node, _variables: bool(node.value),
    "lambda": lambda _run, node, variables: Closure(node, variables),
    "not": lambda run, node, variables: not truth(run.value(node.children[0], variables)),
    "list": lambda run, node, variables: [run.value(child, variables) for child in node.children],
    "set": lambda run, node, variables: _set([run.value(child, variables) for child in node.children]),
}


# --- values ----------------------------------------------------------------------------------------------------------


def truth(value: Any) -> bool:
    """Whether a value counts as true: bools as they are, collections if not empty, items and uncalled methods always."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | frozenset):
        return len(value) > 0
    if _is_int(value):
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


def _is_int(value: Any) -> bool:
    return type(value) is int


def _sort(value: Any) -> object:
    return type(value) if not isinstance(value, bool) else bool


def _need_ints(*values: Any) -> None:
    for value in values:
        if not _is_int(value):
            raise ProgramError(f"{shown(value)} is not an integer.")


def _bool(value: Any) -> bool:
    if value is not True and value is not False:
        raise ProgramError(f"{shown(value)} is not True or False.")
    return bool(value)


def _things(value: Any) -> list[Thing]:
    """The items of a collection; a bare item is a collection of one."""
    found = [value] if isinstance(value, Thing) else elements(value)
    for thing in found:
        if not isinstance(thing, Thing):
            raise ProgramError(f"{shown(thing)} is not an item.")
    return found


def _thing(value: Any) -> Thing:
    if not isinstance(value, Thing):
        raise ProgramError(f"{shown(value)} is not an item.")
    return value


def _set(values: Iterable[Any]) -> frozenset[Any]:
    found = list(values)
    kinds = {_sort(value) for value in found}
    if len(kinds) > 1 or not all(isinstance(value, Thing | Box | enum.Enum) or _is_int(value) for value in found):
        raise ProgramError(f"{shown(found)} is not a set of items, boxes, colours, shapes, sizes or integers.")
    return frozenset(found)


def _distinct(values: Sequence[Any]) -> int:
    """How many different values there are; tuples and lists are different unless they are the same object."""
    return len({value if isinstance(value, enum.Enum | bool) or _is_int(value) else id(value) for value in values})


def _hashable(value: Any) -> Any:
    if isinstance(value, Thing | Box | enum.Enum | bool) or _is_int(value):
        return value
    raise ProgramError(f"{shown(value)} is not a single value.")


# --- geometry --------------------------------------------------------------------------------------------------------


def walls(item: Thing, tolerance: int) -> frozenset[Side]:
    """The walls of its box that the item's bounding square touches, within so many pixels."""
    gaps = {Side.LEFT: item.left, Side.RIGHT: BOX_SIDE - item.right, Side.TOP: BOX_SIDE - item.top, Side.BOTTOM: item.bottom}
    return frozenset(side for side, gap in gaps.items() if gap <= tolerance)


def _touches(item: Thing, side: Side, tolerance: int) -> bool:
    touched = walls(item, tolerance)
    return bool(touched) if side is Side.ANY else side in touched


def _cornered(item: Thing, sides: Sequence[Side], tolerance: int) -> bool:
    return len(walls(item, tolerance)) == 2 and all(_touches(item, side, tolerance) for side in sides)


def gap(a: Thing, b: Thing) -> int:
    """The largest of the four signed distances between facing edges; negative if the bounding squares overlap."""
    return max(a.left - b.right, b.left - a.right, a.bottom - b.top, b.bottom - a.top)


def _facing(a: Thing, b: Thing) -> bool:
    return any(abs(d) <= CLOSE for d in (a.left - b.right, a.right - b.left, a.top - b.bottom, a.bottom - b.top))


def _neighbours(run: Run, value: Any, test: Callable[[Thing, Thing], bool], image: bool = False) -> frozenset[Thing]:
    """Every other item (of the same box, or of the image) that stands in the relation to one of the given items."""
    found = []
    for item in _things(value):
        others = run.world.items if image else item.box.items
        run.spend(len(others))
        found += [other for other in others if other is not item and test(item, other)]
    return frozenset(found)


def _above(item: Thing, other: Thing) -> bool:
    return other.bottom >= item.top


def _below(item: Thing, other: Thing) -> bool:
    return other.top <= item.bottom


def _next_if_tower(relation: Callable[[Thing, Thing], bool]) -> Callable[[Thing, Thing], bool]:
    """In a tower only the block that touches; elsewhere everything."""
    return lambda item, other: relation(item, other) and (not item.box.is_tower or gap(item, other) <= CONTACT)


# --- the functions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A function of the language: how many arguments it takes, which may be named, and what it does."""

    name: str
    least: int
    most: int
    keywords: tuple[str, ...]
    body: Callable[..., Any]

    def apply(self, run: Run, values: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value for these arguments, after the count and the keywords are checked."""
        if not self.least <= len(values) + len(named) <= self.most or any(name not in self.keywords for name in named):
            raise ProgramError(f"{self.name} takes {self.arity} arguments{self._allowed}.")
        if any(name in self.keywords[: max(0, len(values) - self.least)] for name in named):
            raise ProgramError(f"{self.name} got the same argument twice.")
        return self.body(run, *values, **named)

    @property
    def arity(self) -> str:
        """The number of arguments, for messages."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"

    @property
    def _allowed(self) -> str:
        return f" (by name: {', '.join(self.keywords)})" if self.keywords else ""

    def __repr__(self) -> str:
        return self.name


def _function(name: str, arity: int | tuple[int, int], body: Callable[..., Any], *keywords: str) -> Function:
    least, most = arity if isinstance(arity, tuple) else (arity, arity)
    return Function(name, least, most, keywords, body)


def _filter(run: Run, values: Any, predicate: Any) -> list[Any]:
    return [value for value in elements(values) if truth(run.call(predicate, value))]


def _unique(_run: Run, values: Any) -> Any:
    found = elements(values)
    if _distinct(found) != 1:
        raise ProgramError(f"unique needs exactly one element, but there are {_distinct(found)}.")
    return found[0]


def _attribute(name: str, code: enum.Enum) -> Callable[..., bool]:
    return lambda _run, item: getattr(_thing(item), name) is code


def _filtered(name: str, kind: type[enum.Enum]) -> Callable[..., list[Thing]]:
    def keep(_run: Run, values: Any, code: Any) -> list[Thing]:
        if not isinstance(code, kind):
            raise ProgramError(f"{shown(code)} is not a {name}.")
        return [thing for thing in _things_of(values) if getattr(thing, name) is code]

    return keep


def _things_of(value: Any) -> list[Thing]:
    """The items of a collection, where a bare item will not do."""
    return _things(elements(value))


def _level(bottom: int) -> Callable[..., bool]:
    return lambda _run, item: _thing(item).box.is_tower and item.bottom == bottom


def _extreme(pick: Callable[[Iterable[int]], int]) -> Callable[..., bool]:
    return lambda _run, item: _thing(item).top == pick(other.top for other in item.box.items)


def _wall(tolerance: int) -> Callable[..., bool]:
    def test(_run: Run, item: Any, side: Any = Side.ANY) -> bool:
        return _touches(_thing(item), _side(side), tolerance)

    return test


def _corner(tolerance: int) -> Callable[..., bool]:
    def test(_run: Run, item: Any, side: Any = Side.ANY) -> bool:
        return _cornered(_thing(item), [_side(side)], tolerance)

    return test


def _specific_corner(_run: Run, item: Any, first: Any, second: Any) -> bool:
    return _cornered(_thing(item), [_side(first), _side(second)], CLOSE)


def _side(value: Any) -> Side:
    if not isinstance(value, Side):
        raise ProgramError(f"{shown(value)} is not a Side.")
    return value


def _values(name: str) -> Callable[..., list[Any]]:
    return lambda _run, value: [getattr(thing, name) for thing in _things(value)]


def _value_set(name: str) -> Callable[..., frozenset[Any]]:
    return lambda _run, value: frozenset(getattr(thing, name) for thing in _things_of(value))


def _same(name: str) -> Callable[..., bool]:
    return lambda _run, value: len({getattr(thing, name) for thing in _things_of(value)}) == 1


def _same_attribute(run: Run, values: Any, function: Any) -> bool:
    return len({_hashable(run.call(function, value)) for value in elements(values)}) == 1


def _all(run: Run, values: Any, predicate: Any) -> bool:
    found = [run.call(predicate, value) is True for value in elements(values)]
    return bool(found) and all(found)


def _any(run: Run, values: Any, predicate: Any) -> bool:
    return any([run.call(predicate, value) is True for value in elements(values)])  # noqa: C419 - every value is evaluated


def _ints(sign: str) -> Callable[..., bool]:
    def test(_run: Run, a: Any, b: Any) -> bool:
        _need_ints(a, b)
        return _compared(sign, a, b)

    return test


def _equal(kind: type[enum.Enum] | None) -> Callable[..., bool]:
    """Lists equal as lists, sets as sets; of two different forms the elements are compared as sets."""

    def test(_run: Run, a: Any, b: Any) -> bool:
        if kind is not None:
            _need(kind, a)
            _need(kind, b)
        if _sort(a) == _sort(b):
            return bool(a == b)
        left, right = (set(_set(elements(v) if isinstance(v, list | tuple | frozenset) else [v])) for v in (a, b))
        _set([*left, *right])
        return left == right

    return test


def _need(kind: type[enum.Enum], value: Any) -> None:
    for part in [value] if isinstance(value, enum.Enum) else elements(value):
        if not isinstance(part, kind):
            raise ProgramError(f"{shown(part)} is not a {kind.__name__}.")


def _contained(_run: Run, a: Any, b: Any) -> bool:
    within = elements(b)
    return all(value in within for value in elements(a))


def _equal_set(run: Run, a: Any, b: Any) -> bool:
    return _contained(run, a, b) and _contained(run, b, a)


def _combine(operation: Callable[..., Any]) -> Callable[..., frozenset[Any]]:
    def combine(_run: Run, *values: Any) -> frozenset[Any]:
        sets = [_set(elements(value)) for value in values]
        _set([element for part in sets for element in part])
        return frozenset(operation(*sets))

    return combine


def _combinations(run: Run, values: Any, size: Any) -> list[tuple[Any, ...]]:
    _need_ints(size)
    found: list[tuple[Any, ...]] = []
    for chosen in itertools.combinations(elements(values), size):
        run.spend()
        found.append(chosen)
    return found


def _least(run: Run, values: Any, key: Any) -> Any:
    found = elements(values)
    sizes = [run.call(key, value) for value in found]
    _need_ints(*sizes)
    if not found:
        raise ProgramError("min of nothing does not exist.")
    return found[sizes.index(min(sizes))]


def _select(_run: Run, values: Any, place: Any) -> Any:
    found = elements(values)
    _need_ints(place)
    if not 0 <= place < len(found):
        raise ProgramError(f"there is no element {place} in a collection of {len(found)}.")
    return found[place]


def _both(_run: Run, a: Any, b: Any) -> bool:
    left, right = _bool(a), _bool(b)
    return left and right


def _either(_run: Run, a: Any, b: Any) -> bool:
    left, right = _bool(a), _bool(b)
    return left or right


FUNCTIONS: Mapping[str, Function] = {
    f.name: f
    for f in (
        _function("exist", 1, lambda _run, values: _distinct(elements(values)) > 0),
        _function("count", 1, lambda _run, values: _distinct(elements(values))),
        _function("unique", 1, _unique),
        _function("filter_obj", 2, _filter),
        _function("filter_color", 2, _filtered("color", Color)),
        _function("filter_shape", 2, _filtered("shape", Shape)),
        _function("filter_size", 2, _filtered("size", Size)),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("color", code)) for code in Color),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("shape", code)) for code in Shape),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("size", code)) for code in Size),
        _function("is_top", 1, _extreme(max)),
        _function("is_bottom", 1, _extreme(min)),
        _function("is_second", 1, _level(21)),
        _function("is_third", 1, _level(42)),
        _function("is_touching_wall", (1, 2), _wall(0), "side"),
        _function("is_closely_touching_wall", (1, 2), _wall(CLOSE), "side"),
        _function("is_close_to_wall", (1, 2), _wall(NEAR), "side"),
        _function("is_touching_corner", (1, 2), _corner(0), "side"),
        _function("is_closely_touching_corner", (1, 2), _corner(CLOSE), "side"),
        _function("is_close_to_corner", (1, 2), _corner(NEAR), "side"),
        _function("is_closely_touching_specific_corner", 3, _specific_corner),
        _function("is_closely_touching", 2, lambda _run, a, b: _facing(_thing(a), _thing(b))),
        _function("get_touching", 1, lambda run, value: _neighbours(run, value, lambda a, b: gap(a, b) <= CONTACT)),
        _function("get_closely_touching", 1, lambda run, value: _neighbours(run, value, lambda a, b: gap(a, b) <= CLOSE)),
        _function("get_above", 1, lambda run, value: _neighbours(run, value, _next_if_tower(_above))),
        _function("get_below", 1, lambda run, value: _neighbours(run, value, _next_if_tower(_below))),
        _function("get_box_all_above", 1, lambda run, value: _neighbours(run, value, _above)),
        _function("get_box_all_below", 1, lambda run, value: _neighbours(run, value, _below)),
        _function("get_img_all_above", 1, lambda run, value: _neighbours(run, value, _above, image=True)),
        _function("get_img_all_below", 1, lambda run, value: _neighbours(run, value, _below, image=True)),
        _function("get_box_inclusive", 1, lambda _run, item: list(_thing(item).box.items)),
        _function("get_box_exclusive", 1, lambda _run, item: [i for i in _thing(item).box.items if i is not item]),
        _function("get_img_exclusive", 1, lambda run, item: [i for i in run.world.items if i is not _thing(item)]),
        *(_function(f"query_{name}", 1, _values(name)) for name in ("color", "shape", "size")),
        *(_function(f"get_set_{name}s", 1, _value_set(name)) for name in ("color", "shape", "size")),
        _function("AND", 2, _both),
        _function("OR", 2, _either),
        _function("NOT", 1, lambda _run, value: not _bool(value)),
        _function("All", 2, _all),
        _function("Any", 2, _any),
        *(
            _function(name, 2, _ints(sign))
            for name, sign in (("le", "<="), ("ge", ">="), ("lt", "<"), ("gt", ">"), ("equal_int", "=="))
        ),
        _function("equal", 2, _equal(None)),
        _function("equal_color", 2, _equal(Color)),
        _function("equal_shape", 2, _equal(Shape)),
        _function("equal_size", 2, _equal(Size)),
        _function("member_of", 2, lambda _run, value, values: value in elements(values)),
        _function("contained", 2, _contained),
        _function("equal_set", 2, _equal_set),
        _function("union", 2, _combine(frozenset.union)),
        _function("intersect", 2, _combine(frozenset.intersection)),
        _function("union_all", (1, 16), _combine(frozenset.union)),
        _function("intersect_all", (1, 16), _combine(frozenset.intersection)),
        _function("select", 2, _select),
        _function("all_same", 1, lambda _run, values: len({_hashable(v) for v in elements(values)}) == 1),
        *(_function(f"all_same_{name}", 1, _same(name)) for name in ("color", "shape", "size")),
        _function("all_same_attribute", 2, _same_attribute),
        _function("combinations", 2, _combinations),
        _function("set", 1, lambda _run, values: _set(elements(values))),
        _function("len", 1, lambda _run, values: len(elements(values))),
        _function("all", 1, lambda _run, values: all([truth(v) for v in elements(values)])),  # noqa: C419 - every value is judged
        _function("min", 2, _least, "key"),
    )
}
"""The 73 functions of the annotation language and four of Python's (set, len, all, min), by name."""
