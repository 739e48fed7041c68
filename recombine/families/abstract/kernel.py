"""Referents and elimination in arrays: the hot part of the family.

A world is `things[n, 5]` (see `recombine.grid.codes`); in a world that the generator builds, object 0 is the referent and
objects 1 and 2 are what the other phrases mean. Sets of objects are bits of one word. For effects see `effect_kernel`.

A hypothesis is a row of `list_forms`, `list_reads`, `list_masks`: a form, a reading (bit 0: superlative size words; bit 1: phrases
may share an object) and the set of operations that still fit.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints
from recombine.families.abstract.effect_kernel import CODE_BASE, effect, object_code
from recombine.families.abstract.operations import ADD_SIZE, COPY
from recombine.grid.codes import COLOR, COLUMN, ROW, SHAPE, SIZE
from recombine.grid.kernel import children, index_things, lowest, popcount

KERNEL = True
LEAN = True

SIMPLE, ONE, TWO, NESTED = 0, 1, 2, 3
N_PHRASES, N_STEPS, N_RELATIONS = 75, 450, 6
N_CLASSES, N_WORDS = 25, 5
"""Phrases without a size word; colour words (or shape words) with the empty one."""
IDLE = -1
MAX_SIZE = 4
FULL = -2
"""The list of hypotheses has no room; the draw is given up."""
ALL_OPERATIONS = -1
"""The set of all operations, as bits."""


# --- referents -------------------------------------------------------------------------------------------------------


def extreme(sets: Ints, members: int, is_high: bool) -> Any:
    """The smallest or largest size among the members, which must not be empty."""
    for k in range(MAX_SIZE):
        size = MAX_SIZE - k if is_high else 1 + k
        if sets[SIZE, size] & members:
            return size
    return 0


def look(things: Ints, n: int, sets: Ints, fits: Ints, rel: Ints) -> None:
    """Fill `fits[2, 75]`, the objects that each phrase fits, and `rel[6, n]`, the objects to which each one is related."""
    everything = index_things(things, n, sets)
    for code in range(N_CLASSES):
        members = everything
        if code // N_WORDS:
            members &= sets[COLOR, code // N_WORDS - 1]
        if code % N_WORDS:
            members &= sets[SHAPE, code % N_WORDS - 1]
        low = sets[SIZE, extreme(sets, members, False)] & members
        high = sets[SIZE, extreme(sets, members, True)] & members
        fits[0, code] = fits[1, code] = members
        # Pairwise: something of the class is larger (smaller). Superlative: nothing of the class is smaller (larger).
        fits[0, N_CLASSES + code] = members & ~high
        fits[0, 2 * N_CLASSES + code] = members & ~low
        fits[1, N_CLASSES + code] = low
        fits[1, 2 * N_CLASSES + code] = high
    for r in range(N_RELATIONS):
        for i in range(n):
            rel[r, i] = children(things, sets, r, i)


def is_bound(fits: Ints, rel: Ints, pattern: int, first: int, second: int, can_share: int, i: int) -> Any:
    """Whether the other phrases can be bound if the first one means object i."""
    if pattern == SIMPLE:
        return True
    near = rel[first // N_PHRASES, i] & fits[first % N_PHRASES]
    if near == 0 or pattern == ONE:
        return near != 0
    if pattern == TWO:
        other = rel[second // N_PHRASES, i] & fits[second % N_PHRASES]
        return other != 0 and (can_share or near != other or near & (near - 1) != 0)
    hidden = 0 if can_share else 1 << i
    while near:
        j = lowest(near)
        near &= near - 1
        if rel[second // N_PHRASES, j] & fits[second % N_PHRASES] & ~hidden:
            return True
    return False


def only_meant(fits: Ints, rel: Ints, pattern: int, root: int, first: int, second: int, can_share: int) -> Any:
    """The one object that the description can mean; -1 if it means several or none. Stops at the second."""
    found, left = -1, fits[root]
    while left:
        i = lowest(left)
        left &= left - 1
        if is_bound(fits, rel, pattern, first, second, can_share, i):
            if found >= 0:
                return -1
            found = i
    return found


def pivot_of(fits: Ints, rel: Ints, pattern: int, first: int, second: int, can_share: int, t: int) -> Any:
    """The one object that the second phrase can mean if the first means t; -1 if there are several or none."""
    if pattern != ONE and pattern != NESTED:
        return -1
    near = rel[first // N_PHRASES, t] & fits[first % N_PHRASES]
    if pattern == NESTED:
        hidden = 0 if can_share else 1 << t
        left, near = near, 0
        while left:
            j = lowest(left)
            left &= left - 1
            if rel[second // N_PHRASES, j] & fits[second % N_PHRASES] & ~hidden:
                near |= 1 << j
    if near == 0 or near & (near - 1) != 0:
        return -1
    return lowest(near)


# --- elimination -----------------------------------------------------------------------------------------------------


def may_change(things: Ints, t: int, shown: int) -> Any:
    """Whether the shown effect can be one on object t: nothing goes, or t goes."""
    if shown < CODE_BASE:
        return True
    code = object_code(things[t, ROW], things[t, COLUMN], things[t, COLOR], things[t, SHAPE], things[t, SIZE])
    return code == shown // CODE_BASE


def matching_operations(things: Ints, n: int, grid: int, table: Ints, shown: int, ops: Ints) -> Any:
    """Write the operations that can give the shown effect on some object to `ops`; returns how many."""
    m = 0
    for o in range(table.shape[0]):
        is_hit = False
        if (table[o, ADD_SIZE] != IDLE) == (shown < CODE_BASE):
            for t in range(n):
                if not may_change(things, t, shown):
                    continue
                if table[o, COPY] == IDLE:
                    is_hit = is_hit or effect(things, n, grid, table[o], t, -1) == shown
                else:
                    for p in range(n):
                        is_hit = is_hit or (p != t and effect(things, n, grid, table[o], t, p) == shown)
        if is_hit and m < len(ops):
            ops[m] = o
            m += 1
    return m


def operation_masks(
    things: Ints, n: int, grid: int, table: Ints, shown: int, ops: Ints, m: int, plain: Ints, copied: Ints
) -> None:
    """plain[t]: which of the m operations turn object t into what is shown; copied[t, p]: those that copy from p."""
    for t in range(n):
        plain[t] = 0
        for p in range(n):
            copied[t, p] = 0
        if not may_change(things, t, shown):
            continue
        for k in range(m):
            op = table[ops[k]]
            if op[COPY] == IDLE:
                if effect(things, n, grid, op, t, -1) == shown:
                    plain[t] |= 1 << k
            else:
                for p in range(n):
                    if p != t and effect(things, n, grid, op, t, p) == shown:
                        copied[t, p] |= 1 << k


def surviving(fits: Ints, rel: Ints, form: int, reading: int, mask: int, plain: Ints, copied: Ints, copies: int) -> Any:
    """Which operations of `mask` still fit the hypothesis in a world that was looked at; 0 if its referent is not unique."""
    second = form % N_STEPS
    first = form // N_STEPS % N_STEPS
    root = form // (N_STEPS * N_STEPS) % N_PHRASES
    pattern = form // (N_STEPS * N_STEPS * N_PHRASES)
    here = fits[reading & 1]
    t = only_meant(here, rel, pattern, root, first, second, reading >> 1)
    if t < 0:
        return 0
    allowed = plain[t]
    if mask & copies:
        p = pivot_of(here, rel, pattern, first, second, reading >> 1, t)
        if p >= 0:
            allowed |= copied[t, p]
    return mask & allowed


def fill_reach(here: Ints, rel: Ints, n: int, reach: Ints) -> None:
    """reach[step]: the objects that stand in the step's relation to one that its phrase fits."""
    for step in range(N_STEPS):
        found, seen = 0, here[step % N_PHRASES]
        if seen:
            for i in range(n):
                if rel[step // N_PHRASES, i] & seen:
                    found |= 1 << i
        reach[step] = found


def fill_image(here: Ints, rel: Ints, n: int, steps: Ints, counts: Ints, reach: Ints, image: Ints) -> None:
    """image[first, c]: the objects from which the first step leads to one that has step c of its phrase."""
    for first in range(N_STEPS):
        middle = first % N_PHRASES
        for c in range(counts[middle]):
            found, between = 0, here[middle] & reach[steps[middle, c]]
            if between:
                for i in range(n):
                    if rel[first // N_PHRASES, i] & between:
                        found |= 1 << i
            image[first, c] = found


def changed_objects(n: int, plain: Ints, copied: Ints) -> Any:
    """The objects on which some operation gives what is shown."""
    changed = 0
    for t in range(n):
        some = plain[t]
        for p in range(n):
            some |= copied[t, p]
        if some:
            changed |= 1 << t
    return changed


def enumerate_space(
    fits: Ints, rel: Ints, n: int, deepest: int, roots: Ints, steps: Ints, counts: Ints, plain: Ints, copied: Ints, copies: int,
    reach: Ints, image: Ints, forms: Ints, reads: Ints, masks: Ints,
) -> Any:  # fmt: skip
    """List every hypothesis of the space that fits one demonstration; returns how many, or FULL.

    `reach[450]` and `image[450, most]` are scratch. A hypothesis can fit only if it can mean an object that changed. If phrases may
    share objects, a description means exactly the objects that `reach` or `image` allow, so several of them rule it out at once.
    """
    changed = changed_objects(n, plain, copied)
    m = 0
    for reading in range(2):
        here = fits[reading]
        fill_reach(here, rel, n, reach)
        if deepest >= NESTED:
            fill_image(here, rel, n, steps, counts, reach, image)
        for a in range(len(roots)):
            root = roots[a]
            if here[root] & changed == 0:
                continue
            m = note(fits, rel, root * N_STEPS * N_STEPS, reading, plain, copied, copies, forms, reads, masks, m)
            for b in range(counts[root]):
                first = steps[root, b]
                some = here[root] & reach[first]
                if some & changed == 0:
                    continue
                if m >= len(forms) - 4 * N_STEPS:
                    return FULL
                code = ((ONE * N_PHRASES + root) * N_STEPS + first) * N_STEPS
                if some & (some - 1) == 0:
                    m = note(fits, rel, code, reading, plain, copied, copies, forms, reads, masks, m)
                if deepest >= TWO:
                    code += N_PHRASES * N_STEPS * N_STEPS
                    for c in range(b + 1, counts[root]):
                        second = steps[root, c]
                        both = some & reach[second]
                        if (
                            both & changed == 0
                            or first // N_PHRASES >= second // N_PHRASES
                            or (first - second) % N_PHRASES == 0
                        ):
                            continue
                        m = note(fits, rel, code + second, reading, plain, copied, copies, forms, reads, masks, m)
                        if both & (both - 1) == 0:
                            m = note(fits, rel, code + second, reading + 2, plain, copied, copies, forms, reads, masks, m)
                if deepest >= NESTED:
                    code += N_PHRASES * N_STEPS * N_STEPS
                    middle = first % N_PHRASES
                    for c in range(counts[middle]):
                        both = here[root] & image[first, c]
                        second = steps[middle, c]
                        if both & changed == 0 or second % N_PHRASES == root:
                            continue
                        m = note(fits, rel, code + second, reading, plain, copied, copies, forms, reads, masks, m)
                        if both & (both - 1) == 0:
                            m = note(fits, rel, code + second, reading + 2, plain, copied, copies, forms, reads, masks, m)
    return m


def note(
    fits: Ints, rel: Ints, form: int, reading: int, plain: Ints, copied: Ints, copies: int, forms: Ints, reads: Ints, masks: Ints, m: int
) -> Any:  # fmt: skip
    """Append the hypothesis if some operation fits it; returns the new length."""
    left = surviving(fits, rel, form, reading, ALL_OPERATIONS, plain, copied, copies)
    if left:
        forms[m], reads[m], masks[m] = form, reading, left
        m += 1
    return m


def narrow(
    fits: Ints, rel: Ints, forms: Ints, reads: Ints, masks: Ints, m: int, plain: Ints, copied: Ints, copies: int, is_rest: bool,
    out: Ints, most: int,
) -> Any:  # fmt: skip
    """out[h]: the operations of masks[h] that fit a world that was looked at; with `is_rest`, those that do not.

    Returns how many hypotheses have some; counting stops at `most`.
    """
    count = 0
    for h in range(m):
        out[h] = masks[h]
        if masks[h]:
            fitting = surviving(fits, rel, forms[h], reads[h], masks[h], plain, copied, copies)
            out[h] = masks[h] & ~fitting if is_rest else fitting
        if out[h]:
            count += 1
            if count >= most:
                break
    return count


def keep_fitting(
    fits: Ints, rel: Ints, forms: Ints, reads: Ints, masks: Ints, rivals: Ints, m: int, plain: Ints, copied: Ints, copies: int
) -> Any:
    """Drop the hypotheses that do not fit a world that was looked at; returns how many are left."""
    left = 0
    for h in range(m):
        mask = surviving(fits, rel, forms[h], reads[h], masks[h], plain, copied, copies)
        if mask:
            forms[left], reads[left], masks[left], rivals[left] = forms[h], reads[h], mask, rivals[h] & mask
            left += 1
    return left


def kept(masks: Ints, m: int) -> Any:
    """How many hypotheses with their operations are left."""
    total = 0
    for h in range(m):
        total += popcount(masks[h])
    return total
