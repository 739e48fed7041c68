"""Scores on the rows of a file in a released layout: a published file, or an example that the user saved in the playground."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.core import Example, Problem
from recombine.errors import FileError, UsageError, shown
from recombine.evaluate.answers import Answer
from recombine.evaluate.scoring import LONGEST_ANSWER
from recombine.evaluate.statistics import Interval, interval
from recombine.families import family as find_family

HEADER = ("run", "rows", "right", "accuracy", "mistakes")


@dataclass(frozen=True)
class Verdict:
    """One run's answer to one row."""

    id: str
    answer: str | None
    value: float
    status: str
    mistakes: tuple[str, ...]


@dataclass(frozen=True)
class FileScore:
    """One run's figures over a file."""

    run: str
    verdicts: tuple[Verdict, ...]
    accuracy: Interval

    @property
    def row(self) -> tuple[str, ...]:
        """The figures as a row of a table, with the three most frequent mistakes."""
        right = sum(verdict.value >= 1.0 for verdict in self.verdicts)
        counts = Counter(name for verdict in self.verdicts for name in verdict.mistakes).most_common(3)
        told = ", ".join(f"{name} {count:,}" for name, count in counts)
        return (self.run, f"{len(self.verdicts):,}", f"{right:,}", self.accuracy.text, told)


def read_examples(path: Path, family: str) -> dict[str, Example]:
    """The examples of a file by id. A row that cannot be read is an error that names its place."""
    found: dict[str, Example] = {}
    for row in find_family(family).read(path):
        if isinstance(row, Problem):
            raise FileError(f"{row.place} of {shown(str(path))}: {row.text}. `recombine audit` lists every such row.")
        if row.id in found:
            raise FileError(f"two rows of {shown(str(path))} have the id {shown(row.id)}; answers need an id for each row.")
        found[row.id] = row
    if not found:
        raise FileError(f"{shown(str(path))} holds no example of {family}.")
    return found


def score_file(
    examples: Mapping[str, Example], answers: Mapping[str, Mapping[str, Answer]], missing: str = "error"
) -> list[FileScore]:
    """The figures of every run. Rows without an answer are an error, count as `wrong`, or are left out (`skip`)."""
    found = []
    for run, given in answers.items():
        strange = sorted(set(given) - set(examples))
        if strange:
            raise UsageError(
                f"{run} answers {len(strange):,} ids that the file does not hold, the first is {shown(strange[0])}; "
                f"the file's first is {shown(next(iter(examples)))}."
            )
        absent = len(examples) - len(given)
        if absent and missing == "error":
            raise UsageError(
                f"{run} leaves {absent:,} of {len(examples):,} rows unanswered. Say --missing wrong or --missing skip."
            )
        verdicts = tuple(
            _verdict(example, given.get(name)) for name, example in examples.items() if name in given or missing == "wrong"
        )
        clusters = [str(examples[v.id].meta.get(examples[v.id].family.CLUSTER, v.id)) for v in verdicts]
        found.append(FileScore(run, verdicts, interval([v.value for v in verdicts], clusters)))
    return found


def _verdict(example: Example, given: Answer | None) -> Verdict:
    if given is None or given.answer is None or given.status is not None or len(given.answer) > LONGEST_ANSWER:
        return Verdict(example.id, None, 0.0, given.status or "missing" if given is not None else "missing", ())
    score = example.score(given.answer)
    return Verdict(example.id, given.answer, score.value, score.status, tuple(score.mistakes))


def findings(scores: list[FileScore]) -> dict[str, Any]:
    """The figures, ready for JSON."""
    return {
        score.run: {"accuracy": vars(score.accuracy), "rows": [vars(verdict) for verdict in score.verdicts]} for score in scores
    }
