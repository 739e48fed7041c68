"""The oracle's laws for a whole batch. It finds the rows that break no law at once; all other rows go to the plain oracle.

Part of the oracle: it shares no code with the generator. Every law of `oracle.validate` is stated here again over arrays. A row
counts as right only if all of them hold; the plain oracle then says nothing about it either, and a test compares the two. What
is not stated here (rows of other shapes, splits with predicates, held-out rows in training) is left to the plain oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from recombine.checks import MALFORMED, by_row
from recombine.columns import Coded, Ragged, values_of
from recombine.families.gscan import oracle, oracle_claims, oracle_reader
from recombine.families.gscan.oracle_fields import Reading
from recombine.grid.world import Thing, World

if TYPE_CHECKING:
    from recombine.core import Batch, Example, Problem

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_SHAPES, _COLORS = ("circle", "cylinder", "square"), ("red", "blue", "green", "yellow")
_ROLES = ("target", "size decoy", "color decoy", "shape decoy", "blocker", "random")
_SIZES, _VERBS = ("", "small", "big"), ("walk", "push", "pull")
_MANNERS = ("", "while zigzagging", "while spinning", "cautiously", "hesitantly")
_WAYS = ("east", "south", "west", "north")
_UNKNOWN = -1
_CLAIMS = {split: oracle_claims.CLAIMS[split] for split in ("compositional", *oracle_claims.HELD_OUT)}
"""The claims that `belongs` states again. A split with any other claim is left to the plain oracle."""
_LARGEST_GRID, _MOST_OBJECTS = 16, 31
_HEAVY = 3


class Sheet(NamedTuple):
    """The rows of a batch as arrays; objects beyond a row's number have `is_there` false."""

    grid: int
    agent: Ints  # [n, 2]: row, column
    is_there: Flags  # [n, most]
    things: Ints  # [n, most, 5]: size, colour, shape, row, column
    roles: Ints  # [n, most]
    said: Ints  # [n, 5]: verb, manner, size word, colour word, noun
    readings: list[Reading]  # [n]


def validate_batch(example: Callable[[int], Example], batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Each broken law with the row that breaks it; `example(row)` is the readable view of a row."""
    try:
        is_right = _right_rows(batch)
    except MALFORMED:
        is_right = np.zeros(len(batch), np.bool_)
    return by_row(np.flatnonzero(~is_right).tolist(), lambda row: oracle.validate(example(row)))


def _right_rows(batch: Batch) -> Flags:
    """Which rows certainly break no law."""
    job = batch.job
    sheet = read_sheet(batch) if len(batch) else None
    if sheet is None or job.recipe != "sound" or oracle_claims.CLAIMS.get(job.split) is not _CLAIMS.get(job.split, ""):
        return np.zeros(len(batch), np.bool_)
    is_right = has_possible_world(sheet)
    sheet = sheet._replace(things=np.where(is_right[:, None, None], sheet.things, 0))
    is_right &= means_target_alone(sheet)
    moves = cells_free(sheet)
    is_right &= has_right_answer(batch, sheet, moves, is_right)
    is_right &= has_right_fields(batch, sheet, moves)
    is_right &= has_right_roles(sheet, moves)
    is_right &= needs_every_word(sheet) & has_rival(sheet) & reads_one_way(sheet)
    return is_right & belongs(batch, sheet, moves)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_sheet(batch: Batch) -> Sheet | None:
    """The arrays of a batch; None if its rows have several grid sizes or lists of unequal lengths."""
    columns = batch.columns
    grids, headings = np.asarray(columns["grid_size"]), values_of(columns["agent_heading"])
    lists = [cast(Ragged, columns[f"object_{name}"]) for name in ("sizes", "colors", "shapes", "rows", "columns", "roles")]
    ends = lists[0].offsets
    if (grids != grids[0]).any() or not 1 <= int(grids[0]) <= _LARGEST_GRID or set(headings) != {"east"}:
        return None
    if any(not np.array_equal(column.offsets, ends) for column in lists):
        return None
    counts = np.diff(ends)
    most = int(counts.max())
    if not 1 <= most <= _MOST_OBJECTS:
        return None
    is_there = np.arange(most)[None, :] < counts[:, None]
    flat = [_codes(lists[0]), _codes(lists[1], _COLORS), _codes(lists[2], _SHAPES), _codes(lists[3]), _codes(lists[4])]
    things = np.zeros((len(batch), most, 5), np.int64)
    for k, values in enumerate(flat):
        things[:, :, k][is_there] = values
    roles = np.zeros((len(batch), most), np.int64)
    roles[is_there] = _codes(lists[5], _ROLES)
    agent = np.stack([np.asarray(columns[f"agent_{name}"]).astype(np.int64) for name in ("row", "column")], axis=1)
    wording = dict(batch.job.options).get("wording")
    readings = [_read(text, wording) for text in values_of(columns["command"])]
    said = np.array([_digits(reading) for reading in readings], np.int64)
    return Sheet(int(grids[0]), agent, is_there, things, roles, said, [reading or _NOTHING for reading in readings])


_NOTHING = Reading("", "", "", "", "")


@lru_cache(maxsize=2048)
def _read(text: str, wording: object) -> Reading | None:
    return oracle_reader.reader_of(wording)(text)


@lru_cache(maxsize=2048)
def _digits(reading: Reading | None) -> tuple[int, ...]:
    """Verb, manner, size word, colour word and noun as numbers; -1 for a text that is no command."""
    if reading is None:
        return (_UNKNOWN,) * 5
    color = _COLORS.index(reading.color) + 1 if reading.color else 0
    words = (_VERBS.index(reading.verb), _MANNERS.index(reading.manner), _SIZES.index(reading.size))
    return (*words, color, _SHAPES.index(reading.noun))


def _codes(column: Ragged, known: Sequence[str] = ()) -> Ints:
    """The flat values of a list column as numbers: those of `known` names, -1 for any other."""
    values = column.values
    inside = slice(int(column.offsets[0]), int(column.offsets[-1]))
    if isinstance(values, Coded):
        table = np.array([known.index(name) if name in known else _UNKNOWN for name in values.values], np.int64)
        found: Ints = table[values.codes[inside]]
        return found
    return np.asarray(values)[inside].astype(np.int64)


# --- world and phrase ------------------------------------------------------------------------------------------------


def has_possible_world(sheet: Sheet) -> Flags:
    """Known kinds, cells inside the grid, no two things or the agent in one cell; and a command of the grammar."""
    size, color, shape, row, column = np.moveaxis(sheet.things, 2, 0)
    grid, there = sheet.grid, sheet.is_there
    is_good = (size >= 1) & (size <= 4) & (color >= 0) & (shape >= 0)
    is_good &= (row >= 0) & (row < grid) & (column >= 0) & (column < grid)
    agent = sheet.agent
    good: Flags = (is_good | ~there).all(1) & there.any(1) & (sheet.said[:, 0] >= 0)
    good &= ((agent >= 0) & (agent < grid)).all(1)
    cells = np.where(there, row * grid + column, -1 - np.arange(there.shape[1])[None, :])
    cells = np.sort(np.concatenate([cells, (agent[:, 0] * grid + agent[:, 1])[:, None]], axis=1), axis=1)
    return cast(Flags, good & (np.diff(cells, axis=1) != 0).all(1))


def _meant(sheet: Sheet, klass: Flags, word: Ints) -> Flags:
    """The smallest or biggest things of a class ([…, most]), or all of it where there is no size word."""
    size = sheet.things[:, :, 0].astype(np.int8)
    size = size if klass.ndim == 2 else size[:, None, :]
    low = np.where(klass, size, np.int8(9)).min(-1, keepdims=True)
    high = np.where(klass, size, np.int8(-9)).max(-1, keepdims=True)
    extreme = np.where(word == 1, low, high)
    return cast(Flags, klass & ((word == 0) | (size == extreme)))


def _class(sheet: Sheet, with_color: bool = True, with_noun: bool = True) -> Flags:
    """The things that have the colour and the shape of the phrase, of which one may be left out."""
    color, noun = sheet.said[:, 3, None], sheet.said[:, 4, None]
    found = sheet.is_there.copy()
    if with_color:
        found &= (color == 0) | (sheet.things[:, :, 1] == color - 1)
    if with_noun:
        found &= sheet.things[:, :, 2] == noun
    return found


def means_target_alone(sheet: Sheet) -> Flags:
    """The phrase means object 0 and no other."""
    meant = _meant(sheet, _class(sheet), sheet.said[:, 2, None])
    return cast(Flags, meant[:, 0] & (meant.sum(1) == 1))


def needs_every_word(sheet: Sheet) -> Flags:
    """Without its size word, its colour word or its noun, the phrase means at least two things."""
    word = sheet.said[:, 2, None]
    without_size = (word[:, 0] == 0) | (_class(sheet).sum(1) >= 2)
    without_color = (sheet.said[:, 3] == 0) | (_meant(sheet, _class(sheet, with_color=False), word).sum(1) >= 2)
    without_noun: Flags = _meant(sheet, _class(sheet, with_noun=False), word).sum(1) >= 2
    return cast(Flags, without_size & without_color & without_noun)


def has_rival(sheet: Sheet) -> Flags:
    """At least two things could be meant alone by a phrase with the same kinds of words, all of them needed."""
    color, shape = sheet.things[:, :, 1], sheet.things[:, :, 2]
    there = sheet.is_there
    pairs = there[:, :, None] & there[:, None, :]
    same_color = pairs & ((color[:, :, None] == color[:, None, :]) | (sheet.said[:, 3] == 0)[:, None, None])
    same_shape = pairs & (shape[:, :, None] == shape[:, None, :])
    has_size, has_color = sheet.said[:, 2] > 0, sheet.said[:, 3] > 0
    found = np.zeros_like(there)
    own = np.arange(there.shape[1])
    for chosen in (1, 2):
        word = np.where(has_size, chosen, 0)[:, None, None]
        meant = _meant(sheet, same_color & same_shape, word)
        is_alone = meant[:, own, own] & (meant.sum(2) == 1)
        is_needed = ~has_size[:, None] | ((same_color & same_shape).sum(2) >= 2)
        is_needed &= ~has_color[:, None] | (_meant(sheet, same_shape, word).sum(2) >= 2)
        is_needed &= _meant(sheet, same_color, word).sum(2) >= 2
        found |= there & is_alone & is_needed
    rivals: Flags = found.sum(1) >= 2
    return rivals


def reads_one_way(sheet: Sheet) -> Flags:
    """A size word means the same thing whether it says "of all" or "than another"."""
    klass, word, size = _class(sheet), sheet.said[:, 2, None], sheet.things[:, :, 0]
    low = np.where(klass, size, 9).min(1, keepdims=True)
    high = np.where(klass, size, -9).max(1, keepdims=True)
    loosely = klass & np.where(word == 1, size < high, size > low)
    return cast(Flags, (word[:, 0] == 0) | (loosely == _meant(sheet, klass, word)).all(1))


# --- the answer ------------------------------------------------------------------------------------------------------


def _offsets(sheet: Sheet) -> tuple[Ints, Ints]:
    """How far the target lies below and to the right of the agent."""
    return sheet.things[:, 0, 3] - sheet.agent[:, 0], sheet.things[:, 0, 4] - sheet.agent[:, 1]


def _moving_way(sheet: Sheet) -> tuple[Ints, Ints]:
    """(down, right) of the step by which the verb moves the target: ahead after the last step of the walk, or back."""
    down, right = _offsets(sheet)
    is_zigzag = sheet.said[:, 1] == 1
    ends_across = (down == 0) | (is_zigzag & (np.abs(right) > np.abs(down)))
    sign = np.where(sheet.said[:, 0] == 2, -1, 1)
    return np.where(ends_across, 0, np.sign(down)) * sign, np.where(ends_across, np.sign(right), 0) * sign


def cells_free(sheet: Sheet) -> Ints:
    """How many cells the target can be moved before a wall or another thing; 0 for walking."""
    n, grid = len(sheet.agent), sheet.grid
    taken = np.zeros((n, grid, grid), np.bool_)
    which, place = np.nonzero(sheet.is_there)
    taken[which, sheet.things[which, place, 3], sheet.things[which, place, 4]] = True
    (down, right), every = _moving_way(sheet), np.arange(n)
    row, column = sheet.things[:, 0, 3], sheet.things[:, 0, 4]
    moves, is_moving = np.zeros(n, np.int64), sheet.said[:, 0] > 0
    for _ in range(grid):
        row, column = row + down, column + right
        is_inside = (row >= 0) & (row < grid) & (column >= 0) & (column < grid)
        is_moving = is_moving & is_inside & ~taken[every, row % grid, column % grid]
        moves += is_moving
    return moves


def has_right_answer(batch: Batch, sheet: Sheet, moves: Ints, is_worth: Flags) -> Flags:
    """The actions are the one right sequence."""
    down, right = (values.tolist() for values in _offsets(sheet))
    heavy, free = (sheet.things[:, 0, 0] >= _HEAVY).tolist(), moves.tolist()
    answers = values_of(batch.columns["actions"])
    found = np.zeros(len(answers), np.bool_)
    for row in np.flatnonzero(is_worth).tolist():
        reading = sheet.readings[row]
        found[row] = tuple(answers[row]) == _gold(down[row], right[row], reading.verb, reading.manner, heavy[row], free[row])
    return found


@lru_cache(maxsize=1 << 16)
def _gold(down: int, right: int, verb: str, manner: str, is_heavy: bool, free: int) -> tuple[str, ...]:
    """The right actions by the plain oracle, in a large world with nothing but the target and what stops it; replayed once."""
    side = 4 * _LARGEST_GRID
    middle = side // 2
    target = Thing(_HEAVY if is_heavy else 1, "red", "circle", middle, middle)
    alone = World(side, (target,), middle - down, middle - right)
    if verb == "walk":
        return _replayed(alone, verb, manner)
    for way in _WAYS:
        ahead, across = oracle._AHEAD[way]
        stop = Thing(1, "blue", "square", middle + (free + 1) * ahead, middle + (free + 1) * across)
        world = World(side, (target, stop), middle - down, middle - right)
        actions = oracle.gold(world, target, verb, manner)
        if actions.count(verb) == free * (2 if is_heavy else 1):
            return _replayed(world, verb, manner)
    return ("no such answer",)


def _replayed(world: World, verb: str, manner: str) -> tuple[str, ...]:
    actions = oracle.gold(world, world.things[0], verb, manner)
    complaints, at, where = oracle.run(world, actions)
    return ("does not replay",) if complaints or where.get(at) != 0 else tuple(actions)


# --- fields, roles, part ---------------------------------------------------------------------------------------------


def has_right_fields(batch: Batch, sheet: Sheet, moves: Ints) -> Flags:
    """All other stored fields follow from command, world and actions."""
    down, right = _offsets(sheet)
    target, readings = sheet.things[:, 0], sheet.readings
    names = np.array([["nw", "n", "ne"], ["w", "", "e"], ["sw", "s", "se"]])
    kinds = [
        ",".join(k for k, w in zip(("size", "color", "shape"), (r.size, r.color, r.noun), strict=True) if w) for r in readings
    ]
    true: dict[str, Any] = {
        "verb": [reading.verb for reading in readings],
        "adverb": [reading.manner for reading in readings],
        "size_word": [reading.size for reading in readings],
        "color_word": [reading.color for reading in readings],
        "template": kinds,
        "target_size": target[:, 0].tolist(),
        "target_color": [_COLORS[code] for code in target[:, 1].tolist()],
        "target_shape": [_SHAPES[code] for code in target[:, 2].tolist()],
        "direction": names[np.sign(down) + 1, np.sign(right) + 1].tolist(),
        "distance": (np.abs(down) + np.abs(right)).tolist(),
        "action_count": np.diff(cast(Ragged, batch.columns["actions"]).offsets).tolist(),
        "object_count": sheet.is_there.sum(1).tolist(),
        "cells_moved": moves.tolist(),
    }
    is_right = np.ones(len(batch), np.bool_)
    for name, values in true.items():
        stored = values_of(batch.columns[name])
        is_right &= np.array([a == b for a, b in zip(stored, values, strict=True)], np.bool_)
    return is_right


def has_right_roles(sheet: Sheet, moves: Ints) -> Flags:
    """An object that one word alone rules out is that word's decoy; what stops the target is a blocker, if it is none."""
    target, there = sheet.things[:, :1], sheet.is_there
    is_color = (sheet.said[:, 3, None] == 0) | (sheet.things[:, :, 1] == target[:, :, 1])
    is_shape = sheet.things[:, :, 2] == target[:, :, 2]
    is_size = (sheet.said[:, 2, None] == 0) | (sheet.things[:, :, 0] == target[:, :, 0])
    down, right = _moving_way(sheet)
    is_beyond = (sheet.things[:, :, 3] == (target[:, 0, 3] + down)[:, None]) & (
        sheet.things[:, :, 4] == (target[:, 0, 4] + right)[:, None]
    )
    is_blocker = is_beyond & ((sheet.said[:, 0] > 0) & (moves == 0))[:, None]
    due = np.where(is_blocker, _ROLES.index("blocker"), _ROLES.index("random"))
    due = np.where(~is_color & is_shape & is_size, _ROLES.index("color decoy"), due)
    due = np.where(is_color & ~is_shape & is_size, _ROLES.index("shape decoy"), due)
    due = np.where(is_color & is_shape, _ROLES.index("size decoy"), due)
    due[:, 0] = _ROLES.index("target")
    return cast(Flags, ((due == sheet.roles) | ~there).all(1))


def belongs(batch: Batch, sheet: Sheet, moves: Ints) -> Flags:
    """The claim of the split holds. Training rows that show a held-out combination are left to the plain oracle."""
    split, part = batch.job.split, batch.job.part
    size, color, shape, row, column = sheet.things[:, 0].T
    verb, manner, word, color_word, _ = sheet.said.T
    shown = {
        "visual": (color == 0) & (shape == 2),
        "situational_1": (row > sheet.agent[:, 0]) & (column < sheet.agent[:, 1]),
        "situational_2": (word == 1) & (shape == 0) & (size == 2),
        "contextual": (verb == 1) & (shape == 2) & (size == 3),
        "adverb_1": manner == 3,
        "adverb_2": (verb == 2) & (manner == 2),
        "visual_easier": (color_word == 4) & (color == 3) & (shape == 2),
    }
    is_drawn = _parts(sheet) == part
    count = np.sum(list(shown.values()), axis=0)
    if split == "compositional" or part != "test":
        own: Flags = (count == 0) & is_drawn
        return own
    own = shown[split] & (count == 1)
    if split == "adverb_1":
        own &= is_drawn
    return own & (moves > 0) if split in ("contextual", "adverb_2") else own


def _parts(sheet: Sheet) -> NDArray[np.str_]:
    """The part that a SplitMix64 of command number, agent cell and target cell assigns."""
    verb, manner, word, color, noun = sheet.said.T.astype(np.uint64)
    number = (((verb * np.uint64(5) + manner) * np.uint64(3) + noun) * np.uint64(5) + color) * np.uint64(3) + word
    grid = sheet.grid
    agent = (sheet.agent[:, 0] * grid + sheet.agent[:, 1]).astype(np.uint64)
    target = (sheet.things[:, 0, 3] * grid + sheet.things[:, 0, 4]).astype(np.uint64)
    z = (number * np.uint64(1024) + agent) * np.uint64(1024) + target
    z = (z ^ np.uint64(0x675343414E203031)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    share = (z >> np.uint64(40)) % np.uint64(10)
    return np.where(share == 0, "test", np.where(share == 1, "validation", "train"))
