"""Where target and agent stand, and what the target is like."""

from __future__ import annotations

from typing import Any

from recombine.draws import below
from recombine.families.reascan.asking import P_INTERACTION
from recombine.families.reascan.growing import GRID, HIGH, LOW, draw_size
from recombine.grid.codes import BIG, COLOR, COLUMN, PULL, PUSH, ROW, SHAPE, SIZE, SMALL, ZIGZAG

KERNEL = True
LEAN = True

ANYWHERE, CAN_PUSH, CAN_PUSH_ZIGZAG, CANNOT_PULL = 0, 1, 2, 3
"""Which pairs of cells the aim tables allow: all; something to push into (for either way of walking); no agent next to the target."""
MILLION = 1_000_000


def draw_cumulative(weights: Any, rng: Any) -> Any:
    """An index with probability proportional to its weight, given the running sums (at most 2**31); -1 if they are 0."""
    size = weights.shape[0]
    total = weights[size - 1]
    if total == 0:
        return -1
    point = below(rng, total)
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if weights[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


def draw_aim(verb: Any, adverb: Any, settings: Any, targets: Any, agents: Any, aim: Any, rng: Any) -> Any:
    """Draw aim = [target cell, agent cell, whether something must move]; False if no agent fits."""
    cells = targets.shape[1]
    share = settings[P_INTERACTION]
    mode, aim[2] = ANYWHERE, 0
    if verb == PULL:
        if below(rng, MILLION) < share:
            aim[2] = 1
        else:
            mode = CANNOT_PULL
        aim[0] = draw_cumulative(targets[mode], rng)
    elif verb == PUSH:
        able = CAN_PUSH_ZIGZAG if adverb == ZIGZAG else CAN_PUSH
        everywhere, somewhere = targets[ANYWHERE, cells - 1], targets[able, cells - 1]
        if share * everywhere <= MILLION * somewhere:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
            is_able = aim[0] >= 0 and agents[able, aim[0], cells - 1] > 0
            if is_able and below(rng, MILLION) * somewhere < share * everywhere:
                mode, aim[2] = able, 1
        elif below(rng, MILLION) < share and somewhere > 0:
            mode, aim[2] = able, 1
            aim[0] = draw_cumulative(targets[able], rng)
        else:
            aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    else:
        aim[0] = draw_cumulative(targets[ANYWHERE], rng)
    if aim[0] < 0:
        return False
    aim[1] = draw_cumulative(agents[mode, aim[0]], rng)
    return aim[1] >= 0


def draw_target(
    things: Any,
    st: Any,
    pairs: Any,
    words: Any,
    settings: Any,
    targets: Any,
    agents: Any,
    aim: Any,
    agent: Any,
    manner: Any,
    rng: Any,
) -> Any:
    """Draw the pair of sizes, the target's attributes, and where it and the agent stand; False if no agent fits."""
    st[LOW] = 1 + below(rng, 3)
    st[HIGH] = st[LOW] + 1 + below(rng, 4 - st[LOW])
    color = words[0, 1] if words[0, 1] >= 0 else below(rng, 4)
    shape = words[0, 2] if words[0, 2] >= 0 else below(rng, 3)
    if words[0, 0] == SMALL:
        size = st[LOW]
    elif words[0, 0] == BIG:
        size = st[HIGH]
    else:
        size = draw_size(pairs, st, color, shape, rng)
    things[0, SIZE], things[0, COLOR], things[0, SHAPE] = size, color, shape
    if not draw_aim(manner // 5, manner % 5, settings, targets, agents, aim, rng):
        return False
    grid = st[GRID]
    things[0, ROW], things[0, COLUMN] = aim[0] // grid, aim[0] % grid
    agent[0], agent[1], agent[2], agent[3] = aim[1] // grid, aim[1] % grid, 0, 0
    return True
