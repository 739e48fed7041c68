"""The inner loop of a `release` run: every related pair is unfolded into a chain of k pairs. A kernel module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.families.clutrr.release.runs import Book

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]

KERNEL = True
LEAN = True


def next_way(pair: int, book: Book, turn: Ints) -> int:
    """The place in `book` of the pair's expansion whose turn it is, or -1 if it has none; the next call gets the next one."""
    start, stop = book.start[pair], book.start[pair + 1]
    if start == stop:
        return -1
    at = start + turn[pair]
    turn[pair] = (turn[pair] + 1) % (stop - start)
    found: int = at
    return found


def is_first(path: Ints, i: int) -> bool:
    """Whether the pair at this place does not stand at an earlier place too."""
    is_new = True
    for j in range(i):
        is_new = is_new and path[j] != path[i]
    return is_new


def draw_place(path: Ints, n: int, rng: Rng) -> int:
    """The place of one of the different pairs of a path, evenly."""
    count = 0
    for i in range(n):
        if is_first(path, i):
            count += 1
    left = below(rng, count)
    i = 0
    while left > 0 or not is_first(path, i):
        if is_first(path, i):
            left -= 1
        i += 1
    return i


def unfold(target: int, k: int, mark: int, book: Book, turn: Ints, tried: Ints, path: Ints, steps: Ints, rng: Rng) -> int:
    """Chain from one pair towards k pairs, in `path`, with (pair, expansion) of each step in `steps`; how long it got.

    A random pair of the path is replaced by its next expansion. If it has none, or if that brings back a pair that was replaced
    before, either way round, the chain ends there: one failure is enough, and so about a tenth of the pairs reach k = 8. People
    may come up again, as in the released stories.
    """
    path[0] = target
    n = 1
    while n < k:
        at = draw_place(path, n, rng)
        pair = path[at]
        tried[pair] = mark
        way = next_way(pair, book, turn)
        if way < 0:
            return n
        a, b = book.first[way], book.second[way]
        if tried[a] == mark or tried[b] == mark or tried[book.back[a]] == mark or tried[book.back[b]] == mark:
            return n
        for j in range(n, at + 1, -1):
            path[j] = path[j - 1]
        path[at] = a
        path[at + 1] = b
        steps[n - 1, 0] = pair
        steps[n - 1, 1] = way
        n += 1
    return n


def unfold_all(
    k: int, mark: int, book: Book, turn: Ints, tried: Ints, paths: Ints, steps: Ints, lengths: Ints, rng: Rng
) -> None:
    """Every pair as a target once; `mark` is above all marks used before and grows by one per target."""
    for target in range(len(lengths)):
        lengths[target] = unfold(target, k, mark + target, book, turn, tried, paths[target], steps[target], rng)
