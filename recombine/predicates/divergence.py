"""How far two sets lie apart: atom and compound divergence.

The divergence is 1 - C_a(P, Q) with the Chernoff coefficient C_a(P, Q) = sum of p**a * q**(1 - a), where P is the training set. For atoms a is
0.5: it asks for like frequencies. For compounds a is 0.1: it asks whether training has the test's compounds at all.

Where a family has derivation trees, atoms and compounds are those of `trees`. Elsewhere an atom is a facet with one of its values, and a
compound is a pair of atoms that one example has together. The weight of a pair is one minus the largest share of its examples that
have one further atom in common, where neither atom of the pair implies that further atom. A pair that never occurs without a third atom
therefore counts nothing. Weights are measured on the first rows of both sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged
from recombine.facets import Facet, Value
from recombine.predicates.parser import spelling
from recombine.predicates.search import ATOM_ALPHA, COMPOUND_ALPHA, similarity
from recombine.predicates.trees import TreeCounts, Weigher

if TYPE_CHECKING:
    from recombine.columns import Column

MOST_VALUES = 32
"""A facet with more values is no atom: its values are compounds themselves."""
WEIGHED_ROWS = 20_000
"""Rows of each set on which weights are measured."""
Floats = NDArray[np.float64]


def measured_facets(facets: Mapping[str, Facet], named: Iterable[str] = ()) -> list[str]:
    """The facets whose values are atoms: words and flags with few values, and those that are named."""
    asked = set(named)
    return [
        name
        for name, facet in facets.items()
        if (facet.kind == "word" and 0 < len(facet.values) <= MOST_VALUES) or facet.kind == "flag" or name in asked
    ]


@dataclass(frozen=True)
class Counts:
    """How many examples have each atom, and each two atoms together."""

    atoms: tuple[str, ...]
    together: Floats  # (atoms, atoms); the diagonal counts the atoms themselves
    rows: int
    sample: NDArray[np.uint8]  # (first rows, atoms): which of them has which atom


class Counter:
    """Counts atoms and compounds of one set, batch by batch."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places: dict[str, int] = {}
        self._together: Floats = np.zeros((0, 0))
        self._rows = 0
        self._sample: list[NDArray[np.uint8]] = []

    def add(self, columns: Mapping[str, Column], rows: int) -> None:
        """Count these rows."""
        present = self.presence(columns, rows)
        size = present.shape[1]
        grown = np.zeros((size, size))
        grown[: len(self._together), : len(self._together)] = self._together
        self._together = grown + present.T @ present
        if self._rows < WEIGHED_ROWS:
            self._sample.append(present[: WEIGHED_ROWS - self._rows].astype(np.uint8))
        self._rows += rows

    def presence(self, columns: Mapping[str, Column], rows: int) -> Floats:
        """Which of these rows has which atom; new atoms get new columns."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for name in self.names:
            owners, texts = _values(columns[name], rows)
            values, codes = np.unique(texts, return_inverse=True)
            places = np.array([self._places.setdefault(f"{name} = {v}", len(self._places)) for v in values], np.int64)
            found.append((owners, places[codes] if len(places) else codes.astype(np.int64)))
        present = np.zeros((rows, len(self._places)), np.float64)
        for owners, places in found:
            present[owners, places] = 1.0
        return present

    def counts(self) -> Counts:
        """What was counted."""
        size = len(self._places)
        padded = [np.pad(piece, ((0, 0), (0, size - piece.shape[1]))) for piece in self._sample]
        sample = np.concatenate(padded) if padded else np.zeros((0, size), np.uint8)
        return Counts(tuple(self._places), self._together, self._rows, sample)


def _values(column: Any, rows: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """(row, value) of every value of a facet."""
    owners = np.arange(rows, dtype=np.int64)
    if isinstance(column, Ragged):
        lengths: NDArray[np.int64] = np.diff(np.asarray(column.offsets, dtype=np.int64)).astype(np.int64)
        owners = np.repeat(owners, lengths)
        column = column.values
    if isinstance(column, Coded):
        values = np.array([spelling(str(value)) for value in column.values] or [""])
        return owners, values[np.asarray(column.codes).astype(np.int64)]
    if isinstance(column, np.ndarray):
        return owners, column.astype(np.int64).astype(str)
    return owners, np.array([spelling(str(column[row])) for row in range(len(column))])


@dataclass(frozen=True)
class Divergence:
    """The divergences of a test set from a training set."""

    atoms: float
    compounds: float
    new_compounds: tuple[tuple[str, int], ...]
    """Compounds that only the test has, and how many of its examples have each; the commonest first."""
    rarest_atom: tuple[str, int]
    """The test's atom that the fewest training examples have, and how many do."""


def divergence(train: Counts, test: Counts) -> Divergence:
    """The divergence of a test set from a training set, counted over the same facets."""
    names = sorted({*train.atoms, *test.atoms})
    first, second = _aligned(train, names), _aligned(test, names)
    weights = pair_weights(np.concatenate([_sampled(train, names), _sampled(test, names)]))
    upper = np.triu_indices(len(names), 1)
    new = [
        (f"{names[a]} and {names[b]}", int(second[a, b]))
        for a, b in zip(*upper, strict=True)
        if second[a, b] > 0 and first[a, b] == 0
    ]
    tested = [(int(first[i, i]), name) for i, name in enumerate(names) if second[i, i] > 0]
    count, rarest = min(tested, default=(0, ""))
    return Divergence(
        _chernoff(np.diag(first), np.diag(second), ATOM_ALPHA),
        _chernoff((first * weights)[upper], (second * weights)[upper], COMPOUND_ALPHA),
        tuple(sorted(new, key=lambda pair: (-pair[1], pair[0]))),
        (rarest, count),
    )


def _aligned(counts: Counts, names: Sequence[str]) -> Floats:
    places = {name: i for i, name in enumerate(names)}
    own = np.array([places[name] for name in counts.atoms], np.int64)
    found = np.zeros((len(names), len(names)))
    found[np.ix_(own, own)] = counts.together
    return found


def _sampled(counts: Counts, names: Sequence[str]) -> NDArray[np.uint8]:
    places = {name: i for i, name in enumerate(names)}
    found = np.zeros((len(counts.sample), len(names)), np.uint8)
    found[:, [places[name] for name in counts.atoms]] = counts.sample
    return found


def pair_weights(present: NDArray[Any]) -> Floats:
    """The weight of every pair of atoms, from which rows have which atoms."""
    known = present.astype(np.float32)
    size = known.shape[1]
    together = known.T @ known
    implies = together >= np.diag(together)[:, None]  # [a, c]: every row with a has c
    weights = np.ones((size, size))
    for a in range(size):
        own = known[known[:, a] > 0]
        triples = own.T @ own  # [b, c]: rows with a, b and c
        pairs = np.maximum(np.diag(triples), 1)[:, None]
        shares = np.where(implies | implies[a][None, :], 0.0, triples / pairs)
        weights[a] = 1 - shares.max(axis=1, initial=0.0)
    found: Floats = np.minimum(weights, weights.T).round(9)
    return found


def tree_divergence(train: TreeCounts, test: TreeCounts) -> Divergence:
    """The divergence of two sets of derivation trees."""
    weigher = Weigher([train, test])
    (atoms, weighted, examples), (test_atoms, test_weighted, test_examples) = weigher.tables(train), weigher.tables(test)
    new = [(name, count) for name, count in test_examples.items() if name not in examples]
    count, rarest = min(((atoms[name], name) for name in test_atoms), default=(0, ""))
    return Divergence(
        _chernoff(*_tables(atoms, test_atoms), ATOM_ALPHA),
        _chernoff(*_tables(weighted, test_weighted), COMPOUND_ALPHA),
        tuple(sorted(new, key=lambda pair: (-pair[1], pair[0]))),
        (rarest, count),
    )


def _tables(train: Mapping[str, float], test: Mapping[str, float]) -> tuple[Floats, Floats]:
    names = sorted({*train, *test})
    first, second = (np.array([float(table.get(name, 0.0)) for name in names]) for table in (train, test))
    return first, second


def _chernoff(train: Floats, test: Floats, alpha: float) -> float:
    """1 - the Chernoff coefficient of two tables of counts; rounded, so that every machine writes the same."""
    return round(1.0 - similarity(train, test, alpha), 4)


def count_batches(names: Sequence[str], batches: Iterable[tuple[Mapping[str, Column], int]]) -> Counts:
    """The counts of a set that comes in batches of (facet columns, rows)."""
    counter = Counter(names)
    for columns, rows in batches:
        counter.add(columns, rows)
    return counter.counts()


def count_values(names: Sequence[str], rows: Iterable[Mapping[str, Value | tuple[Value, ...]]]) -> Counts:
    """The counts of examples that come one by one, each with the values of its facets."""
    found = list(rows)
    columns: dict[str, Column] = {}
    for name in names:
        own = [values if isinstance(values, tuple) else (values,) for values in (row[name] for row in found)]
        flat = [str(int(value)) if isinstance(value, bool) else str(value) for values in own for value in values]
        known = sorted(set(flat))
        places = {value: i for i, value in enumerate(known)}
        offsets = np.concatenate([[0], np.cumsum([len(values) for values in own])]).astype(np.int64)
        columns[name] = Ragged(Coded(np.array([places[value] for value in flat], np.int64), known), offsets)
    return count_batches(names, [(columns, len(found))])
