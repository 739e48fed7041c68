"""The hot loop of the sound recipe: draw a command, objects, a target and cells; plan; write the row.

Every word is needed, several objects could have been meant, object counts do not depend on the command, directions are balanced.
Which combinations a split holds out arrives as tables (`Rules`), so a new split needs no change here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recombine.draws import Ints, Words, below, bits
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
    Rows,
    adverb_of,
    color_word_of,
    contrast,
    encode_command,
    finish,
    most_actions,
    place,
    size_word_of,
    verb_of,
    way_of,
    write_row,
)
from recombine.grid.codes import BIG, COLOR, COLUMN, COLUMN_STEP, ROW, ROW_STEP, SHAPE, SIZE, SMALL, WALK
from recombine.grid.kernel import is_taken, lift, nth, popcount, put

KERNEL = True
LEAN = True

# columns of `dials`
GRID, LOW, HIGH, WANTED, HELD, SHARE, INTERACTION, SHOTS, SHOT_TAG, SHORTEST, LONGEST = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
DIALS = 11
# columns of `choice` and of `Rules.implied`
VERB, ADVERB, TEMPLATE, WORD, EXTREME, WAY = 0, 1, 2, 3, 4, 5
CHOICES = 6
# templates: the words in addition to the shape
ONLY_SHAPE, COLOR_SHAPE, SIZE_SHAPE = 0, 1, 2
FEWEST_RIVALS = 2
"""At least this many objects could be meant by a phrase of the command's kind."""
BIGGEST = 4
"""The largest size of an object."""
FEWEST_OBJECTS = 8
MAX_ATTEMPTS = 20_000
"""Draws after which a row is given up."""
OBJECT_DRAWS, CELL_DRAWS = 500, 64
"""Draws of objects for one command, and of cells for one set of objects."""
MILLION = 1_000_000
# parts: tenths of all (command, agent cell, target cell)
TRAIN, VALIDATION, TEST, ANY_PART = 0, 1, 2, 3
# reasons to draw again
OTHER_SPLIT, NO_SUCH_TARGET, OTHER_PART, NO_INTERACTION, WRONG_LENGTH = 0, 1, 2, 3, 4
_SALT = np.uint64(0x6753_4341_4E20_3031)
_TOP = np.uint64(40)


class Rules(NamedTuple):
    """The held-out combinations, one bit each, as tables."""

    tags: Ints  # (commands, 4 sizes, 4 colours, 8 directions): the combinations that such a target shows
    settled: Ints  # (verbs, adverbs, directions): those that every target shows
    implied: Ints  # (2, CHOICES): what the wanted combination (0) or a shot (1) says of the command; -1 for nothing


def part_of(command: int, agent_cell: int, target_cell: int, word: Words) -> int:
    """The part to which every example with this command, agent cell and target cell belongs; `word` is uint64 scratch."""
    word[0] = np.uint64((command * 1024 + agent_cell) * 1024 + target_cell) ^ _SALT
    tenth = np.int64(bits(word) >> _TOP) % 10
    if tenth == 0:
        return TEST
    return VALIDATION if tenth == 1 else TRAIN


def two_of(rng: Words, n: int, sign: int) -> int:
    """Two different coordinates, uniform over pairs, as from * 64 + to, so that to - from has the sign."""
    a = below(rng, n)
    b = below(rng, n - 1)
    if b >= a:
        b += 1
    if (b > a) == (sign > 0):
        return a * 64 + b
    return b * 64 + a


def draw_cells(rng: Words, n: int, direction: int, agent: Ints, target: Ints) -> None:
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


def at_most(rng: Words, word: int, size: int) -> int:
    """A uniform size that is not smaller (bigger) than `size`."""
    if word == SMALL:
        return size + below(rng, 5 - size)
    return 1 + below(rng, size)


# --- the sound recipe: objects first, then one of those that could be meant ------------------------------------------


def draw_kinds(rng: Words, template: int, word: int, extreme: int, n: int, things: Ints) -> None:
    """Sizes, colours and shapes of n objects. Several of them could be the target of a phrase of this kind.

    The target is chosen afterwards, so the world alone reveals little. ONLY_SHAPE: two objects are the only ones of their shape.
    COLOR_SHAPE: all kinds are drawn freely. SIZE_SHAPE: each shape has one extreme object. Otherwise two colours and two shapes are drawn,
    and each pair of them has one extreme object.
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


def draw_two_by_two(rng: Words, word: int, extreme: int, n: int, things: Ints) -> None:
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


def word_for(template: int, n: int, things: Ints, i: int) -> int:
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


def is_extreme(template: int, n: int, things: Ints, i: int, word: int) -> bool:
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


def choose_target(rng: Words, choice: Ints, n: int, held: int, wanted: int, tags: Ints, things: Ints) -> int:
    """Move a uniformly chosen object that can be meant and shows the wanted combination to the front; its word, or -1."""
    template, direction = choice[TEMPLATE], choice[WAY]
    can_be_meant, fits = 0, 0
    for i in range(n):
        word, size = word_for(template, n, things, i), things[i, SIZE]
        if word < 0:
            continue
        can_be_meant += 1
        if size > BIGGEST:  # drawn as something bigger than an implied size 4: such a world is not kept
            continue
        color_word = things[i, COLOR] + 1 if template & COLOR_SHAPE else 0
        command = encode_command(choice[VERB], choice[ADVERB], things[i, SHAPE], color_word, word)
        if tags[command, size - 1, things[i, COLOR], direction] & held == wanted:
            fits |= 1 << i
    if fits == 0 or can_be_meant < FEWEST_RIVALS:
        return -1
    chosen = nth(fits, below(rng, popcount(fits)))
    word = word_for(template, n, things, chosen)
    for a in range(3):
        things[0, a], things[chosen, a] = things[chosen, a], things[0, a]
    return word


def give_roles(word: int, color_word: int, n: int, things: Ints, roles: Ints) -> None:
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


def can_interact(grid: int, way: int, agent: Ints, target: Ints, moves: int) -> bool:
    """Whether distractors can be placed so that the target moves (or, if `moves` is 0, so that it cannot)."""
    row, column = target[ROW] + ROW_STEP[way], target[COLUMN] + COLUMN_STEP[way]
    if not (0 <= row < grid and 0 <= column < grid):
        return moves == 0
    is_free: bool = moves == 1 or row != agent[0] or column != agent[1]
    return is_free


def draw_command(rng: Words, implied: Ints, choice: Ints) -> None:
    """choice = verb, adverb, template, word, extreme size, direction: uniform, but what the wanted combination implies is set."""
    choice[VERB], choice[ADVERB], choice[TEMPLATE] = below(rng, 3), below(rng, 5), below(rng, 4)
    choice[WORD], choice[WAY] = 1 + below(rng, 2), below(rng, 8)
    for field in (VERB, ADVERB, WORD, WAY):
        if implied[field] >= 0:
            choice[field] = implied[field]
    choice[TEMPLATE] |= implied[TEMPLATE]
    choice[EXTREME] = 1 + below(rng, 3) + (1 if choice[WORD] == BIG else 0)
    if implied[EXTREME] >= 0:
        choice[EXTREME] = implied[EXTREME]


def draw_situation(
    rng: Words,
    dials: Ints,
    tags: Ints,
    settled: Ints,
    implied: Ints,
    is_shot: bool,
    facts: Ints,
    things: Ints,
    agent: Ints,
    choice: Ints,
    word: Words,
    rejected: Ints,
) -> None:
    """A command, objects and two cells of the wanted split and part; facts[MOVED] becomes whether the target shall move."""
    grid, held = dials[GRID], dials[HELD]
    wanted = dials[SHOT_TAG] if is_shot else dials[WANTED]
    share = TRAIN if is_shot else dials[SHARE]
    while True:
        draw_command(rng, implied[1 if is_shot else 0], choice)
        verb, adverb, template, direction = choice[VERB], choice[ADVERB], choice[TEMPLATE], choice[WAY]
        moves = 1 if below(rng, MILLION) < dials[INTERACTION] else 0
        if settled[verb, adverb, direction] & held & ~wanted:
            rejected[OTHER_SPLIT] += 1
            continue
        n = dials[LOW] + below(rng, dials[HIGH] - dials[LOW] + 1)
        size_word = -1
        for _ in range(OBJECT_DRAWS):  # new objects rather than a new command, so that no kind of command is favoured
            draw_kinds(rng, template, choice[WORD], choice[EXTREME], n, things)
            size_word = choose_target(rng, choice, n, held, wanted, tags, things)
            if size_word >= 0:
                break
            rejected[NO_SUCH_TARGET] += 1
        if size_word < 0:
            continue
        target = things[0]
        color_word = target[COLOR] + 1 if template & COLOR_SHAPE else 0
        command = encode_command(verb, adverb, target[SHAPE], color_word, size_word)
        facts[COMMAND], facts[DIRECTION], facts[MOVED], facts[COUNT] = command, direction, moves, n
        for _ in range(CELL_DRAWS):
            draw_cells(rng, grid, direction, agent, target)
            agent_cell, target_cell = agent[0] * grid + agent[1], target[ROW] * grid + target[COLUMN]
            if share != ANY_PART and part_of(command, agent_cell, target_cell, word) != share:
                rejected[OTHER_PART] += 1
                continue
            if verb == WALK or can_interact(grid, way_of(verb, adverb, agent, target), agent, target, moves):
                facts[AGENT_R], facts[AGENT_C] = agent[0], agent[1]
                return
            rejected[NO_INTERACTION] += 1


def sound_row(rng: Words, grid: int, facts: Ints, things: Ints, roles: Ints, agent: Ints, board: Ints, out: Ints) -> None:
    """The rest of one row of the sound recipe, once `draw_situation` has said what is commanded and where."""
    target, command = things[0], facts[COMMAND]
    adverb, verb = adverb_of(command), verb_of(command)
    n = facts[COUNT]
    give_roles(size_word_of(command), color_word_of(command) - 1, n, things, roles)
    for r in range(grid):
        board[r] = 0
    put(board, target[ROW], target[COLUMN])
    put(board, agent[0], agent[1])
    blocked_cell, kept_row, kept_column = -1, -1, -1
    if verb != WALK:
        # The target moves if the next cell is free, so that cell is kept free or given to an object.
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
    finish(grid, command, agent, target, board, out, facts)


def sound_rows(states: Words, first: int, dials: Ints, rules: Rules, rows: Rows, rejected: Ints) -> int:
    """All rows of a sound job; returns how many were made: fewer than asked for if one took too many attempts.

    `rejected` counts what was drawn in vain, by the reasons that `generate.REJECTIONS` names.
    """
    grid = dials[GRID]
    rng, word = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    scratch, role = np.zeros((dials[HIGH] + 1, 5), np.int64), np.zeros(dials[HIGH] + 1, np.int64)
    agent, board, out = np.zeros(4, np.int64), np.zeros(grid, np.int64), np.zeros(most_actions(grid), np.int64)
    choice = np.zeros(CHOICES, np.int64)
    for i in range(len(states)):
        rng[0] = states[i]
        facts = rows.facts[i]
        is_made = False
        for _ in range(MAX_ATTEMPTS):
            is_shot = first + i < dials[SHOTS]
            draw_situation(
                rng, dials, rules.tags, rules.settled, rules.implied, is_shot, facts, scratch, agent, choice, word, rejected
            )
            sound_row(rng, grid, facts, scratch, role, agent, board, out)
            if dials[SHORTEST] <= facts[LENGTH] <= dials[LONGEST]:
                is_made = True
                break
            rejected[WRONG_LENGTH] += 1
        if not is_made:
            return i
        write_row(i, scratch, role, out, rows)
    return len(states)
