"""Question-and-answer rows of any origin: duplicates, leaks between two sets, and the accuracy of the most common answer.

Works on JSON lines with `question` and `answer`, and on any sequence of such mappings: a reasoning-gym data set is one, so
`audit_rows(train, test)` says at once whether two of its seeds share their items.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recombine.core import Problem
from recombine.data.audit import Audit
from recombine.data.shortcuts import ShortcutScore
from recombine.errors import FileError, shown
from recombine.files import parse_json, read_lines

QUESTION_KEYS = ("question", "prompt", "input", "command", "story")
ANSWER_KEYS = ("answer", "target", "output", "label", "actions")


def read_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a file of JSON lines."""
    for number, line in read_lines(path):
        if line.strip():
            row = parse_json(line, f"line {number} of {shown(str(path))}")
            if not isinstance(row, dict):
                raise FileError(f"line {number} of {shown(str(path))} is not a JSON object.")
            yield {**row, "place": f"line {number}"}


def audit_rows(rows: Iterable[Mapping[str, Any]], against: Iterable[Mapping[str, Any]] = (), *, path: str = "rows") -> Audit:
    """Duplicates and contradictions within the rows, rows shared with another set, and answers that can be guessed."""
    others = {_form(_text(row, QUESTION_KEYS, i)) for i, row in enumerate(against)}
    answers: dict[bytes, str] = {}
    problems: list[Problem] = []
    labels: Counter[str] = Counter()
    positions: Counter[str] = Counter()
    checked = duplicates = leaks = 0
    for i, row in enumerate(rows):
        question, answer = _text(row, QUESTION_KEYS, i), _text(row, ANSWER_KEYS, i)
        place = str(row.get("place", f"row {i}"))
        form = _form(question)
        if form in answers:
            duplicates += 1
            if answers[form] != answer:
                text = f"the same question has the answers {shown(answers[form])} and {shown(answer)}"
                problems.append(Problem("contradiction", text, place=place))
        answers.setdefault(form, answer)
        if form in others:
            leaks += 1
            problems.append(Problem("leak", "the same question is in the other set", place=place))
        labels[answer] += 1
        for name, guess in _positions(question).items():
            positions[name] += guess == answer.strip().lower()
        checked += 1
    shortcuts = (
        [ShortcutScore("majority", "always gives the commonest answer", checked, labels.most_common(1)[0][1], checked)]
        if checked
        else []
    )
    shortcuts += [
        ShortcutScore(name, f"gives the {name.replace('_', ' ')} of the question", checked, right, checked)
        for name, right in positions.items()
    ]
    shortcuts.sort(key=lambda score: (-score.right, score.name))
    survey = {
        "distinct_questions": len(answers),
        "distinct_answers": len(labels),
        "shared_with_other_set": leaks / checked if checked else 0.0,
    }
    counts = dict(sorted(Counter(f"{p.severity}:{p.code}" for p in problems).items()))
    return Audit(path, "rows", checked, 0, 0, duplicates, leaks, tuple(problems), counts, tuple(shortcuts), survey)


def _positions(question: str) -> dict[str, str]:
    words = re.findall(r"[\w'-]+", question.lower())
    return {"first_word": words[0] if words else "", "last_word": words[-1] if words else ""}


def _text(row: Mapping[str, Any], names: tuple[str, ...], index: int) -> str:
    for name in names:
        if name in row:
            return str(row[name])
    raise FileError(f"row {index} has none of {', '.join(names)}; it has {shown(list(map(str, row)))}.")


def _form(question: str) -> bytes:
    """A question without case and spacing."""
    return hashlib.blake2b(" ".join(question.lower().split()).encode("utf-8", "surrogatepass"), digest_size=12).digest()
