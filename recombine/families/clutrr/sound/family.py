"""Families as rows of numbers: adding relatives one by one, and what two people are to each other. A kernel module.

`people` is int64[n, 6]: gender, father, mother, spouse (-1 where unrecorded), whether the story names the person, generation
(parents are one higher). Both parents are recorded or none; parents are a couple; couples are of two genders. `size[0]` is
the number of people. Every step either names somebody who was unnamed or adds people, so a family stays a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.draws import below, unit
from recombine.families.clutrr.kinship import (
    CHILD,
    CHILD_IN_LAW,
    GRANDCHILD,
    GRANDPARENT,
    NIBLING,
    PARENT,
    PARENT_IN_LAW,
    PIBLING,
    SIBLING,
    SIBLING_IN_LAW,
)  # fmt: skip
from recombine.families.clutrr.kinship import SPOUSE as MARRIED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.integer[Any]]
    Rng = NDArray[np.uint64]

KERNEL = True
LEAN = True

SEX, FATHER, MOTHER, SPOUSE, NAMED, GENERATION = 0, 1, 2, 3, 4, 5
MAX_PEOPLE = 200
"""More than any story needs."""
MOST_ADDED = 8
"""Placing a relative adds at most seven people."""


def add_person(people: Ints, size: Ints, gender: int, generation: int) -> int:
    """A new unnamed, unmarried person without recorded parents."""
    p = size[0]
    people[p, SEX] = gender
    people[p, FATHER] = -1
    people[p, MOTHER] = -1
    people[p, SPOUSE] = -1
    people[p, NAMED] = 0
    people[p, GENERATION] = generation
    size[0] = p + 1
    found: int = p
    return found


def spouse_of(people: Ints, size: Ints, p: int) -> int:
    """The person's spouse, added if there is none."""
    if people[p, SPOUSE] < 0:
        q = add_person(people, size, 1 - people[p, SEX], people[p, GENERATION])
        people[p, SPOUSE] = q
        people[q, SPOUSE] = p
    found: int = people[p, SPOUSE]
    return found


def parent_of(people: Ints, size: Ints, p: int, gender: int) -> int:
    """The person's father (1) or mother (0); both are added if there are none."""
    if people[p, FATHER] < 0:
        father = add_person(people, size, 1, people[p, GENERATION] + 1)
        people[p, FATHER] = father
        people[p, MOTHER] = spouse_of(people, size, father)
    found: int = people[p, FATHER] if gender == 1 else people[p, MOTHER]
    return found


def add_child(people: Ints, size: Ints, father: int, mother: int, gender: int) -> int:
    """A new child of a couple."""
    p = add_person(people, size, gender, people[father, GENERATION] - 1)
    people[p, FATHER] = father
    people[p, MOTHER] = mother
    return p


def child_of(people: Ints, size: Ints, p: int, gender: int, but: int, only_unnamed: bool, rng: Rng) -> int:
    """A child of p and p's spouse: one there is (of this gender, or any for -1; not `but`), or a new one, evenly."""
    q = spouse_of(people, size, p)
    father, mother = (p, q) if people[p, SEX] == 1 else (q, p)
    count = 1
    chosen = -1
    for c in range(size[0]):
        if people[c, FATHER] != father or c == but or (only_unnamed and people[c, NAMED] == 1):
            continue
        if gender >= 0 and people[c, SEX] != gender:
            continue
        count += 1
        if below(rng, count) == 0:
            chosen = c
    if chosen >= 0:
        return chosen
    return add_child(people, size, father, mother, gender if gender >= 0 else below(rng, 2))


def named(people: Ints, p: int) -> int:
    """Name this person, if unnamed so far; the person, or -1."""
    if people[p, NAMED] == 1:
        return -1
    people[p, NAMED] = 1
    return p


def place(people: Ints, size: Ints, s: int, code: int, rng: Rng) -> int:
    """A newly named person who is the `code` of s; -1 if the person that was drawn has a name already.

    If a word has several meanings (which parent's side, by blood or by marriage), one is drawn.
    """
    neutral = code // 2
    gender = 1 - code % 2
    if size[0] + MOST_ADDED > MAX_PEOPLE:
        return -1
    if neutral == PARENT:
        return named(people, parent_of(people, size, s, gender))
    if neutral == CHILD:
        return named(people, child_of(people, size, s, gender, -1, True, rng))
    if neutral == MARRIED:
        return named(people, spouse_of(people, size, s)) if people[s, SEX] != gender else -1
    if neutral == SIBLING:
        return named(people, sibling_of(people, size, s, gender, True, rng))
    if neutral == GRANDCHILD:
        return named(people, child_of(people, size, child_of(people, size, s, -1, -1, False, rng), gender, -1, True, rng))
    if neutral == PARENT_IN_LAW:
        return named(people, parent_of(people, size, spouse_of(people, size, s), gender))
    if neutral == CHILD_IN_LAW:
        return named(people, spouse_of(people, size, child_of(people, size, s, 1 - gender, -1, False, rng)))
    by_marriage = below(rng, 2) == 1
    if neutral == NIBLING:
        parent = sibling_of(people, size, spouse_of(people, size, s) if by_marriage else s, -1, False, rng)
        return named(people, child_of(people, size, parent, gender, -1, True, rng))
    if neutral == SIBLING_IN_LAW:
        if by_marriage:
            return named(people, sibling_of(people, size, spouse_of(people, size, s), gender, True, rng))
        return named(people, spouse_of(people, size, sibling_of(people, size, s, 1 - gender, False, rng)))
    parent = parent_of(people, size, s, below(rng, 2))
    if neutral == GRANDPARENT:
        return named(people, parent_of(people, size, parent, gender))
    if by_marriage:
        return named(people, spouse_of(people, size, sibling_of(people, size, parent, 1 - gender, False, rng)))
    return named(people, sibling_of(people, size, parent, gender, True, rng))


def sibling_of(people: Ints, size: Ints, s: int, gender: int, only_unnamed: bool, rng: Rng) -> int:
    """A sibling of s, there or new, as `child_of` draws."""
    return child_of(people, size, parent_of(people, size, s, 1), gender, s, only_unnamed, rng)


def is_sibling(people: Ints, x: int, y: int) -> bool:
    """Whether two people have the same parents."""
    return x >= 0 and y >= 0 and x != y and people[x, FATHER] >= 0 and people[x, FATHER] == people[y, FATHER]


def is_parent(people: Ints, x: int, y: int) -> bool:
    """Whether y is a parent of x."""
    return x >= 0 and y >= 0 and (people[x, FATHER] == y or people[x, MOTHER] == y)


def is_grandparent(people: Ints, x: int, y: int) -> bool:
    """Whether y is a grandparent of x."""
    return is_parent(people, people[x, FATHER], y) or is_parent(people, people[x, MOTHER], y)


def is_pibling(people: Ints, x: int, y: int) -> bool:
    """Whether y is a sibling of a parent of x, or married to one."""
    for z in (y, people[y, SPOUSE]):
        if is_sibling(people, people[x, FATHER], z) or is_sibling(people, people[x, MOTHER], z):
            return True
    return False


def neutral_relation(people: Ints, x: int, y: int) -> int:
    """What y is to x, without gender; -1 if no word says it."""
    found = -1
    if is_parent(people, x, y):
        found = PARENT
    elif is_parent(people, y, x):
        found = CHILD
    elif people[x, SPOUSE] == y:
        found = MARRIED
    elif is_sibling(people, x, y):
        found = SIBLING
    elif is_grandparent(people, x, y):
        found = GRANDPARENT
    elif is_grandparent(people, y, x):
        found = GRANDCHILD
    elif is_pibling(people, x, y):
        found = PIBLING
    elif is_pibling(people, y, x):
        found = NIBLING
    elif is_parent(people, people[x, SPOUSE], y):
        found = PARENT_IN_LAW
    elif is_parent(people, people[y, SPOUSE], x):
        found = CHILD_IN_LAW
    elif is_sibling(people, people[x, SPOUSE], y) or is_sibling(people, x, people[y, SPOUSE]):
        found = SIBLING_IN_LAW
    return found


def relation(people: Ints, x: int, y: int) -> int:
    """The code of the word that says what y is to x; -1 if none does."""
    found = neutral_relation(people, x, y)
    return -1 if found < 0 else 2 * found + 1 - people[y, SEX]


def levels(people: Ints, size: Ints) -> int:
    """How many generations the people span."""
    low = people[0, GENERATION]
    high = people[0, GENERATION]
    for p in range(size[0]):
        low = min(low, people[p, GENERATION])
        high = max(high, people[p, GENERATION])
    found: int = high - low + 1
    return found


def acting_levels(people: Ints, start: int, stop: int) -> int:
    """How many generations the named ones of these people span; 0 if no person is named."""
    low = 0
    high = -1
    for p in range(start, stop):
        if people[p, NAMED] == 1:
            if high < low:
                low = people[p, GENERATION]
                high = low
            low = min(low, people[p, GENERATION])
            high = max(high, people[p, GENERATION])
    return high - low + 1


def most_children(people: Ints, size: Ints) -> int:
    """The largest number of children of any couple."""
    most = 0
    for f in range(size[0]):
        count = 0
        for p in range(size[0]):
            if people[p, FATHER] == f:
                count += 1
        most = max(most, count)
    return most


def grow(people: Ints, size: Ints, room: int, marriage: float, low: int, high: int, rng: Rng) -> None:
    """Add up to `room` relatives whom the story does not mention: spouses with this probability, children of couples."""
    limit = min(size[0] + room, MAX_PEOPLE - 1)
    for p in range(size[0]):
        if size[0] < limit and people[p, SPOUSE] < 0 and unit(rng) < marriage:
            spouse_of(people, size, p)
    for f in range(size[0]):
        if people[f, SEX] != 1 or people[f, SPOUSE] < 0:
            continue
        count = 0
        for p in range(size[0]):
            if people[p, FATHER] == f:
                count += 1
        goal = low + below(rng, high - low + 1)
        while count < goal and size[0] < limit:
            add_child(people, size, f, people[f, SPOUSE], below(rng, 2))
            count += 1
