"""Sitting an exam: questions go out in small groups, and every reply is in the journal before the next group."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine import __version__
from recombine.errors import FileError, UsageError, shown
from recombine.exams.document import Exam
from recombine.exams.faults import LateReply
from recombine.exams.journal import LONGEST_REPLY, PAPER, Clock, open_sitting, pen_for
from recombine.exams.paper import Question, make_paper, paper_hash
from recombine.exams.secret import Secret
from recombine.files import inside, parse_json, read_lines, write_text


@dataclass(frozen=True)
class Said:
    """A reply, or None if there was none; `finish` is the endpoint's reason for its end."""

    reply: str | None
    finish: str = "stop"


Examinee = Callable[[Sequence[Question]], Sequence[Said]]
"""Answers a group of questions, in their order."""


@dataclass(frozen=True)
class Sitting:
    """A finished sitting: publish its head."""

    name: str
    number: int
    items: int
    answered: int
    head: str


def hand_out(exam: Exam, secret: Secret, out: str | Path, number: int = 1, beacon: str = "") -> Path:
    """Write the questions into a sitting's folder, for an examinee who answers elsewhere; returns the file."""
    paper = make_paper(exam, secret, number, beacon)
    with open_sitting(out) as folder:
        file = inside(folder, PAPER)
        write_text(file, "".join(question.line + "\n" for question in paper))
    return file


def sit(
    exam: Exam,
    secret: Secret,
    out: str | Path,
    name: str,
    examinee: Examinee,
    *,
    number: int = 1,
    beacon: str = "",
    group: int = 1,
    clock: Clock = time.time,
    on_reply: Callable[[int], None] | None = None,
) -> Sitting:
    """Put every question to the examinee, journal the replies and close the journal.

    A sitting that was interrupted goes on after its last reply. After the exam's closing time nothing is accepted.
    """
    if not 0 < len(name) <= 200 or not name.isprintable():
        raise UsageError(f"the examinee's name {shown(name)} must have 1 to 200 printable characters.")
    paper = make_paper(exam, secret, number, beacon)
    opening = {
        "kind": "open", "exam": exam.commitment, "number": number, "name": name, "beacon": beacon, "paper": paper_hash(paper),
        "items": len(paper), "package": f"recombine {__version__}",
    }  # fmt: skip
    tick = on_reply or (lambda _count: None)
    with open_sitting(out) as folder, pen_for(folder, opening) as (pen, journal):
        tick(len(journal.replies))
        answered = sum(line["reply"] is not None for line in journal.replies)
        for start in range(len(journal.replies), len(paper), max(1, group)):
            asked = paper[start : start + max(1, group)]
            _check_time(exam, clock)
            replies = examinee(asked)
            at = _check_time(exam, clock)
            for question, said in zip(asked, replies, strict=True):
                pen.add(_reply_line(question, said, at))
                answered += said.reply is not None
                tick(1)
        head = pen.add({"kind": "close", "replies": len(paper), "at": _check_time(exam, clock)})
    return Sitting(name, number, len(paper), answered, head)


def _reply_line(question: Question, said: Said, at: int) -> dict[str, object]:
    reply = None if said.reply is None else said.reply.encode("utf-8", "replace").decode()[:LONGEST_REPLY]
    words = {"reply": reply, "finish": said.finish[:40], "at": at}
    return {"kind": "reply", "item": question.number, "question": question.hash, **words}


def _check_time(exam: Exam, clock: Clock) -> int:
    now = int(clock())
    if exam.closing_second is not None and now > exam.closing_second:
        raise LateReply(f"the exam closed at {exam.closes}; no more replies are taken.")
    return now


def replies_from(path: Path, paper_items: int) -> Examinee:
    """An examinee who answered elsewhere: JSON lines with `item` and `reply`. Items without a line have no reply."""
    found: dict[int, str | None] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"line {number} of {shown(str(path))}"
        row = parse_json(line, place)
        item = row.get("item") if isinstance(row, dict) else None
        if isinstance(item, bool) or not isinstance(item, int) or not 1 <= item <= paper_items:
            raise FileError(f'{place} has the "item" {shown(item)}, but the exam has the items 1 to {paper_items}.')
        if item in found:
            raise FileError(f"{place}: item {item} was answered before.")
        if row.get("reply") is not None and not isinstance(row["reply"], str):
            raise FileError(f'{place}: "reply" is {shown(row["reply"])}, but must be a text or null.')
        found[item] = row.get("reply")
    return from_table(found)


def from_table(replies: Mapping[int, str | None]) -> Examinee:
    """Replies by item, in the shape that `sit` takes."""
    return lambda questions: [Said(replies.get(question.number)) for question in questions]
