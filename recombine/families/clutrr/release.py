"""Recipe `release`: what the original generator does, run by run; a run is one (noise, k) with one family and one closure.

Every pass tries each related pair as a target once, expands it round-robin, adds noise, and keeps as many puzzles of every
clause as of the rarest; then one couple swaps genders and names. A run ends when it has enough rows, so it overshoots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from recombine import kernels, keys
from recombine.core import Batch, Coded, Job, Ragged, Text
from recombine.errors import Infeasible, UsageError
from recombine.families.clutrr.closure import Edge, Tree, closure, expansions, grow_tree
from recombine.families.clutrr.kinship import RELATIONS, word
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials
from recombine.families.clutrr.splits import TEST_PER_K, TRAIN_PER_K, VALIDATION_PER_K, contents
from recombine.keys import Stream

MAX_PASSES = 4_000
TEST_CLAUSES = TEST_PER_K / (TRAIN_PER_K + TEST_PER_K)
"""The released hold-out: 2 % of the clauses, not 10 %."""
K2_TEST_ROWS = 0.22
"""At k = 2 the last clauses give this share of their rows, the last ones, to the test."""

Names = tuple[int, ...]
"""Person -> place in the list of names."""


@dataclass(frozen=True)
class Puzzle:
    """A target pair, the path and the noise as pairs of the family, the proof, and who had which gender and name then."""

    target: Edge
    path: tuple[Edge, ...]
    noise: tuple[tuple[Edge, int], ...]
    proof: tuple[tuple[Edge, Edge, Edge], ...]
    genders: tuple[int, ...]
    names: Names
    clause: tuple[int, ...]


class _Run:
    """One (noise, k): a family, its endless expansions, and the rows kept so far."""

    def __init__(self, d: Dials, k: int, noise: int, stream: Stream, pool: int, female: int) -> None:
        self.k, self.noise, self.stream, self.is_equal = k, noise, stream, bool(d.values["equal"])
        self.tree: Tree = grow_tree(d.levels, d.min_children, d.max_children, d.marriage, stream)
        self.table, self.ways = closure(self.tree), expansions(self.tree)
        self.turn = dict.fromkeys(self.ways, 0)
        self.rising = [edge for edge in self.table if edge[0] < edge[1]]
        self.counts: dict[tuple[int, ...], int] = {}
        self.flipped: set[int] = set()
        self.genders = self._draw_genders()
        self.names = self._draw_names(pool, female)

    def _draw_genders(self) -> list[int]:
        genders = [1] * self.tree.size
        for (person, spouse), born in zip(self.tree.couples, self.tree.children, strict=True):
            genders[spouse] = 1 - genders[person]
            for child in born:
                genders[child] = self.stream.below(2) if len(born) > 1 else 1
        return genders

    def _draw_names(self, pool: int, female: int) -> list[int]:
        if female < 0:
            return self.stream.sample(range(pool), self.tree.size)
        women, men = self.stream.sample(range(female), self.tree.size), self.stream.sample(range(female, pool), self.tree.size)
        return [men.pop() if gender else women.pop() for gender in self.genders]

    def next_way(self, edge: Edge) -> tuple[Edge, Edge] | None:
        """The next expansion of a pair, round-robin."""
        ways = self.ways.get(edge)
        if ways is None:
            return None
        at = self.turn[edge]
        self.turn[edge] = (at + 1) % len(ways)
        return ways[at]

    def derive(self, target: Edge) -> tuple[list[Edge], list[tuple[Edge, Edge, Edge]]]:
        """Backward chaining as released: people may come up again, tried pairs may not."""
        if self.k == 2:
            way = self.next_way(target)
            return ([*way], [(target, *way)]) if way else ([target], [])
        path, proof, tried = [target], [], set[Edge]()
        while len(path) < self.k:
            untried = [edge for edge in dict.fromkeys(path) if edge not in tried]
            if not untried:
                break
            edge = untried[self.stream.below(len(untried))]
            tried.add(edge)
            way = self.next_way(edge)
            if way is None or any(e in tried or e[::-1] in tried for e in way):
                continue
            at = path.index(edge)
            path[at : at + 1] = way
            proof.append((edge, *way))
        return path, proof

    def add_noise(self, path: list[Edge], target: Edge) -> list[tuple[Edge, int]] | None:
        """Noise facts with their kinds, as the original samples them; None if some kind found none."""
        people = {p for edge in path for p in edge}
        found: list[tuple[Edge, int]] = []
        for bit, kind, sample in ((1, 1, self._support), (2, 2, self._irrelevant), (4, 3, self._disconnected)):
            if self.noise & bit:
                edges = sample(path, people, target)
                if not edges:
                    return None
                found += [(edge, kind) for edge in edges]
        return found

    def _support(self, path: list[Edge], people: set[int], target: Edge) -> list[Edge]:
        ways = [way for edge in path if (way := self.next_way(edge)) and target not in way and way[0][1] not in people]
        if not ways:
            return []
        count = min(1 + self.stream.below(max(1, self.k // 2)), len(ways))
        return [edge for way in self.stream.sample(ways, count) for edge in way]

    def _irrelevant(self, path: list[Edge], people: set[int], target: Edge) -> list[Edge]:
        edge = self.stream.choice(path)
        for _ in range(self.k):
            for new in self.next_way(edge) or ():
                if new != target and len(people & set(new)) < 2:
                    return [new]
            edge = self.stream.choice(path)
        return []

    def _disconnected(self, _path: list[Edge], people: set[int], _target: Edge) -> list[Edge]:
        edges = [edge for edge in self.rising if edge[0] not in people and edge[1] not in people]
        return self.stream.sample(edges, min(1 + self.stream.below(max(1, self.k // 2)), len(edges)))

    def one_pass(self, clauses: frozenset[tuple[int, ...]] | None) -> list[Puzzle]:
        """Each related pair as a target once, then the balancing; noise is spared for clauses that will not be kept."""
        drawn: dict[tuple[int, ...], list[tuple[Edge, list[Edge], Any, Any]]] = {}
        words = {edge: word(relation, self.genders[edge[1]]) for edge, relation in self.table.items()}
        most = min(self.counts.values()) if self.is_equal and self.counts else MAX_PASSES * len(self.table)
        for target in self.table:
            path, proof = self.derive(target)
            if len(path) != self.k:
                continue
            clause = tuple([words[edge] for edge in path])
            if clauses is not None and clause not in clauses:
                continue
            noise = self.add_noise(path, target) if self.noise and self.counts.get(clause, 0) <= most else []
            if noise is not None:
                drawn.setdefault(clause, []).append((target, path, noise, proof))
        kept = self._balanced(drawn)
        genders, names = tuple(self.genders), tuple(self.names)
        return [
            Puzzle(target, tuple(path), tuple(noise), tuple(proof), genders, names, clause)
            for clause, found in kept.items()
            for target, path, noise, proof in found
        ]

    def _balanced(self, drawn: dict[tuple[int, ...], list[Any]]) -> dict[tuple[int, ...], list[Any]]:
        """As many of every clause as of the rarest; with `equal`, only the clauses that have the fewest rows so far."""
        if not drawn:
            return {}
        rarest = min(len(found) for found in drawn.values())
        kept = drawn
        if self.is_equal and self.counts:
            floor = min(self.counts.get(clause, 0) for clause in {**self.counts, **drawn})
            kept = {clause: found for clause, found in drawn.items() if self.counts.get(clause, 0) == floor}
        kept = {clause: self.stream.sample(found, rarest) for clause, found in kept.items()}
        for clause, found in kept.items():
            self.counts[clause] = self.counts.get(clause, 0) + len(found)
        return kept

    def flip(self) -> None:
        """One couple that has not yet been chosen swaps genders and names; once all were, the list starts anew."""
        left = [couple for couple in self.tree.couples if couple[0] not in self.flipped]
        if not left:
            self.flipped.clear()
            return
        a, b = self.stream.choice(left)
        self.flipped |= {a, b}
        self.genders[a], self.genders[b] = self.genders[b], self.genders[a]
        self.names[a], self.names[b] = self.names[b], self.names[a]

    def rows(self, wanted: int, clauses: frozenset[tuple[int, ...]] | None = None) -> list[Puzzle]:
        """At least `wanted` puzzles, of these clauses only if any are given."""
        found: list[Puzzle] = []
        for _ in range(MAX_PASSES):
            if len(found) >= wanted:
                return found
            found += self.one_pass(clauses)
            self.flip()
        raise Infeasible(
            f"only {len(found)} of {wanted} release puzzles with k = {self.k} in {MAX_PASSES} passes; use larger families."
        )


@lru_cache(maxsize=32)
def _run(
    key: str, job: Job, k: int, noise: int, role: str, clauses: frozenset[tuple[int, ...]] | None
) -> tuple[Tree, list[Puzzle]]:
    """The rows of one run, named by `key`: the job without its part, so that the parts of a split share it."""
    from recombine.families.clutrr.generate import name_table

    d = dials(job)
    pool, female, _, _ = name_table(d.mentions, d.values["names"])
    run = _Run(d, k, noise, Stream("clutrr release", key, k, noise, role), len(pool), female)
    wanted = {"train": TRAIN_PER_K + TEST_PER_K, "validation": VALIDATION_PER_K, "test": TEST_PER_K}[role]
    return run.tree, run.rows(wanted, clauses)


def divide(rows: list[Puzzle], k: int) -> tuple[list[Puzzle], list[Puzzle], frozenset[tuple[int, ...]]]:
    """(train, test, test clauses) of a training run: the clauses seen last are the test's; at k = 2 only some of their rows."""
    order = list(dict.fromkeys(puzzle.clause for puzzle in rows))
    held = frozenset(order[len(order) - max(1, round(len(order) * TEST_CLAUSES)) :])
    if k > 2:
        return [p for p in rows if p.clause not in held], [p for p in rows if p.clause in held], held
    late: set[int] = set()
    for clause in held:
        places = [i for i, puzzle in enumerate(rows) if puzzle.clause == clause]
        late.update(places[len(places) - round(len(places) * K2_TEST_ROWS) :])
    return [p for i, p in enumerate(rows) if i not in late], [rows[i] for i in sorted(late)], held


@lru_cache(maxsize=16)
def _part(job: Job) -> tuple[list[tuple[Tree, Puzzle]], frozenset[tuple[int, ...]]]:
    """The puzzles of a part with their trees, and the clauses held out from training."""
    d = dials(job)
    job = replace(job, part="train")
    key = job.key
    train_ks, own = contents(job.split, "train").ks, NOISE_NAMES.index(contents(job.split, "train").noise)
    is_given = bool(d.values["k"] or d.values["noise"])
    found: list[tuple[Tree, Puzzle]] = []
    held: frozenset[tuple[int, ...]] = frozenset()
    for k in d.ks:
        trained = k in train_ks or d.role != "test"
        base = own if not is_given else d.noise
        tree, rows = _run(key, job, k, base, "train", None) if trained else (None, [])
        train, test, held_here = divide(rows, k) if trained else ([], [], frozenset())
        held |= held_here
        if d.role == "train":
            found += [(tree, p) for p in train]  # type: ignore[misc]
        elif d.role == "validation":
            seen = frozenset(p.clause for p in train)
            tree, rows = _run(key, job, k, base, "validation", seen)
            found += [(tree, p) for p in rows[:VALIDATION_PER_K]]
        elif trained and d.noise == base:
            found += [(tree, p) for p in test]  # type: ignore[misc]
        elif trained and k == 2:
            continue
        else:
            tree, rows = _run(key, job, k, d.noise, "test", held_here or None)
            found += [(tree, p) for p in rows]
    return found, held


def _whole(job: Job) -> Job:
    return job.rows(0, 0)


def size(job: Job) -> int:
    """How many rows the part holds: the original's counts follow from its run, and overshoot."""
    return len(_part(_whole(job))[0])


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
    from recombine.families.clutrr.generate import COMPILE_FROM_ROWS, make_work, name_table, word_tables
    from recombine.families.clutrr.language import store

    pool, _, name_bytes, name_offsets = name_table(d.mentions, d.values["names"])
    tables = word_tables(d)
    facts = np.array([f for row in rows for f in row.facts], np.int32).reshape(-1, 3)
    counts = np.array([len(row.facts) for row in rows], np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    named = [[row.puzzle.names[p] for p in row.named] for row in rows]
    genders = [[row.puzzle.genders[p] for p in row.named] for row in rows]
    people = _ragged(named, np.int32)
    longest = int(np.diff(name_offsets).max())
    most = int(counts.max(initial=1))
    kernel = kernels.load("recombine.families.clutrr.rows", compiled=len(rows) >= COMPILE_FROM_ROWS)
    text = np.empty(max(1, len(rows)) * store.room(tables, most, longest), np.uint8)
    question = np.empty(max(1, len(rows)) * (200 + 6 * longest), np.uint8)
    out_facts, told = np.empty_like(facts), np.zeros(len(facts), np.int32)
    order = np.zeros(len(facts), np.int64)
    text_offsets, question_offsets, told_offsets = (np.zeros(len(rows) + 1, np.int64) for _ in range(3))
    written = kernel.tell_rows(
        states, facts, np.array([c for row in rows for c in row.chains], np.int32), offsets,
        _ragged(genders, np.int8).values, people.values, people.offsets, np.array([q for row in rows for q in row.query], np.int32),
        d.mentions == "bracketed", name_bytes, name_offsets, tables, store.questions(), make_work(1),
        text, text_offsets, question, question_offsets, out_facts, order, told, told_offsets, np.zeros(1, np.uint64),
    )  # fmt: skip
    if written < len(rows):
        raise Infeasible("the templates cannot word every clause of this part; use a file that covers all relations.")
    places = np.array([p for row in rows for p in row.places], np.int8)[order]
    kinds = np.array([k for row in rows for k in row.kinds], np.int8)[order]
    return {
        "story": Text(text[: text_offsets[-1]].copy(), text_offsets),
        "question": Text(question[: question_offsets[-1]].copy(), question_offsets),
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
        "facts": Ragged(out_facts.astype(np.int16).reshape(-1), 3 * offsets),
        "places": Ragged(places, offsets),
        "kinds": Ragged(kinds, offsets),
        "proof": _ragged([row.proof for row in rows], np.int16),
        "family": _ragged([row.family for row in rows], np.int16),
        "paraphrases": Ragged(told[: told_offsets[-1]].copy(), told_offsets),
    }


def _ragged(lists: list[list[int]], kind: type) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return Ragged(np.array([value for one in lists for value in one], kind), offsets)
