"""The main job on the embedded default: generate, verify and summarise every family, and leave a page to open."""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from recombine.cli.printing import print_table, say
from recombine.cli.requests import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine demo`."""
    parser.add_argument("--out", default="demo-out", metavar="DIR", help="where the page and the folders go (default demo-out)")
    parser.add_argument("--size", type=whole_number, default=120, metavar="N", help="rows of each part (default 120)")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")


def run(arguments: argparse.Namespace) -> int:
    """Every family in turn; exit 1 if a single row is wrong."""
    from recombine.data.datasets import Dataset
    from recombine.data.generate import generate
    from recombine.data.verify import verify
    from recombine.evaluate.answerers import make_answerer
    from recombine.evaluate.answers import Answer
    from recombine.evaluate.evaluate import ALL_BASELINES, evaluate, join_evaluations
    from recombine.evaluate.report import write_report
    from recombine.families import FAMILIES

    out = Path(arguments.out)
    shutil.rmtree(out, ignore_errors=True)
    evaluations, rows, errors = [], [], 0
    for name in FAMILIES:
        started = time.perf_counter()
        folder = generate(name, out / name, size=arguments.size, seed=arguments.seed)
        verdict = verify(folder.path, workers=1)
        number = len(folder.plan.parts) - 1
        careless = make_answerer("careless", [])
        answers = {e.id: Answer(e.id, careless(e)) for e in Dataset(folder.family, folder.plan.parts[number], folder, number)}
        evaluations.append(evaluate(folder, {"a made-up model": answers}, baselines=[ALL_BASELINES]))
        wrong = sum(problem.severity == "error" for problem in verdict.problems)
        errors += wrong
        seconds = f"{time.perf_counter() - started:.1f} s"
        rows.append(
            (
                name,
                folder.plan.parts[-1].job.split,
                f"{sum(p.rows for p in verdict.parts):,}",
                wrong,
                seconds,
                verdict.fingerprint,
            )
        )
    page = write_report(join_evaluations(evaluations), out, "Recombine: what a careless reader scores")
    print_table(
        "every answer below was derived again by an oracle", ("family", "split", "rows", "errors", "time", "fingerprint"), rows
    )
    say(f"open {page}")
    return 1 if errors else 0
