"""Difficulty as one number from 0 to 1: for every family a path through its dials, from easy to hard.

A path has five levels; a difficulty between two levels means the nearer one. A level is a split, a part and options, so it is part of every id.
`benchmarks/difficulty.py` measures the paths: the accuracy of a fixed panel of answerers does not rise from one level to the next.

    rows = recombine.load("clutrr", difficulty=0.75)
    curriculum = recombine.Curriculum("clutrr")
    curriculum.record(1.0)          # a score; the level follows from the scores alone
    curriculum.difficulty
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from recombine.errors import BadOption, UsageError, shown

DIFFICULTY = "difficulty"
"""The option that chooses a level instead of split, part and dials."""


@dataclass(frozen=True)
class Level:
    """One step of a path: which part, and how its dials are turned."""

    split: str
    part: str = "test"
    options: Mapping[str, object] = field(default_factory=dict)
    recipe: str | None = None


def _lengths(low: int, high: int) -> Level:
    return Level("hold_out", "test", {"predicate": f"action_length >= {low} and action_length <= {high}"})


_ACTIONS = (_lengths(1, 5), _lengths(6, 10), _lengths(11, 16), _lengths(17, 24), _lengths(25, 48))
PATHS: Mapping[str, tuple[Level, ...]] = {
    "scan": _ACTIONS,
    "nacs": _ACTIONS,
    "gscan": tuple(
        Level("compositional", "test", {"grid_size": grid, "max_objects": objects})
        for grid, objects in ((4, 8), (5, 10), (6, 14), (8, 20), (12, 28))
    ),
    "reascan": (
        Level("simple"),
        Level("one_clause"),
        Level("two_clauses"),
        Level("nested"),
        Level("three_clauses"),
    ),
    "clutrr": tuple(Level("generalization_23", f"test_k{k}") for k in (2, 4, 6, 8, 10)),
    "lilgym": (
        Level("random", "test", {"start": "scratch"}),
        Level("random", "test", {"scene": "scatter"}),
        Level("random"),
        Level("hold_out", "test", {"predicate": "any(phenomenon) = above_below"}),
        Level("random", "test", {"scene": "scatter", "start": "scratch"}),
    ),
    "abstract": (
        Level("random", "test", {"pattern": "simple", "demonstrations": 6}),
        Level("random", "test", {"pattern": "simple", "demonstrations": 3}),
        Level("random", "test", {"pattern": "one_clause", "demonstrations": 4}),
        Level("random", "test", {"pattern": "one_clause", "demonstrations": 2}),
        Level("random", "test", {"pattern": "two_clauses", "demonstrations": 2}),
    ),
    "lexicon": (
        Level("random", "test", {"words": 4}),
        Level("random", "test", {"words": 6}),
        Level("random", "test", {"words": 9}),
        Level("longer", "test", {"words": 8}),
        Level("longer", "test", {"words": 10}),
    ),
}
"""Family -> its levels, the easiest first."""


def parse_difficulty(value: object) -> float:
    """A number from 0 to 1."""
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise BadOption(f"difficulty is {shown(value)}, but must be a number from 0 to 1.")
    return number


def level_of(family: str, difficulty: object) -> Level:
    """The level that a difficulty means."""
    number = parse_difficulty(difficulty)
    if family not in PATHS:
        raise UsageError(f"{family} has no path of difficulty; these have: {', '.join(PATHS)}.")
    path = PATHS[family]
    return path[min(len(path) - 1, int(number * (len(path) - 1) + 0.5))]


def with_level(
    family: str, split: str | None, part: str | None, options: Mapping[str, object]
) -> tuple[str | None, str | None, dict[str, object]]:
    """Split, part and options of a request. `difficulty` is replaced by the split, part and options of its level."""
    given = dict(options)
    if DIFFICULTY not in given:
        return split, part, given
    level = level_of(family, given.pop(DIFFICULTY))
    if split not in (None, level.split) or (part is not None and part != level.part):
        raise UsageError(f"difficulty stands for the part {level.split}/{level.part} of {family}; leave out split and part.")
    if both := sorted(set(level.options) & set(given)):
        raise UsageError(f"difficulty turns the dials {', '.join(both)} itself; leave them out.")
    return level.split, level.part, {**level.options, **given}


@dataclass
class Curriculum:
    """A difficulty that follows the scores: it rises after a good stretch and falls after a bad one.

    The level depends on the recorded scores only. The mean of the last `window` scores decides: at `raise_at` or above the level rises
    by one, at `lower_at` or below it falls by one. After a change of level the scores are forgotten.
    """

    family: str
    window: int = 50
    raise_at: float = 0.8
    lower_at: float = 0.3
    level: int = 0
    _recent: deque[float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.family not in PATHS:
            raise UsageError(f"{self.family} has no path of difficulty; these have: {', '.join(PATHS)}.")
        if self.window < 1 or not 0 <= self.lower_at < self.raise_at <= 1:
            raise BadOption(
                f"a curriculum needs a window of at least 1 and 0 <= lower_at < raise_at <= 1, not {self.window}, "
                f"{self.lower_at:g} and {self.raise_at:g}."
            )
        if not 0 <= self.level <= self.top:
            raise BadOption(f"the level is {self.level}, but must be 0 to {self.top}.")
        self._recent = deque(maxlen=self.window)

    @property
    def top(self) -> int:
        """The hardest level."""
        return len(PATHS[self.family]) - 1

    @property
    def difficulty(self) -> float:
        """The present difficulty, as `load(..., difficulty=…)` takes it."""
        return self.level / self.top

    def record(self, score: float) -> float:
        """Take one score from 0 to 1 into account; returns the difficulty from now on."""
        if isinstance(score, bool) or not 0 <= score <= 1:
            raise BadOption(f"a score is {shown(score)}, but must be a number from 0 to 1.")
        self._recent.append(float(score))
        if len(self._recent) == self.window:
            mean = math.fsum(self._recent) / self.window
            step = (mean >= self.raise_at) - (mean <= self.lower_at)
            if step and 0 <= self.level + step <= self.top:
                self.level += step
                self._recent.clear()
        return self.difficulty
