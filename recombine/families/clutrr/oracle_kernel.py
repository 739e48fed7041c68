"""The oracle's arithmetic, a deliberate second implementation: it shares no code with the generator. A kernel module.

For every ordered pair of people the set of relations that they may have is a mask of 12 bits (the 11 neutral relations, and
none of them). Stated facts fix masks; a pair's mask is cut to what its ways through every third person allow, until nothing
changes. What follows from a story is what is left; a mask of one bit is an answer that no reading of the story contradicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.integer[Any]]

KERNEL = True
LEAN = True

EVERYTHING = 4095
NONE_BIT = 11
BAD_PATH, SHORTER, STATED, FALSE_FACT, FALSE_TARGET, AMBIGUOUS, WRONG_LABEL, BAD_PROOF, BAD_NOISE, BAD_FAMILY, CONTRADICTION = (
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
)  # fmt: skip


def turned(mask: int, inverse: Ints) -> int:
    """The mask of the same pair, seen from the other end."""
    found = 0
    for i in range(12):
        if (mask >> i) & 1:
            found |= 1 << inverse[i]
    return found


def through(one: int, two: int, table: Ints) -> int:
    """All relations that two sets of relations, put end to end, allow; `table` is for the genders at hand."""
    found = 0
    for i in range(12):
        if (one >> i) & 1:
            for j in range(12):
                if (two >> j) & 1:
                    found |= table[i, j]
    return found


def settle(masks: Ints, n: int, genders: Ints, compose: Ints, inverse: Ints) -> None:
    """Cut all masks until nothing changes."""
    changed = True
    while changed:
        changed = False
        for z in range(n):
            for x in range(n):
                if x == z or masks[x, z] == EVERYTHING:
                    continue
                for y in range(n):
                    if masks[z, y] == EVERYTHING or y in (x, z):
                        continue
                    left = masks[x, y] & through(masks[x, z], masks[z, y], compose[genders[x], genders[z], genders[y]])
                    if left != masks[x, y]:
                        masks[x, y] = left
                        masks[y, x] = turned(left, inverse)
                        changed = True


def open_masks(masks: Ints, n: int, facts: Ints, count: int, inverse: Ints) -> bool:
    """Start from the stated facts alone; False if two of them contradict each other."""
    for x in range(n):
        for y in range(n):
            masks[x, y] = EVERYTHING
    for i in range(count):
        s, o = facts[3 * i + 1], facts[3 * i + 2]
        masks[s, o] &= 1 << (facts[3 * i] // 2)
        masks[o, s] &= turned(1 << (facts[3 * i] // 2), inverse)
        if masks[s, o] == 0:
            return False
    return True


# --- truth in the family ---------------------------------------------------------------------------------------------


def begat(f: Ints, parent: int, child: int) -> bool:
    """Whether the first is a parent of the second."""
    return child >= 0 and parent >= 0 and (f[4 * child + 1] == parent or f[4 * child + 2] == parent)


def of_one_birth(f: Ints, a: int, b: int) -> bool:
    """Whether two people are siblings."""
    return a >= 0 and b >= 0 and a != b and f[4 * a + 1] >= 0 and f[4 * a + 1] == f[4 * b + 1] and f[4 * a + 2] == f[4 * b + 2]


def true_mask(f: Ints, n: int, x: int, y: int) -> int:
    """Every relation that y truly has to x, by looking for the people in between; the last bit if there is none."""
    mask = 0
    sx, sy = f[4 * x + 3], f[4 * y + 3]
    if begat(f, y, x):
        mask |= 1
    if begat(f, x, y):
        mask |= 2
    if sx == y:
        mask |= 4
    if of_one_birth(f, x, y):
        mask |= 8
    for u in range(n):
        if begat(f, u, x) and begat(f, y, u):
            mask |= 16
        if begat(f, u, y) and begat(f, x, u):
            mask |= 32
        if begat(f, u, x) and (of_one_birth(f, u, y) or of_one_birth(f, u, sy)):
            mask |= 64
        if begat(f, u, y) and (of_one_birth(f, u, x) or of_one_birth(f, u, sx)):
            mask |= 128
    if begat(f, y, sx):
        mask |= 256
    if begat(f, x, sy):
        mask |= 512
    if of_one_birth(f, sx, y) or of_one_birth(f, x, sy):
        mask |= 1024
    return mask if mask else 1 << NONE_BIT


def is_family(f: Ints, n: int) -> bool:
    """Whether parents are couples of two genders, spouses agree, and nobody is their own ancestor."""
    for p in range(n):
        father, mother, spouse = f[4 * p + 1], f[4 * p + 2], f[4 * p + 3]
        if (father < 0) != (mother < 0) or max(father, mother, spouse) >= n or f[4 * p] < 0 or f[4 * p] > 1:
            return False
        if father >= 0 and (f[4 * father] != 1 or f[4 * mother] != 0 or f[4 * father + 3] != mother):
            return False
        if spouse >= 0 and (f[4 * spouse + 3] != p or f[4 * spouse] == f[4 * p]):
            return False
        at = p
        for _ in range(n):
            at = f[4 * at + 1] if at >= 0 else at
        if at >= 0:
            return False
    return True


# --- the shape of a story --------------------------------------------------------------------------------------------


def check_path(facts: Ints, places: Ints, count: int, k: int, x: int, y: int, n: int, spot: Ints) -> bool:
    """Whether the path's facts lead from x to y in k steps through distinct people; `spot` receives each person's place."""
    for p in range(n):
        spot[p] = -1
    spot[x] = 0
    at = x
    for step in range(k):
        found = -1
        for i in range(count):
            if places[i] == step:
                if found >= 0:
                    return False
                found = i
        if found < 0 or facts[3 * found + 1] != at or spot[facts[3 * found + 2]] >= 0:
            return False
        at = facts[3 * found + 2]
        spot[at] = step + 1
    return at == y


def distance(facts: Ints, count: int, n: int, x: int, y: int, far: Ints) -> int:
    """The fewest stated facts that join x and y; n if none do."""
    for p in range(n):
        far[p] = n
    far[x] = 0
    changed = True
    while changed:
        changed = False
        for i in range(count):
            s, o = facts[3 * i + 1], facts[3 * i + 2]
            if far[s] + 1 < far[o]:
                far[o] = far[s] + 1
                changed = True
            if far[o] + 1 < far[s]:
                far[s] = far[o] + 1
                changed = True
    found: int = far[y]
    return found


def check_noise(facts: Ints, places: Ints, kinds: Ints, count: int, n: int, noise: int, spot: Ints, group: Ints) -> bool:
    """Whether noise is what it is called: each connected piece off the path touches it twice, once or never."""
    for p in range(n):
        group[p] = p
    changed = True
    while changed:
        changed = False
        for i in range(count):
            if places[i] >= 0:
                continue
            for a, b in ((facts[3 * i + 1], facts[3 * i + 2]), (facts[3 * i + 2], facts[3 * i + 1])):
                if spot[a] < 0 and spot[b] < 0 and group[a] < group[b]:
                    group[b] = group[a]
                    changed = True
    seen = 0
    for i in range(count):
        if (places[i] >= 0) != (kinds[i] == 0):
            return False
        if places[i] >= 0:
            continue
        seen |= 1 << (kinds[i] - 1)
        if spot[facts[3 * i + 1]] >= 0 and spot[facts[3 * i + 2]] >= 0:
            return False
        touching = 0
        piece = group[facts[3 * i + 1]] if spot[facts[3 * i + 1]] < 0 else group[facts[3 * i + 2]]
        for j in range(count):
            if places[j] >= 0:
                continue
            s, o = facts[3 * j + 1], facts[3 * j + 2]
            if (spot[s] >= 0 and group[o] == piece) or (spot[o] >= 0 and group[s] == piece):
                touching += 1
        if touching != 3 - kinds[i]:
            return False
    return seen == noise


def check_proof(
    proof: Ints, steps: int, facts: Ints, count: int, genders: Ints, compose: Ints, x: int, y: int, target: int
) -> bool:
    """Whether every step follows, from facts on the path or from later steps, and the first step is the answer."""
    if steps == 0 or proof[0] != x or proof[2] != y or proof[5] != target:
        return False
    for i in range(steps):
        a, z, b = proof[6 * i], proof[6 * i + 1], proof[6 * i + 2]
        table = compose[genders[a], genders[z], genders[b]]
        if table[proof[6 * i + 3] // 2, proof[6 * i + 4] // 2] != 1 << (proof[6 * i + 5] // 2):
            return False
        if proof[6 * i + 5] % 2 != 1 - genders[b] or proof[6 * i + 3] % 2 != 1 - genders[z]:
            return False
        for s, o, word in ((a, z, proof[6 * i + 3]), (z, b, proof[6 * i + 4])):
            known = False
            for j in range(count):
                known = known or (facts[3 * j] == word and facts[3 * j + 1] == s and facts[3 * j + 2] == o)
            for j in range(i + 1, steps):
                known = known or (proof[6 * j] == s and proof[6 * j + 2] == o and proof[6 * j + 5] == word)
            if not known:
                return False
    return True


def check_row(
    facts: Ints, places: Ints, kinds: Ints, count: int, genders: Ints, n: int, family: Ints, people: int, proof: Ints, steps: int,
    x: int, y: int, target: int, k: int, noise: int, memory: bool, compose: Ints, inverse: Ints, masks: Ints, spot: Ints, far: Ints,
) -> int:  # fmt: skip
    """The broken laws of one row, as bits."""
    broken = 0
    if not is_family(family, people):
        return BAD_FAMILY
    for i in range(count):
        word, s, o = facts[3 * i], facts[3 * i + 1], facts[3 * i + 2]
        if word < 0 or word > 21 or min(s, o) < 0 or max(s, o) >= n or s == o:
            return BAD_PATH
        if true_mask(family, people, s, o) != 1 << (word // 2) or word % 2 != 1 - genders[o] or genders[o] != family[4 * o]:
            broken |= FALSE_FACT
    first, last = x, y
    if memory:
        for i in range(count):
            if places[i] == 0:
                first = facts[3 * i + 1]
            if places[i] == k - 1:
                last = facts[3 * i + 2]
    if not check_path(facts, places, count, k, first, last, n, spot):
        return broken | BAD_PATH
    if distance(facts, count, n, first, last, far) != k:
        broken |= SHORTER
    if not check_noise(facts, places, kinds, count, n, noise, spot, far):
        broken |= BAD_NOISE
    if not memory:
        for i in range(count):
            s, o = facts[3 * i + 1], facts[3 * i + 2]
            if (s == x and o == y) or (s == y and o == x):
                broken |= STATED
        if not check_proof(proof, steps, facts, count, genders, compose, x, y, target):
            broken |= BAD_PROOF
    if true_mask(family, people, x, y) != 1 << (target // 2) or target % 2 != 1 - genders[y]:
        broken |= FALSE_TARGET
    if not open_masks(masks, n, facts, count, inverse):
        return broken | CONTRADICTION
    settle(masks, n, genders, compose, inverse)
    left = masks[x, y]
    if left == 0:
        broken |= CONTRADICTION
    elif left & (left - 1) or left == 1 << NONE_BIT:
        broken |= AMBIGUOUS if (left >> (target // 2)) & 1 and target % 2 == 1 - genders[y] else AMBIGUOUS | WRONG_LABEL
    elif left != 1 << (target // 2) or target % 2 != 1 - genders[y]:
        broken |= WRONG_LABEL
    return broken


def check_rows(
    facts: Ints, fact_offsets: Ints, places: Ints, kinds: Ints, genders: Ints, gender_offsets: Ints, family: Ints, family_offsets: Ints,
    proof: Ints, proof_offsets: Ints, query: Ints, target: Ints, k: Ints, noise: Ints, memory: Ints, compose: Ints, inverse: Ints,
    masks: Ints, spot: Ints, far: Ints, out: Ints,
) -> None:  # fmt: skip
    """`check_row` for every row of flat columns; `fact_offsets`, `family_offsets` and `proof_offsets` count whole items."""
    for row in range(len(out)):
        f, g, p, q = fact_offsets[row], gender_offsets[row], family_offsets[row], proof_offsets[row]
        out[row] = check_row(
            facts[3 * f :], places[f:], kinds[f:], fact_offsets[row + 1] - f, genders[g:], gender_offsets[row + 1] - g,
            family[4 * p :], family_offsets[row + 1] - p, proof[6 * q :], proof_offsets[row + 1] - q,
            query[2 * row], query[2 * row + 1], target[row], k[row], noise[row], memory[row], compose, inverse, masks, spot, far,
        )  # fmt: skip
