"""Careless readings of statements. Each careless reader has a program of its own, made from the right one.

`explain` computes the answer of each reader. `score` names the reader whose answer was given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace

from recombine.errors import ProgramError
from recombine.families.lilgym.program import Program
from recombine.families.lilgym.program.syntax import Node
from recombine.families.lilgym.program.types import check

Change = Callable[[Node], Node]

_COLORS = ("is_yellow", "is_black", "is_blue")
_SHAPES = ("is_circle", "is_square", "is_triangle")
_PLACES = (
    "is_top", "is_bottom", "is_second", "is_third", "is_touching_wall", "is_closely_touching_wall", "is_touching_corner",
    "is_closely_touching_corner",
)  # fmt: skip
_RELATIONS = {
    "get_above": "get_below", "get_below": "get_above", "get_box_all_above": "get_box_all_below",
    "get_box_all_below": "get_box_all_above",
}  # fmt: skip


def _called(node: Node) -> str:
    return node.children[0].name if node.kind == "call" and node.children[0].kind == "name" else ""


def _true(node: Node) -> Node:
    return Node("bool", node.start, node.stop, value=1)


def _renamed(node: Node, name: str) -> Node:
    return replace(node, children=(replace(node.children[0], name=name), *node.children[1:]))


def _blind(tests: tuple[str, ...], filtering: str) -> Change:
    """Drops the tests, and the filter of the same attribute."""

    def change(node: Node) -> Node:
        if _called(node) in tests:
            return _true(node)
        return node.children[1] if filtering and _called(node) == filtering else node

    return change


def _signs(old: str, new: str, name: str = "", new_name: str = "") -> Change:
    """Reads one comparison with a number as another."""

    def change(node: Node) -> Node:
        if node.kind == "compare" and old in node.names and any(child.kind == "int" for child in node.children):
            return replace(node, names=tuple(new if sign == old else sign for sign in node.names))
        return _renamed(node, new_name) if name and _called(node) == name else node

    return change


def _positive(node: Node) -> Node:
    if node.kind == "not":
        return node.children[0]
    return node.children[1] if _called(node) == "NOT" else node


def _upside_down(node: Node) -> Node:
    other = _RELATIONS.get(_called(node)) or {"is_top": "is_bottom", "is_bottom": "is_top"}.get(_called(node))
    return _renamed(node, other) if other else node


def _near_for_touching(node: Node) -> Node:
    return _renamed(node, "get_box_exclusive") if _called(node) == "get_touching" else node


def _some_for_every(node: Node) -> Node:
    return _renamed(node, "Any") if _called(node) == "All" else node


def _and_for_or(node: Node) -> Node:
    if node.kind == "or":
        return replace(node, kind="and")
    return _renamed(node, "AND") if _called(node) == "OR" else node


READERS: Mapping[str, tuple[str, Change]] = {
    "ignores_negation": ("does not hear “no” and “not”", _positive),
    "reads_at_least_as_exactly": ("takes “at least” for “exactly”", _signs(">=", "==", "ge", "equal_int")),
    "reads_exactly_as_at_least": ("takes “exactly” for “at least”", _signs("==", ">=", "equal_int", "ge")),
    "ignores_color": ("does not look at colours", _blind(_COLORS, "filter_color")),
    "ignores_shape": ("does not look at shapes", _blind(_SHAPES, "filter_shape")),
    "ignores_place": ("does not ask where in the box a thing is", _blind(_PLACES, "")),
    "swaps_above_and_below": ("confuses above and below, top and bottom", _upside_down),
    "reads_touching_as_same_box": ("takes “touches” for “is in the same box as”", _near_for_touching),
    "reads_every_as_some": ("takes “every” for “some”", _some_for_every),
    "reads_or_as_and": ("takes “or” for “and”", _and_for_or),
    "drops_last_condition": ("forgets the last of several conditions", lambda node: node),
}
"""Reader -> what it does wrong, and how it changes a node of the program."""


TRIGGERS: Mapping[str, frozenset[str]] = {
    "ignores_negation": frozenset({"not", "NOT"}),
    "reads_at_least_as_exactly": frozenset({">=", "ge"}),
    "reads_exactly_as_at_least": frozenset({"==", "equal_int"}),
    "ignores_color": frozenset({*_COLORS, "filter_color"}),
    "ignores_shape": frozenset({*_SHAPES, "filter_shape"}),
    "ignores_place": frozenset(_PLACES),
    "swaps_above_and_below": frozenset({*_RELATIONS, "is_top", "is_bottom"}),
    "reads_touching_as_same_box": frozenset({"get_touching"}),
    "reads_every_as_some": frozenset({"All"}),
    "reads_or_as_and": frozenset({"or", "OR"}),
    "drops_last_condition": frozenset({"and"}),
}
"""Reader -> the words, signs and kinds of nodes of which a program has one if the reader changes it."""


def _marks(node: Node, found: set[str]) -> set[str]:
    """The names, signs and kinds in a program."""
    found.add(node.kind)
    found.add(node.name)
    found.update(node.names)
    for child in node.children:
        _marks(child, found)
    return found


def _changed(node: Node, change: Change) -> Node:
    """The tree with every node changed; the same object if none was."""
    if not node.children:
        return change(node)
    children = [_changed(child, change) for child in node.children]
    for new, old in zip(children, node.children, strict=True):
        if new is not old:
            return change(replace(node, children=tuple(children)))
    return change(node)


def _shortened(node: Node) -> Node:
    """Without the last part of the outermost `and` that has several, looking into the first arguments."""
    if node.kind == "and":
        parts = node.children[:-1]
        return parts[0] if len(parts) == 1 else replace(node, children=parts)
    children = list(node.children)
    for k, child in enumerate(children):
        shorter = _shortened(child)
        if shorter is not child:
            children[k] = shorter
            return replace(node, children=tuple(children))
    return node


@functools.lru_cache(maxsize=4096)
def readings(compiled: Program) -> tuple[tuple[str, Program], ...]:
    """Each reader's program, where it differs from the right one and is a program at all."""
    found, marks = [], _marks(compiled.tree, set())
    for name, (_, change) in READERS.items():
        if marks.isdisjoint(TRIGGERS[name]):
            continue
        tree = _shortened(compiled.tree) if name == "drops_last_condition" else _changed(compiled.tree, change)
        if tree is compiled.tree:
            continue
        try:
            typed, faults = check(tree, compiled.text)
        except ProgramError:
            continue
        found.append((name, Program(f"{compiled.text}  # {name}", tree, typed, faults)))
    return tuple(found)
