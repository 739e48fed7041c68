"""A generated folder: its manifest, its files, and how rows are read back.

DIR/README.md                            dataset card; `datasets.load_dataset("DIR")` reads it
DIR/manifest.json                        what is here, written last: a folder without it is unfinished
DIR/<split>/<part>-00000-of-00002.parquet
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from recombine.core import Batch, Family
from recombine.data import columns
from recombine.data.formats import READERS, opened_parquet, read_group
from recombine.data.plan import PartPlan, Plan
from recombine.data.shards import RECORDS, SHARD_SHAPE
from recombine.errors import FileError, UsageError, shown
from recombine.families import family as find_family
from recombine.files import check_path, inside, read_json, told
from recombine.schemas import MOST_ROWS, anything, check, either, listing, mapping, option, optional, record, text, whole

MANIFEST = "manifest.json"
MANIFEST_LIMIT = 256 << 20
UNWEIGHED_ROWS = 1_000_000
"""Parts up to this size are opened without a check against the size of their files, because a false number of rows costs little."""
MOST_ROWS_PER_BYTE = 10
"""Rows per byte that no format reaches, because ids alone take more. A manifest that claims more rows is damaged."""


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

    @property
    def is_current(self) -> bool:
        """Whether this package makes the same rows: every part is of its recipe's present version."""
        recipes = self.family.RECIPES
        return all(part.job.version == recipes[part.job.recipe].version for part in self.plan.parts)

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
        return [inside(self.path, shard.path) for shard in self.plan.shards if shard.part == number]

    def batches(self, number: int) -> Iterator[Batch]:
        """The rows of a part, some thousands at a time; an error if a file has another number of rows than its manifest says."""
        for shard in self.plan.shards:
            if shard.part != number:
                continue
            file, read = inside(self.path, shard.path), 0
            for table in self.tables(file):
                read += table.num_rows
                yield columns.from_arrow(table, self.plan.parts[number].job)
            if read != shard.stop - shard.start:
                raise FileError(
                    f"{shown(str(file))} has {read:,} rows, its manifest says {shard.stop - shard.start:,}; run `recombine verify`."
                )

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

    def rows(self, number: int, start: int, stop: int) -> Batch:
        """Rows [start, stop) of a part; parquet reads the row groups that hold them."""
        pieces = []
        for shard in self.plan.shards:
            if shard.part == number and shard.start < stop and start < shard.stop:
                file = inside(self.path, shard.path)
                first, last = max(start, shard.start) - shard.start, min(stop, shard.stop) - shard.start
                pieces += list(_tables_at(self, file, first, last))
        job = self.plan.parts[number].job
        return columns.from_arrow(pa.concat_tables(pieces), job)

    def rows_at(self, number: int, row: int) -> tuple[Batch, int]:
        """The batch that holds a row of a part, and the row's place in it; parquet reads one row group."""
        return self.rows(number, row, row + 1), 0


@lru_cache(maxsize=4)
def _row_group(path: Path, stamp: int, group: int, schema: pa.Schema) -> pa.Table:  # noqa: ARG001 - the stamp is part of the key
    with opened_parquet(path, schema) as file:
        return read_group(file, group, schema, path)


@lru_cache(maxsize=256)
def _group_sizes(path: Path, stamp: int, schema: pa.Schema) -> tuple[int, ...]:  # noqa: ARG001 - the stamp is part of the key
    with opened_parquet(path, schema) as file:
        return tuple(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))


def _tables_at(folder: Folder, path: Path, start: int, stop: int) -> Iterator[pa.Table]:
    """The pieces of a file that together are its rows [start, stop)."""
    first = 0
    for size, table in _groups(folder, path):
        if first < stop and start < first + size:
            low, high = max(start - first, 0), min(stop - first, size)
            yield table().slice(low, high - low)
        first += size
        if first >= stop:
            return
    raise FileError(f"{shown(str(path))} has fewer rows than its manifest says; run `recombine verify`.")


def _groups(folder: Folder, path: Path) -> Iterator[tuple[int, Callable[[], pa.Table]]]:
    """The pieces in which a file is read: how many rows each has, and how to get it."""
    if folder.plan.format != "parquet":
        for read in folder.tables(path):
            yield read.num_rows, partial(lambda table: table, read)
        return
    with told("read", path):
        stamp = path.stat().st_mtime_ns if path.is_file() else 0
    for group, size in enumerate(_group_sizes(path, stamp, folder.schema)):
        yield size, partial(_row_group, path, stamp, group, folder.schema)


_DIGEST = text(32, "[0-9a-f]{32}")
MANIFEST_SHAPE = record({
    "family": text(40), "version": whole(1, 10**6), "package": text(100), "recipe": text(40), "seed": whole(),
    "split": either(listing(text(200)), text(200)), "options": mapping(option), "format": text(20), "counts": mapping(whole(0, MOST_ROWS)),
    "rejections": mapping(whole()), "fingerprint": _DIGEST, "plan": anything,
    "parts": listing(record({
        "split": text(200), "part": text(200), "recipe": text(40), "rows": whole(0, MOST_ROWS), "fingerprint": _DIGEST,
        "sampled_from": optional(whole(0, MOST_ROWS)), "rejections": mapping(whole()), "shards": listing(SHARD_SHAPE),
    })),
})  # fmt: skip
"""What manifest.json must hold; `Plan.from_json` checks its `plan`."""


def open_folder(path: str | Path) -> Folder:
    """The folder at this path; unfinished, foreign or damaged ones are a clear error. Folders of older versions open too."""
    folder = check_path(path)
    if not folder.is_dir():
        raise FileError(f"{shown(str(path))} is not a folder.")
    described = inside(folder, MANIFEST)
    with told("read", described):
        if not described.is_file():
            if (folder / RECORDS).is_dir():
                raise FileError(f"{shown(str(path))} is unfinished: run the same generate command again, or `recombine merge`.")
            raise FileError(f"{shown(str(path))} has no {MANIFEST}: it was not made by `recombine generate`.")
    manifest = read_json(described, MANIFEST_LIMIT)
    opened = Folder(folder, manifest, plan_of(manifest, shown(str(described))))
    _check_sizes(opened)
    return opened


def plan_of(manifest: Any, place: str) -> Plan:
    """The plan that a manifest holds; a value that is no manifest, or contradicts itself, is a `FileError`."""
    check(manifest, MANIFEST_SHAPE, place)
    plan = Plan.from_json(manifest["plan"], place)
    _check_agreement(manifest, plan, place)
    return plan


def _check_agreement(manifest: Mapping[str, Any], plan: Plan, place: str) -> None:
    """A `FileError` unless the manifest's description agrees with its plan."""
    first = plan.parts[0].job
    told_of = {
        "family": plan.family, "version": plan.version, "format": plan.format, "recipe": first.recipe, "seed": first.seed,
        "options": dict(first.options), "counts": {f"{p.job.split}/{p.job.part}": p.rows for p in plan.parts},
    }  # fmt: skip
    for name, value in told_of.items():
        if manifest[name] != value:
            raise FileError(f"{place} is damaged: {name} is {shown(manifest[name])}, but its plan says {shown(value)}.")
    for number, part in enumerate(plan.parts):
        if number >= len(manifest["parts"]):
            raise FileError(
                f"{place} is damaged: it tells of {len(manifest['parts'])} parts, but its plan has {len(plan.parts)}."
            )
        entry, job = manifest["parts"][number], part.job
        if (entry["split"], entry["part"], entry["recipe"], entry["rows"]) != (job.split, job.part, job.recipe, part.rows):
            raise FileError(f"{place} is damaged: parts[{number}] is not {job.split}/{job.part} with {part.rows:,} rows.")
        own = [(shard.path, shard.stop - shard.start) for shard in plan.shards if shard.part == number]
        if [(shard["path"], shard["rows"]) for shard in entry["shards"]] != own:
            raise FileError(f"{place} is damaged: the files of {job.split}/{job.part} are not those of its plan.")


def _check_sizes(folder: Folder) -> None:
    """A `FileError` if a large part claims more rows than its files can hold; also refuses links that lead out of the folder."""
    for number, part in enumerate(folder.plan.parts):
        held, files = 0, folder.files(number)
        if part.rows <= UNWEIGHED_ROWS:
            continue
        for file in files:
            with told("read", file):
                held += file.stat().st_size if file.is_file() else 0
        if part.rows > MOST_ROWS_PER_BYTE * held and held:
            raise FileError(
                f"{shown(str(folder.path / MANIFEST))} is damaged: {part.job.split}/{part.job.part} cannot have {part.rows:,} rows "
                f"in files of {held:,} bytes."
            )


def fingerprint(chunks: list[str]) -> str:
    """One digest over the chunk digests of logical rows, in order."""
    return hashlib.blake2b("".join(chunks).encode(), digest_size=16).hexdigest()


def part_summary(part: PartPlan, records: list[Any]) -> dict[str, Any]:
    """What the manifest says of one part."""
    rejections: dict[str, int] = {}
    for made in records:
        for reason, count in made.rejections.items():
            rejections[reason] = rejections.get(reason, 0) + count
    job = part.job
    return {
        "split": job.split,
        "part": job.part,
        "recipe": job.recipe,
        "rows": part.rows,
        "sampled_from": part.available if part.is_sample else None,
        "rejections": dict(sorted(rejections.items())),
        "fingerprint": fingerprint([chunk for made in records for chunk in made.chunks]),
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
