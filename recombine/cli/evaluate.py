"""Score answers, and say what went wrong and how sure we are.

Answers are JSON lines with `id` and `answer`. Writes index.html (self-contained), report.md and report.json.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.files import Kind, is_report

REPORT = Kind("a report of `recombine evaluate`", is_report)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine evaluate`."""
    parser.add_argument("--data", required=True, metavar="DIR", help="a folder made by recombine generate")
    parser.add_argument(
        "--answers",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="answers as JSON lines; may be repeated to compare runs",
    )
    parser.add_argument(
        "--with",
        action="append",
        dest="baselines",
        metavar="NAME",
        help="a built-in answerer beside them: oracle, random, majority, bag_of_words, nearest_neighbour, shortcut:NAME, or all-baselines",
    )
    parser.add_argument("--part", action="append", default=[], metavar="[SPLIT/]PART", help="only this part; may be repeated")
    parser.add_argument("--out", metavar="DIR", help="where the report goes")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, print the headline, write the report."""
    from recombine.evaluate.answers import read_answers
    from recombine.evaluate.evaluate import evaluate, findings
    from recombine.evaluate.report import write_report
    from recombine.files import own_folder

    out = own_folder(arguments.out, REPORT) if arguments.out else None
    answers = {}
    for word in arguments.answers:
        name, equals, file = word.partition("=")
        path = Path(file if equals else word)
        answers[name if equals else path.stem] = read_answers(path)
    with progress("evaluate", 0) as tick:
        evaluation = evaluate(
            arguments.data, answers, baselines=arguments.baselines or ["majority"], parts=arguments.part, on_rows=tick
        )
    found = findings(evaluation)
    page = write_report(evaluation, out) if out else None
    if arguments.json:
        print_json(found)
        return 0
    rows = []
    for key, part in found["parts"].items():
        for name, result in part["runs"].items():
            mistake = next((m["sentence"] for m in result["mistakes"] if m["above_chance"]), "") if name in answers else ""
            rows.append((key, name, result["accuracy"]["text"], f"{result['accuracy']['rows']:,}", mistake))
    print_table("", ("set", "answerer", "accuracy", "rows", "main mistake"), rows)
    if page:
        say(f"open {page}")
    return 0
