"""What a predicate is: a tree of comparisons, its canonical text, and its claim as an English sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from recombine.facets import Value

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in"]
Mode = Literal["one", "any", "all"]
"""How a facet is read. `one`: its only value. `any`: at least one value. `all`: every value, and there is at least one."""
KEYWORDS = frozenset({"and", "or", "not", "in", "any", "all", "true", "false"})
BARE_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Atom:
    """One comparison. `place` is the number (from 1) of the value that is read, 0 if none is chosen.

    A comparison with a value that the example does not have is false, whatever the operator.
    """

    facet: str
    operator: Operator
    values: tuple[Value, ...]
    mode: Mode = "one"
    place: int = 0


@dataclass(frozen=True, slots=True)
class Not:
    """The inner predicate does not hold."""

    inner: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All of them hold; at least two."""

    items: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them holds; at least two."""

    items: tuple[Predicate, ...]


Predicate = Atom | Not | And | Or


def atoms(predicate: Predicate) -> Iterator[Atom]:
    """The comparisons, from left to right."""
    if isinstance(predicate, Atom):
        yield predicate
    elif isinstance(predicate, Not):
        yield from atoms(predicate.inner)
    else:
        for item in predicate.items:
            yield from atoms(item)


# --- text ------------------------------------------------------------------------------------------------------------


def format_value(value: Value) -> str:
    """A value as the language writes it: bare where that is unambiguous, quoted otherwise."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if BARE_WORD.fullmatch(value) and value not in KEYWORDS else f"'{value}'"


def format_predicate(predicate: Predicate) -> str:
    """The canonical text; `parse` reads it back to an equal predicate."""
    if isinstance(predicate, Atom):
        name = predicate.facet
        if predicate.mode != "one":
            name = f"{predicate.mode}({name})"
        elif predicate.place:
            name = f"{name}[{predicate.place}]"
        if predicate.operator == "in":
            return f"{name} in ({', '.join(map(format_value, predicate.values))})"
        return f"{name} {predicate.operator} {format_value(predicate.values[0])}"
    if isinstance(predicate, Not):
        inner = format_predicate(predicate.inner)
        return f"not {inner}" if isinstance(predicate.inner, Not) else f"not ({inner})"
    word = " and " if isinstance(predicate, And) else " or "
    return word.join(
        f"({format_predicate(item)})" if isinstance(item, And | Or) else format_predicate(item) for item in predicate.items
    )


# --- English ---------------------------------------------------------------------------------------------------------

_SAID = {"=": "is", "!=": "is not", "<": "is less than", "<=": "is at most", ">": "is more than", ">=": "is at least"}


def sentence(predicate: Predicate) -> str:
    """The claim of the split that holds the predicate out."""
    return f"In training there is no example in which {_clause(predicate)}. In the test every example is one."


def _clause(predicate: Predicate) -> str:
    if isinstance(predicate, Atom):
        return _comparison(predicate)
    if isinstance(predicate, Not):
        return f"it is not the case that {_grouped(predicate.inner)}"
    word = " and " if isinstance(predicate, And) else " or "
    return word.join(_grouped(item) for item in predicate.items)


def _grouped(predicate: Predicate) -> str:
    text = _clause(predicate)
    return f"({text})" if isinstance(predicate, And | Or) else text


def _comparison(atom: Atom) -> str:
    name = atom.facet.replace(".", " ").replace("_", " ")
    subject = {"one": f"the {name}", "any": f"some {name}", "all": f"every {name}"}[atom.mode]
    if atom.place:
        subject = f"{name} number {atom.place}"
    shown = [format_value(value) for value in atom.values]
    if atom.operator == "in":
        return f"{subject} is {' or '.join(shown)}"
    return f"{subject} {_SAID[atom.operator]} {shown[0]}"


# --- what follows ----------------------------------------------------------------------------------------------------


def weakened(predicate: Predicate, known: Callable[[Atom], bool]) -> Predicate | None:
    """A predicate over known comparisons only that holds wherever the given one does; None where nothing is known.

    It is the given predicate itself if every comparison is known.
    """
    return _weakened(predicate, known, True)


def _weakened(predicate: Predicate, known: Callable[[Atom], bool], is_positive: bool) -> Predicate | None:
    if isinstance(predicate, Atom):
        return predicate if known(predicate) else None
    if isinstance(predicate, Not):
        inner = _weakened(predicate.inner, known, not is_positive)
        return None if inner is None else Not(inner)
    found = [_weakened(item, known, is_positive) for item in predicate.items]
    kept = tuple(item for item in found if item is not None)
    can_drop = isinstance(predicate, And) == is_positive  # an unknown conjunct may be left out; an unknown alternative may not
    if not kept or (len(kept) < len(found) and not can_drop):
        return None
    return kept[0] if len(kept) == 1 else type(predicate)(kept)
