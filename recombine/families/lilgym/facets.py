"""The facets of an example (a lilGym statement), and the phenomena of the annotated corpus.

Facets are read off the program, so that published examples have them as well as ours. `CORPUS` says how often the annotated
programs show each phenomenon.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Column, Ragged
from recombine.core import Batch, Example
from recombine.errors import UnknownName
from recombine.facets import Facet, Value
from recombine.families.lilgym.scene import COLORS, SHAPES, SIZE_NAMES, Kind

if TYPE_CHECKING:
    from recombine.families.lilgym.sound.language import Statement

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


NAMES = tuple(CORPUS["tower"])
"""The phenomena; a set of them is a number."""
SHOWN = np.array([NAMES.index(name) for name in (*(name for name, _ in _PHENOMENA), "nested")], np.int32)
"""Places in `NAMES` in the order in which a row names its phenomena."""


def phenomena_set(program: str) -> int:
    """The phenomena of a program as a set of places in `NAMES`."""
    return sum(1 << NAMES.index(name) for name in phenomena(program))


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


# --- facets ----------------------------------------------------------------------------------------------------------

_RELATIONS = {
    "get_below": "directly_above", "get_above": "directly_below", "get_box_all_below": "above", "get_box_all_above": "below",
    "get_touching": "touching", "get_closely_touching": "almost_touching", "get_box_exclusive": "same_box",
}  # fmt: skip
_SIGNS = {"==": "exactly", ">=": "at_least", "<=": "at_most", ">": "more_than", "<": "fewer_than", "!=": "not_exactly"}
_PLACES = (
    "top", "bottom", "second", "third", "wall", "left_wall", "right_wall", "top_wall", "bottom_wall", "near_wall", "near_left_wall",
    "near_right_wall", "near_top_wall", "near_bottom_wall", "corner", "near_corner",
)  # fmt: skip
_READERS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "color": lambda text: (word.lower() for word in re.findall(r"(?:is_|Color\.)(yellow|black|blue)", text, re.IGNORECASE)),
    "shape": lambda text: (
        word.lower() for word in re.findall(r"(?:is_|Shape\.)(circle|square|triangle)", text, re.IGNORECASE)
    ),
    "size": lambda text: (word.lower() for word in re.findall(r"(?:is_|Size\.)(small|medium|big)", text, re.IGNORECASE)),
    "place": lambda text: _places(text),
    "relation": lambda text: (_RELATIONS[name] for name in re.findall(r"\b(get_\w+)\(", text) if name in _RELATIONS),
    "quantifier": lambda text: _quantifiers(text),
}
"""Facet of the statement -> how its values are read off a program."""


def _places(text: str) -> Iterator[str]:
    yield from re.findall(r"\bis_(top|bottom|second|third)\(", text)
    for near, side in re.findall(r"is_(closely_)?touching_wall\(\w+(?:, (?:side=)?Side\.(\w+))?\)", text):
        wall = f"{side.lower()}_wall" if side and side != "ANY" else "wall"
        yield f"near_{wall}" if near else wall
    for near in re.findall(r"is_(closely_)?touching_corner\(", text):
        yield "near_corner" if near else "corner"


def _quantifiers(text: str) -> Iterator[str]:
    for denied in re.findall(r"(not )?exist\(", text):
        yield "none" if denied else "some"
    yield from (_SIGNS[sign] for sign in re.findall(r"(==|>=|<=|!=|>|<) \d", text))
    yield from ("every" for _ in re.findall(r"\bAll\(", text))


FACETS: Mapping[str, Facet] = {
    facet.name: facet
    for facet in (
        Facet("scene", "word", "what the boxes hold", ("tower", "scatter"), column="scene"),
        Facet("start", "word", "from a given scene or from scratch", ("flipit", "scratch"), column="start"),
        Facet("task", "word", "edits, or true or false", ("edit", "truth"), column="task"),
        Facet("target", "flag", "the truth value to reach", (False, True), level="world", column="target"),
        Facet("words", "number", "words of the statement", (4, 40), column="words"),
        Facet("depth", "number", "how deep quantifiers are nested", (0, 4), column="depth"),
        Facet("objects", "number", "items of the given scene", (0, 21), level="world", column="objects"),
        Facet("edits", "number", "edits of the answer", (-1, 10), level="world", column="edits"),
        Facet("phenomenon", "word", "what the program shows", tuple(CORPUS["tower"]), many=True, column="phenomena"),
        Facet("color", "word", "a colour that is named", COLORS, many=True),
        Facet("shape", "word", "a shape that is named", SHAPES, many=True),
        Facet("size", "word", "a size that is named", SIZE_NAMES, many=True),
        Facet("place", "word", "a place that is named", _PLACES, many=True),
        Facet("relation", "word", "a relation between items that is named", tuple(_RELATIONS.values()), many=True),
        Facet("quantifier", "word", "how many are asked for", ("some", "none", "every", *_SIGNS.values()), many=True),
    )
}
"""By name: what predicates, pairs and charts say of an example."""


@functools.lru_cache(maxsize=65_536)
def _read(name: str, program: str) -> tuple[str, ...]:
    """The values of a facet of the statement, each once, in the order of the table."""
    found = set(_READERS[name](program))
    return tuple(str(value) for value in FACETS[name].values if value in found)


def facet_values(example: Example) -> dict[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    found: dict[str, Value | tuple[Value, ...]] = {}
    for name, facet in FACETS.items():
        if facet.column:
            value = example.meta[facet.column]
            found[name] = tuple(value) if facet.many else value
        else:
            found[name] = _read(name, str(example.meta["program"]))
    return found


def statement_columns(statement: Statement, names: Iterable[str], words: int) -> dict[str, Column]:
    """The facets of one statement, said in this many words, as columns of one row, before it has a scene."""
    known: dict[str, Column] = {
        "scene": [statement.kind],
        "words": np.array([words]),
        "depth": np.array([statement.depth]),
    }
    for name in set(names) - set(known):
        found = phenomena(statement.program) if name == "phenomenon" else _read(name, statement.program)
        known[name] = Ragged(Coded(np.arange(len(found)), found), np.array([0, len(found)]))
    return known


def facet_columns(batch: Batch, names: Sequence[str]) -> dict[str, Column]:
    """The same for a whole batch, for these facets."""
    found: dict[str, Column] = {}
    for name in names:
        if name not in FACETS:
            raise UnknownName("facet of lilgym", name, FACETS)
        if FACETS[name].column:
            found[name] = batch.columns[FACETS[name].column]
            continue
        found[name] = read_column(name, (str(batch.columns["program"][row]) for row in range(len(batch))))
    return found


def read_column(name: str, programs: Iterable[str]) -> Ragged:
    """The values of a facet that is read off programs, for many programs."""
    rows = [_read(name, program) for program in programs]
    places = {str(value): code for code, value in enumerate(FACETS[name].values)}
    codes = np.array([places[value] for row in rows for value in row], np.int32)
    offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Ragged(Coded(codes, list(places)), offsets)
