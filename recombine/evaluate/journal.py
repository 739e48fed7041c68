"""The folder of an `ask` run: what is asked (run.json), each request and each reply as soon as it is there, and the answers.

run.json         what decides the prompts and the replies; a folder takes up the same run again and refuses any other
requests.jsonl   one line before each request: what it may cost at most, so that caps hold even over a killed process
replies.jsonl    one line per reply, on the disk before it is looked at; a half line that a kill left behind is dropped
answers.jsonl    what `recombine evaluate` reads, made anew from all replies whenever the run ends
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recombine.errors import FileError, shown
from recombine.files import check_path, parse_json, read_json, read_lines, write_json

RUN, REQUESTS, REPLIES, ANSWERS = "run.json", "requests.jsonl", "replies.jsonl", "answers.jsonl"
REQUEST_FIELDS = frozenset({"id", "tokens_in", "tokens_out"})
REPLY_FIELDS = frozenset(
    {"id", "reply", "finish", "refusal", "error", "model", "tokens_in", "tokens_out", "charged", "seconds"}
)


class Journal:
    """An open run folder: `replies` by id (the last of each), and what was `used` so far: requests, tokens in, tokens out.

    Requests that no reply accounts for were under way when a process ended; they count with the most that they can have used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies: dict[str, dict[str, Any]] = {}
        self.used: list[tuple[int, int, int]] = []
        settled: Counter[str] = Counter()
        for line in _records(folder / REPLIES, REPLY_FIELDS):
            self.replies[line["id"]] = line
            charged = line["charged"]
            settled[line["id"]] += int(charged["requests"])
            self.used.append((int(charged["requests"]), int(charged["tokens_in"]), int(charged["tokens_out"])))
        for line in _records(folder / REQUESTS, REQUEST_FIELDS):
            settled[line["id"]] -= 1
            if settled[line["id"]] < 0:
                self.used.append((1, int(line["tokens_in"]), int(line["tokens_out"])))
        self._requests = _appending(folder / REQUESTS)
        self._replies = _appending(folder / REPLIES)

    def close(self) -> None:
        """Close the files."""
        os.close(self._requests)
        os.close(self._replies)

    def note_request(self, identifier: str, tokens_in: int, tokens_out: int) -> None:
        """Say that a request is about to go out. Survives a kill of the process; a loss of power may lose the last ones."""
        _write(self._requests, {"id": identifier, "tokens_in": tokens_in, "tokens_out": tokens_out})

    def keep(self, record: dict[str, Any]) -> None:
        """Put a reply on the disk; when this returns it is there."""
        _write(self._replies, record)
        os.fsync(self._replies)
        self.replies[record["id"]] = record


def _appending(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as problem:
        raise FileError(f"cannot write {shown(str(path))}: {problem.strerror}.") from None


def _write(handle: int, record: Mapping[str, Any]) -> None:
    raw = (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    try:
        while raw:
            raw = raw[os.write(handle, raw) :]
    except OSError as problem:
        raise FileError(f"cannot write the run's journal: {problem.strerror}.") from None


def _records(path: Path, fields: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The lines of a journal; a last line without its end is what a kill left of a write, and is cut off."""
    if not path.exists():
        return
    _cut_half_line(path)
    for number, line in read_lines(path):
        place = f"line {number} of {shown(str(path))}"
        record = parse_json(line, place)
        if not isinstance(record, dict) or not isinstance(record.get("id"), str) or not fields <= record.keys():
            raise FileError(f"{place} is not a record of a run.")
        yield record


def _cut_half_line(path: Path) -> None:
    with path.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - (1 << 16))
            stream.seek(start)
            last = stream.read(end - start).rfind(b"\n")
            if last >= 0:
                end = start + last + 1
                break
            end = start
        stream.truncate(end)


@contextmanager
def open_journal(out: str | Path, asked: Mapping[str, Any], notes: Mapping[str, Any]) -> Iterator[Journal]:
    """The journal of a run folder, new or taken up again; another run's folder, or one in use, is a clear error.

    `asked` decides the replies and must be equal when a run is taken up; `notes` are kept from the first start.
    """
    folder = check_path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        entries = [entry.name for entry in folder.iterdir() if entry.name != "lock" and not _is_leftover(entry)]
        lock = (folder / "lock").open("w")
    except OSError as problem:
        raise FileError(f"cannot write to {shown(str(out))}: {problem.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(f"{shown(str(out))} is in use by another process; wait for it to end.") from None
        for entry in filter(_is_leftover, list(folder.iterdir())):
            entry.unlink(missing_ok=True)
        if RUN not in entries:
            if entries:
                raise FileError(f"{shown(str(out))} is not empty and holds no run of `recombine ask`; choose another folder.")
            write_json(folder / RUN, {"asked": dict(asked), **notes})
        _check_same(folder, asked)
        journal = Journal(folder)
        try:
            yield journal
        finally:
            journal.close()


def _is_leftover(path: Path) -> bool:
    """Whether this is what a process that was killed while writing a file left behind."""
    return path.name.startswith((f".{RUN}.", f".{ANSWERS}.")) and path.name.endswith(".tmp")


def _check_same(folder: Path, asked: Mapping[str, Any]) -> None:
    there = read_json(folder / RUN, 64 << 20)
    before = there.get("asked") if isinstance(there, dict) else None
    if not isinstance(before, dict):
        raise FileError(f"{shown(str(folder / RUN))} does not describe a run of `recombine ask`.")
    now = json.loads(json.dumps(dict(asked)))
    other = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    if other:
        listed = "; ".join(f"{name} is {shown(before.get(name))} there and {shown(now.get(name))} here" for name in other[:4])
        raise FileError(f"{shown(str(folder))} holds another run: {listed}. Choose another folder.")
