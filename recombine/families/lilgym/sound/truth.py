"""Whether a statement holds of a scene, straight from its row of numbers (`codec.py`). Agrees with its program; a test says so.

A set of items is a 64-bit word. A noun is read from its innermost level outwards: each level is a set of items.
"""

from __future__ import annotations

import numpy as np

from recombine.families.lilgym.scene import BOX, BOX_SIDE, COLOR, SHAPE, SIZE, Counts, Flags, Items, Numbers, X, Y

KERNEL = True

SIMPLE, BOTH, EITHER, NOT = 0, 1, 2, 3
"""Junctions."""
ITEMS, BOXES, EVERY_BOX, EVERY_ITEM, ALL_SAME, VARIETY, COMPARE, SAME_COUNT = 1, 2, 3, 4, 5, 6, 7, 8
"""Forms of a clause."""
HAS, HAS_ONLY, HAS_VARIETY = 1, 2, 3
"""Forms of a condition."""
SOME, NONE, EXACTLY, AT_LEAST = 0, 1, 2, 3
"""Quantifiers; the fifth is "at most"."""
LEVEL, LEVELS = 5, 3
"""Numbers of a noun's level (colour, shape, size, place, relation; 0 is open), and levels of a noun."""
SLOT_HEAD = 4
"""Form, quantifier, number and attribute of a condition."""
SLOT = SLOT_HEAD + LEVEL * LEVELS
HEAD = 5
"""Form, quantifier, number, attribute and flag of a clause."""
CLAUSE = HEAD + 2 * SLOT
WIDTH = 1 + 2 * CLAUSE
TOP, BOTTOM, SECOND, THIRD, ANY_WALL, NO_WALL, NEAR_ANY_WALL = 1, 2, 3, 4, 5, 6, 7
FIRST_WALL, FIRST_NEAR_WALL, CORNER, NEAR_CORNER = 8, 12, 16, 17
"""Places, in the order of `plan.PLACES`; the walls are left, right, top, bottom."""
DIRECTLY_ABOVE, DIRECTLY_BELOW, ABOVE, BELOW, TOUCHING, SAME_BOX, CONTACT, NO_CONTACT = 1, 2, 3, 4, 5, 6, 7, 8
"""Relations, in the order of `plan.RELATIONS`."""
ALMOST = 4
"""Pixels up to which an item almost touches a wall."""
TOUCH = 1
"""Pixels up to which two items touch."""


def admits(quantifier: int, number: int, count: int) -> bool:
    """Whether a count is as many as asked."""
    if quantifier == SOME:
        return count > 0
    if quantifier == NONE:
        return count == 0
    if quantifier == EXACTLY:
        return count == number
    return count >= number if quantifier == AT_LEAST else count <= number


def size_of(items: int) -> int:
    """How many items a set has."""
    total = 0
    while items != 0:
        items &= items - 1
        total += 1
    return total


def is_at(place: int, items: Items, count: int, i: int) -> bool:
    """Whether item i is at a place. A tower's blocks stand from the bottom up, so their order is their rank."""
    if place <= THIRD:
        if place == TOP:
            return i + 1 == count or items[i + 1, BOX] != items[i, BOX]
        level = place - BOTTOM  # bottom 0, second 1, third 2
        if i < level or items[i - level, BOX] != items[i, BOX]:
            return False
        return i == level or items[i - level - 1, BOX] != items[i, BOX]
    near = place in (NEAR_ANY_WALL, NEAR_CORNER) or FIRST_NEAR_WALL <= place < CORNER
    slack = ALMOST if near else 0
    left, right = items[i, X] <= slack, BOX_SIDE - items[i, X] - items[i, SIZE] <= slack
    top, bottom = items[i, Y] <= slack, BOX_SIDE - items[i, Y] - items[i, SIZE] <= slack
    if place >= CORNER:
        return bool((left or right) and (top or bottom))
    if place < FIRST_WALL:
        return bool(left or right or top or bottom) != (place == NO_WALL)
    side = (place - FIRST_WALL) % 4
    return bool((side == 0 and left) or (side == 1 and right) or (side == 2 and top) or (side == 3 and bottom))


def is_related(relation: int, items: Items, i: int, j: int) -> bool:
    """Whether item i stands in a relation to item j of the same box."""
    if relation == SAME_BOX:
        return True
    if relation <= BELOW:
        rise = i - j
        if relation <= DIRECTLY_BELOW:
            return rise == (1 if relation == DIRECTLY_ABOVE else -1)
        return rise > 0 if relation == ABOVE else rise < 0
    across = max(items[i, X] - items[j, X] - items[j, SIZE], items[j, X] - items[i, X] - items[i, SIZE])
    down = max(items[i, Y] - items[j, Y] - items[j, SIZE], items[j, Y] - items[i, Y] - items[i, SIZE])
    return bool(max(across, down) <= TOUCH)


def chosen(code: Numbers, start: int, items: Items, count: int) -> int:
    """The set of items that the noun from `start` on describes."""
    last = 0
    while last + 1 < LEVELS and code[start + last * LEVEL + 4] != 0:
        last += 1
    others = np.int64(0)
    for level in range(last, -1, -1):
        at = start + level * LEVEL
        color, shape, size, place, relation = code[at], code[at + 1], code[at + 2], code[at + 3], code[at + 4]
        found = np.int64(0)
        for i in range(count):
            if (
                (color != 0 and items[i, COLOR] != color - 1)
                or (shape != 0 and items[i, SHAPE] != shape - 1)
                or (size != 0 and items[i, SIZE] != 10 * size)
                or (place != 0 and not is_at(place, items, count, i))
            ):
                continue
            if relation != 0:
                meets = False
                for j in range(count):
                    if (others >> j) & 1 and j != i and items[j, BOX] == items[i, BOX] and is_related(relation, items, i, j):
                        meets = True
                        break
                if meets == (relation == NO_CONTACT):
                    continue
            found |= np.int64(1) << i
        others = found
    return int(others)


def values_of(attribute: int, items: Items, count: int, wanted: int) -> int:
    """How many values of an attribute (0 colour, 1 shape, 2 size) a set of items shows."""
    seen = np.int64(0)
    for i in range(count):
        if (wanted >> i) & 1:
            value = items[i, COLOR] if attribute == 0 else items[i, SHAPE] if attribute == 1 else items[i, SIZE] // 10
            seen |= np.int64(1) << value
    return size_of(int(seen))


def kept_boxes(code: Numbers, start: int, tower: bool, items: Items, count: int, boxes: Numbers) -> int:
    """How many boxes keep the clause's one or two conditions; `boxes` holds the set of each box's items."""
    needs_block = tower and code[start + 4] == 0
    kept = 7
    for box in range(3):
        if needs_block and boxes[box] == 0:
            kept &= ~(1 << box)
    for slot in range(2):
        at = start + HEAD + slot * SLOT
        form = code[at]
        if form == 0:
            continue
        described = chosen(code, at + SLOT_HEAD, items, count) if form != HAS_VARIETY else 0
        for box in range(3):
            if form == HAS:
                holds_here = admits(code[at + 1], code[at + 2], size_of(described & boxes[box]))
            elif form == HAS_ONLY:
                holds_here = boxes[box] != 0 and described & boxes[box] == boxes[box]
            else:
                holds_here = admits(code[at + 1], code[at + 2], values_of(code[at + 3], items, count, boxes[box]))
            if not holds_here:
                kept &= ~(1 << box)
    return size_of(kept)


def has_pair(tower: bool, boxes: Numbers) -> bool:
    """Whether two boxes (towers) have the same number of items."""
    for one in range(3):
        for other in range(one):
            if size_of(boxes[one]) == size_of(boxes[other]) and not (tower and boxes[one] == 0):
                return True
    return False


def clause_holds(code: Numbers, start: int, tower: bool, items: Items, count: int, boxes: Numbers) -> bool:
    """Whether the clause from `start` on holds."""
    form, quantifier, number = code[start], code[start + 1], code[start + 2]
    if form == BOXES:
        return admits(quantifier, number, kept_boxes(code, start, tower, items, count, boxes))
    if form == EVERY_BOX:
        return kept_boxes(code, start, tower, items, count, boxes) == 3
    if form == SAME_COUNT:
        return bool(has_pair(tower, boxes) == (code[start + 4] != 0))
    first = chosen(code, start + HEAD + SLOT_HEAD, items, count)
    if form == ITEMS:
        return admits(quantifier, number, size_of(first))
    if form == ALL_SAME:
        return size_of(first) > 1 and values_of(code[start + 3], items, count, first) == 1
    if form == VARIETY:
        return admits(quantifier, number, values_of(code[start + 3], items, count, first))
    second = chosen(code, start + HEAD + SLOT + SLOT_HEAD, items, count)
    if form == EVERY_ITEM:
        return first != 0 and first & second == first
    a, b = size_of(first), size_of(second)
    return a > b if code[start + 4] != 0 else a == b


def holds(code: Numbers, tower: bool, items: Items, count: int, boxes: Numbers) -> bool:
    """Whether the statement holds of a scene; `boxes` is scratch, int64, 3 long."""
    boxes[0] = boxes[1] = boxes[2] = 0
    for i in range(count):
        boxes[items[i, BOX]] |= np.int64(1) << i
    first = clause_holds(code, 1, tower, items, count, boxes)
    if code[0] == SIMPLE:
        return first
    if code[0] == NOT:
        return not first
    if first == (code[0] == EITHER):
        return first
    return clause_holds(code, 1 + CLAUSE, tower, items, count, boxes)


def evaluate(codes: Numbers, rows: Numbers, tower: bool, items: Items, counts: Counts, out: Flags) -> None:
    """out[k] = statement codes[rows[k]] of scene k: codes (statements, WIDTH), items (n, width, 6), counts (n)."""
    boxes = np.zeros(3, np.int64)
    for k in range(len(rows)):
        out[k] = holds(codes[rows[k]], tower, items[k], counts[k], boxes)


def evaluate_grid(codes: Numbers, tower: bool, items: Items, counts: Counts, out: Flags) -> None:
    """out[s, k] = statement codes[s] of scene k."""
    boxes = np.zeros(3, np.int64)
    for s in range(len(codes)):
        for k in range(len(counts)):
            out[s, k] = holds(codes[s], tower, items[k], counts[k], boxes)
