"""Ask for the rule instead of answers (scan, nacs, gscan, reascan, clutrr): print a prompt, or run rules that somebody wrote.

Without --lexicon it prints a prompt with --shots training examples; paste it into any model, or let `recombine ask --style lexicon` ask.
With --lexicon it reads the reply strictly, runs it on a machine (nothing is executed), and prints its accuracy and its length.

  recombine rules scan --split addprim_jump --shots 40 > prompt.txt
  recombine rules scan --split addprim_jump --lexicon reply.txt --out answers.jsonl
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.predict import ANSWERS
from recombine.cli.printing import print_json, print_table, say
from recombine.cli.requests import add_request, whole_number
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.models.parts import Request
    from recombine.models.rulebook import Rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine rules`."""
    parser.add_argument("data", help="scan, nacs, gscan, reascan or clutrr, or a folder of theirs")
    add_request(parser, several=False)
    parser.add_argument("--test", default="", metavar="P", help="with --lexicon: the part to answer (default: test)")
    parser.add_argument("--size", type=whole_number, metavar="N", help="with --lexicon: the first N rows of it (default: all)")
    parser.add_argument(
        "--shots", type=whole_number, default=40, metavar="K", help="training examples in the prompt (default 40)"
    )
    parser.add_argument("--lexicon", metavar="FILE", help="rules to run, one on each line; the prompt says their form")
    parser.add_argument("--out", metavar="FILE", help='with --lexicon: its answers, one {"id", "answer"} per line')
    parser.add_argument("--json", action="store_true", help="print JSON: the prompt, or the rules and their score")


@dataclass(frozen=True)
class Ran:
    """The score and the length of rules."""

    part: str
    rows: int
    right: int
    length: str
    note: str


def run(arguments: argparse.Namespace) -> int:
    """Print the prompt, or run the rules."""
    from recombine.cli.train import request_of
    from recombine.files import own_file, read_text
    from recombine.models.parts import fit_rows
    from recombine.models.rulebook import open_book

    if not arguments.lexicon and (arguments.out or arguments.test or arguments.size):
        raise UsageError("--out, --test and --size go with --lexicon FILE.")
    out = own_file(arguments.out, ANSWERS) if arguments.out else None
    request = request_of(arguments)
    book = open_book(fit_rows(request, arguments.part, made_anew=True))
    if not arguments.lexicon:
        prompt = book.prompt(arguments.shots)
        if arguments.json:
            print_json({"shots": arguments.shots, "prompt": prompt})
        else:
            sys.stdout.write(f"{prompt}\n")
        return 0
    rules = book.read(read_text(Path(arguments.lexicon)))
    tell(rules, run_rules(rules, request, arguments.test or request.test_part(), arguments.size, out), arguments.json)
    return 0


def run_rules(rules: Rules, request: Request, part: str, size: int | None, out: Path | None) -> Ran:
    """Answer a part by the rules; the answers go to a file if one is named, each with the length of the rule."""
    from recombine.files import writing_text
    from recombine.models.parts import prediction_lines, scores

    examples = list(request.load(part, size))[:size]
    answers = rules.answers(examples)
    if out is not None:
        with writing_text(out) as stream:
            stream.writelines(prediction_lines(examples, answers, rule=rules.length()))
    right = round(sum(scores(examples, answers)))
    return Ran(part, len(examples), right, rules.length(), rules.note())


def tell(rules: Rules, ran: Ran, as_json: bool) -> None:
    """Print the rules and what they scored."""
    if as_json:
        print_json({**asdict(ran), "rules": [dict(zip(rules.HEADS, line, strict=True)) for line in rules.lines()]})
        return
    print_table("rules", list(rules.HEADS), rules.lines())
    say(ran.note)
    say(f"{ran.part}: {ran.right:,} of {ran.rows:,} right ({100 * ran.right / max(1, ran.rows):.2f} %)")
    say(f"length of the rule: {ran.length}")
