"""The oracle over a whole batch: laws as tables and compiled code first, then the plain oracle on the rows that break one.

Every input of the compiled code is checked here. A row that is no example of numbers goes to the plain oracle, which says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.checks import MALFORMED, by_row
from recombine.columns import Coded, Ragged
from recombine.core import Batch, Family, Problem, option
from recombine.families.reascan import oracle, oracle_claims, oracle_reader
from recombine.families.reascan import oracle_kernel as laws_of
from recombine.families.reascan.oracle_claims import ADVERBS, MOST_NOUNS, VERBS, Facts, Ints, TableClaim, noun_numbers
from recombine.families.reascan.rows import example
from recombine.families.reascan.splits import OPTIONS

Bools = NDArray[np.bool_]

KERNEL_NAME = "recombine.families.reascan.oracle_kernel"
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 8_000, 400
"""Interpreted rows that take as long as compiling the kernels, and as loading them from disk."""
ACTIONS = ("walk", "push", "pull", "stay", "turn left", "turn right")
COLORS = ("red", "blue", "green", "yellow")
SHAPES = ("circle", "cylinder", "square", "box")
BOX, LARGEST_SIZE = 3, 4
ODD = 1 << 11
ARTIFACTS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        laws_of.BINDING: ("wrong_binding", "a mentioned object is not what its phrase says"),
        laws_of.READING: (
            "size_reading",
            "with 'small' and 'big' read as smallest and biggest, the command means something else",
        ),
        laws_of.SIZES: ("size_class", "the class of a sized phrase does not come in two sizes"),
        laws_of.NEED: ("spare_word", "a word or clause is not needed to find the target"),
        laws_of.SHARED: ("shared_object", "if two phrases may mean the same object, the command fits several objects"),
        ODD: ("bad_command", "the command breaks a rule of the grammar"),
    }
)
"""Laws of the sound recipe only: what is an artifact in rows of another recipe, once for each row and kind."""


class Sheet(NamedTuple):
    """Rows as the compiled laws take them; `…_ends` say where each row's part of the array before ends."""

    grids: Ints  # [n]
    counts: Ints  # [n]: how many nouns
    nouns: Ints  # [n, 9, 6]: see `oracle_claims.NOUN_FIELDS`
    manners: Ints  # [n, 2]: verb, adverb
    agents: Ints  # [n, 2]: row, column
    things: Ints  # [objects, 5]: size, colour, shape, row, column
    ends: Ints  # [n]
    catches: Ints  # [objects]
    steps: Ints  # [actions]
    step_ends: Ints  # [n]
    marks: Ints  # [spare words]
    mark_ends: Ints  # [n]


@dataclass(frozen=True)
class Reading:
    """The rows of a batch that can be judged as numbers, and the places of these rows in the batch."""

    rows: Ints
    sheet: Sheet
    is_odd: Bools
    facts: Facts
    roles: Ints


def validate_batch(family: Family, batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Each broken law with the row that breaks it."""

    def plain(row: int) -> list[Problem]:
        return oracle.validate(example(family, batch, row))

    if not kernels.is_worth_compiling(KERNEL_NAME, len(batch), COMPILE_FROM_ROWS, LOAD_FROM_ROWS):
        yield from by_row(range(len(batch)), plain)
        return
    try:
        read = read_batch(batch)
    except MALFORMED:
        yield from by_row(range(len(batch)), plain)
        return
    laws = np.zeros(len(batch), dtype=np.int64)
    is_suspect = np.ones(len(batch), dtype=np.bool_)
    laws[read.rows] = broken_laws(read, compiled=True)
    tolerated = 0 if batch.job.recipe == "sound" else sum(ARTIFACTS)
    is_suspect[read.rows] = broken_fields(batch, read) | broken_claims(family, batch, read)
    is_suspect |= laws & ~tolerated != 0
    for place in np.flatnonzero((laws != 0) | is_suspect):
        row = int(place)
        if is_suspect[row]:
            yield from by_row((row,), plain)
            continue
        for bit, (code, sentence) in ARTIFACTS.items():
            if laws[row] & bit:
                yield row, Problem(code, sentence, "artifact")


# --- reading ---------------------------------------------------------------------------------------------------------


def read_batch(batch: Batch) -> Reading:
    """The batch as numbers; each command is read by the oracle's own reader."""
    columns, n = batch.columns, len(batch)
    natural = dict(batch.job.options).get("wording") == "natural"
    nouns, counts, manners, is_odd = read_commands([str(columns["command"][row]) for row in range(n)], natural)
    lists = {name: _list(columns[name], known) for name, known in _LISTS.items()}
    numbers = {name: _whole(columns[name]) for name in ("grid_size", "agent_row", "agent_column")}
    is_good = (counts > 0) & _are_worlds(lists, numbers) & _are_lists(lists)
    is_good &= _texts(columns["agent_heading"]) == "east"
    rows = np.flatnonzero(is_good)
    chosen = {name: _chosen(values, offsets, rows) for name, (values, offsets) in lists.items()}
    things = np.stack([chosen[name][0] for name in _OBJECT[:5]], axis=1)
    sheet = Sheet(
        numbers["grid_size"][rows],
        counts[rows],
        nouns[rows],
        manners[rows],
        np.stack([numbers["agent_row"][rows], numbers["agent_column"][rows]], axis=1),
        np.ascontiguousarray(things),
        chosen["object_sizes"][1],
        chosen["object_catches"][0],
        *chosen["actions"],
        *chosen["spare_words"],
    )
    index = np.array([batch.index(int(row)) for row in rows], dtype=np.int64)
    return Reading(rows, sheet, is_odd[rows], facts_of(batch, sheet, index), chosen["object_roles"][0])


def read_commands(texts: list[str], natural: bool = False) -> tuple[Ints, Ints, Ints, Bools]:
    """(nouns, their numbers, verbs and adverbs, whether a rule is broken) of each command; 0 nouns if it cannot be read."""
    n = len(texts)
    nouns, counts = np.full((n, MOST_NOUNS, 6), -2, dtype=np.int64), np.zeros(n, dtype=np.int64)
    manners, is_odd = np.zeros((n, 2), dtype=np.int64), np.zeros(n, dtype=np.bool_)
    for row, text in enumerate(texts):
        try:
            said = oracle_reader.understand(text, natural)
        except oracle_reader.Misread:
            continue
        counts[row] = len(said.nouns)
        nouns[row, : counts[row]] = noun_numbers(said)
        manners[row] = VERBS.index(said.verb), ADVERBS.index(said.adverb)
        is_odd[row] = any(True for _ in oracle_reader.grammar_faults(said))
    return nouns, counts, manners, is_odd


_OBJECT = (
    "object_sizes",
    "object_colors",
    "object_shapes",
    "object_rows",
    "object_columns",
    "object_roles",
    "object_catches",
)
_LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(_OBJECT, ()),
        "object_colors": COLORS,
        "object_shapes": SHAPES,
        "object_roles": oracle.ROLES,
        "actions": ACTIONS,
        "spare_words": (),
    }
)


def _are_worlds(lists: Mapping[str, tuple[Ints, Ints]], numbers: Mapping[str, Ints]) -> Bools:
    """Rows whose world is possible: what `World.problems` says, as tables."""
    grid, row, column = numbers["grid_size"], numbers["agent_row"], numbers["agent_column"]
    offsets = lists["object_sizes"][1]
    counts = np.diff(offsets)
    is_good = (grid >= 1) & (grid <= laws_of.MOST_GRID) & (counts >= 1) & (counts < laws_of.MOST)
    is_good &= (row >= 0) & (column >= 0) & (row < grid) & (column < grid)
    for name in _OBJECT[1:]:
        if not np.array_equal(lists[name][1], offsets):
            is_good &= np.diff(lists[name][1]) == counts
    rows = np.flatnonzero(is_good)
    if not len(rows):
        return is_good
    size, color, shape, y, x = (_chosen(*lists[name], rows)[0] for name in _OBJECT[:5])
    whose = np.repeat(np.arange(len(rows)), counts[rows])
    reach = np.where(shape == BOX, size, 1)
    is_in = (y >= 0) & (x >= 0) & (y + reach <= grid[rows][whose]) & (x + reach <= grid[rows][whose])
    is_kind = (size >= 1) & (size <= LARGEST_SIZE) & (color >= 0) & (color < len(COLORS)) & (shape >= 0) & (shape < len(SHAPES))
    cell = ((whose * 2 + (shape == BOX)) * 256 + np.clip(y, 0, 255)) * 256 + np.clip(x, 0, 255)
    _, first, how_many = np.unique(cell, return_inverse=True, return_counts=True)
    is_fine = is_in & is_kind & (how_many[first] == 1)
    is_good[rows[np.unique(whose[~is_fine])]] = False
    return is_good


def _are_lists(lists: Mapping[str, tuple[Ints, Ints]]) -> Bools:
    """Rows whose actions, spare words and catches are within the bounds of the compiled laws."""
    is_good = np.diff(lists["spare_words"][1]) <= laws_of.MOST_MARKS
    for name, low, high in (("actions", 0, len(ACTIONS) - 1), ("spare_words", 0, 127), ("object_catches", -1, 127)):
        values, offsets = lists[name]
        outside = np.flatnonzero((values < low) | (values > high))
        is_good[np.searchsorted(offsets, outside, side="right") - 1] = False
    return is_good


def _list(column: Any, known: tuple[str, ...]) -> tuple[Ints, Ints]:
    """(values as numbers, offsets) of a column of lists, cut to what the offsets span."""
    found = cast(Ragged, column)
    offsets = np.asarray(found.offsets).astype(np.int64)
    return codes_of(found.values, known)[offsets[0] : offsets[-1]], offsets - offsets[0]


def _chosen(values: Ints, offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """(values, ends) of these rows only."""
    counts = np.diff(offsets)[rows]
    ends = np.cumsum(counts)
    if len(rows) == len(offsets) - 1:
        return np.ascontiguousarray(values), ends
    places = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts) + np.repeat(offsets[rows], counts)
    return np.ascontiguousarray(values[places]), ends


def _whole(column: Any) -> Ints:
    return np.asarray(column).astype(np.int64)


def codes_of(values: Any, known: tuple[str, ...]) -> Ints:
    """Numbers as they are, strings as places in `known` (its length for all others)."""
    if not isinstance(values, Coded):
        return np.asarray(values).astype(np.int64)
    table = np.array([known.index(value) if value in known else len(known) for value in values.values], dtype=np.int64)
    return table[np.asarray(values.codes).astype(np.int64)]


def _texts(column: Any) -> NDArray[Any]:
    if isinstance(column, Coded):
        return np.array(list(column.values))[np.asarray(column.codes).astype(np.int64)]
    return np.array([column[row] for row in range(len(column))])


def facts_of(batch: Batch, sheet: Sheet, index: Ints) -> Facts:
    """What claims are judged by."""
    n = len(sheet.counts)
    starts = sheet.ends - np.diff(sheet.ends, prepend=0)
    mentioned = np.full((n, MOST_NOUNS, 3), -2, dtype=np.int64)
    for k in range(MOST_NOUNS):
        has = np.flatnonzero((k < sheet.counts) & (starts + k < sheet.ends))
        mentioned[has, k] = sheet.things[starts[has] + k, :3]
    places = np.concatenate([sheet.grids[:, None], sheet.things[starts, 3:5], sheet.agents], axis=1)
    actions = np.diff(sheet.step_ends, prepend=0)
    job = batch.job
    options = {name: option(job, OPTIONS, name) for name in ("longest", "shots", "c2_relations")}
    return Facts(sheet.nouns, sheet.counts, sheet.manners, mentioned, places, actions, index, job.recipe, job.seed, options)


# --- judging ---------------------------------------------------------------------------------------------------------


def broken_laws(read: Reading, compiled: bool) -> Ints:
    """The bits of `oracle_kernel` for each row."""
    broken = np.zeros(len(read.rows), dtype=np.int64)
    kernels.load(KERNEL_NAME, compiled).check_rows(read.sheet, True, broken)
    return broken | read.is_odd * ODD


def broken_claims(family: Family, batch: Batch, read: Reading) -> Bools:
    """Rows that cannot stand in their split and part; all of them if the oracle does not know the split."""
    claim = oracle_claims.CLAIMS.get(batch.job.split)
    if claim is None:
        return np.ones(len(read.rows), dtype=np.bool_)
    if isinstance(claim, TableClaim):
        return claim.broken(read.facts, batch.job.part)
    found = [claim(example(family, batch, int(row)), batch.job.part) != "" for row in read.rows]
    return np.array(found, dtype=np.bool_)


def broken_fields(batch: Batch, read: Reading) -> Bools:
    """Rows with a column that does not follow from command, world and actions."""
    columns, rows, sheet, facts = batch.columns, read.rows, read.sheet, read.facts
    down, right = facts.places[:, 1] - facts.places[:, 3], facts.places[:, 2] - facts.places[:, 4]
    moves = np.concatenate([[0], np.cumsum((sheet.steps == 1) | (sheet.steps == 2))])
    step_starts = sheet.step_ends - facts.actions
    compass = np.array([["nw", "n", "ne"], ["w", "", "e"], ["sw", "s", "se"]])[np.sign(down) + 1, np.sign(right) + 1]
    due = {
        "clauses": sheet.counts - 1,
        "distance": np.abs(down) + np.abs(right),
        "action_count": facts.actions,
        "object_count": np.diff(sheet.ends, prepend=0),
        "interaction": moves[sheet.step_ends] > moves[step_starts],
        "form": oracle_claims.form_numbers(facts),
    }
    texts = {
        "verb": np.array(VERBS)[sheet.manners[:, 0]],
        "adverb": np.array(ADVERBS)[sheet.manners[:, 1]],
        "direction": compass,
        "pattern": _patterns(facts),
    }
    wrong = np.zeros(len(rows), dtype=np.bool_)
    for name, values in due.items():
        wrong |= _whole(columns[name])[rows] != values
    for name, words in texts.items():
        wrong |= _texts(columns[name])[rows] != words
    is_sound = batch.job.recipe == "sound"
    return wrong | _broken_roles(batch, read) | _broken_notes(batch, read) | _broken_marks(read, is_sound)


def _patterns(facts: Facts) -> NDArray[Any]:
    kinds, which = np.unique(facts.column("parent"), axis=0, return_inverse=True)
    names = [oracle.pattern_text([oracle_reader.Noun("", "", "", "", int(p), "") for p in kind if p > -2]) for kind in kinds]
    return np.array(names)[which.reshape(-1)]


def _broken_roles(batch: Batch, read: Reading) -> Bools:
    """Rows whose roles, catches and distractor flags do not fit each other."""
    sheet, roles, catches, is_sound = read.sheet, read.roles, read.sheet.catches, batch.job.recipe == "sound"
    sizes = np.diff(sheet.ends, prepend=0)
    whose = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(roles)) - np.repeat(sheet.ends - sizes, sizes)
    is_reader = (catches >= 0) & (catches < 64)
    kind = catches % 8
    fits = [
        catches == -1,
        catches == -1,
        is_reader & (kind == 3),
        is_reader & (kind < 3),
        catches >= 64,
        is_reader & (kind == 0),
    ]
    is_wrong = np.ones(len(roles), dtype=np.bool_)
    for code in range(len(oracle.ROLES)):
        is_wrong &= (roles != code) | ~(fits[code] if is_sound and code < len(fits) else catches == -1)
    if is_sound:
        is_wrong |= is_reader & ~_exist(sheet, whose, catches)
        is_wrong |= np.where(place == 0, roles != 0, np.where(place < sheet.counts[whose], roles != 1, roles < 2))
        marks = np.repeat(np.arange(len(sizes)), np.diff(sheet.mark_ends, prepend=0)) * 128 + sheet.marks
        is_wrong |= is_reader & (roles != oracle.ROLES.index("contrast")) & np.isin(whose * 128 + catches, marks)
    wrong = np.bincount(whose[is_wrong], minlength=len(sizes)) > 0
    group = np.maximum(sheet.counts - 1, 1)
    for name in ("relation", "attribute", "isomorphism", "random"):
        count = np.bincount(whose[roles == oracle.ROLES.index(name)], minlength=len(sizes))
        may = must = count > 0
        if not is_sound and name == "relation":
            may, must = count >= group, (count >= group**2) & (sheet.counts > 1)
        elif not is_sound and name == "attribute":
            may, must = count == sheet.counts, np.zeros(len(count), dtype=np.bool_)
        elif not is_sound and name == "isomorphism":
            may = must = count == 3
        flag = _whole(batch.columns[f"{name}_distractor"])[read.rows] != 0
        wrong |= (flag & ~may) | (~flag & must)
    return wrong


def _exist(sheet: Sheet, whose: Ints, codes: Ints) -> Bools:
    """Whether each code 8 * j + kind names a word or clause of the command of its row."""
    node, kind = np.clip(codes // 8, 0, MOST_NOUNS - 1), codes % 8
    nouns = sheet.nouns[whose, node]
    has_word = np.stack([nouns[:, 0] > 0, nouns[:, 1] >= 0, (nouns[:, 2] >= 0) & (nouns[:, 2] != BOX), node > 0], axis=1)
    found: Bools = (codes // 8 < sheet.counts[whose]) & (kind < 4) & has_word[np.arange(len(kind)), kind % 4]
    return found


def _broken_marks(read: Reading, is_sound: bool) -> Bools:
    """Rows with a spare word that the command does not have, or twice; in `release` with any."""
    sheet, counts = read.sheet, np.diff(read.sheet.mark_ends, prepend=0)
    if not is_sound:
        return counts > 0
    whose = np.repeat(np.arange(len(counts)), counts)
    _, first = np.unique(whose * 128 + sheet.marks, return_index=True)
    is_wrong = ~_exist(sheet, whose, sheet.marks)
    is_wrong[np.setdiff1d(np.arange(len(whose)), first)] = True
    return np.bincount(whose[is_wrong], minlength=len(counts)) > 0


def _broken_notes(batch: Batch, read: Reading) -> Bools:
    """Rows whose column `strategy` cannot be: see `oracle._are_notes`."""
    values, offsets = _list(batch.columns["strategy"], ())
    counts = np.diff(offsets)[read.rows]
    if batch.job.recipe == "sound":
        return np.asarray(counts != 0)
    wrong = counts != 5
    good = np.flatnonzero(~wrong)
    notes = values[offsets[read.rows[good]][:, None] + np.arange(5)]
    node, kind, swap = notes[:, 0], notes[:, 1], notes[:, 2]
    flags = {n: _whole(batch.columns[f"{n}_distractor"])[read.rows[good]] != 0 for n in ("attribute", "isomorphism")}
    is_none = (node == -1) & (kind == -1)
    is_known = (node >= 0) & (node < read.sheet.counts[good]) & (kind >= 0) & (kind < 3)
    nouns = read.sheet.nouns[good, np.clip(node, 0, MOST_NOUNS - 1)]
    words = np.stack([nouns[:, 0] > 0, nouns[:, 1] >= 0, nouns[:, 2] >= 0], axis=1)
    is_able = (nouns[:, 2] >= 0) & (nouns[:, 2] != BOX) & words[np.arange(len(good)), np.clip(kind, 0, 2)]
    is_fine = np.where(is_none, ~flags["attribute"], is_known & is_able)
    is_fine &= (notes[:, 3] == 1) & (notes[:, 4] == 2) & (swap >= 0) & (swap <= 2) & ((swap != 0) | ~flags["isomorphism"])
    wrong[good] |= ~is_fine
    return np.asarray(wrong)
