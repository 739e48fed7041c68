"""The facets of a task, for predicates, pairs and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np

from recombine.columns import Coded, Column, Ragged
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.families.lexicon.plan import KINDS, MEANINGS

_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {kind: tuple(m for m, k in zip(MEANINGS, KINDS, strict=True) if k == kind) for kind in dict.fromkeys(KINDS)}
)
_FACETS = (
    *(Facet(kind, "word", f"Each {kind} of the test command, by its meaning.", values, many=True) for kind, values in _GROUPS.items()),
    Facet("word_count", "number", "How many words the task has.", (4, 13), column="word_count"),
    Facet("demonstrations", "number", "How many demonstrations the task has.", (1, 16), level="world", column="demonstrations"),
    Facet("command_length", "number", "How many words the test command has.", (3, 9), column="command_length"),
    Facet("action_length", "number", "How many actions the answer has.", (1, 48), column="action_length"),
    Facet("clauses", "number", "How many clauses the test command has.", (1, 2), column="clauses"),
    Facet("proved_unique", "flag", "Whether a single lexicon is left.", level="world", column="proved_unique"),
)  # fmt: skip
FACETS: Mapping[str, Facet] = MappingProxyType({facet.name: facet for facet in _FACETS})


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    said = str(example.meta["gloss"]).split()
    found: dict[str, Value | tuple[Value, ...]] = {
        kind: tuple(word for word in said if word in values) for kind, values in _GROUPS.items()
    }
    for name, facet in FACETS.items():
        if facet.column:
            found[name] = cast(Value, example.meta[facet.column])
    return found


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The values of these facets in every row of a batch."""
    return {name: batch.columns[FACETS[name].column] if FACETS[name].column else _said(batch, name) for name in names}


def _said(batch: Batch, kind: str) -> Ragged:
    values = _GROUPS[kind]
    lists = [[values.index(w) for w in str(batch.columns["gloss"][row]).split() if w in values] for row in range(len(batch))]
    codes = np.array([code for said in lists for code in said], dtype=np.int8)
    offsets = np.concatenate([[0], np.cumsum([len(said) for said in lists])]).astype(np.int64)
    return Ragged(Coded(codes, values), offsets)
