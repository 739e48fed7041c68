"""Scores of one run: a record per example, and the figures of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from recombine.abilities import Scoring
from recombine.core import Example, Score
from recombine.evaluate.acting import is_episode, score_episode
from recombine.evaluate.answerers import Answerer, Constant
from recombine.evaluate.answers import Answer
from recombine.evaluate.rows import Rows
from recombine.evaluate.statistics import Interval, Threshold, interval, threshold

LONGEST_ANSWER = 100_000
"""Longest answer in characters. A longer answer is unparsable."""
LONGEST_RULE = 200
"""Characters of what a file says about the length of its rule."""
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
    rule: str = ""
    """How long the rule is that gave all answers (`recombine rules`); empty if each row was answered by itself."""

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
        """How many rows got an answer, or at least a reply; a request that failed is none."""
        return sum(record.status not in ("missing", "error") for record in self.records)

    @property
    def is_acted(self) -> bool:
        """Whether the rows were acted in, turn by turn, instead of being answered at once."""
        return any("turns" in record.detail for record in self.records)

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
        """The mean of each further figure that the family measures, over the records that have it."""
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
        """The value of a dial at which accuracy falls below one half."""
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


Source = Callable[[Rows, int], Answer]
"""Gives the answer to row `i` of the rows."""


def score_run(
    name: str,
    rows: Rows,
    source: Source,
    *,
    split: str,
    part: str,
    skips_missing: bool = False,
    named: bool = True,
    on_rows: Callable[[int], None] | None = None,
) -> Run:
    """Score one answer per row; `skips_missing` leaves out the rows without one.

    Without `named`, a family that scores whole batches leaves the names of mistakes out.
    """
    family = rows.family
    answers = [source(rows, i) for i in range(len(rows))]
    scores = _scores(rows, answers, named, on_rows)
    records, kept = [], []
    for i, (answer, score) in enumerate(zip(answers, scores, strict=True)):
        record = _record(rows, i, answer, score)
        if not (skips_missing and record.status == "missing"):
            records.append(record)
            kept.append(i)
    examples: Sequence[Example] = rows if len(kept) == len(rows) else Picked(rows, kept)
    return Run(name, family.NAME, split, part, family.SPLITS[split].axis, records, examples, len(rows), _rule_of(answers))


def _rule_of(answers: Sequence[Answer]) -> str:
    """The rule's length that every given answer names, if all name the same."""
    named = [given.more.get("rule") for given in answers if given.status != "missing"]
    is_one = bool(named) and isinstance(named[0], str) and all(rule == named[0] for rule in named)
    return str(named[0])[:LONGEST_RULE] if is_one else ""


@dataclass(frozen=True)
class Picked(Sequence[Example]):
    """Some of the rows, as a sequence of examples."""

    rows: Rows
    places: Sequence[int]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The example at an index, or a list of them for a slice."""
        return [self.rows[i] for i in self.places[index]] if isinstance(index, slice) else self.rows[self.places[index]]


def _is_answer(given: Answer) -> bool:
    is_short = given.answer is not None and len(given.answer) <= LONGEST_ANSWER
    return given.status is None and (is_short or is_episode(given))


def _scores(rows: Rows, answers: Sequence[Answer], named: bool, on_rows: Callable[[int], None] | None) -> list[Score | None]:
    """The verdict on each answer; None where there is nothing to judge."""
    found: list[Score | None] = [None] * len(rows)
    count = on_rows or (lambda _: None)
    start = 0
    for batch, places in rows.chosen:
        given = [i for i in range(start, start + len(places)) if _is_answer(answers[i])]
        own = [i for i in given if not is_episode(answers[i])]
        for i in given:
            if is_episode(answers[i]):
                found[i] = score_episode(rows[i], answers[i])
        said = [str(answers[i].answer) for i in own]
        if isinstance(rows.family, Scoring):
            verdicts = rows.family.score_batch(batch, [places[i - start] for i in own], said, named)
            for i, verdict in zip(own, verdicts, strict=True):
                found[i] = verdict
            count(len(places))
        else:
            for i, text in zip(own, said, strict=True):
                found[i] = rows[i].score(text)
                count(1)
            count(len(places) - len(own))
        start += len(places)
    return found


def _record(rows: Rows, i: int, given: Answer, score: Score | None) -> Record:
    """The record of one answer; a non-answer keeps its reason."""
    place = rows.ids[i], rows.clusters[i], rows.dials[i]
    if score is not None:
        return Record(place[0], score.value, score.status, given.answer, score.mistakes, *place[1:], score.detail)
    if given.answer is None or given.status is not None:
        return Record(place[0], 0.0, given.status or "missing", given.answer, (), *place[1:], {})
    return Record(place[0], 0.0, "unparsable", given.answer[:1_000], (), *place[1:], {})


def answering(answerer: Answerer) -> Source:
    """A built-in answerer in the shape that `score_run` takes."""

    def given(rows: Rows, i: int) -> Answer:
        answer = answerer.answer if isinstance(answerer, Constant) else answerer(rows[i])
        return Answer(rows.ids[i], answer, None if answer is not None else "missing")

    return given


def from_file(answers: Mapping[str, Answer]) -> Source:
    """Answers of a file in the shape that `score_run` takes; a row that the file lacks is `missing`."""
    return lambda rows, i: answers.get(rows.ids[i]) or Answer(rows.ids[i], None, "missing")
