"""Rows: the arrays that kernels fill, the columns that come out of them, and one row as an `Example`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged, Text
from recombine.core import Batch, ColumnType, Example, Family, Job, option
from recombine.families.reascan import kernel
from recombine.families.reascan.plan import (
    MAX_PHRASES,
    N_ADVERBS,
    N_MANNERS,
    N_PHRASES,
    PATTERNS,
    Widths,
    encode_form,
    parents_of,
    parse_any,
    roots,
    spellings,
    step_table,
)
from recombine.families.reascan.splits import OPTIONS, Combination
from recombine.grid import forms, wording
from recombine.grid.codes import ACTIONS, ADVERBS, COLORS, DIRECTIONS, HEADINGS, SHAPES, VERBS
from recombine.grid.world import WORLD_SCHEMA, World, actions_at, direction_codes, inputs_at, world_at
from recombine.predicates.draw import HOLD_OUT, PREDICATE
from recombine.row_examples import RowExample, RowFields

if TYPE_CHECKING:
    from recombine.columns import Column

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Int8s = NDArray[np.int8]

MOST_THINGS, MOST_NODES = 32, 8
"""Rows of `things`, and places for phrases, in every bundle."""
LONGEST_PHRASE = 80
"""A clause with its phrase has fewer letters than this."""
ROLES = ("target", "pivot", "relation", "attribute", "isomorphism", "contrast", "random")
"""Why an object is there; codes in `kernel`."""
SCHEMA: Mapping[str, ColumnType] = MappingProxyType(
    {
        "command": "string",
        "actions": "list<string>",
        "verb": "string",
        "adverb": "string",
        "pattern": "string",
        "clauses": "int8",
        "form": "int64",
        "direction": "string",
        "distance": "int8",
        "action_count": "int16",
        "object_count": "int8",
        "interaction": "bool",
        "relation_distractor": "bool",
        "attribute_distractor": "bool",
        "isomorphism_distractor": "bool",
        "random_distractor": "bool",
        **WORLD_SCHEMA,
        "object_catches": "list<int8>",
        "spare_words": "list<int8>",
        "strategy": "list<int8>",
    }
)
"""`object_catches`: the code of the reader that a decoy catches, -1 for none (see `explain.reader_name`);
`spare_words`: codes of words and clauses that are not needed; `strategy`: what the release recipe notes down (see `release`)."""
LIMITS: Mapping[int, int] = MappingProxyType({1: 16, 2: 16, 3: 20, 4: 24})
"""Most objects in a world by the number of phrases; 28 beyond."""


# --- what kernels work in --------------------------------------------------------------------------------------------------------


class Scene(NamedTuple):
    """The world that is being grown."""

    things: Ints  # [32, 5]: size, colour, shape, row, column of each object
    sets: Ints  # [5, max(5, grid)]: bit i of sets[a, v] says that object i has the value v in column a
    boards: Ints  # [2, grid]: bit c of boards[b, r] is the cell (r, c)
    st: Ints  # [8]: the small numbers of one row, see N to SPARE_OK
    pairs: Ints  # [4, 4]: whether objects of this colour and shape may only have the two sizes LOW and HIGH
    agent: Ints  # [4]: row, column, heading, charge
    aim: Ints  # [3]: target cell, agent cell, whether something must move


class Saying(NamedTuple):
    """The command of the present row."""

    words: Ints  # [8, 3]: size word, colour, shape of each phrase; -1 where colour or shape is open
    codes: Ints  # [8]: each phrase as a number below 75
    links: Ints  # [2, 8]: parent and relation of each phrase
    the: Ints  # [8]: whether the phrase must fit, or fits, one object only
    other: Ints  # [8, 3]: the words of a changed command


class Desk(NamedTuple):
    """Working space."""

    marks: Ints  # [3, 64]: role and catch of each object; number of spare words, then their codes
    lists: Ints  # [3, 64]: nodes of a group, the way to the changed node, choices
    scratch: Ints  # [6, 8]: see `sound.world.has_rival`
    out: Ints  # [20 * grid + 8]: the actions
    rng: Words  # [1]
    mixer: Words  # [1]: for hashes


class Bench(NamedTuple):
    """What one row is made on: the world, what is said of it, and working space."""

    scene: Scene
    said: Saying
    desk: Desk


class Speech(NamedTuple):
    """The pieces of text that commands are made of (`plan.spellings`)."""

    letters: Bytes  # [all letters]
    starts: Ints  # [pieces + 1]


class Asked(NamedTuple):
    """What the job asks of its rows."""

    settings: Ints  # [10]: see `sound.kernel.P_GRID` and the others
    atoms: Ints  # [atoms, 6]: alternative, and the fields of `splits.Atom`
    combinations: Ints  # [combinations, 3]: first atom, end, whether the combination is wanted
    crowd: Ints  # [2, 13]: numbers of objects, running sums of their shares


class Grammar(NamedTuple):
    """The commands that may be drawn."""

    patterns: Ints  # [patterns, 8]: number of phrases, six parents, most objects
    shares: Ints  # [patterns]: running sums of the weights
    roots: Ints  # [patterns, 76]: how many phrases may come first, then their codes
    steps: Ints  # [75, most]: the clauses that can hang on each phrase
    counts: Ints  # [75]: how many


class Sink(NamedTuple):
    """Where finished rows go: scalars per row, and the rest end to end with each row's end."""

    rows: Ints  # [n, 8]: see FORM to ATTEMPTS
    flat: Int8s  # [7, objects]: the five columns of an object, role, catch
    flat_ends: Ints  # [n]
    steps: Int8s  # [actions]
    step_ends: Ints  # [n]
    text: Bytes  # [letters]
    text_ends: Ints  # [n]
    spare: Int8s  # [spare words]
    ends: Ints  # [4]: how far flat, steps, text and spare are filled


def scene_of(grid: int) -> Scene:
    """An empty world of this size."""
    numbers = np.zeros(8, dtype=np.int64)
    numbers[kernel.GRID] = grid
    return Scene(_zeros(MOST_THINGS, 5), _zeros(5, max(5, grid)), _zeros(2, grid), numbers, _zeros(4, 4), _zeros(4), _zeros(3))


def saying_of() -> Saying:
    """Room for a command."""
    return Saying(_zeros(MOST_NODES, 3), _zeros(MOST_NODES), _zeros(2, MOST_NODES), _zeros(MOST_NODES), _zeros(MOST_NODES, 3))


def bench_of(grid: int) -> Bench:
    """An empty bench for worlds of this size."""
    return Bench(scene_of(grid), saying_of(), desk_of(grid))


def desk_of(grid: int) -> Desk:
    """Working space for a grid of this size."""
    words = np.zeros((2, 1), dtype=np.uint64)
    return Desk(_zeros(3, 64), _zeros(3, 64), _zeros(6, MOST_NODES), _zeros(longest_plan(grid)), words[0], words[1])


def conditions_of(wanted: Sequence[Combination], unwanted: Sequence[Combination]) -> tuple[Ints, Ints]:
    """(atoms, combinations) of a rule, as `Asked` holds them."""
    atoms: list[tuple[int, ...]] = []
    combinations: list[tuple[int, int, int]] = []
    for is_wanted, listed in ((1, wanted), (0, unwanted)):
        for combination in listed:
            start = len(atoms)
            atoms += [(k, *atom) for k, alternative in enumerate(combination) for atom in alternative]
            combinations.append((start, len(atoms), is_wanted))
    return np.array(atoms, dtype=np.int64).reshape(-1, 6), np.array(combinations, dtype=np.int64).reshape(-1, 3)


def sink_of(n: int, grid: int, limit: int) -> Sink:
    """Outputs large enough for n rows of at most `limit` objects."""
    return Sink(
        _zeros(n, 8),
        np.empty((7, n * limit), dtype=np.int8),
        _zeros(n),
        np.empty(n * longest_plan(grid), dtype=np.int8),
        _zeros(n),
        np.empty(n * LONGEST_PHRASE * MAX_PHRASES, dtype=np.uint8),
        _zeros(n),
        np.empty(n * 4 * MAX_PHRASES, dtype=np.int8),
        _zeros(4),
    )


def speech_of() -> Speech:
    """The pieces of text."""
    return Speech(*spellings())


def longest_plan(grid: int) -> int:
    """More actions than any plan in such a grid has."""
    return 20 * grid + 8


def _zeros(*shape: int) -> Ints:
    return np.zeros(shape, dtype=np.int64)


# --- commands ------


def pattern_name(widths: Widths) -> str:
    """`simple`, `two_clauses`, …, or the widths: `2-1`."""
    for name, known in PATTERNS.items():
        if known == widths:
            return name
    return "-".join(str(w) for w in widths)


@functools.cache
def grammar_of(patterns: tuple[tuple[Widths, int], ...], max_objects: int) -> Grammar:
    """The grammar of some weighted patterns; max_objects 0 takes each pattern's own limit."""
    table = np.zeros((len(patterns), 2 + MAX_PHRASES), dtype=np.int64)
    first = np.zeros((len(patterns), 1 + N_PHRASES), dtype=np.int64)
    for p, (widths, _) in enumerate(patterns):
        parents = parents_of(widths)
        table[p, 0] = len(parents)
        table[p, 1 : 1 + len(parents)] = parents
        table[p, 1 + MAX_PHRASES] = max_objects or LIMITS.get(len(parents), 28)
        codes = roots(widths)
        first[p, 0] = len(codes)
        first[p, 1 : 1 + len(codes)] = codes
    shares = np.cumsum([weight for _, weight in patterns]).astype(np.int64)
    return Grammar(table, shares, first, *step_table())


# --- columns ----


def offsets(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """n + 1 offsets from each row's end."""
    return np.concatenate([np.zeros(1, dtype=np.int64), ends])


def columns(grid: int, sink: Sink, patterns: Sequence[Widths]) -> dict[str, Column]:
    """The columns of SCHEMA from the outputs of a kernel."""
    scalars, n = sink.rows, len(sink.rows)
    ends = offsets(sink.flat_ends)
    flat = sink.flat[:, : int(ends[-1])]
    manner = scalars[:, kernel.FORM] % N_MANNERS
    agent_row, agent_column = scalars[:, kernel.AGENT_CELL] // grid, scalars[:, kernel.AGENT_CELL] % grid
    target_row, target_column = flat[3][ends[:-1]].astype(np.int64), flat[4][ends[:-1]].astype(np.int64)
    down, right = target_row - agent_row, target_column - agent_column
    which = scalars[:, kernel.PATTERN].astype(np.int8)
    flags = scalars[:, kernel.FLAGS]

    def lists(a: int, values: tuple[str, ...] = ()) -> Ragged:
        piece = np.ascontiguousarray(flat[a])
        return Ragged(Coded(piece, values) if values else piece, ends)

    spare_ends = offsets(np.cumsum(scalars[:, kernel.SPARE]))
    step_ends, text_ends = offsets(sink.step_ends), offsets(sink.text_ends)
    return {
        "command": Text(sink.text[: int(text_ends[-1])], text_ends),
        "actions": Ragged(Coded(sink.steps[: int(step_ends[-1])], ACTIONS), step_ends),
        "verb": Coded((manner // N_ADVERBS).astype(np.int8), VERBS),
        "adverb": Coded((manner % N_ADVERBS).astype(np.int8), ADVERBS),
        "pattern": Coded(which, tuple(pattern_name(w) for w in patterns)),
        "clauses": np.array([sum(w) for w in patterns], dtype=np.int8)[which],
        "form": np.ascontiguousarray(scalars[:, kernel.FORM]),
        "direction": Coded(direction_codes(down, right), DIRECTIONS),
        "distance": (np.abs(down) + np.abs(right)).astype(np.int8),
        "action_count": scalars[:, kernel.LENGTH].astype(np.int16),
        "object_count": np.diff(ends).astype(np.int8),
        "interaction": scalars[:, kernel.MOVED] != 0,
        "relation_distractor": flags & kernel.FLAG_RELATION != 0,
        "attribute_distractor": flags & kernel.FLAG_ATTRIBUTE != 0,
        "isomorphism_distractor": flags & kernel.FLAG_ISOMORPHISM != 0,
        "random_distractor": flags & kernel.FLAG_RANDOM != 0,
        "grid_size": np.full(n, grid, dtype=np.int8),
        "agent_row": agent_row.astype(np.int8),
        "agent_column": agent_column.astype(np.int8),
        "agent_heading": Coded(np.zeros(n, dtype=np.int8), HEADINGS),
        "object_sizes": lists(0),
        "object_colors": lists(1, COLORS),
        "object_shapes": lists(2, SHAPES),
        "object_rows": lists(3),
        "object_columns": lists(4),
        "object_roles": lists(5, ROLES),
        "object_catches": lists(6),
        "spare_words": Ragged(sink.spare[: int(spare_ends[-1])], spare_ends),
        "strategy": Ragged(np.zeros(0, dtype=np.int8), np.zeros(n + 1, dtype=np.int64)),
    }


# --- one row ----


def example(family: Family, batch: Batch, row: int) -> Example:
    """The readable view of one row; works from the columns of SCHEMA alone."""
    return RowExample.at(family, batch, row, _FIELDS)


def _meta(batch: Batch, row: int) -> dict[str, Any]:
    meta = {name: batch.value(name, row) for name in _TOLD}
    meta |= _job_meta(batch.job)
    meta["index"] = batch.index(row)
    return meta


@functools.lru_cache(maxsize=16)
def _job_meta(job: Job) -> Mapping[str, Any]:
    """What `meta` says of every row of a job."""
    meta: dict[str, Any] = {"recipe": job.recipe, "split": job.split, "part": job.part, "index": 0, "seed": job.seed}
    meta |= {name: option(job, OPTIONS, name) for name in ("longest", "shots", "c2_relations")}
    if job.split == HOLD_OUT:
        meta[PREDICATE] = option(job, OPTIONS, PREDICATE)
    if wording.is_natural(job):
        meta[wording.WORDING] = wording.NATURAL
    return meta


_TOLD = tuple(name for name in SCHEMA if name not in WORLD_SCHEMA and name not in ("command", "actions"))
_FIELDS = RowFields(inputs_at, actions_at, lambda batch, row: parse_any(batch.value("command", row))[0], world_at, _meta)


def canonical(example: Example) -> bytes:
    """Command and world. Determiners are left out: they follow from the world."""
    return forms.canonical(encode_form(example.plan), cast(World, example.world))


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits for each row's canonical form."""
    return forms.canonical_batch(np.asarray(batch.columns["form"]).astype(np.uint64), batch)
