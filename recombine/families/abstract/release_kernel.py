"""Tasks as the original notebook makes them: worlds are accepted if the description means one object, and nothing else is asked.

The operation may change nothing: an object that is red already stays as it is. Its effect is then UNCHANGED.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints, Words, below
from recombine.families.abstract.effect_kernel import NO_EFFECT, effect
from recombine.families.abstract.kernel import FULL, N_PHRASES, N_STEPS, kept, look, only_meant
from recombine.families.abstract.task_kernel import (
    COPIES,
    N_FIELDS,
    OPERATIONS,
    S_DEMONSTRATIONS,
    S_GRID,
    S_HIGH,
    S_WORLD_TRIES,
    TOO_MANY,
    Desk,
    Grammar,
    Sink,
    eliminate,
    first_hypotheses,
    set_masks,
)
from recombine.families.abstract.world_kernel import (
    CLASS_CODES,
    COLOR_CODES,
    FIRST,
    N_VALUES,
    PATTERN,
    PLACE_TRIES,
    ROOT,
    SECOND,
    adjust,
    code_of,
    dress,
    is_placed,
    node_count,
    relation_of,
    scatter,
)
from recombine.grid.codes import (
    COLOR,
    COLUMN,
    INSIDE,
    NO_SIZE,
    ROW,
    SAME_COLOR,
    SAME_COLUMN,
    SAME_ROW,
    SAME_SIZE,
    SHAPE,
    SIZE,
    SMALL,
)
from recombine.grid.kernel import popcount
from recombine.grid.size_bounds import bind, bound, clear_bounds

KERNEL = True
LEAN = True
UNCHANGED = 0
N_FIGURES = 3
"""Shapes that are no boxes."""
NO_WORLD = 1


def draw_kind(things: Ints, k: int, code: int, rng: Words) -> None:
    """Give object k the attributes of the phrase; what it does not say is uniform, and an "object" is never a box."""
    dress(things, k, code, rng)
    if code % COLOR_CODES == 0:
        things[k, SHAPE] = below(rng, N_FIGURES)


def draw_bounds(things: Ints, rule: Ints, bounds: Ints, rng: Words) -> None:
    """Bind the kinds of the objects that phrases with a size word mean. An "object" has a shape by now, which counts."""
    clear_bounds(bounds)
    for k in range(node_count(rule)):
        code = code_of(rule, k)
        if code // CLASS_CODES != NO_SIZE:
            bind(bounds, -1 if code // COLOR_CODES % COLOR_CODES == 0 else things[k, COLOR], things[k, SHAPE], rng)


def resize(things: Ints, k: int, is_small: bool, bounds: Ints) -> None:
    """Give object k the size to which its kind is bound; nothing if it is not."""
    size = bound(bounds, things[k, COLOR], things[k, SHAPE], is_small)
    if size > 0:
        things[k, SIZE] = size


def strange_kinds(things: Ints, rule: Ints) -> Any:
    """The kinds (bit 4 * colour + shape) that random objects may have: none of a phrase's object, none of the colour of a "red object".

    The shapes of the phrases' objects are out too while they and their kinds are fewer than three things: so for simple descriptions.
    """
    shapes, kinds = 0, 0
    for k in range(node_count(rule)):
        shapes |= 1 << things[k, SHAPE]
        kinds |= 1 << (N_VALUES * things[k, COLOR] + things[k, SHAPE])
        if code_of(rule, k) % COLOR_CODES == 0 and code_of(rule, k) // COLOR_CODES % COLOR_CODES != 0:
            kinds |= (1 << N_VALUES) - 1 << (N_VALUES * things[k, COLOR])
    is_strict = popcount(shapes) + popcount(kinds) < 3
    found = 0
    for color in range(N_VALUES):
        for shape in range(N_FIGURES):
            bit = N_VALUES * color + shape
            if (kinds >> bit) & 1 == 0 and not (is_strict and (shapes >> shape) & 1 == 1):
                found |= 1 << bit
    return found


def is_contrasted(things: Ints, n: int, code: int, size: int) -> Any:
    """Whether an object of the phrase's kind has this size; a phrase that says "object" counts as one that never has."""
    color, shape = code // COLOR_CODES % COLOR_CODES - 1, code % COLOR_CODES - 1
    for i in range(n):
        if shape == things[i, SHAPE] and things[i, SIZE] == size and (color < 0 or color == things[i, COLOR]):
            return True
    return False


def settle(things: Ints, k: int, relation: int, grid: int, rng: Words) -> Any:
    """Place object k. As pivot of object 0 it takes the first free cell of that row or column; returns whether it has a cell."""
    if 0 <= relation <= SAME_COLUMN:
        for step in range(grid):
            things[k, ROW] = things[0, ROW] if relation == SAME_ROW else step
            things[k, COLUMN] = step if relation == SAME_ROW else things[0, COLUMN]
            if is_placed(things, k, grid):
                return True
        return False
    if relation == INSIDE:
        for _ in range(PLACE_TRIES):
            adjust(things, k, INSIDE, 0, True, rng)
            if is_placed(things, k, grid):
                return True
        return False
    return scatter(things, k, grid, rng)


def build_plain(things: Ints, rule: Ints, n: int, grid: int, bounds: Ints, rng: Words) -> Any:
    """A world of n objects as the notebook draws it; returns False if the draw went wrong.

    After the objects of the phrases comes one more that the first phrase describes, as large as the referent, if there is a
    clause. Then each size word that has no contrast yet gets one. The others are random, of `strange_kinds`.
    """
    nodes = node_count(rule)
    relation = relation_of(rule, 1) if nodes > 1 else -1
    for k in range(nodes):
        draw_kind(things, k, code_of(rule, k), rng)
    if SAME_COLOR <= relation <= SAME_SIZE:
        adjust(things, 0, relation, 1, False, rng)
    draw_bounds(things, rule, bounds, rng)
    for k in range(nodes):
        resize(things, k, code_of(rule, k) // CLASS_CODES == SMALL, bounds)
    if relation == SAME_SIZE:
        adjust(things, 0, relation, 1, False, rng)
    for k in range(nodes):
        if not settle(things, k, relation if k == 1 else -1, grid, rng):
            return False
    k = nodes
    if nodes > 1:
        draw_kind(things, k, rule[ROOT], rng)
        things[k, SIZE] = things[0, SIZE]
        resize(things, k, rule[ROOT] // CLASS_CODES == SMALL, bounds)
        if not scatter(things, k, grid, rng):
            return False
        k += 1
    present = k
    for node in range(nodes):
        code = code_of(rule, node)
        is_small = code // CLASS_CODES != SMALL
        if code // CLASS_CODES == NO_SIZE or k >= n:
            continue
        size = bound(bounds, things[node, COLOR], things[node, SHAPE], is_small)
        if not is_contrasted(things, present, code, size):
            draw_kind(things, k, code % CLASS_CODES, rng)
            things[k, SIZE] = size
            resize(things, k, is_small, bounds)
            if not scatter(things, k, grid, rng):
                return False
            k += 1
    kinds = strange_kinds(things, rule)
    while k < n:
        things[k, COLOR], things[k, SHAPE] = below(rng, N_VALUES), below(rng, N_FIGURES)
        if (kinds >> (N_VALUES * things[k, COLOR] + things[k, SHAPE])) & 1 == 0:
            continue
        things[k, SIZE] = 1 + below(rng, N_VALUES)
        resize(things, k, below(rng, 2) == 0, bounds)
        if not scatter(things, k, grid, rng):
            return False
        k += 1
    return True


def draw_plain_world(desk: Desk, w: int, settings: Ints, op: Ints, rng: Words) -> Any:
    """Fill world w with one in which the description means object 0 and no other; False if none was found."""
    rule, grid, things, n = desk.rule, settings[S_GRID], desk.things[w], settings[S_HIGH]
    for _ in range(settings[S_WORLD_TRIES]):
        if build_plain(things, rule, n, grid, desk.bounds, rng):
            look(things, n, desk.sets, desk.fits[w], desk.rel[w])
            if only_meant(desk.fits[w, 0], desk.rel[w], rule[PATTERN], rule[ROOT], rule[FIRST], rule[SECOND], 0) == 0:
                shown = effect(things, n, grid, op, 0, -1)
                desk.counts[w] = n
                desk.effects[w] = UNCHANGED if shown == NO_EFFECT else shown
                return True
    return False


def count_rivals(desk: Desk, grammar: Grammar, settings: Ints, space: int, survivors: Ints) -> Any:
    """Fill `survivors`, the hypotheses left after each demonstration; returns how many of the last miss the test output, or FULL.

    A pair that shows no change refutes nothing. If no pair shows one, every hypothesis of the space is a rival.
    """
    first, size = 0, 0
    for d in range(1, settings[S_DEMONSTRATIONS] + 1):
        survivors[d - 1] = space if first == 0 else survivors[d - 2]
        if desk.effects[d] == UNCHANGED:
            continue
        if first == 0:
            first = d
            size = first_hypotheses(desk, grammar, settings, d)
            if size == FULL:
                return FULL
        else:
            set_masks(desk, d, desk.tally[OPERATIONS], grammar, settings[S_GRID])
            size = eliminate(desk, d, size, desk.tally[COPIES])
        survivors[d - 1] = kept(desk.masks, size)
    desk.tally[OPERATIONS] = size
    return space if first == 0 else kept(desk.rivals, size)


def is_single(desk: Desk, size: int) -> Any:
    """Whether one description with one operation is left, however it is read."""
    for h in range(size):
        if desk.forms[h] != desk.forms[0] or desk.masks[h] != desk.masks[0] or desk.masks[h] & (desk.masks[h] - 1) != 0:
            return False
    return size > 0


def draw_release(
    states: Words, forms: Ints, op: int, spaces: Ints, desk: Desk, grammar: Grammar, settings: Ints, sink: Sink, rivals: Ints,
    rejected: Ints,
) -> int:  # fmt: skip
    """Fill each row of the sink by the first of its descriptions for which all worlds are found; returns how many failed."""
    failed, rng = 0, desk.rng
    for row in range(len(states)):
        rng[0] = states[row]
        sink.rules[row] = -1
        for a in range(forms.shape[1]):
            form = forms[row, a]
            desk.rule[SECOND] = form % N_STEPS
            desk.rule[FIRST] = form // N_STEPS % N_STEPS
            desk.rule[ROOT] = form // (N_STEPS * N_STEPS) % N_PHRASES
            desk.rule[PATTERN] = form // (N_STEPS * N_STEPS * N_PHRASES)
            is_drawn = True
            for w in range(settings[S_DEMONSTRATIONS] + 1):
                is_drawn = is_drawn and draw_plain_world(desk, w, settings, grammar.table[op], rng)
            if not is_drawn:
                rejected[NO_WORLD] += 1
                continue
            rivals[row] = count_rivals(desk, grammar, settings, spaces[desk.rule[PATTERN]], sink.survivors[row])
            if rivals[row] == FULL:
                rejected[TOO_MANY] += 1
                continue
            sink.rules[row] = a
            sink.unique[row] = 1 if is_single(desk, desk.tally[OPERATIONS]) else 0
            for w in range(settings[S_DEMONSTRATIONS] + 1):
                sink.counts[row, w] = desk.counts[w]
                sink.effects[row, w] = desk.effects[w]
                for i in range(desk.counts[w]):
                    for f in range(N_FIELDS):
                        sink.things[row, w, i, f] = desk.things[w, i, f]
            break
        if sink.rules[row] < 0:
            failed += 1
    return failed
