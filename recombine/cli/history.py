"""List earlier runs of the same suite, with intervals, the change since the exam before, and the trend.

recombine history reports/
"""

from __future__ import annotations

import argparse

from recombine.cli.printing import print_json, print_table, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine history`."""
    parser.add_argument("place", nargs="+", help="a report of `recombine evaluate`, or a folder with reports in it")
    parser.add_argument("--suite", default="fresh", metavar="NAME", help="the suite (default fresh)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each run and exam, and a trend for each run with three exams or more."""
    from dataclasses import asdict

    from recombine.errors import UsageError, shown
    from recombine.evaluate.history import change, exams, find_reports, sittings, trend

    reported = sittings(find_reports(arguments.place), arguments.suite)
    found = exams(reported)
    if not found:
        raise UsageError(
            f"there is no report on the suite {shown(arguments.suite)} in {', '.join(map(shown, arguments.place))}. "
            "Make one: recombine evaluate --data SUITE --answers RUN --out DIR."
        )
    by_run: dict[str, list[object]] = {}
    rows = []
    for item in found:
        earlier = [other for other in found if other.run == item.run and other.seed < item.seed]
        rows.append((item.run, item.seed, item.sets, item.text, change(earlier[-1], item) if earlier else ""))
        by_run.setdefault(item.run, []).append(item)
    trends = {name: trend([item for item in found if item.run == name]) for name in by_run}
    if arguments.json:
        print_json({
            "suite": arguments.suite,
            "exams": [asdict(item) for item in found],
            "trends": {name: asdict(value) if value else None for name, value in trends.items()},
        })  # fmt: skip
        return 0
    print_table("", ("run", "exam (seed)", "sets", "accuracy", "since the exam before"), rows)
    if len(found) < len(reported):
        say(f"{len(reported) - len(found)} other reports on the same exams are left out; the newest of each exam counts.")
    for name, value in trends.items():
        if value:
            say(f"{name}: {value.text}")
    return 0
