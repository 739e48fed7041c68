"""How far two sets lie apart: atom and compound divergence over facets.

An atom is a facet with one of its values. A compound is a pair of atoms that one example has together. The divergence is
1 - C_a(P, Q) with the Chernoff coefficient C_a(P, Q) = sum of p**a * q**(1 - a), where P is the training set. For atoms a is 0.5: it asks
for like frequencies. For compounds a is 0.1: it asks whether training has the test's compounds at all. Compounds are not weighted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged
from recombine.facets import Facet
from recombine.predicates.parser import spelling

if TYPE_CHECKING:
    from recombine.columns import Column

ATOM_ALPHA, COMPOUND_ALPHA = 0.5, 0.1
MOST_VALUES = 32
"""A facet with more values is no atom: its values are compounds themselves."""
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


class Counter:
    """Counts atoms and compounds of one set, batch by batch."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places: dict[str, int] = {}
        self._together: Floats = np.zeros((0, 0))
        self._rows = 0

    def add(self, columns: Mapping[str, Column], rows: int) -> None:
        """Count these rows."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for name in self.names:
            owners, texts = _values(columns[name], rows)
            values, codes = np.unique(texts, return_inverse=True)
            places = np.array([self._places.setdefault(f"{name} = {v}", len(self._places)) for v in values], np.int64)
            found.append((owners, places[codes] if len(places) else codes.astype(np.int64)))
        size = len(self._places)
        present = np.zeros((rows, size), np.float64)
        for owners, places in found:
            present[owners, places] = 1.0
        grown = np.zeros((size, size))
        grown[: len(self._together), : len(self._together)] = self._together
        self._together = grown + present.T @ present
        self._rows += rows

    def counts(self) -> Counts:
        """What was counted."""
        return Counts(tuple(self._places), self._together, self._rows)


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
    """How far a test set lies from a training set."""

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
        _chernoff(first[upper], second[upper], COMPOUND_ALPHA),
        tuple(sorted(new, key=lambda pair: (-pair[1], pair[0]))),
        (rarest, count),
    )


def _aligned(counts: Counts, names: Sequence[str]) -> Floats:
    places = {name: i for i, name in enumerate(names)}
    own = np.array([places[name] for name in counts.atoms], np.int64)
    found = np.zeros((len(names), len(names)))
    found[np.ix_(own, own)] = counts.together
    return found


def _chernoff(train: Floats, test: Floats, alpha: float) -> float:
    """1 - the Chernoff coefficient of two tables of counts; rounded, so that every machine writes the same."""
    if not train.sum() or not test.sum():
        return 1.0
    p, q = train / train.sum(), test / test.sum()
    both = (p > 0) & (q > 0)
    return round(float(1.0 - (p[both] ** alpha * q[both] ** (1 - alpha)).sum()), 4)


def count_batches(names: Sequence[str], batches: Iterable[tuple[Mapping[str, Column], int]]) -> Counts:
    """The counts of a set that comes in batches of (facet columns, rows)."""
    counter = Counter(names)
    for columns, rows in batches:
        counter.add(columns, rows)
    return counter.counts()
