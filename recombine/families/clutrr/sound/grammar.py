"""Backward chaining as a grammar: a relation is stated, or expands by a rule into two; k stated relations prove one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.families.clutrr.kinship import GENDER, RELATIONS, inverse
from recombine.families.clutrr.sound.rules import ALL, compose_table, fits, return_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MAX_K = 20
ONLY_ONE = ("father", "mother", "spouse", "father-in-law", "mother-in-law")
"""Relatives of whom nobody has two."""
_SPOUSE = {"husband": "spouse", "wife": "spouse"}


class Grammar(NamedTuple):
    """The rules by head, and bit masks of the lengths n for which a relation can be proved by n stated words."""

    rule_start: Array  # [2 * 22 + 1], by gender of x and head
    rule_first: Array
    rule_second: Array
    free: Array  # [2, 22]: bit n
    first: Array  # [2, 22, 22]: bit n, with this first word
    last: Array  # [2, 22, 22]: bit n, with this last word
    both: Array  # [2, 22, 22, 22]: bit n, with this first and this last word
    free_turned: Array  # as `free` and `last`, bit MAX_K - n for length n
    last_turned: Array
    returns: Array  # [2, 22, 22]: whether the second word can only lead back
    takes: Array  # [22]: bit of the relative of whom there is only one that a word names (father, mother, spouse, …), or 0
    takes_back: Array  # [2, 22]: the same for the word told from the other end, by gender of the subject
    rule_start_takes: Array
    rule_end_takes: Array


@cache
def grammar(dropped: frozenset[str] = ALL) -> Grammar:
    """The grammar of all proofs with up to `MAX_K` stated words that need none of the dropped conventions."""
    compose = compose_table(dropped)
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
    # A rule proves (first word, last word) if some cut gives its left part that first word and its right part that last word.
    begins, ends = np.zeros((2, MAX_K + 1, 2, n, n), np.float32)
    begins[1], ends[1] = can[1].any(3), can[1].any(2)
    for length in range(2, MAX_K + 1):
        for at, pairs in enumerate(heads):
            if pairs:
                firsts, seconds = np.array(pairs).T
                left = begins[1:length, at // n, firsts]
                right = ends[length - 1 : 0 : -1, np.array(GENDER)[firsts], seconds]
                can[length, at // n, at % n] = left.reshape(-1, n).T @ right.reshape(-1, n) > 0
        begins[length], ends[length] = can[length].any(3), can[length].any(2)
    bits = (np.int64(1) << np.arange(MAX_K + 1, dtype=np.int64)).reshape(-1, 1, 1, 1, 1)
    both, turned = (can * bits).sum(0), (can * bits[::-1]).sum(0)
    rules = [pair for pairs in heads for pair in pairs]
    takes = [1 << ONLY_ONE.index(word) if (word := _SPOUSE.get(name, name)) in ONLY_ONE else 0 for name in RELATIONS]
    takes_back = [[takes[inverse(code, gender)] for code in range(n)] for gender in (0, 1)]
    return Grammar(
        rule_start=np.cumsum([0] + [len(pairs) for pairs in heads]).astype(np.int64),
        rule_first=np.array([a for a, _ in rules], np.int64),
        rule_second=np.array([b for _, b in rules], np.int64),
        free=np.bitwise_or.reduce(both, (2, 3)),
        first=np.bitwise_or.reduce(both, 3),
        last=np.bitwise_or.reduce(both, 2),
        both=both,
        free_turned=np.bitwise_or.reduce(turned, (2, 3)),
        last_turned=np.bitwise_or.reduce(turned, 2),
        returns=return_table(),
        takes=np.array(takes, np.int64),
        takes_back=np.array(takes_back, np.int64),
        rule_start_takes=np.array([takes[a] for a, _ in rules], np.int64),
        rule_end_takes=np.array([takes_back[GENDER[a]][b] for a, b in rules], np.int64),
    )
