"""Rows of batches taken out and put together, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from recombine.columns import Coded, Column, Ragged, Text, values_of
from recombine.core import Batch


def take(batch: Batch, rows: np.ndarray[Any, Any]) -> Batch:
    """Some rows of a batch, in the given order, with their own indices."""
    indices = np.array([batch.index(int(row)) for row in rows], dtype=np.int64)
    columns = {name: _taken(column, rows) for name, column in batch.columns.items()}
    return Batch(batch.job, int(indices[0]) if len(indices) else 0, columns, batch.rejections, indices)


def _taken(column: Column, rows: np.ndarray[Any, Any]) -> Column:
    if isinstance(column, Coded):
        return Coded(column.codes[rows], column.values)
    if isinstance(column, Text):
        places, offsets = _gathered(column.offsets, rows)
        return Text(column.data[places], offsets)
    if isinstance(column, Ragged):
        places, offsets = _gathered(column.offsets, rows)
        return Ragged(cast(Any, _taken(column.values, places)), offsets)
    if isinstance(column, np.ndarray):
        return cast(Column, column[rows])
    return [column[int(row)] for row in rows]


def _gathered(offsets: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    lengths = (offsets[1:] - offsets[:-1])[rows]
    out = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(offsets[:-1][rows] - out[:-1], lengths) + np.arange(out[-1])
    return places.astype(np.int64), out


def unpacked(batch: Batch) -> Batch:
    """The same rows with columns of Python values, for readers of many rows; a column is converted when it is first read."""
    return replace(batch, columns=_Unpacked(batch.columns))


class _Unpacked(Mapping[str, Column]):
    """Columns as lists of Python values."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self.packed = columns
        self.lists: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        found = self.lists.get(name)
        if found is None:
            found = self.lists[name] = values_of(self.packed[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)


def join(batches: list[Batch]) -> Batch:
    """Batches of one part end to end; the rows keep their indices."""
    if len(batches) == 1:
        return batches[0]
    first = batches[0]
    columns = {name: _joined([batch.columns[name] for batch in batches]) for name in first.columns}
    indices = np.array([batch.index(row) for batch in batches for row in range(len(batch))], dtype=np.int64)
    rejections: Counter[str] = Counter()
    for batch in batches:
        rejections.update(batch.rejections)
    return Batch(first.job, first.start, columns, dict(rejections), indices)


def _joined(pieces: list[Column]) -> Column:
    first = pieces[0]
    if isinstance(first, Coded):
        coded = cast(list[Coded], pieces)
        if any(piece.values is not first.values and list(piece.values) != list(first.values) for piece in coded):
            return [piece[row] for piece in coded for row in range(len(piece))]
        return Coded(np.concatenate([piece.codes for piece in coded]), first.values)
    if isinstance(first, Text):
        texts = cast(list[Text], pieces)
        data = [piece.data[int(piece.offsets[0]) : int(piece.offsets[-1])] for piece in texts]
        return Text(np.concatenate(data), _joined_offsets([piece.offsets for piece in texts]))
    if isinstance(first, Ragged):
        lists = cast(list[Ragged], pieces)
        inner = [_taken(piece.values, np.arange(int(piece.offsets[0]), int(piece.offsets[-1]))) for piece in lists]
        if isinstance(inner[0], Coded):
            return Ragged(_recoded(cast(list[Coded], inner)), _joined_offsets([piece.offsets for piece in lists]))
        return Ragged(cast(Any, _joined(inner)), _joined_offsets([piece.offsets for piece in lists]))
    if isinstance(first, np.ndarray):
        return cast(Column, np.concatenate(cast(list[np.ndarray[Any, Any]], pieces)))
    return [value for piece in cast(list[list[str]], pieces) for value in piece]


def _recoded(pieces: list[Coded]) -> Coded:
    """Coded strings end to end, over one list of values."""
    first = pieces[0]
    if all(piece.values is first.values or list(piece.values) == list(first.values) for piece in pieces):
        return Coded(np.concatenate([piece.codes for piece in pieces]), first.values)
    numbers: dict[str, int] = {}
    tables = [np.array([numbers.setdefault(v, len(numbers)) for v in piece.values], dtype=np.int32) for piece in pieces]
    codes = [table[piece.codes] if len(table) else piece.codes for table, piece in zip(tables, pieces, strict=True)]
    return Coded(np.concatenate(codes).astype(np.int32), list(numbers))


def _joined_offsets(offsets: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    lengths = np.concatenate([np.diff(piece) for piece in offsets])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
