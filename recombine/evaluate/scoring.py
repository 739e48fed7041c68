"""Scores of one run: a record per example, and the figures of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recombine.core import Example
from recombine.evaluate.answerers import Answerer
from recombine.evaluate.answers import Answer
from recombine.evaluate.statistics import Interval, Threshold, interval, threshold

LONGEST_ANSWER = 100_000
"""Characters of an answer that are looked at; what is longer is unparsable."""


MOST_BINS = 12
"""Points of a curve over a dial."""


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
    asked: int = 0
    """How many rows there were to answer; more than the records if missing rows were left out."""

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

    @property
    def answered(self) -> int:
        """How many rows got an answer, or at least a reply."""
        return sum(record.status != "missing" for record in self.records)

    @property
    def coverage(self) -> str:
        """`300 of 2,000 rows answered`, where some are missing; else ""."""
        asked = self.asked or len(self.records)
        return "" if self.answered == asked else f"{self.answered:,} of {asked:,} rows answered"

    def accuracy(self) -> Interval:
        """Strict accuracy over the records: non-answers count as wrong."""
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
        """Accuracy along a dial: at each of its values, or in about ten bins of equal weight where it has many."""
        groups: dict[float, list[Record]] = {}
        for record in self.records:
            groups.setdefault(record.dials[dial], []).append(record)
        found = []
        for bin_of in _bins(sorted(groups), {x: len(rs) for x, rs in groups.items()}):
            rows = [record for x in bin_of for record in groups[x]]
            middle = sum(record.dials[dial] for record in rows) / len(rows)
            found.append((middle, interval([r.value for r in rows], [r.cluster for r in rows])))
        return found

    def threshold(self, dial: str) -> Threshold:
        """Where accuracy falls through one half along a dial."""
        return threshold([r.dials[dial] for r in self.records], self.values, self.clusters)


def _bins(values: Sequence[float], weights: Mapping[float, int]) -> list[list[float]]:
    """Neighbouring values together, so that no more than MOST_BINS bins of about equal weight are left."""
    if len(values) <= MOST_BINS:
        return [[x] for x in values]
    share = sum(weights.values()) / (MOST_BINS - 2)
    bins: list[list[float]] = [[]]
    weight = 0
    for x in values:
        if weight >= share:
            bins.append([])
            weight = 0
        bins[-1].append(x)
        weight += weights[x]
    return bins


def score_run(
    name: str,
    examples: Sequence[Example],
    answer_of: Callable[[Example], Answer],
    *,
    split: str,
    part: str,
    skips_missing: bool = False,
    on_rows: Callable[[int], None] | None = None,
) -> Run:
    """Score one answer per example; `skips_missing` leaves out the examples without one."""
    family = examples[0].family
    records, kept = [], []
    for example in examples:
        record = score_one(example, answer_of(example))
        if on_rows is not None:
            on_rows(1)
        if not (skips_missing and record.status == "missing"):
            records.append(record)
            kept.append(example)
    return Run(name, family.NAME, split, part, family.SPLITS[split].axis, records, kept, len(examples))


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
