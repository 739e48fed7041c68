"""The oracle over a whole batch: compiled laws first, then the plain oracle on the rows that break one, so the findings are its."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recombine import kernels
from recombine.columns import Coded, Ragged
from recombine.core import Batch, Family, Problem
from recombine.families.reascan import oracle, oracle_reader
from recombine.families.reascan import oracle_kernel as laws_of
from recombine.families.reascan.rows import example
from recombine.grid.codes import ACTIONS, ADVERBS, COLORS, SHAPES, VERBS

if TYPE_CHECKING:
    from numpy.typing import NDArray

KERNEL_NAME = "recombine.families.reascan.oracle_kernel"
_HEADS = ("circle", "cylinder", "square", "box")
_RELATIONS = ("row", "column", "color", "shape", "size", "inside")


@dataclass(frozen=True)
class Columns:
    """A batch as the laws see it: commands read again, everything else as numbers.

    -1 in `unread` marks commands without sense, 1 in `odd` those that break a rule of the grammar.
    """

    unread: NDArray[np.int64]
    odd: NDArray[np.int64]
    counts: NDArray[np.int64]
    phrases: NDArray[np.int64]
    manners: NDArray[np.int64]
    things: NDArray[np.int64]
    ends: NDArray[np.int64]
    agents: NDArray[np.int64]
    steps: NDArray[np.int64]
    step_ends: NDArray[np.int64]


ODD = 512
ARTIFACTS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        laws_of.BINDING: ("wrong_binding", "a mentioned object is not what its phrase says"),
        laws_of.READING: (
            "size_reading",
            "with 'small' and 'big' read as smallest and biggest, the command means something else",
        ),
        laws_of.SIZES: ("size_class", "the class of a sized phrase does not come in two sizes"),
        laws_of.NEED: ("spare_word", "a word or clause is not needed to find the target"),
        ODD: ("bad_command", "the command breaks a rule of the grammar"),
    }
)
"""Laws of the sound recipe only: what is an artifact in rows of another recipe, once for each row and kind."""


def validate_batch(family: Family, batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Each broken law with the row that breaks it."""
    if len(batch) < kernels.COMPILE_FROM_ROWS:
        for row in range(len(batch)):
            for problem in oracle.validate(example(family, batch, row)):
                yield row, problem
        return
    read = read_columns(batch)
    laws = broken_laws(batch, read, compiled=True)
    tolerated = 0 if batch.job.recipe == "sound" else sum(ARTIFACTS)
    suspects = (laws & ~tolerated != 0) | broken_fields(batch, read) | broken_claims(family, batch, read)
    for place in np.flatnonzero((laws != 0) | suspects):
        row = int(place)
        if suspects[row]:
            for problem in oracle.validate(example(family, batch, row)):
                yield row, problem
            continue
        for bit, (code, sentence) in ARTIFACTS.items():
            if laws[row] & bit:
                yield row, Problem(code, sentence, "artifact")


def read_columns(batch: Batch) -> Columns:
    """The batch as numbers; each command is read by the oracle's own reader."""
    n, columns = len(batch), batch.columns
    counts, phrases = np.zeros(n, dtype=np.int64), np.zeros((n, 8, 6), dtype=np.int64)
    manners, unread, odd = np.zeros((n, 2), dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    commands = columns["command"]
    for row in range(n):
        try:
            said = oracle_reader.understand(str(commands[row]))
        except oracle_reader.Misread:
            unread[row] = -1
            continue
        odd[row] = any(True for _ in oracle_reader.grammar_faults(said))
        counts[row] = len(said.nouns)
        phrases[row, : counts[row]] = [_numbers(noun) for noun in said.nouns]
        manners[row] = VERBS.index(said.verb), ADVERBS.index(said.adverb)
    names = ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")
    known: tuple[tuple[str, ...], ...] = ((), COLORS, SHAPES, (), ())
    things = np.stack([codes_of(cast(Ragged, columns[name]).values, k) for name, k in zip(names, known, strict=True)], axis=1)
    agents = np.stack([np.asarray(columns["agent_row"]), np.asarray(columns["agent_column"])], axis=1).astype(np.int64)
    steps = cast(Ragged, columns["actions"])
    return Columns(
        unread, odd, counts, phrases, manners, np.ascontiguousarray(things), _ends(cast(Ragged, columns["object_sizes"])), agents,
        codes_of(steps.values, ACTIONS), _ends(steps),
    )  # fmt: skip


def broken_laws(batch: Batch, read: Columns, compiled: bool) -> NDArray[np.int64]:
    """The bits of `oracle_kernel` for each row."""
    broken = np.zeros(len(batch), dtype=np.int64)
    marks = cast(Ragged, batch.columns["spare_words"])
    kernels.load(KERNEL_NAME, compiled).check_rows(
        int(np.asarray(batch.columns["grid_size"])[0]), read.counts, read.phrases, read.things, read.ends, read.agents, read.manners,
        read.steps, read.step_ends, np.asarray(marks.values).astype(np.int64), _ends(marks), True, broken,
    )  # fmt: skip
    return (broken | read.odd * ODD) | read.unread


def broken_fields(batch: Batch, read: Columns) -> NDArray[np.bool_]:
    """Rows with a scalar, or the role of a mentioned object, that does not follow from command, world and actions."""
    columns, n = batch.columns, len(batch)
    starts = np.concatenate([[0], read.ends[:-1]])
    down = read.things[starts, 3] - read.agents[:, 0]
    right = read.things[starts, 4] - read.agents[:, 1]
    moves = np.concatenate([[0], np.cumsum((read.steps == 1) | (read.steps == 2))])
    step_starts = np.concatenate([[0], read.step_ends[:-1]])
    compass = np.array([["nw", "n", "ne"], ["w", "", "e"], ["sw", "s", "se"]])[np.sign(down) + 1, np.sign(right) + 1]
    due = {
        "clauses": read.counts - 1,
        "distance": np.abs(down) + np.abs(right),
        "action_count": read.step_ends - step_starts,
        "object_count": read.ends - starts,
        "interaction": moves[read.step_ends] > moves[step_starts],
        "form": _forms(read),
    }
    wrong = np.zeros(n, dtype=np.bool_)
    for name, values in due.items():
        wrong |= np.asarray(columns[name]).astype(np.int64) != values
    for name, texts in (("verb", np.array(VERBS)[read.manners[:, 0]]), ("adverb", np.array(ADVERBS)[read.manners[:, 1]])):
        wrong |= _texts(columns[name]) != texts
    wrong |= _texts(columns["direction"]) != compass
    wrong |= _texts(columns["pattern"]) != _patterns(read)
    if batch.job.recipe == "sound":
        roles = codes_of(cast(Ragged, columns["object_roles"]).values, ("target", "pivot")) if n else np.zeros(0)
        place = np.arange(len(read.things)) - np.repeat(starts, read.ends - starts)
        mentioned = np.repeat(read.counts, read.ends - starts)
        expected = np.where(place == 0, 0, np.where(place < mentioned, 1, 2))
        wrong |= np.logical_or.reduceat(roles != expected, starts)
    return wrong


def _forms(read: Columns) -> NDArray[np.int64]:
    value = np.ones(len(read.counts), dtype=np.int64)
    for j in range(int(read.counts.max(initial=0))):
        size, color, head, parent, relation = (read.phrases[:, j, a] for a in range(5))
        link = np.where(j > 0, relation * 2 + (parent == j - 1), 0)
        value = np.where(j < read.counts, value * 900 + link * 75 + (size * 5 + color + 1) * 5 + head + 1, value)
    return value * 15 + read.manners[:, 0] * 5 + read.manners[:, 1]


def _patterns(read: Columns) -> NDArray[Any]:
    shapes = np.where(np.arange(8) < read.counts[:, None], read.phrases[:, :, 3], -2)
    kinds, which = np.unique(shapes, axis=0, return_inverse=True)
    names = [oracle.pattern_text([oracle_reader.Noun("", "", "", "", int(p), "") for p in kind if p > -2]) for kind in kinds]
    return np.array(names)[which.reshape(-1)]


def broken_claims(family: Family, batch: Batch, read: Columns) -> NDArray[np.bool_]:
    """Rows that cannot stand in their split; the few kinds of splits without held-out words are left to the plain oracle."""
    job = batch.job
    if job.split in ("direction", "length", "adverb", "verb_adverb"):
        return np.array([bool(list(oracle.claim_problems(one.world, oracle_reader.understand(one.inputs["command"]), one.meta)))
                         for one in (example(family, batch, row) for row in range(len(batch)))], dtype=np.bool_)  # fmt: skip
    held = held_out(read)
    shape = _patterns(read)
    held["c1"], held["c2"] = shape == "three_clauses", shape == "nested"
    wrong = np.zeros(len(batch), dtype=np.bool_)
    if job.split in ("all", *held):
        for name, shows in held.items():
            if job.recipe == "sound":
                wrong |= shows != (name == job.split)
            elif name != "b1":
                wrong |= ~shows if name == job.split else shows & (job.split == "all")
    elif job.split != "pattern":
        wrong |= shape != job.split.removesuffix("_rd")
    return wrong


def held_out(read: Columns) -> dict[str, NDArray[np.bool_]]:
    """For a1 to b2, the rows that show the held-out combination."""
    is_said = np.arange(8) < read.counts[:, None]
    size, color, head = (read.phrases[:, :, a] for a in range(3))
    relation = np.where(is_said, read.phrases[:, :, 4], -1)
    starts = np.concatenate([[0], read.ends[:-1]])
    place = np.arange(len(read.things)) - np.repeat(starts, read.ends - starts)
    is_mentioned = place < np.repeat(read.counts, read.ends - starts)
    is_red_square = is_mentioned & (read.things[:, 1] == 0) & (read.things[:, 2] == 2)
    codes = np.sort((size[:, :3] * 5 + color[:, :3] + 1) * 5 + head[:, :3] + 1, axis=1).astype(np.uint64)
    z = (codes[:, 0] * np.uint64(75) + codes[:, 1]) * np.uint64(75) + codes[:, 2] + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    is_novel = ((z ^ (z >> np.uint64(31))) >> np.uint64(32)) * np.uint64(10) >> np.uint64(32) == 0
    return {
        "a1": (is_said & (color == 3) & (head == 2)).any(axis=1),
        "a2": (is_said & (color == 0) & (head == 2)).any(axis=1) | np.logical_or.reduceat(is_red_square, starts),
        "a3": (is_said & (size == 1) & (head == 1)).any(axis=1),
        "b1": is_novel & (read.counts == 3) & (read.phrases[:, 2, 3] == 0),
        "b2": (relation == 4).any(axis=1) & (relation == 5).any(axis=1),
    }


def _texts(column: Any) -> NDArray[Any]:
    if isinstance(column, Coded):
        return np.array(list(column.values))[np.asarray(column.codes).astype(np.int64)]
    return np.array([column[row] for row in range(len(column))])


def _ends(column: Ragged) -> NDArray[np.int64]:
    return np.ascontiguousarray(column.offsets[1:] - column.offsets[0]).astype(np.int64)


def codes_of(values: Any, known: tuple[str, ...]) -> NDArray[np.int64]:
    """Numbers as they are, strings as places in `known` (its length for all others)."""
    if not isinstance(values, Coded):
        return np.asarray(values).astype(np.int64)
    table = np.array([known.index(value) if value in known else len(known) for value in values.values], dtype=np.int64)
    return table[np.asarray(values.codes).astype(np.int64)]


def _numbers(noun: oracle_reader.Noun) -> tuple[int, int, int, int, int, int]:
    return (
        ("", "small", "big").index(noun.size),
        COLORS.index(noun.color) if noun.color else -1,
        _HEADS.index(noun.head) if noun.head != "object" else -1,
        noun.parent,
        _RELATIONS.index(noun.relation) if noun.relation else -1,
        int(noun.determiner == "the"),
    )
