"""Which careless readers would have answered as given, for many rows: the readers of `explain` as a kernel.

`score` does the same for one row in plain Python; a test says that both agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from recombine.draws import Ints
from recombine.grid.answer_kernel import (
    ALIKE,
    END_STATE,
    SAME,
    distance,
    likeness,
    measure,
    plan_to,
    set_scene,
)
from recombine.grid.codes import (
    AGENT_COLUMN,
    AGENT_ROW,
    ANY,
    BIG,
    COLUMN,
    DO_WALK,
    EAST,
    HEADING,
    HEAVY_FROM,
    NO_SIZE,
    NORTH,
    PLAIN,
    PULL,
    PUSH,
    ROW,
    SIZE,
    SMALL,
    SOUTH,
    SUPERLATIVE,
    WALK,
    WEST,
    ZIGZAG,
)
from recombine.grid.kernel import effort, index_things, phrase, put

KERNEL = True
READERS = 11
"""Readers, in the order of `explain.READERS`."""
IGNORES_SIZE, IGNORES_COLOR, IGNORES_SHAPE, OPPOSITE_SIZE, NEAREST_OBJECT = 0, 1, 2, 3, 4
IGNORES_ADVERB, ONLY_WALKS, SWAPS_VERBS, IGNORES_WEIGHT, IGNORES_OBSTACLES, VERTICAL_FIRST = 5, 6, 7, 8, 9, 10
# columns of `commands`
VERB, ADVERB, WORD, COLOR_WORD, NOUN = 0, 1, 2, 3, 4
LIGHT, HEAVY = 1, 4
"""Sizes that stand for a light and a heavy object."""


class Verdicts(NamedTuple):
    """What is found for each row."""

    figures: Ints  # [rows, FIGURES]
    readers: Ints  # [rows, READERS]: 0, SAME or ALIKE


def judge_rows(worlds: Any, given: Any, gold: Any, commands: Any, is_named: Any, desk: Any, sets: Any, found: Any) -> None:
    """Fill `found` for every row: how far the answer is right and, if `is_named`, whose answer it is."""
    for row in range(len(worlds.counts)):
        grid, n = worlds.grids[row], set_scene(worlds, row, desk)
        is_right = measure(desk, n, grid, given, gold, row, found.figures[row])
        if is_named and not is_right:
            start, stop = given.offsets[row], given.offsets[row + 1]
            is_elsewhere = found.figures[row, END_STATE] == 0
            name_readers(desk, n, grid, commands[row], given.codes, start, stop, is_elsewhere, sets, found.readers[row])


def name_readers(
    desk: Any, n: Any, grid: Any, said: Any, given: Any, start: Any, stop: Any, is_elsewhere: Any, sets: Any, readers: Any
) -> None:
    """Fill `readers` for one wrong answer."""
    verb, adverb = said[VERB], said[ADVERB]
    same, alike = 0, 0  # the objects to which a plan is the answer, or ends as it does
    for i in range(n):
        found = likeness(desk, n, grid, plan_to(desk, grid, i, verb, adverb), given, start, stop, is_elsewhere)
        if found == SAME:
            same |= 1 << i
        elif found == ALIKE:
            alike |= 1 << i
    name_listeners(desk, n, said, sets, same, alike, readers)
    for reader in range(IGNORES_ADVERB, READERS):
        m = careless_plan(desk, grid, verb, adverb, reader)
        readers[reader] = likeness(desk, n, grid, m, given, start, stop, is_elsewhere)


def name_listeners(desk: Any, n: Any, said: Any, sets: Any, same: Any, alike: Any, readers: Any) -> None:
    """The readers who ignore a word, or take its opposite, and therefore choose another object."""
    everything = index_things(desk.things, n, sets)
    word, color, noun = said[WORD], said[COLOR_WORD], said[NOUN]
    if word != NO_SIZE:
        readers[IGNORES_SIZE] = kind(phrase(sets, everything, NO_SIZE, color, noun, SUPERLATIVE), same, alike)
        other = BIG if word == SMALL else SMALL
        readers[OPPOSITE_SIZE] = kind(phrase(sets, everything, other, color, noun, SUPERLATIVE) & ~1, same, alike)
    if color != ANY:
        readers[IGNORES_COLOR] = kind(phrase(sets, everything, word, ANY, noun, SUPERLATIVE), same, alike)
    readers[IGNORES_SHAPE] = kind(phrase(sets, everything, word, color, ANY, SUPERLATIVE), same, alike)
    nearest = 0
    for i in range(1, n):
        if is_nearer(desk, i, nearest):
            nearest = i
    readers[NEAREST_OBJECT] = kind(1 << nearest, same, alike)


def kind(taken: Any, same: Any, alike: Any) -> Any:
    """SAME if a plan to one of these objects is the answer, ALIKE if one ends as it does, else 0."""
    if taken & same:
        return SAME
    return ALIKE if taken & alike else 0


def is_nearer(desk: Any, i: Any, than: Any) -> Any:
    """Whether object i comes before the other by distance, row and column."""
    a, b = distance(desk, i), distance(desk, than)
    if a != b:
        return a < b
    if desk.things[i, ROW] != desk.things[than, ROW]:
        return desk.things[i, ROW] < desk.things[than, ROW]
    return desk.things[i, COLUMN] < desk.things[than, COLUMN]


def careless_plan(desk: Any, grid: Any, verb: Any, adverb: Any, reader: Any) -> Any:
    """Write what a reader with the right object does to `desk.out`; returns its length, 0 if the reader has no answer."""
    if reader == IGNORES_ADVERB:
        return plan_to(desk, grid, 0, verb, PLAIN) if adverb != PLAIN else 0
    if reader == VERTICAL_FIRST:
        return vertical_plan(desk, adverb) if verb == WALK else 0
    if verb == WALK:
        return 0
    if reader == ONLY_WALKS:
        return plan_to(desk, grid, 0, WALK, adverb)
    if reader == SWAPS_VERBS:
        return plan_to(desk, grid, 0, PULL if verb == PUSH else PUSH, adverb)
    if reader == IGNORES_WEIGHT:
        size = desk.things[0, SIZE]
        desk.things[0, SIZE] = LIGHT if size >= HEAVY_FROM else HEAVY
        m = plan_to(desk, grid, 0, verb, adverb)
        desk.things[0, SIZE] = size
        return m
    for r in range(grid):
        desk.scratch[r] = desk.board[r]
        desk.board[r] = 0
    put(desk.board, desk.things[0, ROW], desk.things[0, COLUMN])
    m = plan_to(desk, grid, 0, verb, adverb)
    for r in range(grid):
        desk.board[r] = desk.scratch[r]
    return m


def vertical_plan(desk: Any, adverb: Any) -> Any:
    """The walk to the target with vertical steps first; 0 if the target is not diagonal."""
    down = desk.things[0, ROW] - desk.agent[AGENT_ROW]
    right = desk.things[0, COLUMN] - desk.agent[AGENT_COLUMN]
    if down == 0 or right == 0:
        return 0
    along, across = SOUTH if down > 0 else NORTH, EAST if right > 0 else WEST
    heading, v, h, m = desk.agent[HEADING], abs(down), abs(right), 0
    if adverb == ZIGZAG:
        while v > 0 and h > 0:
            m = effort(DO_WALK, heading, along, adverb, desk.out, m)
            m = effort(DO_WALK, along, across, adverb, desk.out, m)
            heading = across
            v -= 1
            h -= 1
    for _ in range(v):
        m = effort(DO_WALK, heading, along, adverb, desk.out, m)
        heading = along
    for _ in range(h):
        m = effort(DO_WALK, heading, across, adverb, desk.out, m)
        heading = across
    return m
