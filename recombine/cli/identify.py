"""Find test answers that the training rows do not determine (scan, nacs).

The sequence machine learns a lexicon from the training rows. Then `identify` varies the entry of one word at a time. If an entry
explains every training row and changes a test answer, the training rows do not determine that answer.

  recombine identify scan --split template_around_right
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from recombine.cli.printing import print_json, print_table, say
from recombine.cli.requests import add_request, whole_number
from recombine.errors import UsageError

if TYPE_CHECKING:
    from recombine.models.identification import Identification
    from recombine.models.sequence_machine import Alphabet, Entry


FOUND_BY = "recombine identify"
"""Stands in every file that this verb writes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine identify`."""
    parser.add_argument("data", help="scan or nacs, or a folder of theirs")
    add_request(parser, several=False)
    parser.add_argument("--run-seed", type=whole_number, default=0, metavar="K", help="seed of the search for the lexicon")
    parser.add_argument("--out", metavar="FILE", help="also write the findings as JSON")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Learn, vary, print."""
    from recombine.cli.train import request_of
    from recombine.files import Kind, holds, own_file, write_json
    from recombine.models.identification import identify
    from recombine.models.parts import fit_rows
    from recombine.models.sequence_machine import Entry, SequenceMachineConfig, alphabet_of, pairs_of, sides
    from recombine.models.sequence_machine_train import best_search

    is_ours = lambda file: holds(file, lambda found: found["found_by"] == FOUND_BY)
    out = own_file(arguments.out, Kind("a file of `recombine identify`", is_ours)) if arguments.out else None
    request = request_of(arguments)
    listed = fit_rows(request, arguments.part, made_anew=True, whole=True)
    sides(listed[0])  # rows of another kind are told before all are made
    rows = list(listed)
    alphabet = alphabet_of(rows)
    pairs = pairs_of(rows, alphabet)
    config = SequenceMachineConfig()
    learnt = best_search(pairs, alphabet, config, arguments.run_seed)
    if learnt["wrong"]:
        raise UsageError(
            f"no lexicon was found that explains all training commands ({learnt['wrong']:,} of {learnt['rows']:,} are wrong), "
            "so it cannot be said what they leave open; try another --run-seed."
        )
    lexicon = [Entry(level, bytes(template)) for level, template in learnt["lexicon"]]
    commands = [alphabet.command(sides(example)[0]) for example in request.load("test")]
    tests = [words for words in commands if words is not None]
    found = identify(lexicon, pairs, tests, alphabet, config)
    record = _record(found, alphabet, len(commands) - len(tests))
    if arguments.json:
        print_json(record)
    else:
        _print(found, alphabet, len(commands) - len(tests))
    if out is not None:
        write_json(out, record)
    return 0


def _print(found: Identification, alphabet: Alphabet, unknown: int) -> None:
    print_table(
        "", ["word", "learnt", "training rows", "others that fit", "that change a test", "such as"], _lines(found, alphabet)
    )
    more = f"; {unknown:,} more have words that training lacks" if unknown else ""
    why = ": a lexicon that explains every training row answers otherwise" if found.open else ""
    say(f"{found.open:,} of {found.tests:,} test answers are open{why}{more}.")
    say(
        'One word is varied at a time, among levels and templates (docs/models.md). "Open" is proved by an example. "Determined" only '
        "means that no counterexample was found."
    )


def _lines(found: Identification, alphabet: Alphabet) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for item in found.words:
        example = ""
        if item.changing:
            first = item.changing[0]
            example = f"{_told(first.entry, alphabet)} ({first.nats:+.1f} nats, {first.changed:,} tests)"
        counts = f"{item.rows:,}", str(len(item.alternatives)), str(len(item.changing))
        lines.append((item.word, _told(item.entry, alphabet), *counts, example))
    return lines


def _told(entry: Entry, alphabet: Alphabet) -> str:
    return f"{entry.level:g}: {alphabet.template(entry.template)}"


def _record(found: Identification, alphabet: Alphabet, unknown: int) -> dict[str, Any]:
    """What was found, as JSON. `tests_with_unknown_words` are test commands with words that training lacks."""
    words = [
        {
            "word": item.word,
            "learnt": _told(item.entry, alphabet),
            "training_rows": item.rows,
            "alternatives": [
                {"entry": _told(a.entry, alphabet), "nats": round(a.nats, 4), "tests_changed": a.changed}
                for a in item.alternatives
            ],
        }
        for item in found.words
    ]
    return {
        "found_by": FOUND_BY,
        "tests": found.tests,
        "open": found.open,
        "tests_with_unknown_words": unknown,
        "words": words,
    }
