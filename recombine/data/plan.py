"""The contents of a folder, decided before the first row is made: parts, sizes, shards. They depend on the request only."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from recombine import keys
from recombine.abilities import Bounded, Cutting, Filing, Listing, Picking
from recombine.batches import join, take
from recombine.core import Batch, Family, Job
from recombine.difficulty import DIFFICULTY
from recombine.errors import FileError, Infeasible, UnknownName, UsageError, shown
from recombine.families import family as find_family
from recombine.jobs import default_split, make_job, part_size, with_predicate
from recombine.schemas import MOST_ROWS, check, listing, option, optional, pair, record, text, whole

CHUNK_ROWS = 10_000
"""Rows that are generated, hashed and written together; the unit of the fingerprint."""
SHARD_ROWS = 100_000
"""Rows of one file, in the formats that can be split."""
MOST_SHARDS = 10**6
"""The most files that a folder's record may describe."""
SAMPLE_BLOCK_ROWS = 1_000
"""A sample of a finite part generates no more rows than these around each pick."""
SUFFIXES = {"parquet": "parquet", "jsonl": "jsonl", "native": ""}
"""File formats, and the ending that each gives its files (`native` names its own)."""


@dataclass(frozen=True)
class PartPlan:
    """One part of the folder: `rows` of it, out of `available` if it is finite (then a smaller number is a sample).

    `chosen` lists the rows where they were searched for and not drawn, as for a split of large divergence.
    """

    job: Job
    rows: int
    available: int | None
    chosen: tuple[int, ...] = ()

    @property
    def is_sample(self) -> bool:
        """Whether only some rows of a finite part are taken."""
        return bool(self.chosen) or (self.available is not None and self.rows < self.available)

    @cached_property
    def picks(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The indices of a sampled part, ascending; fixed by the job and the size, or listed."""
        if self.chosen:
            return np.array(self.chosen, dtype=np.int64)
        stream = keys.Stream(self.job.key, "sample", self.rows)
        chosen = stream.sample(range(self.available or 0), self.rows)
        return np.array(sorted(chosen), dtype=np.int64)

    def has(self, index: int) -> bool:
        """Whether the row of this index is in this part of the folder."""
        if not self.is_sample:
            return 0 <= index < self.rows
        place = int(self.picks.searchsorted(index))
        return place < self.rows and int(self.picks[place]) == index

    def batches(self, family: Family, start: int, stop: int) -> Iterator[Batch]:
        """Rows [start, stop) of this part of the folder, in chunks that end at multiples of CHUNK_ROWS."""
        while start < stop:
            end = min(stop, (start // CHUNK_ROWS + 1) * CHUNK_ROWS)
            batch = self.at(family, np.arange(start, end)) if self.is_sample else family.generate(self.job.rows(start, end))
            if len(batch) != end - start:
                raise Infeasible(
                    f"{self.job.split}/{self.job.part} of {family.NAME} declares {self.rows:,} rows under recipe {self.job.recipe}, "
                    f"but its rule gives {start + len(batch):,}: the declared size is wrong."
                )
            yield batch
            start = end

    def at(self, family: Family, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Batch:
        """Some rows of this part of the folder, by ascending row numbers. Only these rows and rows close to them are generated."""
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
    """One file of the folder: rows [start, stop) of a part.

    A released layout may have several parts in one file: `more` are those after the first, and `stop` counts all rows.
    """

    part: int
    start: int
    stop: int
    path: str
    more: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The whole folder. `hash` names it: a folder is resumed only under the same plan."""

    family: str
    version: int
    format: str
    parts: tuple[PartPlan, ...]
    shard_rows: int = field(default_factory=lambda: SHARD_ROWS)

    @cached_property
    def hash(self) -> str:
        """16 hex digits that stand for everything that decides the rows and their files."""
        return keys.digest(json.dumps(self.to_json(), sort_keys=True)).hex()[:16]

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """All files, in order; their number depends on the plan and on nothing else."""
        made = tuple(shard for number, part in enumerate(self.parts) for shard in self._shards_of(number, part))
        return made if self.format != "native" else _joined(made)

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
            "parts": [
                {
                    "job": {**asdict(p.job), "options": [list(dial) for dial in p.job.options]},
                    "rows": p.rows,
                    "available": p.available,
                    **({"chosen": list(p.chosen)} if p.chosen else {}),
                }
                for p in self.parts
            ],
        }

    @classmethod
    def from_json(cls, value: Any, place: str) -> Plan:
        """The plan that a folder's own record describes; a record that is no plan is a `FileError`.

        Every name is looked up in the family's tables, so no path that follows from a plan can leave its folder.
        """
        check(value, PLAN_SHAPE, place)
        if value["format"] not in SUFFIXES:
            raise FileError(f"{place}: the format is {shown(value['format'])}, but must be one of {', '.join(SUFFIXES)}.")
        try:
            family = find_family(value["family"])
            parts = tuple(_part_of(family, part) for part in value["parts"])
        except UsageError as problem:
            raise FileError(f"{place} does not describe a folder of Recombine: {problem}") from None
        plan = cls(family.NAME, value["version"], value["format"], parts, value["shard_rows"])
        if sum(part.rows // plan.shard_rows for part in parts) > MOST_SHARDS:
            raise FileError(f"{place} describes more than {MOST_SHARDS:,} files.")
        if len({(part.job.split, part.job.part) for part in parts}) != len(parts):
            raise FileError(f"{place} names a part twice.")
        return plan


_JOB_SHAPE = record({
    "family": text(40), "version": whole(1, 10**6), "recipe": text(40), "split": text(200), "part": text(200),
    "seed": whole(0, (1 << 63) - 1), "options": listing(pair(text(60), option)), "start": whole(0, MOST_ROWS), "stop": whole(0, MOST_ROWS),
})  # fmt: skip
PLAN_SHAPE = record({
    "family": text(40), "version": whole(1, 10**6), "format": text(20), "shard_rows": whole(1, MOST_ROWS),
    "parts": listing(
        record(
            {"job": _JOB_SHAPE, "rows": whole(0, MOST_ROWS), "available": optional(whole(0, MOST_ROWS))},
            {"chosen": listing(whole(0, MOST_ROWS), least=1)},
        ),
        least=1,
    ),
})  # fmt: skip
"""What `.recombine/plan.json` and the manifest's `plan` must hold."""


def _part_of(family: Family, value: Mapping[str, Any]) -> PartPlan:
    """A part from a plan's record, checked: the family knows every name, and all numbers fit each other."""
    told = value["job"]
    names = [
        (f"recipe of {family.NAME}", told["recipe"], family.RECIPES),
        (f"split of {family.NAME}", told["split"], family.SPLITS),
    ]
    for kind, name, table in names:
        if name not in table:
            raise UnknownName(kind, name, table)
    split = family.SPLITS[told["split"]]
    if told["part"] not in split.parts:
        raise UnknownName(f"part of {family.NAME} {split.name}", told["part"], split.parts)
    if told["family"] != family.NAME or told["recipe"] not in split.recipes:
        raise UsageError(f"{split.name} is no split of {shown(told['family'])} with the recipe {shown(told['recipe'])}.")
    options = []
    for name, given in told["options"]:
        if name not in family.OPTIONS:
            raise UnknownName(f"option of {family.NAME}", name, family.OPTIONS)
        options.append((name, family.OPTIONS[name].parse(name, given)))
    job = Job(**{**{name: told[name] for name in _JOB_FIELDS}, "options": tuple(options)})
    rows, available = value["rows"], value["available"]
    if job.start != 0 or rows > job.stop or job.stop != (rows if available is None else available):
        raise UsageError(
            f"{job.split}/{job.part} has {rows:,} rows of {job.stop:,}, which does not fit {available} available ones."
        )
    part = split.parts[job.part]
    chosen = tuple(value.get("chosen", ()))
    if chosen:
        is_rising = all(a < b for a, b in itertools.pairwise(chosen))
        if available is None or not is_rising or len(chosen) != rows or chosen[-1] >= available:
            raise UsageError(f"the chosen rows of {job.split}/{job.part} are not {rows:,} rising numbers below {available}.")
        return PartPlan(job, rows, available, chosen)
    if job.version == family.RECIPES[job.recipe].version:
        known = None if not part.finite else available if isinstance(family, Listing) else part.rows(job.recipe)
        if available != known or (part.finite and available is None):
            raise UsageError(f"{job.split}/{job.part} has {known} available rows, not {available}.")
    return PartPlan(job, rows, available)


_JOB_FIELDS = tuple(f.name for f in fields(Job) if f.name != "options")


def _joined(shards: tuple[Shard, ...]) -> tuple[Shard, ...]:
    """Shards of one path as one shard."""
    found: dict[str, Shard] = {}
    for shard in shards:
        first = found.get(shard.path)
        if first is None:
            found[shard.path] = shard
        else:
            found[shard.path] = replace(first, stop=first.stop + shard.stop, more=(*first.more, shard.part))
    return tuple(found.values())


def make_plan(
    family: str,
    splits: tuple[str, ...],
    parts: tuple[str, ...] = (),
    *,
    size: int | Mapping[str, int] | None = None,
    seed: int = 0,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
    format: str = "parquet",  # noqa: A002 - the word that users type
) -> Plan:
    """The plan for these splits and parts; without parts, each split's default ones. Checks every name and number.

    `size` is the rows of each part, or rows by the part's name; a part that is not named keeps its own size.
    """
    found = find_family(family)
    if format not in SUFFIXES:
        raise UnknownName("format", format, SUFFIXES)
    plans: list[PartPlan] = []
    sizes = dict(size) if isinstance(size, Mapping) else {}
    if DIFFICULTY in (options or {}):
        if splits or parts:
            raise UsageError("difficulty stands for a split and a part of its own; leave out split and part.")
        if sizes:
            raise UsageError("difficulty has one part; give one size.")
        plans.append(
            plan_part(found, make_job(found, None, None, recipe, seed, options), None if isinstance(size, Mapping) else size)
        )
        return Plan(found.NAME, plans[0].job.version, format, tuple(plans))
    options = with_predicate(found, options)
    for split in splits or (default_split(found, options),):
        if split not in found.SPLITS:
            raise UnknownName(f"split of {family}", split, found.SPLITS)
        for name in parts or default_parts(found, split):
            wanted = sizes.get(name) if isinstance(size, Mapping) else size
            plan = plan_part(found, make_job(found, split, name, recipe, seed, options), wanted)
            if plan not in plans:
                plans.append(plan)
    names = {name for split in splits or (default_split(found, options),) for name in parts or default_parts(found, split)}
    if strange := sorted(set(sizes) - names):
        raise UnknownName("part in the size", strange[0], sorted(names))
    return Plan(found.NAME, plans[0].job.version, format, tuple(plans))


def default_parts(family: Family, split: str) -> tuple[str, ...]:
    """The parts that `generate` writes if the user names none. Aliased parts, such as a shared training part, come first."""
    chosen = family.SPLITS[split]
    aliased = [name for name, (other, part) in chosen.aliases.items() if family.SPLITS[other].parts[part].default]
    return (*aliased, *(name for name, part in chosen.parts.items() if part.default))


def plan_part(family: Family, job: Job, size: int | None) -> PartPlan:
    """How many rows of the job's part to take: all, a sample of a finite part, or any number of an unbounded one."""
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_ROWS):
        raise UsageError(f"size is {shown(size)}, but must be a whole number from 1 to 10**11.")
    part = family.SPLITS[job.split].parts[job.part]
    full = part_size(family, job)
    if not part.finite:
        if size is not None and size > full and isinstance(family, Bounded) and size > (most := family.bound(job)):
            raise UsageError(f"size is {size:,}, but {job.split}/{job.part} of {family.NAME} has only {most:,} rows.")
        return PartPlan(job.rows(0, size or full), size or full, None)
    if size is not None and size > full:
        raise UsageError(f"size is {size:,}, but {job.split}/{job.part} of {family.NAME} has exactly {full:,} rows.")
    return PartPlan(job.rows(0, full), size or full, full)
