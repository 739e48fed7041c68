"""Ask for the rule instead of answers (scan, nacs): print a prompt for a lexicon, or run a lexicon that somebody wrote.

Without --lexicon it prints a prompt with --shots training examples; paste it into any model. With --lexicon it reads the reply
strictly, runs it on the sequence machine (nothing is executed), and prints its accuracy and its length.

  recombine rules scan --split addprim_jump --shots 40 > prompt.txt
  recombine rules scan --split addprim_jump --lexicon reply.txt --out answers.jsonl
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recombine.cli.predict import ANSWERS
from recombine.cli.printing import print_json, print_table, say
from recombine.cli.requests import add_request, whole_number
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.models.sequence_machine import SequenceMachine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine rules`."""
    parser.add_argument("data", help="scan or nacs, or a folder of theirs")
    add_request(parser, several=False)
    parser.add_argument(
        "--shots", type=whole_number, default=40, metavar="K", help="training examples in the prompt (default 40)"
    )
    parser.add_argument("--lexicon", metavar="FILE", help="a lexicon to run: one `word: level: slots` per line")
    parser.add_argument("--out", metavar="FILE", help='with --lexicon: its answers to the test, one {"id", "answer"} per line')
    parser.add_argument("--json", action="store_true", help="print JSON: the prompt, or the lexicon and its figures")


def run(arguments: argparse.Namespace) -> int:
    """Print the prompt, or run the lexicon."""
    from recombine import keys
    from recombine.cli.train import request_of
    from recombine.files import own_file, read_text, writing_text
    from recombine.models.machines import fit_rows
    from recombine.models.parts import prediction_lines, scores
    from recombine.models.sequence_machine import SequenceMachine, SequenceMachineConfig, alphabet_of, interpret, pairs_of
    from recombine.models.sequence_machine_inverse import Syntax
    from recombine.models.sequence_rules import parse_lexicon, prompt

    if arguments.out and not arguments.lexicon:
        raise UsageError("--out takes the answers of a lexicon; say --lexicon FILE, or leave --out out.")
    out = own_file(arguments.out, ANSWERS) if arguments.out else None
    request = request_of(arguments)
    rows = fit_rows(request, arguments.part)
    examples = list(rows)
    alphabet = alphabet_of(examples)
    pairs = pairs_of(examples, alphabet)
    if not arguments.lexicon:
        distinct = sorted(set(pairs))
        stream = keys.Stream("rules", rows.job.key)
        asked = prompt(stream.sample(distinct, min(arguments.shots, len(distinct))), alphabet)
        if arguments.json:
            print_json({"shots": min(arguments.shots, len(distinct)), "prompt": asked})
        else:
            sys.stdout.write(asked + "\n")
        return 0
    lexicon = parse_lexicon(read_text(Path(arguments.lexicon)), alphabet)
    config = SequenceMachineConfig()
    machine = SequenceMachine(config, alphabet, lexicon, Syntax.learn(pairs, lexicon, config))
    tests = list(request.load("test"))
    answers = machine.answers(tests)
    verdicts = scores(tests, answers)
    if out is not None:
        with writing_text(out) as stream_out:
            stream_out.writelines(prediction_lines(tests, answers))
    explained = sum(interpret(words, lexicon) == actions for words, actions in pairs)
    _print(machine, explained, len(pairs), int(sum(verdicts)), len(verdicts), arguments.json)
    return 0


def _print(machine: SequenceMachine, explained: int, pairs: int, right: int, tests: int, is_json: bool) -> None:
    sizes = machine.sizes()
    if is_json:
        lexicon = [dict(zip(("word", "level", "template"), line, strict=True)) for line in machine.lines()]
        counts = {"training_rows": pairs, "explained": explained, "tests": tests, "right": right}
        print_json({**counts, "slots": sizes["slots"], "levels": sizes["levels"], "lexicon": lexicon})
        return
    print_table("lexicon", ["word", "level", "template"], machine.lines())
    say(f"training rows explained: {explained:,} of {pairs:,}")
    say(f"test: {right:,} of {tests:,} right ({100 * right / max(1, tests):.2f} %)")
    say(f"length of the rule: {sizes['slots']} slots, {sizes['levels']} levels")
