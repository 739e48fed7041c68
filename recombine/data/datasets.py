"""Examples by index, generated on the fly or read from a folder: `recombine.load`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from recombine.batches import join, take, unpacked
from recombine.core import Batch, Example, Family, Job, Score
from recombine.data.ids import example_of
from recombine.data.plan import CHUNK_ROWS, PartPlan, plan_part
from recombine.data.windows import Window
from recombine.errors import UnknownName, UsageError, shown
from recombine.families import FAMILIES
from recombine.families import family as find_family
from recombine.files import is_folder
from recombine.jobs import make_job, with_predicate
from recombine.pages import table

if TYPE_CHECKING:
    from recombine.data.folders import Folder

FIRST_ROWS = 250
"""Rows that iteration makes first; then it doubles them, so that it starts at once and long ones reach the compiled kernels."""
MOST_ROWS = 4_000
"""Rows that iteration makes at once at most: an example that is kept keeps its batch in memory."""


@dataclass(frozen=True)
class Dataset(Sequence[Example]):
    """One part of a split as a sequence of examples. Indexing computes or reads only what it must.

    `most`: only so many first rows of a folder's part; None for all of them.
    """

    family: Family
    plan: PartPlan
    folder: Folder | None = None
    number: int = 0
    most: int | None = None

    @property
    def job(self) -> Job:
        """Family, recipe, split, part, seed and options of these rows."""
        return self.plan.job

    def __len__(self) -> int:
        return self.plan.rows if self.most is None else min(self.most, self.plan.rows)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The example at an index (negative counts from the end), or a list of them for a slice."""
        if isinstance(index, slice):
            return self._slice(range(*index.indices(len(self))))
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(f"{self.job.key} has {len(self):,} rows; there is no row {index}")
        batch, place = self._window.at(row)
        return self.family.example(batch, place)

    def _slice(self, rows: range) -> list[Example]:
        if rows.step != 1 or self.folder is not None:
            return [self[row] for row in rows]
        batches = [unpacked(batch) for batch in self.plan.batches(self.family, rows.start, rows.stop)]
        return [self.family.example(batch, place) for batch in batches for place in range(len(batch))]

    @cached_property
    def _window(self) -> Window:
        return Window(self._rows, len(self))

    def _rows(self, start: int, stop: int) -> Batch:
        """Rows [start, stop), made or read together."""
        if self.folder is not None:
            return self.folder.rows(self.number, start, stop)
        return join(list(self.plan.batches(self.family, start, stop)))

    def __getstate__(self) -> dict[str, object]:
        """What is pickled and copied: the description, not the rows in hand."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __iter__(self) -> Iterator[Example]:
        for batch in self.batches() if self.folder is not None else self._growing():
            values, example = unpacked(batch), self.family.example
            for row in range(len(batch)):
                yield example(values, row)

    def _growing(self) -> Iterator[Batch]:
        start, rows = 0, FIRST_ROWS
        while start < len(self):
            stop = min(start + rows, len(self))
            yield from self.plan.batches(self.family, start, stop)
            start, rows = stop, min(2 * rows, MOST_ROWS)

    def pick(self, rows: Sequence[int]) -> list[Example]:
        """The examples at these indices, in ascending order; a few out of many without making the rest."""
        chosen = sorted(rows)
        if self.folder is not None or not chosen:
            return [self[row] for row in chosen]
        if not 0 <= chosen[0] <= chosen[-1] < len(self):
            raise IndexError(f"{self.job.key} has {len(self):,} rows; there are no rows {chosen[0]} to {chosen[-1]}")
        batch = self.plan.at(self.family, np.array(chosen, dtype=np.int64))
        batch = unpacked(batch)
        return [self.family.example(batch, place) for place in range(len(batch))]

    def batches(self, rows: int = CHUNK_ROWS) -> Iterator[Batch]:
        """All rows as columns, at most `rows` at a time."""
        if self.folder is not None:
            yield from self._read(self.folder)
            return
        for start in range(0, len(self), rows):
            yield from self.plan.batches(self.family, start, min(start + rows, len(self)))

    def _read(self, folder: Folder) -> Iterator[Batch]:
        """The rows of the folder's part as its files hold them, up to the last one that is wanted."""
        left = len(self)
        for batch in folder.batches(self.number):
            if len(batch) >= left and self.most is not None:
                yield batch if len(batch) == left else take(batch, np.arange(left))
                return
            left -= len(batch)
            yield batch

    def __repr__(self) -> str:
        return f"Dataset({self.job.key!r}, {len(self):,} rows{f', from {self.folder.path}' if self.folder else ''})"

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks."""
        rows = [(e.id, *(str(value)[:300] for value in (next(iter(e.inputs.values()), ""), e.answer))) for e in self[:5]]
        return f"<p>{escape(repr(self))}</p>" + table(("id", "first input", "answer"), rows)


def load(
    source: str | Path,
    split: str | None = None,
    part: str | None = None,
    *,
    seed: int = 0,
    recipe: str | None = None,
    size: int | None = None,
    **options: object,
) -> Dataset:
    """A part of a family's split, generated as it is read; or of a folder that `generate` made, if `source` is a path.

    Of a folder, `size` takes the first rows. A seed, a recipe or an option that is not the folder's is an error; seed 0 is any.
    """
    if isinstance(source, str) and source in FAMILIES:
        family = find_family(source)
        return Dataset(family, plan_part(family, make_job(family, split, part, recipe, seed, options), size))
    if not is_folder(source):
        if isinstance(source, str) and re.fullmatch(r"[A-Za-z]{1,20}", source):
            raise UnknownName("family", source, FAMILIES)
        raise UsageError(f"{shown(str(source))} is neither a family ({', '.join(FAMILIES)}) nor a folder.")
    from recombine.data.folders import open_folder

    folder = open_folder(source)
    number = folder.part(split, part)
    plan, place = folder.plan.parts[number], shown(str(source))
    _check_request(folder.family, plan.job, place, seed, recipe, options)
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= plan.rows):
        raise UsageError(
            f"size is {shown(size)}, but {plan.job.split}/{plan.job.part} of {place} has {plan.rows:,} rows; "
            "take as many or fewer, or leave size out."
        )
    return Dataset(folder.family, plan, folder, number, size)


def _check_request(family: Family, job: Job, place: str, seed: int, recipe: str | None, options: Mapping[str, object]) -> None:
    """What is asked of a folder's rows must be what they were made with. 0 is the seed of callers that name none."""
    told: list[tuple[str, object, object]] = []
    if seed != 0:
        told.append(("seed", seed, job.seed))
    if recipe is not None:
        told.append(("recipe", recipe, job.recipe))
    for name, value in with_predicate(family, options).items():
        if name not in family.OPTIONS:
            raise UnknownName(f"option of {family.NAME}", name, family.OPTIONS)
        option = family.OPTIONS[name]
        told.append((name, option.parse(name, value), dict(job.options).get(name, option.default)))
    for name, asked, made in told:
        if asked != made:
            raise UsageError(
                f"{name} is {shown(asked)}, but the rows of {place} were made with {shown(made)}; "
                f"leave {name} out, or generate another folder."
            )


def example(identifier: str) -> Example:
    """The example with this id, made anew from the id alone."""
    return example_of(identifier)


def score(identifier: str, answer: str) -> Score:
    """The verdict on an answer to the example with this id."""
    return example(identifier).score(answer)
