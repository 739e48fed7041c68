"""Named mistakes: which shortcut readers would have given a run's wrong answers, and how often such agreement is chance.

A wrong answer carries the names of the shortcut readers that would have answered the same. Chance level: we score right answers of
other examples on this example, and count how often a wrong one matches a shortcut reader by accident. The run's own wrong answers do
not serve for this: a model that always answers the same would then agree with itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recombine import keys
from recombine.evaluate.scoring import Run
from recombine.evaluate.statistics import wilson

CHANCE_PAIRS = 400
"""Pairs (an example, another example's right answer) from which the chance level is measured."""


@dataclass(frozen=True)
class NamedMistake:
    """One shortcut reader and a run's wrong answers.

    `share`: fraction of the wrong answers that this reader would have given, with the interval `low` to `high`. `chance`: the fraction
    expected by accident.
    """

    name: str
    reader: str
    errors: int
    share: float
    low: float
    high: float
    chance: float

    @property
    def sentence(self) -> str:
        """`38 % of the errors are those of a reader who ignores the second clause (chance: 3 %)`."""
        return f"{self.share:.0%} of the errors are those of a reader who {self.reader} (chance: {self.chance:.0%})"

    @property
    def is_above_chance(self) -> bool:
        """Whether the share's interval lies above the chance rate."""
        return self.low > self.chance


def diagnose(run: Run) -> list[NamedMistake]:
    """Every reader with at least one of the run's errors, the commonest first."""
    wrong = [i for i, record in enumerate(run.records) if record.status == "wrong"]
    if not wrong or not run.examples:
        return []
    counts = Counter(name for i in wrong for name in run.records[i].mistakes)
    chance = _chance(run, wrong)
    readers = _readers(run, wrong)
    found = []
    for name, count in counts.items():
        low, high = wilson(count, len(wrong), 1.959963984540054)
        found.append(NamedMistake(name, readers.get(name, name), count, count / len(wrong), low, high, chance.get(name, 0.0)))
    return sorted(found, key=lambda mistake: (-mistake.errors, mistake.chance, mistake.name))


def _readers(run: Run, wrong: list[int]) -> dict[str, str]:
    """What each named reader does, from the first example that it misreads."""
    found: dict[str, str] = {}
    for i in wrong:
        if any(name not in found for name in run.records[i].mistakes):
            found = {**{s.name: s.reader for s in run.examples[i].explain().shortcuts}, **found}
    return found


def _chance(run: Run, wrong: list[int]) -> dict[str, float]:
    """How often a right answer of another example, wrong here, would be each reader's answer here."""
    stream = keys.Stream("chance", run.key, run.name)
    pairs = 0
    agreed: Counter[str] = Counter()
    for _ in range(CHANCE_PAIRS):
        here, there = stream.choice(wrong), stream.below(len(run.examples))
        score = run.examples[here].score(run.examples[there].answer)
        if score.status == "wrong":
            pairs += 1
            agreed.update(score.mistakes)
    return {name: count / pairs for name, count in agreed.items()} if pairs else {}
