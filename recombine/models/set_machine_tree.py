"""A decision tree that first splits off what one test decides alone.

A test with a pure side (one class) is taken before any other, the largest such side first. So a test that decides by itself is not made to
depend on others, and it also decides where the others have values that training never had together. Without a pure side, the test
that saves most bits is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
PURE_SHARE = 0.01
"""A pure side must have at least this share of a node's rows."""
MOST_DEPTH = 40


class Lot(NamedTuple):
    """The rows that reach a node: distinct states, and how often each class goes with them."""

    states: Ints  # (states, features)
    counts: Ints  # (states, classes)


def _entropy(counts: Ints) -> NDArray[np.float64]:
    """Bits of each row of counts, times its sum."""
    whole = counts.sum(-1, keepdims=True)
    share = counts / np.maximum(whole, 1)
    bits: NDArray[np.float64] = -(counts * np.log2(np.where(share > 0, share, 1.0))).sum(-1)
    return bits


def _tests(lot: Lot, ordered: Collection[int]) -> Iterator[tuple[int, int, Ints, Ints]]:
    """Feature, value, and the counts of classes where the test holds and where it does not."""
    whole = lot.counts.sum(0)
    for feature in range(lot.states.shape[1]):
        values, place = np.unique(lot.states[:, feature], return_inverse=True)
        if len(values) < 2:
            continue
        each = np.zeros((len(values), len(whole)), np.int64)
        np.add.at(each, place.reshape(-1), lot.counts)
        held = np.cumsum(each, 0) if feature in ordered else each
        for k in range(len(values) - (feature in ordered)):
            yield feature, int(values[k]), held[k], whole - held[k]


def _best_test(lot: Lot, ordered: Collection[int]) -> tuple[int, int] | None:
    """A test with a pure side, the largest such side; without one, the test that saves most bits."""
    total = int(lot.counts.sum())
    pure: tuple[int, int, int] | None = None
    gain: tuple[float, int, int] | None = None
    for feature, value, yes, no in _tests(lot, ordered):
        for side in (yes, no):
            size = int(side.sum())
            if np.count_nonzero(side) == 1 and size >= PURE_SHARE * total and (pure is None or size > pure[0]):
                pure = size, feature, value
        bits = float(_entropy(yes) + _entropy(no))
        if gain is None or bits < gain[0] - 1e-9:
            gain = bits, feature, value
    if pure is not None:
        return pure[1:]
    return None if gain is None else gain[1:]


def holds(states: Ints, feature: int, value: int, ordered: Collection[int]) -> NDArray[np.bool_]:
    """Where a test holds."""
    return states[:, feature] <= value if feature in ordered else states[:, feature] == value


def grow(states: Ints, kinds: Ints, count: int, ordered: Collection[int]) -> Ints:
    """A decision tree as nodes (feature, value, node if the test holds, node if not); a leaf is (-1, class, 0, 0).

    `states`: features as small whole numbers. `kinds`: the class of each, below `count`. A test compares an `ordered` feature by size (at most
    the value), any other by equality.
    """
    distinct, place = np.unique(states, axis=0, return_inverse=True)
    counts = np.zeros((len(distinct), count), np.int64)
    np.add.at(counts, (place.reshape(-1), kinds), 1)
    nodes: list[list[int]] = [[-1, 0, 0, 0]]
    waiting = [(0, Lot(distinct, counts), 0)]
    while waiting:
        number, lot, depth = waiting.pop()
        whole = lot.counts.sum(0)
        test = _best_test(lot, ordered) if np.count_nonzero(whole) > 1 and depth < MOST_DEPTH else None
        if test is None:
            nodes[number] = [-1, int(whole.argmax()), 0, 0]
            continue
        here = holds(lot.states, *test, ordered)
        nodes[number] = [*test, len(nodes), len(nodes) + 1]
        for side in (here, ~here):
            waiting.append((len(nodes), Lot(lot.states[side], lot.counts[side]), depth + 1))
            nodes.append([-1, 0, 0, 0])
    return np.array(nodes, np.int64)


def decide(tree: Sequence[Sequence[int]], state: Sequence[int], ordered: Collection[int]) -> int:
    """The class that the tree gives a state."""
    at = 0
    while True:
        feature, value, yes, no = tree[at]
        if feature < 0:
            return value
        is_held = state[feature] <= value if feature in ordered else state[feature] == value
        at = yes if is_held else no
