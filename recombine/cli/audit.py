"""Judge a file that others released: wrong labels, ambiguous items, malformed rows, duplicates, leaks.

Exit code 0: no error; 1: errors; 2: the file cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recombine.cli.printing import PAGE, print_json, print_table, progress, say
from recombine.cli.requests import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine audit`."""
    parser.add_argument("file", help="a released file, plain or gzip")
    parser.add_argument(
        "--as", dest="family", required=True, metavar="FAMILY", help="the family whose layout this is (recombine list)"
    )
    parser.add_argument(
        "--against", metavar="FILE", help="another file of the same kind that must not share an example (say, train)"
    )
    parser.add_argument("--html", metavar="FILE", help="write the findings as a page")
    parser.add_argument(
        "--most", type=whole_number, default=20, metavar="N", help="problems to print (default 20; --json lists all)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Audit and print the findings."""
    from recombine.data.audit import audit, count_rows, flat
    from recombine.data.rows import audit_rows, read_rows
    from recombine.files import own_file, write_text

    page_file = own_file(arguments.html, PAGE) if arguments.html else None
    is_watched = sys.stderr.isatty() and arguments.family != "rows"
    with progress("audit", count_rows(arguments.file, arguments.family) if is_watched else 0) as tick:
        if arguments.family == "rows":
            other = read_rows(Path(arguments.against)) if arguments.against else ()
            found = audit_rows(read_rows(Path(arguments.file)), other, path=arguments.file)
        else:
            found = audit(arguments.file, arguments.family, against=arguments.against, on_rows=tick)
    if page_file:
        write_text(page_file, found.to_html())
    if arguments.json:
        print_json(found.to_json())
        return 0 if found.ok else 1
    say(found.headline)
    rows = [
        ("checked", f"{found.checked:,}"),
        ("wrong labels", f"{found.wrong_labels:,}"),
        ("ambiguous", f"{found.ambiguous:,}"),
    ]
    rows += [("duplicates", f"{found.duplicates:,}"), ("leaks", f"{found.leaks:,}")]
    rows += [(code, f"{count:,}") for code, count in found.counts.items()]
    print_table(arguments.file, ("finding", "count"), rows)
    for problem in found.problems[: arguments.most]:
        say(f"{problem.severity} {problem.code} at {problem.place}: {problem.text}")
    if len(found.problems) > arguments.most:
        say(f"… and {len(found.problems) - arguments.most:,} more; --json lists them")
    for score in found.shortcuts[:8]:
        say(f"a reader who {score.reader} ({score.name}): right in {score.accuracy:.1%} of {score.examples:,}")
    for name, value in flat(found.survey):
        say(f"{name}: {value}")
    return 0 if found.ok else 1
