"""The outcome of an `ask` run: answers for `recombine evaluate`, strict and lenient readings, several samples, and the cost of a right answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.core import Example
from recombine.evaluate.acting import Acting, played_so_far, turn_key
from recombine.evaluate.answers import Answer, write_answers
from recombine.evaluate.journal import ANSWERS, LENIENT, VOTE
from recombine.evaluate.replies import parse_leniently, parse_reply
from recombine.files import remove_own

NOT_ASKED, NOT_FINISHED, ERROR = "not asked", "not finished", "error"
"""Statuses of rows without a reply. Those of the first two have no line in the file of answers."""


def sample_key(identifier: str, sample: int) -> str:
    """The name of a row's n-th reply in the journal; the first one is named as the row."""
    return identifier if sample == 1 else f"{identifier}#{sample}"


def pass_at(samples: int, right: int, k: int) -> float:
    """The chance that at least one of k samples is right, if `right` of `samples` were: without bias for k up to `samples`."""
    if samples - right < k:
        return 1.0
    return 1.0 - math.comb(samples - right, k) / math.comb(samples, k)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: how many rows have which status, the mean score with non-answers as wrong, and what was used in all.

    `mean` and `lenient` are of each row's first reply, read strictly and leniently. With several samples, `passes` holds pass@k for
    every k, and `majority` the accuracy of the commonest answer, both over the rows that have all their samples.
    """

    rows: int
    asked_now: int
    statuses: Mapping[str, int]
    mean: float
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    stopped: str = ""
    errors: Mapping[str, int] = field(default_factory=dict)
    lenient: float = 0.0
    samples: int = 1
    passes: Mapping[int, float] = field(default_factory=dict)
    majority: float | None = None
    per_right: Mapping[str, float] = field(default_factory=dict)

    @property
    def unanswered(self) -> int:
        """Rows without a line in the file of answers: a cap stopped the run before them, or in the middle of their episode."""
        return self.statuses.get(NOT_ASKED, 0) + self.statuses.get(NOT_FINISHED, 0)

    @property
    def replied(self) -> int:
        """Rows with a reply, whatever it says."""
        return self.rows - self.unanswered - self.statuses.get(ERROR, 0)

    @property
    def is_complete(self) -> bool:
        """Whether every row has a reply."""
        return not self.stopped and not self.errors


@dataclass(frozen=True)
class Judged:
    """The contents of a run's replies."""

    statuses: Mapping[str, int]
    mean: float
    lenient: float
    passes: Mapping[int, float]
    majority: float | None
    right: float


def judge(rows: Iterable[Example], replies: Mapping[str, Mapping[str, Any]], samples: int, folder: Path) -> Judged:
    """Read every reply, write the files of answers, and count."""
    statuses: Counter[str] = Counter()
    strict: list[Answer] = []
    loose: list[Answer] = []
    chosen: list[Answer] = []
    means: list[float] = []
    lenient_means: list[float] = []
    counts: list[tuple[int, float]] = []
    right = 0.0
    for example in rows:
        records = [replies[key] for n in range(1, samples + 1) if (key := sample_key(example.id, n)) in replies]
        if not records or example.id not in replies:
            statuses[NOT_ASKED] += 1
            continue
        answers = [answer_of(record, example.id) for record in records]
        values = [_value(example, answer) for answer in answers]
        strict.append(answers[0])
        means.append(values[0])
        statuses[_status(example, answers[0])] += 1
        loose.append(answer_of(records[0], example.id, lenient=True))
        lenient_means.append(_value(example, loose[-1]))
        right += sum(values)
        if samples > 1 and len(records) == samples:
            voted = commonest(answers)
            chosen.append(voted)
            counts.append((round(sum(values)), _value(example, voted)))
    write_answers(folder / ANSWERS, strict)
    write_answers(folder / LENIENT, loose)
    passes: dict[int, float] = {}
    if counts:
        write_answers(folder / VOTE, chosen)
        passes = {k: sum(pass_at(samples, c, k) for c, _ in counts) / len(counts) for k in range(1, samples + 1)}
    else:  # an earlier start with several samples may have left votes that these samples do not give
        remove_own(folder, VOTE.__eq__)
    voted_mean = sum(value for _, value in counts) / len(counts) if counts else None
    return Judged(dict(statuses.most_common()), _mean(means), _mean(lenient_means), passes, voted_mean, right)


def judge_episodes(
    acting: Acting, rows: Iterable[Example], replies: Mapping[str, Mapping[str, Any]], samples: int, folder: Path
) -> Judged:
    """Play every episode again, write the file of answers (each row's first sample), and count. Solved is right.

    An episode that a cap or an error stopped on its way is not asked, or an error; it has no line of answers until it ends.
    """
    statuses: Counter[str] = Counter()
    answers: list[Answer] = []
    means: list[float] = []
    counts: list[int] = []
    right = 0.0
    for example in rows:
        names = [sample_key(example.id, n) for n in range(1, samples + 1)]
        played = [played_so_far(acting, example, name, replies) for name in names if turn_key(name, 1) in replies]
        ended = [one for one in played if not one.is_open]
        right += sum(one.episode.solved for one in ended)
        if not ended or played[0].is_open or turn_key(names[0], 1) not in replies:
            statuses[NOT_ASKED if not played else NOT_FINISHED] += 1
            continue
        first = ended[0]
        answers.append(first.answer())
        means.append(float(first.episode.solved))
        statuses[first.status or ("right" if first.episode.solved else "wrong")] += 1
        if samples > 1 and len(ended) == samples:
            counts.append(sum(one.episode.solved for one in ended))
    write_answers(folder / ANSWERS, answers)
    passes = {k: _mean([pass_at(samples, c, k) for c in counts]) for k in range(1, samples + 1)} if counts else {}
    return Judged(dict(statuses.most_common()), _mean(means), _mean(means), passes, None, right)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _value(example: Example, answer: Answer) -> float:
    return 0.0 if answer.answer is None or answer.status is not None else example.score(answer.answer).value


def _status(example: Example, answer: Answer) -> str:
    return answer.status or ("missing" if answer.answer is None else example.score(answer.answer).status)


def commonest(answers: Sequence[Answer]) -> Answer:
    """The answer that most samples give, the earliest of equals; a non-answer only where there is nothing else."""
    counts = Counter(answer.answer for answer in answers if answer.answer is not None and answer.status is None)
    if not counts:
        return answers[0]
    best = max(counts, key=lambda text: counts[text])
    chosen = next(answer for answer in answers if answer.answer == best and answer.status is None)
    return Answer(chosen.id, chosen.answer, None, {**chosen.more, "votes": counts[best], "samples": len(answers)})


def answer_of(record: Mapping[str, Any], identifier: str, *, lenient: bool = False) -> Answer:
    """The answer that a reply gives, with what a report needs beside it."""
    more = {name: record[name] for name in ("reply", "model", "tokens_in", "tokens_out", "seconds", "prompt")}
    if record["error"]:
        return Answer(identifier, None, ERROR, {**more, "error": record["error"]})
    parsed = (parse_leniently if lenient else parse_reply)(record["reply"], record["finish"], record["refusal"])
    return Answer(identifier, parsed.answer, None if parsed.status == "ok" else parsed.status, more)


def per_right(replies: Iterable[Mapping[str, Any]], right: float, cost: float) -> dict[str, float]:
    """Tokens, reasoning tokens, seconds and money for each right answer; empty if none is right. Wrong answers cost too."""
    if not right:
        return {}
    listed = list(replies)

    def total(name: str) -> float:
        return float(sum(record.get(name) or 0 for record in listed))

    found = {"tokens_in": total("tokens_in"), "tokens_out": total("tokens_out"), "seconds": total("seconds"), "cost": cost}
    if any(record.get("tokens_reasoning") is not None for record in listed):
        found["tokens_reasoning"] = total("tokens_reasoning")
    return {name: value / right for name, value in found.items()}
