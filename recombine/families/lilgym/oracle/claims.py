"""The claims: why an example may not stand in a part of a split. Each formulates its split's sentence anew, from the sentence.

A claim reads the statement's meaning (and, for the share of statements that a part gets, the program's text), never what the
generator wrote beside it. A new split needs one entry in `splits.py` and one here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from recombine.core import Claim, Example
from recombine.errors import shown
from recombine.families.lilgym.oracle.meaning import (
    NONE,
    SOME,
    At,
    Boxes,
    Compare,
    Every,
    Filter,
    Has,
    Is,
    Items,
    Meaning,
    Only,
    Related,
    Span,
    Variety,
    atoms,
)
from recombine.families.lilgym.oracle.sentence import Unreadable, understand

COLORS = {"yellow": 0, "black": 1, "blue": 2}
LONG_WORDS = 17
DEEP = {"tower": 3, "scatter": 2}


# --- what a meaning speaks of ----------------------------------------------------------------------------------------


def described(meaning: Meaning) -> Iterator[tuple[Span | None, Filter]]:
    """Every description of items in a statement, with the range of how many are asked for (None where none is given)."""
    for atom in atoms(meaning):
        if isinstance(atom, Items):
            yield atom.span, atom.items
        elif isinstance(atom, Boxes):
            for condition in atom.conditions:
                if isinstance(condition, Has):
                    yield condition.span, condition.items
                elif isinstance(condition, Only):
                    yield None, condition.items
        elif isinstance(atom, Every):
            yield from ((None, items) for items in (atom.items, atom.also, atom.items | atom.also))
        elif isinstance(atom, Variety):
            yield None, atom.items
        elif isinstance(atom, Compare):
            yield from ((None, items) for items in (atom.first, atom.second))


def everything_described(meaning: Meaning) -> Iterator[Filter]:
    """The same with the descriptions inside relations ("above a blue block at the top")."""
    for _, items in described(meaning):
        yield from _inside(items)


def _inside(items: Filter) -> Iterator[Filter]:
    yield items
    for test in items:
        if isinstance(test, Related):
            yield from _inside(test.others)


def depth(meaning: Meaning) -> int:
    """How deep quantifiers are nested: items in boxes are two deep, items related to others one more."""
    deepest = 0
    for atom in atoms(meaning):
        own = 2 if isinstance(atom, Boxes) or not any(True for _ in described(atom)) else 1
        related = max((_relation_depth(items) for _, items in described(atom)), default=0)
        deepest = max(deepest, own + related)
    return deepest


def _relation_depth(items: Filter) -> int:
    return max((1 + _relation_depth(test.others) for test in items if isinstance(test, Related)), default=0)


# --- what is held out ------------------------------------------------------------------------------------------------


def _color_rank(meaning: Meaning, _example: Example) -> bool:
    """Yellow at the top or at a wall, blue at the bottom or at the bottom wall, black second, in a corner or almost at a wall."""
    pairs = (
        ("yellow", At("top")), ("yellow", At("wall")), ("blue", At("bottom")), ("blue", At("bottom wall")),
        ("black", At("second")), ("black", At("corner")), ("black", At("wall", 4)),
    )  # fmt: skip
    return any(
        {Is("color", COLORS[color]), place} <= items for items in everything_described(meaning) for color, place in pairs
    )


def _quantifier_relation(meaning: Meaning, _example: Example) -> bool:
    """Exactly so many items that are above another, in the box of another, touch another; or touch, nearly touch or touch no wall."""
    for span, items in described(meaning):
        is_exact = span is not None and span.low == span.high and span != NONE
        for test in items if is_exact else ():
            if isinstance(test, At) and (test.place, test.slack) in (("wall", 0), ("wall", 4), ("no wall", 0)):
                return True
            if isinstance(test, Related) and test.span == SOME and _is_held_relation(test.relation, _example):
                return True
    return False


def _is_held_relation(relation: str, example: Example) -> bool:
    """Contact is held out of scattered items; blocks of a tower that touch are trained."""
    if relation == "touching":
        return str(example.inputs["scene"]) == "scatter"
    return relation in ("directly above", "above", "in the same box")


def _deep(meaning: Meaning, example: Example) -> bool:
    """Quantifiers nested three deep in TOWER, two deep in SCATTER."""
    return depth(meaning) >= DEEP[example.inputs["scene"]]


def _long(_meaning: Meaning, example: Example) -> bool:
    """Seventeen words or more."""
    return str(example.inputs["statement"]).count(" ") + 1 >= LONG_WORDS


# --- the claims ------------------------------------------------------------------------------------------------------


def share(program: str) -> float:
    """A number in [0, 1): the first 64 bits of a BLAKE2b hash of the words "lilgym", "part" and the program, each with its length."""
    words = [word.encode("utf-8", "surrogatepass") for word in ("lilgym", "part", program)]
    message = b"".join(b"s" + len(word).to_bytes(8, "little") + word for word in words)
    return int.from_bytes(hashlib.blake2b(message, digest_size=32).digest()[:8], "little") / 2.0**64


@dataclass(frozen=True)
class HeldOut:
    """Test has the statements with the held-out property. The others are divided 9 to 1 into train and validation."""

    has_property: Callable[[Meaning, Example], bool]

    def __call__(self, example: Example, part: str) -> str:
        """Why the example may not stand in the part."""
        try:
            meaning = understand(str(example.inputs["statement"]))
        except Unreadable as problem:
            return f"its sentence cannot be read: {problem}"
        if self.has_property(meaning, example):
            return "" if part == "test" else f"{shown(example.inputs['statement'])} has what only test may have"
        belongs = "train" if share(str(example.meta["program"])) < 0.9 else "validation"
        return "" if part == belongs else f"{shown(example.inputs['statement'])} belongs to {belongs}"


def _random(example: Example, part: str) -> str:
    """Eight tenths of the statements are in train, one tenth each in validation and test."""
    point = share(str(example.meta["program"]))
    belongs = "train" if point < 0.8 else "validation" if point < 0.9 else "test"
    return "" if part == belongs else f"the hash of its program puts it into {belongs}"


def _published(kind: str, start: str) -> Claim:
    """A published file holds tasks of its own scenes and start; which statements are in which file is a list, not a rule."""

    def claim(example: Example, _part: str) -> str:
        is_start = bool(example.world.items) == (start == "flipit")
        found = example.inputs["scene"]
        return (
            ""
            if found == kind and is_start
            else f"a {found} scene with {len(example.world.items)} items is no {kind} {start} task"
        )

    return claim


CLAIMS: dict[str, Claim] = {
    "random": _random,
    "color_rank": HeldOut(_color_rank),
    "quantifier_relation": HeldOut(_quantifier_relation),
    "depth": HeldOut(_deep),
    "length": HeldOut(_long),
    **{f"{kind}_{start}": _published(kind, start) for kind in ("tower", "scatter") for start in ("scratch", "flipit")},
}
"""Split -> its claim."""


def judged(example: Example, claims: Mapping[str, Claim]) -> tuple[str, str] | None:
    """The code and the text of a broken claim; None if the example has no split or may stand where it stands."""
    split, part = example.meta.get("split"), str(example.meta.get("part", ""))
    if split is None:
        return None
    if split not in claims:
        return "unjudged_split", f"the oracle has no claim for split {shown(split)}, so nothing says what belongs there"
    reason = claims[split](example, part)
    return ("wrong_split", f"it cannot be in {shown(split)}/{shown(part)}: {reason}") if reason else None
