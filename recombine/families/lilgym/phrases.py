"""The words of statements: for every choice of words, the alternatives with their weights, and the voice that chooses.

A choice has known alternatives and new ones. The split `wording` trains on the known ones and tests the new ones; every other
split uses both. The first known alternative is the plain one.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeVar

from recombine.keys import GOLDEN, MASK

T = TypeVar("T")
Mode = Literal["plain", "known", "new", "any", "fresh"]
NEW_FACTOR = 6.0
"""How much more often a voice of mode `new` takes a new alternative than its weight says."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Alternatives by weight: those that training may use, and those that the test of the split `wording` adds."""

    known: tuple[tuple[str, float], ...]
    new: tuple[tuple[str, float], ...]

    @functools.cached_property
    def scales(self) -> Mapping[str, tuple[tuple[str, ...], tuple[float, ...]]]:
        """Mode -> the alternatives and their cumulated shares."""
        pools = {
            "known": self.known,
            "any": self.known + self.new,
            "new": self.known + tuple((text, NEW_FACTOR * weight) for text, weight in self.new),
        }
        found = {}
        for mode, pool in pools.items():
            found[mode] = tuple(text for text, _ in pool), _cumulated([weight for _, weight in pool])
        return found

    @functools.cache  # noqa: B019 - choices are module constants
    def among(self, allowed: frozenset[str]) -> Choice:
        """The same choice without the alternatives that do not fit here."""
        pools = (tuple(pair for pair in pool if pair[0] in allowed) for pool in (self.known, self.new))
        return Choice(*pools)


def _cumulated(weights: Sequence[float]) -> tuple[float, ...]:
    """The cumulated shares of weights; the last is exactly 1, so every number below 1 falls to one of them."""
    sums = list(accumulate(weights))
    return (*(value / sums[-1] for value in sums[:-1]), 1.0)


def choice(known: Mapping[str, float], new: Mapping[str, float] | None = None) -> Choice:
    """A choice from two tables of weights."""
    return Choice(tuple(known.items()), tuple((new or {}).items()))


class Voice:
    """Chooses words, from a 64-bit seed. Mode `plain` takes the first alternative, `fresh` the first new one where there is one."""

    def __init__(self, mode: Mode = "plain", seed: int = 0) -> None:
        self.mode, self.word = mode, seed
        self.is_steady = mode in ("plain", "fresh")

    def unit(self) -> float:
        """A number in [0, 1): `keys.Stream.unit`, written out, because sentences draw many."""
        z = self.word = (self.word + GOLDEN) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) / 9007199254740992.0

    def pick(self, options: Choice) -> str:
        """One alternative."""
        if self.is_steady:
            return options.new[0][0] if self.mode == "fresh" and options.new else options.known[0][0]
        texts, shares = options.scales[self.mode]
        return texts[0] if len(texts) == 1 else texts[bisect_right(shares, self.unit())]

    def draw(self, make: Callable[..., T], *args: Any) -> T:
        """`make(voice, *args)`, which depends on nothing else, in one draw: what it can say is worked out once."""
        if self.is_steady:
            return make(self, *args)
        key = (make, self.mode, *args)
        found = _OUTCOMES.get(key)
        if found is None:
            found = _OUTCOMES[key] = _outcomes(self.mode, make, args)
        values, shares = found
        value: T = values[0] if len(values) == 1 else values[bisect_right(shares, self.unit())]
        return value


class _Script(Voice):
    """A voice that is told what to pick, and takes the first alternative after that; it remembers how many there were."""

    def __init__(self, mode: Mode, told: Sequence[int]) -> None:
        super().__init__(mode)
        self.told, self.open = told, list[int]()
        self.share = 1.0

    def pick(self, options: Choice) -> str:
        texts, shares = options.scales[self.mode]
        place = self.told[len(self.open)] if len(self.open) < len(self.told) else 0
        self.open.append(len(texts))
        self.share *= shares[place] - (shares[place - 1] if place else 0.0)
        return texts[place]

    def draw(self, make: Callable[..., T], *args: Any) -> T:
        return make(self, *args)


_OUTCOMES: dict[tuple[Any, ...], tuple[list[Any], tuple[float, ...]]] = {}
"""(what is made, mode, its arguments) -> everything that can come of it, and the cumulated shares."""


def _outcomes(mode: Mode, make: Callable[..., Any], args: tuple[Any, ...]) -> tuple[list[Any], tuple[float, ...]]:
    """Everything that can be made, by trying all picks, and the cumulated shares."""
    values: dict[Any, float] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        told = waiting.pop()
        script = _Script(mode, told)
        value = make(script, *args)
        values[value] = values.get(value, 0.0) + script.share
        for place in range(len(told), len(script.open)):
            before = told + (0,) * (place - len(told))
            waiting += [(*before, other) for other in range(1, script.open[place])]
    return list(values), _cumulated(list(values.values()))


NEW_PHRASES = (
    "one can see", "the number of", "not a single", "every single", "every box but one", "the rest do not", "some", "just", "no fewer than",
    "or fewer", "in contact with", "resting on", "right under", "in one box with", "can be seen", "outnumber", "equally many", "whereas",
    "possibly both", "untrue",
)  # fmt: skip
"""What the new alternatives say."""


def has_new(text: str) -> bool:
    """Whether a sentence says something that only new alternatives say."""
    words = f" {text[0].lower()}{text[1:-1].replace(',', '')} "
    return any(f" {phrase} " in words for phrase in NEW_PHRASES)


# --- nouns -----------------------------------------------------------------------------------------------------------

BIG = choice({"big": 70, "large": 30})
OBJECT = choice({"object": 75, "item": 25})
RANK = choice({"adjective": 85, "phrase": 15})
"""Whether a top or bottom block is "a blue top block" or "a blue block at the top"."""
RANK_INSIDE = choice({"noun": 70, "phrase": 14, "adjective": 16})
"""The same of a block of a tower, where "a blue top" is enough."""
LINK = choice({"short": 84, "that is": 4, "verb": 12})
"""How what follows a noun is linked to it."""
PREDICATE = choice({"verb": 70, "is": 30})
PLACES: Mapping[str, Choice] = {
    "top": choice({"at the top": 1}),
    "bottom": choice({"at the bottom": 75, "at the base": 25}),
    "second": choice({"second from the bottom": 60, "on the second level": 40}),
    "third": choice({"third from the bottom": 60, "on the third level": 40}),
    "corner": choice({"in a corner": 80, "placed in a corner": 20}),
    "near_corner": choice({"in or almost in a corner": 60, "in or nearly in a corner": 40}),
}
TOUCHING = choice({"touching": 70, "against": 30}, {"in contact with": 20})
"""Of walls."""
NEARLY = choice({"almost": 65, "nearly": 35})
NO_WALL = choice({"touching no wall": 50, "not touching any wall": 40, "against no wall": 10})
RELATIONS: Mapping[str, Choice] = {
    "directly_above": choice({"directly above": 60, "right above": 20, "directly on top of": 20}, {"resting on": 15}),
    "directly_below": choice({"directly below": 60, "directly under": 40}, {"right under": 15}),
    "above": choice({"somewhere above": 60, "anywhere above": 40}),
    "below": choice({"somewhere below": 60, "anywhere below": 40}),
    "touching": choice({"touching": 1}, {"in contact with": 0.2}),
    "same_box": choice({"in the same box as": 65, "sharing a box with": 35}, {"in one box with": 15}),
}

# --- amounts ---------------------------------------------------------------------------------------------------------

SOME = choice({"a": 96, "at least one": 4}, {"some": 8})
NONE = choice({"no": 1}, {"not a single": 0.2})
EXACTLY = choice({"exactly {n}": 1})
EXACTLY_SUBJECT = choice({"exactly {n}": 68, "only {n}": 32}, {"just {n}": 14})
"""At the beginning of a clause. "Contains only two circles" has two readings, so it is not said."""
AT_LEAST = choice({"at least {n}": 65, "{n} or more": 35}, {"no fewer than {n}": 14})
AT_MOST = choice({"at most {n}": 60, "no more than {n}": 40}, {"{n} or fewer": 14})
AT_MOST_ONE = choice({"at most one": 60, "no more than one": 40})

# --- clauses ---------------------------------------------------------------------------------------------------------

ITEMS = choice(
    {"there": 62, "subject": 26, "partitive": 3, "of": 2, "shows": 3, "present": 2, "total": 1}, {"see": 3, "number": 2}
)
BOXES = choice(
    {
        "there with": 18, "with subject": 48, "subject": 44, "there that": 4, "partitive": 5, "every": 9, "each": 5, "each of": 4,
        "all": 3,
    },
    {"number": 4, "rest": 8, "but one": 8, "every single": 6},
)  # fmt: skip
CONTAINS = choice({"contains": 60, "has": 25, "holds": 15})
ONLY = choice({"only {n}": 45, "nothing but {n}": 35, "{n} and nothing else": 20})
COLORS_OF = choice({"{many} of {q}": 55, "{q}": 30, "{many} in {q}": 15})
"""Wordings of "this many colours of these items", said of a box."""
TALL = choice({"have": 80, "tall": 12, "high": 8})
"""How a tower's number of blocks is said."""
AND = choice({"and": 93, "and also": 7})
WITHOUT = choice({"with": 55, "without": 45})
ALL_HAVE = choice({"all of the same {a}": 60, "and they all have the same {a}": 25, "and they share one {a}": 15})
SEEN = choice({"there": 70, "shows": 15, "present": 15}, {"see": 12})
EVERY = choice({"every": 40, "each": 25, "each of the": 12, "every one of the": 8, "there": 15}, {"every single": 12})
VARIETY = choice({"come in": 40, "occur": 22, "among": 22, "are of": 16}, {"seen": 12, "number": 8})
MORE = choice({"there more": 50, "there fewer": 25, "shows": 14, "present": 11}, {"outnumber": 12, "see": 6})
EQUAL = choice({"there": 40, "other": 35, "shows": 12, "present": 13}, {"equally": 15, "see": 8})
EQUAL_LONG = choice({"there": 40, "other": 35, "shows": 12, "present": 13}, {"see": 12})
"""Where "and" after the first noun could join something else."""
TOWER_WITH = choice({"with": 60, "that": 40})
SAME_COUNT: Mapping[tuple[bool, bool], Choice] = {
    (True, True): choice(
        {
            "at least two towers have the same number of blocks": 40, "two or more towers have the same number of blocks": 20,
            "at least two of the towers have the same number of blocks": 15, "at least two towers are equally tall": 15,
            "there are at least two towers with the same number of blocks": 10,
        },
        {"at least two towers have equally many blocks": 15},
    ),
    (True, False): choice(
        {
            "no two towers have the same number of blocks": 40, "all towers have different numbers of blocks": 20,
            "no two of the towers have the same number of blocks": 15, "no two towers are equally tall": 15,
            "there are no two towers with the same number of blocks": 10,
        },
        {"no two towers have equally many blocks": 15},
    ),
    (False, True): choice(
        {
            "at least two boxes contain the same number of objects": 40, "two or more boxes contain the same number of objects": 20,
            "at least two of the boxes contain the same number of objects": 15, "at least two boxes are equally full": 15,
            "there are at least two boxes with the same number of objects": 10,
        },
        {"at least two boxes contain equally many objects": 15},
    ),
    (False, False): choice(
        {
            "no two boxes contain the same number of objects": 40, "all boxes contain different numbers of objects": 20,
            "no two of the boxes contain the same number of objects": 15, "no two boxes are equally full": 15,
            "there are no two boxes with the same number of objects": 10,
        },
        {"no two boxes contain equally many objects": 15},
    ),
}  # fmt: skip
"""(towers, some two) -> the clause."""
BOTH = choice(
    {"{a}, and {b}": 55, "{a}, while {b}": 17, "{a}, but {b}": 16, "{a}, and also {b}": 12, "{a}, yet {b}": 5},
    {"{a}, whereas {b}": 15},
)
EITHER = choice(
    {
        "{a}, or {b}, or both": 40, "either {a}, or {b}, or both": 25, "{a}, or otherwise {b}, or both": 15, "{a}, or else {b}, or both": 10,
        "{a}, or {b}, perhaps both": 10,
    },
    {"{a}, or {b}, possibly both": 15},
)  # fmt: skip
NOT = choice(
    {"it is not true that": 35, "it is false that": 35, "it is not the case that": 15, "it is wrong that": 10, "it does not hold that": 5},
    {"it is untrue that": 15},
)  # fmt: skip
