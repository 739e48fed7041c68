"""Recipe `sound`: rows from the kernels. Row i of a part is a pure function of the job and i."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import kernels, keys
from recombine.columns import Coded, Column, Ragged, Text
from recombine.core import Batch, Job
from recombine.errors import Infeasible
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language import names as name_lists
from recombine.families.clutrr.language import rich_tables, store
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials
from recombine.families.clutrr.sound.arrays import REASONS, Buffers, Config, Speech, Turns, Work, make_buffers, make_work
from recombine.families.clutrr.sound.balance import Cells, cells
from recombine.families.clutrr.sound.grammar import grammar
from recombine.families.clutrr.splits import RANKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

ANONYMOUS_POOL = 64
ACTING_GENERATIONS = 4
"""The people whom a story names live at the same time, so they span at most four generations."""
MIXED_SHARE = 0.5
"""Plain stories in a mixed part."""
_BLOCK_ROWS = 4096
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 15_000, 600
"""Interpreted rows take about three milliseconds each, compiling about 45 seconds, loading what was compiled about a second."""


@cache
def name_table(mentions: str, path: str) -> tuple[tuple[str, ...], int, Array, Array]:
    """(names, how many are female or -1, their bytes, offsets) for a way of mentioning people."""
    if mentions == "anonymous":
        pool, female = tuple(f"@entity-{i}" for i in range(ANONYMOUS_POOL)), -1
    else:
        pool, female = name_lists.name_pool(path)
    data, offsets = name_lists.name_arrays(pool)
    return pool, female, data, offsets


def word_tables(d: Dials) -> tuple[store.Tables, store.Tables]:
    """The paraphrases that the part may use, by its style; a mixed part has rich and plain ones."""
    portion: store.Portion = "all"
    if d.values["paraphrases"] == "split":
        portion = "heldout" if d.role == "test" else "train"
    if d.values["templates"]:
        from recombine.families.clutrr.language import original

        found = original.tables(d.values["templates"], portion)
        return found, found
    if d.style == "plain":
        found = store.tables(d.values["language"], portion, d.values["store"])
        return found, found
    shares = float(d.values["coreference"]), float(d.values["colloquial"])
    found = rich_tables.tables(portion, float(d.values["store"]), *shares, str(d.values["register"]))
    return found, store.tables("paraphrase", portion, d.values["store"]) if d.style == "mixed" else found


def wants_held_out(d: Dials) -> bool:
    """Whether every clause that is long enough must be a held-out one."""
    return d.role == "test" and (d.held.mark > 0 or bool(d.held.pairs))


def _config(d: Dials, pool: int, female: int) -> Config:
    marks = {"test": (0, RANKS // 10), "validation": (RANKS // 10, RANKS // 5), "train": (RANKS // 5, RANKS)}[d.role]
    pairs = np.zeros((len(RELATIONS), len(RELATIONS)), np.bool_)
    for first, second in d.held.pairs:
        pairs[first, second] = True
    return Config(
        noise=d.noise, noise_facts=int(d.values["noise_facts"]), anchor_any=d.values["anchor"] == "any",
        hold_out=d.held.mark, held_pairs=pairs, held_from=d.held.from_k, wants_held_out=wants_held_out(d),
        rank_low=marks[0], rank_high=marks[1], brackets=d.mentions == "bracketed", female_names=female, all_names=pool,
        relatives=int(d.values["relatives"]), marriage=float(d.marriage), min_children=d.min_children,
        max_children=d.max_children, max_levels=d.levels, acting_levels=ACTING_GENERATIONS, memory=float(d.values["memory"]),
    )  # fmt: skip


def most_facts(d: Dials) -> int:
    """More facts than any story of the job states."""
    k = max(d.ks)
    each = int(d.values["noise_facts"]) or 1 + max(1, k // 2)
    return min(MAX_FACTS, k + max(2, each) * bin(d.noise).count("1"))


def row_kernels(rows: int) -> Any:
    """The kernels for this many rows: compiled if it is worth it, or if the process has them already."""
    name = "recombine.families.clutrr.sound.rows"
    return kernels.for_rows(name, rows, COMPILE_FROM_ROWS, LOAD_FROM_ROWS)


def generate_sound(job: Job) -> Batch:
    """Rows [start, stop) of the part; slices join to the whole, whatever their bounds."""
    d = dials(job)
    columns, rejected = [], np.zeros(len(REASONS), np.int64)
    rows = row_kernels(job.stop - job.start)
    chosen = cells(d.ks, d.held, wants_held_out(d), d.dropped)
    work = make_work(len(chosen.turns))
    for start in range(job.start, max(job.stop, job.start + 1), _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, job.stop)
        columns.append(_block(job, d, rows, chosen, work, start, stop))
    rejected += work.rejected
    joined = {name: _joined([block[name] for block in columns]) for name in columns[0]}
    return Batch(job, job.start, joined, {reason: int(n) for reason, n in zip(REASONS, rejected, strict=True) if n})


def _block(job: Job, d: Dials, rows: Any, chosen: Cells, work: Work, start: int, stop: int) -> dict[str, Column]:
    pool, female, name_bytes, name_offsets = name_table(d.mentions, d.values["names"])
    tables, other = word_tables(d)
    questions = store.questions(is_rich=d.style != "plain")
    facts = most_facts(d)
    longest = int(np.diff(name_offsets).max())
    buffers = make_buffers(stop - start, facts, max(store.room(t, facts, longest) for t in (tables, other)), 200 + 6 * longest)
    strata = len(chosen.turns)
    blocks = keys.states(job.base("strata"), start // strata, max(start, stop - 1) // strata + 1)
    work.block[0] = -1
    states = keys.states(job.base(), start, stop)
    rng = np.zeros(1, np.uint64)
    speech = Speech(tables, other, MIXED_SHARE if d.style == "mixed" else 0.0, questions, name_bytes, name_offsets)
    turns = Turns(np.array(d.ks, np.int64), blocks)
    config = _config(d, len(pool), female)
    written = rows.write_rows(start, states, turns, grammar(d.dropped), chosen, config, speech, work, buffers, rng)
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
