"""Backward chaining: from a target to a tree of rules, its stated words, and people of whom they are true. A kernel module.

`draw_path` proves the target of a story: the tree first, so that its first and last words are the ones asked for, then the
people along the path. `expand` proves an edge between two people who are there already, which is what detours need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below
from recombine.families.clutrr.sound.family import NAMED, SEX, add_person, place, relation
from recombine.families.clutrr.sound.grammar import MAX_K

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.families.clutrr.sound.arrays import Config, Work
    from recombine.families.clutrr.sound.balance import Cells
    from recombine.families.clutrr.sound.grammar import Grammar

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]

KERNEL = True
LEAN = True

OTHER_CLAUSE, DEAD_END = 0, 1
"""Places in `arrays.REASONS`."""
WORDS = 22
PERSON_FIELDS = 6
TREE_TRIES = 64
"""Trees drawn for a cell at one go: one in ten has a clause that is held out."""
PLACE_TRIES = 3
"""Families tried for a clause: where a word has several meanings another draw may avoid meeting somebody twice."""
STALE_TRIES = 16
_INT: Any = np.int64
_WORD: Any = np.uint64  # named so that functions that make no arrays do not name `np`
_STIR = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S40 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(40)
_SALT = np.uint64(0x636C757472C9)  # under which every target has a held-out clause at k = 3


def stir(word: np.uint64, value: int) -> Any:
    """Mix a small non-negative number (or an array of them) into a 64-bit word."""
    z = (word ^ (_WORD(value + 1) * _STIR)) + _STIR
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


def clause_rank(gender: int, clause: Ints, k: int) -> int:
    """A fixed number in [0, 2**24) for a clause and the gender of its first person: below the hold-out mark it is held out."""
    word = stir(_SALT, gender)
    for i in range(k):
        word = stir(word, clause[i])
    found: int = _INT(word >> _S40)
    return found


def is_held_out(gender: int, clause: Ints, k: int, c: Config) -> bool:
    """Whether a clause is held out: its rank is below the mark, or two of its neighbouring words are a held-out pair."""
    if k < c.held_from:
        return False
    found = clause_rank(gender, clause, k) < c.hold_out
    for i in range(1, k):
        if c.held_pairs[clause[i - 1], clause[i]]:
            found = True
    return found


# --- the tree --------------------------------------------------------------------------------------------------------


def draw_cell(cells: Cells, at: int, rng: Rng) -> int:
    """A cell of this target by weight; its place, or -1 if the target has none."""
    start, stop = cells.start[at], cells.start[at + 1]
    if start == stop:
        return -1
    point = below(rng, cells.upto[stop - 1])
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if cells.upto[middle] > point:
            high = middle
        else:
            low = middle + 1
    found: int = low
    return found


def cut_mask(g: Grammar, gender: int, rule: int, length: int, first: int, last: int) -> int:
    """Bit c: the rule can break an edge of `length` words into c and the rest, with these words at the ends (-1: any)."""
    a, b = g.rule_first[rule], g.rule_second[rule]
    left = g.first[gender, a, first] if first >= 0 else g.free[gender, a]
    right = g.last_turned[1 - a % 2, b, last] if last >= 0 else g.free_turned[1 - a % 2, b]
    found: int = left & (right >> (MAX_K - length)) & ((_INT(1) << length) - 1)
    return found


def count_bits(mask: int) -> int:
    """How many of the lowest 32 bits are set."""
    mask -= (mask >> 1) & 0x55555555
    mask = (mask & 0x33333333) + ((mask >> 2) & 0x33333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F
    return ((mask * 0x01010101) & 0xFFFFFFFF) >> 24


def draw_break(
    g: Grammar, w: Work, gender: int, head: int, lo: int, hi: int, first: int, last: int, rng: Rng
) -> tuple[int, int]:
    """(rule, cut) for the edge between two places of the path, every possible one equally likely; rule -1 if there is none.

    `w.taken` says which relatives of whom there is only one the path has already met, so that nobody meets a second father.
    """
    at = gender * WORDS + head
    start, stop = g.rule_start[at], g.rule_start[at + 1]
    count: Any = _INT(0)
    for rule in range(start, stop):
        mask: Any = _INT(0)
        if (w.taken[lo] & g.rule_start_takes[rule]) == 0 and (w.taken[hi] & g.rule_end_takes[rule]) == 0:
            mask = cut_mask(g, gender, rule, hi - lo, first, last)
        w.cuts[rule - start] = mask
        count += count_bits(mask)
    if count == 0:
        return -1, 0
    point = below(rng, count)
    for rule in range(start, stop):
        mask = w.cuts[rule - start]
        here = count_bits(mask)
        if point >= here:
            point -= here
            continue
        for cut in range(1, hi - lo):
            if (mask >> cut) & 1:
                if point == 0:
                    return rule, cut
                point -= 1
    return -1, 0


def draw_tree(g: Grammar, w: Work, gender: int, target: int, k: int, first: int, last: int, rng: Rng) -> bool:
    """A tree of rules from the target to k words, in `w.clause`; its steps in `w.proof` with places of the path for people.

    The steps stand root first. False if the draw ran into an edge that cannot be broken.
    """
    nodes = w.nodes
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3] = 0, k, target, gender
    w.taken[0], w.taken[k] = g.takes[target], g.takes_back[gender, target]
    top, step = 1, 0
    while top > 0:
        top -= 1
        lo, hi, head, sex = nodes[top, 0], nodes[top, 1], nodes[top, 2], nodes[top, 3]
        if hi - lo == 1:
            w.clause[lo] = head
            continue
        rule, cut = draw_break(g, w, sex, head, lo, hi, first if lo == 0 else -1, last if hi == k else -1, rng)
        if rule < 0:
            return False
        a, b = g.rule_first[rule], g.rule_second[rule]
        w.taken[lo] |= g.rule_start_takes[rule]
        w.taken[hi] |= g.rule_end_takes[rule]
        w.taken[lo + cut] = g.takes_back[sex, a] | g.takes[b]
        w.proof[step, 0], w.proof[step, 1], w.proof[step, 2] = lo, lo + cut, hi
        w.proof[step, 3], w.proof[step, 4], w.proof[step, 5] = a, b, head
        step += 1
        nodes[top, 0], nodes[top, 1], nodes[top, 2], nodes[top, 3] = lo + cut, hi, b, 1 - a % 2
        nodes[top + 1, 0], nodes[top + 1, 1], nodes[top + 1, 2], nodes[top + 1, 3] = lo, lo + cut, a, sex
        top += 2
    return True


def comes_back(g: Grammar, gender: int, clause: Ints, k: int) -> bool:
    """Whether two words in a row lead back to where they began: somebody's wife's husband."""
    for i in range(1, k):
        if g.returns[gender, clause[i - 1], clause[i]]:
            return True
        gender = 1 - clause[i - 1] % 2
    return False


def place_path(w: Work, gender: int, k: int, rng: Rng) -> bool:
    """A new family with a person at every place of the path, all different; False if the draw met somebody twice."""
    w.size[0] = 0
    w.path[0] = add_person(w.people, w.size, gender, 0)
    w.people[0, NAMED] = 1
    for i in range(k):
        w.path[i + 1] = place(w.people, w.size, w.path[i], w.clause[i], rng)
        if w.path[i + 1] < 0:
            return False
    return True


def draw_path(g: Grammar, cells: Cells, cell: int, target: int, k: int, c: Config, w: Work, rng: Rng) -> int:
    """A proof of the target with the ends of this cell, in a new family; the number of proof steps, or -1."""
    gender, first, last = cells.gender[cell], cells.first[cell], cells.last[cell]
    for _ in range(TREE_TRIES):
        if not draw_tree(g, w, gender, target, k, first, last, rng):
            w.rejected[DEAD_END] += 1
            continue
        if k >= c.held_from and is_held_out(gender, w.clause, k, c) != c.wants_held_out:
            w.rejected[OTHER_CLAUSE] += 1
            continue
        if not comes_back(g, gender, w.clause, k):
            for _ in range(PLACE_TRIES):
                if place_path(w, gender, k, rng):
                    for step in range(k - 1):
                        for j in range(3):
                            w.proof[step, j] = w.path[w.proof[step, j]]
                    return k - 1
        w.rejected[DEAD_END] += 1
    return -1


# --- a detour --------------------------------------------------------------------------------------------------------


def copy_people(source: Ints, target: Ints, n: int) -> None:
    """Copy the first n people."""
    for p in range(n):
        for j in range(PERSON_FIELDS):
            target[p, j] = source[p, j]


def splice(path: Ints, words: Ints, m: int, i: int, a: int, b: int) -> None:
    """Make room for a person in edge i of a path of m edges, with the words on both sides."""
    for j in range(m, i, -1):
        path[j + 1] = path[j]
        words[j] = words[j - 1]
    words[i] = a
    words[i + 1] = b


def expand(g: Grammar, w: Work, path: Ints, words: Ints, length: int, rng: Rng) -> bool:
    """Break the one edge of `path` and `words` into `length` edges, each through a newly named person; whether it went."""
    m = 1
    stale = 0
    while m < length:
        stale += 1
        if stale > STALE_TRIES:
            return False
        i = below(rng, m)
        a, b = path[i], path[i + 1]
        at = w.people[a, SEX] * WORDS + words[i]
        start, stop = g.rule_start[at], g.rule_start[at + 1]
        if start == stop:
            continue
        rule = start + below(rng, stop - start)
        size = w.size[0]
        copy_people(w.people, w.saved, size)
        z: Any = _INT(place(w.people, w.size, a, g.rule_first[rule], rng))
        if z < 0 or relation(w.people, z, b) != g.rule_second[rule]:
            w.size[0] = size
            copy_people(w.saved, w.people, size)
            continue
        splice(path, words, m, i, g.rule_first[rule], g.rule_second[rule])
        path[i + 1] = z
        m += 1
        stale = 0
    return True
