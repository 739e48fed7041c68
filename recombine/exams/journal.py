"""The journal of a sitting: one line per reply, each linked to the line before it by a hash.

The first line names the exam, the examinee and the hash of all questions. The last line closes the journal; its link is the head. Publish
the head before the secret is revealed. Any later change, drop, swap or addition of a reply changes the head.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.errors import FileError, shown
from recombine.exams.document import canonical
from recombine.exams.faults import DroppedReply, EditedReply, LateReply, SwappedReply, UnfinishedSitting
from recombine.exams.secret import hashed
from recombine.files import Kind, Lines, held, inside, own_folder, parse_json, read_lines
from recombine.schemas import Shape, check, optional, record, text, whole

JOURNAL, PAPER, RESULT, ASKED = "journal.jsonl", "paper.jsonl", "result.json", "asked"
"""`asked` is the folder in which `exam sit` keeps requests and replies of an endpoint, before they are in the journal."""
MOST_SECONDS = 1 << 40
LONGEST_REPLY = 2_000_000
_LINK = text(64)
OPEN_SHAPE = record({
    "kind": text(10), "exam": text(64), "number": whole(1, 10**6), "name": text(200), "beacon": text(200), "paper": text(64),
    "items": whole(1, 10**7), "package": text(60), "link": _LINK,
})  # fmt: skip
REPLY_SHAPE = record({
    "kind": text(10), "item": whole(1, 10**7), "question": text(32), "reply": optional(text(LONGEST_REPLY)), "finish": text(40),
    "at": whole(0, MOST_SECONDS), "link": _LINK,
})  # fmt: skip
CLOSE_SHAPE = record({"kind": text(10), "replies": whole(0, 10**7), "at": whole(0, MOST_SECONDS), "link": _LINK})
SHAPES: Mapping[str, Shape] = {"open": OPEN_SHAPE, "reply": REPLY_SHAPE, "close": CLOSE_SHAPE}
GENESIS = hashed("journal")


def link_of(before: bytes, line: Mapping[str, Any]) -> bytes:
    """The link of a line: a hash of the link before it and of the line without its own link."""
    return hashed("link", before, canonical({name: value for name, value in line.items() if name != "link"}))


@dataclass
class Journal:
    """A journal as it was read. `head` is the link of the last line; `is_closed` if that line closes the journal."""

    opening: Mapping[str, Any]
    replies: list[Mapping[str, Any]] = field(default_factory=list)
    head: str = ""
    is_closed: bool = False


def read_journal(path: Path) -> Journal:
    """The journal, with every link checked; a line that is missing, moved, changed or late is a fault of its own."""
    lines = [_line(text_, f"line {number} of {shown(str(path))}") for number, text_ in read_lines(path) if text_.strip()]
    if not lines or lines[0]["kind"] != "open":
        raise FileError(f"{shown(str(path))} does not begin with the line that opens a sitting.")
    _check_order(lines[1:], str(path))
    before = GENESIS
    journal = Journal(lines[0])
    for number, line in enumerate(lines, 1):
        before = link_of(before, line)
        if line["link"] != before.hex():
            raise EditedReply(f"line {number} of {shown(str(path))} was changed: its link is not the one that its words give.")
        if line["kind"] == "reply":
            journal.replies.append(line)
        journal.is_closed = line["kind"] == "close"
    journal.head = before.hex()
    if journal.is_closed and lines[-1]["replies"] != len(journal.replies):
        raise DroppedReply(
            f"{shown(str(path))} was closed after {lines[-1]['replies']} replies and holds {len(journal.replies)}."
        )
    return journal


def _line(raw: str, place: str) -> dict[str, Any]:
    value = parse_json(raw, place)
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in SHAPES:
        raise FileError(f"{place} is not a line of a sitting's journal.")
    check(value, SHAPES[kind], place)
    return dict(value)


def _check_order(lines: Sequence[Mapping[str, Any]], path: str) -> None:
    """Replies are numbered 1, 2, 3 …; nothing follows the line that closes the journal."""
    items = [line["item"] for line in lines if line["kind"] == "reply"]
    closed = False
    expected = 1
    for line in lines:
        if line["kind"] == "open":
            raise EditedReply(f"{shown(path)} is opened twice.")
        if closed:
            raise LateReply(f"{shown(path)} holds a line after the one that closes it.")
        if line["kind"] == "close":
            closed = True
            continue
        if line["item"] != expected:
            if expected in items:
                raise SwappedReply(f"{shown(path)} has the reply to item {line['item']} in the place of item {expected}.")
            raise DroppedReply(f"{shown(path)} has no reply to item {expected}.")
        expected += 1


def check_closed(journal: Journal, path: Path) -> None:
    """A journal that is still open has no head to publish."""
    if not journal.is_closed:
        raise UnfinishedSitting(
            f"{shown(str(path))} is not closed: {len(journal.replies)} of {journal.opening['items']} replies."
        )


# --- writing ---------------------------------------------------------------------------------------------------------


class Pen:
    """Adds lines to a journal; when `add` returns, the line is on the disk."""

    def __init__(self, lines: Lines, before: bytes) -> None:
        self._lines, self._before = lines, before

    def add(self, line: dict[str, Any]) -> str:
        """Write a line with its link; returns the link."""
        self._before = link_of(self._before, line)
        link = self._before.hex()
        self._lines.add(json.dumps({**line, "link": link}, ensure_ascii=True))
        return link


def _is_sitting(folder: Path) -> bool:
    names = {entry.name for entry in folder.iterdir()}
    known = {"lock", JOURNAL, PAPER, RESULT, ASKED}
    return all(name in known or (name.startswith(".") and name.endswith(".tmp")) for name in names)


SITTING = Kind("a sitting of `recombine exam sit`", _is_sitting, is_local=True)


@contextmanager
def open_sitting(out: str | Path) -> Iterator[Path]:
    """The folder of a sitting, held against other processes."""
    folder = own_folder(out, SITTING)
    with held(inside(folder, "lock"), f"{shown(str(out))} is in use by another process; wait for it to end."):
        yield folder


@contextmanager
def pen_for(folder: Path, opening: Mapping[str, Any]) -> Iterator[tuple[Pen, Journal]]:
    """A pen for a new journal, or for one of the same exam and examinee that was interrupted."""
    path = inside(folder, JOURNAL)
    lines = Lines(path)
    try:
        is_new = path.stat().st_size == 0
        journal = Journal(opening) if is_new else read_journal(path)
        if not is_new:
            _check_same(journal.opening, opening, path)
            if journal.is_closed:
                raise LateReply(f"{shown(str(path))} is closed; a new sitting needs a new folder.")
        pen = Pen(lines, GENESIS if is_new else bytes.fromhex(journal.head))
        if is_new:
            journal.head = pen.add(dict(opening))
        yield pen, journal
    finally:
        lines.close()


def _check_same(there: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    other = [name for name in now if name != "package" and there.get(name) != now[name]]
    if other:
        raise FileError(f"{shown(str(path))} belongs to another sitting ({', '.join(other)} differ); choose another folder.")


Clock = Callable[[], float]
