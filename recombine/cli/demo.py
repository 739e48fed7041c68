"""The main job on the embedded default: generate, verify and summarise every family, and leave a page to open."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_table, say
from recombine.cli.requests import whole_number
from recombine.errors import UsageError
from recombine.files import Kind, holds, is_report

if TYPE_CHECKING:
    from recombine.core import Family

MARK = "demo.json"
DEMO = Kind(
    "a folder of `recombine demo`", lambda folder: holds(folder / MARK, lambda value: "package" in value) or is_report(folder)
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine demo`."""
    parser.add_argument("--out", default="demo-out", metavar="DIR", help="where the page and the folders go (default demo-out)")
    parser.add_argument("--size", type=whole_number, default=60, metavar="N", help="rows of each part (default 60)")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")


def run(arguments: argparse.Namespace) -> int:
    """Every family in turn; exit 1 if a single row is wrong."""
    from recombine import __version__
    from recombine.data.datasets import Dataset
    from recombine.data.generate import generate, remove
    from recombine.data.verify import verify
    from recombine.evaluate.answerers import MADE_UP, make_answerer
    from recombine.evaluate.answers import Answer
    from recombine.evaluate.evaluate import ALL_BASELINES, evaluate, join_evaluations
    from recombine.evaluate.report import write_report
    from recombine.families import FAMILIES, family
    from recombine.files import own_folder, write_json

    if not 1 <= arguments.size <= 100_000:
        raise UsageError(f"--size is {arguments.size}, but must be 1 to 100,000.")
    out = own_folder(arguments.out, DEMO)
    write_json(out / MARK, {"package": f"recombine {__version__}", "size": arguments.size, "seed": arguments.seed})
    evaluations, rows, errors = [], [], 0
    careless = make_answerer(MADE_UP, [])
    for name in FAMILIES:
        started = time.perf_counter()
        words: dict[str, Any] = {"split": one_per_axis(family(name)), "size": arguments.size, "seed": arguments.seed}
        if (out / name).exists():  # from an earlier demo, perhaps with another size or by another version
            remove(out / name)
        folder = generate(name, out / name, **words)
        verdict = verify(folder.path, workers=1)
        last = {part.job.split: number for number, part in enumerate(folder.plan.parts)}
        tested = {split: number for split, number in last.items() if split in one_per_axis(folder.family)}
        data = [Dataset(folder.family, folder.plan.parts[number], folder, number) for number in tested.values()]
        answers = {example.id: Answer(example.id, careless(example)) for part in data for example in part}
        evaluations.append(evaluate(folder, {"a made-up model": answers}, baselines=[ALL_BASELINES]))
        wrong = sum(problem.severity == "error" for problem in verdict.problems)
        errors += wrong
        seconds = f"{time.perf_counter() - started:.1f} s"
        rows.append(
            (
                name,
                ", ".join(tested),
                f"{sum(p.rows for p in verdict.parts):,}",
                wrong,
                seconds,
                verdict.fingerprint,
            )
        )
    page = write_report(join_evaluations(evaluations), out, "Recombine: what a careless reader scores")
    print_table(
        "every answer below was derived again by an oracle", ("family", "splits", "rows", "errors", "time", "fingerprint"), rows
    )
    say(f"open {page}")
    return 1 if errors else 0


def one_per_axis(item: Family) -> list[str]:
    """The first split of each axis that needs no files: together they fill the profile."""
    first: dict[str, str] = {}
    for name, split in item.SPLITS.items():
        if not split.needs_files:
            first.setdefault(split.axis, name)
    return list(first.values())
