"""The public names: `recombine.evaluate(...)`, `recombine.compare(...)` and `recombine.report(...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine.data.folders import Folder
from recombine.errors import UsageError, shown
from recombine.evaluate.answers import Answer, read_answers
from recombine.evaluate.evaluate import Evaluation, evaluate_all
from recombine.evaluate.pooled import Pooled
from recombine.evaluate.report import write_report as report

__all__ = ["compare", "evaluate", "report"]
Data = str | Path | Folder
Answers = str | Path | Mapping[str, str] | Mapping[str, Answer]
"""A file of answers, or the answers by id."""


def evaluate(data: Data | Sequence[Data], answers: Mapping[str, Answers], **words: Any) -> Evaluation:
    """Score runs over one folder or several.

    `answers` maps a run's name to its file or to its answers by id. Further words are those of `recombine.evaluate.evaluate.evaluate`:
    `baselines`, `parts`, `missing` and `rows`.
    """
    folders = [data] if isinstance(data, str | Path | Folder) else list(data)
    if not folders:
        raise UsageError("there is no folder to evaluate on; give at least one.")
    return evaluate_all(folders, {name: _read(name, given) for name, given in answers.items()}, **words)


def compare(
    data: Data | Sequence[Data], a: Answers, b: Answers, *, names: tuple[str, str] = ("a", "b"), **words: Any
) -> Pooled:
    """Compare two runs over all sets that both answer; `print(compare(...).sentence)` says who is ahead."""
    if names[0] == names[1]:
        raise UsageError(f"both runs are called {shown(names[0])}; give two names.")
    found = evaluate(data, {names[0]: a, names[1]: b}, baselines=(), **words).pooled()
    if not found:
        raise UsageError(f"{names[0]} and {names[1]} answered no row in common, so they cannot be compared.")
    return found[0]


def _read(name: str, given: Answers) -> dict[str, Answer]:
    if isinstance(given, str | Path):
        return read_answers(Path(given))
    found = {}
    for identifier, answer in given.items():
        if not isinstance(answer, str | Answer):
            raise UsageError(f"{name} answers {shown(identifier)} with {shown(answer)}, but an answer must be a text.")
        found[identifier] = Answer(identifier, answer) if isinstance(answer, str) else answer
    return found
