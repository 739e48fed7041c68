"""Weights for drawing stories. They minimise the accuracy of a reader who sees only the first and the last fact.

A *cell* is (gender of x, target, first stated word, last stated word). The reader answers with the most common target of each
(first, last) pair. `spread` lowers the weights of those cells, round after round. `lowest` gives the least accuracy that any
weights leave to the reader. All tables hold whole numbers, so that every machine draws the same rows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine import kernels
from recombine.families.clutrr.kinship import GENDER, INVERSE, RELATIONS
from recombine.families.clutrr.sound.grammar import grammar
from recombine.families.clutrr.sound.rules import ALL, compose_table, fits
from recombine.families.clutrr.splits import HeldOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

SHARES: dict[int, tuple[int, ...]] = {
    4: (2, 2, 2, 5, 5, 5, 5, 5, 3, 5, 5),
    5: (5, 5, 2, 3, 5, 5, 3, 3, 5, 5, 3),
}
"""k -> how often stories ask each neutral relation, in quarters of an even share. At other k every relation has 4 quarters.

Only few paths of four or five facts prove some relations, so the ends of a path give these away. Stories ask for them down to half as
often. This lowers the accuracy of the reader of the ends by 4 and 7 points (k = 4 and 5). It raises the accuracy of the reader who
always gives the most common word by one point. At k = 3 such weights would leave the reader far above chance and would cost variety."""
EVEN = (4,) * 11
LISTED_K = 5
"""Up to this k the clauses are listed one by one. For larger k the ends are those that the grammar allows, without the few that no
clause of five words between different people has. All other ends have clauses on both sides of the hold-out."""
_ROUNDS, _STEP = 3_000, 40
_VARIETY = 32
"""One in this many stories takes any cell of its target, so that no pair of ends is left out."""
_TOTAL = 1 << 26
_N = len(RELATIONS)


class Cells(NamedTuple):
    """For the k's of a part: the cells of each target with cumulative weights to draw from, and the order of the targets."""

    start: Array  # [len(ks) * 22 + 1]
    gender: Array
    first: Array
    last: Array
    upto: Array  # cumulative weight inside the target
    turns: Array  # (place of k) * 22 + target, each as often as its share; a block of rows goes through them once


# --- what can be ------------------------------------------------------------------------------------------------------


@cache
def _chains(length: int, dropped: frozenset[str] = ALL) -> dict[tuple[int, int], NDArray[np.int8]]:
    """(gender of x, relation) -> the chains of words that prove it, one per row."""
    if length == 1:
        return {(g, r): np.array([[r]], np.int8) for g in (0, 1) for r in range(_N) if fits(g, r)}
    found: dict[tuple[int, int], list[NDArray[np.int8]]] = {}
    table = compose_table(dropped)
    for gender, first, second in np.argwhere(table >= 0).tolist():
        for cut in range(1, length):
            left = _chains(cut, dropped).get((gender, first))
            right = _chains(length - cut, dropped).get((GENDER[first], second))
            if left is not None and right is not None:
                joined = np.hstack([np.repeat(left, len(right), 0), np.tile(right, (len(left), 1))])
                found.setdefault((gender, int(table[gender, first, second])), []).append(joined)
    return {key: np.unique(np.concatenate(pieces), axis=0) for key, pieces in found.items()}


def _consistent(genders: Array, facts: list[tuple[int, int, Array]]) -> NDArray[np.intp]:
    """The rows whose people, of these genders, can all be different and have these relations (i, j, word of j to i).

    What follows by the rules is added until nothing does; then nobody may have two relations to one person, two fathers, two
    wives or the like, or come back to where a walk began. Rows that break a law drop out on the way.
    """
    people = genders.shape[1]
    known = np.full((people, people, len(genders)), -1, np.int8)
    rows, sexes = np.arange(len(genders)), genders.T.copy()
    turned, table, returns, takes = np.array(INVERSE, np.int8), compose_table(), grammar().returns, grammar().takes

    def state(i: int, j: int, words: Array, where: Array) -> int:
        new = np.flatnonzero(where & (known[i, j] < 0))
        known[i, j, new] = words[new]
        known[j, i, new] = 2 * turned[words[new] // 2] + 1 - sexes[i, new]
        return len(new)

    for i, j, words in facts:
        state(i, j, words, np.ones(len(rows), np.bool_))
    added = 1
    while added:
        added = 0
        broken = np.zeros(len(rows), np.bool_)
        for i, j in combinations(range(people), 2):
            for z in set(range(people)) - {i, j}:
                at = (sexes[i], known[i, z], known[z, j])
                both = (at[1] >= 0) & (at[2] >= 0)
                words = np.where(both, table[at], -1)
                broken |= both & returns[at]
                broken |= (words >= 0) & (known[i, j] >= 0) & (known[i, j] != words)
                added += state(i, j, words, words >= 0)
        for i in range(people):
            for j, other in combinations([p for p in range(people) if p != i], 2):
                broken |= (known[i, j] == known[i, other]) & (known[i, j] >= 0) & (takes[known[i, j]] > 0)
        kept = ~broken
        known, rows, sexes = known[:, :, kept], rows[kept], sexes[:, kept]
    return rows


@cache
def clauses(k: int, dropped: frozenset[str] = ALL) -> tuple[Array, Array, Array]:
    """(gender of x, target, words) of every clause of k <= `LISTED_K` words that people who are all different can have."""
    listed = _chains(k, dropped)
    gender = np.concatenate([np.full(len(words), key[0], np.int8) for key, words in listed.items()])
    target = np.concatenate([np.full(len(words), key[1], np.int8) for key, words in listed.items()])
    words = np.concatenate(list(listed.values()))
    people = np.column_stack([gender, np.array(GENDER, np.int8)[words]])
    facts: list[tuple[int, int, Array]] = [(i, i + 1, words[:, i]) for i in range(k)]
    fine = _consistent(people, [*facts, (0, k, target)])
    return gender[fine], target[fine], words[fine]


def is_held(gender: Array, words: Array, held: HeldOut) -> NDArray[np.bool_]:
    """Which of these clauses (one per row) are held out."""
    kernel = kernels.load("recombine.families.clutrr.sound.proof", compiled=False)
    found: NDArray[np.bool_] = kernel.clause_rank(gender.astype(np.int64), words.T.astype(np.int64), words.shape[1]) < held.mark
    for first, second in held.pairs:
        found |= ((words[:, :-1] == first) & (words[:, 1:] == second)).any(1)
    return found


@cache
def support(k: int, held: HeldOut, is_held_out: bool, dropped: frozenset[str] = ALL) -> NDArray[np.bool_]:
    """[gender of x, target, first, last]: whether some clause on this side of the hold-out has these ends."""
    found = np.zeros((2, _N, _N, _N), np.bool_)
    if k <= LISTED_K:
        gender, target, words = clauses(k, dropped)
        chosen = np.ones(len(words), np.bool_)
        if k >= held.from_k:
            chosen = is_held(gender, words, held) == is_held_out
        found[gender[chosen], target[chosen], words[chosen, 0], words[chosen, -1]] = True
        return found
    both = grammar(dropped).both
    lost = ((both >> LISTED_K) & 1).astype(np.bool_)
    gender, target, words = clauses(LISTED_K, dropped)
    lost[gender, target, words[:, 0], words[:, -1]] = False
    return ((both >> k) & 1).astype(np.bool_) & ~lost


# --- what is drawn ----------------------------------------------------------------------------------------------------


def shares(k: int) -> Array:
    """How often each of the 22 words is asked, in quarters of an even share."""
    return np.repeat(np.array(SHARES.get(k, EVEN), np.int64), 2)


@cache
def spread(k: int, held: HeldOut, is_held_out: bool, dropped: frozenset[str] = ALL) -> NDArray[np.int64]:
    """[gender of x, target, first, last] -> weight: the average over many rounds of a game against the reader of the ends.

    In each round the reader guesses every pair's likeliest target, and those cells shrink by a fortieth. Held-out clauses of few
    words, where each pair of ends has few, play against a second reader too: the one who has learnt on the training part.
    """
    possible, asked, learnt = support(k, held, is_held_out, dropped), shares(k), None
    if is_held_out and 2 < k <= LISTED_K:
        trained = spread(k, held, False, dropped).sum(0) * asked[:, None, None]
        likely = 10 * trained >= 9 * trained.max(0)  # about as likely as any: what is learnt may be any of these
        learnt = (likely * _STEP // np.maximum(likely.sum(0), 1)).tobytes()
    return _played(possible.tobytes(), asked.tobytes(), learnt, k == 2)


@lru_cache(maxsize=32)
def _played(ends: bytes, turns: bytes, known: bytes | None, is_pair: bool) -> NDArray[np.int64]:
    """`spread` from the bytes of what is possible, of the shares, and of what was learnt. Long stories have all of these in common."""
    possible, share = np.frombuffer(ends, np.bool_).reshape(2, _N, _N, _N), np.frombuffer(turns, np.int64)
    target, first, last = np.nonzero(possible.any(0))
    seen = last if is_pair else first * _N + last  # at k = 2 both words are the whole story, so only the last one is hidden
    _, pair = np.unique(seen, return_inverse=True)
    by_pair = np.argsort(pair, kind="stable")
    pair_start = np.searchsorted(pair[by_pair], np.arange(pair.max() + 1))
    asked, which, own = np.unique(target, return_inverse=True, return_counts=True)
    target_start = np.searchsorted(target, asked)
    goal = share[target] * _TOTAL  # each target's weights sum to its share
    learnt = np.zeros(len(target), np.int64)
    if known is not None:
        learnt = np.frombuffer(known, np.int64).reshape(_N, _N, _N)[target, first, last]
    weight, total = np.ones(len(target), np.int64), np.zeros(len(target), np.int64)
    for _ in range(_ROUNDS):
        weight = np.maximum(weight * goal // np.add.reduceat(weight, target_start)[which], 1)
        total += weight
        likeliest = np.maximum.reduceat(weight[by_pair], pair_start)
        weight = np.maximum(weight - weight * ((weight >= likeliest[pair]) * _STEP + learnt) // _STEP**2, 1)
    mixed = total // _ROUNDS // share[target] * (_VARIETY - 1) // _VARIETY + _TOTAL // _VARIETY // own[which]
    found = np.zeros(possible.shape, np.int64)
    found[:, target, first, last] = mixed
    return np.where(possible, found // np.maximum(possible.sum(0), 1), 0)


@cache
def cells(ks: tuple[int, ...], held: HeldOut, is_held_out: bool, dropped: frozenset[str] = ALL) -> Cells:
    """The cells of every target at each k, in the order of `ks`; a target that k words cannot prove has none, and no turn."""
    starts, found, upto, turns = [0], [], [], list[int]()
    for place, k in enumerate(ks):
        weights = spread(k, held, is_held_out, dropped)
        for target in range(_N):
            own = np.argwhere(weights[:, target] > 0)
            found.append(own)
            upto.append(np.cumsum(weights[own[:, 0], target, own[:, 1], own[:, 2]]))
            starts.append(starts[-1] + len(own))
            turns += [place * _N + target] * (int(shares(k)[target]) if len(own) else 0)
    rows = np.concatenate(found).astype(np.int64)
    gender, first, last = (np.ascontiguousarray(rows[:, i]) for i in range(3))
    return Cells(np.array(starts, np.int64), gender, first, last, np.concatenate(upto), np.array(turns, np.int64))


# --- what could be ----------------------------------------------------------------------------------------------------


@cache
def lowest(k: int) -> float:
    """The accuracy that a reader of the first and last word has at least, however stories of k facts are drawn.

    The shares of the targets are taken as they are.
    A drawing that leaves the reader z(p) at the pair p gives a target no more than the sum of z over the pairs that can prove it.
    So the least sum of all z is a linear program with 22 conditions; this is its dual, solved exactly: prices for targets, such
    that no pair's targets cost more than 1 together, of the greatest total value.
    """
    possible: NDArray[np.bool_] = np.bitwise_or.reduce(support(k, HeldOut(), False), 0)
    together = {frozenset(np.flatnonzero(possible[:, first, last]).tolist()) for first in range(_N) for last in range(_N)}
    largest = [one for one in together if one and not any(one < other for other in together)]
    asked = [Fraction(int(share)) for share in shares(k) * np.bitwise_or.reduce(possible, (1, 2))]
    return float(_greatest(sorted(sorted(one) for one in largest), asked) / sum(asked))


def _greatest(sets: list[list[int]], worth: list[Fraction]) -> Fraction:
    """The greatest sum of worth * price over prices >= 0 of which no set holds more than 1 (the simplex method, Bland's rule)."""
    width = len(worth) + len(sets) + 1
    rows = []
    for i, members in enumerate(sets):
        row = [Fraction(0)] * width
        for column in (*members, len(worth) + i, width - 1):
            row[column] = Fraction(1)
        rows.append(row)
    goal = [-w for w in worth] + [Fraction(0)] * (len(sets) + 1)
    basis = [len(worth) + i for i in range(len(sets))]
    while min(goal[:-1]) < 0:
        column = next(j for j in range(width - 1) if goal[j] < 0)
        _, _, at = min((rows[i][-1] / rows[i][column], basis[i], i) for i in range(len(rows)) if rows[i][column] > 0)
        pivot = rows[at][column]
        rows[at] = [cell / pivot for cell in rows[at]]
        for other in (*(row for i, row in enumerate(rows) if i != at), goal):
            if factor := other[column]:
                for j, cell in enumerate(rows[at]):
                    if cell:
                        other[j] -= factor * cell
        basis[at] = column
    return goal[-1]
