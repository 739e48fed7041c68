"""Columns to Arrow and back, and the digest of their logical content.

Files hold plain types only (no Arrow dictionaries), so that every reader of parquet sees the same. The digest is over the
logical rows: it does not change with the file format, the compression or the version of the library that wrote the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pyarrow as pa

from recombine.batches import join, take
from recombine.columns import Coded, Column, Ragged, Text, values_of
from recombine.core import Batch, ColumnType, Job
from recombine.errors import FileError, shown

__all__ = ["ARROW", "digest", "from_arrow", "join", "schema", "take", "to_arrow"]

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "binary": pa.binary(),
}
ARROW |= {f"list<{name}>": pa.list_(pa.field("item", kind)) for name, kind in list(ARROW.items())}


def schema(columns: Mapping[str, ColumnType]) -> pa.Schema:
    """The Arrow schema of a family's rows, `id` first."""
    return pa.schema([("id", pa.string()), *((name, ARROW[kind]) for name, kind in columns.items())])


def to_arrow(batch: Batch, columns: Mapping[str, ColumnType]) -> pa.Table:
    """The batch as an Arrow table with ids; the columns must be exactly those of the schema, in any order."""
    if set(batch.columns) != set(columns):
        missing, extra = sorted(set(columns) - set(batch.columns)), sorted(set(batch.columns) - set(columns))
        raise ValueError(f"{batch.job.key}: the batch lacks columns {missing} and has unknown columns {extra}")
    arrays = [_ids(batch), *(_array(batch.columns[name], ARROW[kind]) for name, kind in columns.items())]
    return pa.table(arrays, schema=schema(columns))


def _array(column: Column, kind: pa.DataType) -> pa.Array:
    """The column as an Arrow array, made from its buffers if possible, because `pa.array` imports pandas for numpy's arrays."""
    if isinstance(column, Text):
        return _strings(column.data, column.offsets)
    if isinstance(column, Coded):
        return _decoded(column, kind)
    if isinstance(column, Ragged):
        values = _array(column.values, kind.value_type)
        return pa.ListArray.from_arrays(_numbers(column.offsets.astype(np.int32)), values, type=kind)
    if isinstance(column, np.ndarray):
        found = _numbers(column) if column.dtype.kind in "biuf" and column.ndim == 1 else None
        return found if found is not None and found.type == kind else pa.array(column, kind)
    if kind == pa.string() and all(type(value) is str for value in column):
        pieces = [value.encode() for value in column]
        ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        return _strings(np.frombuffer(b"".join(pieces), dtype=np.uint8), ends)
    return pa.array(column, kind)


def _decoded(column: Coded, kind: pa.DataType) -> pa.Array:
    """The strings behind the codes. A few rows of a long list of values (SCAN's 20,910 commands) touch only the values they name."""
    if len(column.codes) >= len(column.values):
        return _array(list(column.values), kind).take(_numbers(column.codes))
    used, places = np.unique(column.codes, return_inverse=True)
    if len(used) and used[0] < 0:
        raise IndexError(f"the code {used[0]} stands for no value")
    return _array([column.values[code] for code in used.tolist()], kind).take(_numbers(places))


def _numbers(values: np.ndarray[Any, Any]) -> pa.Array:
    """Numbers or booleans as an Arrow array of their own type."""
    kind = pa.from_numpy_dtype(values.dtype)
    packed = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(packed)])


def _strings(data: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> pa.Array:
    start = int(offsets[0])
    base = (offsets - start).astype(np.int32)
    buffers = [None, pa.py_buffer(base), pa.py_buffer(np.ascontiguousarray(data[start : int(offsets[-1])]))]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def _ids(batch: Batch) -> pa.Array:
    """The ids of a whole batch at once, with no Python string per row."""
    n = len(batch)
    index = batch.indices if batch.indices is not None else np.arange(batch.start, batch.start + n, dtype=np.int64)
    width = max(6, len(str(int(index.max())))) if n else 6
    prefix = np.frombuffer(f"{batch.job.key}/".encode(), dtype=np.uint8)
    if n == 0 or (width > 6 and len(str(int(index.min()))) < width):
        return pa.array([batch.id(row) for row in range(n)], pa.string())
    digits = index[:, None] // 10 ** np.arange(width - 1, -1, -1, dtype=np.int64) % 10 + ord("0")
    rows = np.concatenate([np.broadcast_to(prefix, (n, len(prefix))), digits.astype(np.uint8)], axis=1)
    return _strings(rows.reshape(-1), np.arange(n + 1, dtype=np.int64) * rows.shape[1])


def from_arrow(table: pa.Table, job: Job) -> Batch:
    """The batch that a table of a file holds; ids give the indices, so a sampled part keeps its rows' names."""
    table = table.combine_chunks()
    columns = {name: _column(_chunk(table, name)) for name in table.column_names if name != "id"}
    tails = cast(Text, _column(_chunk(table, "id")))
    try:
        indices = np.array([int(text.rpartition("/")[2]) for text in values_of(tails)], dtype=np.int64)
    except (ValueError, OverflowError):
        strange = next(
            text for text in (tails[row] for row in range(len(tails))) if not re.fullmatch(r".*/[0-9]{6,18}", text, re.DOTALL)
        )
        raise FileError(f"the id {shown(strange)} does not end in the number of a row.") from None
    return Batch(job, int(indices[0]) if len(indices) else 0, columns, indices=indices)


def _chunk(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def _column(array: pa.Array) -> Column:
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        data, offsets = _string_buffers(array)
        return Text(data, offsets)
    if pa.types.is_list(array.type):
        offsets = _numpy(array.offsets).astype(np.int64)
        values = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        inner = _column(values)
        if isinstance(inner, Text):
            encoded = values.dictionary_encode()
            inner = Coded(_numpy(encoded.indices), encoded.dictionary.to_pylist())
        return Ragged(cast(Any, inner), offsets - offsets[0])
    return cast(Column, _numpy(array))


def _numpy(array: pa.Array) -> np.ndarray[Any, Any]:
    """Numbers or booleans of an Arrow array without nulls; `to_numpy` would import pandas."""
    kind = np.dtype(array.type.to_pandas_dtype())
    _, content = array.buffers()
    if content is None or array.null_count:
        return cast("np.ndarray[Any, Any]", array.to_numpy(zero_copy_only=False))
    if kind == np.bool_:
        bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=array.offset + len(array), bitorder="little")
        return bits[array.offset :].astype(np.bool_)
    return np.frombuffer(content, dtype=kind, count=array.offset + len(array))[array.offset :]


def _string_buffers(array: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    if len(array) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    data = np.frombuffer(data_buffer, dtype=np.uint8) if data_buffer is not None else np.zeros(0, np.uint8)
    return data[int(offsets[0]) : int(offsets[-1])], offsets - offsets[0]


def digest(table: pa.Table) -> str:
    """Hex digest of the table's logical rows: names, types, values, in order."""
    h = hashlib.blake2b(digest_size=16)
    for name in table.column_names:
        array = _chunk(table, name)
        h.update(f"{name}:{array.type}:{len(array)};".encode())
        _feed(h, array)
    return h.hexdigest()


def _feed(h: Any, array: pa.Array) -> None:
    if array.null_count:
        raise ValueError(f"a column of type {array.type} has {array.null_count} nulls; rows have no nulls")
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        data, offsets = _string_buffers(array)
        h.update(np.diff(offsets).astype("<i4").tobytes())
        h.update(np.ascontiguousarray(data))
    elif pa.types.is_list(array.type):
        offsets = _numpy(array.offsets).astype(np.int64)
        h.update(np.diff(offsets).astype("<i4").tobytes())
        _feed(h, array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])))
    else:
        values = _numpy(array)
        h.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)))
