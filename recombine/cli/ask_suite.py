"""`recombine ask --suite fresh`: an exam over all families, one run folder for each set, one file of answers for all."""

from __future__ import annotations

import argparse
import shlex
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.errors import UsageError
from recombine.files import Kind, holds

if TYPE_CHECKING:
    from recombine.evaluate.outcomes import Outcome

FOREIGN = ("family", "split", "part", "recipe", "hold_out", "options", "write_batch", "read_batch", "dry_run")
"""Words of `ask` that a suite does not take: it chooses the sets itself."""
RUN = "run.json"
SUITE_RUN = Kind(
    "a run of `recombine ask --suite fresh`", lambda folder: holds(folder / RUN, lambda found: found["suite"] == "fresh"), is_local=True
)  # fmt: skip


def run_suite(arguments: argparse.Namespace) -> int:
    """Ask about every set. Caps are for the whole exam; the same command goes on after a stop."""
    from recombine import __version__
    from recombine.cli.ask import price_of
    from recombine.data.fresh import DEFAULT_SIZE, FRESH, make_fresh, open_suite
    from recombine.evaluate.budget import Caps
    from recombine.files import own_folder, write_json

    strange = [name.replace("_", "-") for name in FOREIGN if getattr(arguments, name)]
    if strange:
        raise UsageError(f"--suite fresh chooses the sets itself; leave out {', '.join(strange)}.")
    if not arguments.out:
        raise UsageError("--out is missing: the folder of the run.")
    price_of(arguments)
    Caps(arguments.max_requests, arguments.max_total_tokens, arguments.max_cost)  # wrong words are told before an exam is drawn
    out = own_folder(arguments.out, SUITE_RUN)
    write_json(out / RUN, {"suite": FRESH, "package": f"recombine {__version__}"})
    if arguments.data:
        suite = open_suite(arguments.data)
    else:
        data, seed = out / "data", arguments.seed
        if (data / "suite.json").is_file() and seed is None:
            seed = open_suite(data).seed  # a run that is taken up goes on with its exam, whatever the day
        with progress("drawing the exam", 0) as tick:
            suite = make_fresh(data, size=arguments.size or DEFAULT_SIZE, seed=seed, on_rows=tick)
    say(f"exam of seed {suite.seed}, {suite.size} rows a set")
    results = _ask_all(arguments, suite.folders, out)
    _merge(out, [place for place, _ in results])
    answers = shlex.quote(f"{arguments.out}/answers.jsonl")
    if arguments.json:
        print_json({**suite.title, "sets": {place.name: asdict(outcome) for place, outcome in results}})
    else:
        rows = [(p.name, f"{o.rows:,}", f"{o.mean:.1%}", f"{o.lenient:.1%}", f"{o.cost:,.2f}", o.stopped) for p, o in results]
        print_table("", ("set", "rows", "strict", "lenient", "cost", "stopped"), rows)
        say(f"answers: {answers}")
        report = shlex.quote(f"{arguments.out}-report")
        say(f"next: recombine evaluate --data {shlex.quote(str(suite.path))} --answers {answers} --out {report}")
    return 0 if all(outcome.is_complete for _, outcome in results) else 1


def _ask_all(arguments: argparse.Namespace, folders: list[Path], out: Path) -> list[tuple[Path, Outcome]]:
    from recombine.cli.ask import run_part
    from recombine.data.folders import open_folder
    from recombine.evaluate.journal import used_in

    sets = []
    for folder in folders:
        for part in open_folder(folder).plan.parts:
            sets.append((folder, part.job.split, part.job.part, out / f"{folder.name}-{part.job.split}-{part.job.part}"))
    results = []
    for folder, split, part_name, place in sets:
        others = [used_in(other) for *_, other in sets if other != place]
        words = copy(arguments)
        words.family, words.split, words.part, words.out, words.size, words.seed = (
            str(folder),
            split,
            part_name,
            str(place),
            None,
            0,
        )
        _lower_caps(words, others)
        _, outcome = run_part(words)
        assert outcome is not None
        results.append((place, outcome))
    return results


def _lower_caps(words: argparse.Namespace, others: list[tuple[int, int, int]]) -> None:
    """Take what the other sets have used from the caps."""
    from recombine.cli.ask import price_of

    price: Any = price_of(words)
    words.max_cost = max(0.0, words.max_cost - sum(price.cost(i, o) for _, i, o in others))
    if words.max_requests is not None:
        words.max_requests = max(0, words.max_requests - sum(requests for requests, _, _ in others))
    if words.max_total_tokens is not None:
        words.max_total_tokens = max(0, words.max_total_tokens - sum(i + o for _, i, o in others))


def _merge(out: Path, places: list[Path]) -> None:
    """One file with the answers of all sets."""
    from recombine.evaluate.answers import read_answers, write_answers
    from recombine.evaluate.journal import ANSWERS, LENIENT

    for name in (ANSWERS, LENIENT):
        write_answers(out / name, [answer for place in places for answer in read_answers(place / name).values()])
