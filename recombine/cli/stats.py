"""Print the distributions of a folder's columns, with small pictures."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from recombine.cli.printing import PAGE, print_json, progress, say
from recombine.cli.requests import whole_number

if TYPE_CHECKING:
    from recombine.data.stats import Distribution


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine stats`."""
    parser.add_argument("dir", help="a folder made by recombine generate")
    parser.add_argument("--column", action="append", metavar="C", help="only this column; may be repeated")
    parser.add_argument("--html", metavar="FILE", help="write a page with the pictures")
    parser.add_argument("--most", type=whole_number, default=12, metavar="N", help="values to print per column (default 12)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Count, and show."""
    from recombine.charts import text_bar
    from recombine.data.folders import open_folder
    from recombine.data.stats import probed, stats
    from recombine.errors import UnknownName
    from recombine.files import own_file, write_text

    page_file = own_file(arguments.html, PAGE) if arguments.html else None
    folder = open_folder(arguments.dir)
    for name in arguments.column or ():
        if name not in folder.family.SCHEMA:
            raise UnknownName(f"column of {folder.family.NAME}", name, folder.family.SCHEMA)
    with progress("stats", sum(part.rows for part in folder.plan.parts)) as tick:
        found = stats(arguments.dir, tick, arguments.column or ())
    if arguments.column:
        found = {part: {name: d for name, d in columns.items() if name in arguments.column} for part, columns in found.items()}
    if page_file:
        write_text(page_file, _page(arguments.dir, found))
    if arguments.json:
        print_json(
            {
                part: {name: {str(k): v for k, v in d.counts.items()} for name, d in columns.items()}
                for part, columns in found.items()
            }
        )
        return 0
    for part, columns in found.items():
        for name, distribution in columns.items():
            mean = distribution.mean()
            say(f"\n{part}  {name}" + (f"  (mean {mean:.2f})" if mean is not None else ""))
            counts = list(distribution.counts.items())
            if not distribution.numeric:
                counts.sort(key=lambda pair: (-pair[1], str(pair[0])))
            longest = max(distribution.counts.values())
            for value, count in counts[: arguments.most]:
                say(f"  {str(value)[:40]:>20} {count:>9,}  {text_bar(count / longest)}")
            if len(counts) > arguments.most:
                say(f"  … and {len(counts) - arguments.most} more values")
    if not any(found.values()):
        say("no column has a distribution worth showing; --column NAME shows one anyway.")
    if not arguments.column:
        _print_probe(probed(arguments.dir))
    return 0


def _print_probe(lines: Sequence[Mapping[str, str]]) -> None:
    """The lines as a table."""
    if not lines:
        return
    widths = {name: max(len(name), *(len(line[name]) for line in lines)) for name in lines[0]}
    say("\nAccuracy of baselines that see only a little of an example:")
    for line in [{name: name for name in widths}, *lines]:
        say("  " + "  ".join(line[name].rjust(width) for name, width in widths.items()))


def _page(title: str, found: Mapping[str, Mapping[str, Distribution]]) -> str:
    from recombine.pages import page

    body = [f"<h1>{escape(title)}</h1>"]
    for part, columns in found.items():
        figures = "".join(f"<figure>{distribution.picture()}</figure>" for distribution in columns.values())
        body.append(f"<h2>{escape(part)}</h2><div class='all'>{figures}</div>")
    return page(title, "".join(body))
