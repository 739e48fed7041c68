"""One run of recipe `release`: a (noise, k) with a family of its own, whose puzzles come in rounds until there are enough.

In a round every related pair is a target once; its chain takes the pairs' expansions in turn, round after round. Of each
clause as many puzzles stay as the rarest has, and with `equal` only those of the clauses that are behind. Between rounds one
couple changes places, genders and names together. A run stops after the round that fills it, so it makes more than was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from recombine import kernels
from recombine.errors import Infeasible
from recombine.families.clutrr.options import Dials
from recombine.families.clutrr.release.closure import Edge, Tree, closure, expansions, grow_tree
from recombine.families.clutrr.release.kernel import next_way
from recombine.keys import Stream

MAX_ROUNDS = 4_000
COMPILE_FROM_ROWS = 2_000
_MODULE = "recombine.families.clutrr.release.kernel"

Clause = tuple[int, ...]
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
    clause: Clause


class Book(NamedTuple):
    """The related pairs of a family by number: each one's reverse, and its expansions, from `start[p]` to `start[p + 1]`."""

    back: Any
    start: Any
    first: Any
    second: Any


@cache
def _book(tree: Tree) -> tuple[tuple[Edge, ...], Book]:
    """(the pairs in the order of derivation, the book about them); worked out once for a family and a process."""
    pairs = tuple(closure(tree))
    number = {edge: i for i, edge in enumerate(pairs)}
    ways = [expansions(tree).get(edge, ()) for edge in pairs]
    flat = [(number[a], number[b]) for own in ways for a, b in own]
    return pairs, Book(
        np.array([number[edge[::-1]] for edge in pairs], np.int64),
        np.cumsum([0] + [len(own) for own in ways]).astype(np.int64),
        np.array([a for a, _ in flat], np.int64),
        np.array([b for _, b in flat], np.int64),
    )


class Run:
    """A family, the turns of its expansions, and how many puzzles of each clause there are so far."""

    def __init__(self, d: Dials, k: int, noise: int, stream: Stream, pool: int, female: int, wanted: int) -> None:
        self.k, self.noise, self.stream, self.is_equal, self.wanted = k, noise, stream, bool(d.values["equal"]), wanted
        self.tree: Tree = grow_tree(d.levels, d.min_children, d.max_children, d.marriage, stream)
        self.pairs, self.book = _book(self.tree)
        self.kernel = kernels.for_rows(_MODULE, wanted, COMPILE_FROM_ROWS)
        n = len(self.pairs)
        self.turn, self.tried, self.mark = np.zeros(n, np.int64), np.full(n, -1, np.int64), 0
        self.ends = np.array(self.pairs, np.int64).reshape(n, 2)
        self.rising = np.flatnonzero(self.ends[:, 0] < self.ends[:, 1])
        self.older, self.younger = np.ascontiguousarray(self.ends[self.rising].T)
        self.neutral = np.array([closure(self.tree)[edge] for edge in self.pairs], np.int64)
        self.counts: dict[Clause, int] = {}
        self.settled: set[int] = set()
        self.genders = self._draw_genders()
        self.names = self._draw_names(pool, female)

    def _draw_genders(self) -> list[int]:
        """A man at the root, spouses of the other gender, children at random; an only child is a boy, as released."""
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

    # --- one round ---------------------------------------------------------------------------------------------------

    def round(self, clauses: frozenset[Clause] | None) -> list[Puzzle]:
        """Each related pair as a target once, then the balancing; noise is drawn only where a puzzle may stay."""
        paths, steps = self._unfolded()
        found: dict[Clause, list[tuple[int, list[tuple[int, int]]]]] = {}
        floor = min(self.counts.values()) if self.is_equal and self.counts else None
        for target, clause in self._clauses(paths):
            if clauses is not None and clause not in clauses:
                continue
            noise: list[tuple[int, int]] | None = []
            if self.noise and (floor is None or self.counts.get(clause, 0) <= floor):
                noise = self._noise(paths[target].tolist(), target)
            if noise is not None:
                found.setdefault(clause, []).append((target, noise))
        genders, names = tuple(self.genders), tuple(self.names)
        return [
            Puzzle(
                self.pairs[target],
                tuple(self.pairs[p] for p in paths[target]),
                tuple((self.pairs[p], kind) for p, kind in noise),
                tuple((self.pairs[p], self.pairs[self.book.first[w]], self.pairs[self.book.second[w]]) for p, w in steps[target]),
                genders, names, clause,
            )
            for clause, own in self._balanced(found).items()
            for target, noise in own
        ]  # fmt: skip

    def _unfolded(self) -> tuple[Any, Any]:
        """Chains of all targets that reached k pairs (others are marked by -1), and the steps of their proofs."""
        n = len(self.pairs)
        paths, steps, lengths = np.zeros((n, self.k), np.int64), np.zeros((n, self.k - 1, 2), np.int64), np.zeros(n, np.int64)
        rng = np.array([self.stream.word], np.uint64)
        self.kernel.unfold_all(self.k, self.mark, self.book, self.turn, self.tried, paths, steps, lengths, rng)
        self.stream.word = int(rng[0])
        self.mark += n
        paths[lengths < self.k] = -1
        return paths, steps

    def _clauses(self, paths: Any) -> list[tuple[int, Clause]]:
        """(target, clause) of each whole chain."""
        words = 2 * self.neutral + 1 - np.array(self.genders)[self.ends[:, 1]] if len(self.pairs) else self.neutral
        whole = np.flatnonzero(paths[:, 0] >= 0)
        return list(zip(whole.tolist(), map(tuple, words[paths[whole]].tolist()), strict=True))

    def _balanced(self, found: dict[Clause, list[Any]]) -> dict[Clause, list[Any]]:
        """A sample with equally many puzzles of every clause: as many as the rarest clause has.

        With `equal`, only the clauses with the fewest puzzles so far take part.
        """
        if not found:
            return {}
        rarest = min(len(own) for own in found.values())
        if self.is_equal and self.counts:
            fewest = min(self.counts.values()) if found.keys() <= self.counts.keys() else 0
            found = {clause: own for clause, own in found.items() if self.counts.get(clause, 0) == fewest}
        for clause in found:
            self.counts[clause] = self.counts.get(clause, 0) + rarest
        return {clause: self.stream.sample(own, rarest) for clause, own in found.items()}

    def swap(self) -> None:
        """One couple whose turn has not come yet exchange genders and names; after the last one the turns begin anew."""
        left = [couple for couple in self.tree.couples if couple[0] not in self.settled]
        if not left:
            self.settled.clear()
            return
        a, b = self.stream.choice(left)
        self.settled |= {a, b}
        self.genders[a], self.genders[b] = self.genders[b], self.genders[a]
        self.names[a], self.names[b] = self.names[b], self.names[a]

    def puzzles(self, clauses: frozenset[Clause] | None = None) -> list[Puzzle]:
        """At least as many puzzles as are wanted, of these clauses only if any are given."""
        found: list[Puzzle] = []
        for _ in range(MAX_ROUNDS):
            if len(found) >= self.wanted:
                return found
            found += self.round(clauses)
            self.swap()
        raise Infeasible(
            f"only {len(found)} of {self.wanted} release puzzles with k = {self.k} in {MAX_ROUNDS} rounds; use larger families."
        )

    # --- noise -------------------------------------------------------------------------------------------------------

    def _noise(self, path: list[int], target: int) -> list[tuple[int, int]] | None:
        """(pair, kind) of every noise fact; None if some kind that is asked for finds no place."""
        people = {person for pair in path for person in self.pairs[pair]}
        found: list[tuple[int, int]] = []
        kinds: tuple[Callable[[list[int], set[int], int], list[int]], ...] = (self._detours, self._branch, self._strangers)
        for kind, draw in enumerate(kinds, 1):
            if self.noise >> (kind - 1) & 1:
                facts = draw(path, people, target)
                if not facts:
                    return None
                found += [(pair, kind) for pair in facts]
        return found

    def _next_way(self, pair: int) -> tuple[int, int] | None:
        way = next_way(pair, self.book, self.turn)
        return None if way < 0 else (int(self.book.first[way]), int(self.book.second[way]))

    def _some(self) -> int:
        """1 up to half of k."""
        return 1 + self.stream.below(max(1, self.k // 2))

    def _detours(self, path: list[int], people: set[int], target: int) -> list[int]:
        """Supporting: next expansions of path facts whose middle person is new and that do not state the target."""
        ways = [way for pair in path if (way := self._next_way(pair)) is not None]
        ways = [way for way in ways if target not in way and int(self.ends[way[0], 1]) not in people]
        return [pair for way in self.stream.sample(ways, min(self._some(), len(ways))) for pair in way] if ways else []

    def _branch(self, path: list[int], people: set[int], target: int) -> list[int]:
        """Irrelevant: one fact that leaves the path, from an expansion of a random path fact."""
        for _ in range(self.k):
            for pair in self._next_way(self.stream.choice(path)) or ():
                if pair != target and len(people.intersection(self.pairs[pair])) < 2:
                    return [pair]
        return []

    def _strangers(self, _path: list[int], people: set[int], _target: int) -> list[int]:
        """Disconnected: facts about people whom the path does not meet, told from the older number to the younger."""
        met = np.zeros(self.tree.size, np.bool_)
        met[list(people)] = True
        free = self.rising[~(met[self.older] | met[self.younger])].tolist()
        return self.stream.sample(free, min(self._some(), len(free))) if free else []
