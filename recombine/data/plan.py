"""What a folder will hold, decided before the first row is made: parts, sizes, shards. A function of the request alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recombine import keys
from recombine.abilities import Cutting, Filing, Picking
from recombine.core import Batch, Family, Job
from recombine.data.columns import join, take
from recombine.errors import FileError, UnknownName, UsageError, shown
from recombine.families import family as find_family
from recombine.jobs import make_job, part_size

CHUNK_ROWS = 10_000
"""Rows that are generated, hashed and written together; the unit of the fingerprint."""
SHARD_ROWS = 100_000
"""Rows of one file, in the formats that can be split."""
SAMPLE_BLOCK_ROWS = 1_000
"""A sample of a finite part generates no more rows than these around each pick."""
SUFFIXES = {"parquet": "parquet", "jsonl": "jsonl", "native": ""}
"""File formats, and the ending that each gives its files (`native` names its own)."""


@dataclass(frozen=True)
class PartPlan:
    """One part of the folder: `rows` of it, out of `available` if it is finite (then a smaller number is a sample)."""

    job: Job
    rows: int
    available: int | None

    @property
    def is_sample(self) -> bool:
        """Whether only some rows of a finite part are taken."""
        return self.available is not None and self.rows < self.available

    @cached_property
    def picks(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The indices of a sampled part, ascending; fixed by the job and the size."""
        stream = keys.Stream(self.job.key, "sample", self.rows)
        chosen = stream.sample(range(self.available or 0), self.rows)
        return np.array(sorted(chosen), dtype=np.int64)

    def batches(self, family: Family, start: int, stop: int) -> Iterator[Batch]:
        """Rows [start, stop) of this part of the folder, in chunks that end at multiples of CHUNK_ROWS."""
        while start < stop:
            end = min(stop, (start // CHUNK_ROWS + 1) * CHUNK_ROWS)
            yield self.at(family, np.arange(start, end)) if self.is_sample else family.generate(self.job.rows(start, end))
            start = end

    def at(self, family: Family, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Batch:
        """Some rows of this part of the folder, given in ascending order; only they and what lies close to them is generated."""
        picks = self.picks[rows] if self.is_sample else rows
        picked = family.pick(self.job, picks) if isinstance(family, Picking) else None
        if picked is not None:
            return picked
        pieces = []
        for block in np.split(picks, np.flatnonzero(np.diff(picks // SAMPLE_BLOCK_ROWS)) + 1):
            low, high = int(block[0]), int(block[-1]) + 1
            pieces.append(take(family.generate(self.job.rows(low, high)), block - low))
        return join(pieces)


@dataclass(frozen=True)
class Shard:
    """One file of the folder: rows [start, stop) of a part."""

    part: int
    start: int
    stop: int
    path: str


@dataclass(frozen=True)
class Plan:
    """The whole folder. `hash` names it: a folder is resumed only under the same plan."""

    family: str
    version: int
    format: str
    parts: tuple[PartPlan, ...]
    shard_rows: int = field(default_factory=lambda: SHARD_ROWS)

    @property
    def hash(self) -> str:
        """16 hex digits that stand for everything that decides the rows and their files."""
        return keys.digest(json.dumps(self.to_json(), sort_keys=True)).hex()[:16]

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """All files, in order; their number depends on the plan and on nothing else."""
        return tuple(shard for number, part in enumerate(self.parts) for shard in self._shards_of(number, part))

    def _shards_of(self, number: int, part: PartPlan) -> Iterator[Shard]:
        job, rows = part.job, part.rows
        if self.format == "native":
            family = find_family(self.family)
            if isinstance(family, Cutting):
                start = 0
                for stop, path in family.native_files(job, rows):
                    yield Shard(number, start, stop, path)
                    start = stop
                return
            own = f"{job.split}/{family.NATIVE_NAME.format(split=job.split, part=job.part)}"
            yield Shard(number, 0, rows, family.native_path(job) if isinstance(family, Filing) else own)
            return
        count = max(1, -(-rows // self.shard_rows))
        for i in range(count):
            path = f"{job.split}/{job.part}-{i:05d}-of-{count:05d}.{SUFFIXES[self.format]}"
            yield Shard(number, i * self.shard_rows, min(rows, (i + 1) * self.shard_rows), path)

    def to_json(self) -> dict[str, Any]:
        """A plain value from which `from_json` makes an equal plan."""
        return {
            "family": self.family,
            "version": self.version,
            "format": self.format,
            "shard_rows": self.shard_rows,
            "parts": [{"job": asdict(p.job), "rows": p.rows, "available": p.available} for p in self.parts],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], place: str) -> Plan:
        """The plan that a folder's own record describes; a record that is no plan is a `FileError`."""
        try:
            parts = tuple(PartPlan(_job(p["job"]), int(p["rows"]), _optional(p["available"])) for p in value["parts"])
            return cls(str(value["family"]), int(value["version"]), str(value["format"]), parts, int(value["shard_rows"]))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise FileError(
                f"{place} does not describe a folder of Recombine: {type(problem).__name__} at {problem}."
            ) from None


def _optional(value: Any) -> int | None:
    return None if value is None else int(value)


def _job(value: Mapping[str, Any]) -> Job:
    options = tuple((str(name), setting) for name, setting in value["options"])
    return Job(**{**value, "options": options})


def make_plan(
    family: str,
    splits: tuple[str, ...],
    parts: tuple[str, ...] = (),
    *,
    size: int | None = None,
    seed: int = 0,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
    format: str = "parquet",  # noqa: A002 - the word that users type
) -> Plan:
    """The plan for these splits and parts; without parts, each split's default ones. Checks every name and number."""
    found = find_family(family)
    if format not in SUFFIXES:
        raise UnknownName("format", format, SUFFIXES)
    plans: list[PartPlan] = []
    for split in splits or (next(iter(found.SPLITS)),):
        if split not in found.SPLITS:
            raise UnknownName(f"split of {family}", split, found.SPLITS)
        for name in parts or default_parts(found, split):
            plan = plan_part(found, make_job(found, split, name, recipe, seed, options), size)
            if plan not in plans:
                plans.append(plan)
    return Plan(found.NAME, plans[0].job.version, format, tuple(plans))


def default_parts(family: Family, split: str) -> tuple[str, ...]:
    """The parts that are written when none is named: aliased ones first (they are what the test set is a test of)."""
    chosen = family.SPLITS[split]
    aliased = [name for name, (other, part) in chosen.aliases.items() if family.SPLITS[other].parts[part].default]
    return (*aliased, *(name for name, part in chosen.parts.items() if part.default))


def plan_part(family: Family, job: Job, size: int | None) -> PartPlan:
    """How many rows of the job's part to take: all, a sample of a finite part, or any number of an unbounded one."""
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 10**11):
        raise UsageError(f"size is {shown(size)}, but must be a whole number from 1 to 10**11.")
    part = family.SPLITS[job.split].parts[job.part]
    full = part_size(family, job)
    if not part.finite:
        return PartPlan(job.rows(0, size or full), size or full, None)
    if size is not None and size > full:
        raise UsageError(f"size is {size:,}, but {job.split}/{job.part} of {family.NAME} has exactly {full:,} rows.")
    return PartPlan(job.rows(0, full), size or full, full)
