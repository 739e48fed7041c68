"""Job -> batch. `sound` rows come from the kernels, each a pure function of its index; `release` rows from a cached run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, Column, Ragged, Text
from recombine.core import Batch, ColumnType, Job
from recombine.errors import Infeasible
from recombine.families.clutrr import names as name_lists
from recombine.families.clutrr.balance import Cells, cells
from recombine.families.clutrr.genealogy import MAX_PEOPLE
from recombine.families.clutrr.grammar import grammar
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language import store
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

SCHEMA: dict[str, ColumnType] = {
    "story": "string",
    "question": "string",
    "query": "list<int16>",
    "target": "string",
    "k": "int8",
    "noise": "string",
    "fact_count": "int16",
    "clause": "string",
    "held_out": "bool",
    "memory": "bool",
    "names": "list<string>",
    "genders": "list<int8>",
    "facts": "list<int16>",
    "places": "list<int8>",
    "kinds": "list<int8>",
    "proof": "list<int16>",
    "family": "list<int16>",
    "paraphrases": "list<int32>",
    "members": "list<int16>",
}
"""`facts` are triples (relation, subject, relative) as told; `places` their place on the path or -1, `kinds` 0 clean, 1
supporting, 2 irrelevant, 3 disconnected; `proof` holds sixes (x, z, y, r1, r2, r), root first; `family` fours (gender, father,
mother, spouse) by person, the named ones first; `members` their numbers in the released family (`release` only)."""

REASONS = ("clause of another part", "no proof in this family", "family limits", "noise does not fit", "no wording",
           "story of another part", "target not true")  # fmt: skip
ANONYMOUS_POOL = 64
RANKS = 1 << 24
_BLOCK_ROWS = 4096
_LONGEST_WORD = max(len(name) for name in RELATIONS)
COMPILE_FROM_ROWS = 600
"""Interpreted rows take about three milliseconds each; loading the compiled kernels from cache about a second."""


class Config(NamedTuple):
    """What the kernels need to know of a job, as plain numbers."""

    noise: int
    noise_facts: int
    anchor_any: bool
    hold_out: int
    wants_held_out: bool
    rank_low: int
    rank_high: int
    brackets: bool
    female_names: int
    all_names: int
    relatives: int
    marriage: float
    min_children: int
    max_children: int
    max_levels: int
    memory: float


class Work(NamedTuple):
    """Scratch arrays of the kernels."""

    people: Array
    size: Array
    path: Array
    clause: Array
    proof: Array
    detour: Array
    detour_words: Array
    nodes: Array
    taken: Array
    cuts: Array
    saved: Array
    facts: Array
    chain: Array
    kinds: Array
    places: Array
    counts: Array
    order: Array
    number: Array
    names: Array
    genders: Array
    ways: Array
    plan: Array
    telling: Array
    seen: Array
    rejected: Array
    strata: Array
    block: Array


class Buffers(NamedTuple):
    """The columns of a block of rows, end to end, with their offsets."""

    text: Array
    text_offsets: Array
    question: Array
    question_offsets: Array
    clause: Array
    clause_offsets: Array
    query: Array
    target: Array
    k: Array
    held_out: Array
    memory: Array
    names: Array
    genders: Array
    name_offsets: Array
    facts: Array
    places: Array
    kinds: Array
    fact_offsets: Array
    proof: Array
    proof_offsets: Array
    people: Array
    people_offsets: Array
    paraphrases: Array
    chunk_offsets: Array


def make_work(strata: int) -> Work:
    """Fresh scratch arrays."""

    def whole(*shape: int) -> Array:
        return np.zeros(shape, np.int64)

    return Work(
        people=whole(MAX_PEOPLE, 6), size=whole(1), path=whole(32), clause=whole(32), proof=whole(32, 6), detour=whole(32),
        detour_words=whole(32), nodes=whole(64, 4), taken=whole(32), cuts=whole(64), saved=whole(MAX_PEOPLE, 6), facts=np.zeros((MAX_FACTS, 3), np.int32), chain=np.zeros(MAX_FACTS, np.int32),
        kinds=whole(MAX_FACTS), places=whole(MAX_FACTS), counts=whole(2), order=whole(MAX_PEOPLE), number=whole(MAX_PEOPLE),
        names=np.zeros(MAX_PEOPLE, np.int32), genders=np.zeros(MAX_PEOPLE, np.int8), ways=np.zeros(MAX_FACTS + 1), plan=np.zeros((MAX_FACTS, 3), np.int32),
        telling=np.zeros(MAX_FACTS, np.int32), seen=whole(MAX_PEOPLE), rejected=whole(len(REASONS)), strata=whole(strata),
        block=np.full(1, -1, np.int64),
    )  # fmt: skip


def make_buffers(rows: int, facts: int, story_room: int, question_room: int) -> Buffers:
    """Fresh buffers for this many rows of at most `facts` facts."""

    def offsets() -> Array:
        return np.zeros(rows + 1, np.int64)

    people = min(MAX_PEOPLE, 70 + 8 * facts)
    return Buffers(
        text=np.empty(rows * story_room, np.uint8), text_offsets=offsets(),
        question=np.empty(rows * question_room, np.uint8), question_offsets=offsets(),
        clause=np.empty(rows * (_LONGEST_WORD + 1) * facts, np.uint8), clause_offsets=offsets(),
        query=np.empty(2 * rows, np.int16), target=np.empty(rows, np.int8), k=np.empty(rows, np.int8),
        held_out=np.empty(rows, np.bool_), memory=np.empty(rows, np.bool_),
        names=np.empty(rows * (facts + 2), np.int16), genders=np.empty(rows * (facts + 2), np.int8), name_offsets=offsets(),
        facts=np.empty(3 * rows * facts, np.int16), places=np.empty(rows * facts, np.int8), kinds=np.empty(rows * facts, np.int8),
        fact_offsets=offsets(), proof=np.empty(6 * rows * facts, np.int16), proof_offsets=offsets(),
        people=np.empty(4 * rows * people, np.int16), people_offsets=offsets(),
        paraphrases=np.empty(rows * facts, np.int32), chunk_offsets=offsets(),
    )  # fmt: skip


@cache
def name_table(mentions: str, path: str) -> tuple[tuple[str, ...], int, Array, Array]:
    """(names, how many are female or -1, their bytes, offsets) for a way of mentioning people."""
    if mentions == "anonymous":
        pool, female = tuple(f"@entity-{i}" for i in range(ANONYMOUS_POOL)), -1
    else:
        pool, female = name_lists.name_pool(path)
    data, offsets = name_lists.name_arrays(pool)
    return pool, female, data, offsets


def word_tables(d: Dials) -> store.Tables:
    """The paraphrases that the part may use."""
    portion: store.Portion = "all"
    if d.values["paraphrases"] == "split":
        portion = "heldout" if d.role == "test" else "train"
    if d.values["templates"]:
        from recombine.families.clutrr.language import original

        return original.tables(d.values["templates"], portion)
    return store.tables(d.values["language"], portion, d.values["store"])


def wants_held_out(d: Dials) -> bool:
    """Whether stories of three and more facts must have a held-out clause."""
    return bool(d.role == "test" and d.values["hold_out"] > 0)


def _config(d: Dials, pool: int, female: int) -> Config:
    marks = {"test": (0, RANKS // 10), "validation": (RANKS // 10, RANKS // 5), "train": (RANKS // 5, RANKS)}[d.role]
    return Config(
        noise=d.noise, noise_facts=int(d.values["noise_facts"]), anchor_any=d.values["anchor"] == "any",
        hold_out=round(d.values["hold_out"] * RANKS), wants_held_out=wants_held_out(d),
        rank_low=marks[0], rank_high=marks[1], brackets=d.mentions == "bracketed", female_names=female, all_names=pool,
        relatives=int(d.values["relatives"]), marriage=float(d.marriage), min_children=d.min_children,
        max_children=d.max_children, max_levels=d.levels, memory=float(d.values["memory"]),
    )  # fmt: skip


def most_facts(d: Dials) -> int:
    """More facts than any story of the job states."""
    k = max(d.ks)
    each = int(d.values["noise_facts"]) or 1 + max(1, k // 2)
    return min(MAX_FACTS, k + max(2, each) * bin(d.noise).count("1"))


def row_kernels(rows: int) -> Any:
    """The kernels for this many rows: compiled if it is worth it, or if the process has them already."""
    name = "recombine.families.clutrr.rows"
    return kernels.load(name, compiled=rows >= COMPILE_FROM_ROWS or kernels.is_loaded(name))


def generate(job: Job) -> Batch:
    """Rows [start, stop) of the part; slices join to the whole, whatever their bounds."""
    if job.recipe == "release":
        from recombine.families.clutrr.release import generate_release

        return generate_release(job)
    d = dials(job)
    columns, rejected = [], np.zeros(len(REASONS), np.int64)
    rows = row_kernels(job.stop - job.start)
    chosen = cells(d.ks, round(d.values["hold_out"] * RANKS), wants_held_out(d))
    work = make_work(len(chosen.turns))
    for start in range(job.start, max(job.stop, job.start + 1), _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, job.stop)
        columns.append(_block(job, d, rows, chosen, work, start, stop))
    rejected += work.rejected
    joined = {name: _joined([block[name] for block in columns]) for name in SCHEMA}
    return Batch(job, job.start, joined, {reason: int(n) for reason, n in zip(REASONS, rejected, strict=True) if n})


def _block(job: Job, d: Dials, rows: Any, chosen: Cells, work: Work, start: int, stop: int) -> dict[str, Column]:
    pool, female, name_bytes, name_offsets = name_table(d.mentions, d.values["names"])
    tables, questions = word_tables(d), store.questions()
    facts = most_facts(d)
    longest = int(np.diff(name_offsets).max())
    buffers = make_buffers(stop - start, facts, store.room(tables, facts, longest), 200 + 6 * longest)
    strata = len(chosen.turns)
    blocks = keys.states(job.base("strata"), start // strata, max(start, stop - 1) // strata + 1)
    work.block[0] = -1
    states = keys.states(job.base(), start, stop)
    rng = np.zeros(1, np.uint64)
    written = rows.write_rows(
        start, states, blocks, np.array(d.ks, np.int64), grammar(), chosen, _config(d, len(pool), female), name_bytes,
        name_offsets, tables, questions, work, buffers, rng,
    )  # fmt: skip
    if written < stop - start:
        raise Infeasible(
            f"no story found for row {start + written} of {job.key}: relax levels, max_children, noise_facts or hold_out."
        )
    return _columns(buffers, pool, d)


def _columns(b: Buffers, pool: tuple[str, ...], d: Dials) -> dict[str, Column]:
    n = len(b.k)
    return {
        "story": Text(b.text[: b.text_offsets[-1]].copy(), b.text_offsets),
        "question": Text(b.question[: b.question_offsets[-1]].copy(), b.question_offsets),
        "query": Ragged(b.query, np.arange(n + 1, dtype=np.int64) * 2),
        "target": Coded(b.target, RELATIONS),
        "k": b.k,
        "noise": Coded(np.full(n, d.noise, np.int8), NOISE_NAMES),
        "fact_count": np.diff(b.fact_offsets).astype(np.int16),
        "clause": Text(b.clause[: b.clause_offsets[-1]].copy(), b.clause_offsets),
        "held_out": b.held_out,
        "memory": b.memory,
        "names": Ragged(Coded(b.names[: b.name_offsets[-1]].copy(), pool), b.name_offsets),
        "genders": Ragged(b.genders[: b.name_offsets[-1]].copy(), b.name_offsets),
        "facts": Ragged(b.facts[: 3 * b.fact_offsets[-1]].copy(), 3 * b.fact_offsets),
        "places": Ragged(b.places[: b.fact_offsets[-1]].copy(), b.fact_offsets),
        "kinds": Ragged(b.kinds[: b.fact_offsets[-1]].copy(), b.fact_offsets),
        "proof": Ragged(b.proof[: 6 * b.proof_offsets[-1]].copy(), 6 * b.proof_offsets),
        "family": Ragged(b.people[: 4 * b.people_offsets[-1]].copy(), 4 * b.people_offsets),
        "paraphrases": Ragged(b.paraphrases[: b.chunk_offsets[-1]].copy(), b.chunk_offsets),
        "members": Ragged(np.empty(0, np.int16), np.zeros(n + 1, np.int64)),
    }


def _joined(pieces: list[Any]) -> Any:
    """One column from the columns of several blocks."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    if isinstance(first, Coded):
        return Coded(np.concatenate([p.codes for p in pieces]), first.values)
    if isinstance(first, Text):
        return Text(np.concatenate([p.data for p in pieces]), _offsets([p.offsets for p in pieces]))
    if isinstance(first, Ragged):
        return Ragged(_joined([p.values for p in pieces]), _offsets([p.offsets for p in pieces]))
    return np.concatenate(pieces)


def _offsets(pieces: list[Array]) -> Array:
    """Offsets of arrays laid end to end."""
    at, found = 0, [np.zeros(1, np.int64)]
    for piece in pieces:
        found.append(piece[1:] + at)
        at += int(piece[-1])
    return np.concatenate(found)
