"""What can be asked for: the recipe, options, and splits with the rule by which each part's rows are made."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.core import Axis, Option, Part, Recipe, Split
from recombine.errors import UsageError, shown
from recombine.families.lexicon.facets import FACETS
from recombine.families.lexicon.plan import CONJUNCTIONS, MEANINGS, commands, distinct, glosses, table
from recombine.predicates.draw import HOLD_OUT, PREDICATE, PredicateOption

Flags = NDArray[np.bool_]
RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound", "The demonstrations leave one meaning for the test command, proved by elimination of every other lexicon."
        )
    }
)
OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "words": Option(6, "Words of each task; some splits add to them.", low=4, high=10),
        PREDICATE: PredicateOption(
            "any(verb) = jump and any(manner) = around",
            "what the split `hold_out` holds out: a predicate over facets (`recombine list lexicon --facets`)",
            facets=lambda: FACETS,
            family="lexicon",
        ),
    }
)
SHORTEST = 3
"""Words in the shortest test command."""
SHORT, LONG = 5, 7
"""Words in the longest training command, and in the shortest test command, of the split `longer`."""
HELD_PAIRS: tuple[tuple[str, str], ...] = (("walk", "thrice"), ("look", "around"), ("run", "opposite"), ("jump", "twice"))
"""Verb and modifier that no clause has in training, nor in any demonstration."""
SHARES: Mapping[str, tuple[int, ...]] = MappingProxyType({"train": (2, 3, 4, 5, 6, 7, 8, 9), "validation": (1,), "test": (0,)})
"""Which tenths of all test commands, by the hash of their gloss, each part asks."""


class Making(NamedTuple):
    """How the rows of a part are made.

    `shares` says which tenths of all test commands the part asks; empty means all. `fewest` and `most` bound the words of the test
    command. `more` is added to the option `words`. `held`: whether the test command has a held-out pair; None if that does not matter.
    """

    shares: tuple[int, ...] = ()
    fewest: int = SHORTEST
    most: int = 9
    more: int = 0
    held: bool | None = None


@dataclass(frozen=True)
class RuledSplit(Split):
    """A split with the making of each of its parts."""

    makings: Mapping[str, Making] = field(default_factory=dict)


@functools.cache
def tenths() -> NDArray[np.int64]:
    """The share of every command."""
    return np.array([keys.state("lexicon", "shares", gloss) % 10 for gloss in glosses()], dtype=np.int64)


@functools.cache
def has_held_pair() -> Flags:
    """Whether a clause of each command has a held-out pair of verb and modifier."""
    pairs = [(MEANINGS.index(verb), MEANINGS.index(modifier)) for verb, modifier in HELD_PAIRS]

    def holds(command: tuple[int, ...]) -> bool:
        cut = next((i for i, m in enumerate(command) if m in CONJUNCTIONS), len(command))
        return any(verb in part and modifier in part for part in (command[:cut], command[cut:]) for verb, modifier in pairs)

    return np.array([holds(command) for command in commands()])


def forbidden(making: Making) -> NDArray[np.int64]:
    """[13, 13]: which modifier no demonstration says of which verb."""
    found = np.zeros((len(MEANINGS), len(MEANINGS)), dtype=np.int64)
    for verb, modifier in HELD_PAIRS if making.held is not None else ():
        found[MEANINGS.index(verb), MEANINGS.index(modifier)] = 1
    return found


def asked(making: Making, words: int) -> NDArray[np.int64]:
    """The places of the commands that the part asks, for tasks of this many words."""
    lengths = table()[1]
    keep: Flags = (lengths >= making.fewest) & (lengths <= making.most) & (distinct() <= words)
    if making.shares:
        keep &= np.isin(tenths(), making.shares)
    if making.held is not None:
        keep &= has_held_pair() == making.held
    return np.flatnonzero(keep)


TRAIN, TEST = 100_000, 10_000


def ruled_split(
    name: str, axis: Axis, claim: str, parts: Mapping[str, tuple[str, Making]], aliases: Mapping[str, tuple[str, str]] | None = None,
) -> RuledSplit:  # fmt: skip
    """A split of these parts (sentence, making). Tasks are drawn with replacement: one of few words may come twice."""
    listed = {part: Part(part, rule, TRAIN if part == "train" else TEST, repeats=0) for part, (rule, _) in parts.items()}
    makings = {part: making for part, (_, making) in parts.items()}
    return RuledSplit(name, claim, listed, aliases or {}, ("sound",), axis, is_published=False, makings=makings)


def _trained(test: tuple[str, Making], making: Making) -> dict[str, tuple[str, Making]]:
    train, validation = making._replace(shares=SHARES["train"]), making._replace(shares=SHARES["validation"])
    sentence = "{} of the test commands that the split does not hold out."
    return {"train": (sentence.format("Most"), train), "validation": (sentence.format("One share"), validation), "test": test}


_SPLITS: tuple[Split, ...] = (
    ruled_split(
        "random", "random", "Test commands are divided at random by what they mean: none of one part is asked in another.",
        {part: (f"{len(shares)} of ten shares of the test commands.", Making(shares)) for part, shares in SHARES.items()},
    ),
    ruled_split(
        "longer", "length", "Test commands have at most five words in training and at least seven in the test.",
        _trained(("Every test command has seven to nine words.", Making(fewest=LONG, more=2)), Making(most=SHORT, more=2)),
    ),
    ruled_split(
        "modifier_verb", "composition", "Four pairs of verb and modifier never meet in training; every test command has one of them.",
        _trained(("Every test command has a held-out pair, and no demonstration has one.", Making(held=True)), Making(held=False)),
    ),
    ruled_split(
        "more_words", "substitution", "Test tasks have three words more than training tasks.",
        {"test": ("Every task has three words more than the option says.", Making(more=3))},
        {part: ("random", part) for part in ("train", "validation")},
    ),
    ruled_split(
        HOLD_OUT, "composition", "Training has no test command that satisfies the user's predicate (--hold-out); the test has only such ones.",
        {
            "train": ("Most of the tasks that do not satisfy the predicate.", Making(SHARES["train"])),
            "validation": ("One share of the tasks that do not satisfy the predicate.", Making(SHARES["validation"])),
            "test": ("Tasks that satisfy the predicate.", Making()),
        },
    ),
)  # fmt: skip
SPLITS: dict[str, Split] = {split.name: split for split in _SPLITS}


def making_of(split: str, part: str) -> Making:
    """How a part is made."""
    ruled = SPLITS[split]
    if not isinstance(ruled, RuledSplit):
        raise UsageError(f"split {shown(split)} has no makings; make it with `ruled_split`.")
    return ruled.makings[part]
