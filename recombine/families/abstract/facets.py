"""What predicates, pairs and charts can say about a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.families.abstract.operations import KINDS
from recombine.families.abstract.plan import PATTERNS, Form, Rule
from recombine.grid.codes import COLORS, RELATIONS, SHAPES

if TYPE_CHECKING:
    from recombine.columns import Column

SIZE_VALUES, COLOR_VALUES, SHAPE_VALUES = ("none", "small", "big"), ("none", *COLORS), ("object", *SHAPES)
_FACETS = (
    Facet("operation", "word", "The kind of the operation.", KINDS, column="kind"),
    Facet("pattern", "word", "How the clauses hang together.", PATTERNS, column="pattern"),
    Facet("clauses", "number", "How many clauses the description has.", (0, 2), column="clauses"),
    Facet("relation", "word", "The relation of each clause.", RELATIONS, many=True, column="relations"),
    Facet("np.size", "word", "The size word of each phrase.", SIZE_VALUES, many=True),
    Facet("np.color", "word", "The colour word of each phrase.", COLOR_VALUES, many=True),
    Facet("np.shape", "word", "The shape word of each phrase.", SHAPE_VALUES, many=True),
    Facet("demonstrations", "number", "How many demonstrations the task has.", (1, 6), column="demonstrations"),
    Facet("object_count", "number", "How many objects the test input holds.", (1, 12), level="world", column="object_count"),
    Facet("determined", "flag", "Whether every rule that fits gives the same output.", level="world", column="determined"),
    Facet(
        "rival_bits",
        "number",
        "Bits of the number of hypotheses left that give another output.",
        (0, 30),
        level="world",
        column="rival_bits",
    ),
    Facet("proved_unique", "flag", "Whether a single rule is left.", level="world", column="proved_unique"),
)
FACETS: Mapping[str, Facet] = MappingProxyType({facet.name: facet for facet in _FACETS})
_WORDS: Mapping[str, tuple[Callable[[Rule], list[str]], tuple[str, ...]]] = MappingProxyType(
    {
        "np.size": (lambda rule: [phrase.size or "none" for phrase in rule.phrases], SIZE_VALUES),
        "np.color": (lambda rule: [phrase.color or "none" for phrase in rule.phrases], COLOR_VALUES),
        "np.shape": (lambda rule: [phrase.shape or "object" for phrase in rule.phrases], SHAPE_VALUES),
    }
)


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    rule = cast(Rule, example.plan)
    found: dict[str, Value | tuple[Value, ...]] = {name: tuple(words(rule)) for name, (words, _) in _WORDS.items()}
    for name, facet in FACETS.items():
        if facet.column:
            value = example.meta[facet.column]
            found[name] = tuple(value) if facet.many else value
    return found


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The values of these facets in every row of a batch."""
    return {name: batch.columns[FACETS[name].column] if FACETS[name].column else _said(batch, name) for name in names}


def _said(batch: Batch, name: str) -> Ragged:
    words, values = _WORDS[name]
    lists = [words(Rule(Form.decode(form), "remove")) for form in np.asarray(batch.columns["form"]).tolist()]
    codes = np.array([values.index(word) for said in lists for word in said], dtype=np.int8)
    offsets = np.concatenate([[0], np.cumsum([len(said) for said in lists])]).astype(np.int64)
    return Ragged(Coded(codes, values), offsets)
