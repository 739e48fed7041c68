"""Printing for all verbs: tables, progress on a terminal, JSON for scripts. Rich is imported when something is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from recombine.errors import printable
from recombine.files import Kind, begins_with

PAGE = Kind("a page of Recombine", begins_with(b"<!doctype html><html lang='en'>"))


class Standing:
    """How many rows the running verb has done. The message after an interrupt prints it."""

    done: int = 0
    total: int = 0


def print_json(value: Any) -> None:
    """One JSON document on standard output; characters that a terminal could obey are written as JSON escapes."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not text.isascii():
        text = "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)
    sys.stdout.write(text + "\n")


def print_as(is_json: bool, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Do the work, which prints for people and returns what it found. As JSON, the findings go out and the rest to standard error."""
    if not is_json:
        return work()
    with redirect_stdout(sys.stderr):
        found = work()
    print_json(found)
    return found


def say(text: str) -> None:
    """Print a line on standard output. Control characters are escaped."""
    sys.stdout.write(printable(text) + "\n")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table: drawn by rich on a terminal, plain columns when piped."""
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    numeric = [all(_is_number(row[i]) for row in cells) for i in range(len(header))] if cells else [False] * len(header)
    if not sys.stdout.isatty():
        widths = [max([len(header[i]), *(len(row[i]) for row in cells)]) for i in range(len(header))]
        if title:
            say(title)
        for row in [list(header), *cells]:
            padded = [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric, strict=True)]
            say("  ".join(padded).rstrip())
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=printable(title) or None, title_justify="left", header_style="bold")
    for name, right in zip(header, numeric, strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    Console(markup=False).print(table)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").replace("-", "").strip().isdigit() or text == ""


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function that takes finished rows: a bar with rate and time left on a terminal, nothing when piped.

    A total of 0 is one that is not known: the bar then shows how many rows are done, and the rate.
    """
    Standing.done, Standing.total = 0, total

    def count(rows: int) -> None:
        Standing.done += rows

    if not sys.stderr.isatty():
        yield count
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(title).replace("[", "("), total=total or None, rate="")

        def tick(rows: int) -> None:
            count(rows)
            bar.advance(task, rows)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield tick
