"""Answer every row of a part with a trained model; `recombine evaluate` reads the answers.

recombine predict runs/length --data scan --split length --part test --out answers.jsonl
"""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.printing import print_json, say
from recombine.cli.requests import add_request, request_words, whole_number
from recombine.errors import UsageError, shown
from recombine.files import Kind, begins_with, is_ask_run

if TYPE_CHECKING:
    from recombine.core import Example

ANSWERS = Kind(
    "a file of answers outside the runs of `recombine ask`",
    lambda path: begins_with(b'{"id": "')(path) and not is_ask_run(path.parent),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine predict`."""
    parser.add_argument("run", help="the folder of a run")
    parser.add_argument("--data", metavar="D", required=True, help="a family's name, or a folder")
    add_request(parser, several=False)
    parser.add_argument("--size", type=whole_number, metavar="N", help="so many rows of the part (default: all)")
    parser.add_argument("--batch", type=whole_number, default=256, metavar="B", help="rows answered at a time (default 256)")
    parser.add_argument("--out", metavar="FILE", required=True, help='one {"id", "answer"} per line')
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Predict and write."""
    from recombine.cli.train import request_of
    from recombine.files import own_file, writing_text
    from recombine.models.parts import prediction_lines, scores

    out_file = own_file(arguments.out, ANSWERS)
    answers_of = _answerer(arguments)
    request = request_of(arguments)
    rows = request.load(arguments.part or request.test_part(), arguments.size)
    examples = list(rows)[: arguments.size]
    answers = answers_of(examples)
    with writing_text(out_file) as out:
        out.writelines(prediction_lines(examples, answers))
    right = scores(examples, answers)
    mean = 100 * sum(right) / max(1, len(right))
    if arguments.json:
        print_json({"answers": len(answers), "file": arguments.out, "mean": mean / 100})
        return 0
    say(f"{len(answers):,} answers in {arguments.out}; mean score {mean:.2f} %.")
    _say_next(arguments, rows.job.part)
    return 0


def _answerer(arguments: argparse.Namespace) -> Callable[[Sequence[Example]], list[str]]:
    """What answers: the machine of the run, which needs no torch, or its model."""
    from recombine.models.machines import is_machine_run, load_machine

    if is_machine_run(arguments.run):
        return load_machine(arguments.run).answers
    from recombine.models.base import find_device, single_thread
    from recombine.models.checkpoints import RESULT, load_model
    from recombine.models.seq2seq import PairModel
    from recombine.models.train import predict

    single_thread()
    model = load_model(arguments.run).to(find_device(arguments.device))
    if not (Path(arguments.run) / RESULT).is_file():
        logging.getLogger("recombine").warning(
            "%s is not finished: the best weights so far answer. The command that began it goes on with it.",
            shown(arguments.run),
        )

    def answers(examples: Sequence[Example]) -> list[str]:
        if isinstance(model, PairModel) and examples and not model.knows(examples):
            raise UsageError(
                f"{shown(arguments.run)} learnt from other data: it knows no word of {shown(examples[0].id)} or any other row."
            )
        return predict(model, examples, max(1, arguments.batch), arguments.device)

    return answers


def _say_next(arguments: argparse.Namespace, part: str) -> None:
    """Print the commands that evaluate these answers; a family's rows need a folder first."""
    from recombine.families import FAMILIES

    answers = shlex.quote(arguments.out)
    report = shlex.quote(str(Path(arguments.out).with_suffix("")) + "-report")
    if arguments.data not in FAMILIES:
        only = f" --rows {answers}" if arguments.size else ""
        say(f"next: recombine evaluate --data {shlex.quote(arguments.data)} --answers {answers}{only} --out {report}")
        return
    data = shlex.quote(str(Path(arguments.out).with_suffix("")) + "-data")
    words = (
        request_words(arguments, with_part=False) + f" --part {part}" + (f" --size {arguments.size}" if arguments.size else "")
    )
    say(f"next: recombine generate {arguments.data}{words} --out {data}")
    say(f"then: recombine evaluate --data {data} --answers {answers} --out {report}")
