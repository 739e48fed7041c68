"""The claims: why an example may not stand in a part of a split. Each formulates its split's sentence anew, from the sentence.

A claim reads the statement's meaning (and, for the share of statements that a part gets, the program's text), never what the
generator wrote beside it. A new split needs one entry in `splits.py` and one here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recombine.core import Claim, Example
from recombine.errors import shown
from recombine.families.lilgym.oracle.formula import shown_in
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
from recombine.families.lilgym.oracle.nouns import Unreadable
from recombine.families.lilgym.oracle.sentence import understand
from recombine.predicates.judge import Seen
from recombine.predicates.judge import holds as satisfies

COLORS = {"yellow": 0, "black": 1, "blue": 2}
LONG_WORDS = {"tower": 20, "scatter": 15}
DEEP = 3


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


def _deep(meaning: Meaning, _example: Example) -> bool:
    """Quantifiers nested three deep."""
    return depth(meaning) >= DEEP


def _long(_meaning: Meaning, example: Example) -> bool:
    """Twenty words or more in TOWER, fifteen in SCATTER."""
    return str(example.inputs["statement"]).count(" ") + 1 >= LONG_WORDS[example.inputs["scene"]]


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


NEW_WORDS = re.compile(
    r"\b(?:one can see|the number of|not a single|every single|box but one|the rest do not|some|just|no fewer than|or fewer|in contact with"
    r"|resting on|right under|in one box with|can be seen|outnumber|equally many|whereas|possibly both|untrue)\b"
)
"""Words that training never uses in the split `wording`."""


def _wording(example: Example, part: str) -> str:
    """Test has the programs of training, each in new words; train and validation have known words only, 9 to 1."""
    found = NEW_WORDS.search(str(example.inputs["statement"]).lower())
    belongs = "train" if share(str(example.meta["program"])) < 0.9 else "validation"
    if part == "test":
        if found is None:
            return f"{shown(example.inputs['statement'])} has no new wording"
        return "" if belongs == "train" else "its program is not one of training's"
    if found is not None:
        return f"only test may say {shown(found[0])}"
    return "" if part == belongs else f"it belongs to {belongs}"


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


_ITEM_RELATIONS = {
    "get_below": "directly_above", "get_above": "directly_below", "get_box_all_below": "above", "get_box_all_above": "below",
    "get_touching": "touching", "get_closely_touching": "almost_touching", "get_box_exclusive": "same_box",
}  # fmt: skip
_COMPARISONS = {"==": "exactly", ">=": "at_least", "<=": "at_most", ">": "more_than", "<": "fewer_than", "!=": "not_exactly"}
_ATTRIBUTES = {
    "color": ("yellow", "black", "blue"), "shape": ("circle", "square", "triangle"), "size": ("small", "medium", "big"),
}  # fmt: skip


def read_facets(example: Example, meaning: Meaning) -> Seen:
    """What a predicate can say of a statement: from its sentence, its meaning, and the words of its program one by one."""
    program = str(example.meta["program"])
    tokens = re.findall(r"\w+|[=!<>]=|[<>().,]", program)
    named = {name: tuple(v for v in values if _names(tokens, v)) for name, values in _ATTRIBUTES.items()}
    return {
        **named,
        "scene": str(example.inputs["scene"]),
        "words": len(str(example.inputs["statement"]).split()),
        "depth": depth(meaning),
        "phenomenon": tuple(shown_in(program)),
        "place": tuple(dict.fromkeys(_places(tokens))),
        "relation": tuple(dict.fromkeys(_ITEM_RELATIONS[token] for token in tokens if token in _ITEM_RELATIONS)),
        "quantifier": tuple(dict.fromkeys(_quantifiers(tokens))),
    }


def _names(tokens: list[str], value: str) -> bool:
    """Whether the program asks for the value: `is_yellow`, or `Color.YELLOW`."""
    owners = ("Color", "Shape", "Size")
    is_member = any(
        token.lower() == value and tokens[i - 2 : i] in ([o, "."] for o in owners) for i, token in enumerate(tokens)
    )
    return is_member or f"is_{value}" in tokens


def _places(tokens: list[str]) -> Iterator[str]:
    for i, token in enumerate(tokens):
        if token in ("is_top", "is_bottom", "is_second", "is_third"):
            yield token.removeprefix("is_")
        near = "near_" if token.startswith("is_closely_") else ""
        if token.endswith("touching_corner"):
            yield f"{near}corner"
        if token.endswith("touching_wall"):
            inside = tokens[i + 1 : tokens.index(")", i)]
            side = inside[-1].lower() if "Side" in inside else "any"
            yield f"{near}wall" if side == "any" else f"{near}{side}_wall"


def _quantifiers(tokens: list[str]) -> Iterator[str]:
    for before, word, after in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        if word == "exist":
            yield "none" if before == "not" else "some"
        elif word == "All":
            yield "every"
        elif word in _COMPARISONS and after.isdecimal():
            yield _COMPARISONS[word]


def _satisfies(meaning: Meaning, example: Example) -> bool:
    """The predicate of the split holds of the statement."""
    return satisfies(str(example.meta.get("predicate", "")), read_facets(example, meaning))


CLAIMS: dict[str, Claim] = {
    "random": _random,
    "color_rank": HeldOut(_color_rank),
    "quantifier_relation": HeldOut(_quantifier_relation),
    "depth": HeldOut(_deep),
    "length": HeldOut(_long),
    "wording": _wording,
    "hold_out": HeldOut(_satisfies),
    **{f"{kind}_{start}": _published(kind, start) for kind in ("tower", "scatter") for start in ("scratch", "flipit")},
}
"""Split -> its claim."""
