"""Show one example: what a model sees, the answer, the proof, and what careless readers would answer.

recombine show reascan --split a1 --random
recombine show reascan --save figure.pdf --no-solution --scale 0.5
recombine show data-compositional-splits.txt --as reascan --index 7
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from recombine.cli.printing import print_json, say
from recombine.cli.requests import add_request, options_of, request_words, whole_number
from recombine.core import Example
from recombine.errors import UsageError, shown

SUFFIXES = {".svg": ("svg",), ".pdf": ("svg",), ".png": ("png",), ".txt": ("text", "ascii", "graph")}
"""Suffix of a file -> the media that it can hold."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine show`."""
    parser.add_argument("family", help="a family's name, a folder, an example's id, or a released file (with --as)")
    add_request(parser, several=False)
    parser.add_argument("--index", type=whole_number, default=0, metavar="I", help="which row (default 0)")
    parser.add_argument("--random", action="store_true", help="a random row, different each time")
    parser.add_argument("--as", dest="read_as", metavar="FAMILY", help="the family whose released file this is")
    parser.add_argument("--render", metavar="M", help="print only this: text, ascii, svg, png, graph")
    parser.add_argument("--save", metavar="FILE", help="write the picture here; the suffix decides: .svg, .pdf, .png or .txt")
    parser.add_argument(
        "--solution", action=argparse.BooleanOptionalAction, help="with or without the solution (.svg and .pdf)"
    )
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="scale factor (.svg and .pdf, default 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the example."""
    from recombine.data.datasets import example
    from recombine.errors import UnknownName
    from recombine.files import own_file, writing
    from recombine.signature import picture_kind, signed

    if arguments.random and arguments.index:
        raise UsageError("--random chooses the row; leave out --index.")
    words = request_words(arguments)
    if arguments.read_as or Path(arguments.family).is_file():
        if words:
            raise UsageError(f"{shown(arguments.family)} is one list of rows; leave out{words}.")
        found = _released(arguments)
    elif "@" in arguments.family and not Path(arguments.family).is_dir():
        if words or arguments.index or arguments.random:
            raise UsageError(f"an id names one row; leave out{words or ' --index and --random'}.")
        found = example(arguments.family)
    else:
        found = _row(arguments, arguments.index)
    if not 0.01 <= arguments.scale <= 100:
        raise UsageError(f"--scale is {arguments.scale:g}, but must be 0.01 to 100.")
    if arguments.save and Path(arguments.save).suffix.lower() in (".svg", ".pdf") and arguments.render in (None, "svg"):
        return _save_picture(found, arguments)
    if arguments.solution is not None or arguments.scale != 1:
        raise UsageError("--solution, --no-solution and --scale go with --save FILE.svg or FILE.pdf.")
    if arguments.render or arguments.save:
        medium = _medium_of(arguments.save, arguments.render) if arguments.save else arguments.render
        if arguments.save and medium not in found.family.MEDIA:
            fitting = [suffix for suffix, media in SUFFIXES.items() if set(media) & set(found.family.MEDIA)]
            raise UsageError(
                f"{found.family.NAME} has no picture for --save {shown(arguments.save)}; use {', '.join(fitting)}."
            )
        if medium not in found.family.MEDIA:
            raise UnknownName(f"medium of {found.family.NAME}", medium, found.family.MEDIA)
        picture = found.render(medium)
        raw = picture.encode() if isinstance(picture, str) else picture
        if arguments.save:
            suffix = Path(arguments.save).suffix.lower()
            with writing(own_file(arguments.save, picture_kind(suffix))) as out:
                out.write(signed(raw, suffix))
            _tell_saved(found, arguments)
        else:
            _print(raw, medium)
        return 0
    explanation = found.explain()
    if arguments.json:
        shortcuts = [{"name": s.name, "reader": s.reader, "answer": s.answer} for s in explanation.shortcuts]
        print_json(
            {"id": found.id, "inputs": found.inputs, "answer": found.answer, "steps": explanation.steps, "shortcuts": shortcuts}
        )
        return 0
    say(found.id)
    text = found.render("text")
    say(text if isinstance(text, str) else text.decode())
    say(f"\nanswer: {found.answer}\n\nproof:")
    for number, step in enumerate(explanation.steps, 1):
        say(f"  {number}. {step}")
    say("\na reader who …")
    for shortcut in explanation.shortcuts:
        if shortcut.answer is not None:
            mark = " (same)" if shortcut.answer == found.answer else ""
            say(f"  {shortcut.reader} ({shortcut.name}): {shortcut.answer}{mark}")
    return 0


def _save_picture(found: Example, arguments: argparse.Namespace) -> int:
    """Write the example's picture as SVG or PDF."""
    from recombine.abilities import Depicting
    from recombine.errors import UnknownName
    from recombine.evaluate.figures import save_picture

    family = found.family
    if arguments.solution is not None and not isinstance(family, Depicting):
        raise UsageError(f"{family.NAME} draws one picture only; leave out --solution and --no-solution.")
    if "svg" not in family.MEDIA:
        raise UnknownName(f"medium of {family.NAME}", "svg", family.MEDIA)
    drawn = family.depict(found, arguments.solution is not False) if isinstance(family, Depicting) else found.render("svg")
    save_picture(drawn if isinstance(drawn, str) else drawn.decode(), arguments.save, arguments.scale)
    _tell_saved(found, arguments)
    return 0


def _tell_saved(found: Example, arguments: argparse.Namespace) -> None:
    """Say where the picture is, and of which row."""
    if arguments.json:
        print_json({"id": found.id, "file": arguments.save})
    else:
        say(f"wrote {arguments.save}: {found.id}")


def _released(arguments: argparse.Namespace) -> Example:
    """A row of a file in the originally released layout."""
    from recombine.core import Problem
    from recombine.families import FAMILIES, family

    if not arguments.read_as:
        raise UsageError(f"{shown(arguments.family)} is a file; say whose with --as: {', '.join(FAMILIES)}.")
    rows = family(arguments.read_as).read(Path(arguments.family))
    if arguments.random:
        listed = list(islice(rows, MOST_READ))
        chosen = listed[_chance(len(listed))] if listed else None
    else:
        chosen = next(islice(rows, arguments.index, None), None)
    if chosen is None:
        raise UsageError(f"{shown(arguments.family)} has no row {arguments.index}.")
    if isinstance(chosen, Problem):
        raise UsageError(f"row {chosen.place} of {shown(arguments.family)} cannot be read: {chosen.text}.")
    return chosen


MOST_READ = 100_000
"""Rows of a released file among which `--random` chooses."""


def _chance(rows: int) -> int:
    """A row drawn by the system's own randomness: `show --random` is the one place where nothing depends on a seed."""
    import secrets

    return secrets.randbelow(rows)


def _row(arguments: argparse.Namespace, index: int) -> Example:
    """A row of a family's part (any row, if the part is not finite) or of a folder."""
    from recombine.data.datasets import Dataset, load
    from recombine.families import FAMILIES
    from recombine.pairs import is_pairs, pair_rows

    words = {"seed": arguments.seed, "recipe": arguments.recipe, **options_of(arguments)}

    def loaded(**more: Any) -> Dataset:
        if arguments.family not in FAMILIES and is_pairs(arguments.family):
            if chosen := request_words(arguments):
                raise UsageError(f"a folder of matched pairs is one list of rows; leave out{chosen}.")
            return pair_rows(arguments.family)
        return load(arguments.family, arguments.split, arguments.part, **words, **more)

    data = loaded()
    if arguments.random:
        return data[_chance(len(data))]
    if index >= len(data) and arguments.family in FAMILIES and data.plan.available is None:
        data = loaded(size=index + 1)
    if index >= len(data):
        raise UsageError(f"--index {index} is past the end: {data.job.split}/{data.job.part} has {len(data):,} rows.")
    return data[index]


def _print(raw: bytes, medium: str) -> None:
    """Print a picture. Text is escaped; a PNG is written only if standard output is not a terminal."""
    if medium != "png":
        say(raw.decode().removesuffix("\n"))
    elif sys.stdout.isatty():
        raise UsageError("a PNG cannot be printed on a terminal; add --save FILE.png.")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)


def _medium_of(path: str, wanted: str | None) -> str:
    """The medium that a file's suffix names; one that the suffix does not fit is an error."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"--save {shown(path)} has no suffix that says what to write; use one of {', '.join(SUFFIXES)}.")
    if wanted and wanted not in SUFFIXES[suffix]:
        raise UsageError(
            f"--save {shown(path)} is written as {SUFFIXES[suffix][0]}, but --render says {shown(wanted)}; make them agree."
        )
    return wanted or SUFFIXES[suffix][0]
