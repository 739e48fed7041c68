"""The oracle over a whole batch: compiled elimination first, then the plain oracle on the rows that may break a law.

Every input of the compiled code is checked here. Rows of `release`, small batches and rows that cannot be read go to the plain oracle.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.checks import MALFORMED, by_row, claim_problems
from recombine.columns import Coded, Ragged, values_of
from recombine.core import Batch, Example, Family, Problem, option
from recombine.families.abstract import oracle
from recombine.families.abstract import oracle_kernel as laws
from recombine.families.abstract.oracle_outcomes import AWAY, deeds
from recombine.families.abstract.oracle_space import DEPTHS, FIGURES, HUES, PHRASES, columns
from recombine.families.abstract.rows import META, NEW_FIELDS, meta_of
from recombine.families.abstract.splits import OPTIONS

Ints = NDArray[np.int64]
KERNEL_NAME = "recombine.families.abstract.oracle_kernel"
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 3_000, 200
"""Rows for which the plain oracle takes as long as compiling the kernels, and as loading them from disk."""
READERS = 12
"""Most careless readers of a rule."""
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class Sheet(NamedTuple):
    """The worlds of a batch as numbers; every row has the same number of demonstrations."""

    starts: Ints  # [n, 1 + k]
    counts: Ints  # [n, 1 + k]
    things: Ints  # [objects, 5]
    gone: Ints  # [n, 1 + k]
    new: Ints  # [n, 1 + k, 5]


def validate_batch(family: Family, batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Each broken law with the row that breaks it."""
    rows: Sequence[int] = range(len(batch))
    is_usual = batch.job.recipe == "sound" and option(batch.job, OPTIONS, "answer_form") == "objects" and len(batch) > 0
    if is_usual and kernels.is_worth_compiling(KERNEL_NAME, len(batch), COMPILE_FROM_ROWS, LOAD_FROM_ROWS):
        try:
            rows = suspects(family, batch)
        except MALFORMED:
            rows = range(len(batch))  # some row is no example: the plain oracle finds which
    return by_row(rows, lambda row: oracle.validate(family.example(batch, row)))


def suspects(family: Family, batch: Batch, compiled: bool = True) -> list[int]:
    """The rows that may break a law: all others keep every one."""
    sheet, listed = read_worlds(batch), {name: values_of(batch.columns[name]) for name in (*META, "answer")}
    rules = [oracle.parse_rule(*words) for words in zip(listed["description"], listed["operation"], strict=True)]
    known = [row for row, rule in enumerate(rules) if rule is not None]
    found = judge(sheet, np.asarray(batch.columns["grid_size"]).astype(np.int64), rules, compiled)
    outputs = _outputs(sheet)
    doubtful = sorted(set(range(len(batch))) - set(known))
    for row in known:
        meta = meta_of(batch.job, {name: listed[name][row] for name in META})
        claimed, counts = rules[row], found.survivors[row].tolist()
        assert claimed is not None
        worlds = [range(int(count)) for count in sheet.counts[row]]
        inputs = {"test": worlds[0], "demonstrations": [{"input": world} for world in worlds[1:]]}
        light = Example(family, batch.id(row), inputs, "", meta=meta)
        left = oracle.Left(counts, int(found.against[row]), bool(found.unique[row]))
        if (
            found.faults[row]
            or left.against
            or _objects(listed["answer"][row]) != outputs[row]
            or any(True for _ in oracle.judge_columns(light, claimed, left))
            or any(True for _ in claim_problems(oracle.CLAIMS, light))
        ):
            doubtful.append(row)
    return sorted(doubtful)


def judge(sheet: Sheet, grids: Ints, rules: Sequence[oracle.Claimed | None], compiled: bool) -> laws.Verdicts:
    """What elimination finds; a row without a rule has verdicts that mean nothing."""
    n, worlds = sheet.counts.shape
    asked, weak = np.zeros((n, 3), dtype=np.int64), np.full((n, READERS, 4), -1, dtype=np.int64)
    for row, rule in enumerate(rules):
        if rule is not None:
            asked[row], readers = _numbers(rule)
            weak[row, : len(readers)] = readers
    tasks = laws.Tasks(grids, sheet.starts, sheet.counts, sheet.things, sheet.gone, sheet.new, asked, weak)
    most = laws.MOST_OBJECTS

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    sight = laws.Sight(
        zeros(worlds, 2, laws.N_PHRASES), zeros(worlds, laws.N_BONDS, most), zeros(worlds, 2, laws.N_STEPS), zeros(worlds, most),
        zeros(worlds, most, most), zeros(laws.MOST_DEEDS + 1),
    )  # fmt: skip
    found = laws.Verdicts(zeros(n, worlds - 1), zeros(n), zeros(n), zeros(n))
    kernels.load(KERNEL_NAME, compiled).judge_tasks(tasks, language(), sight, found)
    return found


@functools.lru_cache(maxsize=1 << 14)
def _numbers(rule: oracle.Claimed) -> tuple[tuple[int, int, int], list[tuple[int, int, int, int]]]:
    """Pattern, description and operation of a rule, and its careless readers, as the kernel numbers them."""
    place = DEPTHS.index(rule.depth)
    before = sum(len(columns(depth)[0]) for depth in DEPTHS[:place])
    readers = [
        (DEPTHS.index(depth), words[0], *(words[k] * len(PHRASES) + words[k + 1] for k in (1, 3)))
        for _, depth, words in oracle.weaker(rule)
    ]
    return (place, before + rule.number, _deed_numbers()[rule.deed]), cast("list[tuple[int, int, int, int]]", readers)


@functools.cache
def _deed_numbers() -> dict[Any, int]:
    return {deed: number for number, deed in enumerate(deeds())}


@functools.cache
def language() -> laws.Language:
    """Every description and operation of the oracle as arrays."""
    tables = [columns(depth) for depth in DEPTHS]
    ends = np.cumsum([len(table[0]) for table in tables])
    numbers = np.array([_deed(deed) for deed in deeds()], dtype=np.int64)
    heads, firsts, seconds = (np.concatenate(side) for side in zip(*tables, strict=True))
    return laws.Language(ends, heads, firsts, seconds, numbers)


def _deed(deed: tuple[tuple[str, ...], ...]) -> list[int]:
    row = [laws.KEEP, laws.KEEP, laws.KEEP, 0, 0, 0, laws.CHANGE, 0]
    for act in deed:
        match act:
            case ("paint", word):
                row[laws.TO_HUE] = HUES.index(word)
            case ("reshape", word):
                row[laws.TO_FIGURE] = FIGURES.index(word)
            case ("resize", word):
                row[laws.TO_SIZE] = int(word)
            case ("grow",):
                row[laws.GROWTH] = 1
            case ("shrink",):
                row[laws.GROWTH] = -1
            case ("move", way):
                row[laws.DOWN], row[laws.RIGHT] = AWAY[way]
            case ("remove",):
                row[laws.ACT] = laws.REMOVE
            case ("add", hue, figure, size, way):
                row = [HUES.index(hue), FIGURES.index(figure), int(size), 0, *AWAY[way], laws.ADD, 0]
            case ("copy", what):
                row[laws.ACT], row[laws.COPIED] = laws.COPY, {"size": laws.SIZE, "color": laws.HUE, "shape": laws.FIGURE}[what]
    return row


# --- reading ---------------------------------------------------------------------------------------------------------


def read_worlds(batch: Batch) -> Sheet:
    """The worlds of the batch; a ValueError if rows differ in their number of worlds or lists do not fit each other."""
    found = batch.columns
    flat = [_list(found[name]) for name in ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")]
    (sizes, sizes_ends), (gone, gone_ends), (new, new_ends) = (_list(found[name]) for name in ("world_sizes", "gone", "new"))
    n, worlds = len(batch), int(sizes_ends[1]) if len(batch) else 1
    due = np.arange(n + 1) * worlds
    is_regular = worlds >= 2 and all(
        np.array_equal(ends, due * many) for ends, many in ((sizes_ends, 1), (gone_ends, 1), (new_ends, NEW_FIELDS))
    )
    counts = sizes.reshape(n, worlds) if is_regular else sizes
    if not is_regular or (counts < 0).any() or any(not np.array_equal(np.diff(ends), counts.sum(axis=1)) for _, ends in flat):
        raise ValueError("the lists of a row do not fit each other")
    starts = (np.cumsum(counts) - counts.reshape(-1)).reshape(n, worlds)
    things = np.stack([values for values, _ in flat], axis=1)
    return Sheet(starts, counts, np.ascontiguousarray(things), gone.reshape(n, worlds), new.reshape(n, worlds, NEW_FIELDS))


def _list(column: Any) -> tuple[Ints, Ints]:
    """(values as numbers, offsets) of a column of lists; colours and shapes as the oracle numbers them."""
    found = cast(Ragged, column)
    offsets = np.asarray(found.offsets).astype(np.int64)
    values = found.values
    if isinstance(values, Coded):
        known = {word: number for words in (HUES, FIGURES) for number, word in enumerate(words)}
        table = np.array([known[word] for word in values.values], dtype=np.int64)
        numbers = table[np.asarray(values.codes).astype(np.int64)]
    else:
        numbers = np.asarray(values).astype(np.int64)
    return np.ascontiguousarray(numbers[offsets[0] : offsets[-1]]), offsets - offsets[0]


def _outputs(sheet: Sheet) -> list[list[tuple[int, ...]]]:
    """The objects of every test output, in order."""
    things, found = sheet.things.tolist(), []
    worlds = zip(sheet.starts[:, 0].tolist(), sheet.counts[:, 0].tolist(), strict=True)
    for (start, n), gone, new in zip(worlds, sheet.gone[:, 0].tolist(), sheet.new[:, 0].tolist(), strict=True):
        kept = [tuple(thing) for i, thing in enumerate(things[start : start + n]) if i != gone]
        found.append(sorted([*kept, tuple(new)] if new[0] else kept))
    return found


@functools.cache
def _kinds() -> dict[str, tuple[int, int, int]]:
    listed = itertools.product(range(1, laws.N_VALUES + 1), enumerate(HUES), enumerate(FIGURES))
    return {f"{hue} {figure} {size}": (size, h, f) for size, (h, hue), (f, figure) in listed}


def _objects(answer: str) -> list[tuple[int, ...]] | None:
    """The objects of an answer in the form `objects`, in order; None if it has another form."""
    found = []
    for piece in answer.split("; ") if answer != "nothing" else ():
        kind, _, cell = piece.partition(" at ")
        row, _, column = cell.partition(",")
        if kind not in _kinds() or not (row.isdecimal() and column.isdecimal()):
            return None
        found.append((*_kinds()[kind], int(row) - 1, int(column) - 1))
    return sorted(found)


# --- canonical forms -------------------------------------------------------------------------------------------------


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits for the worlds of each row, without the order of demonstrations and objects."""
    sheet = read_worlds(batch)
    grids = np.asarray(batch.columns["grid_size"]).astype(np.int64)
    codes = _mixed(_object_codes(sheet.things))
    sums = np.concatenate([[np.uint64(0)], np.cumsum(codes)])
    before = sums[sheet.starts + sheet.counts] - sums[sheet.starts]
    gone = np.where(sheet.gone >= 0, codes[np.clip(sheet.starts + sheet.gone, 0, len(codes) - 1)], np.uint64(0))
    new = np.where(sheet.new[..., 0] > 0, _mixed(_object_codes(sheet.new)), np.uint64(0))
    pairs = _mixed(_mixed(before) + np.uint64(_MULTIPLIERS[0]) * (before - gone + new))
    test = _mixed(before[:, 0] + grids.astype(np.uint64))
    return _mixed(test + np.uint64(_MULTIPLIERS[1]) * pairs[:, 1:].sum(axis=1, dtype=np.uint64))


def _object_codes(things: Ints) -> NDArray[np.uint64]:
    found = np.zeros(things.shape[:-1], dtype=np.uint64)
    for field in range(things.shape[-1]):
        found = found * np.uint64(257) + things[..., field].astype(np.uint64)
    return found


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The words with their bits mixed, so that sums of them differ."""
    words = words + np.uint64(_MULTIPLIERS[0])
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_MULTIPLIERS[1])
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_MULTIPLIERS[2])
    return words ^ (words >> np.uint64(31))
