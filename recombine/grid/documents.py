"""The released JSON documents of both benchmarks, read and written as a stream: the published files are larger than memory.

A document is one JSON object. Its member "examples" maps section names (train, dev, test, …) to lists of examples; its other
members are scalars and vocabularies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from recombine.errors import FileError, UsageError, shown
from recombine.files import read_chunks

MAX_VALUE = 32 << 20
"""Longest single value (one example, one vocabulary) that is decoded, in characters."""
_BLANK = " \t\r\n"


class _Reader:
    """A cursor over a text that arrives in pieces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chunks = read_chunks(path)
        self.text, self.at, self.passed, self.is_done = "", 0, 0, False
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Fetch another piece, dropping what has been read; False at the end."""
        if len(self.text) - self.at > MAX_VALUE:
            raise self.error(f"a value is longer than {MAX_VALUE >> 20} MiB")
        piece = next(self.chunks, None)
        if piece is None:
            self.is_done = True
            return False
        self.passed += self.at
        self.text, self.at = self.text[self.at :] + piece, 0
        return True

    def error(self, reason: str) -> FileError:
        """An error that names the file and the place."""
        return FileError(
            f"{shown(str(self.path))} is not a document of this benchmark: {reason}, near character {self.passed + self.at}."
        )

    def peek(self) -> str:
        """The next character that is not blank, or nothing at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _BLANK:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def expect(self, wanted: str) -> str:
        """Read one character out of `wanted`."""
        found = self.peek()
        if not found or found not in wanted:
            raise self.error(f"expected {' or '.join(wanted)}, found {shown(found)}")
        self.at += 1
        return found

    def value(self) -> Any:
        """Read one whole JSON value."""
        self.peek()
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as problem:
                if isinstance(problem, ValueError) and self.more():
                    continue
                raise self.error(f"a value is broken ({str(problem)[:60]})") from None
            if end == len(self.text) and self.more():
                continue
            self.at = end
            return value

    def members(self) -> Iterator[str]:
        """The keys of the object that begins here; the caller reads each value."""
        self.expect("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.error(f"expected a name, found {shown(key)}")
            self.expect(":")
            yield key
            if self.expect(",}") == "}":
                return

    def elements(self) -> Iterator[Any]:
        """The values of the list that begins here."""
        self.expect("[")
        if self.peek() == "]":
            self.at += 1
            return
        while True:
            yield self.value()
            if self.expect(",]") == "]":
                return


def read_document(path: Path) -> Iterator[tuple[str, str, Any]]:
    """(section, key, value): ("", name, value) for the header, (section, "0", example) … for the examples, in file order."""
    reader = _Reader(path)
    has_examples = False
    for key in reader.members():
        if key != "examples":
            yield "", key, reader.value()
            continue
        has_examples = True
        for section in reader.members():
            for i, example in enumerate(reader.elements()):
                yield section, str(i), example
    if reader.peek():
        raise reader.error("there is text after its end")
    if not has_examples:
        raise reader.error('it has no "examples"')


def write_document(
    header: Mapping[str, Any], sections: Iterable[str], rows: Iterable[tuple[str, Mapping[str, Any]]], out: TextIO
) -> None:
    """Write (section, example) rows as they come, one example a line; sections without rows become empty lists.

    The rows of a section must come together: a section that is left cannot be taken up again in a stream.
    """
    out.write("{\n")
    for key, value in header.items():
        out.write(f"{json.dumps(key)}: {json.dumps(value)},\n")
    out.write('"examples": {')
    current, done = "", [""]
    for section, example in rows:
        if section != current:
            if section in done:
                raise UsageError(f"the rows of section {shown(section)} do not come together; sort the parts before writing.")
            out.write(f"{'],' if current else ''}\n{json.dumps(section)}: [\n")
            current = section
            done.append(section)
        else:
            out.write(",\n")
        out.write(json.dumps(example))
    missing = [section for section in sections if section not in done]
    out.write("]" if current else "")
    for section in missing:
        out.write(f"{',' if len(done) > 1 else ''}\n{json.dumps(section)}: []")
        done.append(section)
    out.write("\n}\n}\n")
