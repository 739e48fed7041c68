"""The functions of the program language, by name: the 73 of the annotations, and Python's set, len, all and min.

Twelve of the 73 are broken or unused in the original and are defined here as their names say: `is_close_to_wall` and
`is_close_to_corner` (within 10 pixels), `is_closely_touching_specific_corner` (that corner, within 4 pixels), `get_img_all_above` and
`get_img_all_below` (over the whole image), `get_box_inclusive`, `get_box_exclusive` and `get_img_exclusive` (mates with or without
the item), `get_set_sizes`, `union_all` and `intersect_all` (of all their arguments), `select` (the element at a place, from 0).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recombine.errors import ProgramError, shown
from recombine.families.lilgym.program.values import (
    CLOSE,
    CONTACT,
    NEAR,
    Color,
    Shape,
    Side,
    Size,
    Thing,
    World,
    compared,
    distinct,
    elements,
    gap,
    is_cornered,
    is_facing,
    make_set,
    need_bool,
    need_ints,
    need_single,
    need_thing,
    sort_of,
    things,
    touches,
    truth,
)  # fmt: skip


class Running(Protocol):
    """An evaluation under way, as functions need it: the world, the count of steps, and calls of lambdas."""

    world: World

    def spend(self, steps: int = 1) -> None:
        """Count steps."""

    def call(self, function: Any, *values: Any) -> Any:
        """The value of a lambda or of a function passed by name."""


def _neighbours(run: Running, value: Any, test: Callable[[Thing, Thing], bool], image: bool = False) -> frozenset[Thing]:
    """Every other item (of the same box, or of the image) that stands in the relation to one of the given items."""
    found = []
    for item in things(value):
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

    def apply(self, run: Running, values: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value for these arguments, after the count and the keywords are checked."""
        if not named and self.least <= len(values) <= self.most:
            return self.body(run, *values)
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


def _filter(run: Running, values: Any, predicate: Any) -> list[Any]:
    return [value for value in elements(values) if truth(run.call(predicate, value))]


def _unique(_run: Running, values: Any) -> Any:
    found = elements(values)
    if distinct(found) != 1:
        raise ProgramError(f"unique needs exactly one element, but there are {distinct(found)}.")
    return found[0]


def _attribute(name: str, code: enum.Enum) -> Callable[..., bool]:
    return lambda _run, item: getattr(need_thing(item), name) is code


def _filtered(name: str, kind: type[enum.Enum]) -> Callable[..., list[Thing]]:
    def keep(_run: Running, values: Any, code: Any) -> list[Thing]:
        if not isinstance(code, kind):
            raise ProgramError(f"{shown(code)} is not a {name}.")
        return [thing for thing in _things_of(values) if getattr(thing, name) is code]

    return keep


def _things_of(value: Any) -> list[Thing]:
    """The items of a collection, where a bare item will not do."""
    return things(elements(value))


def _level(bottom: int) -> Callable[..., bool]:
    return lambda _run, item: need_thing(item).box.is_tower and item.bottom == bottom


def _extreme(highest: bool) -> Callable[..., bool]:
    return lambda _run, item: need_thing(item).top == item.box.tops[highest]


def _wall(tolerance: int) -> Callable[..., bool]:
    def test(_run: Running, item: Any, side: Any = Side.ANY) -> bool:
        return touches(need_thing(item), _side(side), tolerance)

    return test


def _corner(tolerance: int) -> Callable[..., bool]:
    def test(_run: Running, item: Any, side: Any = Side.ANY) -> bool:
        return is_cornered(need_thing(item), [_side(side)], tolerance)

    return test


def _specific_corner(_run: Running, item: Any, first: Any, second: Any) -> bool:
    return is_cornered(need_thing(item), [_side(first), _side(second)], CLOSE)


def _side(value: Any) -> Side:
    if not isinstance(value, Side):
        raise ProgramError(f"{shown(value)} is not a Side.")
    return value


def _values(name: str) -> Callable[..., list[Any]]:
    return lambda _run, value: [getattr(thing, name) for thing in things(value)]


def _value_set(name: str) -> Callable[..., frozenset[Any]]:
    return lambda _run, value: frozenset(getattr(thing, name) for thing in _things_of(value))


def _same(name: str) -> Callable[..., bool]:
    return lambda _run, value: len({getattr(thing, name) for thing in _things_of(value)}) == 1


def _same_attribute(run: Running, values: Any, function: Any) -> bool:
    return len({need_single(run.call(function, value)) for value in elements(values)}) == 1


def _all(run: Running, values: Any, predicate: Any) -> bool:
    found = [run.call(predicate, value) is True for value in elements(values)]
    return bool(found) and all(found)


def _any(run: Running, values: Any, predicate: Any) -> bool:
    return any([run.call(predicate, value) is True for value in elements(values)])  # noqa: C419 - every value is evaluated


def _ints(sign: str) -> Callable[..., bool]:
    def test(_run: Running, a: Any, b: Any) -> bool:
        need_ints(a, b)
        return compared(sign, a, b)

    return test


def _equal(kind: type[enum.Enum] | None) -> Callable[..., bool]:
    """Lists equal as lists, sets as sets; of two different forms the elements are compared as sets."""

    def test(_run: Running, a: Any, b: Any) -> bool:
        if kind is not None:
            _need(kind, a)
            _need(kind, b)
        if sort_of(a) == sort_of(b):
            return bool(a == b)
        left, right = (set(make_set(elements(v) if isinstance(v, list | tuple | frozenset) else [v])) for v in (a, b))
        make_set([*left, *right])
        return left == right

    return test


def _need(kind: type[enum.Enum], value: Any) -> None:
    for part in [value] if isinstance(value, enum.Enum) else elements(value):
        if not isinstance(part, kind):
            raise ProgramError(f"{shown(part)} is not a {kind.__name__}.")


def _contained(run: Running, a: Any, b: Any) -> bool:
    within, asked = elements(b), elements(a)
    run.spend(len(within) * len(asked))
    return all(value in within for value in asked)


def _equal_set(run: Running, a: Any, b: Any) -> bool:
    return _contained(run, a, b) and _contained(run, b, a)


def _combine(operation: Callable[..., Any]) -> Callable[..., frozenset[Any]]:
    def combine(_run: Running, *values: Any) -> frozenset[Any]:
        sets = [make_set(elements(value)) for value in values]
        make_set([element for part in sets for element in part])
        return frozenset(operation(*sets))

    return combine


def _combinations(run: Running, values: Any, size: Any) -> list[tuple[Any, ...]]:
    need_ints(size)
    found: list[tuple[Any, ...]] = []
    for chosen in itertools.combinations(elements(values), size):
        run.spend(1 + 2 * size)  # a hundred thousand tuples would keep the garbage collector busy for a third of a second
        found.append(chosen)
    return found


def _least(run: Running, values: Any, key: Any) -> Any:
    found = elements(values)
    sizes = [run.call(key, value) for value in found]
    need_ints(*sizes)
    if not found:
        raise ProgramError("min of nothing does not exist.")
    return found[sizes.index(min(sizes))]


def _others(run: Running, item: Any) -> list[Thing]:
    need_thing(item)
    return [other for other in run.world.items if other is not item]


def _select(_run: Running, values: Any, place: Any) -> Any:
    found = elements(values)
    need_ints(place)
    if not 0 <= place < len(found):
        raise ProgramError(f"there is no element {place} in a collection of {len(found)}.")
    return found[place]


def _both(_run: Running, a: Any, b: Any) -> bool:
    left, right = need_bool(a), need_bool(b)
    return left and right


def _either(_run: Running, a: Any, b: Any) -> bool:
    left, right = need_bool(a), need_bool(b)
    return left or right


FUNCTIONS: Mapping[str, Function] = {
    f.name: f
    for f in (
        _function("exist", 1, lambda _run, values: distinct(elements(values)) > 0),
        _function("count", 1, lambda _run, values: distinct(elements(values))),
        _function("unique", 1, _unique),
        _function("filter_obj", 2, _filter),
        _function("filter_color", 2, _filtered("color", Color)),
        _function("filter_shape", 2, _filtered("shape", Shape)),
        _function("filter_size", 2, _filtered("size", Size)),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("color", code)) for code in Color),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("shape", code)) for code in Shape),
        *(_function(f"is_{code.name.lower()}", 1, _attribute("size", code)) for code in Size),
        _function("is_top", 1, _extreme(True)),
        _function("is_bottom", 1, _extreme(False)),
        _function("is_second", 1, _level(21)),
        _function("is_third", 1, _level(42)),
        _function("is_touching_wall", (1, 2), _wall(0), "side"),
        _function("is_closely_touching_wall", (1, 2), _wall(CLOSE), "side"),
        _function("is_close_to_wall", (1, 2), _wall(NEAR), "side"),
        _function("is_touching_corner", (1, 2), _corner(0), "side"),
        _function("is_closely_touching_corner", (1, 2), _corner(CLOSE), "side"),
        _function("is_close_to_corner", (1, 2), _corner(NEAR), "side"),
        _function("is_closely_touching_specific_corner", 3, _specific_corner),
        _function("is_closely_touching", 2, lambda _run, a, b: is_facing(need_thing(a), need_thing(b))),
        _function("get_touching", 1, lambda run, value: _neighbours(run, value, lambda a, b: gap(a, b) <= CONTACT)),
        _function("get_closely_touching", 1, lambda run, value: _neighbours(run, value, lambda a, b: gap(a, b) <= CLOSE)),
        _function("get_above", 1, lambda run, value: _neighbours(run, value, _next_if_tower(_above))),
        _function("get_below", 1, lambda run, value: _neighbours(run, value, _next_if_tower(_below))),
        _function("get_box_all_above", 1, lambda run, value: _neighbours(run, value, _above)),
        _function("get_box_all_below", 1, lambda run, value: _neighbours(run, value, _below)),
        _function("get_img_all_above", 1, lambda run, value: _neighbours(run, value, _above, image=True)),
        _function("get_img_all_below", 1, lambda run, value: _neighbours(run, value, _below, image=True)),
        _function("get_box_inclusive", 1, lambda _run, item: list(need_thing(item).box.items)),
        _function("get_box_exclusive", 1, lambda _run, item: [i for i in need_thing(item).box.items if i is not item]),
        _function("get_img_exclusive", 1, _others),
        *(_function(f"query_{name}", 1, _values(name)) for name in ("color", "shape", "size")),
        *(_function(f"get_set_{name}s", 1, _value_set(name)) for name in ("color", "shape", "size")),
        _function("AND", 2, _both),
        _function("OR", 2, _either),
        _function("NOT", 1, lambda _run, value: not need_bool(value)),
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
        _function("all_same", 1, lambda _run, values: len({need_single(v) for v in elements(values)}) == 1),
        *(_function(f"all_same_{name}", 1, _same(name)) for name in ("color", "shape", "size")),
        _function("all_same_attribute", 2, _same_attribute),
        _function("combinations", 2, _combinations),
        _function("set", 1, lambda _run, values: make_set(elements(values))),
        _function("len", 1, lambda _run, values: len(elements(values))),
        _function("all", 1, lambda _run, values: all([truth(v) for v in elements(values)])),  # noqa: C419 - every value is judged
        _function("min", 2, _least, "key"),
    )
}
"""The 73 functions of the annotation language and four of Python's (set, len, all, min), by name."""
