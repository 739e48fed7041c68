"""Score answers, and say what went wrong and how sure we are.

Answers are JSON lines with `id` and `answer`. Writes index.html (self-contained), report.md and report.json.
With `--as FAMILY` the data are a file in a released layout, such as an example that you saved in the playground.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import whole_number
from recombine.errors import UsageError, shown
from recombine.files import Kind, begins_with, holds, is_report
from recombine.signature import is_signed

if TYPE_CHECKING:
    from recombine.evaluate.answers import Answer

REPORT = Kind("a report of `recombine evaluate`", is_report)
FIGURES = Kind(
    "figures of `recombine evaluate`",
    lambda folder: (folder / "accuracy.svg").is_file() and is_signed(".svg")(folder / "accuracy.svg"),
)
PAIRS_REPORT = Kind(
    "a report on matched pairs",
    lambda folder: holds(folder / "pairs_report.json", lambda found: isinstance(found["pairs"], list)),
)
LATEX = Kind("a table of `recombine evaluate`", begins_with("% ± is half of the clustered".encode()))

NOT_FOR_PAIRS = {
    "baselines": "--with", "part": "--part", "where": "--where", "rows": "--rows", "latex": "--latex", "figures": "--figures",
}  # fmt: skip
"""What the scores of matched pairs have no use for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine evaluate`."""
    parser.add_argument(
        "--data",
        action="append",
        required=True,
        metavar="DIR",
        help="a folder made by recombine generate, or a suite; may be repeated for one joint report",
    )
    parser.add_argument(
        "--as",
        dest="family",
        metavar="FAMILY",
        help="--data is a file in the released layout of this family; the ids are printed if no answers are given",
    )
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
    parser.add_argument(
        "--missing",
        choices=("wrong", "skip"),
        default="error",
        help="rows that a run does not answer: count them as wrong, or leave them out (otherwise they are an error)",
    )
    parser.add_argument("--rows", metavar="FILE", help="score only the rows whose ids this file lists, one a line")
    parser.add_argument(
        "--where",
        metavar="PREDICATE",
        help='score only the rows that fit: "verb = push and distance > 3" (facets: recombine list FAMILY --facets)',
    )
    parser.add_argument("--out", metavar="DIR", help="where the report goes")
    parser.add_argument(
        "--examples", type=whole_number, default=200, metavar="N", help="the most examples in the page (default 200)"
    )
    parser.add_argument(
        "--figures", metavar="DIR", help="write every chart as SVG and PDF and every table as CSV into this folder"
    )
    parser.add_argument("--latex", metavar="FILE", help="write the accuracies as a LaTeX table (booktabs)")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, print the headline, write the report."""
    from recombine.data.fresh import expand
    from recombine.evaluate.answers import read_ids
    from recombine.evaluate.evaluate import evaluate_all, planned_rows
    from recombine.evaluate.export import latex, write_figures
    from recombine.evaluate.findings import findings
    from recombine.evaluate.report import write_report
    from recombine.evaluate.verdict import coverage_lines, verdict
    from recombine.files import own_file, own_folder, write_text
    from recombine.pairs import is_pairs

    if arguments.family:
        return _run_file(arguments)
    if any(is_pairs(folder) for folder in arguments.data):
        return _run_pairs(arguments)
    out = own_folder(arguments.out, REPORT, made=False) if arguments.out else None
    figures = own_folder(arguments.figures, FIGURES, made=False) if arguments.figures else None
    table_file = own_file(arguments.latex, LATEX) if arguments.latex else None
    answers = _answers(arguments.answers)
    folders, suite = expand(arguments.data)
    baselines = arguments.baselines or ["majority"]
    only = read_ids(Path(arguments.rows)) if arguments.rows else None
    total = 0 if arguments.where else planned_rows(folders, answers, baselines, arguments.part, only, arguments.missing)
    with progress("evaluate", total) as tick:
        evaluation = evaluate_all(
            folders,
            answers,
            baselines=baselines,
            parts=arguments.part,
            missing=arguments.missing,
            rows=only,
            where=arguments.where,
            on_rows=tick,
        )
    found = {**findings(evaluation), "suite": suite}
    words = [
        "DIR" if before == "--out" else word for before, word in zip(["", *arguments.words], arguments.words, strict=False)
    ]
    command = shlex.join(["recombine", *words])  # the same report, wherever it goes
    for folder, kind in ((out, REPORT), (figures, FIGURES)):
        if folder is not None:
            own_folder(folder, kind)
    page = write_report(evaluation, out, examples=arguments.examples, command=command, found=found) if out else None
    if figures:
        write_figures(found, figures)
    if table_file:
        write_text(table_file, latex(found))
    if arguments.json:
        print_json(found)
        return 0
    rows = []
    for key, part in found["parts"].items():
        for name, result in part["runs"].items():
            mistake = next((m["sentence"] for m in result["mistakes"] if m["above_chance"]), "") if name in answers else ""
            counted = result["coverage"] or f"{result['accuracy']['rows']:,} rows"
            rows.append((key, name, counted, result["accuracy"]["text"], mistake))
    print_table("", ("set", "answerer", "answered", "accuracy", "main mistake"), rows)
    for line in [*coverage_lines(found), *verdict(found)]:
        say(line)
    if page:
        say(f"open {page}")
    return 0


def _answers(words: Sequence[str]) -> dict[str, dict[str, Answer]]:
    """The runs by name; two runs of one name are an error."""
    from recombine.evaluate.answers import read_answers

    found: dict[str, dict[str, Answer]] = {}
    for word in words:
        name, equals, file = word.partition("=")
        path = Path(file if equals else word)
        name = name if equals else path.stem
        if name in found:
            raise UsageError(f"two runs are called {shown(name)}; name them apart: --answers first=FILE --answers second=FILE.")
        found[name] = read_answers(path)
    return found


def _run_file(arguments: argparse.Namespace) -> int:
    """Score answers to the rows of a file in a released layout."""
    from recombine.evaluate.released import HEADER, findings, read_examples, score_file

    refused = [name for name in ("baselines", "part", "rows", "where", "out", "figures", "latex") if getattr(arguments, name)]
    if refused or len(arguments.data) > 1:
        raise UsageError("--as takes one file, --answers, --missing and --json; generate a folder for everything else.")
    examples = read_examples(Path(arguments.data[0]), arguments.family)
    if not arguments.answers:
        ids = ", ".join(shown(name) for name in list(examples)[:5])
        more = f" and {len(examples) - 5:,} more" if len(examples) > 5 else ""
        raise UsageError(f"--as needs --answers FILE, with one line for each of these ids: {ids}{more}.")
    scores = score_file(examples, _answers(arguments.answers), arguments.missing)
    if arguments.json:
        print_json(findings(scores))
    else:
        print_table("", HEADER, [score.row for score in scores])
    return 0


def _run_pairs(arguments: argparse.Namespace) -> int:
    """Score answers to matched pairs; `--out` gets index.html and pairs_report.json."""
    from recombine.evaluate.pairs import HEADER, findings, pairs_page, score_pairs
    from recombine.files import own_folder, write_json, write_text
    from recombine.pairs import read_pairs

    if len(arguments.data) > 1:
        raise UsageError("a folder of matched pairs is evaluated alone; give one --data.")
    refused = [word for name, word in NOT_FOR_PAIRS.items() if getattr(arguments, name)]
    if refused:
        raise UsageError(
            f"a folder of matched pairs takes --answers, --missing, --out and --json, but not {', '.join(refused)}."
        )
    if not arguments.answers:
        folder = shlex.quote(arguments.data[0])
        raise UsageError(
            f"a folder of matched pairs needs --answers FILE, with a line for each id of its pairs.jsonl; "
            f"a model answers them with `recombine ask {folder} --model NAME --endpoint URL --out RUN`."
        )
    scores = score_pairs(read_pairs(arguments.data[0]), _answers(arguments.answers), arguments.missing)
    if arguments.out:
        out = own_folder(arguments.out, PAIRS_REPORT)
        write_text(out / "index.html", pairs_page(scores))
        write_json(out / "pairs_report.json", {"pairs": findings(scores)})
    if arguments.json:
        print_json(findings(scores))
    else:
        print_table("", HEADER, [score.row for score in scores])
        if arguments.out:
            say(f"open {arguments.out}/index.html")
    return 0
