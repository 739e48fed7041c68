"""Backward chaining as a grammar: a relation is stated, or expands by a rule into two; k stated relations prove one.

A *cell* is (target, gender of x, first stated word, last stated word). Targets are drawn evenly; `weights` spreads each
target over its cells so that a reader of the last word, or of the first and the last, gains as little as the rules allow.
All tables are whole numbers, so that every machine draws the same.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.families.clutrr.kinship import GENDER, RELATIONS
from recombine.families.clutrr.rules import compose_table, fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MAX_K = 20
_RETURNING: dict[int, tuple[tuple[int, int, int], ...]] = {
    0: ((0, 0, 2), (0, 2, 2), (1, 2, 1), (1, 2, 2), (2, 1, 2), (2, 2, 0), (2, 2, 2), (2, 2, 8), (2, 9, 2), (4, 4, 2), (5, 2, 5),
        (6, 6, 2), (7, 2, 7), (8, 8, 2), (9, 2, 9)),
    3: ((0, 2, 0), (1, 1, 2), (8, 2, 8), (9, 9, 2)),
    4: ((0, 1, 0), (0, 9, 0), (1, 1, 0), (1, 1, 8), (2, 9, 8), (8, 1, 8), (8, 9, 8), (9, 9, 0), (9, 9, 8)),
}  # fmt: skip
"""Neutral (target, first, last) that the grammar, which does not count heads, allows but no path of distinct people has: under 0
at every k >= 3 (a spouse's spouse would come back to the start), under 3 and 4 at that k besides. They are left out of `weights`."""
_ROUNDS = 1200
_TOTAL = 1 << 30


class Grammar(NamedTuple):
    """The rules by head, and bit masks of the lengths n for which a relation can be proved by n stated words."""

    rule_start: Array  # [2 * 22 + 1], by gender of x and head
    rule_first: Array
    rule_second: Array
    free: Array  # [2, 22]: bit n
    first: Array  # [2, 22, 22]: bit n, with this first word
    last: Array  # [2, 22, 22]: bit n, with this last word
    both: Array  # [2, 22, 22, 22]: bit n, with this first and this last word


@cache
def grammar() -> Grammar:
    """The grammar of all proofs with up to `MAX_K` stated words."""
    compose = compose_table()
    heads: list[list[tuple[int, int]]] = [[] for _ in range(2 * len(RELATIONS))]
    for gender in (0, 1):
        for first in range(len(RELATIONS)):
            for second in range(len(RELATIONS)):
                head = int(compose[gender, first, second])
                if head >= 0:
                    heads[gender * len(RELATIONS) + head].append((first, second))
    n = len(RELATIONS)
    can = np.zeros((MAX_K + 1, 2, n, n, n), bool)
    for gender in (0, 1):
        for code in range(n):
            can[1, gender, code, code, code] = fits(gender, code)
    for length in range(2, MAX_K + 1):
        for at, pairs in enumerate(heads):
            for first, second in pairs:
                for cut in range(1, length):
                    left = can[cut, at // n, first].any(1)
                    right = can[length - cut, GENDER[first], second].any(0)
                    can[length, at // n, at % n] |= left[:, None] & right[None, :]
    bits = (np.int64(1) << np.arange(MAX_K + 1, dtype=np.int64)).reshape(-1, 1, 1, 1, 1)
    both = (can * bits).sum(0)
    rules = [pair for pairs in heads for pair in pairs]
    return Grammar(
        rule_start=np.cumsum([0] + [len(pairs) for pairs in heads]).astype(np.int64),
        rule_first=np.array([a for a, _ in rules], np.int64),
        rule_second=np.array([b for _, b in rules], np.int64),
        free=np.bitwise_or.reduce(both, (2, 3)),
        first=np.bitwise_or.reduce(both, 3),
        last=np.bitwise_or.reduce(both, 2),
        both=both,
    )


class Cells(NamedTuple):
    """For the k's of a part: the cells of each target, with cumulative weights to draw from."""

    start: Array  # [len(ks) * 22 + 1]
    gender: Array
    first: Array
    last: Array
    upto: Array  # cumulative weight inside the target


@cache
def cells(ks: tuple[int, ...]) -> Cells:
    """The cells of every target at each k, in the order of `ks`; a target that k words cannot prove has none."""
    starts, found, upto = [0], [], []
    for k in ks:
        spread = weights(k)
        for target in range(len(RELATIONS)):
            own = np.argwhere(spread[:, target] > 0)
            found.append(own)
            upto.append(np.cumsum(spread[own[:, 0], target, own[:, 1], own[:, 2]]))
            starts.append(starts[-1] + len(own))
    rows = np.concatenate(found).astype(np.int64)
    return Cells(np.array(starts, np.int64), rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2].copy(), np.concatenate(upto))


def weights(k: int) -> NDArray[np.int64]:
    """[gender of x, target, first, last] -> weight; each target's weights sum to about the same."""
    support = ((grammar().both >> k) & 1).astype(np.int8)
    for target, first, last in (*_RETURNING[0], *_RETURNING.get(k, ())) if k >= 3 else ():
        support[:, 2 * target : 2 * target + 2, 2 * first : 2 * first + 2, 2 * last : 2 * last + 2] = 0
    return _spread(support.tobytes())


@cache
def _spread(support_bytes: bytes) -> NDArray[np.int64]:
    """A game in whole numbers: a reader guesses each (first, last) and each last word's likeliest target; those cells shrink.

    The average over the rounds is what the drawing plays: near the lowest accuracy that any spread leaves the reader.
    """
    n = len(RELATIONS)
    support = np.frombuffer(support_bytes, np.int8).reshape(2, n, n, n).astype(np.int64)
    weight = support.copy()
    total = np.zeros_like(weight)
    for _ in range(_ROUNDS):
        weight = weight * _TOTAL // np.maximum(weight.sum((0, 2, 3), keepdims=True), 1)
        weight = np.maximum(weight, support)
        total += weight
        pair, last = weight.sum(0), weight.sum((0, 2))
        loss = (pair >= pair.max(0))[None] * 1 + (last >= last.max(0))[None, :, None, :]
        weight -= weight * loss // 40
        weight = np.maximum(weight, support)
    return np.maximum(total // _ROUNDS, support)
