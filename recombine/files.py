"""Reads files with size limits, writes files whole or not at all, and decides which output folders a command may use."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import json
import os
import re
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from recombine.errors import FileError, shown
from recombine.stores import Remote, is_url, remote

MAX_LINE = 16 << 20
"""Longest line that a text reader accepts, in bytes."""
MAX_DOCUMENT = 4 << 30
"""Largest JSON document that is read whole, in bytes, after decompression."""
_LEFTOVER = re.compile(r"\.(.+)\.\d+\.tmp")


# --- paths -----------------------------------------------------------------------------------------------------------


def check_path(path: str | Path) -> Path:
    """The path, if the file system can hold it; names with NUL or over-long parts are refused with a clear error.

    An address such as `s3://bucket/folder` becomes a `Remote`, which has the ways of a path that are needed here.
    """
    text = str(path)
    if (there := remote(path)) is not None:
        return cast(Path, there)
    if isinstance(path, str) and is_url(text):
        return cast(Path, Remote.of(text))
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


def inside(folder: Path, relative: str) -> Path:
    """The path of a file of a folder; a name or a symbolic link that leads out of the folder is refused."""
    pieces = PurePosixPath(relative).parts
    if not pieces or relative.startswith("/") or ".." in pieces or "\\" in relative or "\0" in relative:
        raise FileError(f"{shown(relative)} is not the name of a file inside {shown(str(folder))}.")
    place = folder
    for piece in pieces:
        place = place / piece
        if place.is_symlink():
            raise FileError(
                f"{shown(str(place))} is a symbolic link, which could lead anywhere; copy the folder with `cp -rL` and use the copy."
            )
    return place


@contextmanager
def told(doing: str, path: str | Path) -> Iterator[None]:
    """Turn an operating system's error into a `FileError` that says what could not be done to which path."""
    try:
        yield
    except OSError as problem:
        raise FileError(f"cannot {doing} {shown(str(path))}: {reason_of(problem)}.") from problem


def reason_of(problem: BaseException) -> str:
    """The system's own words for an error."""
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


# --- reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file as bytes, decompressed if it is gzip (by its magic, not its name). Pipes and devices are refused."""
    path = check_path(path)
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise FileError(f"{shown(str(path))} is a pipe or a device, which has no end; save it as a file first.")
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if is_gzip:
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield cast(IO[bytes], unzipped)
            else:
                yield raw
    except (OSError, EOFError, zlib.error) as problem:
        raise FileError(f"cannot read {shown(str(path))}: {reason_of(problem)}.") from problem


def read_lines(path: Path, *, only_whole: bool = False) -> Iterator[tuple[int, str]]:
    """(line number from 1, text without its end) of a UTF-8 file, plain or gzip; over-long lines are an error.

    With `only_whole`, a last line without its end is left out: another process is writing it, or was killed in it.
    """
    with _opened(path) as stream:
        number = 0
        while True:
            line = stream.readline(MAX_LINE + 1)
            if not line or (only_whole and len(line) <= MAX_LINE and not line.endswith(b"\n")):
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
        is_open = True
        while is_open:
            raw = stream.read(size)
            is_open = bool(raw)
            try:
                piece = decoder.decode(raw, final=not is_open)
            except UnicodeDecodeError as problem:
                raise FileError(f"{shown(str(path))} is not UTF-8 text (byte {problem.start} of a piece).") from None
            if piece:
                yield piece


def read_json(path: Path, limit: int = MAX_DOCUMENT) -> Any:
    """A JSON document, plain or gzip."""
    return parse_json(read_text(path, limit), shown(str(path)))


def parse_json(text: str, place: str) -> Any:
    """JSON text as a value; anything else is a `FileError` that names the place."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        reason = str(problem) if isinstance(problem, ValueError) else "nested too deeply"
        raise FileError(f"{place} is not JSON: {reason}.") from None


# --- writing ---------------------------------------------------------------------------------------------------------


class _Writer(io.BufferedWriter):
    """A file that is being written. Its own failures are `FileError`s, so they differ from errors of the code that fills it."""

    def __init__(self, raw: io.RawIOBase, path: Path) -> None:
        super().__init__(raw)
        self.path = path

    def write(self, data: Any, /) -> int:
        with told("write", self.path):
            return super().write(data)

    def flush(self) -> None:
        with told("write", self.path):
            super().flush()


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A binary stream whose bytes appear at `path` all at once, after fsync, or not at all."""
    path = check_path(path)
    if (there := remote(path)) is not None:
        with _uploading(there) as upload:
            yield upload
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with told("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = cast(io.RawIOBase, temporary.open("wb", buffering=0))
    try:
        stream = _Writer(raw, path)
        yield cast(IO[bytes], stream)
        stream.flush()
        with told("write", path):
            os.fsync(raw.fileno())
            stream.close()
            temporary.replace(path)
            sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(
            OSError, FileError
        ):  # the first error is the one to tell; a leftover is swept up by the next run
            raw.close()
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _uploading(place: Remote) -> Iterator[IO[bytes]]:
    """A local stream whose bytes are put into the store at the end, if all went well."""
    with told("write", tempfile.gettempdir()):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with scratch as folder:
        local = Path(folder, "upload")
        with told("write", local):
            raw = cast(io.RawIOBase, local.open("wb", buffering=0))
        try:
            stream = _Writer(raw, local)
            yield cast(IO[bytes], stream)
            stream.flush()
            stream.close()
        except BaseException:
            with contextlib.suppress(OSError, FileError):  # the first error is the one to tell
                raw.close()
            raise
        with told("write", str(place)):
            place.put(str(local))


@contextmanager
def writing_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Like `writing`, for UTF-8 text with Unix line ends. Half a surrogate pair, which UTF-8 cannot hold, is written as an escape."""
    with writing(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=False)
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


class Lines:
    """A file that grows line by line. Opening it cuts off a last line without its end, which a killed process left."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with told("write", path):
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
            with os.fdopen(self._handle, "rb", closefd=False) as stream:
                os.ftruncate(self._handle, _end_of_lines(stream))

    def add(self, line: str, *, is_durable: bool = True) -> None:
        """Write a line. It survives a kill of the process; a durable one is on the disk when this returns."""
        with told("write", self.path):
            write_all(self._handle, f"{line}\n".encode("utf-8", "replace"))
            if is_durable:
                os.fsync(self._handle)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def _end_of_lines(stream: IO[bytes]) -> int:
    """How many bytes the whole lines of a file have, found from its end."""
    end = stream.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - (1 << 16))
        stream.seek(start)
        last = stream.read(end - start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0


def write_all(handle: int, raw: bytes) -> None:
    """Write all bytes to a file handle; the system may take them in pieces."""
    while raw:
        raw = raw[os.write(handle, raw) :]


def sync_folder(folder: Path) -> None:
    """Make a rename inside this folder durable, on systems where a folder can be synced."""
    if os.name == "nt" or remote(folder) is not None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def held(path: Path, busy: str, seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock file at this path; a `FileError` with the words `busy` if another process holds it for so long.

    The system gives the lock back when the process ends, however it ends.
    """
    from filelock import FileLock, Timeout

    if remote(path) is not None:  # stores have no locks; two runs of one job write the same bytes
        yield
        return
    lock = FileLock(path)
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        raise FileError(busy) from None
    except (OSError, NotImplementedError) as problem:
        raise FileError(f"cannot lock {shown(str(path))}: {reason_of(problem)}.") from problem
    try:
        yield
    finally:
        lock.release()


# --- owning ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of output. `is_ours(path)` says whether what lies there was written by the same kind of command.

    `name` stands in messages: "… is not a report of `recombine evaluate`". `writes` names the files that a folder of this kind
    may share with foreign ones, where it may; without names, the whole folder belongs to the command. `is_local`: the command adds to
    its files bit by bit, which object stores cannot.
    """

    name: str
    is_ours: Callable[[Path], bool]
    writes: tuple[str, ...] = ()
    is_local: bool = False


def own_folder(path: str | Path, kind: Kind, *, made: bool = True) -> Path:
    """The output folder, made if needed. Every verb that writes a folder asks here first.

    A verb that may still refuse asks with `made=False`, and again when it has something to write: so it leaves no empty folder.
    A folder with content that the same kind of command did not write is refused, and so is a symbolic link. Nothing is deleted.
    """
    folder = check_path(path)
    if kind.is_local and remote(folder) is not None:
        raise FileError(f"{shown(str(path))} is in an object store; this command needs a folder of this machine.")
    if folder.is_symlink():
        raise FileError(f"{shown(str(path))} is a symbolic link; name the real folder.")
    with told("write to", path):
        if folder.exists() and not folder.is_dir():
            raise FileError(f"{shown(str(path))} exists and is not a folder.")
        entries = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
        taken = [name for name in kind.writes if name in entries] if kind.writes else entries
        if taken and not kind.is_ours(folder):
            raise FileError(
                f"{shown(str(path))} is not empty ({_listed(taken)}) and is not {kind.name}; choose another folder."
            )
        if made:
            folder.mkdir(parents=True, exist_ok=True)
    return folder


def own_file(path: str | Path, kind: Kind) -> Path:
    """The output file, which may replace only what the same kind of command wrote before."""
    file = check_path(path)
    with told("write", path):
        if file.is_symlink():
            raise FileError(f"{shown(str(path))} is a symbolic link; name the real file.")
        if file.exists():
            if not file.is_file():
                raise FileError(f"{shown(str(path))} exists and is not a file.")
            if file.stat().st_size and not kind.is_ours(file):
                raise FileError(f"{shown(str(path))} exists and is not {kind.name}; choose another name.")
    return file


def begins_with(*beginnings: bytes) -> Callable[[Path], bool]:
    """Whether a file's first bytes are one of these: a sign of which kind of command wrote it."""

    def is_ours(path: Path) -> bool:
        with path.open("rb") as stream:
            return stream.read(max(map(len, beginnings))).startswith(beginnings)

    return is_ours


def sweep(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Delete what a killed process left of half-written files of ours, by their names; nothing else, and follow no link."""
    for place, found in _files_of(folder):
        match = _LEFTOVER.fullmatch(place.rpartition("/")[2])
        if match and not found.is_symlink() and is_own(place[: -len(match[0])] + match[1]):
            with told("delete", found):
                found.unlink(missing_ok=True)


def remove_own(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Delete the files of ours, by their names, from a folder that `own_folder` gave; all others stay, and links are not followed."""
    for place, found in _files_of(folder):
        if is_own(place) and not found.is_symlink():
            with told("delete", found):
                found.unlink(missing_ok=True)


def discard(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Delete a folder, of which every single file is ours by its name; with a foreign file in it nothing is deleted."""
    listed = list(_files_of(folder))
    for place, found in listed:
        match = _LEFTOVER.fullmatch(place.rpartition("/")[2])
        whole = place[: -len(match[0])] + match[1] if match else place
        if found.is_symlink() or not (is_own(place) or is_own(whole)):
            raise FileError(f"{shown(str(found))} was not written by Recombine, so {shown(str(folder))} is left as it is.")
    with told("delete", folder):
        for _, found in listed:
            found.unlink()
        for above in sorted({found.parent for _, found in listed} | {folder}, key=lambda p: -len(p.parts)):
            with contextlib.suppress(OSError):  # a folder that is not empty holds something of somebody else
                above.rmdir()


def _files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """(path from the folder with `/`, path) of all files and links below it; links are not followed."""
    if (there := remote(folder)) is not None:
        for item in there.rglob("*"):
            yield item.relative_to(there).as_posix(), cast(Path, item)
        return
    for top, folders, names in os.walk(folder):
        links = [name for name in folders if Path(top, name).is_symlink()]
        for name in sorted([*names, *links]):
            found = Path(top, name)
            yield found.relative_to(folder).as_posix(), found


def holds(path: Path, fits: Callable[[Any], bool], limit: int = 256 << 20) -> bool:
    """Whether there is a JSON file at this path whose value fits; False for anything unreadable or strange."""
    try:
        return path.is_file() and not path.is_symlink() and bool(fits(read_json(path, limit)))
    except (FileError, OSError, TypeError, KeyError):
        return False


def is_report(folder: Path) -> bool:
    """Whether the folder holds a report of ours."""
    return holds(folder / "report.json", lambda found: str(found["package"]).startswith("recombine "))


def is_ask_run(folder: Path) -> bool:
    """Whether the folder holds a run of `recombine ask`, of one part or of a suite: its answers were paid for."""
    return holds(folder / "run.json", lambda found: isinstance(found, dict) and bool({"asked", "suite"} & found.keys()))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(shown(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
