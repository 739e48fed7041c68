"""The facets of a kinship story: what predicates, pairs, dials and charts may speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded, Column, Ragged
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.families.clutrr.kinship import CODES, NEUTRAL, RELATIONS
from recombine.families.clutrr.plan import KINDS, StoryPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

GENDERS = ("female", "male")
_NOISES = tuple("+".join(kind for i, kind in enumerate(KINDS[1:]) if mask >> i & 1) or "clean" for mask in range(8))

FACETS: Mapping[str, Facet] = {
    facet.name: facet
    for facet in (
        Facet("target", "word", "the answer: what the second person is to the first", RELATIONS, column="target"),
        Facet("target.relation", "word", "the answer without its gender", NEUTRAL),
        Facet("target.gender", "word", "the gender of the second person of the query", GENDERS),
        Facet("asker.gender", "word", "the gender of the first person of the query", GENDERS),
        Facet("path.relation", "word", "each word along the path, in path order", RELATIONS, many=True),
        Facet("path.gender", "word", "the gender of each person along the path, in path order", GENDERS, many=True),
        Facet("first.relation", "word", "the first word of the path", RELATIONS),
        Facet("last.relation", "word", "the last word of the path", RELATIONS),
        Facet("clause", "word", "the words along the path, joined by hyphens", column="clause"),
        Facet("k", "number", "how many facts are on the path", (2, 20), column="k"),
        Facet("noise", "word", "the kinds of noise in the story", _NOISES, column="noise"),
        Facet(
            "noise.relation", "word", "each word of a noise fact, in the order of telling", RELATIONS, many=True, level="world"
        ),
        Facet(
            "fact_count",
            "number",
            "how many facts the story states, noise included",
            (2, 64),
            level="world",
            column="fact_count",
        ),
        Facet("people", "number", "how many people the story names", (2, 64), level="world"),
        Facet("memory", "flag", "whether the question asks for a stated fact", (False, True), column="memory"),
        Facet("held_out", "flag", "whether the clause is held out from training", (False, True), column="held_out"),
    )
}
"""By name."""


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    plan: StoryPlan = example.plan
    path = plan.path
    words = tuple(RELATIONS[fact.relation] for fact in path)
    walked = [*([path[0].subject] if path else []), *(fact.relative for fact in path)]
    target = CODES[example.answer]
    return {
        "target": example.answer,
        "target.relation": NEUTRAL[target // 2],
        "target.gender": GENDERS[plan.genders[plan.query[1]]],
        "asker.gender": GENDERS[plan.genders[plan.query[0]]],
        "path.relation": words,
        "path.gender": tuple(GENDERS[plan.genders[p]] for p in walked),
        "first.relation": words[0],
        "last.relation": words[-1],
        "clause": "-".join(words),
        "k": len(path),
        "noise": "+".join(KINDS[kind] for kind in sorted({fact.kind for fact in plan.facts} - {0})) or "clean",
        "noise.relation": tuple(RELATIONS[fact.relation] for fact in plan.facts if fact.place < 0),
        "fact_count": len(plan.facts),
        "people": len(plan.names),
        "memory": bool(example.meta.get("memory", False)),
        "held_out": bool(example.meta.get("held_out", False)),
    }


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The same for a whole batch, for these facets."""
    return {name: _column(batch, name) for name in names}


def _column(batch: Batch, name: str) -> Column:
    columns: Mapping[str, Any] = batch.columns
    if FACETS[name].column:
        found: Column = columns[FACETS[name].column]
        return found
    if name.startswith("target.relation"):
        return Coded(_codes(columns["target"]) // 2, NEUTRAL)
    if name == "people":
        counts: Column = np.diff(columns["names"].offsets)
        return counts
    if name in ("target.gender", "asker.gender"):
        asked = np.asarray(columns["query"].values).reshape(-1, 2)[:, int(name == "target.gender")]
        return Coded(np.asarray(columns["genders"].values)[columns["genders"].offsets[:-1] + asked], GENDERS)
    facts, places = np.asarray(columns["facts"].values).reshape(-1, 3), np.asarray(columns["places"].values)
    row = np.repeat(np.arange(len(batch)), np.diff(columns["places"].offsets))
    if name == "noise.relation":
        return _ragged(facts[places < 0, 0], row[places < 0], len(batch), RELATIONS)
    order = np.flatnonzero(places >= 0)
    order = order[np.lexsort((places[order], row[order]))]
    walked, of_row, step = facts[order], row[order], places[order]
    if name == "path.relation":
        return _ragged(walked[:, 0], of_row, len(batch), RELATIONS)
    if name in ("first.relation", "last.relation"):
        is_there = step == 0 if name == "first.relation" else step == np.asarray(columns["k"])[of_row] - 1
        return Coded(walked[is_there, 0], RELATIONS)
    people = np.where(step == 0, walked[:, 1], walked[:, 2])  # path.gender: the first person, then every relative
    starts = np.flatnonzero(step == 0)
    people = np.insert(walked[:, 2], starts, people[starts])
    rows = np.insert(of_row, starts, of_row[starts])
    genders = np.asarray(columns["genders"].values)[columns["genders"].offsets[rows] + people]
    return _ragged(genders, rows, len(batch), GENDERS)


def _codes(target: Any) -> Array:
    if isinstance(target, Coded):
        found: Array = np.array([CODES[value] for value in target.values])[np.asarray(target.codes)]
        return found
    return np.array([CODES[target[i]] for i in range(len(target))])


def _ragged(values: Array, rows: Array, count: int, words: Sequence[str]) -> Ragged:
    """Values that each belong to a row, in the order of the rows."""
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)
    return Ragged(Coded(values, words), offsets)
