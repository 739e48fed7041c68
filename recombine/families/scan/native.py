"""The released layouts: `IN: command OUT: actions` a line, and NACS's parallel `.src` / `.trg` files.

NACS has no files of its own: it is the same files read backwards, so both directions read and write the same lines.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

import numpy as np

from recombine.core import Batch, Problem
from recombine.errors import FileError, UsageError, shown
from recombine.families.scan.corpus import Ints, corpus, places
from recombine.families.scan.plan import parse_actions
from recombine.families.scan.splits import MCD_ROWS
from recombine.files import check_path, read_lines

NATIVE_NAME = "tasks_{part}_{split}.txt"
DEV = {"validation": ("dev", "validation", "valid")}
"""Other names under which a part's published file is known."""


def read_pairs(path: Path) -> Iterator[tuple[str, str, str] | Problem]:
    """(place, command, actions) of every row; a Problem for a line that is none."""
    parallel = re.fullmatch(r"(.+)\.(?:src|trg)(\.gz)?", path.name)
    if parallel is None:
        yield from _read_lines(path)
    else:
        name, zipped = parallel[1], parallel[2] or ""
        yield from _read_parallel(path.with_name(f"{name}.src{zipped}"), path.with_name(f"{name}.trg{zipped}"))


def _read_lines(path: Path) -> Iterator[tuple[str, str, str] | Problem]:
    """`IN: command OUT: actions` lines; blank lines at the end are no rows, elsewhere the first of them is a Problem."""
    blank = ""
    for number, line in read_lines(path):
        place = f"line {number}"
        if not line.strip():
            blank = blank or place
            continue
        if blank:
            yield Problem("malformed_row", "a blank line between rows", place=blank)
            blank = ""
        head, middle, actions = line.partition(" OUT: ")
        if not middle or not head.startswith("IN: ") or " OUT: " in actions:
            yield Problem("malformed_row", f"expected 'IN: command OUT: actions', found {shown(line)}", place=place)
        else:
            yield place, head.removeprefix("IN: "), actions


def _read_parallel(source: Path, target: Path) -> Iterator[tuple[str, str, str] | Problem]:
    """Commands in one file, their actions in the other, line by line."""
    for left, right in zip_longest(read_lines(source), read_lines(target)):
        number, _ = left or right
        place = f"line {number}"
        if left is None or right is None:
            short = source if left is None else target
            yield Problem("malformed_row", f"{shown(short.name)} ends before {place} of its partner", place=place)
            return
        yield place, left[1].strip(), right[1].strip()


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """All rows as `IN: command OUT: actions` lines."""
    for batch in batches:
        command, actions = batch.columns["command"], batch.columns["actions"]
        out.writelines(f"IN: {command[i]} OUT: {actions[i]}\n" for i in range(len(batch)))


# --- the published MCD files -----------------------------------------------------------------------------------------


def mcd_rows(split: str, part: str, folder: str) -> Ints:
    """The places, in the corpus, of the rows of a published MCD file; checked to be whole and rightly labelled."""
    path = _published(split, part, check_path(folder))
    stamp = path.stat()
    return _mcd_rows(path, MCD_ROWS[part], stamp.st_mtime_ns, stamp.st_size)


def _published(split: str, part: str, folder: Path) -> Path:
    names = [
        name + ending
        for word in DEV.get(part, (part,))
        for name in (f"tasks_{word}_{split}.txt", f"{split}_{word}.txt")
        for ending in ("", ".gz")
    ]
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise UsageError(f"{shown(str(folder))} has no file for {split} {part}; it may be called {', '.join(names)}.")
    return found


@functools.lru_cache(maxsize=8)
def _mcd_rows(path: Path, expected: int, _changed: int, _bytes: int) -> Ints:
    found, letters = [], corpus().letters
    for row in read_pairs(path):
        if isinstance(row, Problem):
            raise FileError(f"{row.place} of {shown(str(path))}: {row.text}.")
        place, command, actions = row
        index = places().get(command)
        if index is None or parse_actions(actions) != letters[index]:
            raise FileError(f"{place} of {shown(str(path))} is not a rightly labelled SCAN row: {shown(command)}.")
        found.append(index)
    if len(found) != expected:
        raise FileError(f"{shown(str(path))} holds {len(found):,} rows; the published file has {expected:,}.")
    return np.array(found, np.int32)
