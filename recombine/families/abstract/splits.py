"""What can be asked for: recipes, options, and splits with the rule by which each part's rows are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.core import Axis, Option, Part, Recipe, Split
from recombine.errors import UsageError, shown
from recombine.families.abstract.facets import FACETS
from recombine.families.abstract.operations import kinds
from recombine.families.abstract.plan import N_PHRASES, NESTED, ONE, PATTERNS, TWO, Forms
from recombine.grid.codes import RELATIONS
from recombine.predicates.draw import HOLD_OUT, PREDICATE, PredicateOption

Flags = NDArray[np.bool_]
Holds = Callable[[Forms, NDArray[np.int64]], Flags]
"""Which of many rules (forms, numbers of operations) show a combination."""

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "sound": Recipe(
            "sound", "The demonstrations leave exactly one output for the test, proved by elimination of every other rule."
        ),
        "release": Recipe(
            "release", "What the original notebook does: worlds are drawn without a proof, so many tasks have several answers."
        ),
    }
)
FEWEST = 1
"""Fewest demonstrations. A single one is an edited copy of the test world; independent worlds never settle a task with decoys."""
ANSWER_FORMS = ("objects", "edit", "cells", "arc")
OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "demonstrations": Option(3, "Demonstrations in each task.", low=FEWEST, high=6),
        "pattern": Option("one_clause", "The descriptions of the splits `random` and `hold_out`.", choices=PATTERNS),
        "grid_size": Option(6, "Rows and columns of each world.", low=5, high=10),
        "answer_form": Option("objects", "How the answer is written.", choices=ANSWER_FORMS),
        PREDICATE: PredicateOption(
            "operation = paint and any(relation) = column",
            "what the split `hold_out` holds out: a predicate over facets (`recombine list abstract --facets`; recipe sound)",
            facets=lambda: FACETS,
            family="abstract",
        ),
    }
)
OBJECTS, MORE_OBJECTS, DEEP_OBJECTS = (6, 9), (10, 12), (7, 12)
"""Fewest and most objects in a world; descriptions with two clauses need more decoys."""


class Making(NamedTuple):
    """How the rows of a part are made.

    `patterns` lists the patterns of the rules; empty means the option `pattern`. `wanted` must hold of the rule and `unwanted` must
    not. `hashed` says which of ten shares of all rules the part holds; empty means all. `fewer` is taken from the demonstrations.
    `source` draws rules where the part has its own table of them.
    """

    patterns: tuple[int, ...] = ()
    wanted: Holds | None = None
    unwanted: Holds | None = None
    hashed: tuple[int, ...] = ()
    objects: tuple[int, int] = OBJECTS
    fewer: int = 0
    source: Callable[[NDArray[np.uint64]], tuple[Forms, NDArray[np.int64]]] | None = None


@dataclass(frozen=True)
class RuledSplit(Split):
    """A split with the making of each of its parts: all that the generator needs to know of it."""

    makings: Mapping[str, Making] = field(default_factory=dict)


HELD_PAIRS: tuple[tuple[str, str], ...] = (
    ("paint", "column"), ("move", "row"), ("grow", "color"), ("remove", "inside"), ("reshape", "size"), ("add", "shape"),
)  # fmt: skip
"""Operation and relation that training never shows together."""
SHARES: Mapping[str, tuple[int, ...]] = MappingProxyType({"test": (0,), "validation": (1,), "train": (2, 3, 4, 5, 6, 7, 8, 9)})
"""Which tenths of all rules, by the hash of the rule, each part holds."""


def relations_of(forms: Forms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(relation of the first clause, of the second), -1 where there is none."""
    first = np.where(forms.pattern >= ONE, forms.first // N_PHRASES, -1)
    second = np.where(forms.pattern >= TWO, forms.second // N_PHRASES, -1)
    return first, second


def is_held_pair(forms: Forms, ops: NDArray[np.int64]) -> Flags:
    """The rule joins an operation with a relation of HELD_PAIRS."""
    named = np.array(kinds())[ops]
    found = np.zeros(len(ops), dtype=bool)
    for kind, relation in HELD_PAIRS:
        code = RELATIONS.index(relation)
        found |= (named == kind) & np.logical_or(*(side == code for side in relations_of(forms)))
    return found


def says_yellow_square(forms: Forms, _ops: NDArray[np.int64]) -> Flags:
    """Some phrase says both "yellow" and "square"."""
    yellow_square = 23  # colour 4 * 5 + shape 3
    found: Flags = forms.root % 25 == yellow_square
    found = found | ((forms.pattern >= ONE) & (forms.first % N_PHRASES % 25 == yellow_square))
    found |= (forms.pattern >= TWO) & (forms.second % N_PHRASES % 25 == yellow_square)
    return found


TRAIN, TEST = 100_000, 10_000


def ruled_split(
    name: str, axis: Axis, claim: str, parts: Mapping[str, tuple[str, int, Making]], alias: bool = False
) -> RuledSplit:
    """A split of these parts (sentence, default size, making). With `alias`, models are trained on the split `random`."""
    aliases = {part: ("random", part) for part in ("train", "validation")} if alias else {}
    listed = {part: Part(part, rule, size) for part, (rule, size, _) in parts.items()}
    makings = {part: making for part, (_, _, making) in parts.items()}
    recipes = ("sound", "release") if axis == "random" else ("sound",)
    return RuledSplit(name, claim, listed, aliases, recipes, axis, is_published=False, makings=makings)


def _held(wanted: Holds, what: str) -> dict[str, tuple[str, int, Making]]:
    train = Making((ONE,), unwanted=wanted, hashed=SHARES["train"])
    validation = train._replace(hashed=SHARES["validation"])
    return {
        "train": (f"No rule has {what}; eight tenths of the rules.", TRAIN, train),
        "validation": (f"No rule has {what}; one tenth of the rules.", TEST, validation),
        "test": (f"Every rule has {what}.", TEST, Making((ONE,), wanted=wanted)),
    }


_SPLITS = (
    ruled_split(
        "random", "random", "Rules are divided at random: no rule of one part occurs in another.",
        {
            part: (f"{len(shares)} of ten shares of the rules.", TRAIN if part == "train" else TEST, Making(hashed=shares))
            for part, shares in reversed(list(SHARES.items()))
        },
    ),
    ruled_split(
        "operation_relation", "composition", "Some operations never occur with some relations in training, and only so in the test.",
        _held(is_held_pair, "an operation with a relation that is held out"),
    ),
    ruled_split(
        "color_shape", "substitution", "No training description says 'yellow square'; every test description does.",
        _held(says_yellow_square, "a phrase that says 'yellow square'"),
    ),
    ruled_split(
        "two_clauses", "composition", "Training descriptions have one clause, test descriptions have two.",
        {"test": ("Every description has two clauses of its first phrase; worlds hold seven to twelve objects.", TEST, Making((TWO,), objects=DEEP_OBJECTS))}, alias=True,
    ),
    ruled_split(
        "nested", "composition", "Training descriptions have one clause, test descriptions have a clause inside a clause.",
        {"test": ("Every description has a clause of its second phrase; worlds hold seven to twelve objects.", TEST, Making((NESTED,), objects=DEEP_OBJECTS))}, alias=True,
    ),
    ruled_split(
        "more_objects", "distractors", "Worlds hold six to nine objects in training and ten to twelve in the test.",
        {"test": ("Every world holds ten to twelve objects.", TEST, Making((ONE,), objects=MORE_OBJECTS))}, alias=True,
    ),
    ruled_split(
        "fewer_demonstrations", "length", "Tasks have one demonstration less than in training.",
        {"test": ("Every task has one demonstration less than the option says.", TEST, Making((ONE,), fewer=1))}, alias=True,
    ),
    ruled_split(
        HOLD_OUT, "composition", "Training has no task that satisfies the user's predicate (--hold-out); the test has only such tasks.",
        {
            "train": ("Tasks that do not satisfy the predicate; eight tenths of the rules.", TRAIN, Making(hashed=SHARES["train"])),
            "validation": ("Tasks that do not satisfy the predicate; one tenth of the rules.", TEST, Making(hashed=SHARES["validation"])),
            "test": ("Tasks that satisfy the predicate.", TEST, Making()),
        },
    ),
)  # fmt: skip
SPLITS: dict[str, Split] = {split.name: split for split in _SPLITS}


def follows_pattern(split: str, part: str) -> bool:
    """Whether the option `pattern` gives the part's descriptions. A split that trains on `random` fixes what its test holds."""
    ruled = SPLITS[split]
    return isinstance(ruled, RuledSplit) and not ruled.makings[part].patterns


def making_of(split: str, part: str, options: Mapping[str, Any]) -> Making:
    """How a part is made, with the options filled in."""
    ruled = SPLITS[split]
    if not isinstance(ruled, RuledSplit):
        raise UsageError(f"split {shown(split)} has no makings; make it with `ruled_split`.")
    making = ruled.makings[part]
    if making.patterns:
        return making
    pattern = PATTERNS.index(str(options.get("pattern", OPTIONS["pattern"].default)))
    return making._replace(patterns=(pattern,), objects=DEEP_OBJECTS if pattern >= TWO else OBJECTS)


__all__ = [
    "ANSWER_FORMS",
    "FEWEST",
    "OPTIONS",
    "RECIPES",
    "SPLITS",
    "Making",
    "RuledSplit",
    "follows_pattern",
    "making_of",
    "ruled_split",
]
