"""Which statements are held out. Every statement of the language belongs to exactly one part of each split.

A split of `sound` is one `RuleSplit` in `SPLITS`, with its rule, and one claim in the oracle.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recombine import keys
from recombine.core import Axis, Part, Split
from recombine.errors import UsageError
from recombine.facets import Facet
from recombine.families.lilgym.plan import mentioned, nouns
from recombine.predicates import Predicate, atoms, mask, parse
from recombine.predicates.draw import HOLD_OUT, PredicateOption

if TYPE_CHECKING:
    from recombine.families.lilgym.sound.language import Statement

HELD_COLOR_PLACES = frozenset(
    {
        ("yellow", "top"), ("blue", "bottom"), ("black", "second"), ("yellow", "wall"), ("blue", "bottom_wall"),
        ("black", "corner"), ("black", "near_wall"),
    }
)  # fmt: skip
"""Colour × rank (TOWER) and colour × place at the walls (SCATTER) of one noun that only the test part combines."""
HELD_RELATIONS = frozenset({"directly_above", "above", "same_box", "contact"})
HELD_PLACES = frozenset({"wall", "near_wall", "no_wall"})
"""Relations, and places at the walls, that only the test part puts under "exactly"."""
LONG = {"tower": 20, "scatter": 15}
"""Words from which on a statement is long."""
LENGTH, WORDING = "length", "wording"
DEEP = 3
"""Depth of nested quantifiers from which on a statement is deep."""


def has_held_color_place(statement: Statement) -> bool:
    """Whether a noun combines a colour with a place that is kept for the test."""
    return any((noun.color, noun.place) in HELD_COLOR_PLACES for noun in mentioned(statement.plan))


def has_held_quantifier_relation(statement: Statement) -> bool:
    """Whether "exactly" governs a noun with a relation (or a place at the walls) that is kept for the test."""
    return any(
        quantifier == "exactly" and (noun.relation in HELD_RELATIONS or noun.place in HELD_PLACES)
        for quantifier, noun in nouns(statement.plan)
    )


def is_deep(statement: Statement) -> bool:
    """Whether its quantifiers are nested so deeply that the statement belongs to the test part."""
    return statement.depth >= DEEP


def is_long(statement: Statement) -> bool:
    """Whether its plain wording has so many words that the statement belongs to the test part. Its other wordings go with it."""
    return statement.words >= LONG[statement.kind]


RULES: dict[str, Callable[[Statement], bool]] = {
    "color_rank": has_held_color_place,
    "quantifier_relation": has_held_quantifier_relation,
    "depth": is_deep,
}
"""Split -> its rule, where the rule looks at the plan alone."""


@dataclass(frozen=True)
class RuleSplit(Split):
    """A split of the embedded statements: `rule` says which ones only the test part has; None divides them by hash alone."""

    rule: Callable[[Statement], bool] | None = None


@functools.lru_cache(maxsize=100_000)
def share(program: str) -> float:
    """A number in [0, 1) that the program alone decides."""
    return keys.state("lilgym", "part", program) / 2.0**64


def _facets() -> Mapping[str, Facet]:
    from recombine.families.lilgym.facets import FACETS

    return FACETS


OPTION = PredicateOption(
    "any(color) = yellow and any(quantifier) = at_least",
    "what the split `hold_out` holds out: a predicate over facets of statements (`recombine list lilgym --facets`; recipe sound)",
    facets=_facets,
    family="lilgym",
)
STATED = frozenset({"scene", "words", "depth", "phenomenon", "color", "shape", "size", "place", "relation", "quantifier"})
"""The facets of a statement; the others say what its scene and its task are."""


@functools.cache
def predicate_of(text: str) -> tuple[Predicate, frozenset[str]]:
    """The predicate of a user's split and the facets that it names; an error if they are not facets of statements."""
    predicate = parse(text, _facets(), "lilgym")
    names = frozenset(atom.facet for atom in atoms(predicate))
    for name in sorted(names - STATED):
        raise UsageError(
            f"{name} is no facet of a statement, and lilGym holds out statements; use {', '.join(sorted(STATED))}."
        )
    if any(atom.place for atom in atoms(predicate)):
        raise UsageError("the facets of a statement have no order; say any(…) or all(…) instead of a number in brackets.")
    return predicate, names


@functools.cache
def held_out_by(text: str) -> Callable[[Statement, int], bool]:
    """The rule of a user's split: whether a statement, worded with this number of words, satisfies the predicate."""
    from recombine.families.lilgym.facets import statement_columns

    predicate, names = predicate_of(text)

    def rule(statement: Statement, words: int) -> bool:
        return bool(mask(predicate, statement_columns(statement, names, words))[0])

    return rule


def speaks_of_words(text: str) -> bool:
    """Whether a predicate uses the number of words, which depends on the wording."""
    return bool(text) and "words" in {atom.facet for atom in atoms(parse(text, _facets(), "lilgym"))}


def rule_of(split: str, predicate: str = "") -> Callable[[Statement], bool]:
    """Which statements only the test part of a split has; `predicate` is what `hold_out` holds out."""
    if split == HOLD_OUT:
        held_out = held_out_by(predicate or str(OPTION.default))
        return lambda statement: held_out(statement, statement.words)
    chosen = SPLITS[split]
    return (chosen.rule if isinstance(chosen, RuleSplit) else None) or (lambda _: False)


def part_of(split: str, statement: Statement, predicate: str = "") -> str:
    """The part of a split to which a statement belongs (of `wording`: train or validation; test has train's statements)."""
    point = share(statement.program)
    if split == "random":
        return "train" if point < 0.8 else "validation" if point < 0.9 else "test"
    return "test" if rule_of(split, predicate)(statement) else "train" if point < 0.9 else "validation"


def embedded(name: str, claim: str, axis: Axis, rule: Callable[[Statement], bool] | None, train: str, test: str) -> RuleSplit:
    """A split of the embedded statements; `train` and `test` say in a sentence what the parts hold."""
    parts = {
        "train": Part("train", train, 10_000),
        "validation": Part("validation", f"{train[:-1]}; other statements than in train.", 1_000, default=False),
        "test": Part("test", test, 1_000),
    }
    return RuleSplit(name, claim, parts, recipes=("sound",), axis=axis, rule=rule)


def _with_shared_test(split: RuleSplit) -> RuleSplit:
    """The split with a test that has the statements of training: in SCRATCH, where the scene is empty, only words differ."""
    return replace(split, parts={**split.parts, "test": replace(split.parts["test"], shares=("train",))})


_REST = "Statements without the held-out combination."
SPLITS: dict[str, Split] = {
    split.name: split
    for split in (
        embedded(
            "random",
            "New statements of the same language: every statement belongs to one part by a hash of its program.",
            "random", None, "80 % of the statements.", "10 % of the statements.",
        ),
        embedded(
            "color_rank",
            "Known colours in known places, never together: yellow at the top, blue at the bottom or at the bottom wall, black in "
            "second place; in SCATTER yellow at a wall, black in a corner or almost at a wall, blue at the bottom wall.",
            "substitution", has_held_color_place, _REST, "Statements that combine such a colour and place, of one noun or of every such item.",
        ),
        embedded(
            "quantifier_relation",
            'Known relations under a known quantifier, never together: "exactly k" of items that are above another, in its box '
            "or (SCATTER) touch it, or that touch, almost touch or do not touch any wall.",
            "substitution", has_held_quantifier_relation, _REST, "Statements in which exactly so many of such items are asked for.",
        ),
        embedded(
            "depth",
            "Quantifiers nested three deep, as in a box with items that touch others. Training has one and two deep, so it has every word.",
            "composition", is_deep, "Statements with shallower nesting.", "Statements with the deepest nesting.",
        ),
        embedded(
            "length",
            f"Longer statements than in training: {LONG['tower']} words or more in TOWER, {LONG['scatter']} in SCATTER (training: fewer).",
            "length", is_long, "Statements of fewer words.", "Statements of as many words or more.",
        ),
        _with_shared_test(
            embedded(
                WORDING,
                "Known statements in new words: the test says programs of training in wordings that training never uses (the number "
                "of … is, outnumber, every box but one, the rest do not, not a single, whereas …).",
                "substitution", None, "Statements in known wordings.", "The statements of training, each with a wording that training never uses.",
            )
        ),
        replace(
            embedded(
                HOLD_OUT,
                "Training has no statement that satisfies the user's predicate (--hold-out); the test has only such statements.",
                "composition", None, "Statements that do not satisfy the predicate.", "Statements that satisfy the predicate.",
            ),
            is_published=False,
        ),
    )
}  # fmt: skip

_COUNTS = {
    "tower_scratch": (989, 163, 324),
    "tower_flipit": (5704, 676, 1383),
    "scatter_scratch": (1241, 87, 155),
    "scatter_flipit": (6696, 313, 591),
}
"""Table 2 of the paper: initial states in train, dev and test (in SCRATCH each statement has one, the empty scene)."""
NEEDS = "the published JSON files (option files: their folder)"

for _name, _counts in _COUNTS.items():
    _kind, _start = _name.split("_")
    SPLITS[_name] = Split(
        _name,
        f"The published {_kind.upper()}-{'FLIPIT' if _start == 'flipit' else 'SCRATCH'} tasks, as the paper counts them.",
        {
            _part: Part(_part, f"The published {_file} file.", _count, finite=True, default=_part != "validation", fixed=True)
            for _part, _file, _count in zip(("train", "validation", "test"), ("train", "dev", "test"), _counts, strict=True)
        },
        recipes=("official",),
        axis="random",
        needs_files=NEEDS,
    )
