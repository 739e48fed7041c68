"""Where an example comes from: its id, a folder that `generate` made, or a released file. And how to move among its neighbours."""

from __future__ import annotations

import functools
import heapq
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlencode

from recombine.abilities import Faceted
from recombine.core import Batch, Example, Family, Job, Problem
from recombine.data.audit import judge, read_rows
from recombine.data.ids import locate
from recombine.errors import UnknownName, UsageError, shown
from recombine.families import family as find_family
from recombine.files import reason_of
from recombine.jobs import make_job

MOST_ROWS_SCANNED = 4_000
MOST_ROWS_READ = 400
"""Rows that a filter by a shortcut reader looks at: each needs its explanation."""
MOST_FILE_ROWS = 5_000
MOST_ENTRIES = 2_000
"""Entries of a folder that its page lists."""
FIRST_BATCH = 64
MOST_INDEX = 10**12
WARM_ROWS = 12
"""Rows that are made, explained and checked when a family is opened first."""


@dataclass(frozen=True)
class Filter:
    """Which rows are wanted: a predicate over facets, a range of a dial, rows that a shortcut reader gets wrong."""

    predicate: str = ""
    dial: str = ""
    low: str = ""
    high: str = ""
    reader: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """The filter that an address holds."""
        names = ("where", "dial", "low", "high", "reader")
        return cls(*(query.get(name, "").strip()[:500] for name in names))

    @property
    def query(self) -> str:
        """The filter as part of an address, with `?`; empty if it wants nothing."""
        named = {"where": self.predicate, "dial": self.dial, "low": self.low, "high": self.high, "reader": self.reader}
        given = {name: value for name, value in named.items() if value}
        return "?" + urlencode(given) if given else ""

    @property
    def is_empty(self) -> bool:
        """Whether every row is wanted."""
        return not (self.predicate or (self.dial and (self.low or self.high)) or self.reader)

    def fits(self, family: Family, batch: Batch) -> Iterator[int]:
        """The rows of the batch that are wanted, in order."""
        import numpy as np

        wanted = np.ones(len(batch), np.bool_)
        if self.predicate:
            from recombine.predicates import atoms, mask, parse

            if not isinstance(family, Faceted):
                raise UsageError(f"{family.NAME} has no facets, so it cannot be filtered by a predicate.")
            parsed = parse(self.predicate, family.FACETS, family.NAME)
            wanted &= mask(parsed, family.facet_columns(batch, sorted({atom.facet for atom in atoms(parsed)})))
        if self.dial and (self.low or self.high):
            if self.dial not in family.DIALS:
                raise UnknownName(f"dial of {family.NAME}", self.dial, family.DIALS)
            values = np.array([float(batch.row(row)[self.dial]) for row in range(len(batch))])
            wanted &= (values >= _number(self.low, float("-inf"))) & (values <= _number(self.high, float("inf")))
        for row in np.flatnonzero(wanted).tolist():
            if not self.reader or _misleads(family.example(batch, row), self.reader):
                yield row


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text) if text else otherwise
    except ValueError:
        raise UsageError(f"{shown(text)} is no number.") from None


def _misleads(example: Example, reader: str) -> bool:
    """Whether the reader answers, and wrongly."""
    return any(s.name == reader and s.answer is not None and s.answer != example.answer for s in example.explain().shortcuts)


# --- by id -----------------------------------------------------------------------------------------------------------


_WARMED: set[str] = set()
_WARMING = threading.Lock()


def _warm(name: str) -> None:
    """Make, explain and check a few rows once, so that the family's kernels are compiled and its tables are loaded."""
    if name in _WARMED:
        return
    with _WARMING:
        if name in _WARMED:
            return
        family = find_family(name)
        job = make_job(family, recipe="sound")
        batch = family.generate(job.rows(0, min(job.stop, WARM_ROWS)))
        for row in range(len(batch)):
            example = family.example(batch, row)
            example.explain()
            example.validate()
        _WARMED.add(name)


def warming() -> bool:
    """Whether a family is being prepared now."""
    return _WARMING.locked()


@functools.lru_cache(maxsize=512)
def example_at(identifier: str) -> Example:
    """The example with this id; kept, because a person asks for the same one again and again."""
    family, job, row = locate(identifier)
    if row > MOST_INDEX:
        raise UsageError(f"the index {row} is above {MOST_INDEX}.")
    if job.recipe == "sound":
        _warm(family.NAME)
    return family.example(family.generate(job.rows(row, row + 1)), 0)


def address_of(identifier: str) -> str:
    """The address of the example with this id."""
    return "/" + quote(identifier, safe="/@+=,:")


def neighbour(identifier: str, move: str, wanted: Filter) -> str:
    """The id of the next, previous or a random row that the filter wants; an error if none is near."""
    family, job, row = locate(identifier)
    is_finite = family.SPLITS[job.split].parts[job.part].finite
    end = job.stop if is_finite else MOST_INDEX
    if move == "random":
        row, step = secrets.randbelow(max(1, job.stop)), 1
        if wanted.is_empty:
            return job.id(row)
    elif move in ("next", "previous"):
        step = 1 if move == "next" else -1
        row += step
    else:
        raise UnknownName("move", move, ("next", "previous", "random"))
    if not 0 <= row < end:
        raise UsageError(f"{job.split}/{job.part} has no row {row}: it holds rows 0 to {end - 1:,}.")
    if wanted.is_empty:
        return job.id(row)
    return job.id(_search(family, job, row, step, end, wanted))


def _search(family: Family, job: Job, row: int, step: int, end: int, wanted: Filter) -> int:
    """The nearest wanted row at or beyond `row`."""
    most = MOST_ROWS_READ if wanted.reader else MOST_ROWS_SCANNED
    seen, size = 0, FIRST_BATCH
    while seen < most and 0 <= row < end:
        size = min(size, most - seen)
        start, stop = (row, min(end, row + size)) if step > 0 else (max(0, row + 1 - size), row + 1)
        batch = family.generate(job.rows(start, stop))
        found = wanted.fits(family, batch)
        first = next(found, None) if step > 0 else functools.reduce(lambda _, place: place, found, None)
        if first is not None:
            return start + first
        seen += stop - start
        row, size = (stop if step > 0 else start - 1), 2 * size
    raise UsageError(f"none of the {seen:,} rows looked at fits the filter; loosen it, or go to another place and try again.")


# --- folders and files -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A path inside one of the folders that the server may open."""

    root: int
    relative: str
    path: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"/files/{self.root}/{quote(self.relative)}".rstrip("/")


def place_of(folders: tuple[Path, ...], root: int, relative: str) -> Place:
    """The place, if it lies inside the folder after every link is followed; otherwise an error that names nothing else."""
    if not 0 <= root < len(folders):
        raise UsageError(f"there is no folder number {root}; start the server with --folder.")
    top = folders[root].resolve()
    if "\0" in relative:
        raise UsageError("this path is not inside the folder.")
    try:
        path = (top / relative).resolve()
        is_inside = path == top or path.is_relative_to(top)
        if not is_inside or not path.exists():
            raise UsageError("this path is not inside the folder.")
    except OSError:
        raise UsageError("this path is not inside the folder.") from None
    return Place(root, "" if path == top else path.relative_to(top).as_posix(), path)


def listing(place: Place) -> list[tuple[str, str, str]]:
    """(name, address, kind) of what a folder holds: folders first, each by name; hidden names are left out."""
    found = []
    with readable():
        seen = (path for path in place.path.iterdir() if not path.name.startswith(".") and (path.is_dir() or path.is_file()))
        for path in heapq.nsmallest(MOST_ENTRIES, seen, key=lambda p: (not p.is_dir(), p.name)):
            relative = f"{place.relative}/{path.name}".lstrip("/")
            kind = ("data set" if (path / "manifest.json").is_file() else "folder") if path.is_dir() else "file"
            found.append((path.name, Place(place.root, relative, path).url, kind))
    return found


@contextmanager
def readable() -> Iterator[None]:
    """The system's refusal to read a place becomes an error that names no path: a visitor need not know where folders lie."""
    try:
        yield
    except OSError as problem:
        raise UsageError(f"this place cannot be read: {reason_of(problem)}.") from problem


def file_rows(path: Path, family: str) -> tuple[Example | Problem, ...]:
    """The first rows of a released file, read as this family."""
    with readable():
        return _file_rows(path, family, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _file_rows(path: Path, family: str, _stamp: int) -> tuple[Example | Problem, ...]:
    return tuple(islice(read_rows(find_family(family), path), MOST_FILE_ROWS))


def judged(rows: tuple[Example | Problem, ...]) -> Iterator[tuple[int, str, Problem | None]]:
    """(row, place, problem) of every broken law, and one line without problem for each row that breaks none."""
    for number, row in enumerate(rows):
        if isinstance(row, Problem):
            yield number, row.place, row
            continue
        place = str(row.meta.get("place", row.id))
        problems = judge(row.family, row)
        if not problems:
            yield number, place, None
        for problem in problems:
            yield number, place, problem
