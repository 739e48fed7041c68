"""What occurs in a program: the phenomena of the corpus's table, and how often the annotated programs show them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from recombine.families.lilgym.scene import Kind

_PHENOMENA: Sequence[tuple[str, str]] = (
    ("conjunction", r"\band\b|AND\("),
    ("color", r"is_(yellow|black|blue)|Color\."),
    ("existential", r"exist\("),
    ("exact_count", r"== \d|equal_int"),
    ("over_boxes", r"all_boxes"),
    ("over_items", r"all_items\b"),
    ("shape", r"is_(circle|square|triangle)|Shape\."),
    ("is_tower", r"is_tower"),
    ("wall", r"touching_wall"),
    ("rank", r"is_(top|bottom|second|third)\("),
    ("lower_bound", r">=|\bge\(|> \d"),
    ("negation", r"\bnot\b|NOT\(|!="),
    ("above_below", r"get_(above|below|box_all)"),
    ("same_different", r"all_same|get_set|query_|equal_(color|shape|size)"),
    ("universal", r"\bAll\("),
    ("corner", r"corner"),
    ("disjunction", r"\bor\b|OR\("),
    ("contact", r"get_(closely_)?touching|is_closely_touching\("),
    ("upper_bound", r"<=|\ble\(|< \d"),
    ("size", r"is_(small|medium|big)|Size\."),
    ("pairs", r"combinations"),
)
CORPUS: Mapping[Kind, Mapping[str, float]] = {
    "tower": {
        "conjunction": 89.7, "color": 85.8, "existential": 76.8, "exact_count": 68.2, "over_boxes": 65.7, "over_items": 34.4,
        "shape": 1.6, "nested": 37.0, "is_tower": 52.3, "wall": 4.6, "rank": 42.3, "lower_bound": 16.0, "negation": 7.5,
        "above_below": 18.2, "same_different": 9.6, "universal": 7.3, "corner": 0.0, "disjunction": 3.5, "contact": 3.1,
        "upper_bound": 1.4, "size": 0.0, "pairs": 1.2,
    },
    "scatter": {
        "conjunction": 74.4, "color": 72.4, "existential": 61.8, "exact_count": 63.2, "over_boxes": 56.3, "over_items": 43.8,
        "shape": 54.9, "nested": 23.7, "is_tower": 0.0, "wall": 36.4, "rank": 0.0, "lower_bound": 16.4, "negation": 14.9,
        "above_below": 0.1, "same_different": 6.8, "universal": 5.2, "corner": 5.2, "disjunction": 1.6, "contact": 0.2,
        "upper_bound": 1.6, "size": 2.6, "pairs": 0.7,
    },
}  # fmt: skip
"""Percent of the published statements' programs that show a phenomenon: 1,288 statements of TOWER, 1,397 of SCATTER."""
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _PHENOMENA)


def phenomena(program: str) -> tuple[str, ...]:
    """The phenomena that a program shows, in the order of the corpus's table; `nested` is a lambda within a lambda."""
    found = [name for name, pattern in _COMPILED if pattern.search(program)]
    return tuple(found + (["nested"] if lambda_depth(program) > 1 else []))


def lambda_depth(program: str) -> int:
    """How deep lambdas are nested in a program's text."""
    ends: list[int] = []
    deepest = depth = 0
    for token in re.finditer(r"lambda|[()]", program):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            while ends and depth < ends[-1]:
                ends.pop()
        else:
            ends.append(depth)
            deepest = max(deepest, len(ends))
    return deepest


def shares(programs: Sequence[str]) -> dict[str, float]:
    """Percent of the programs that show each phenomenon, in the order of the corpus's table."""
    found = Counter(name for text in programs for name in phenomena(text))
    return {name: 100 * found[name] / max(1, len(programs)) for name in CORPUS["tower"]}
