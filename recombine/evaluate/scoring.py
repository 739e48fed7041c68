"""Scores of one run: a record per example, and the figures of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recombine.core import Example
from recombine.evaluate.answerers import Answerer
from recombine.evaluate.answers import Answer
from recombine.evaluate.statistics import Interval, Threshold, interval, threshold

LONGEST_ANSWER = 100_000
"""Characters of an answer that are looked at; what is longer is unparsable."""


@dataclass(frozen=True)
class Record:
    """One example's verdict, with what the statistics need."""

    id: str
    value: float
    status: str
    answer: str | None
    mistakes: tuple[str, ...]
    cluster: str
    dials: Mapping[str, float]
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """All records of one answerer over one part."""

    name: str
    family: str
    split: str
    part: str
    axis: str
    records: Sequence[Record]
    examples: Sequence[Example] = field(default=(), repr=False)

    @property
    def key(self) -> str:
        """`family/split/part`."""
        return f"{self.family}/{self.split}/{self.part}"

    @property
    def values(self) -> list[float]:
        """1 for right, 0 for anything else."""
        return [record.value for record in self.records]

    @property
    def clusters(self) -> list[str]:
        """The cluster of each record."""
        return [record.cluster for record in self.records]

    def accuracy(self) -> Interval:
        """Strict accuracy: non-answers count as wrong."""
        return interval(self.values, self.clusters)

    def answered_accuracy(self) -> Interval:
        """Accuracy among the examples that got an answer."""
        kept = [record for record in self.records if record.status in ("right", "wrong")]
        return interval([r.value for r in kept], [r.cluster for r in kept])

    def statuses(self) -> dict[str, int]:
        """How many records have each status."""
        return dict(Counter(record.status for record in self.records).most_common())

    def details(self) -> dict[str, float]:
        """The mean of each figure that the family measures besides, over the records that have it."""
        figures: dict[str, list[float]] = {}
        for record in self.records:
            for name, value in record.detail.items():
                if isinstance(value, bool | int | float):
                    figures.setdefault(name, []).append(float(value))
        return {name: sum(values) / len(values) for name, values in figures.items()}

    def curve(self, dial: str) -> list[tuple[float, Interval]]:
        """Accuracy at each value of a dial."""
        groups: dict[float, list[Record]] = {}
        for record in self.records:
            groups.setdefault(record.dials[dial], []).append(record)
        return [(x, interval([r.value for r in rs], [r.cluster for r in rs])) for x, rs in sorted(groups.items())]

    def threshold(self, dial: str) -> Threshold:
        """Where accuracy falls through one half along a dial."""
        return threshold([r.dials[dial] for r in self.records], self.values, self.clusters)


def score_run(
    name: str,
    examples: Sequence[Example],
    answer_of: Callable[[Example], Answer],
    *,
    split: str,
    part: str,
    on_rows: Callable[[int], None] | None = None,
) -> Run:
    """Score one answer per example."""
    family = examples[0].family
    records = []
    for example in examples:
        records.append(score_one(example, answer_of(example)))
        if on_rows is not None:
            on_rows(1)
    return Run(name, family.NAME, split, part, family.SPLITS[split].axis, records, examples)


def score_one(example: Example, given: Answer) -> Record:
    """The record of one answer; a non-answer keeps its reason."""
    family = example.family
    cluster = str(example.meta.get(family.CLUSTER, example.id))
    dials = {name: float(example.meta[name]) for name in family.DIALS if name in example.meta}
    if given.answer is None or given.status is not None:
        return Record(example.id, 0.0, given.status or "missing", given.answer, (), cluster, dials, {})
    if len(given.answer) > LONGEST_ANSWER:
        return Record(example.id, 0.0, "unparsable", given.answer[:1_000], (), cluster, dials, {})
    score = example.score(given.answer)
    return Record(example.id, score.value, score.status, given.answer, score.mistakes, cluster, dials, score.detail)


def answering(answerer: Answerer) -> Callable[[Example], Answer]:
    """A built-in answerer in the shape that `score_run` takes."""

    def given(example: Example) -> Answer:
        answer = answerer(example)
        return Answer(example.id, answer, None if answer is not None else "missing")

    return given


def from_file(answers: Mapping[str, Answer]) -> Callable[[Example], Answer]:
    """Answers of a file in the shape that `score_run` takes; an example that the file lacks is `missing`."""
    return lambda example: answers.get(example.id) or Answer(example.id, None, "missing")


def unknown_ids(answers: Mapping[str, Answer], examples: Iterable[Example]) -> list[str]:
    """Ids of the file that are not among the examples."""
    known = {example.id for example in examples}
    return [identifier for identifier in answers if identifier not in known]
