"""Prove a folder: hashes, counts, every answer derived again by the oracle, no leak between parts. Exit 1 on any error."""

from __future__ import annotations

import argparse

from recombine.cli.printing import print_json, print_table, progress, say
from recombine.cli.requests import whole_number
from recombine.files import Kind, holds

CERTIFICATE = Kind("a certificate of `recombine verify`", lambda file: holds(file, lambda found: "checked_by" in found))

SHOWN = 20
"""Problems that are printed; the table and the last line count all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine verify`."""
    parser.add_argument("dir", help="a folder made by recombine generate")
    parser.add_argument("--sample", type=whole_number, metavar="N", help="run the oracle on about N rows of each part only")
    parser.add_argument("--workers", type=whole_number, default=0, metavar="N", help="processes to use (default: one per core)")
    parser.add_argument("--certificate", metavar="FILE", help="write the findings as a machine-readable certificate")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check, print a table, and say what is wrong."""
    from recombine.data.folders import open_folder
    from recombine.data.verify import verify
    from recombine.files import own_file, write_json
    from recombine.pairs import is_pairs

    if is_pairs(arguments.dir):
        return _verify_pairs(arguments)
    certificate = own_file(arguments.certificate, CERTIFICATE) if arguments.certificate else None
    total = sum(part.rows for part in open_folder(arguments.dir).plan.parts)
    with progress("verify", total) as tick:
        verdict = verify(arguments.dir, sample=arguments.sample, workers=arguments.workers, on_rows=tick)
    if certificate:
        write_json(certificate, verdict.to_json())
    if arguments.json:
        print_json(verdict.to_json())
        return 0 if verdict.ok else 1
    rows = [
        (p.split, p.part, f"{p.rows:,}", f"{p.distinct:,}", f"{p.checked:,}", p.errors, p.artifacts, p.leaks)
        for p in verdict.parts
    ]
    print_table("", ("split", "part", "rows", "distinct", "checked", "errors", "artifacts", "leaks"), rows)
    for note in verdict.notes:
        say(note)
    for problem in verdict.problems[:SHOWN]:
        say(f"{problem.severity} {problem.code} at {problem.place}: {problem.text}")
    total = sum(verdict.counts.values())
    if total > SHOWN:
        listed = "lists them" if total == len(verdict.problems) else f"lists {len(verdict.problems):,} of them"
        say(f"… and {total - SHOWN:,} more; --json {listed}")
    if verdict.ok:
        say(f"no problem; fingerprint {verdict.fingerprint}")
    else:
        say("NOT in order: " + ", ".join(f"{code} × {count:,}" for code, count in verdict.counts.items()))
    return 0 if verdict.ok else 1


def _verify_pairs(arguments: argparse.Namespace) -> int:
    """Make the pairs of a folder anew, each judged by the oracle, and compare."""
    from recombine.errors import FileError, Infeasible, UsageError
    from recombine.pairs import read_pairs

    if arguments.sample is not None or arguments.certificate:
        raise UsageError("a folder of matched pairs is verified as a whole; leave out --sample and --certificate.")
    try:
        pairs = read_pairs(arguments.dir)
    except (FileError, Infeasible) as problem:
        if arguments.json:
            print_json({"ok": False, "problem": str(problem)})
        else:
            say(f"NOT in order: {problem}")
        return 1
    if arguments.json:
        print_json({"ok": True, "pairs": len(pairs)})
    else:
        say(f"no problem: {len(pairs):,} pairs, made anew and the same, each judged by the oracle")
    return 0
