"""The meaning of programs, written plainly: a tree walker over Python values with a count of its steps.

This is what a program *means*; the fast form (`program_compiler`, `program_kernel`) must agree with it on every scene, and a check
says so (but for the steps: the kernel counts 200,000 instructions of its own, about a millisecond, so that a program which the
walker gives up as too long may still have a value there).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from recombine.errors import ProgramError, UnknownName, shown
from recombine.families.lilgym.program.functions import FUNCTIONS, Function
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.program.values import (
    ENUMS,
    MEMBERS,
    Box,
    Closure,
    Method,
    Thing,
    World,
    compared,
    is_int,
    make_set,
    need_ints,
    truth,
)  # fmt: skip
from recombine.families.lilgym.scene import Scene

FUEL = 100_000
"""Steps that one evaluation may take: one per node that is visited, one per element of a collection that a function is given, and
some per tuple of `combinations`.

The hungriest published program takes 5,700 steps in a dense scene, our own statements fewer than 900. Programs that use up
all their steps take 30 to 95 ms of a shared core (`benchmarks/check_lilgym_programs.py` prints the slowest).
"""


def evaluate(tree: Node, scene: Scene, fuel: int = FUEL) -> bool:
    """The value of a program on a scene; a `ProgramError` if it fails, runs out of steps, or its value is no bool."""
    return evaluate_world(tree, laid_out(scene), fuel)


@functools.lru_cache(maxsize=64)
def laid_out(scene: Scene) -> World:
    """The scene as programs see it. A verdict asks several programs about the same scene, one after the other."""
    return World.of(scene)


def evaluate_world(tree: Node, world: World, fuel: int = FUEL) -> bool:
    """The same for a scene that is laid out already; worlds do not change, so one serves many programs."""
    try:
        value = Run(world, fuel).value(tree, {})
    except RecursionError:
        raise ProgramError("the program is nested too deeply for the room that is left on the stack.") from None
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
        self.fuel -= 1  # `spend`, written out: this is the hottest line of the interpreter
        if self.fuel < 0:
            raise ProgramError("the program takes too many steps on this scene.")
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


_NONE: Mapping[str, Any] = {}
_COLLECTIONS = (list, tuple, frozenset, Box)


def _call(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    function, *values = [run.value(child, variables) for child in node.children]
    for value in values:
        if isinstance(value, _COLLECTIONS):
            run.spend(len(value.items if isinstance(value, Box) else value))
    if isinstance(function, Function):
        if not node.names:
            return function.apply(run, values, _NONE)
        plain = values[: len(values) - len(node.names)]
        return function.apply(run, plain, dict(zip(node.names, values[len(plain) :], strict=True)))
    if not isinstance(function, Method):
        raise ProgramError(f"{shown(function)} cannot be called.")
    if values:
        raise ProgramError(f"{function.name} takes no arguments.")
    return function.box.is_tower if function.name == "is_tower" else list(function.box.items)


def _index(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    values, place = (run.value(child, variables) for child in node.children)
    if not isinstance(values, list | tuple) or not is_int(place):
        raise ProgramError("a subscript takes a list and an integer.")
    if not 0 <= place < len(values):
        raise ProgramError(f"there is no element {place} in a list of {len(values)}.")
    return values[place]


def _slice(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    values = run.value(node.children[0], variables)
    low, high = (None if bound.kind == "bool" else run.value(bound, variables) for bound in node.children[1:])
    if not isinstance(values, list | tuple) or not all(bound is None or is_int(bound) for bound in (low, high)):
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
        if isinstance(right, _COLLECTIONS):
            run.spend(len(right.items if isinstance(right, Box) else right))
        if not compared(sign, left, right):
            return False
        left = right
    return True


def _add(run: Run, node: Node, variables: Mapping[str, Any]) -> Any:
    left, right = (run.value(child, variables) for child in node.children)
    if isinstance(left, list) and isinstance(right, list):
        run.spend(len(left) + len(right))
        return left + right
    need_ints(left, right)
    return left + right


def _mod(run: Run, node: Node, variables: Mapping[str, Any]) -> int:
    left, right = (run.value(child, variables) for child in node.children)
    need_ints(left, right)
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
    "set": lambda run, node, variables: make_set([run.value(child, variables) for child in node.children]),
}
