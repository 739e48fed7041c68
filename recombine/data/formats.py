"""File formats that hold any family's rows: a writer and a reader of chunks for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.errors import FileError, shown
from recombine.files import parse_json, read_lines
from recombine.stores import remote

ROWS_AT_ONCE = 10_000
MOST_GROUP_ROWS = 1_000_000
"""Largest row group that is read into memory; our own writer makes groups of 10,000 rows."""


def write_parquet(tables: Iterable[pa.Table], schema: pa.Schema, out: IO[bytes]) -> None:
    """One row group per table. The Arrow schema is not stored: plain parquet types are what every reader expects."""
    with pq.ParquetWriter(out, schema, compression="zstd", compression_level=3, store_schema=False) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(1, table.num_rows))


def write_records(rows: Iterator[dict[str, Any]], out: IO[bytes], rows_at_once: int) -> None:
    """Records of any shape as parquet. The first ones fix the columns; a column `images` is marked as pictures for Hugging Face."""
    from itertools import islice

    first = list(islice(rows, rows_at_once))
    table = pa.Table.from_pylist(first)
    schema = table.schema
    if "images" in schema.names:
        images = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
        schema = schema.set(schema.get_field_index("images"), pa.field("images", images))
        features = {name: _feature(schema.field(name).type) for name in schema.names if name != "images"}
        features["images"] = {"feature": {"_type": "Image"}, "_type": "List"}
        schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    with pq.ParquetWriter(out, schema, compression="zstd", compression_level=3) as writer:
        while first:
            writer.write_table(pa.Table.from_pylist(first, schema=schema))
            first = list(islice(rows, rows_at_once))


def _feature(kind: pa.DataType) -> Any:
    """An Arrow type as Hugging Face describes it."""
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {kind.field(i).name: _feature(kind.field(i).type) for i in range(kind.num_fields)}
    return {"dtype": str(kind), "_type": "Value"}


def write_jsonl(tables: Iterable[pa.Table], schema: pa.Schema, out: IO[bytes]) -> None:
    """One JSON object a line, keys in the order of the schema."""
    for table in tables:
        for row in table.select(schema.names).to_pylist():
            out.write(json.dumps(row, ensure_ascii=False, separators=(", ", ": ")).encode() + b"\n")


def read_parquet(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """The row groups of a file, each checked against the schema."""
    with opened_parquet(path, schema) as file:
        for number in range(file.num_row_groups):
            yield read_group(file, number, schema, path)


@contextmanager
def opened_parquet(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetFile]:
    """A parquet file that has the columns of the schema; errors of Arrow become a `FileError`."""
    if not path.is_file():
        raise FileError(f"cannot read {shown(str(path))}: there is no such file.")
    try:
        with ExitStack() as stack:
            there = remote(path)
            source = path if there is None else stack.enter_context(there.open())
            file = stack.enter_context(pq.ParquetFile(source))
            check_columns(file.schema_arrow, schema, path)
            yield file
    except (OSError, pa.ArrowException) as problem:
        raise FileError(f"cannot read {shown(str(path))} as parquet: {_first_line(problem)}.") from None


def read_group(file: pq.ParquetFile, number: int, schema: pa.Schema, path: Path) -> pa.Table:
    """One row group. Its number of rows, types and text encoding are checked before use."""
    declared = file.metadata.row_group(number)
    if declared.num_rows > MOST_GROUP_ROWS:
        raise FileError(f"{shown(str(path))} has {declared.num_rows:,} rows in one group; the most is {MOST_GROUP_ROWS:,}.")
    table = file.read_row_group(number, columns=schema.names).select(schema.names).cast(schema)
    return _checked(table, path)


def _checked(table: pa.Table, path: Path) -> pa.Table:
    """The table, if no value is missing and every text is UTF-8."""
    table.validate(full=True)
    for name in table.column_names:
        column = table.column(name)
        if column.null_count or any(_has_null_items(chunk) for chunk in column.chunks):
            raise FileError(f"the column {shown(name)} of {shown(str(path))} lacks values; rows of Recombine lack none.")
    return table


def _has_null_items(array: pa.Array) -> bool:
    return bool(pa.types.is_list(array.type) and array.flatten().null_count)


def read_jsonl(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of a file, some thousands at a time."""
    rows: list[dict[str, Any]] = []
    for number, line in read_lines(path):
        row = parse_json(line, f"line {number} of {shown(str(path))}")
        if not isinstance(row, dict) or set(row) != set(schema.names):
            raise FileError(f"line {number} of {shown(str(path))} does not have the columns {', '.join(schema.names)}.")
        rows.append(row)
        if len(rows) == ROWS_AT_ONCE:
            yield _table(rows, schema, path)
            rows = []
    if rows:
        yield _table(rows, schema, path)


def _table(rows: list[dict[str, Any]], schema: pa.Schema, path: Path) -> pa.Table:
    try:
        return _checked(pa.Table.from_pylist(rows, schema), path)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as problem:
        raise FileError(f"{shown(str(path))} has a value of the wrong type: {_first_line(problem)}.") from None


def check_columns(found: pa.Schema, expected: pa.Schema, path: Path) -> None:
    """A `FileError` unless the file has the columns that the family's rows have."""
    if set(found.names) != set(expected.names):
        raise FileError(f"{shown(str(path))} has the columns {', '.join(found.names)}, expected {', '.join(expected.names)}.")


def _first_line(problem: BaseException) -> str:
    return (str(problem) or type(problem).__name__).splitlines()[0].rstrip(".")[:300]


Writer = Callable[[Iterable[pa.Table], pa.Schema, IO[bytes]], None]
Reader = Callable[[Path, pa.Schema], Iterator[pa.Table]]
WRITERS: dict[str, Writer] = {"parquet": write_parquet, "jsonl": write_jsonl}
READERS: dict[str, Reader] = {"parquet": read_parquet, "jsonl": read_jsonl}
