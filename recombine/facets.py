"""Facets: the vocabulary in which splits, predicates, pairs, dials and charts speak of an example.

A facet is one named property: the verb of a command, the colour word of a phrase, the number of hops. Each family publishes its
facets once, in `facets.py`, as the table `FACETS`, and gives their values through the ability `Faceted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "number", "flag"]
Level = Literal["plan", "world"]
Value = str | int | bool


@dataclass(frozen=True)
class Facet:
    """One property of an example.

    `name` is what a predicate says: `verb`, `target.color`, `np.color`, `k`.
    `values` lists all values of a word facet, and the bounds (low, high) of a number where they are known.
    `many` marks a facet that one example has several times, such as the colour of each phrase; predicates say `any(np.color)`.
    `level` is `plan` if the value is known before the world is built, and `world` if only afterwards.
    `column` names the column that holds the value, where there is one.
    """

    name: str
    kind: Kind
    sentence: str
    values: tuple[Value, ...] = ()
    many: bool = False
    level: Level = "plan"
    column: str = ""
