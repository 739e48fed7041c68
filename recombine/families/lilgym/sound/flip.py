"""Scenes and plans for rows: draws a scene of the row's class, then searches for edits that flip the statement there.

A row is a pure function of its statement, its class and one random state. A search has three steps: (1) single edits; (2) short
random walks; (3) edits that are not needed are left out. Where no plan is found from a scene, the next scene has the other truth value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.draws import below
from recombine.families.lilgym.scene import FIELDS, Codes, Counts, Items, Numbers, Words
from recombine.families.lilgym.sound.kernel import draw_scatter, draw_tower, recolored
from recombine.families.lilgym.sound.moves import TIDY, Ground, copy, edited, propose
from recombine.families.lilgym.sound.truth import holds

KERNEL = True

CANDIDATES = 4
"""Scenes tried for the truth value that a row prefers, before another one is taken."""
ATTEMPTS = 400
"""Scenes drawn in one round."""
SINGLES = 48
"""Single edits tried in a scene of scattered items; a tower scene has twelve."""
TOWER_ACTIONS = 12
WALKS, WALK_STEPS = 24, 6
TRIES = 6
"""Edits proposed for one step of a walk before the step is skipped."""
EITHER, TRUE, FALSE = 0, 1, -1
"""Truth values of a scene: of a scene that was found (EITHER: none was), or that a round must have."""


class Wishes(NamedTuple):
    """What rows are made for."""

    codes: Numbers  # (n, WIDTH): statements, as `codec.py` writes them
    tastes: Numbers  # (n, 4): what each statement speaks of
    visits: Numbers  # (n,): the class of scenes that is wanted
    classes: Numbers  # (n,): the number of classes
    states: Words  # (n,): random states
    spares: Words  # (n,): random states for rows whose own state finds nothing


class Rules(NamedTuple):
    """What holds for all rows of a job."""

    is_tower: bool
    from_scratch: bool  # scenes that ADDs can build
    flips: bool  # whether a row needs a plan
    rounds: int  # scenes from which a row tries to find a plan
    spare_rounds: int  # the same, from its spare state


class Made(NamedTuple):
    """Rows; `make_rows` fills them."""

    items: Items  # (n, width, 6): the scenes
    counts: Counts  # (n,)
    truths: Codes  # (n,): TRUE or FALSE; EITHER where no row was found
    plans: Numbers  # (n, at least WALK_STEPS): edits, padded with zeros
    edits: Numbers  # (n,)
    rounds: Numbers  # (n,): rounds that were needed


class Desk(NamedTuple):
    """Room to work in."""

    scene: Items  # (width, 6)
    ends: Items  # (width + growth, 6)
    walks: Items  # (WALKS, width + growth, 6)
    counts: Numbers  # (WALKS,): items of each walk
    moves: Numbers  # (WALKS, WALK_STEPS)
    lengths: Numbers  # (WALKS,): edits of each walk
    plan: Numbers  # (WALK_STEPS,)
    boxes: Numbers  # (3,)
    rect: Numbers  # (4,)


def fitting_scene(rng: Words, wishes: Wishes, i: int, rules: Rules, must: int, desk: Desk, truths: Codes) -> int:
    """Draw a scene of row i's class into desk.scene; the number of its items, and its truth value in truths[i].

    `must` is the truth value that the scene must have; with EITHER, a random one is preferred.
    """
    is_sought = below(rng, 2) == 1 if must == EITHER else must == TRUE
    tidy = wishes.tastes[i, TIDY] != 0 and not rules.is_tower
    seen, kept = 0, -1
    truths[i] = EITHER
    for _ in range(ATTEMPTS):
        if rules.is_tower:
            count = draw_tower(rng, rules.from_scratch, desk.scene)
        else:
            count = draw_scatter(rng, rules.from_scratch, tidy, desk.scene)
        if not recolored(rng, desk.scene, count, wishes.classes[i], wishes.visits[i]):
            continue
        truth = holds(wishes.codes[i], rules.is_tower, desk.scene, count, desk.boxes)
        seen += 1
        if truth == is_sought or (must == EITHER and seen == CANDIDATES):
            truths[i], kept = TRUE if truth else FALSE, count
            break
    return kept


def single_edit(ground: Ground, rng: Words, wishes: Wishes, i: int, count: int, target: bool, desk: Desk) -> int:
    """One edit of desk.scene that gives row i's statement the target's truth value; -1 if none is found."""
    tidy = wishes.tastes[i, TIDY] != 0
    start, stride = below(rng, TOWER_ACTIONS), 5 + 2 * below(rng, 2)  # 5 and 7 share no factor with 12
    for k in range(TOWER_ACTIONS if ground.is_tower else SINGLES):
        if ground.is_tower:
            action = 1 + (start + stride * k) % TOWER_ACTIONS
        else:
            action = propose(ground, rng, desk.scene, count, wishes.tastes[i])
        if action > 0:
            copy(desk.scene, count, desk.ends)
            new = edited(ground, desk.ends, count, action, tidy, desk.rect)
            if new >= 0 and holds(wishes.codes[i], ground.is_tower, desk.ends, new, desk.boxes) == target:
                return action
    return -1


def walked(ground: Ground, rng: Words, wishes: Wishes, i: int, count: int, target: bool, desk: Desk) -> int:
    """A walk from desk.scene to the target's truth value, in desk.plan; its length, or -1. All walks advance together."""
    tidy = wishes.tastes[i, TIDY] != 0
    for w in range(WALKS):
        copy(desk.scene, count, desk.walks[w])
        desk.counts[w], desk.lengths[w] = count, 0
    for _ in range(WALK_STEPS):
        for w in range(WALKS):
            for _ in range(TRIES):
                action = propose(ground, rng, desk.walks[w], desk.counts[w], wishes.tastes[i])
                if action <= 0:
                    continue
                new = edited(ground, desk.walks[w], desk.counts[w], action, tidy, desk.rect)
                if new >= 0:
                    desk.moves[w, desk.lengths[w]] = action
                    desk.lengths[w] += 1
                    desk.counts[w] = new
                    break
            if (
                desk.lengths[w] > 0
                and holds(wishes.codes[i], ground.is_tower, desk.walks[w], desk.counts[w], desk.boxes) == target
            ):
                for k in range(desk.lengths[w]):
                    desk.plan[k] = desk.moves[w, k]
                return int(desk.lengths[w])
    return -1


def arrives(
    ground: Ground, wishes: Wishes, i: int, count: int, target: bool, desk: Desk, length: int, one: int, two: int
) -> bool:
    """Whether desk.plan reaches the target without its edits `one` and `two` (-1: leave none out)."""
    copy(desk.scene, count, desk.ends)
    for k in range(length):
        if k not in (one, two):
            count = edited(ground, desk.ends, count, desk.plan[k], wishes.tastes[i, TIDY] != 0, desk.rect)
            if count < 0:
                return False
    return bool(holds(wishes.codes[i], ground.is_tower, desk.ends, count, desk.boxes) == target)


def drop(desk: Desk, length: int, one: int, two: int) -> int:
    """Take the edits `one` and `two` (-1: none) out of desk.plan; its new length."""
    kept = 0
    for k in range(length):
        if k not in (one, two):
            desk.plan[kept] = desk.plan[k]
            kept += 1
    return kept


def shortened(ground: Ground, wishes: Wishes, i: int, count: int, target: bool, desk: Desk, length: int, pairs: bool) -> int:
    """Leave out the first edit (or two edits, with `pairs`) that desk.plan can do without; its new length."""
    for one in range(length):
        for other in range(one + 1, length if pairs else one + 2):
            two = other if pairs else -1
            if arrives(ground, wishes, i, count, target, desk, length, one, two):
                return drop(desk, length, one, two)
    return length


def trimmed(ground: Ground, wishes: Wishes, i: int, count: int, target: bool, desk: Desk, length: int) -> int:
    """Leave out what desk.plan can do without: one edit at a time, and two where no one will do (an ADD and its REMOVE)."""
    is_done = False
    while not is_done:
        before = length
        if length > 1:
            length = shortened(ground, wishes, i, count, target, desk, length, False)
        if length == before and length > 2:
            length = shortened(ground, wishes, i, count, target, desk, length, True)
        is_done = length == before
    return length


def flipped(ground: Ground, rng: Words, wishes: Wishes, i: int, count: int, target: bool, desk: Desk) -> int:
    """A plan for row i from desk.scene to the target, in desk.plan; its length, or -1."""
    action = single_edit(ground, rng, wishes, i, count, target, desk)
    if action > 0:
        desk.plan[0] = action
        return 1
    length = walked(ground, rng, wishes, i, count, target, desk)
    return trimmed(ground, wishes, i, count, target, desk, length) if length > 1 else length


def make_row(ground: Ground, rng: Words, wishes: Wishes, i: int, rules: Rules, rounds: int, desk: Desk, made: Made) -> bool:
    """Make row i from the random state in rng; whether a scene (and a plan) was found."""
    must = EITHER
    for _ in range(rounds):
        made.rounds[i] += 1
        count = fitting_scene(rng, wishes, i, rules, must, desk, made.truths)
        if count < 0:
            must = EITHER
            continue
        length = 0
        if rules.flips:
            length = flipped(ground, rng, wishes, i, count, made.truths[i] != TRUE, desk)
        if length < 0:
            must = FALSE if made.truths[i] == TRUE else TRUE
            continue
        copy(desk.scene, count, made.items[i])
        made.counts[i], made.edits[i] = count, length
        for k in range(length):
            made.plans[i, k] = desk.plan[k]
        return True
    made.truths[i] = EITHER
    return False


def make_rows(ground: Ground, wishes: Wishes, rules: Rules, made: Made) -> None:
    """Make every row from its state, or from its spare state where its own finds nothing."""
    width = made.items.shape[1]
    room = width + WALK_STEPS
    desk = Desk(
        np.zeros((width, FIELDS), np.int16),
        np.zeros((room, FIELDS), np.int16),
        np.zeros((WALKS, room, FIELDS), np.int16),
        np.zeros(WALKS, np.int64),
        np.zeros((WALKS, WALK_STEPS), np.int64),
        np.zeros(WALKS, np.int64),
        np.zeros(WALK_STEPS, np.int64),
        np.zeros(3, np.int64),
        np.zeros(4, np.int64),
    )
    rng = np.zeros(1, np.uint64)
    for i in range(len(wishes.states)):
        rng[0] = wishes.states[i]
        if not make_row(ground, rng, wishes, i, rules, rules.rounds, desk, made):
            rng[0] = wishes.spares[i]
            make_row(ground, rng, wishes, i, rules, rules.spare_rounds, desk, made)
