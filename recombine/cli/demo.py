"""A first look: a gallery of puzzles to play with in the browser, and a report of simple baselines and learnt machines."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_as, say
from recombine.cli.requests import whole_number
from recombine.errors import UsageError
from recombine.files import Kind, holds

if TYPE_CHECKING:
    from recombine.core import Family
    from recombine.evaluate.evaluate import Evaluation
    from recombine.gallery.puzzle import Puzzle

MARK = "demo.json"
MARKED = {"package", "size", "seed"}
"""What the mark of a demo's folder says, and nothing else."""
DEMO = Kind(
    "a folder of `recombine demo`",
    lambda folder: holds(folder / MARK, lambda value: set(value) == MARKED and str(value["package"]).startswith("recombine ")),
)
REPORTED: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "scan": (("simple", "length", "addprim_jump"), ()),
    "nacs": (("simple",), ()),
    "gscan": (("compositional", "visual"), ()),
    "reascan": (("all", "c1"), ()),
    "clutrr": (("generalization_23",), ("train", "test_k2", "test_k4")),
}
"""Family -> splits and parts of the report. The other families compile kernels, which takes longer than the whole demo."""
MACHINE = "learnt machine"
"""What the report calls the trained machines that come with the package (docs/models.md)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine demo`."""
    parser.add_argument(
        "--out", default="demo-out", metavar="DIR", help="where the pages and the folders go (default demo-out)"
    )
    parser.add_argument(
        "--size", type=whole_number, default=24, metavar="N", help="rows of each part in the report (default 24)"
    )
    parser.add_argument("--seed", type=whole_number, default=0, metavar="K", help="a whole number")
    parser.add_argument("--all", action="store_true", help="report every family; compiles kernels first (about a minute, once)")
    parser.add_argument("--json", action="store_true", help="print where the pages are as JSON")


def run(arguments: argparse.Namespace) -> int:
    """The gallery first, then the report; exit 1 if a single row is wrong."""
    found = print_as(arguments.json, lambda: _make(arguments))
    return 1 if found["wrong_rows"] else 0


def _make(arguments: argparse.Namespace) -> dict[str, Any]:
    from recombine import __version__
    from recombine.evaluate.evaluate import join_evaluations
    from recombine.evaluate.report import write_report
    from recombine.families import FAMILIES
    from recombine.files import own_folder, write_json, write_text
    from recombine.gallery.page import to_html

    if not 1 <= arguments.size <= 100_000:
        raise UsageError(f"--size is {arguments.size}, but must be 1 to 100,000.")
    out = own_folder(arguments.out, DEMO)
    write_json(out / MARK, {"package": f"recombine {__version__}", "size": arguments.size, "seed": arguments.seed})
    _tell("Puzzles for the gallery. Few rows are made, so nothing needs to be compiled.")
    puzzles, errors = _gallery(arguments.seed)
    made = f"Made by recombine {__version__} with seed {arguments.seed}."
    write_text(out / "index.html", to_html(puzzles, report="report/index.html", made=made))
    _tell(f"You can open {out / 'index.html'} now. The report of baselines and machines follows.")
    evaluations = []
    for name in FAMILIES if arguments.all else [name for name in FAMILIES if name in REPORTED]:
        evaluation, wrong = _baselines(name, out / "data" / name, arguments.size, arguments.seed)
        evaluations.append(evaluation)
        errors += wrong
    write_report(join_evaluations(evaluations), out / "report", "Simple baselines and learnt machines", examples=60)
    if errors:
        _tell(f"{errors} rows are wrong.")
    _tell(f"open {out / 'index.html'}")
    return {
        "page": str(out / "index.html"),
        "report": str(out / "report" / "index.html"),
        "puzzles": len(puzzles),
        "wrong_rows": errors,
    }


def _tell(text: str) -> None:
    """A line that is seen at once, also through a pipe."""
    say(text)
    sys.stdout.flush()


def _gallery(seed: int) -> tuple[list[Puzzle], int]:
    """The puzzles of every family, and how many the oracle rejects."""
    from recombine.families import FAMILIES
    from recombine.gallery.choice import SETS, opening_first, prove, puzzles

    found: list[Puzzle] = []
    errors = 0
    for name, sets in SETS.items():
        if name not in FAMILIES:
            continue
        started = time.perf_counter()
        mine = opening_first([puzzle for wanted in sets for puzzle in puzzles(name, wanted, seed)])
        problems = prove(mine)
        for problem in problems:
            _tell(f"  wrong: {problem}")
        errors += len(problems)
        found += mine
        _tell(f"  {name:9} {len(mine):3} puzzles from {len({w.split for w in sets}):2} splits, proved  {_seconds(started)}")
    return found, errors


def _baselines(name: str, place: Path, size: int, seed: int) -> tuple[Evaluation, int]:
    """A folder of this family, verified, with what the answerers score on it; and how many of its rows are wrong."""
    from recombine.data.datasets import Dataset
    from recombine.data.generate import generate, remove
    from recombine.data.verify import verify
    from recombine.evaluate.answers import Answer
    from recombine.evaluate.evaluate import ALL_BASELINES, evaluate
    from recombine.families import family
    from recombine.models.shipped import shipped_answers

    started = time.perf_counter()
    splits, parts = REPORTED.get(name) or (one_per_axis(family(name)), ())
    if place.exists():  # from an earlier demo, perhaps with another size or by another version
        remove(place)
    words: dict[str, Any] = {"split": list(splits), "part": list(parts), "size": size, "seed": seed}
    folder = generate(name, place, **words)
    verdict = verify(folder.path, workers=1)
    tested = [number for number, part in enumerate(folder.plan.parts) if part.job.split in splits and part.job.part != "train"]
    asked = [example for number in tested for example in Dataset(folder.family, folder.plan.parts[number], folder, number)]
    learnt = {row: Answer(row, said) for row, said in shipped_answers(asked).items()}
    answers = (
        {MACHINE: learnt} if len(learnt) == len(asked) else {}
    )  # a machine has learnt from the training rows of all splits
    found = evaluate(folder, answers, baselines=[ALL_BASELINES])
    rows = sum(part.rows for part in verdict.parts)
    _tell(f"  {name:9} {rows:5,} rows made and verified, {', '.join(splits)}  {_seconds(started)}")
    return found, sum(problem.severity == "error" for problem in verdict.problems)


def _seconds(started: float) -> str:
    return f"{time.perf_counter() - started:.1f} s"


def one_per_axis(item: Family) -> list[str]:
    """The first split of each axis that needs neither files nor a predicate of one's own."""
    from recombine.predicates.draw import HOLD_OUT

    first: dict[str, str] = {}
    for name, split in item.SPLITS.items():
        if not split.needs_files and name != HOLD_OUT:
            first.setdefault(split.axis, name)
    return list(first.values())
