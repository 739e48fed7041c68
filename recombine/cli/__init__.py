"""The command line: one file per verb, and `recombine VERB` imports only that file.

A verb's file has `add_arguments(parser)` and `run(arguments) -> int`. Nothing ends in a traceback: what the package raises on purpose
and what the system refuses become one line on standard error and exit code 2; a fault of ours becomes one line that says how to
report it and exit code 3. `recombine --debug VERB …` shows the traceback as well. A closed pipe ends quietly; Ctrl-C (130) and
SIGTERM (143) say what was finished.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

VERBS: dict[str, str] = {
    "list": "families, recipes and splits with their claims and sizes",
    "show": "one example: text, picture, proof, shortcut answers",
    "generate": "write parts of a split as a folder that datasets.load_dataset reads",
    "export": "rows with prompts in the layout of a training or evaluation stack",
    "push": "upload a folder to the Hugging Face hub, with its card",
    "path": "print the path of the files that another tool needs (lm-eval, verl, ...)",
    "mcp": "serve episodes as tools for any MCP client",
    "serve": "the playground in a browser, and studies with people",
    "study": "make a study with people, and write out what they gave",
    "merge": "finish a folder whose shards were made on several machines",
    "divergence": "how far the test parts of a folder lie from its training part",
    "verify": "prove a folder: hashes, counts, every answer by the oracle, no leaks",
    "stats": "distributions of a folder's columns, with small pictures",
    "audit": "judge a file that others released",
    "train": "train a model; a run is a folder, and a killed run goes on",
    "identify": "find test answers that the training rows do not determine (scan, nacs)",
    "rules": "ask for a rule instead of answers, and run the rule that somebody wrote",
    "predict": "answer a part's rows with a trained model",
    "ask": "ask a language model, through an endpoint or from a local folder",
    "plan-eval": "how many rows a comparison needs, and what they cost, before any money is spent",
    "reproduce": "train what a published table needs and print it beside the paper's values",
    "evaluate": "score answers: accuracy with intervals, named mistakes, a report",
    "history": "earlier runs of the same suite, with trends and intervals",
    "exam": "sealed exams: commit to a secret, sit, reveal, check",
    "watch": "an episode as a film",
    "doctor": "what is installed, what extras would add, browser, GPU, kernels",
    "completion": "a script that completes verbs and options in your shell",
    "demo": "make a gallery of puzzles to play with, and a report of baselines",
}
"""Verb -> what it does; the file of a verb is cli/VERB.py (with - as _)."""
RESUMING = ("generate", "ask", "train", "reproduce", "exam")
"""Verbs that keep what they have finished and go on from there."""
BUG, TROUBLE = 3, 2


class Terminated(BaseException):
    """SIGTERM came: end in order."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it: `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    words = [*(sys.argv[1:] if argv is None else argv)]  # not list(): that name becomes the verb's module
    is_debug = "--debug" in words[:1]
    words = words[1:] if is_debug else words
    verb = next((word for word in words if not word.startswith("-")), None)
    if words and words[0] in ("--version", "-V"):
        from recombine import __version__

        sys.stdout.write(f"recombine {__version__}\n")
        return 0
    if verb is None or words[0] != verb:
        _parser(None).print_help()
        return 0 if words and words[0] in ("-h", "--help") else 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter shows its code
            stream.reconfigure(errors="backslashreplace")
    with _ending_on_sigterm():
        return _guarded(verb, words[1:], is_debug)


def _guarded(verb: str, words: list[str], is_debug: bool) -> int:
    """The verb's exit code, or that of whatever went wrong, told in one line."""
    from recombine.errors import RecombineError

    try:
        return _run(verb, words)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return _tell(f"interrupted{_finished(verb)}", 130, is_debug)
    except Terminated:
        return _tell(f"terminated{_finished(verb)}", 143, is_debug)
    except RecombineError as problem:
        return _tell(f"recombine {verb}: {problem}", TROUBLE, is_debug)
    except MemoryError:
        return _tell(f"recombine {verb}: out of memory; use a smaller --size or fewer --workers", TROUBLE, is_debug)
    except OSError as problem:
        place = f" ({problem.filename})" if isinstance(problem.filename, str) else ""
        return _tell(f"recombine {verb}: the system refused: {problem.strerror or problem}{place}", TROUBLE, is_debug)
    except ImportError as problem:
        return _tell(f"recombine {verb}: a package is missing or broken: {problem}", TROUBLE, is_debug)
    except Exception as problem:  # the last line of defence: whatever is left is a fault of ours
        from recombine import __version__

        what = f"{type(problem).__name__}: {problem}"[:300]
        hint = f"this is a fault of recombine {__version__}; run `recombine --debug {verb} …` and report what it prints"
        return _tell(f"recombine {verb}: {what} - {hint}", BUG, is_debug)


def _tell(line: str, code: int, is_debug: bool) -> int:
    """One line on standard error, after the traceback if that was asked for; returns the code."""
    from recombine.errors import printable

    if is_debug:
        import traceback

        sys.stderr.write(printable(traceback.format_exc()))
    sys.stderr.write(printable(" ".join(line.split("\n"))) + "\n")
    return code


def _finished(verb: str) -> str:
    """How far an interrupted verb came, and how to go on."""
    from recombine.cli.printing import Standing

    rows = f" after {Standing.done:,} of {Standing.total:,} rows" if Standing.total else ""
    if verb in RESUMING:
        return f"{rows}; what was finished is kept, run the same command again to go on"
    return f"{rows}; nothing was left half-written, run the same command again to start anew"


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exception while a verb runs, in the main thread; elsewhere signals are not ours."""

    def stop(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb the ending
        raise Terminated

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(verb: str, words: list[str]) -> int:
    from recombine.errors import UnknownName

    if verb not in VERBS:
        raise UnknownName("command", verb, VERBS)
    arguments = parser_of(verb).parse_args(words)
    arguments.words = [verb, *words]
    from recombine.cli.log import show_log

    show_log()
    _announce_compiling()
    code: int = _module(verb).run(arguments)
    sys.stdout.flush()
    return code


def _announce_compiling() -> None:
    """Say on standard error when kernels are compiled for the first time. Workers are silent."""
    from recombine import kernels

    def tell(sentence: str) -> None:
        sys.stderr.write(f"recombine: {sentence}\n")

    kernels.tell_of_compiling(tell)


def _module(verb: str) -> Any:
    return importlib.import_module(f"recombine.cli.{verb.replace('-', '_')}")


def parser_of(verb: str) -> argparse.ArgumentParser:
    """The parser of a verb, with all its words."""
    module = _module(verb)
    parser = argparse.ArgumentParser(prog=f"recombine {verb}", description=module.__doc__, formatter_class=_Formatter)
    for action in (None, "store"):
        parser.register("action", action, _StoreOnce)
    module.add_arguments(parser)
    return parser


class _StoreOnce(argparse.Action):
    """An option that may be given once: a second value would silently replace the first."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        given: set[str] = namespace.__dict__.setdefault("_given", set())
        if option is not None and self.dest in given:
            parser.error(f"{option} was given twice, but takes one value")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that keeps the paragraphs of a verb's docstring."""


def _parser(_verb: str | None) -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {text}" for name, text in VERBS.items())
    return argparse.ArgumentParser(
        prog="recombine",
        usage="recombine [--debug] VERB [options]    (recombine VERB --help says more)",
        description=f"Benchmarks of compositional generalization: generate, prove, serve, evaluate.\n\nverbs:\n{verbs}",
        formatter_class=_Formatter,
    )
