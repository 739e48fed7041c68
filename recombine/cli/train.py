"""Train a model on a family's split, or on a folder that `generate` made.

A run is a folder: run.json, the best and the last weights (safetensors), metrics.jsonl. Started again after a kill, it goes on
and ends in the same weights. `recombine predict` answers with it.

  recombine train gru-attn --data scan --split length --out runs/length
  recombine train ppo --env TowerScratch --policy set --with forcing=relabel --out runs/tower
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_as, print_table, say
from recombine.cli.requests import add_request, options_of, request_words, whole_number
from recombine.errors import UnknownName, UsageError, shown

if TYPE_CHECKING:
    from recombine.models.parts import Request
    from recombine.models.train import Report

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables that say how many threads a product of matrices uses. They count if they are set before NumPy is imported."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine train`."""
    parser.add_argument("model", help="a model's name (`recombine train list` shows them)")
    parser.add_argument("--data", metavar="D", help="a family's name, or a folder")
    add_request(parser, several=False)
    parser.add_argument("--size", type=whole_number, metavar="N", help="rows of the part to learn from (default: all)")
    parser.add_argument("--validation", metavar="P", help="the part for validation (default: validation, or a tenth held out)")
    parser.add_argument("--out", metavar="RUN", help="the run's folder; taken up again if it exists")
    parser.add_argument("--run-seed", type=whole_number, default=0, metavar="K", help="seed of weights, order and dropout")
    parser.add_argument(
        "--with", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="change a setting of the model or of the training (epochs, batch, rate, units, …); may be repeated",
    )  # fmt: skip
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events into the run's folder")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--env", metavar="E", help="for ppo: TowerScratch, TowerFlipIt, ScatterScratch or ScatterFlipIt")
    parser.add_argument("--policy", metavar="P", default="set", help="for ppo: set (default), cbert or vilt")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Train, or print the models."""
    print_as(arguments.json, lambda: _run(arguments))
    return 0


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    from recombine.models import MODELS
    from recombine.models.machines import MACHINES

    if arguments.model == "list":
        known = [(name, entry.reads, entry.about) for name, entry in MODELS.items()]
        known += [(name, entry.reads, entry.about) for name, entry in MACHINES.items()]
        known += [("ppo", "statement, scene", "reinforcement learning on lilGym")]
        print_table("", ["model", "reads", "what"], known)
        return {"models": [dict(zip(("model", "reads", "what"), row, strict=True)) for row in known]}
    if arguments.model == "ppo":
        from recombine.rl.command import run_ppo

        return run_ppo(arguments, _pairs(arguments.settings))
    if arguments.env:
        raise UsageError(f"--env is for ppo, and {shown(arguments.model)} is not: leave it out.")
    if not arguments.data or not arguments.out:
        raise UsageError("train needs --data (a family or a folder) and --out (the run's folder).")
    if arguments.model in MACHINES:
        return _run_machine(arguments)
    if arguments.model not in MODELS:
        raise UnknownName("model", arguments.model, [*MODELS, *MACHINES, "ppo"])
    from recombine.files import own_folder
    from recombine.models import find_model
    from recombine.models.base import ColumnModel
    from recombine.models.checkpoints import RUN_FOLDER, load_model
    from recombine.models.parts import learning_parts
    from recombine.models.settings import plan_for
    from recombine.models.train import train

    plan = plan_for(arguments.model, _pairs(arguments.settings), arguments.run_seed)
    out = own_folder(arguments.out, RUN_FOLDER)
    as_columns = issubclass(find_model(arguments.model)[0], ColumnModel)
    request = replace(request_of(arguments), size=arguments.size)
    learning = learning_parts(request, arguments.part, arguments.validation, as_columns)
    with reporting(out if arguments.tensorboard else None, plan.training.epochs) as report:
        result = train(replace(plan, data=learning.note), learning.fit, learning.validation, out, report, arguments.device)
    say(f"best validation score {100 * result.best:.2f} % after epoch {result.best_epoch} of {result.epochs}; {result.stopped}")
    parameters = sum(weights.numel() for weights in load_model(out).parameters())
    say(f"{parameters:,} parameters; {result.cpu_seconds:,.1f} CPU-seconds, {result.seconds:,.1f} s in all")
    _say_next(arguments, request)
    return {"run": arguments.out, **asdict(result), "parameters": parameters}


def _run_machine(arguments: argparse.Namespace) -> dict[str, Any]:
    """Train a machine; print what it cost, what is built in, what is learnt, and its lexicon.

    It learns on one core: with more threads, sums have other last bits, so the same command would end in another machine.
    """
    os.environ.update(dict.fromkeys(THREADS, "1"))
    from recombine.models.machines import train_machine
    from recombine.models.parts import fit_rows

    if arguments.tensorboard or arguments.device != "cpu" or arguments.validation:
        raise UsageError(
            f"{arguments.model} learns on the CPU and stops by itself: leave --tensorboard, --device and --validation out."
        )

    def progress(line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    request = replace(request_of(arguments), size=arguments.size)
    rows = fit_rows(request, arguments.part)
    machine, result = train_machine(
        arguments.model, _pairs(arguments.settings), rows, Path(arguments.out), arguments.run_seed, progress
    )
    print_lexicon(arguments.model, machine.lines())
    say("built in: " + "; ".join(machine.BUILT_IN))
    say("learnt: " + "; ".join(machine.LEARNT))
    counted = (f"{count:,} {what.removesuffix('s') if count == 1 else what}" for what, count in result.sizes.items())
    say(f"{', '.join(counted)}; {result.cpu_seconds:,.1f} CPU-seconds")
    if wrong := result.figures.get("training_commands_wrong"):
        say(f"This lexicon is wrong for {wrong:,} of the training commands; --with most_searches=N searches longer.")
    _say_next(arguments, request)
    return {"run": arguments.out, **asdict(result), "lexicon": machine.lines()}


def _say_next(arguments: argparse.Namespace, request: Request) -> None:
    """Print the command that answers a test part with the run."""
    words = f"{shlex.quote(arguments.out)} --data {shlex.quote(arguments.data)}{request_words(arguments, with_part=False)}"
    part = request.test_part()
    named = "" if part == "test" else f" --part {part}"
    say(f"next: recombine predict {words}{named} --out {shlex.quote(arguments.out + '-answers.jsonl')}")


def print_lexicon(name: str, lines: list[tuple[str, ...]]) -> None:
    """The lexicon of a machine as a table."""
    from recombine.models.machines import MACHINES

    print_table("lexicon", list(MACHINES[name].heads), lines)


def request_of(arguments: argparse.Namespace) -> Request:
    """The words that say which data."""
    from recombine.models.parts import Request

    return Request(arguments.data, arguments.split, arguments.seed, arguments.recipe, options_of(arguments))


def _pairs(words: list[str]) -> dict[str, object]:
    settings: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--with {shown(word)} is not NAME=VALUE.")
        settings[name] = value
    return settings


class reporting:  # noqa: N801
    """Progress with loss and accuracy: a live line on a terminal, a line per epoch otherwise; TensorBoard if asked for."""

    def __init__(self, events: Path | None, epochs: int) -> None:
        self.events, self.epochs = events, epochs

    def __enter__(self) -> Report:
        from recombine.models.progress import Progress

        self.progress = Progress(self.epochs, self.events, live=sys.stderr.isatty())
        return self.progress

    def __exit__(self, *_: object) -> None:
        self.progress.close()
