"""The facets of a task, for predicates, pairs and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.families.abstract.operations import KINDS
from recombine.families.abstract.plan import N_PHRASES, N_STEPS, PATTERNS, Rule
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
    """The words of every phrase, from the number of the form: a phrase's number is (size * 5 + colour) * 5 + shape, 0 where no word is said."""
    forms = np.asarray(batch.columns["form"]).astype(np.int64)
    rest, second = np.divmod(forms, N_STEPS)
    rest, first = np.divmod(rest, N_STEPS)
    patterns, root = np.divmod(rest, N_PHRASES)
    counts = 1 + np.minimum(patterns, 2)
    phrases = np.stack([root, first % N_PHRASES, second % N_PHRASES], axis=1)[np.arange(3) < counts[:, None]]
    codes = {"np.size": phrases // 25, "np.color": phrases // 5 % 5, "np.shape": phrases % 5}[name]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Ragged(Coded(codes.astype(np.int8), _WORDS[name][1]), offsets)
