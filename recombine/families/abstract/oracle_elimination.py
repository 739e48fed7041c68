"""Elimination: which hypotheses of the oracle's space fit the demonstrations, one by one, and what they say about the test."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recombine.families.abstract.oracle_outcomes import Act, deeds, outcome, product
from recombine.families.abstract.oracle_space import (
    DEPTHS,
    READINGS,
    Ints,
    Item,
    View,
    World,
    candidates,
    descriptions,
    meanings,
    pivots,
    view,
)

Pairs = dict[int, set[int]]
"""Object -> the pivots with which an operation gives the output shown; {-1} where no pivot is needed."""
SPACES = {"simple": DEPTHS[:2], "one_clause": DEPTHS[:2], "two_clauses": DEPTHS[:3], "nested": DEPTHS}
"""Pattern of a rule -> the patterns of its rivals."""


@dataclass(frozen=True)
class Group:
    """Hypotheses that are alike in pattern, reading and operation. `rows` are numbers in `descriptions(depth)`."""

    depth: str
    reading: tuple[bool, bool]
    deed: tuple[Act, ...]
    rows: Ints


@dataclass
class Elimination:
    """The hypotheses left after the demonstrations, and how many there were after each of them."""

    groups: list[Group] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)


def ordered(world: World) -> tuple[Item, ...]:
    """The objects in a fixed order, which numbers them."""
    return tuple(sorted(world))


def readings_of(depth: str) -> Sequence[tuple[bool, bool]]:
    """How descriptions of this pattern can be read; sharing makes no difference with one clause."""
    return [reading for reading in READINGS if depth in ("two_clauses", "nested") or not reading[1]]


def causes(before: World, after: World, side: int, deed: tuple[Act, ...]) -> Pairs:
    """Which objects, with which pivots, the operation turns into the output shown."""
    gone, come = before - after, after - before
    if len(gone) > 1 or len(come) > 1:
        return {}
    items = ordered(before)
    found: Pairs = {}
    for i, item in enumerate(items):
        if gone and item not in gone:
            continue
        if deed[0][0] != "copy":
            if shows(before, after, side, item, deed, None):
                found[i] = {-1}
            continue
        hits = {p for p, pivot in enumerate(items) if p != i and shows(before, after, side, item, deed, pivot)}
        if hits:
            found[i] = hits
    return found


def shows(before: World, after: World, side: int, item: Item, deed: tuple[Act, ...], pivot: Item | None) -> bool:
    """Whether the operation on this object gives the output shown. The new object is compared first, which is quick."""
    if deed[0][0] != "remove" and {product(item, deed, pivot)} != after - before:
        return False
    return outcome(before, side, item, deed, pivot) == after


def fitting(seen: View, depth: str, rows: Ints, can_share: bool, allowed: Pairs) -> Ints:
    """Those of the descriptions that mean exactly one object, one that is allowed, with an allowed pivot."""
    table = descriptions(depth)[rows]
    sets = meanings(seen, depth, table, can_share)
    keep = np.zeros(len(rows), dtype=bool)
    for i, partners in allowed.items():
        hits = np.flatnonzero(sets == 1 << i)
        if partners != {-1} and len(hits):
            met = pivots(seen, depth, table[hits], can_share, i)
            hits = hits[np.isin(met, [1 << p for p in partners])]
        keep[hits] = True
    return rows[keep]


def eliminate(demonstrations: Sequence[tuple[World, World]], side: int, depths: Sequence[str]) -> Elimination:
    """Every hypothesis of these patterns that fits all demonstrations."""
    found = Elimination()
    for number, (before, after) in enumerate(demonstrations):
        gone, come = before - after, after - before
        options = [
            deed
            for deed in (deeds() if number == 0 else dict.fromkeys(group.deed for group in found.groups))
            if (deed[0][0] == "add") != bool(gone) and (deed[0][0] == "remove") != bool(come)
        ]
        allowed = {deed: pairs for deed in options if (pairs := causes(before, after, side, deed))}
        items = ordered(before)
        if number == 0:
            found.groups = _begun(items, allowed, depths)
        left = []
        known: dict[tuple[Any, ...], Ints] = {}
        for group in found.groups:
            if group.deed not in allowed:
                continue
            # Operations that could be done to the same objects leave the same descriptions: each such set is worked out once.
            pairs = allowed[group.deed]
            same = (group.depth, group.reading, id(group.rows), *((i, frozenset(met)) for i, met in pairs.items()))
            if same not in known:
                known[same] = fitting(view(items, group.reading[0]), group.depth, group.rows, group.reading[1], pairs)
            if len(known[same]):
                left.append(Group(group.depth, group.reading, group.deed, known[same]))
        found.groups = left
        found.counts.append(sum(len(group.rows) for group in left))
    return found


def _begun(items: tuple[Item, ...], allowed: dict[tuple[Act, ...], Pairs], depths: Sequence[str]) -> list[Group]:
    """All hypotheses that the first demonstration does not refute at first sight: they could mean an object that changed."""
    wanted = sum(1 << i for i in {i for pairs in allowed.values() for i in pairs})
    near = {(depth, reading): candidates(view(items, reading), depth, wanted) for depth in depths for reading in (False, True)}
    return [
        Group(depth, reading, deed, near[depth, reading[0]])
        for depth, deed in itertools.product(depths, allowed)
        for reading in readings_of(depth)
        if deed[0][0] != "copy" or depth in ("one_clause", "nested")
    ]


def dissenters(found: Elimination, test: World, output: World, side: int) -> int:
    """How many hypotheses that are left do not give this test output."""
    count = 0
    for group in found.groups:
        allowed = causes(test, output, side, group.deed)
        seen = view(ordered(test), group.reading[0])
        count += len(group.rows) - len(fitting(seen, group.depth, group.rows, group.reading[1], allowed))
    return count


def outputs(found: Elimination, test: World, side: int) -> dict[World | None, int]:
    """What the hypotheses that are left say about the test: output -> how many; None for those that do not apply there."""
    items, answers = ordered(test), dict[World | None, int]()
    for group in found.groups:
        seen = view(items, group.reading[0])
        table = descriptions(group.depth)[group.rows]
        sets = meanings(seen, group.depth, table, group.reading[1])
        for word in np.unique(sets).tolist():
            members = np.flatnonzero(sets == word)
            if word == 0 or word & (word - 1):
                answers[None] = answers.get(None, 0) + len(members)
                continue
            i = word.bit_length() - 1
            if group.deed[0][0] != "copy":
                after = outcome(test, side, items[i], group.deed, None)
                answers[after] = answers.get(after, 0) + len(members)
                continue
            for met in pivots(seen, group.depth, table[members], group.reading[1], i).tolist():
                pivot = items[met.bit_length() - 1] if met and not met & (met - 1) else None
                after = outcome(test, side, items[i], group.deed, pivot)
                answers[after] = answers.get(after, 0) + 1
    return answers
