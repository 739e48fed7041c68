"""A user's split: the rules that a predicate leaves to a part, as a table to draw from.

A predicate may describe the rule and the worlds. This module settles conditions on the rule before a world is built. Conditions on worlds
are judged afterwards, and rows that break them are drawn again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.columns import Coded, Ragged
from recombine.core import Batch, Job, option
from recombine.families.abstract import operations, plan
from recombine.families.abstract.draws import Ints, Words, below
from recombine.families.abstract.facets import FACETS, facet_columns
from recombine.families.abstract.plan import N_PHRASES, NESTED, ONE, PATTERNS, Forms
from recombine.families.abstract.splits import OPTIONS, Making
from recombine.grid.codes import RELATIONS
from recombine.predicates import Not, Predicate, atoms, mask, weakened
from recombine.predicates.draw import predicate_of, too_rare

if TYPE_CHECKING:
    from recombine.columns import Column

KIND = "operation"
"""The facet that the description does not decide."""


def is_settled(predicate: Predicate) -> bool:
    """Whether the rule and the options decide the predicate."""
    return all(FACETS[atom.facet].level == "plan" for atom in atoms(predicate))


def rules(job: Job, making: Making) -> Callable[[Words], tuple[Forms, Ints]]:
    """What draws the rules of the job's part: kinds of operations and relations of the first clause evenly, as far as they fit."""
    predicate, is_test = predicate_of(job, OPTIONS), job.part == "test"
    k = int(option(job, OPTIONS, "demonstrations")) - making.fewer
    found = _rules(predicate if is_test else Not(predicate), making.patterns, k)
    if found is None:
        raise too_rare(job, predicate, 0, len(_listed(making.patterns).root) * len(operations.KINDS), is_test)
    return found


@functools.lru_cache(maxsize=32)
def _rules(wanted: Predicate, patterns: tuple[int, ...], k: int) -> Callable[[Words], tuple[Forms, Ints]] | None:
    """The same for what every row must satisfy, patterns and demonstrations; None if no rule fits."""
    known = weakened(wanted, is_settled)
    listed = _listed(patterns)
    has_pivot = (listed.pattern == ONE) | (listed.pattern == NESTED)
    group = listed.pattern * len(RELATIONS) + np.where(listed.pattern >= ONE, listed.first // N_PHRASES, 0)
    named = sorted({atom.facet for atom in atoms(known)}) if known is not None else []
    columns = _facets(listed, k, [name for name in named if name != KIND])
    cells: list[tuple[int, Ints]] = []  # kind of operation, numbers of descriptions
    for number, kind in enumerate(operations.KINDS):
        own = {**columns, KIND: Coded(np.full(len(group), number, dtype=np.int8), operations.KINDS)}
        fits = np.ones(len(group), dtype=np.bool_) if known is None else mask(known, own)
        fits = fits & has_pivot if kind == "copy" else fits
        cells += [(number, np.flatnonzero(fits & (group == code))) for code in np.unique(group[fits]).tolist()]
    return _drawn_from(listed, cells) if cells else None


def _listed(patterns: tuple[int, ...]) -> Forms:
    """All descriptions of these patterns."""
    every = [plan.forms(pattern) for pattern in patterns]
    return Forms(*(np.concatenate(sides) for sides in zip(*every, strict=True)))


def _drawn_from(listed: Forms, cells: list[tuple[int, Ints]]) -> Callable[[Words], tuple[Forms, Ints]]:
    """Draws a cell, a description within it, and an operation of its kind."""
    kinds = np.array([kind for kind, _ in cells], dtype=np.int64)
    sizes = np.array([len(places) for _, places in cells], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    flat = np.concatenate([places for _, places in cells])
    ends = np.array([operations.ranges()[kind] for kind in operations.KINDS], dtype=np.int64)

    def at(words: Words) -> tuple[Forms, Ints]:
        cell = below(keys.mixed(words ^ np.uint64(1)), len(kinds))
        place = flat[starts[cell] + below(keys.mixed(words ^ np.uint64(2)), sizes[cell])]
        first, end = ends[kinds[cell]].T
        return Forms(*(side[place] for side in listed)), first + below(keys.mixed(words ^ np.uint64(3)), end - first)

    return at


def _facets(forms: Forms, demonstrations: int, names: Sequence[str]) -> Mapping[str, Column]:
    """These facets of every description."""
    n = len(forms.root)
    said = np.minimum(forms.pattern, 2)
    steps: NDArray[np.int64] = np.stack([forms.first, forms.second], axis=1)[np.arange(2) < said[:, None]]
    ends = np.concatenate([[0], np.cumsum(said)]).astype(np.int64)
    columns: dict[str, Column] = {
        "pattern": Coded(forms.pattern.astype(np.int8), PATTERNS),
        "clauses": said.astype(np.int8),
        "relations": Ragged(Coded((steps // N_PHRASES).astype(np.int8), RELATIONS), ends),
        "demonstrations": np.full(n, demonstrations, dtype=np.int8),
        "form": forms.encode(),
    }
    return facet_columns(Batch(Job("abstract", 1, "sound", "random", "test"), 0, columns), names)


__all__ = ["is_settled", "rules"]
