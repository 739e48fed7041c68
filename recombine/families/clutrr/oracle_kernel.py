"""The oracle's arithmetic, a deliberate second implementation: it shares no code with the generator. A kernel module.

For every ordered pair of people the set of relations that they may have is a mask of 12 bits (the 11 neutral relations, and
none of them). Stated facts fix masks; a pair's mask is cut to what its ways through every third person allow, until nothing
changes. What follows from a story is what is left; a mask of one bit is an answer that no reading of the story contradicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.integer[Any]]

KERNEL = True
LEAN = True

EVERYTHING = 4095
NONE_BIT = 11
"""The bit of a pair that no word relates."""
RELATIONS_AND_NONE = 12
PARENT, CHILD, SPOUSE, SIBLING, GRANDPARENT, GRANDCHILD, PIBLING, NIBLING, PARENT_IN_LAW, CHILD_IN_LAW, SIBLING_IN_LAW = (
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
)  # fmt: skip
"""The bit of each relation in a mask."""
BAD_PATH, SHORTER, STATED, FALSE_FACT, FALSE_TARGET, AMBIGUOUS, WRONG_LABEL, BAD_PROOF, BAD_NOISE, BAD_FAMILY, CONTRADICTION = (
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
)  # fmt: skip
BAD_PEOPLE, BAD_MEMORY, TOO_OLD = 2048, 4096, 8192
"""The laws, as bits of a verdict."""
ACTING_GENERATIONS = 4
"""People who act in one story live at the same time: at most four generations."""
UNSET = 1 << 20


class Rows(NamedTuple):
    """The columns that the laws speak of, for any number of rows; offsets count whole facts, people and steps."""

    facts: Ints  # [facts * 3]: relation, subject, relative
    fact_offsets: Ints  # [rows + 1]
    places: Ints  # [facts]
    kinds: Ints  # [facts]
    genders: Ints  # [named people]
    gender_offsets: Ints  # [rows + 1]
    family: Ints  # [people * 4]: gender, father, mother, spouse
    family_offsets: Ints  # [rows + 1]
    proof: Ints  # [steps * 6]: x, z, y, first, second, result
    proof_offsets: Ints  # [rows + 1]
    query: Ints  # [rows * 2]
    target: Ints  # [rows]
    k: Ints  # [rows]
    noise: Ints  # [rows]: bits of the kinds
    memory: Ints  # [rows]: 1 if a stated fact is asked
    is_fit: Ints  # [rows]: 1 if shapes and ranges are right; other rows are not judged


class Kinship(NamedTuple):
    """What the oracle knows of kinship."""

    compose: Ints  # [2, 2, 2, 12, 12]: genders of x, z, y; relation of z to x, of y to z -> mask of y to x
    inverse: Ints  # [12]: relation -> relation of the reversed pair
    rise: Ints  # [11]: generations between a person and such a relative, upwards


class Scratch(NamedTuple):
    """Space to work in, for the largest number of named people."""

    masks: Ints  # [people, people]
    spot: Ints  # [people]: place on the path, or -1
    far: Ints  # [people]


def turned(mask: int, inverse: Ints) -> int:
    """The mask of the same pair, seen from the other end."""
    found = 0
    for i in range(RELATIONS_AND_NONE):
        if (mask >> i) & 1:
            found |= 1 << inverse[i]
    return found


def through(one: int, two: int, table: Ints) -> int:
    """All relations that two sets of relations, put end to end, allow; `table` is for the genders at hand."""
    found = 0
    for i in range(RELATIONS_AND_NONE):
        if (one >> i) & 1:
            for j in range(RELATIONS_AND_NONE):
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
    # A parent begat the person.
    if begat(f, y, x):
        mask |= PARENT
    if begat(f, x, y):
        mask |= CHILD
    # A couple is married to each other.
    if sx == y:
        mask |= SPOUSE
    # Siblings have both parents in common.
    if of_one_birth(f, x, y):
        mask |= SIBLING
    for u in range(n):
        # A grandparent begat a parent.
        if begat(f, u, x) and begat(f, y, u):
            mask |= GRANDPARENT
        if begat(f, u, y) and begat(f, x, u):
            mask |= GRANDCHILD
        # An uncle or aunt is a parent's sibling, or married to one.
        if begat(f, u, x) and (of_one_birth(f, u, y) or of_one_birth(f, u, sy)):
            mask |= PIBLING
        # A nephew or niece is the child of a sibling, one's own or one's spouse's.
        if begat(f, u, y) and (of_one_birth(f, u, x) or of_one_birth(f, u, sx)):
            mask |= NIBLING
    # A parent-in-law begat the spouse.
    if begat(f, y, sx):
        mask |= PARENT_IN_LAW
    if begat(f, x, sy):
        mask |= CHILD_IN_LAW
    # A sibling-in-law is a spouse's sibling or a sibling's spouse.
    if of_one_birth(f, sx, y) or of_one_birth(f, x, sy):
        mask |= SIBLING_IN_LAW
    return mask if mask else 1 << NONE_BIT


def is_family(f: Ints, n: int) -> bool:
    """Whether parents are couples of two genders, spouses agree, and nobody is their own ancestor."""
    for p in range(n):
        father, mother, spouse = f[4 * p + 1], f[4 * p + 2], f[4 * p + 3]
        # Both parents are recorded or none, and everybody recorded exists.
        if (father < 0) != (mother < 0) or max(father, mother, spouse) >= n or f[4 * p] < 0 or f[4 * p] > 1:
            return False
        # Parents are a man and a woman who are married to each other.
        if father >= 0 and (f[4 * father] != 1 or f[4 * mother] != 0 or f[4 * father + 3] != mother):
            return False
        # Marriage is mutual and between two genders.
        if spouse >= 0 and (f[4 * spouse + 3] != p or f[4 * spouse] == f[4 * p]):
            return False
        # Nobody is their own ancestor.
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


def check_generations(facts: Ints, count: int, n: int, rise: Ints, height: Ints) -> bool:
    """Whether the people whom a chain of facts joins span at most four generations."""
    for p in range(n):
        height[p] = UNSET
    for root in range(n):
        if height[root] != UNSET:
            continue
        height[root] = 0
        low, high = 0, 0
        changed = True
        while changed:
            changed = False
            for i in range(count):
                s, o, step = facts[3 * i + 1], facts[3 * i + 2], rise[facts[3 * i] // 2]
                if height[s] != UNSET and height[o] == UNSET:
                    height[o] = height[s] + step
                    low, high, changed = min(low, height[o]), max(high, height[o]), True
                elif height[o] != UNSET and height[s] == UNSET:
                    height[s] = height[o] - step
                    low, high, changed = min(low, height[s]), max(high, height[s]), True
        if high - low >= ACTING_GENERATIONS:
            return False
    return True


def check_people(facts: Ints, count: int, genders: Ints, n: int, family: Ints, seen: Ints) -> bool:
    """Whether the story speaks of everybody whom it names, and everybody has the gender that the family says."""
    for p in range(n):
        seen[p] = 0
    for i in range(count):
        seen[facts[3 * i + 1]] = 1
        seen[facts[3 * i + 2]] = 1
    is_right = True
    for p in range(n):
        if seen[p] == 0 or genders[p] != family[4 * p]:
            is_right = False
    return is_right


def check_memory(facts: Ints, places: Ints, count: int, steps: int, x: int, y: int, target: int) -> bool:
    """Whether a memory question asks for a fact of the path, and so needs no proof."""
    is_stated = False
    for i in range(count):
        if places[i] >= 0 and facts[3 * i] == target and facts[3 * i + 1] == x and facts[3 * i + 2] == y:
            is_stated = True
    return is_stated and steps == 0


def check_row(row: int, r: Rows, kin: Kinship, scratch: Scratch) -> int:
    """The broken laws of one row, as bits."""
    start, count = r.fact_offsets[row], r.fact_offsets[row + 1] - r.fact_offsets[row]
    facts, places, kinds = r.facts[3 * start :], r.places[start:], r.kinds[start:]
    genders, n = r.genders[r.gender_offsets[row] :], r.gender_offsets[row + 1] - r.gender_offsets[row]
    family, people = r.family[4 * r.family_offsets[row] :], r.family_offsets[row + 1] - r.family_offsets[row]
    proof, steps = r.proof[6 * r.proof_offsets[row] :], r.proof_offsets[row + 1] - r.proof_offsets[row]
    x, y, target, k, memory = r.query[2 * row], r.query[2 * row + 1], r.target[row], r.k[row], r.memory[row] == 1
    # The world is a family.
    if not is_family(family, people):
        return BAD_FAMILY
    broken = 0
    # Nobody is related to themselves; every stated fact is true, and is the only relation of the two.
    for i in range(count):
        word, s, o = facts[3 * i], facts[3 * i + 1], facts[3 * i + 2]
        if s == o:
            return BAD_PATH
        if true_mask(family, people, s, o) != 1 << (word // 2) or word % 2 != 1 - genders[o]:
            broken |= FALSE_FACT
    if not check_people(facts, count, genders, n, family, scratch.far):
        broken |= BAD_PEOPLE
    if not check_generations(facts, count, n, kin.rise, scratch.far):
        broken |= TOO_OLD
    # The path leads from one person of the query to the other; for a memory question from its own first person to its last.
    first, last = x, y
    if memory:
        for i in range(count):
            if places[i] == 0:
                first = facts[3 * i + 1]
            if places[i] == k - 1:
                last = facts[3 * i + 2]
    if not check_path(facts, places, count, k, first, last, n, scratch.spot):
        return broken | BAD_PATH
    # No way through the stated facts is shorter than k.
    if distance(facts, count, n, first, last, scratch.far) != k:
        broken |= SHORTER
    if not check_noise(facts, places, kinds, count, n, r.noise[row], scratch.spot, scratch.far):
        broken |= BAD_NOISE
    if memory:
        if not check_memory(facts, places, count, steps, x, y, target):
            broken |= BAD_MEMORY
    else:
        # The story does not state what it asks, and the proof has one step less than the path has facts.
        for i in range(count):
            s, o = facts[3 * i + 1], facts[3 * i + 2]
            if (s == x and o == y) or (s == y and o == x):
                broken |= STATED
        if steps != k - 1 or not check_proof(proof, steps, facts, count, genders, kin.compose, x, y, target):
            broken |= BAD_PROOF
    # The answer is true in the family.
    if true_mask(family, people, x, y) != 1 << (target // 2) or target % 2 != 1 - genders[y]:
        broken |= FALSE_TARGET
    return broken | check_answer(facts, count, genders, n, kin, scratch.masks, x, y, target)


def check_answer(facts: Ints, count: int, genders: Ints, n: int, kin: Kinship, masks: Ints, x: int, y: int, target: int) -> int:
    """The facts alone leave one relation between the people of the query, and it is the answer."""
    if not open_masks(masks, n, facts, count, kin.inverse):
        return CONTRADICTION
    settle(masks, n, genders, kin.compose, kin.inverse)
    left = masks[x, y]
    is_one = left & (left - 1) == 0 and left != 1 << NONE_BIT
    fits = (left >> (target // 2)) & 1 == 1 and target % 2 == 1 - genders[y]
    broken = 0
    if left == 0:
        broken = CONTRADICTION
    elif not is_one:
        broken = AMBIGUOUS if fits else AMBIGUOUS | WRONG_LABEL
    elif not fits:
        broken = WRONG_LABEL
    return broken


def check_rows(r: Rows, kin: Kinship, scratch: Scratch, out: Ints) -> None:
    """`check_row` for every row whose shapes are right."""
    for row in range(len(out)):
        if r.is_fit[row] == 1:
            out[row] = check_row(row, r, kin, scratch)
