"""Show one example: what a model sees, the answer, the proof, and what careless readers would answer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from recombine.cli.printing import print_json, say
from recombine.cli.requests import add_request, options_of, whole_number
from recombine.core import Example
from recombine.errors import UsageError, shown
from recombine.files import Kind, begins_with


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `recombine show`."""
    parser.add_argument("family", help="a family's name, a folder, or an example's id")
    add_request(parser, several=False)
    parser.add_argument("--index", type=whole_number, default=0, metavar="I", help="which row (default 0)")
    parser.add_argument("--render", metavar="M", help="print only this: text, ascii, svg, png, graph")
    parser.add_argument("--save", metavar="FILE", help="write the picture here; the suffix decides: .svg, .png or .txt")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the example."""
    from recombine.data.datasets import example
    from recombine.errors import UnknownName
    from recombine.files import own_file, writing

    found = example(arguments.family) if "@" in arguments.family else _row(arguments, arguments.index)
    if arguments.render or arguments.save:
        medium = _medium_of(arguments.save, arguments.render) if arguments.save else arguments.render
        if medium not in found.family.MEDIA:
            raise UnknownName(f"medium of {found.family.NAME}", medium, found.family.MEDIA)
        picture = found.render(medium)
        raw = picture.encode() if isinstance(picture, str) else picture
        if arguments.save:
            with writing(own_file(arguments.save, _kind(medium))) as out:
                out.write(raw)
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


def _row(arguments: argparse.Namespace, index: int) -> Example:
    """A row of a family's part (any row, if the part is not finite) or of a folder."""
    from recombine.data.datasets import Dataset, load

    words = {"seed": arguments.seed, "recipe": arguments.recipe, **options_of(arguments)}

    def loaded(**more: Any) -> Dataset:
        return load(arguments.family, arguments.split, arguments.part, **words, **more)

    data = loaded()
    if index >= len(data) and data.folder is None and data.plan.available is None:
        data = loaded(size=index + 1)
    if index >= len(data):
        raise UsageError(f"--index {index} is past the end: {data.job.split}/{data.job.part} has {len(data):,} rows.")
    return data[index]


def _print(raw: bytes, medium: str) -> None:
    """A picture on standard output: text so that a terminal cannot be commanded, PNG only where no terminal listens."""
    if medium != "png":
        say(raw.decode().removesuffix("\n"))
    elif sys.stdout.isatty():
        raise UsageError("a PNG cannot be printed on a terminal; add --save FILE.png.")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)


def _kind(medium: str) -> Kind:
    """What a file may hold that a picture of this medium replaces."""
    beginnings = {"png": b"\x89PNG", "svg": b"<svg"}
    return Kind(f"a picture as {medium}", begins_with(beginnings[medium]) if medium in beginnings else lambda _: False)


def _medium_of(path: str, wanted: str | None) -> str:
    """The medium that a file's suffix names; one that the suffix does not fit is an error."""
    suffix = Path(path).suffix.lower()
    known = {".svg": ("svg",), ".png": ("png",), ".txt": ("text", "ascii", "graph")}
    if suffix not in known:
        raise UsageError(f"--save {shown(path)} has no suffix that says what to write; use one of {', '.join(known)}.")
    if wanted and wanted not in known[suffix]:
        raise UsageError(
            f"--save {shown(path)} is written as {known[suffix][0]}, but --render says {shown(wanted)}; make them agree."
        )
    return wanted or known[suffix][0]
