"""Recipe `release`: the parts of a split as the original generator makes them, from runs of rounds (`runs.py`), row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from recombine import keys
from recombine.columns import Coded, Ragged, Text
from recombine.core import Batch, Job
from recombine.errors import Infeasible, UsageError
from recombine.families.clutrr.kinship import RELATIONS, word
from recombine.families.clutrr.language import store
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials
from recombine.families.clutrr.release.closure import Edge, Tree, closure
from recombine.families.clutrr.release.runs import Clause, Puzzle, Run
from recombine.families.clutrr.sound.arrays import Given, Speech, Told, make_work
from recombine.families.clutrr.sound.generate import name_table, row_kernels, word_tables
from recombine.families.clutrr.splits import TEST_PER_K, TRAIN_PER_K, VALIDATION_PER_K, contents
from recombine.keys import Stream

WANTED = {"train": TRAIN_PER_K + TEST_PER_K, "validation": VALIDATION_PER_K, "test": TEST_PER_K}
"""Puzzles of a run by its role: a training run holds its own test."""
K2_TEST_ROWS = 0.23
"""At k = 2 the clauses that would be held out give this share of their rows, the last ones, to the test: 19 of 82."""


@lru_cache(maxsize=32)
def _run(key: str, job: Job, k: int, noise: int, role: str, clauses: frozenset[Clause] | None) -> tuple[Tree, list[Puzzle]]:
    """The puzzles of one run, named by `key`: the job without its part, so that the parts of a split share it."""
    d = dials(job)
    pool, female, _, _ = name_table(d.mentions, d.values["names"])
    run = Run(d, k, noise, Stream("clutrr release", key, k, noise, role), len(pool), female, WANTED[role])
    return run.tree, run.puzzles(clauses)


def divide(rows: list[Puzzle], k: int) -> tuple[list[Puzzle], list[Puzzle], frozenset[Clause]]:
    """(train, test, test clauses) of a training run: the clauses seen last are the test's; at k = 2 only some of their rows.

    5,000 of 5,100 clauses are the training's, rounded down: 60 of 62 at k = 2, 321 of 328 at k = 3, 1,800 of 1,836 at k = 4. This is
    the released hold-out, 2 % and not 10 %.
    """
    order = list(dict.fromkeys(puzzle.clause for puzzle in rows))
    held = frozenset(order[len(order) * TRAIN_PER_K // (TRAIN_PER_K + TEST_PER_K) :])
    if k > 2:
        return [p for p in rows if p.clause not in held], [p for p in rows if p.clause in held], held
    late: set[int] = set()
    for clause in held:
        places = [i for i, puzzle in enumerate(rows) if puzzle.clause == clause]
        late.update(places[len(places) - round(len(places) * K2_TEST_ROWS) :])
    return [p for i, p in enumerate(rows) if i not in late], [rows[i] for i in sorted(late)], held


@lru_cache(maxsize=16)
def _part(job: Job) -> tuple[list[tuple[Tree, Puzzle]], frozenset[Clause]]:
    """The puzzles of a part with their trees, and the clauses held out from training."""
    d = dials(job)
    job = replace(job, part="train")
    own = contents(job.split, "train")
    noise = d.noise if d.values["k"] or d.values["noise"] else NOISE_NAMES.index(own.noise)
    found: list[tuple[Tree, Puzzle]] = []
    held: frozenset[Clause] = frozenset()
    for k in d.ks:
        if d.role == "test" and k not in own.ks:
            tree, rows = _run(job.key, job, k, d.noise, "test", None)
            found += [(tree, p) for p in rows]
            continue
        tree, rows = _run(job.key, job, k, noise, "train", None)
        train, test, held_here = divide(rows, k)
        held |= held_here
        if d.role == "train":
            rows = train
        elif d.role == "validation":
            tree, rows = _run(job.key, job, k, noise, "validation", frozenset(p.clause for p in train))
            rows = rows[:VALIDATION_PER_K]
        elif d.noise == noise:
            rows = test
        elif k == 2:  # other noise than in training is tested at k = 3 only, as released
            rows = []
        else:
            tree, rows = _run(job.key, job, k, d.noise, "test", held_here)
        found += [(tree, p) for p in rows]
    return found, held


def _whole(job: Job) -> Job:
    return job.rows(0, 0)


def release_size(job: Job) -> int:
    """How many rows the part holds: the original's counts follow from its run, and overshoot."""
    return _size(_whole(job))


@lru_cache(maxsize=4_096)
def _size(job: Job) -> int:
    """Numbers are kept longer than the runs they come from: every job asks for its part's size."""
    return len(_part(job)[0])


def rows_by_length(job: Job) -> dict[int, int]:
    """Path length -> how many rows of the part have it; a release part is ordered by length."""
    found: dict[int, int] = {}
    for _, puzzle in _part(_whole(job))[0]:
        found[len(puzzle.path)] = found.get(len(puzzle.path), 0) + 1
    return found


def generate_release(job: Job) -> Batch:
    """Rows [start, stop) of a release part; the puzzles come from the cached runs, the wording from each row's own stream."""
    puzzles, held = _part(_whole(job))
    if job.stop > len(puzzles):
        raise UsageError(f"{job.key} has {len(puzzles)} rows, not {job.stop}: a release part is as long as its run makes it.")
    d = dials(job)
    rows = [_Row(tree, puzzle, puzzle.clause in held and len(puzzle.clause) > 2, d, keys.item_state(job.base(), i))
            for i, (tree, puzzle) in enumerate(puzzles[job.start : job.stop], job.start)]  # fmt: skip
    return Batch(job, job.start, _columns(rows, d, keys.states(job.base("words"), job.start, job.stop)))


class _Row:
    """One puzzle as the numbers of a row: people are numbered as the path and then the noise mention them, as released."""

    def __init__(self, tree: Tree, puzzle: Puzzle, held_out: bool, d: Dials, state: int) -> None:
        self.puzzle, self.held_out = puzzle, held_out
        table = closure(tree)
        number: dict[int, int] = {}
        for edge in [*puzzle.path, *(edge for edge, _ in puzzle.noise)]:
            for person in edge:
                number.setdefault(person, len(number))
        self.named = list(number)
        for person in range(tree.size):
            number.setdefault(person, len(number))

        def fact(edge: Edge) -> list[int]:
            return [word(table[edge], puzzle.genders[edge[1]]), number[edge[0]], number[edge[1]]]

        self.facts = [fact(edge) for edge in puzzle.path] + [fact(edge) for edge, _ in puzzle.noise]
        self.places = [*range(len(puzzle.path)), *(-1 for _ in puzzle.noise)]
        self.kinds = [0] * len(puzzle.path) + [kind for _, kind in puzzle.noise]
        self.chains = [0] * len(puzzle.path) + list(_chains(puzzle.noise))
        self.target, *self.query = fact(puzzle.target)
        self.proof = [p for head, one, two in puzzle.proof for p in (
            number[head[0]], number[one[1]], number[head[1]], fact(one)[0], fact(two)[0], fact(head)[0])]  # fmt: skip
        stream = Stream.at(state)
        self.memory = d.values["memory"] > 0 and stream.unit() < d.values["memory"]
        if self.memory:
            self.target, *self.query = self.facts[stream.below(len(puzzle.path))]
            self.proof = []
        parents, spouses = tree.parents, {a: b for couple in tree.couples for a, b in (couple, couple[::-1])}
        self.family: list[int] = []
        for person in number:
            couple = parents.get(person)
            father, mother = -1, -1
            if couple is not None:
                father, mother = couple if puzzle.genders[couple[0]] == 1 else couple[::-1]
                father, mother = number[father], number[mother]
            spouse = spouses.get(person)
            self.family += [puzzle.genders[person], father, mother, -1 if spouse is None else number[spouse]]


def _chains(noise: tuple[tuple[Edge, int], ...]) -> Iterator[int]:
    """The number of each noise fact's chain: consecutive facts that continue each other share one."""
    chain, before = 0, None
    for edge, kind in noise:
        if before is None or before[1] != kind or before[0][1] != edge[0]:
            chain += 1
        before = (edge, kind)
        yield chain


def _columns(rows: list[_Row], d: Dials, states: Any) -> dict[str, Any]:
    pool, _, name_bytes, name_offsets = name_table(d.mentions, d.values["names"])
    tables, other = word_tables(d)
    facts = np.array([f for row in rows for f in row.facts], np.int32).reshape(-1, 3)
    counts = np.array([len(row.facts) for row in rows], np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    named = [[row.puzzle.names[p] for p in row.named] for row in rows]
    genders = [[row.puzzle.genders[p] for p in row.named] for row in rows]
    people = _ragged(named, np.int32)
    longest = int(np.diff(name_offsets).max())
    most = int(counts.max(initial=1))
    told = Told(
        text=np.empty(max(1, len(rows)) * store.room(tables, most, longest), np.uint8),
        text_offsets=np.zeros(len(rows) + 1, np.int64),
        question=np.empty(max(1, len(rows)) * (200 + 6 * longest), np.uint8),
        question_offsets=np.zeros(len(rows) + 1, np.int64),
        facts=np.empty_like(facts),
        order=np.zeros(len(facts), np.int64),
        chunks=np.zeros(len(facts), np.int32),
        chunk_offsets=np.zeros(len(rows) + 1, np.int64),
    )
    given = Given(
        facts=facts,
        chains=np.array([c for row in rows for c in row.chains], np.int32),
        offsets=offsets,
        genders=np.asarray(_ragged(genders, np.int8).values),
        names=np.asarray(people.values),
        people_offsets=people.offsets,
        query=np.array([q for row in rows for q in row.query], np.int32),
    )
    speech = Speech(tables, other, 0.0, store.questions(), name_bytes, name_offsets)
    written = row_kernels(len(rows)).tell_rows(
        states, given, d.mentions == "bracketed", speech, make_work(1), told, np.zeros(1, np.uint64)
    )
    if written < len(rows):
        raise Infeasible("the templates cannot word every clause of this part; use a file that covers all relations.")
    places = np.array([p for row in rows for p in row.places], np.int8)[told.order]
    kinds = np.array([k for row in rows for k in row.kinds], np.int8)[told.order]
    return {
        "story": Text(told.text[: told.text_offsets[-1]].copy(), told.text_offsets),
        "question": Text(told.question[: told.question_offsets[-1]].copy(), told.question_offsets),
        "query": _ragged([row.query for row in rows], np.int16),
        "target": Coded(np.array([row.target for row in rows], np.int8), RELATIONS),
        "k": np.array([len(row.puzzle.path) for row in rows], np.int8),
        "noise": Coded(np.full(len(rows), d.noise, np.int8), NOISE_NAMES),
        "fact_count": counts.astype(np.int16),
        "clause": Coded(np.arange(len(rows)), ["-".join(RELATIONS[c] for c in row.puzzle.clause) for row in rows]),
        "held_out": np.array([row.held_out for row in rows], np.bool_),
        "memory": np.array([row.memory for row in rows], np.bool_),
        "names": Ragged(Coded(np.asarray(people.values), pool), people.offsets),
        "genders": _ragged(genders, np.int8),
        "facts": Ragged(told.facts.astype(np.int16).reshape(-1), 3 * offsets),
        "places": Ragged(places, offsets),
        "kinds": Ragged(kinds, offsets),
        "proof": _ragged([row.proof for row in rows], np.int16),
        "family": _ragged([row.family for row in rows], np.int16),
        "paraphrases": Ragged(told.chunks[: told.chunk_offsets[-1]].copy(), told.chunk_offsets),
        "members": _ragged([row.named for row in rows], np.int16),
    }


def _ragged(lists: list[list[int]], kind: type) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return Ragged(np.array([value for one in lists for value in one], kind), offsets)
