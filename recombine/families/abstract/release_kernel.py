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
    S_LOW,
    S_WORLD_TRIES,
    TOO_MANY,
    Desk,
    Grammar,
    Sink,
    eliminate,
    first_hypotheses,
    set_masks,
)
from recombine.families.abstract.world_kernel import FIRST, PATTERN, ROOT, SECOND, build

KERNEL = True
LEAN = True
UNCHANGED = 0
NO_WORLD = 1


def draw_plain_world(desk: Desk, w: int, settings: Ints, op: Ints, rng: Words) -> Any:
    """Fill world w with one in which the description means object 0 and no other; False if none was found."""
    rule, grid, things = desk.rule, settings[S_GRID], desk.things[w]
    for _ in range(settings[S_WORLD_TRIES]):
        n = settings[S_LOW] + below(rng, settings[S_HIGH] - settings[S_LOW] + 1)
        if build(things, rule, n, grid, rng):
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
    rejected: Ints, rng: Words,
) -> int:  # fmt: skip
    """Fill each row of the sink by the first of its descriptions for which all worlds are found; returns how many failed."""
    failed = 0
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
