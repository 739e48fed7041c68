"""Reading with limits and writing without halves: the only way in which this package touches data files."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from recombine.errors import FileError, shown

MAX_LINE = 16 << 20
"""Longest line that a text reader accepts, in bytes."""
MAX_DOCUMENT = 4 << 30
"""Largest JSON document that is read whole, in bytes, after decompression."""


def check_path(path: str | Path) -> Path:
    """The path, if the file system can hold it; names with NUL or over-long parts are refused with a clear error."""
    text = str(path)
    if not text or "\0" in text or (not text.isascii() and text.encode("utf-8", "replace").decode() != text):
        raise FileError(f"{shown(text)} is not a path: it is empty or has a character that no file name can have.")
    if any(len(os.fsencode(piece)) > 255 for piece in Path(text).parts) or len(os.fsencode(text)) > 4000:
        raise FileError(f"the path {shown(text)} is too long for a file system; use a shorter one.")
    return Path(text)


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder at this path; False for what cannot be a path at all."""
    try:
        return check_path(path).is_dir()
    except (FileError, OSError, ValueError):
        return False


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file as bytes, decompressed if it is gzip (by its magic, not its name)."""
    path = check_path(path)
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if is_gzip:
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield cast(IO[bytes], unzipped)
            else:
                yield raw
    except (OSError, EOFError, zlib.error) as problem:
        raise FileError(f"cannot read {shown(str(path))}: {_reason(problem)}.") from problem


def _reason(problem: BaseException) -> str:
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number from 1, text without its end) of a UTF-8 file, plain or gzip; over-long lines are an error."""
    with _opened(path) as stream:
        number = 0
        while True:
            line = stream.readline(MAX_LINE + 1)
            if not line:
                return
            number += 1
            if len(line) > MAX_LINE:
                raise FileError(
                    f"line {number} of {shown(str(path))} is over {MAX_LINE >> 20} MiB long; this is not a data file."
                )
            try:
                yield number, line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as problem:
                raise FileError(f"line {number} of {shown(str(path))} is not UTF-8 text (byte {problem.start}).") from None


def read_text(path: Path, limit: int = MAX_DOCUMENT) -> str:
    """The whole text of a UTF-8 file, plain or gzip, up to `limit` bytes."""
    with _opened(path) as stream:
        raw = stream.read(limit + 1)
    if len(raw) > limit:
        raise FileError(f"{shown(str(path))} holds more than {limit >> 20} MiB; split it first.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise FileError(f"{shown(str(path))} is not UTF-8 text (byte {problem.start}).") from None


def read_chunks(path: Path, size: int = 1 << 20) -> Iterator[str]:
    """The text of a UTF-8 file, plain or gzip, piece by piece: for documents that do not fit in memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _opened(path) as stream:
        while raw := stream.read(size):
            try:
                yield decoder.decode(raw)
            except UnicodeDecodeError as problem:
                raise FileError(f"{shown(str(path))} is not UTF-8 text (byte {problem.start} of a piece).") from None


def read_json(path: Path, limit: int = MAX_DOCUMENT) -> Any:
    """A JSON document, plain or gzip."""
    return parse_json(read_text(path, limit), str(path))


def parse_json(text: str, place: str) -> Any:
    """JSON text as a value; anything else is a `FileError` that names the place."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, ValueError) else "nested too deeply"
        raise FileError(f"{place} is not JSON: {reason}.") from None


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose bytes appear at `path` all at once, after fsync, or not at all."""
    path = check_path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as problem:
        raise FileError(f"cannot write {shown(str(path))}: {_reason(problem)}.") from problem
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Like `writing`, for UTF-8 text with Unix line ends."""
    with writing(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", write_through=False)
        yield text
        text.flush()
        text.detach()


def write_text(path: Path, text: str) -> None:
    """Write a whole text file at once."""
    with writing_text(path) as out:
        out.write(text)


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON with sorted keys: the same value gives the same bytes."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def sync_folder(folder: Path) -> None:
    """Make a rename inside this folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
