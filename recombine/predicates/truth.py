"""Which rows satisfy a predicate, from columns of facets: no object per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged
from recombine.predicates.parser import spelling
from recombine.predicates.syntax import And, Atom, Not, Or, Predicate

if TYPE_CHECKING:
    from recombine.columns import Column

Mask = NDArray[np.bool_]


def mask(predicate: Predicate, columns: Mapping[str, Column]) -> Mask:
    """One truth value for each row; `columns` holds every facet that the predicate names."""
    if isinstance(predicate, Atom):
        return _compared(predicate, columns[predicate.facet])
    if isinstance(predicate, Not):
        return ~mask(predicate.inner, columns)
    join = np.logical_and if isinstance(predicate, And) else np.logical_or
    assert isinstance(predicate, And | Or)
    found: Mask = join.reduce([mask(item, columns) for item in predicate.items])
    return found


def _compared(atom: Atom, column: Column) -> Mask:
    if not isinstance(column, Ragged):
        return _fits(atom, column)
    fits, offsets = _fits(atom, column.values), np.asarray(column.offsets)
    lengths = np.diff(offsets)
    if atom.place:
        found = np.zeros(len(lengths), np.bool_)
        has = lengths >= atom.place
        found[has] = fits[offsets[:-1][has] + atom.place - 1]
        return found
    running = np.concatenate([[0], np.cumsum(fits)])
    counts = running[offsets[1:]] - running[offsets[:-1]]
    whole: Mask = (counts == lengths) & (lengths > 0) if atom.mode == "all" else counts > 0
    return whole


def _fits(atom: Atom, values: Any) -> Mask:
    """The comparison with each single value."""
    if isinstance(values, Coded):
        by_code = np.array([_is_so(atom, spelling(str(value))) for value in values.values], np.bool_)
        found: Mask = by_code[np.asarray(values.codes)] if len(by_code) else np.zeros(len(values), np.bool_)
        return found
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
        return _numbers(atom, values)
    return np.array([_is_so(atom, spelling(str(values[row]))) for row in range(len(values))], np.bool_)


def _is_so(atom: Atom, value: str) -> bool:
    return (value in atom.values) != (atom.operator == "!=")


def _numbers(atom: Atom, values: NDArray[Any]) -> Mask:
    first: Any = atom.values[0]
    numbers = values.astype(np.int64)
    if atom.operator == "in":
        return np.isin(numbers, np.array([int(value) for value in atom.values], np.int64))
    compare = {
        "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    }[atom.operator]  # fmt: skip
    found: Mask = compare(numbers, int(first))
    return found
