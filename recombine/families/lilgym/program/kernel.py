"""Programs as numbers: prepare scenes once (sets of items as 64-bit words), then run many short programs over them.

`prepare` turns padded scenes (n, width, 6) int16 (box, x, y, size, color, shape; items grouped by box) into words per scene:
HEADER sets of items, then ROWS rows of `width` words (relations of item i as sets, and its attributes). `evaluate_batch`
runs program program_index[i] on scene i. An instruction is four int32: operation, target register, two operands.

out[i] is 0 (false), 1 (true) or 2: *not decided here* (an element that `unique` did not find, too many steps, too many items);
the caller then asks the plain interpreter, which decides or says what is wrong. `program.Bank.evaluate` does both.
"""

from __future__ import annotations

import numpy as np

from recombine.families.lilgym.scene import BOX, COLOR, SHAPE, SIZE, Codes, Counts, Instructions, Items, Numbers, X, Y

KERNEL = True

MAX_KERNEL_ITEMS = 62
"""Items of a scene that fit a signed word; scenes with more go to the plain interpreter."""
CLOSELY, NEARBY, CONTACT = 4, 10, 1
"""Pixels up to which items touch closely, are close, and touch."""
SECOND_LEVEL, THIRD_LEVEL = 21, 42
"""Lower edges, in pixels, of the second and the third block of a tower."""
HEADER = 38
"""Sets of items per scene, at the places named below."""
ROWS = 13
"""Rows per item: its relations to others as sets, then its attributes."""
ALL, BOX_SETS, COLOR_SETS, SHAPE_SETS, SIZE_SETS = 0, 1, 4, 7, 10
TOP, BOTTOM, SECOND, THIRD, IN_TOWER, TOWERS = 13, 14, 15, 16, 17, 18
WALLS, CORNERS = 20, 35
TOUCHING, CLOSE, ABOVE, BELOW, ALL_ABOVE, ALL_BELOW, IMAGE_ABOVE, IMAGE_BELOW, FACING = 0, 1, 2, 3, 4, 5, 6, 7, 8
COLOR_ROW, SHAPE_ROW, SIZE_ROW, BOX_ROW = 9, 10, 11, 12

HALT, IMM, MOV, AND, OR, ANDNOT, NOT, POP, NZ, EQ, LT, LE, ADD, MOD, JZ, JNZ, JMP, ITER, BIT, TEST = range(20)
ROW, UNIQUE, NTH, SPREAD, VALUES, SEQ, SEQSET, PUSH, BEYOND, INTBIT, FAIL, SELECT, FIRST = range(20, 33)

REGISTERS = 512
MAX_STEPS = 200_000
MAX_SEQ = 30


def lowest(word: int) -> int:
    """The index of the lowest set bit of a word that is not 0."""
    place = 0
    if word & 0xFFFFFFFF == 0:
        word >>= 32
        place += 32
    if word & 0xFFFF == 0:
        word >>= 16
        place += 16
    if word & 0xFF == 0:
        word >>= 8
        place += 8
    if word & 0xF == 0:
        word >>= 4
        place += 4
    if word & 3 == 0:
        word >>= 2
        place += 2
    if word & 1 == 0:
        place += 1
    return place


def popcount(word: int) -> int:
    """How many bits are set."""
    total = 0
    while word != 0:
        word &= word - 1
        total += 1
    return total


def prepare_one(items: Items, count: int, words: Numbers, width: int) -> None:
    """One scene's words: HEADER sets, then ROWS rows of `width`."""
    for k in range(HEADER):
        words[k] = 0
    if count > MAX_KERNEL_ITEMS:
        words[HEADER - 1] = -1
        return
    one = np.int64(1)
    words[ALL] = (one << count) - one
    for i in range(count):
        bit = one << i
        words[BOX_SETS + items[i, BOX]] |= bit
        words[COLOR_SETS + items[i, COLOR]] |= bit
        words[SHAPE_SETS + items[i, SHAPE]] |= bit
        words[SIZE_SETS + items[i, SIZE] // 10 - 1] |= bit
        words[HEADER + COLOR_ROW * width + i] = items[i, COLOR]
        words[HEADER + SHAPE_ROW * width + i] = items[i, SHAPE]
        words[HEADER + SIZE_ROW * width + i] = items[i, SIZE] // 10 - 1
        words[HEADER + BOX_ROW * width + i] = items[i, BOX]
        for level in range(3):
            near = (0, CLOSELY, NEARBY)[level]
            touched = 0
            left, right = np.int64(items[i, X]), np.int64(100 - items[i, X] - items[i, SIZE])
            top, bottom = np.int64(items[i, Y]), np.int64(100 - items[i, Y] - items[i, SIZE])
            for side in range(4):
                if (left, right, top, bottom)[side] <= near:
                    words[WALLS + 5 * level + 1 + side] |= bit
                    touched += 1
            if touched > 0:
                words[WALLS + 5 * level] |= bit
            if touched == 2:
                words[CORNERS + level] |= bit
    for box in range(3):
        prepare_ranks(items, count, words, box)
    for i in range(count):
        prepare_relations(items, count, words, width, i)


def prepare_ranks(items: Items, count: int, words: Numbers, box: int) -> None:
    """Which items of a box are its top, bottom, second and third, and whether it is a tower."""
    one = np.int64(1)
    low, high, right = 10_000, -10_000, -10_000
    tower = True
    for i in range(count):
        if items[i, BOX] == box:
            top = 100 - items[i, Y]
            low, high = min(low, top), max(high, top)
            edge = items[i, X] + items[i, SIZE]
            if items[i, SHAPE] != 1 or (right > -10_000 and edge != right):
                tower = False
            right = edge
    if right == -10_000:
        return
    if tower:
        words[TOWERS] |= one << box
    for i in range(count):
        if items[i, BOX] == box:
            bit = one << i
            top = 100 - items[i, Y]
            if top == high:
                words[TOP] |= bit
            if top == low:
                words[BOTTOM] |= bit
            if tower:
                words[IN_TOWER] |= bit
                if top - items[i, SIZE] == SECOND_LEVEL:
                    words[SECOND] |= bit
                if top - items[i, SIZE] == THIRD_LEVEL:
                    words[THIRD] |= bit


def prepare_relations(items: Items, count: int, words: Numbers, width: int, i: int) -> None:
    """The sets of items that stand in each relation to item i."""
    one = np.int64(1)
    for row in range(FACING + 1):
        words[HEADER + row * width + i] = 0
    left, right = items[i, X], items[i, X] + items[i, SIZE]
    top, bottom = 100 - items[i, Y], 100 - items[i, Y] - items[i, SIZE]
    tower = (words[IN_TOWER] >> i) & 1 == 1
    for j in range(count):
        bit = one << j
        left_j, right_j = items[j, X], items[j, X] + items[j, SIZE]
        top_j, bottom_j = 100 - items[j, Y], 100 - items[j, Y] - items[j, SIZE]
        if (
            abs(left - right_j) <= CLOSELY
            or abs(right - left_j) <= CLOSELY
            or abs(top - bottom_j) <= CLOSELY
            or abs(bottom - top_j) <= CLOSELY
        ):
            words[HEADER + FACING * width + i] |= bit
        if j == i:
            continue
        above, below = bottom_j >= top, top_j <= bottom
        if above:
            words[HEADER + IMAGE_ABOVE * width + i] |= bit
        if below:
            words[HEADER + IMAGE_BELOW * width + i] |= bit
        if items[j, BOX] != items[i, BOX]:
            continue
        gap = max(max(left - right_j, left_j - right), max(bottom - top_j, bottom_j - top))
        if gap <= CONTACT:
            words[HEADER + TOUCHING * width + i] |= bit
        if gap <= CLOSELY:
            words[HEADER + CLOSE * width + i] |= bit
        if above:
            words[HEADER + ALL_ABOVE * width + i] |= bit
            if not tower or gap <= CONTACT:
                words[HEADER + ABOVE * width + i] |= bit
        if below:
            words[HEADER + ALL_BELOW * width + i] |= bit
            if not tower or gap <= CONTACT:
                words[HEADER + BELOW * width + i] |= bit


def prepare(items: Items, counts: Counts, words: Numbers) -> None:
    """The words (n, HEADER + ROWS * width) int64 of many padded scenes (n, width, 6) int16."""
    for n in range(len(counts)):
        prepare_one(items[n], counts[n], words[n], items.shape[1])


def collect(op: int, a: int, b: int, c: int, words: Numbers, width: int, r: Numbers) -> bool:
    """Operations that walk over a set or a sequence; False if the value cannot be decided here."""
    one = np.int64(1)
    left, found = r[b], np.int64(0)
    if op == SPREAD:
        while left != 0:
            found |= words[HEADER + c * width + lowest(left)]
            left &= left - 1
    elif op == NTH:
        place = r[c]
        while left != 0 and place > 0:
            left &= left - 1
            place -= 1
        if left == 0 or place < 0:
            return False
        found = np.int64(lowest(left))
    elif op == FIRST:
        place = r[c]
        while left != 0 and place > 0:
            found |= left & ~(left - 1)
            left &= left - 1
            place -= 1
    elif op == SEQ:
        if popcount(left) > MAX_SEQ:
            return False
        found = one
        while left != 0:
            found = found * 4 + words[HEADER + c * width + lowest(left)]
            left &= left - 1
    elif op == SEQSET:
        while left > 1:
            found |= one << (left & 3)
            left >>= 2
    else:
        return False
    r[a] = found
    return True


def compute(op: int, a: int, b: int, c: int, words: Numbers, width: int, r: Numbers) -> bool:
    """Operations that only set register a; False if the value cannot be decided here."""
    one = np.int64(1)
    if op == ROW:
        r[a] = words[HEADER + c * width + r[b]]
    elif op == SELECT:
        r[a] = r[b + r[c]]
    elif op == OR:
        r[a] = r[b] | r[c]
    elif op == ANDNOT:
        r[a] = r[b] & ~r[c]
    elif op == NOT:
        r[a] = 1 - r[b]
    elif op == EQ:
        r[a] = 1 if r[b] == r[c] else 0
    elif op == LT:
        r[a] = 1 if r[b] < r[c] else 0
    elif op == LE:
        r[a] = 1 if r[b] <= r[c] else 0
    elif op == UNIQUE:
        if r[b] == 0 or r[b] & (r[b] - 1) != 0:
            return False
        r[a] = lowest(r[b])
    elif op == VALUES:
        r[a] = (1 if r[b] & r[c] else 0) | (2 if r[b] & r[c + 1] else 0) | (4 if r[b] & r[c + 2] else 0)
    elif op == BEYOND:
        r[a] = r[b] & ~((one << r[c]) | ((one << r[c]) - 1))
    elif op == ADD:
        r[a] = r[b] + r[c]
    elif op == MOD:
        if r[c] == 0:
            return False
        r[a] = r[b] % r[c]
    elif op == PUSH:
        if r[b] >= one << (2 * MAX_SEQ) or r[c] < 0 or r[c] > 3:
            return False
        r[a] = r[b] * 4 + r[c]
    elif op == INTBIT:
        if r[b] < 0 or r[b] > MAX_KERNEL_ITEMS:
            return False
        r[a] = one << r[b]
    else:
        return collect(op, a, b, c, words, width, r)
    return True


def run(code: Instructions, start: int, stop: int, words: Numbers, width: int, r: Numbers) -> int:
    """One program on one prepared scene, with registers r (int64): 0, 1, or 2 if it cannot be decided here."""
    if words[HEADER - 1] == -1:
        return 2
    for k in range(HEADER):
        r[k] = words[k]
    pc = start
    for _ in range(MAX_STEPS):
        if pc >= stop:
            return 2
        op, a, b, c = int(code[pc, 0]), int(code[pc, 1]), int(code[pc, 2]), int(code[pc, 3])
        pc += 1
        if op == AND:
            r[a] = r[b] & r[c]
        elif op == ITER:
            if r[b] == 0:
                pc = start + c
            else:
                r[a] = lowest(r[b])
                r[b] &= r[b] - 1
        elif op == JZ:
            if r[a] == 0:
                pc = start + b
        elif op == JNZ:
            if r[a] != 0:
                pc = start + b
        elif op == JMP:
            pc = start + a
        elif op == MOV:
            r[a] = r[b]
        elif op == IMM:
            r[a] = b
        elif op == NZ:
            r[a] = 1 if r[b] != 0 else 0
        elif op == POP:
            r[a] = popcount(r[b])
        elif op == BIT:
            r[a] = np.int64(1) << r[b]
        elif op == TEST:
            r[a] = (r[b] >> r[c]) & 1
        elif op == HALT:
            return 1 if r[a] != 0 else 0
        elif not compute(op, a, b, c, words, width, r):
            return 2
    return 2


def evaluate_prepared(
    code: Instructions,
    code_offsets: Numbers,
    program_index: Numbers,
    scene_index: Numbers,
    words: Numbers,
    width: int,
    registers: Numbers,
    out: Codes,
) -> None:
    """out[i] (int8) = program program_index[i] on prepared scene scene_index[i]; registers is scratch, int64, REGISTERS long."""
    for i in range(len(program_index)):
        p = program_index[i]
        out[i] = run(code, code_offsets[p], code_offsets[p + 1], words[scene_index[i]], width, registers)


def evaluate_batch(
    code: Instructions,
    code_offsets: Numbers,
    program_index: Numbers,
    items: Items,
    counts: Counts,
    words: Numbers,
    registers: Numbers,
    out: Codes,
) -> None:
    """Prepare scene i and run program program_index[i] on it, for all i. `words`, `registers` are scratch, and `out` the result.

    code int32 (instructions, 4); code_offsets int64 (programs + 1); program_index int64 (n); items int16 (n, width, 6);
    counts int64 (n); words int64 (HEADER + ROWS * width); registers int64 (REGISTERS); out int8 (n).
    """
    width = items.shape[1]
    for i in range(len(program_index)):
        p = program_index[i]
        prepare_one(items[i], counts[i], words, width)
        out[i] = run(code, code_offsets[p], code_offsets[p + 1], words, width, registers)
