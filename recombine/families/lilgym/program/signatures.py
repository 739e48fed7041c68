"""How each function of the program language is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from recombine.errors import ProgramError
from recombine.families.lilgym.program.functions import FUNCTIONS
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.program.types import (
    ATTRIBUTES,
    BOOL,
    INT,
    ITEM,
    METHOD,
    SIDE,
    SINGLE,
    Checker,
    Expr,
    Fault,
    Type,
    Variables,
    list_of,
    set_of,
)  # fmt: skip

Signature = Callable[[Checker, Node, tuple[Node, ...], Variables], Expr]


def _flag(name: str) -> Signature:
    """item -> bool."""
    return lambda c, _node, args, v: Expr("flag", BOOL, (c.need(args[0], v, ITEM, name),), name=name)


def _sided(name: str) -> Signature:
    """item, sides -> bool."""

    def typed(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        sides = tuple(c.need(arg, v, SIDE, name) for arg in args[1:])
        return Expr("sided", BOOL, (c.need(args[0], v, ITEM, name), *sides), name=name)

    return typed


def _relation(name: str) -> Signature:
    """item or items -> set of items."""
    return lambda c, _node, args, v: Expr("relation", set_of(ITEM), (c.items(args[0], v, single=True),), name=name)


def _mates(name: str) -> Signature:
    """item -> list of items."""
    return lambda c, _node, args, v: Expr("mates", list_of(ITEM), (c.need(args[0], v, ITEM, name),), name=name)


def _of_items(op: str, attribute: str, result: Callable[[Type], Type], single: bool) -> Signature:
    """items -> something about one of their attributes."""
    code, kind = ATTRIBUTES[attribute]

    def typed(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        return Expr(op, result(kind), (c.items(args[0], v, single),), value=code)

    return typed


def _filter_attribute(attribute: str) -> Signature:
    code, kind = ATTRIBUTES[attribute]

    def typed(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        items = c.items(args[0], v)
        wanted = c.need(args[1], v, kind, f"filter_{attribute}")
        return Expr("filter_attribute", list_of(ITEM, items.type.plain), (items, wanted), value=code)

    return typed


def _filter(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    return Expr("filter", list_of(kind, values.type.plain), (values, c.function(args[1], v, kind, truth=True)))


def _measure(op: str, result: Type) -> Signature:
    """any collection -> bool or int."""
    return lambda c, _node, args, v: Expr(op, result, (c.collection(args[0], v)[0],))


def _unique(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    if kind not in SINGLE:
        raise ProgramError(f"{c.source(node)}: unique takes items, boxes or simple values, not {values.type}.")
    return Expr("unique", kind, (values,))


def _logic(op: str) -> Signature:
    """bools -> bool, all of them evaluated."""
    return lambda c, _node, args, v: Expr(op, BOOL, tuple(c.need(arg, v, BOOL, op) for arg in args))


def _quantifier(op: str) -> Signature:
    def typed(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        values, kind = c.collection(args[0], v)
        function = c.function(args[1], v, kind, truth=False)
        if op == "same_attribute" and function.type not in (*SINGLE, BOOL):
            raise ProgramError(f"{c.source(node)}: the function gives {function.type}, not a simple value.")
        if op != "same_attribute" and function.type != BOOL:
            raise ProgramError(f"{c.source(node)}: the function gives {function.type}, but a bool is needed.")
        return Expr(op, BOOL, (values, function))

    return typed


def _ints(op: str) -> Signature:
    return lambda c, _node, args, v: Expr(op, BOOL, tuple(c.need(arg, v, INT, op) for arg in args))


def _equal(attribute: str = "") -> Signature:
    def typed(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        a, b = (c.of(arg, v) for arg in args)
        kinds = [part.type.of or part.type for part in (a, b)]
        if kinds[0] != kinds[1] or kinds[0] == METHOD or (attribute and kinds[0] != ATTRIBUTES[attribute][1]):
            raise ProgramError(f"{c.source(node)} compares {a.type} with {b.type}.")
        if a.type.kind == b.type.kind:
            return Expr("equal", BOOL, (a, b))
        if kinds[0] not in SINGLE:
            raise ProgramError(f"{c.source(node)} compares {a.type} with {b.type}.")
        return Expr("equal_set", BOOL, (_as_set(a), _as_set(b)))

    return typed


def _as_set(part: Expr) -> Expr:
    listed = part if part.type.of else Expr("display", list_of(part.type, plain=False), (part,))
    assert listed.type.of is not None
    return listed if listed.type.kind == "set" else Expr("set", set_of(listed.type.of), (listed,))


def _set_pair(op: str) -> Signature:
    """two collections of the same elements -> bool."""

    def typed(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        (a, left), (b, right) = (c.collection(arg, v) for arg in args)
        if left != right or left not in (*SINGLE, BOOL):
            raise ProgramError(f"{c.source(node)}: {a.type} and {b.type} do not have the same kind of elements.")
        return Expr(op, BOOL, (a, b))

    return typed


def _combine(op: str) -> Signature:
    """collections of the same elements -> set."""

    def typed(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
        parts = [c.collection(arg, v) for arg in args]
        kinds = {kind for _, kind in parts}
        if len(kinds) != 1 or not kinds <= set(SINGLE):
            raise ProgramError(f"{c.source(node)}: the sets do not have the same kind of elements.")
        return Expr(op, set_of(parts[0][1]), tuple(part for part, _ in parts))

    return typed


def _member(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    return c.comparison("in", c.of(args[0], v), c.of(args[1], v), node)


def _all_same(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    if kind not in (*SINGLE, BOOL):
        raise ProgramError(f"{c.source(node)}: all_same takes simple values, not {values.type}.")
    return Expr("all_same", BOOL, (values,))


def _combinations(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    if kind not in SINGLE:
        raise ProgramError(f"{c.source(node)}: combinations takes items or boxes, not {values.type}.")
    size = c.need(args[1], v, INT, "combinations")
    if size.op == "const" and size.value > 8:
        raise ProgramError(f"{c.source(node)}: combinations of more than 8 are too many.")
    return Expr("combinations", list_of(Type("tuple", kind, values.type.plain)), (values, size))


def _set_function(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    if kind not in SINGLE:
        raise ProgramError(f"{c.source(node)}: a set holds items, boxes or simple values, not {kind}.")
    return Expr("set", set_of(kind), (values,))


def _min(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    function = c.function(args[1], v, kind, truth=False)
    if function.type != INT:
        raise ProgramError(f"{c.source(node)}: the key gives {function.type}, but an int is needed.")
    return Expr("min", kind, (values, function))


def _select(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    return Expr("select", kind, (values, c.need(args[1], v, INT, "select")))


def _all_true(c: Checker, node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    values, kind = c.collection(args[0], v)
    if kind == ITEM:
        c.faults.append(Fault("not_a_bool", f"{c.source(node)}: items are always true, so this is always true."))
    elif kind not in (BOOL, INT):
        raise ProgramError(f"{c.source(node)}: all takes truth values, not {values.type}.")
    return Expr("all_true", BOOL, (values,))


def _facing(c: Checker, _node: Node, args: tuple[Node, ...], v: Variables) -> Expr:
    return Expr("facing", BOOL, tuple(c.need(arg, v, ITEM, "is_closely_touching") for arg in args))


_FLAGS = [
    "is_yellow",
    "is_black",
    "is_blue",
    "is_circle",
    "is_square",
    "is_triangle",
    "is_small",
    "is_medium",
    "is_big",
    "is_top",
    "is_bottom",
    "is_second",
    "is_third",
]
_SIDED = [f"is_{near}_{place}" for near in ("touching", "closely_touching", "close_to") for place in ("wall", "corner")]
_RELATIONS = [
    "get_touching",
    "get_closely_touching",
    "get_above",
    "get_below",
    "get_box_all_above",
    "get_box_all_below",
    "get_img_all_above",
    "get_img_all_below",
]

SIGNATURES: Mapping[str, Signature] = {
    **{name: _flag(name) for name in _FLAGS},
    **{name: _sided(name) for name in (*_SIDED, "is_closely_touching_specific_corner")},
    **{name: _relation(name) for name in _RELATIONS},
    **{name: _mates(name) for name in ("get_box_inclusive", "get_box_exclusive", "get_img_exclusive")},
    **{f"query_{a}": _of_items("query", a, lambda kind: list_of(kind, plain=False), True) for a in ATTRIBUTES},
    **{f"get_set_{a}s": _of_items("attribute_set", a, set_of, False) for a in ATTRIBUTES},
    **{f"all_same_{a}": _of_items("same", a, lambda _kind: BOOL, False) for a in ATTRIBUTES},
    **{f"filter_{a}": _filter_attribute(a) for a in ATTRIBUTES},
    **{f"equal_{a}": _equal(a) for a in ATTRIBUTES},
    **{name: _ints(name) for name in ("le", "ge", "lt", "gt")},
    "equal_int": lambda c, node, args, v: replace(_ints("equal")(c, node, args, v), op="equal"),
    "equal": _equal(),
    "filter_obj": _filter,
    "exist": _measure("exist", BOOL),
    "count": _measure("count", INT),
    "len": _measure("len", INT),
    "unique": _unique,
    "AND": _logic("both"),
    "OR": _logic("either"),
    "NOT": _logic("not"),
    "All": _quantifier("for_all"),
    "Any": _quantifier("for_any"),
    "all_same_attribute": _quantifier("same_attribute"),
    "member_of": _member,
    "contained": _set_pair("contained"),
    "equal_set": _set_pair("equal_set"),
    "union": _combine("union"),
    "intersect": _combine("intersect"),
    "union_all": _combine("union"),
    "intersect_all": _combine("intersect"),
    "select": _select,
    "all_same": _all_same,
    "combinations": _combinations,
    "set": _set_function,
    "all": _all_true,
    "min": _min,
    "is_closely_touching": _facing,
}
"""How each function of the language is typed."""
assert set(SIGNATURES) == set(FUNCTIONS)
