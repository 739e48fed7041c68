"""What verbs print with: tables, progress on a terminal, JSON for scripts. Rich is imported when something is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def say(text: str) -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table: drawn by rich on a terminal, plain columns when piped."""
    cells = [[str(cell) for cell in row] for row in rows]
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

    table = Table(title=title or None, title_justify="left", header_style="bold")
    for name, right in zip(header, numeric, strict=True):
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    Console(markup=False).print(table)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").replace("-", "").strip().isdigit() or text == ""


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function that takes finished rows: a bar with rate and time left on a terminal, nothing when piped."""
    if not sys.stderr.isatty():
        yield lambda _rows: None
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
        task = bar.add_task(title, total=total, rate="")

        def tick(rows: int) -> None:
            bar.advance(task, rows)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield tick
