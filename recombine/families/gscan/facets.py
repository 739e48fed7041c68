"""The facets of a gSCAN example: the command's words, the target, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.grid.codes import ADVERBS, COLORS, DIRECTIONS, SIZE_WORDS, VERBS

if TYPE_CHECKING:
    from recombine.columns import Column
    from recombine.grid.world import World

SHAPES = ("circle", "cylinder", "square")
_NONE = "none"
_FACETS = (
    Facet("verb", "word", "The verb of the command.", VERBS, column="verb"),
    Facet("adverb", "word", "The adverb of the command.", (_NONE, *ADVERBS[1:])),
    Facet("size_word", "word", "The size word of the command.", (_NONE, *SIZE_WORDS[1:])),
    Facet("color_word", "word", "The colour word of the command.", (_NONE, *COLORS)),
    Facet("target.size", "number", "The size of the target.", (1, 4), column="target_size"),
    Facet("target.color", "word", "The colour of the target.", COLORS, column="target_color"),
    Facet("target.shape", "word", "The shape of the target.", SHAPES, column="target_shape"),
    Facet("direction", "word", "Where the target lies from the agent.", DIRECTIONS, column="direction"),
    Facet("distance", "number", "How many steps the agent is from the target.", (1, 38), level="world", column="distance"),
    Facet("action_count", "number", "How many actions the answer has.", level="world", column="action_count"),
    Facet("object_count", "number", "How many objects the world holds.", (1, 28), level="world", column="object_count"),
    Facet("cells_moved", "number", "How many cells the target is moved.", (0, 19), level="world", column="cells_moved"),
)
FACETS: Mapping[str, Facet] = MappingProxyType({facet.name: facet for facet in _FACETS})
"""By name."""
SITUATED = frozenset(name for name, facet in FACETS.items() if facet.level == "plan")
"""The facets that are known before cells are drawn: those of a `splits.Situation`."""
_OPEN = {"adverb": "adverb", "size_word": "size_word", "color_word": "color_word"}
"""Facet -> its column, in which an empty text stands for `none`."""


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    command, world = example.plan, example.world
    target = world.things[0]
    actions = example.answer.split(",") if example.answer else []
    moves = sum(action in ("push", "pull") for action in actions)
    return {
        "verb": command.verb,
        "adverb": command.adverb or _NONE,
        "size_word": command.phrase.size or _NONE,
        "color_word": command.phrase.color or _NONE,
        "target.size": target.size,
        "target.color": target.color,
        "target.shape": target.shape,
        "direction": _direction(world),
        "distance": world.distance_to(target),
        "action_count": len(actions),
        "object_count": len(world.things),
        "cells_moved": moves // (2 if target.size >= 3 else 1),
    }


def _direction(world: World) -> str:
    return world.direction_to(world.things[0])


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The same for a whole batch, for these facets."""
    return {
        name: _spelled(batch.columns[_OPEN[name]]) if name in _OPEN else batch.columns[FACETS[name].column] for name in names
    }


def _spelled(column: Any) -> Column:
    """The column with `none` for an empty text."""
    if isinstance(column, Coded):
        return Coded(column.codes, [value or _NONE for value in column.values])
    texts = [str(column[row]) or _NONE for row in range(len(column))]
    values = sorted(set(texts))
    return Coded(np.array([values.index(text) for text in texts], np.int16), values)
