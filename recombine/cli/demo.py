"""The main job on the embedded default: generate, verify and summarise every family, and leave a page to open."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.printing import print_table, say
from recombine.cli.requests import whole_number

if TYPE_CHECKING:
    from recombine.core import Family


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine demo`."""
    parser.add_argument("--out", default="demo-out", metavar="DIR", help="where the page and the folders go (default demo-out)")
    parser.add_argument("--size", type=whole_number, default=60, metavar="N", help="rows of each part (default 60)")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")


def run(arguments: argparse.Namespace) -> int:
    """Every family in turn; exit 1 if a single row is wrong."""
    from recombine.data.datasets import Dataset
    from recombine.data.generate import generate
    from recombine.data.verify import verify
    from recombine.evaluate.answerers import MADE_UP, make_answerer
    from recombine.evaluate.answers import Answer
    from recombine.evaluate.evaluate import ALL_BASELINES, evaluate, join_evaluations
    from recombine.evaluate.report import write_report
    from recombine.families import FAMILIES, family

    out = Path(arguments.out)
    shutil.rmtree(out, ignore_errors=True)
    evaluations, rows, errors = [], [], 0
    careless = make_answerer(MADE_UP, [])
    for name in FAMILIES:
        started = time.perf_counter()
        folder = generate(name, out / name, split=one_per_axis(family(name)), size=arguments.size, seed=arguments.seed)
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
