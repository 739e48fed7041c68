"""Answers as JSON lines: `{"id": …, "answer": …}`, from any source; other keys of a line are kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.errors import FileError, shown
from recombine.files import parse_json, read_lines, writing_text

NON_ANSWERS = ("unparsable", "refused", "truncated", "error", "missing")
"""Why there is no answer: kept apart from wrong answers everywhere, and counted as wrong in the headline."""


@dataclass(frozen=True)
class Answer:
    """One answer, or the reason why there is none (`status` is then one of NON_ANSWERS)."""

    id: str
    answer: str | None
    status: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def read_answers(path: Path) -> dict[str, Answer]:
    """The answers of a file by id; a line that is not one, or an id that comes twice, is a clear error."""
    found: dict[str, Answer] = {}
    for number, line in _lines(path):
        if not line.strip():
            continue
        place = f"line {number} of {shown(str(path))}"
        row = _encodable(parse_json(line, place))
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise FileError(f'{place} is not an object with a text "id".')
        answer, status = row.get("answer"), row.get("status")
        if answer is not None and not isinstance(answer, str):
            raise FileError(f'{place}: "answer" is {shown(answer)}, but must be a text or null.')
        if status is not None and status not in NON_ANSWERS and status != "ok":
            raise FileError(f'{place}: "status" is {shown(status)}, but must be one of {", ".join(NON_ANSWERS)}.')
        if row["id"] in found:
            raise FileError(f"{place}: the id {shown(row['id'])} was answered before.")
        kept = {key: value for key, value in row.items() if key not in ("id", "answer", "status")}
        reason = status if status in NON_ANSWERS else (None if answer is not None else "missing")
        found[row["id"]] = Answer(row["id"], answer, reason, kept)
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of a file, without the mark of byte order that some editors put in front."""
    for number, line in read_lines(path):
        yield number, line.removeprefix("\ufeff") if number == 1 else line


def _encodable(value: Any) -> Any:
    """The value with halves of surrogate pairs, which JSON can spell but no file can hold, replaced by a question mark."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    return value


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Write answers so that `read_answers` gives them back."""
    with writing_text(path) as out:
        for answer in answers:
            row = {
                "id": answer.id,
                "answer": answer.answer,
                **({"status": answer.status} if answer.status else {}),
                **answer.more,
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_ids(path: Path) -> frozenset[str]:
    """The ids of a file: one a line, or JSON lines with an `id`. An empty file is an error."""
    found = []
    for number, line in _lines(path):
        if line.lstrip().startswith("{"):
            row = parse_json(line, f"line {number} of {shown(str(path))}")
            if not isinstance(row.get("id"), str):
                raise FileError(f'line {number} of {shown(str(path))} has no text "id".')
            found.append(row["id"])
        elif line.strip():
            found.append(line.strip())
    if not found:
        raise FileError(f"{shown(str(path))} names no row.")
    return frozenset(found)
