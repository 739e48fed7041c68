"""gSCAN's hot loops: draw a command, objects, a target and cells; plan; write the row.

`sound_rows` is our recipe: every word is needed, several objects could have been meant, object counts do not depend on the
command, directions are balanced.
`release_kernel` does the original's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.draws import below, bits
from recombine.families.gscan.rows import (
    AGENT_C,
    AGENT_R,
    COLOR_DECOY,
    COLUMN_SIGN,
    COMMAND,
    COUNT,
    DIRECTION,
    LENGTH,
    MOVED,
    RANDOM,
    ROW_SIGN,
    SHAPE_DECOY,
    SIZE_DECOY,
    TARGET,
    contrast,
    finish,
    place,
    way_of,
    write_row,
)
from recombine.grid.codes import (
    BIG,
    CAUTIOUS,
    CIRCLE,
    COLOR,
    COLUMN,
    COLUMN_STEP,
    PULL,
    PUSH,
    RED,
    ROW,
    ROW_STEP,
    SHAPE,
    SIZE,
    SMALL,
    SPIN,
    SQUARE,
    WALK,
    YELLOW,
)
from recombine.grid.kernel import is_taken, lift, nth, popcount, put

KERNEL = True

# columns of `dials`
GRID, LOW, HIGH, WANTED, SHARE, INTERACTION, SHOTS, SHORTEST, LONGEST, IS_OPEN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
DIALS = 10
# columns of `choice`
VERB, ADVERB, TEMPLATE, WORD, EXTREME, WAY = 0, 1, 2, 3, 4, 5
# templates: which words besides the shape
ONLY_SHAPE, COLOR_SHAPE, SIZE_SHAPE = 0, 1, 2
FEWEST_RIVALS = 2
FEWEST_OBJECTS = 8
MAX_ATTEMPTS = 20_000
BLAND = (1, 1, 1, 0, 0)
"""An object that belongs to no held-out combination."""
# tags: the held-out combinations, one bit each
VISUAL, SITUATIONAL_1, SITUATIONAL_2, CONTEXTUAL, ADVERB_1, ADVERB_2, VISUAL_EASIER = 1, 2, 4, 8, 16, 32, 64
SOUTH_WEST = 3
# parts: tenths of all (command, agent cell, target cell)
TRAIN, VALIDATION, TEST, ANY_PART = 0, 1, 2, 3
_SALT = np.uint64(0x6753_4341_4E20_3031)
_TOP = np.uint64(40)


def tags_of(verb: Any, adverb: Any, word: Any, color_word: Any, target: Any, direction: Any) -> Any:
    """The set of held-out combinations that this command, target and direction belong to."""
    size, color, shape = target[SIZE], target[COLOR], target[SHAPE]
    tags = 0
    if shape == SQUARE and color == RED:
        tags |= VISUAL
    if direction == SOUTH_WEST:
        tags |= SITUATIONAL_1
    if word == SMALL and shape == CIRCLE and size == 2:
        tags |= SITUATIONAL_2
    if verb == PUSH and shape == SQUARE and size == 3:
        tags |= CONTEXTUAL
    if adverb == CAUTIOUS:
        tags |= ADVERB_1
    if verb == PULL and adverb == SPIN:
        tags |= ADVERB_2
    if shape == SQUARE and color == YELLOW and color_word == YELLOW:
        tags |= VISUAL_EASIER
    return tags


def part_of(command: Any, agent_cell: Any, target_cell: Any, word: Any) -> Any:
    """The part to which every example with this command, agent cell and target cell belongs; `word` is uint64 scratch."""
    word[0] = np.uint64((command * 1024 + agent_cell) * 1024 + target_cell) ^ _SALT
    tenth = np.int64(bits(word) >> _TOP) % 10
    if tenth == 0:
        return TEST
    return VALIDATION if tenth == 1 else TRAIN


def two_of(rng: Any, n: Any, sign: Any) -> Any:
    """Two different coordinates, uniform over pairs, as from * 64 + to, so that to - from has the sign."""
    a = below(rng, n)
    b = below(rng, n - 1)
    if b >= a:
        b += 1
    if (b > a) == (sign > 0):
        return a * 64 + b
    return b * 64 + a


def draw_cells(rng: Any, n: Any, direction: Any, agent: Any, target: Any) -> None:
    """Agent and target cells, uniform over all pairs in which the target lies in this direction."""
    if ROW_SIGN[direction] == 0:
        agent[0] = below(rng, n)
        target[ROW] = agent[0]
    else:
        pair = two_of(rng, n, ROW_SIGN[direction])
        agent[0], target[ROW] = pair >> 6, pair & 63
    if COLUMN_SIGN[direction] == 0:
        agent[1] = below(rng, n)
        target[COLUMN] = agent[1]
    else:
        pair = two_of(rng, n, COLUMN_SIGN[direction])
        agent[1], target[COLUMN] = pair >> 6, pair & 63


def at_most(rng: Any, word: Any, size: Any) -> Any:
    """A uniform size that is not smaller (bigger) than `size`."""
    if word == SMALL:
        return size + below(rng, 5 - size)
    return 1 + below(rng, size)


# --- the sound recipe: objects first, then one of those that could be meant ------------------------------------------


def draw_kinds(rng: Any, template: Any, word: Any, extreme: Any, n: Any, things: Any) -> None:
    """Sizes, colours and shapes of n objects among which several could be meant by a phrase of this kind.

    Which of them is meant is decided afterwards, so a look at the world alone gives little away: two objects are the only
    ones of their shape; or kinds are drawn freely; or each shape has one extreme object; or each of two colours × two shapes.
    """
    if template == ONLY_SHAPE:
        common = below(rng, 3)
        for k in range(n):
            things[k, SIZE], things[k, COLOR] = 1 + below(rng, 4), below(rng, 4)
            things[k, SHAPE] = common if k > 1 else (common + 1 + k) % 3
    elif template == COLOR_SHAPE:
        for k in range(n):
            things[k, SIZE], things[k, COLOR], things[k, SHAPE] = 1 + below(rng, 4), below(rng, 4), below(rng, 3)
    elif template == SIZE_SHAPE:
        for k in range(3):
            things[k, SIZE], things[k, SHAPE] = extreme, k
            things[k + 3, SIZE], things[k + 3, SHAPE] = contrast(rng, word, extreme), k
        for k in range(6, n):
            shape = below(rng, 3)
            things[k, SIZE], things[k, SHAPE] = things[shape + 3, SIZE], shape
        for k in range(n):
            things[k, COLOR] = below(rng, 4)
    else:
        draw_two_by_two(rng, word, extreme, n, things)


def draw_two_by_two(rng: Any, word: Any, extreme: Any, n: Any, things: Any) -> None:
    """Two colours × two shapes, an extreme and a contrasting object of each; then others that are no more extreme."""
    color, shape = below(rng, 4), below(rng, 3)
    other_color, other_shape = (color + 1 + below(rng, 3)) % 4, (shape + 1 + below(rng, 2)) % 3
    for k in range(8):
        things[k, COLOR] = color if k & 1 else other_color
        things[k, SHAPE] = shape if k & 2 else other_shape
        things[k, SIZE] = extreme if k < 4 else contrast(rng, word, extreme)
    for k in range(8, n):
        things[k, COLOR], things[k, SHAPE] = below(rng, 4), below(rng, 3)
        things[k, SIZE] = at_most(rng, word, extreme)
        for j in range(4, 8):
            if things[j, COLOR] == things[k, COLOR] and things[j, SHAPE] == things[k, SHAPE]:
                things[k, SIZE] = things[j, SIZE]


def word_for(template: Any, n: Any, things: Any, i: Any) -> Any:
    """The size word (0 if none is in the template) with which a phrase of this kind means object i alone and needs every word.

    -1 if there is none. Then the class has two sizes, so that both readings of a size word agree.
    """
    same, colored, shaped = 0, 0, 0
    for j in range(n):
        if j != i:
            has_color, has_shape = things[j, COLOR] == things[i, COLOR], things[j, SHAPE] == things[i, SHAPE]
            same += has_color and has_shape
            colored += has_color
            shaped += has_shape
    if template == ONLY_SHAPE:
        return 0 if shaped == 0 and n > 1 else -1
    if template == COLOR_SHAPE:
        return 0 if same == 0 and shaped > 0 and colored > 0 else -1
    for word in (SMALL, BIG):
        if is_extreme(template, n, things, i, word):
            return word
    return -1


def is_extreme(template: Any, n: Any, things: Any, i: Any, word: Any) -> Any:
    """Whether object i is the small (big) one of its class, the class has one other size, and every word is needed."""
    size, rival, shape_twins, color_twins = things[i, SIZE], 0, 0, 0
    sign = 1 if word == SMALL else -1
    for j in range(n):
        if j == i:
            continue
        has_shape = things[j, SHAPE] == things[i, SHAPE]
        has_color = template == SIZE_SHAPE or things[j, COLOR] == things[i, COLOR]
        beyond = (things[j, SIZE] - size) * sign
        if (has_shape or has_color) and beyond < 0:
            return False
        if has_shape and has_color:
            if beyond == 0 or (rival and things[j, SIZE] != rival):
                return False
            rival = things[j, SIZE]
        elif beyond == 0:
            shape_twins += has_shape
            color_twins += has_color
    return rival > 0 and color_twins > 0 and (template == SIZE_SHAPE or shape_twins > 0)


def choose_target(
    rng: Any, verb: Any, adverb: Any, direction: Any, template: Any, n: Any, wanted: Any, is_open: Any, things: Any
) -> Any:
    """Move a uniformly chosen object that can be meant and shows the wanted combination to the front; its word, or -1."""
    can_be_meant, fits = 0, 0
    for i in range(n):
        word = word_for(template, n, things, i)
        if word < 0:
            continue
        can_be_meant += 1
        color_word = things[i, COLOR] if template & 1 else -1
        if is_open or tags_of(verb, adverb, word, color_word, things[i], direction) == wanted:
            fits |= 1 << i
    if fits == 0 or can_be_meant < FEWEST_RIVALS:
        return -1
    chosen = nth(fits, below(rng, popcount(fits)))
    word = word_for(template, n, things, chosen)
    for a in range(3):
        things[0, a], things[chosen, a] = things[chosen, a], things[0, a]
    return word


def give_roles(word: Any, color_word: Any, n: Any, things: Any, roles: Any) -> None:
    """An object that one word alone rules out is that word's decoy."""
    roles[0] = TARGET
    for i in range(1, n):
        has_color = color_word < 0 or things[i, COLOR] == things[0, COLOR]
        has_shape, has_size = things[i, SHAPE] == things[0, SHAPE], word == 0 or things[i, SIZE] == things[0, SIZE]
        roles[i] = RANDOM
        if has_color and has_shape:
            roles[i] = SIZE_DECOY
        elif has_color and has_size:
            roles[i] = SHAPE_DECOY
        elif has_shape and has_size:
            roles[i] = COLOR_DECOY


def can_interact(grid: Any, way: Any, agent: Any, target: Any, moves: Any) -> Any:
    """Whether distractors can be placed so that the target moves (or, if `moves` is 0, so that it cannot)."""
    row, column = target[ROW] + ROW_STEP[way], target[COLUMN] + COLUMN_STEP[way]
    if not (0 <= row < grid and 0 <= column < grid):
        return moves == 0
    return moves == 1 or row != agent[0] or column != agent[1]


def draw_command(rng: Any, wanted: Any, choice: Any) -> None:
    """choice = verb, adverb, template, word, extreme size, direction: uniform, but what the wanted combination implies is set."""
    choice[VERB], choice[ADVERB], choice[TEMPLATE] = below(rng, 3), below(rng, 5), below(rng, 4)
    choice[WORD], choice[WAY] = 1 + below(rng, 2), below(rng, 8)
    if wanted == SITUATIONAL_1:
        choice[WAY] = SOUTH_WEST
    if wanted == SITUATIONAL_2:
        choice[TEMPLATE] |= SIZE_SHAPE
        choice[WORD] = SMALL
    if wanted == CONTEXTUAL:
        choice[VERB] = PUSH
    if wanted == ADVERB_1:
        choice[ADVERB] = CAUTIOUS
    if wanted == ADVERB_2:
        choice[VERB], choice[ADVERB] = PULL, SPIN
    if wanted == VISUAL_EASIER:
        choice[TEMPLATE] |= COLOR_SHAPE
    choice[EXTREME] = 1 + below(rng, 3) + (1 if choice[WORD] == BIG else 0)
    if wanted == SITUATIONAL_2:
        choice[EXTREME] = 2
    if wanted == CONTEXTUAL:
        choice[EXTREME] = 3


def draw_situation(
    rng: Any, dials: Any, is_shot: Any, facts: Any, things: Any, agent: Any, choice: Any, word: Any, rejected: Any
) -> None:
    """A command, objects and two cells of the wanted split and part; facts[MOVED] becomes whether the target shall move."""
    grid, is_open = dials[GRID], dials[IS_OPEN] != 0
    wanted = ADVERB_1 if is_shot else dials[WANTED]
    share = TRAIN if is_shot else dials[SHARE]
    while True:
        draw_command(rng, -1 if is_open else wanted, choice)
        verb, adverb, template, direction = choice[VERB], choice[ADVERB], choice[TEMPLATE], choice[WAY]
        moves = 1 if below(rng, 1_000_000) < dials[INTERACTION] else 0
        if not is_open and tags_of(verb, adverb, 0, -1, BLAND, direction) & ~wanted:
            rejected[0] += 1
            continue
        n = dials[LOW] + below(rng, dials[HIGH] - dials[LOW] + 1)
        size_word = -1
        for _ in range(500):  # new objects rather than a new command, so that no kind of command is favoured
            draw_kinds(rng, template, choice[WORD], choice[EXTREME], n, things)
            size_word = choose_target(rng, verb, adverb, direction, template, n, wanted, is_open, things)
            if size_word >= 0:
                break
            rejected[1] += 1
        if size_word < 0:
            continue
        target = things[0]
        color_word = target[COLOR] if template & 1 else -1
        command = (((verb * 5 + adverb) * 3 + target[SHAPE]) * 5 + color_word + 1) * 3 + size_word
        facts[COMMAND], facts[DIRECTION], facts[MOVED], facts[COUNT] = command, direction, moves, n
        for _ in range(64):
            draw_cells(rng, grid, direction, agent, target)
            agent_cell, target_cell = agent[0] * grid + agent[1], target[ROW] * grid + target[COLUMN]
            if share != ANY_PART and part_of(command, agent_cell, target_cell, word) != share:
                rejected[2] += 1
                continue
            if verb == WALK or can_interact(grid, way_of(verb, adverb, agent, target), agent, target, moves):
                facts[AGENT_R], facts[AGENT_C] = agent[0], agent[1]
                return
            rejected[3] += 1


def sound_row(rng: Any, dials: Any, facts: Any, things: Any, roles: Any, agent: Any, board: Any, out: Any) -> None:
    """The rest of one row of the sound recipe, once `draw_situation` has said what is commanded and where."""
    grid, target, command = dials[GRID], things[0], facts[COMMAND]
    adverb, verb = command // 45 % 5, command // 225
    n = facts[COUNT]
    give_roles(command % 3, command // 3 % 5 - 1, n, things, roles)
    for r in range(grid):
        board[r] = 0
    put(board, target[ROW], target[COLUMN])
    put(board, agent[0], agent[1])
    blocked_cell, kept_row, kept_column = -1, -1, -1
    if verb != WALK:
        way = way_of(verb, adverb, agent, target)
        row, column = target[ROW] + ROW_STEP[way], target[COLUMN] + COLUMN_STEP[way]
        is_inside = 0 <= row < grid and 0 <= column < grid
        if facts[MOVED] == 0 and is_inside:
            blocked_cell = row * grid + column
        elif facts[MOVED] == 1 and not is_taken(board, row, column):
            kept_row, kept_column = row, column
            put(board, row, column)
    place(rng, grid, n, things, roles, board, blocked_cell, agent)
    lift(board, agent[0], agent[1])
    if kept_row >= 0:
        lift(board, kept_row, kept_column)
    finish(grid, verb, adverb, agent, target, board, out, facts)


def sound_rows(states: Any, first: Any, dials: Any, facts: Any, things: Any, roles: Any, actions: Any, rejected: Any) -> Any:
    """All rows of a sound job; returns how many were made: fewer than asked for if one took too many attempts.

    `rejected` counts what was drawn in vain, by the reasons that `generate.REJECTIONS` names.
    """
    grid = dials[GRID]
    rng, word = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    scratch, role = np.zeros((dials[HIGH] + 1, 5), np.int64), np.zeros(dials[HIGH] + 1, np.int64)
    agent, board, out = np.zeros(4, np.int64), np.zeros(grid, np.int64), np.zeros(20 * grid + 8, np.int64)
    choice = np.zeros(6, np.int64)
    for i in range(len(states)):
        rng[0] = states[i]
        is_made = False
        for _ in range(MAX_ATTEMPTS):
            draw_situation(rng, dials, first + i < dials[SHOTS], facts[i], scratch, agent, choice, word, rejected)
            sound_row(rng, dials, facts[i], scratch, role, agent, board, out)
            if dials[SHORTEST] <= facts[i, LENGTH] <= dials[LONGEST]:
                is_made = True
                break
            rejected[4] += 1
        if not is_made:
            return i
        write_row(facts[i], scratch, role, out, things[i], roles[i], actions[i])
    return len(states)
