"""Results of sittings: `reveal` publishes the secret and the scores, `check` makes everything anew and compares."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.errors import FileError, UsageError, shown
from recombine.evaluate.replies import PARSER_VERSION, parse_reply
from recombine.evaluate.rows import cluster_of
from recombine.evaluate.statistics import interval
from recombine.exams.document import Exam, Revealed, read_exam, read_revealed
from recombine.exams.faults import (
    DroppedReply,
    EditedScore,
    ForgedJournal,
    LateReply,
    OtherItem,
    OtherSecret,
    ReplayedChain,
    TwoExams,
)
from recombine.exams.journal import JOURNAL, RESULT, Clock, Journal, check_closed, read_journal
from recombine.exams.paper import Question, make_paper, paper_hash
from recombine.exams.secret import Secret
from recombine.files import Kind, holds, inside, own_file, read_json, write_json
from recombine.schemas import check as check_shape
from recombine.schemas import mapping, number, optional, record, text, whole

DIGITS = 6
"""Decimals of a share in a result."""
_SHARE = optional(number(0, 1))
_FIGURES = {"items": whole(0, 10**7), "right": number(0), "accuracy": _SHARE, "low": _SHARE, "high": _SHARE}
RESULT_SHAPE = record({
    **_FIGURES, "exam": text(64), "number": whole(1, 10**6), "name": text(200), "head": text(64), "parser": whole(1, 10**6),
    "sections": mapping(record(_FIGURES)),
})  # fmt: skip
REVEALED = Kind(
    "a secret that `recombine exam reveal` published",
    lambda path: holds(path, lambda found: isinstance(found["secret"], str) and isinstance(found["number"], int)),
)


@dataclass(frozen=True)
class Checked:
    """A sitting that passed every check. `has_published_head` is False if no published head was given to compare with."""

    name: str
    head: str
    result: Mapping[str, Any]
    has_published_head: bool
    has_stated_result: bool


def reveal(
    folder: str | Path, exam: Exam, root: Secret, sittings: Sequence[str | Path], number: int = 1, *, clock: Clock = time.time
) -> tuple[Path, list[dict[str, Any]]]:
    """Publish the secret of one exam and write the result of each sitting; returns the file and the results.

    Every sitting must be closed, and the exam's closing time must be over: afterwards the answers are public.
    """
    if exam.closing_second is not None and int(clock()) <= exam.closing_second:
        raise UsageError(f"the exam is open until {exam.closes}; reveal it afterwards.")
    secret = exam.secret_of(root, number)
    journals = [_closed_journal(sitting) for sitting in sittings]
    beacon = _one_beacon(journals, sittings)
    if not journals and exam.beacon:
        raise UsageError("this exam names a beacon, whose value is in the sittings: give at least one --sitting.")
    paper = make_paper(exam, secret, number, beacon)
    results = [
        _judged(exam, number, beacon, paper, journal, Path(sitting))
        for journal, sitting in zip(journals, sittings, strict=True)
    ]
    target = own_file(Path(folder) / f"revealed-{number}.json", REVEALED)
    for sitting, result in zip(sittings, results, strict=True):
        write_json(inside(Path(sitting), RESULT), result)
    write_json(target, Revealed(exam.commitment, number, secret, beacon).to_json())
    return target, results


def check(
    exam_path: str | Path,
    revealed_path: str | Path,
    sittings: Sequence[str | Path],
    *,
    commitment: str = "",
    heads: Sequence[str] = (),
) -> list[Checked]:
    """Check commitment, secret, items, journals, heads and scores; the first thing that is wrong is raised as its fault.

    `commitment` and `heads` are what was published at the time; without them only the files' own statements are compared.
    """
    exam = read_exam(exam_path, commitment)
    revealed = read_revealed(revealed_path)
    if revealed.commitment != exam.commitment:
        raise OtherSecret(
            f"{shown(str(revealed_path))} reveals the exam {revealed.commitment[:16]}…, not {exam.commitment[:16]}…."
        )
    if heads and len(heads) != len(sittings):
        raise UsageError(f"{len(heads)} heads were given for {len(sittings)} sittings; give one for each, in the same order.")
    exam.check_secret(revealed.secret, revealed.number)
    journals = [_closed_journal(sitting) for sitting in sittings]
    for place, journal in enumerate(journals):
        if heads and journal.head != heads[place]:
            raise ForgedJournal(
                f"{shown(str(sittings[place]))} ends in the head {journal.head[:16]}…, but {shown(heads[place][:16])}… was published."
            )
    beacon = _one_beacon(journals, sittings) if journals else revealed.beacon
    if beacon != revealed.beacon:
        raise TwoExams(
            f"the sittings used the beacon value {shown(beacon)}, the secret was revealed for {shown(revealed.beacon)}."
        )
    paper = make_paper(exam, revealed.secret, revealed.number, beacon)
    found = []
    for sitting, journal in zip(sittings, journals, strict=True):
        result = _judged(exam, revealed.number, beacon, paper, journal, Path(sitting))
        has_stated = inside(Path(sitting), RESULT).is_file()
        if has_stated:
            _check_result(Path(sitting) / RESULT, result)
        found.append(Checked(journal.opening["name"], journal.head, result, bool(heads), has_stated))
    return found


def _closed_journal(sitting: str | Path) -> Journal:
    path = inside(Path(sitting), JOURNAL)
    if not path.is_file():
        raise FileError(f"{shown(str(sitting))} is not a sitting: it has no {JOURNAL}.")
    journal = read_journal(path)
    check_closed(journal, path)
    return journal


def _one_beacon(journals: Sequence[Journal], sittings: Sequence[str | Path]) -> str:
    """The beacon value of all sittings; two values, or two papers, under one commitment are two exams."""
    for journal, sitting in zip(journals[1:], sittings[1:], strict=True):
        for what in ("beacon", "paper"):
            if (journal.opening["exam"], journal.opening["number"]) == (
                journals[0].opening["exam"],
                journals[0].opening["number"],
            ) and journal.opening[what] != journals[0].opening[what]:
                raise TwoExams(
                    f"{shown(str(sitting))} and {shown(str(sittings[0]))} differ in their {what} under one commitment."
                )
    return str(journals[0].opening["beacon"]) if journals else ""


def _judged(
    exam: Exam, number_: int, beacon: str, paper: Sequence[Question], journal: Journal, sitting: Path
) -> dict[str, Any]:
    """The result of a sitting whose questions are the exam's; a fault if they are not."""
    opening = journal.opening
    place = shown(str(sitting))
    if opening["exam"] != exam.commitment or opening["number"] != number_:
        raise ReplayedChain(
            f"{place} is a sitting of exam {opening['number']} of {opening['exam'][:16]}…, not of exam {number_} of {exam.commitment[:16]}…."
        )
    if opening["beacon"] != beacon:
        raise TwoExams(f"{place} used the beacon value {shown(opening['beacon'])}, not {shown(beacon)}.")
    if len(journal.replies) != len(paper) or opening["items"] != len(paper):
        raise DroppedReply(f"{place} holds {len(journal.replies)} replies; the exam has {len(paper)} items.")
    for question, line in zip(paper, journal.replies, strict=True):
        if line["question"] != question.hash:
            raise OtherItem(
                f"item {question.number} of {place} is not the question that the secret gives ({question.example.id})."
            )
        if exam.closing_second is not None and line["at"] > exam.closing_second:
            raise LateReply(f"the reply to item {question.number} of {place} came after {exam.closes}.")
    if opening["paper"] != paper_hash(paper):
        raise OtherItem(f"{place} was opened with another paper than the secret gives.")
    return _result(exam, journal, paper)


def _result(exam: Exam, journal: Journal, paper: Sequence[Question]) -> dict[str, Any]:
    scored = [(question, _value(question, line)) for question, line in zip(paper, journal.replies, strict=True)]
    sections = {
        section.name: _figures([(q, value) for q, value in scored if q.section == section.name]) for section in exam.sections
    }
    opening = journal.opening
    return {
        "exam": exam.commitment, "number": opening["number"], "name": opening["name"], "head": journal.head, "parser": PARSER_VERSION,
        **_figures(scored), "sections": sections,
    }  # fmt: skip


def _value(question: Question, line: Mapping[str, Any]) -> float:
    """The score of one reply, read as `recombine ask` reads replies. Nothing of it is executed."""
    parsed = parse_reply(line["reply"] or "", line["finish"])
    return 0.0 if parsed.answer is None else question.example.score(parsed.answer).value


def _figures(scored: Sequence[tuple[Question, float]]) -> dict[str, Any]:
    """Items, right ones, and accuracy with its 95 % interval, clustered as everywhere; null where there are too few clusters."""
    clusters = [f"{q.section}:{cluster_of(q.example)}" for q, _ in scored]
    found = interval([value for _, value in scored], clusters)
    shares = {"accuracy": found.mean, "low": found.low, "high": found.high}
    return {
        "items": len(scored),
        "right": round(sum(value for _, value in scored), DIGITS),
        **{name: None if share is None else round(share, DIGITS) for name, share in shares.items()},
    }


def _check_result(path: Path, result: Mapping[str, Any]) -> None:
    stated = read_json(path, 64 << 20)
    check_shape(stated, RESULT_SHAPE, shown(str(path)))
    for name in result:
        if stated[name] != result[name]:
            raise EditedScore(f"{shown(str(path))} says {name} {shown(stated[name])}; the replies give {shown(result[name])}.")
