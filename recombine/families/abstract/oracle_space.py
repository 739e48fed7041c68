"""The oracle's own hypothesis space: every description as arrays, and what each of them means in a world.

This is a second implementation on purpose. It shares no code with the generator's kernels.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Item = tuple[int, str, str, int, int]
"""An object: size, colour, shape, row, column."""
World = frozenset[Item]

HUES = ("red", "blue", "green", "yellow")
FIGURES = ("circle", "cylinder", "square", "box")
BONDS = ("row", "column", "color", "shape", "size", "inside")
PHRASES: tuple[tuple[str, str, str], ...] = tuple(itertools.product(("", "small", "big"), ("", *HUES), ("", *FIGURES)))
"""(size word, colour word, shape word); an empty word says nothing."""
DEPTHS = ("simple", "one_clause", "two_clauses", "nested")
READINGS = tuple(itertools.product((False, True), (False, True)))
"""(size words are superlatives, two phrases may mean the same object)."""


def may_say(parent: tuple[str, str, str], bond: str, child: tuple[str, str, str]) -> bool:
    """The grammar of one clause."""
    size, color, shape = child
    is_named = bool(size or color)
    is_box_right = (shape == "box") == (bond == "inside")
    if bond == "shape":
        return is_named and is_box_right and parent[2] == "" and shape == "" and parent != child
    is_silent = not (bond == "size" and (parent[0] or size)) and not (bond == "color" and (parent[1] or color))
    return is_named and is_box_right and is_silent and shape not in ("", parent[2])


@functools.cache
def sayable() -> Flags:
    """[75, 6, 75]: parent, bond, child."""
    return np.array([[[may_say(a, bond, b) for b in PHRASES] for bond in BONDS] for a in PHRASES])


@functools.cache
def descriptions(depth: str) -> Ints:
    """[descriptions, 5]: first phrase, bond and phrase of the first clause, bond and phrase of the second (0 if unused)."""
    heads = [i for i, phrase in enumerate(PHRASES) if phrase[2] != "box"]
    if depth == "simple":
        return np.array([[head, 0, 0, 0, 0] for head in heads])
    single = np.concatenate([np.insert(np.argwhere(sayable()[head]), 0, head, axis=1) for head in heads])
    if depth == "one_clause":
        return np.concatenate([single, np.zeros((len(single), 2), dtype=np.int64)], axis=1)
    pieces = []
    if depth == "two_clauses":
        for head in heads:
            mine = single[single[:, 0] == head]
            a, b = np.triu_indices(len(mine), 1)
            keep = (mine[a, 1] != mine[b, 1]) & (mine[a, 2] != mine[b, 2])
            pieces.append(np.concatenate([mine[a[keep]], mine[b[keep], 1:]], axis=1))
    else:
        for child in np.unique(single[:, 2]):
            above, below = single[single[:, 2] == child], np.argwhere(sayable()[child])
            a, b = (side.ravel() for side in np.meshgrid(np.arange(len(above)), np.arange(len(below)), indexing="ij"))
            keep = above[a, 0] != below[b, 1]
            pieces.append(np.concatenate([above[a[keep]], below[b[keep]]], axis=1))
    return np.concatenate(pieces)


@functools.cache
def columns(depth: str) -> tuple[Ints, Ints, Ints]:
    """First phrase, first step and second step of every description, each as one column (a step is bond * 75 + phrase)."""
    head, bond, child, bond2, child2 = (np.ascontiguousarray(side) for side in descriptions(depth).T)
    return head, bond * len(PHRASES) + child, bond2 * len(PHRASES) + child2


@functools.cache
def _index(depth: str) -> tuple[Ints, Ints]:
    """(keys in order, number of the description with each key)."""
    head, first, second = columns(depth)
    keys = (head * 1000 + first) * 1000 + second
    order = np.argsort(keys)
    return keys[order], order


def find(depth: str, words: Sequence[int]) -> int:
    """The number of a description in its table; -1 if the grammar does not have it."""
    head, bond, child, bond2, child2 = words
    key = (head * 1000 + bond * len(PHRASES) + child) * 1000 + bond2 * len(PHRASES) + child2
    keys, order = _index(depth)
    at = int(np.searchsorted(keys, key))
    return int(order[at]) if at < len(keys) and keys[at] == key else -1


class View(NamedTuple):
    """A world under one reading of size words. Sets of objects are bits."""

    items: tuple[Item, ...]
    named: Ints  # [75]: the objects that a phrase fits
    linked: Ints  # [6, n]: the objects to which object i stands in a bond
    near: Ints  # [6, 75, n]: those of them that a phrase fits
    reach: Ints  # [6, 75]: the objects that stand in the bond to one that the phrase fits


def _bits(flags: Any) -> Ints:
    """The last axis of a truth table as bits."""
    table = np.asarray(flags)
    packed: Ints = (table * (1 << np.arange(table.shape[-1]))).sum(axis=-1).astype(np.int64)
    return packed


@functools.lru_cache(maxsize=64)
def view(items: tuple[Item, ...], is_superlative: bool) -> View:
    """Look at a world."""
    n = len(items)
    sizes, rows, columns = (np.array([item[k] for item in items]) for k in (0, 3, 4))
    hues = np.array([HUES.index(item[1]) for item in items])
    figures = np.array([FIGURES.index(item[2]) for item in items])
    is_hue = np.vstack([np.ones(n, dtype=bool), hues[None, :] == np.arange(4)[:, None]])
    is_figure = np.vstack([np.ones(n, dtype=bool), figures[None, :] == np.arange(4)[:, None]])
    group = (is_hue[:, None, :] & is_figure[None, :, :]).reshape(25, n)
    bigger = sizes[None, :] > sizes[:, None]  # [i, j]: j is bigger than i
    has_bigger = (group[:, None, :] & bigger[None]).any(axis=2)
    has_smaller = (group[:, None, :] & bigger.T[None]).any(axis=2)
    small, big = (~has_smaller, ~has_bigger) if is_superlative else (has_bigger, has_smaller)
    fits = np.concatenate([group, group & small, group & big])
    down, right = rows[:, None] - rows[None, :], columns[:, None] - columns[None, :]
    span = np.where(figures == 3, sizes, 0)[None, :]
    is_inside = (down >= 0) & (right >= 0) & (down < span) & (right < span)
    same = [value[:, None] == value[None, :] for value in (rows, columns, hues, figures, sizes)]
    bonds = np.stack([*same, is_inside]) & ~np.eye(n, dtype=bool)
    named, linked = _bits(fits), _bits(bonds)
    near: Ints = linked[:, None, :] & named[None, :, None]
    return View(items, named, linked, near, _bits(near > 0))


def candidates(seen: View, depth: str, wanted: int) -> Ints:
    """The numbers of the descriptions whose first phrase and clauses of it suit some object of the set `wanted`."""
    head, first, second = columns(depth)
    suited = (seen.named & wanted)[head]
    if depth != "simple":
        suited &= seen.reach.ravel()[first]
    if depth == "two_clauses":
        suited &= seen.reach.ravel()[second]
    return np.flatnonzero(suited)


def meanings(seen: View, depth: str, rows: Ints, can_share: bool) -> Ints:
    """The set of objects that each description (a row of five numbers) can mean."""
    head, bond, child, bond2, child2 = rows.T
    found: Ints = seen.named[head].copy()
    if depth == "simple":
        return found
    if depth == "one_clause":
        found &= seen.reach[bond, child]
        return found
    if depth == "two_clauses":
        found &= seen.reach[bond, child] & seen.reach[bond2, child2]
        if not can_share:
            for i in range(len(seen.items)):
                a, b = seen.near[bond, child, i], seen.near[bond2, child2, i]
                found &= ~(((a == b) & (a & (a - 1) == 0)).astype(np.int64) << i)
        return found
    for i in range(len(seen.items)):
        middle = seen.near[bond, child, i] & inner(seen, bond2, child2, i, can_share)
        found &= ~((middle == 0).astype(np.int64) << i)
    return found


def inner(seen: View, bond: Ints, child: Ints, head: int, can_share: bool) -> Ints:
    """The objects that stand in the bond to one that the phrase fits; not to object `head`, unless phrases may share objects."""
    if can_share:
        shared: Ints = seen.reach[bond, child]
        return shared
    without: Ints = _bits((seen.near & ~(1 << head)) != 0)[bond, child]
    return without


def pivots(seen: View, depth: str, rows: Ints, can_share: bool, head: int) -> Ints:
    """The set of objects that the second phrase can mean if the first means object `head`."""
    _, bond, child, bond2, child2 = rows.T
    found: Ints = seen.near[bond, child, head]
    return found & inner(seen, bond2, child2, head, can_share) if depth == "nested" else found
