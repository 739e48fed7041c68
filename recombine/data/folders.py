"""A generated folder: its manifest, its files, and how rows are read back.

DIR/README.md                            dataset card; `datasets.load_dataset("DIR")` reads it
DIR/manifest.json                        what is here, written last: a folder without it is unfinished
DIR/<split>/<part>-00000-of-00002.parquet
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from recombine.core import Batch, Family
from recombine.data import columns
from recombine.data.formats import READERS, check_columns
from recombine.data.plan import PartPlan, Plan
from recombine.data.shards import RECORDS
from recombine.errors import FileError, UsageError, shown
from recombine.families import family as find_family
from recombine.files import check_path, read_json

MANIFEST = "manifest.json"
MANIFEST_LIMIT = 256 << 20


@dataclass(frozen=True)
class Folder:
    """A sealed folder and its manifest."""

    path: Path
    manifest: Mapping[str, Any]
    plan: Plan

    @property
    def family(self) -> Family:
        """The family whose rows these are."""
        return find_family(self.plan.family)

    def part(self, split: str | None, part: str | None) -> int:
        """The number of a part in the plan; a name may be left out where there is only one choice."""
        names = [(p.job.split, p.job.part) for p in self.plan.parts]
        fits = [i for i, (s, p) in enumerate(names) if split in (None, s) and part in (None, p)]
        if len(fits) > 1 and part is None:
            fits = [i for i in fits if names[i][1] == "test"] or fits
        if len(fits) != 1:
            here = ", ".join(f"{s}/{p}" for s, p in names)
            wanted = f"{split or '*'}/{part or '*'}"
            raise UsageError(f"{wanted} names {len(fits)} parts of {shown(str(self.path))}; it has {here}.")
        return fits[0]

    def files(self, number: int) -> list[Path]:
        """The files of a part, in order."""
        return [self.path / shard.path for shard in self.plan.shards if shard.part == number]

    def batches(self, number: int) -> Iterator[Batch]:
        """The rows of a part, some thousands at a time."""
        for file in self.files(number):
            for table in self.tables(file):
                yield columns.from_arrow(table, self.plan.parts[number].job)

    def tables(self, file: Path) -> Iterator[pa.Table]:
        """The rows of one file as Arrow tables."""
        if self.plan.format == "native":
            raise UsageError(
                f"{shown(str(self.path))} is in the originally released layout; judge its files with `recombine audit`."
            )
        return READERS[self.plan.format](file, self.schema)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return columns.schema(self.family.SCHEMA)

    def rows_at(self, number: int, row: int) -> tuple[Batch, int]:
        """The batch that holds a row of a part, and the row's place in it; parquet reads one row group."""
        for shard in self.plan.shards:
            if shard.part == number and shard.start <= row < shard.stop:
                return _cached_rows(self, self.path / shard.path, number, row - shard.start)
        raise IndexError(row)


@lru_cache(maxsize=4)
def _row_group(path: Path, stamp: int, group: int, schema: pa.Schema) -> pa.Table:  # noqa: ARG001 - the stamp is part of the key
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        check_columns(file.schema_arrow, schema, path)
        return file.read_row_group(group, columns=schema.names).select(schema.names).cast(schema)


def _cached_rows(folder: Folder, path: Path, number: int, row: int) -> tuple[Batch, int]:
    job = folder.plan.parts[number].job
    if folder.plan.format == "parquet":
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(path) as file:
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            for group, size in enumerate(sizes):
                if row < size:
                    table = _row_group(path, path.stat().st_mtime_ns, group, folder.schema)
                    return columns.from_arrow(table.slice(row, 1), job), 0
                row -= size
        except (OSError, pa.ArrowException) as problem:
            raise FileError(f"cannot read {shown(str(path))}: {str(problem).splitlines()[0]}") from None
        raise FileError(f"{shown(str(path))} has fewer rows than its manifest says; run `recombine verify`.")
    for table in folder.tables(path):
        if row < table.num_rows:
            return columns.from_arrow(table.slice(row, 1), job), 0
        row -= table.num_rows
    raise FileError(f"{shown(str(path))} has fewer rows than its manifest says; run `recombine verify`.")


def open_folder(path: str | Path) -> Folder:
    """The folder at this path; unfinished, foreign or damaged ones are a clear error."""
    folder = check_path(path)
    if not folder.is_dir():
        raise FileError(f"{shown(str(path))} is not a folder.")
    if not (folder / MANIFEST).is_file():
        if (folder / RECORDS).is_dir():
            raise FileError(f"{shown(str(path))} is unfinished: run the same generate command again, or `recombine merge`.")
        raise FileError(f"{shown(str(path))} has no {MANIFEST}: it was not made by `recombine generate`.")
    manifest = read_json(folder / MANIFEST, MANIFEST_LIMIT)
    if not isinstance(manifest, dict) or "plan" not in manifest:
        raise FileError(f"{shown(str(folder / MANIFEST))} is not a manifest of Recombine.")
    plan = Plan.from_json(manifest["plan"], str(folder / MANIFEST))
    recipes = find_family(plan.family).RECIPES
    for part in plan.parts:
        current = recipes[part.job.recipe].version
        if part.job.version != current:
            raise FileError(
                f"{shown(str(path))} was made by version {part.job.version} of {plan.family} {part.job.recipe}; "
                f"this package has version {current}. Generate it again."
            )
    return Folder(folder, manifest, plan)


def fingerprint(chunks: list[str]) -> str:
    """One digest over the chunk digests of logical rows, in order."""
    return hashlib.blake2b("".join(chunks).encode(), digest_size=16).hexdigest()


def part_summary(part: PartPlan, records: list[Any]) -> dict[str, Any]:
    """What the manifest says of one part."""
    rejections: dict[str, int] = {}
    for record in records:
        for reason, count in record.rejections.items():
            rejections[reason] = rejections.get(reason, 0) + count
    job = part.job
    return {
        "split": job.split,
        "part": job.part,
        "recipe": job.recipe,
        "rows": part.rows,
        "sampled_from": part.available if part.is_sample else None,
        "rejections": dict(sorted(rejections.items())),
        "fingerprint": fingerprint([chunk for record in records for chunk in record.chunks]),
        "shards": [
            {
                "path": r.path,
                "rows": r.rows,
                "bytes": r.bytes,
                "sha256": r.sha256,
                "chunks": list(r.chunks),
                "rejections": dict(r.rejections),
            }
            for r in records
        ],
    }
