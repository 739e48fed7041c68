"""Rules: a description and an operation. The descriptions are ReaSCAN's, without verb and adverb.

A description has a pattern: `simple`, `one_clause`, `two_clauses` (two clauses of the first phrase) or `nested` (a clause of the
second phrase). A *step* is a relation and a phrase, packed as relation * 75 + phrase. A *form* packs a whole description.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.families.abstract import operations
from recombine.grid.codes import RELATIONS
from recombine.grid.matching import Description, Phrase, admits, phrase_of

Ints = NDArray[np.int64]
PATTERNS = ("simple", "one_clause", "two_clauses", "nested")
SIMPLE, ONE, TWO, NESTED = 0, 1, 2, 3
N_PHRASES, N_STEPS = 75, 450
RELATION_WORDS: Mapping[str, str] = MappingProxyType(
    {**{name: f"in the same {name} as" for name in RELATIONS[:5]}, "inside": "inside of"}
)


class Form(NamedTuple):
    """A description in numbers. Unused steps are 0."""

    pattern: int
    root: int
    first: int = 0
    second: int = 0

    def encode(self) -> int:
        """The form as one number."""
        return ((self.pattern * N_PHRASES + self.root) * N_STEPS + self.first) * N_STEPS + self.second

    @classmethod
    def decode(cls, code: int) -> Form:
        """The form with this number."""
        rest, second = divmod(int(code), N_STEPS)
        rest, first = divmod(rest, N_STEPS)
        return cls(*divmod(rest, N_PHRASES), first, second)


def pattern_of(codes: Ints) -> Ints:
    """The pattern of each form, from its number."""
    return codes // (N_PHRASES * N_STEPS * N_STEPS)


@dataclass(frozen=True)
class Rule:
    """What a task is about: which object (`form`), and what happens to it (`operation`, a text of `operations`)."""

    form: Form
    operation: str

    @property
    def pattern(self) -> str:
        """The pattern of the description."""
        return PATTERNS[self.form.pattern]

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The noun phrases, the referent's first."""
        steps = (self.form.first, self.form.second)[: (0, 1, 2, 2)[self.form.pattern]]
        return tuple(phrase_of(code) for code in (self.form.root, *(step % N_PHRASES for step in steps)))

    @property
    def relations(self) -> tuple[str, ...]:
        """The relation of each clause."""
        steps = (self.form.first, self.form.second)[: len(self.phrases) - 1]
        return tuple(RELATIONS[step // N_PHRASES] for step in steps)

    @property
    def parents(self) -> tuple[int, ...]:
        """Which phrase each phrase hangs on; -1 for the first."""
        return ((-1,), (-1, 0), (-1, 0, 0), (-1, 0, 1))[self.form.pattern]

    @property
    def description(self) -> Description:
        """The description as the grid's matcher takes it."""
        return Description(self.phrases, self.parents, ("", *self.relations))

    @property
    def kind(self) -> str:
        """The kind of the operation."""
        return operations.kinds()[operations.numbers()[self.operation]]

    def __str__(self) -> str:
        pivot = str(self.phrases[1]) if len(self.phrases) > 1 else ""
        return f"In each picture {describe(self.form)} {operations.sentence(self.operation, pivot)}."


# --- phrases and steps -----------------------------------------------------------------------------------------------


@functools.cache
def steps() -> tuple[Ints, Ints]:
    """(table[75, most], counts[75]): the steps that can hang on each phrase, in order."""
    phrases = [phrase_of(code) for code in range(N_PHRASES)]
    rows = [
        [r * N_PHRASES + c for r, name in enumerate(RELATIONS) for c in range(N_PHRASES) if admits(parent, name, phrases[c])]
        for parent in phrases
    ]
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    found = np.zeros((N_PHRASES, int(counts.max())), dtype=np.int64)
    for code, row in enumerate(rows):
        found[code, : len(row)] = row
    return found, counts


@functools.cache
def roots() -> Ints:
    """The phrases with which a description can begin: all but boxes."""
    return np.array([code for code in range(N_PHRASES) if phrase_of(code).shape != "box"], dtype=np.int64)


class Forms(NamedTuple):
    """Many descriptions as columns."""

    pattern: Ints
    root: Ints
    first: Ints
    second: Ints

    def encode(self) -> Ints:
        """The number of each form."""
        return ((self.pattern * N_PHRASES + self.root) * N_STEPS + self.first) * N_STEPS + self.second


@functools.cache
def forms(pattern: int) -> Forms:
    """All descriptions of a pattern, ordered by the relation of the first clause: 60, 5,050, 302,548 and 383,470."""
    table, counts = steps()
    if pattern == SIMPLE:
        zeros = np.zeros(len(roots()), dtype=np.int64)
        return Forms(zeros, roots(), zeros, zeros)
    pieces = []
    for root in roots().tolist():
        mine = table[root, : counts[root]]
        if pattern == ONE:
            pieces.append(np.stack([np.full(len(mine), root), mine, np.zeros(len(mine), dtype=np.int64)]))
        elif pattern == TWO:
            a, b = (side.ravel() for side in np.meshgrid(mine, mine, indexing="ij"))
            keep = (a // N_PHRASES < b // N_PHRASES) & (a % N_PHRASES != b % N_PHRASES)
            pieces.append(np.stack([np.full(int(keep.sum()), root), a[keep], b[keep]]))
        else:
            for step in mine.tolist():
                inner = table[step % N_PHRASES, : counts[step % N_PHRASES]]
                inner = inner[inner % N_PHRASES != root]
                pieces.append(np.stack([np.full(len(inner), root), np.full(len(inner), step), inner]))
    joined = np.concatenate(pieces, axis=1)
    joined = joined[:, np.argsort(joined[1] // N_PHRASES, kind="stable")]
    return Forms(np.full(joined.shape[1], pattern, dtype=np.int64), joined[0], joined[1], joined[2])


@functools.cache
def groups(pattern: int) -> tuple[Ints, Ints]:
    """(starts, sizes): where the descriptions of each relation of the first clause lie in `forms(pattern)`."""
    edges = np.searchsorted(forms(pattern).first // N_PHRASES, np.arange(len(RELATIONS) + 1))
    sizes = np.diff(edges)
    return edges[:-1][sizes > 0], sizes[sizes > 0]


SPACES: Mapping[int, tuple[int, ...]] = MappingProxyType(
    {SIMPLE: (SIMPLE, ONE), ONE: (SIMPLE, ONE), TWO: (SIMPLE, ONE, TWO), NESTED: (SIMPLE, ONE, TWO, NESTED)}
)
"""Pattern of the rule -> patterns of the hypotheses that are eliminated."""
READINGS: Mapping[int, int] = MappingProxyType({SIMPLE: 2, ONE: 2, TWO: 4, NESTED: 4})
"""In how many ways a description is read: size words pairwise or superlative; with two clauses, phrases may share an object or not."""


@functools.cache
def space_size(pattern: int) -> int:
    """How many hypotheses (description, reading, operation) are eliminated for a rule of this pattern."""
    every = len(operations.texts())
    copies = len(operations.COPIED)
    return sum(len(forms(p).root) * READINGS[p] * (every if p in (ONE, NESTED) else every - copies) for p in SPACES[pattern])


# --- words -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1 << 16)
def describe(form: Form) -> str:
    """The description in words: `the red circle that is in the same row as the big blue square`."""
    rule = Rule(form, operations.texts()[0])
    phrases = [f"the {phrase}" for phrase in rule.phrases]
    if form.pattern == SIMPLE:
        return phrases[0]
    clauses = [f"{RELATION_WORDS[name]} {phrase}" for name, phrase in zip(rule.relations, phrases[1:], strict=True)]
    link = " and " if form.pattern == TWO else " that is "
    return f"{phrases[0]} that is {link.join(clauses)}"


__all__ = [
    "NESTED", "N_PHRASES", "N_STEPS", "ONE", "PATTERNS", "READINGS", "RELATION_WORDS", "SIMPLE", "SPACES", "TWO", "Form", "Forms",
    "Rule", "describe", "forms", "groups", "pattern_of", "roots", "space_size", "steps",
]  # fmt: skip
