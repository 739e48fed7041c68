"""JSON lines: one task per line, with `demonstrations`, `command`, `actions` and, where it is known, `lexicon`.

There is no original release of this family, so this layout is ours. Tasks of others can be read and judged, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from recombine.core import Batch, Example, Family, Problem
from recombine.errors import RecombineError
from recombine.families.lexicon.generate import inputs_of
from recombine.families.lexicon.plan import Lesson
from recombine.files import parse_json, read_lines

NATIVE_NAME = "{split}-{part}.jsonl"
MOST_TEXT = 2_000


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """One line per row."""
    for batch in batches:
        for row in range(len(batch)):
            values = batch.row(row)
            pairs = zip(values["shown_commands"], values["shown_actions"], strict=True)
            task = {
                "id": batch.id(row),
                "demonstrations": [{"command": command, "actions": actions} for command, actions in pairs],
                "command": values["command"],
                "actions": values["actions"],
                "lexicon": dict(zip(values["words"], values["meanings"], strict=True)),
            }
            out.write(json.dumps(task) + "\n")


def read(family: Family, path: Path) -> Iterator[Example | Problem]:
    """The tasks of a file; a Problem for each line that is none."""
    for number, line in read_lines(path):
        if line.strip():
            try:
                yield _example(family, parse_json(line, f"{path.name}:{number}"), f"{path.name}:{number}", number)
            except (RecombineError, ValueError, KeyError, TypeError, AttributeError) as fault:
                yield Problem("unreadable", f"the line is no task: {str(fault)[:200]}", place=str(number))


def _example(family: Family, value: Any, name: str, number: int) -> Example:
    pairs = tuple((_text(pair["command"]), _text(pair["actions"])) for pair in value["demonstrations"])
    lexicon = tuple(sorted((_text(word), _text(meaning)) for word, meaning in value.get("lexicon", {}).items()))
    lesson = Lesson(lexicon, pairs, _text(value["command"]))
    meta = {"recipe": "release", "place": str(number)}
    return Example(family, name, inputs_of(lesson), _text(value["actions"]), plan=lesson, meta=meta)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_TEXT:
        raise ValueError(f"commands, actions and words are texts of at most {MOST_TEXT} characters")
    return " ".join(value.split())
