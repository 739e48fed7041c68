"""The number of a rule, by which rules are divided into shares: derived from its text alone."""

from __future__ import annotations

import functools
import itertools
import re

from recombine.core import Example

_COLORS, _SHAPES, _WAYS = (
    ("red", "blue", "green", "yellow"),
    ("circle", "cylinder", "square", "box"),
    ("east", "south", "west", "north"),
)
_RELATIONS = ("row", "column", "color", "shape", "size", "inside")
_PHRASE = re.compile(r"the (small |big |)(red |blue |green |yellow |)(circle|cylinder|square|box|object)")
_OPERATIONS_ROOM = 1024


@functools.cache
def _operations() -> dict[str, int]:
    """Text -> number: single operations by kind, then those of two parts."""
    paint, reshape = [f"paint {c}" for c in _COLORS], [f"reshape {s}" for s in _SHAPES]
    scale, move = [*(f"resize {k}" for k in (1, 2, 3, 4)), "grow", "shrink"], [f"move {w}" for w in _WAYS]
    add = [f"add {' '.join(words)}" for words in itertools.product(_COLORS, _SHAPES[:3], "1234", _WAYS)]
    two = [f"{a} and {b}" for x, y in itertools.combinations((paint, reshape, scale, move), 2) for a in x for b in y]
    listed = [*paint, *reshape, *scale, *move, "remove", *add, "copy color", "copy shape", "copy size", *two]
    return {text: number for number, text in enumerate(listed)}


def form_number(example: Example) -> int:
    """One number for the description: pattern, first phrase, and a step for each clause."""
    return _number_of(str(example.meta["description"]))


@functools.lru_cache(maxsize=1 << 14)
def _number_of(said: str) -> int:
    codes = []
    for size, color, shape in _PHRASE.findall(said):
        a = ("", "small ", "big ").index(size)
        b = ("", *(f"{name} " for name in _COLORS)).index(color)
        c = ("object", *_SHAPES).index(shape)
        codes.append(25 * a + 5 * b + c)
    links = [_RELATIONS.index(a or b) for a, b in re.findall(r"same (\w+) as|(inside) of", said)]
    steps = [75 * link + code for link, code in zip(links, codes[1:], strict=True)]
    pattern = len(steps) if len(steps) < 2 or " and " in said else 3
    number = pattern * 75 + codes[0]
    for step in (*steps, 0, 0)[:2]:
        number = number * 450 + step
    return number


def rule_number(example: Example) -> int:
    """One number for description and operation."""
    return form_number(example) * _OPERATIONS_ROOM + _operations()[str(example.meta["operation"])]
