"""The oracle's laws over many rows at once: a deliberate second implementation, like `oracle`, so do not merge it with the generator.

No bit masks and no sets kept up to date: every world's relations are written out as tables of pairs, and the objects that a
command can mean are found by trying every combination of objects, phrase by phrase. Each law that a row breaks sets one bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recombine.families.reascan.oracle_batch import Sheet

Ints = NDArray[np.int64]

KERNEL = True
LEAN = True

REFERENT, DETERMINER, BINDING, ACTIONS, READING, SIZES, NEED, MARK, REPLAY, SHARED, SWAPS = (
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
)  # fmt: skip
"""What each bit of the result says is broken."""
SIZE_WORD, COLOR_WORD, HEAD, PARENT, RELATION, IS_THE = 0, 1, 2, 3, 4, 5
"""Columns of a phrase: size word 0–2 (none, small, big), colour and head -1 if open, box 3, relation 0–5 (inside 5)."""
THING_SIZE, THING_COLOR, THING_SHAPE, THING_ROW, THING_COLUMN = 0, 1, 2, 3, 4
IS_BOX = 3
MOST_MARKS, MOST_NOUNS = 64, 9
SWAP_FROM, NOUNS_CODE = 64, 8
"""An isomorphic decoy catches reader 64 + 8 * a + b, who swaps a word between nouns a and b."""
MOST, MOST_GRID = 32, 24
"""Rows of a world, and the largest grid. Callers check every input against them: nothing is checked here."""


def is_related(world: Ints, relation: int, a: int, b: int) -> Any:
    """Whether object a is in the relation to object b."""
    if a == b:
        return False
    if relation == 0:
        return world[a, THING_ROW] == world[b, THING_ROW]
    if relation == 1:
        return world[a, THING_COLUMN] == world[b, THING_COLUMN]
    if relation == 2:
        return world[a, THING_COLOR] == world[b, THING_COLOR]
    if relation == 3:
        return world[a, THING_SHAPE] == world[b, THING_SHAPE]
    if relation == 4:
        return world[a, THING_SIZE] == world[b, THING_SIZE]
    if world[b, THING_SHAPE] != IS_BOX:
        return False
    below, right = world[a, THING_ROW] - world[b, THING_ROW], world[a, THING_COLUMN] - world[b, THING_COLUMN]
    return below >= 0 and right >= 0 and below < world[b, THING_SIZE] and right < world[b, THING_SIZE]


def is_member(world: Ints, i: int, color: int, head: int) -> Any:
    """Whether object i belongs to the comparison class."""
    return (color < 0 or world[i, THING_COLOR] == color) and (head < 0 or world[i, THING_SHAPE] == head)


def is_true_of(world: Ints, n: int, i: int, size: int, color: int, head: int, superlative: bool) -> Any:
    """Whether the phrase is true of object i, relations aside."""
    if not is_member(world, i, color, head):
        return False
    if size == 0:
        return True
    has_larger, has_smaller = False, False
    for o in range(n):
        if is_member(world, o, color, head):
            has_larger = has_larger or world[o, THING_SIZE] > world[i, THING_SIZE]
            has_smaller = has_smaller or world[o, THING_SIZE] < world[i, THING_SIZE]
    if superlative:
        return not has_smaller if size == 1 else not has_larger
    return has_larger if size == 1 else has_smaller


def sizes_in_class(world: Ints, n: int, color: int, head: int) -> Any:
    """How many different sizes the class has."""
    found = 0
    for size in range(1, 5):
        for i in range(n):
            if world[i, THING_SIZE] == size and is_member(world, i, color, head):
                found += 1
                break
    return found


def rivals(
    world: Ints,
    n: int,
    said: Ints,
    k: int,
    gone: Ints,
    superlative: bool,
    can_share: bool,
    choice: Ints,
    truth: Ints,
    need: int,
) -> Any:
    """How many objects the phrases with gone[j] == 0 can mean, counted up to `need`; every combination of objects is tried.

    `can_share`: two phrases may mean the same object, but no object is related to itself.
    """
    for j in range(k):
        for i in range(n):
            truth[j, i] = 0
            if gone[j] == 0 and is_true_of(world, n, i, said[j, SIZE_WORD], said[j, COLOR_WORD], said[j, HEAD], superlative):
                truth[j, i] = 1
    found = 0
    for root in range(n):
        if truth[0, root] == 1 and completes(world, n, said, k, gone, can_share, choice, truth, root):
            found += 1
            if found >= need:
                return found
    return found


def completes(
    world: Ints, n: int, said: Ints, k: int, gone: Ints, can_share: bool, choice: Ints, truth: Ints, root: int
) -> Any:
    """Whether the other phrases find different objects if the first one is `root`: an odometer over all choices."""
    choice[0] = root
    j = 1
    if k > 1:
        choice[1] = -1
    while j > 0:
        if j == k:
            return True
        if gone[j] == 1:
            choice[j] = n if choice[j] >= 0 else 0
            if choice[j] == n:
                j -= 1
                continue
            choice[j] = 0
            j += 1
            if j < k:
                choice[j] = -1
            continue
        choice[j] += 1
        while choice[j] < n and not fits_here(world, said, gone, can_share, choice, truth, j):
            choice[j] += 1
        if choice[j] >= n:
            j -= 1
            continue
        j += 1
        if j < k:
            choice[j] = -1
    return k == 1


def fits_here(world: Ints, said: Ints, gone: Ints, can_share: bool, choice: Ints, truth: Ints, j: int) -> Any:
    """Whether the object chosen for phrase j fits it, has its relation to the parent's object, and, unless phrases may share one, is not chosen earlier."""
    if truth[j, choice[j]] == 0:
        return False
    for e in range(j):
        if not can_share and gone[e] == 0 and choice[e] == choice[j]:
            return False
    return is_related(world, said[j, RELATION], choice[said[j, PARENT]], choice[j])


# --- acting ----------------------------------------------------------------------------------------------------------


def emit(out: Ints, m: int, action: int, is_spin: bool, is_careful: bool, is_slow: bool, turn: int) -> Any:
    """Append one step with its turn (0 none, 1 right, 2 half, 3 left) and its manner; actions: walk, push, pull, stay, left, right."""
    if is_spin:
        for _ in range(4):
            out[m] = 4
            m += 1
    if turn == 1:
        out[m] = 5
        m += 1
    elif turn >= 2:
        for _ in range(4 - turn):
            out[m] = 4
            m += 1
    if is_careful:
        out[m], out[m + 1], out[m + 2], out[m + 3] = 4, 5, 5, 4
        m += 4
    out[m] = action
    m += 1
    if is_slow:
        out[m] = 3
        m += 1
    return m


def write_plan(world: Ints, n: int, grid: int, row: int, column: int, verb: int, adverb: int, out: Ints) -> Any:
    """The actions for object 0 by the rules of movement; returns how many. Headings: 0 east, 1 south, 2 west, 3 north."""
    is_zigzag, is_spin, is_careful, is_slow = adverb == 1, adverb == 2, adverb == 3, adverb == 4
    goal_row, goal_column = world[0, THING_ROW], world[0, THING_COLUMN]
    facing, m = 0, 0
    takes_turns = is_zigzag and row != goal_row and column != goal_column
    is_column_due = True
    while row != goal_row or column != goal_column:
        is_across = column != goal_column
        if takes_turns and row != goal_row and column != goal_column:
            is_across = is_column_due
            is_column_due = not is_column_due
        if is_across:
            way = 0 if goal_column > column else 2
            column += 1 - way
        else:
            way = 1 if goal_row > row else 3
            row += 2 - way
        m = emit(out, m, 0, is_spin, is_careful, is_slow, (way - facing) % 4)
        facing = way
    if verb == 0:
        return m
    way = facing if verb == 1 else (facing + 2) % 4
    down, right = (way == 1) - (way == 3), (way == 0) - (way == 2)
    efforts = 2 if world[0, THING_SIZE] > 2 else 1
    row, column = goal_row + down, goal_column + right
    while is_clear(world, n, grid, row, column):
        for _ in range(efforts):
            m = emit(out, m, verb, is_spin, is_careful, is_slow, 0)
        row, column = row + down, column + right
    return m


def is_clear(world: Ints, n: int, grid: int, row: int, column: int) -> Any:
    """Whether the cell is in the grid and holds no object but boxes (and the target itself)."""
    if row < 0 or column < 0 or row >= grid or column >= grid:
        return False
    for i in range(1, n):
        if world[i, THING_ROW] == row and world[i, THING_COLUMN] == column and world[i, THING_SHAPE] != IS_BOX:
            return False
    return True


def acts_out(world: Ints, n: int, grid: int, row: int, column: int, verb: int, actions: Ints, m: int) -> Any:
    """Whether the actions can be done one by one, and end with the agent and the target in one cell (the target's, for a walk)."""
    facing, strain = 0, 0
    target_row, target_column = world[0, THING_ROW], world[0, THING_COLUMN]
    for k in range(m):
        action = actions[k]
        if action == 3:
            continue
        if action >= 4:
            facing = (facing + (3 if action == 4 else 1)) % 4
            continue
        way = (facing + 2) % 4 if action == 2 else facing
        next_row, next_column = row + (way == 1) - (way == 3), column + (way == 0) - (way == 2)
        if next_row < 0 or next_column < 0 or next_row >= grid or next_column >= grid:
            return False
        if action > 0:
            if row != target_row or column != target_column or not is_clear(world, n, grid, next_row, next_column):
                return False
            strain += 1
            if strain < (2 if world[0, THING_SIZE] > 2 else 1):
                continue
            strain = 0
            target_row, target_column = next_row, next_column
        row, column = next_row, next_column
    is_met = row == target_row and column == target_column and strain == 0
    if verb == 0:
        return is_met and target_row == world[0, THING_ROW] and target_column == world[0, THING_COLUMN]
    return is_met


# --- the laws --------------------------------------------------------------------------------------------------------


def need_flags(
    world: Ints, n: int, said: Ints, k: int, marked: Ints, n_marked: int, gone: Ints, choice: Ints, truth: Ints, readings: int
) -> Any:
    """NEED for a word or clause that can be left out unmarked, MARK for a mark on one that cannot."""
    broken = 0
    for j in range(k):
        for kind in range(4):
            for e in range(k):
                gone[e] = 0
            kept = said[j, kind] if kind < 3 else 0
            if (
                (kind == 0 and kept == 0)
                or (kind == 1 and kept < 0)
                or (kind == 2 and (kept < 0 or kept == IS_BOX))
                or (kind == 3 and j == 0)
            ):
                continue
            if kind < 3:
                said[j, kind] = 0 if kind == 0 else -1
            else:
                gone[j] = 1
                for e in range(j + 1, k):
                    if gone[said[e, PARENT]] == 1:
                        gone[e] = 1
            is_needed = True
            for reading in range(readings):
                is_needed = is_needed and rivals(world, n, said, k, gone, reading == 1, False, choice, truth, 2) == 2
            if kind < 3:
                said[j, kind] = kept
            is_marked = False
            for e in range(n_marked):
                is_marked = is_marked or marked[e] == 8 * j + kind
            if not is_needed and not is_marked:
                broken |= NEED
            if is_needed and is_marked:
                broken |= MARK
    return broken


def swap_flags(world: Ints, n: int, said: Ints, k: int, catches: Ints, gone: Ints, choice: Ints, truth: Ints) -> Any:
    """SWAPS if the isomorphic decoys of some pair of phrases are not what a reader takes who swaps a word between the two."""
    for j in range(k):
        gone[j] = 0
    for i in range(n):
        if catches[i] < SWAP_FROM:
            continue
        a, b = (catches[i] - SWAP_FROM) // NOUNS_CODE, catches[i] % NOUNS_CODE
        if a >= k or b >= k or a == b:
            return SWAPS
        is_caught = False
        for kind in range(3):
            x, y = said[a, kind], said[b, kind]
            is_absent = x == 0 or y == 0 if kind == 0 else x < 0 or y < 0
            if is_absent or x == y or (kind == HEAD and IS_BOX in (x, y)):
                continue
            said[a, kind], said[b, kind] = y, x
            rivals(world, n, said, k, gone, False, False, choice, truth, 0)
            for o in range(n):
                if catches[o] == catches[i] and truth[0, o] == 1:
                    is_caught = is_caught or completes(world, n, said, k, gone, False, choice, truth, o)
            said[a, kind], said[b, kind] = x, y
        if not is_caught:
            return SWAPS
    return 0


def check_rows(sheet: Sheet, is_sound: bool, broken: Ints) -> None:
    """Set broken[i] for each row of the sheet; `oracle_batch` has checked that every number is within its bounds."""
    world = np.zeros((MOST, 5), dtype=np.int64)
    said = np.zeros((MOST_NOUNS, 6), dtype=np.int64)
    gone = np.zeros(MOST_NOUNS, dtype=np.int64)
    choice = np.zeros(MOST_NOUNS + 1, dtype=np.int64)
    truth = np.zeros((MOST_NOUNS, MOST), dtype=np.int64)
    out = np.zeros(20 * MOST_GRID + 16, dtype=np.int64)
    marked = np.zeros(MOST_MARKS, dtype=np.int64)
    start, first, mark = 0, 0, 0
    for i in range(sheet.counts.shape[0]):
        n, k, grid = sheet.ends[i] - start, sheet.counts[i], sheet.grids[i]
        row, column, verb, adverb = sheet.agents[i, 0], sheet.agents[i, 1], sheet.manners[i, 0], sheet.manners[i, 1]
        for o in range(n):
            for a in range(5):
                world[o, a] = sheet.things[start + o, a]
        for j in range(k):
            gone[j] = 0
            for a in range(6):
                said[j, a] = sheet.nouns[i, j, a]
        n_marked = sheet.mark_ends[i] - mark
        for e in range(n_marked):
            marked[e] = sheet.marks[mark + e]
        broken[i] = world_flags(world, n, said, k, gone, choice, truth, is_sound)
        # The answer is the plan that the rules of movement give.
        m = write_plan(world, n, grid, row, column, verb, adverb, out)
        if m != sheet.step_ends[i] - first:
            broken[i] |= ACTIONS
        else:
            for e in range(m):
                if out[e] != sheet.steps[first + e]:
                    broken[i] |= ACTIONS
        # The answer can be acted out.
        last = sheet.step_ends[i]
        if not acts_out(world, n, grid, row, column, verb, sheet.steps[first:last], last - first):
            broken[i] |= REPLAY
        if is_sound:
            broken[i] |= need_flags(world, n, said, k, marked, n_marked, gone, choice, truth, 2)
            broken[i] |= swap_flags(world, n, said, k, sheet.catches[start : sheet.ends[i]], gone, choice, truth)
        start, first, mark = sheet.ends[i], sheet.step_ends[i], sheet.mark_ends[i]


def world_flags(world: Ints, n: int, said: Ints, k: int, gone: Ints, choice: Ints, truth: Ints, is_sound: bool) -> Any:
    """Referent, determiners, binding, and for sound rows the size laws."""
    broken = 0
    if rivals(world, n, said, k, gone, False, False, choice, truth, 2) != 1:
        broken |= REFERENT
    for j in range(k):
        fitting = 0
        for o in range(n):
            fitting += truth[j, o]
        if said[j, IS_THE] != (1 if j == 0 or fitting == 1 else 0):
            broken |= DETERMINER
        if is_sound and (
            j >= n or truth[j, j] == 0 or (j > 0 and not is_related(world, said[j, RELATION], said[j, PARENT], j))
        ):
            broken |= BINDING
    if not completes(world, n, said, k, gone, False, choice, truth, 0) or truth[0, 0] == 0:
        broken |= REFERENT
    if not is_sound:
        return broken
    if (
        rivals(world, n, said, k, gone, True, False, choice, truth, 2) != 1
        or truth[0, 0] == 0
        or not completes(world, n, said, k, gone, False, choice, truth, 0)
    ):
        broken |= READING
    # One referent also if two phrases may mean the same object, under both readings of size words.
    for reading in range(2):
        if rivals(world, n, said, k, gone, reading == 1, True, choice, truth, 2) > 1:
            broken |= SHARED
    # The class of a sized phrase has two sizes, also without its colour word or its shape word.
    for j in range(k):
        if said[j, SIZE_WORD] == 0:
            continue
        color, head = said[j, COLOR_WORD], said[j, HEAD]
        if (
            sizes_in_class(world, n, color, head) != 2
            or sizes_in_class(world, n, -1, head) != 2
            or sizes_in_class(world, n, color, -1) != 2
        ):
            broken |= SIZES
    return broken
