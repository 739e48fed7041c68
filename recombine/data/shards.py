"""Making one file of a folder: a pure function of the plan and the shard's number. Engines only map it."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from recombine.core import Batch, Family
from recombine.data import columns
from recombine.data.formats import WRITERS
from recombine.data.plan import Plan, Shard
from recombine.errors import FileError, shown
from recombine.families import family as find_family
from recombine.files import inside, read_json, told, write_json, writing
from recombine.schemas import MOST_ROWS, both, check, listing, mapping, record, text, whole

RECORDS = ".recombine"
"""Folder inside the output that holds the plan and one record per finished shard until the folder is sealed."""

RECORD_LIMIT = 64 << 20


@dataclass(frozen=True)
class ShardRecord:
    """The record of a finished file: its rows, its bytes, and the digests of its chunks of logical rows."""

    plan: str
    path: str
    rows: int
    bytes: int
    sha256: str
    chunks: tuple[str, ...]
    rejections: dict[str, int]


class _Hashing(io.RawIOBase):
    """A stream that passes bytes on and keeps their hash and number."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.sha, self.count = out, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha.update(data)
        self.count += memoryview(data).nbytes
        self.out.write(data)
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self.count


def record_path(folder: Path, shard: Shard) -> Path:
    """Where the record of a shard is kept."""
    return inside(folder, f"{RECORDS}/{shard.path.replace('/', '__')}.json")


def make_shard(plan: Plan, number: int, folder: Path, on_rows: Callable[[int], None] | None = None) -> ShardRecord:
    """Generate, write and record one shard; both files appear whole or not at all, the record last."""
    shard = plan.shards[number]
    family = find_family(plan.family)
    chunks: list[str] = []
    rejections: Counter[str] = Counter()

    def batches() -> Iterator[Batch]:
        own = shard.stop - sum(plan.parts[number].rows for number in shard.more)
        yield from plan.parts[shard.part].batches(family, shard.start, own)
        for number in shard.more:
            yield from plan.parts[number].batches(family, 0, plan.parts[number].rows)

    def counted() -> Iterator[tuple[Batch, pa.Table]]:
        for batch in batches():
            table = columns.to_arrow(batch, family.SCHEMA)
            chunks.append(columns.digest(table))
            rejections.update(batch.rejections)
            yield batch, table
            if on_rows is not None:
                on_rows(len(batch))

    with writing(inside(folder, shard.path)) as raw:
        out = _Hashing(raw)
        if plan.format == "native":
            _write_native(family, (batch for batch, _ in counted()), out)
        else:
            WRITERS[plan.format]((table for _, table in counted()), columns.schema(family.SCHEMA), cast(IO[bytes], out))
    record = ShardRecord(
        plan.hash,
        shard.path,
        shard.stop - shard.start,
        out.count,
        out.sha.hexdigest(),
        tuple(chunks),
        dict(sorted(rejections.items())),
    )
    write_json(record_path(folder, shard), asdict(record))
    return record


def _write_native(family: Family, batches: Iterator[Batch], out: _Hashing) -> None:
    text = io.TextIOWrapper(cast(Any, out), encoding="utf-8", newline="\n")
    try:
        family.write(batches, text)
        text.flush()
    except BaseException:
        out.close()  # what the wrapper still holds is dropped with the file, not written when it is collected
        raise
    text.detach()


SHARD_SHAPE = record({
    "path": text(1_000), "rows": whole(0, MOST_ROWS), "bytes": whole(), "sha256": text(64, "[0-9a-f]{64}"),
    "chunks": listing(text(32, "[0-9a-f]{32}")), "rejections": mapping(whole()),
})  # fmt: skip
"""What the manifest says of one file."""
RECORD_SHAPE = both(SHARD_SHAPE, record({"plan": text(16, "[0-9a-f]{16}")}))
"""What a record in `.recombine` holds."""


def read_record(folder: Path, shard: Shard) -> ShardRecord | None:
    """The record of a shard if one is there; a damaged one counts as none, so the shard is made again."""
    path = record_path(folder, shard)
    if not path.exists():
        return None
    try:
        value = read_json(path, RECORD_LIMIT)
        check(value, RECORD_SHAPE, shown(str(path)))
    except FileError as problem:
        if isinstance(problem.__cause__, OSError):  # it may be whole, but cannot be read
            raise
        return None
    if value["path"] != shard.path or value["rows"] != shard.stop - shard.start:
        return None
    known = {name: value[name] for name in ("plan", "path", "rows", "bytes", "sha256", "rejections")}
    return ShardRecord(**known, chunks=tuple(value["chunks"]))


def is_intact(folder: Path, path: str, sha256: str) -> bool:
    """Whether the file is there and its bytes are those that were recorded."""
    file = inside(folder, path)
    return file.is_file() and sha256_of(file) == sha256


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with told("read", path), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
