"""The inner loop of a `release` run: every related pair is unfolded into a chain of k pairs. A kernel module."""

from __future__ import annotations

from typing import Any

from recombine.draws import below

KERNEL = True
LEAN = True


def next_way(pair: int, book: Any, turn: Any) -> Any:
    """The place in `book` of the pair's expansion whose turn it is, or -1 if it has none; the next call gets the next one."""
    start, stop = book.start[pair], book.start[pair + 1]
    if start == stop:
        return -1
    at = start + turn[pair]
    turn[pair] = (turn[pair] + 1) % (stop - start)
    return at


def is_untried(path: Any, i: int, tried: Any, mark: int) -> Any:
    """Whether the pair at this place was not tried yet, and does not stand at an earlier place too."""
    is_new = tried[path[i]] != mark
    for j in range(i):
        is_new = is_new and path[j] != path[i]
    return is_new


def draw_untried(path: Any, n: int, tried: Any, mark: int, rng: Any) -> Any:
    """The place of one of the different pairs of a path that were not tried yet, evenly; -1 if all were."""
    count = 0
    for i in range(n):
        if is_untried(path, i, tried, mark):
            count += 1
    if count == 0:
        return -1
    left = below(rng, count)
    for i in range(n):
        if is_untried(path, i, tried, mark):
            if left == 0:
                return i
            left -= 1
    return -1


def unfold(target: int, k: int, mark: int, book: Any, turn: Any, tried: Any, path: Any, steps: Any, rng: Any) -> Any:
    """Chain from one pair towards k pairs, in `path`, with (pair, expansion) of each step in `steps`; how long it got.

    People may come up again, as in the released stories; pairs that were tried, either way round, may not. A chain of two takes
    the target's next expansion as it comes.
    """
    path[0] = target
    n = 1
    while n < k:
        at = 0 if k == 2 else draw_untried(path, n, tried, mark, rng)
        if at < 0:
            return n
        pair = path[at]
        tried[pair] = mark
        way = next_way(pair, book, turn)
        if way < 0:
            if k == 2:
                return n
            continue
        a, b = book.first[way], book.second[way]
        is_met = tried[a] == mark or tried[b] == mark or tried[book.back[a]] == mark or tried[book.back[b]] == mark
        if is_met and k > 2:
            continue
        for j in range(n, at + 1, -1):
            path[j] = path[j - 1]
        path[at] = a
        path[at + 1] = b
        steps[n - 1, 0] = pair
        steps[n - 1, 1] = way
        n += 1
    return n


def unfold_all(k: int, mark: int, book: Any, turn: Any, tried: Any, paths: Any, steps: Any, lengths: Any, rng: Any) -> None:
    """Every pair as a target once; `mark` is above all marks used before and grows by one per target."""
    for target in range(len(lengths)):
        lengths[target] = unfold(target, k, mark + target, book, turn, tried, paths[target], steps[target], rng)
