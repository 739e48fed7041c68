"""The distributions of a folder's columns, as numbers and small pictures like the papers' figures. Streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recombine import charts
from recombine.abilities import Probing
from recombine.columns import Coded, Column, Ragged, Text, values_of
from recombine.core import Batch
from recombine.data.folders import Folder, open_folder

MOST_VALUES = 400
"""Columns with more distinct values are left out unless they are asked for by name."""
SKIPPED_TYPES = ("uint64", "binary")


@dataclass(frozen=True)
class Distribution:
    """How often each value of a column occurs in a part; `numeric` values are whole numbers."""

    column: str
    numeric: bool
    counts: Mapping[Any, int]

    @property
    def total(self) -> int:
        """All values counted (list columns count each element)."""
        return sum(self.counts.values())

    def mean(self) -> float | None:
        """The mean of a numeric column."""
        return sum(value * count for value, count in self.counts.items()) / self.total if self.numeric and self.total else None

    def picture(self) -> str:
        """A small SVG: columns for numbers, bars for names."""
        if self.numeric:
            return charts.columns(self.column, self.counts)
        ordered = sorted(self.counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return charts.bars(self.column, {str(name): count for name, count in ordered}, most=16)


def stats(
    path: str | Path, on_rows: Callable[[int], None] | None = None, asked: Collection[str] = ()
) -> dict[str, dict[str, Distribution]]:
    """`split/part` -> column -> distribution, for every column with few different values, and for those asked for by name."""
    folder = open_folder(path)
    found = {}
    for number, part in enumerate(folder.plan.parts):
        found[f"{part.job.split}/{part.job.part}"] = part_stats(folder, number, on_rows, asked=asked)
    return found


def probed(path: str | Path) -> list[Mapping[str, str]]:
    """The accuracy of the family's own baselines on the folder, line by line; empty for a family without them."""
    folder = open_folder(path)
    if not isinstance(folder.family, Probing):
        return []
    parts = {f"{part.job.split}/{part.job.part}": folder.batches(n) for n, part in enumerate(folder.plan.parts)}
    return list(folder.family.probe_parts(parts))


def part_stats(
    folder: Folder,
    number: int,
    on_rows: Callable[[int], None] | None = None,
    most_rows: int | None = None,
    asked: Collection[str] = (),
) -> dict[str, Distribution]:
    """The distributions of one part, or of its first `most_rows` rows (rounded up to a chunk)."""
    schema = folder.family.SCHEMA
    counters: dict[str, Counter[Any] | None] = {name: Counter() for name, kind in schema.items() if kind not in SKIPPED_TYPES}
    seen = 0
    for batch in folder.batches(number):
        for name, counter in counters.items():
            if counter is not None:
                _count(batch, name, counter)
                if len(counter) > MOST_VALUES and name not in asked:
                    counters[name] = None
        seen += len(batch)
        if on_rows is not None:
            on_rows(len(batch))
        if most_rows is not None and seen >= most_rows:
            break
    return {
        name: Distribution(name, _is_numeric(schema[name]), dict(sorted(counter.items(), key=lambda pair: pair[0])))
        for name, counter in counters.items()
        if counter and (name in asked or _is_distribution(schema[name], counter))
    }


def _is_distribution(kind: str, counter: Counter[Any]) -> bool:
    """Whether a chart of the column is useful: numbers with two or more values, or names that occur three times on average."""
    return len(counter) > 1 and (_is_numeric(kind) or 3 * len(counter) <= counter.total())


def _is_numeric(kind: str) -> bool:
    return "int" in kind


def _count(batch: Batch, name: str, counter: Counter[Any]) -> None:
    values, counts = _unique(batch.columns[name])
    for value, count in zip(values, counts, strict=True):
        counter[value] += count


def _unique(column: Column) -> tuple[list[Any], list[int]]:
    if isinstance(column, Ragged):
        return _unique(column.values)
    if isinstance(column, Coded):
        codes, counts = np.unique(column.codes, return_counts=True)
        return [column.values[int(code)] for code in codes], counts.tolist()
    if isinstance(column, Text):
        texts = Counter(values_of(column))
        return list(texts), list(texts.values())
    values, numbers = np.unique(np.asarray(column), return_counts=True)
    return values.tolist(), numbers.tolist()
