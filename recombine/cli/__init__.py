"""The command line: one file per verb, and `recombine VERB` imports only that file.

A verb's file has `add_arguments(parser)` and `run(arguments) -> int`. Errors that the package raises on purpose become one line
on standard error and exit code 2; a closed pipe or Ctrl-C ends quietly.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

VERBS: dict[str, str] = {
    "list": "families, recipes and splits with their claims and sizes",
    "show": "one example: text, picture, proof, shortcut answers",
    "generate": "write parts of a split as a folder that datasets.load_dataset reads",
    "merge": "seal a folder whose shards were made one by one",
    "verify": "prove a folder: hashes, counts, every answer by the oracle, no leaks",
    "stats": "distributions of a folder's columns, with small pictures",
    "audit": "judge a file that others released",
    "train": "train a model; a run is a folder, and a killed run goes on",
    "predict": "answer a part's rows with a trained model",
    "ask": "ask a language model, through an endpoint or from a local folder",
    "plan-eval": "how many rows a comparison needs, and what they cost, before any money is spent",
    "reproduce": "train what a published table needs and print it beside the paper's values",
    "evaluate": "score answers: accuracy with intervals, named mistakes, a report",
    "demo": "generate, verify and summarise every family; leaves a page to open",
}
"""Verb -> what it does; the file of a verb is cli/VERB.py (with - as _)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    words = [*(sys.argv[1:] if argv is None else argv)]  # not list(): that name becomes the verb's module
    verb = next((word for word in words if not word.startswith("-")), None)
    if words and words[0] in ("--version", "-V"):
        from recombine import __version__

        sys.stdout.write(f"recombine {__version__}\n")
        return 0
    if verb is None or words[0] != verb:
        _parser(None).print_help()
        return 0 if words and words[0] in ("-h", "--help") else 2
    try:
        return _run(verb, words[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; finished files are kept, run the same command again to go on\n")
        return 130


def _run(verb: str, words: list[str]) -> int:
    from recombine.errors import RecombineError, UnknownName

    try:
        if verb not in VERBS:
            raise UnknownName("command", verb, VERBS)
        module = importlib.import_module(f"recombine.cli.{verb.replace('-', '_')}")
        parser = argparse.ArgumentParser(prog=f"recombine {verb}", description=module.__doc__, formatter_class=_Formatter)
        module.add_arguments(parser)
        code: int = module.run(parser.parse_args(words))
        sys.stdout.flush()
        return code
    except RecombineError as problem:
        sys.stderr.write(f"recombine {verb}: {problem}\n")
        return 2
    except MemoryError:
        sys.stderr.write(f"recombine {verb}: out of memory; use a smaller --size or fewer --workers\n")
        return 2


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the paragraphs of a verb's docstring."""


def _parser(_verb: str | None) -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {text}" for name, text in VERBS.items())
    return argparse.ArgumentParser(
        prog="recombine",
        usage="recombine VERB [options]    (recombine VERB --help says more)",
        description=f"Benchmarks of compositional generalization: generate, prove, serve, evaluate.\n\nverbs:\n{verbs}",
        formatter_class=_Formatter,
    )
