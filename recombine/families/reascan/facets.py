"""The facets of ReaSCAN: what predicates, pairs and charts can say about an example.

`np.…` is the size, colour and shape word of each phrase, in the order in which they are said; `none` and `object` where a phrase
leaves it open. `target.…` is what the target is, whether or not the command says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example
from recombine.facets import Facet, Value
from recombine.families.reascan.plan import N_ADVERBS, N_DIGITS, N_MANNERS, N_PHRASES, PATTERNS, Command
from recombine.families.reascan.splits import STRATEGIES
from recombine.grid.codes import ADVERBS, COLORS, DIRECTIONS, RELATIONS, SHAPES, SIZES, VERBS

if TYPE_CHECKING:
    from recombine.columns import Column
    from recombine.grid.world import World

SIZE_VALUES = ("none", "small", "big")
COLOR_VALUES = ("none", *COLORS)
SHAPE_VALUES = ("object", *SHAPES)
ADVERB_VALUES = ("none", *ADVERBS[1:])

_FACETS = (
    Facet("verb", "word", "The verb of the command.", VERBS, column="verb"),
    Facet("adverb", "word", "The adverb of the command.", ADVERB_VALUES),
    Facet("pattern", "word", "How the clauses hang together; widths such as 2-1 where it has no name.", tuple(PATTERNS), column="pattern"),
    Facet("clauses", "number", "How many relative clauses the command has.", (0, 5), column="clauses"),
    Facet("depth", "number", "How many clauses are nested in each other.", (0, 5)),
    Facet("relation", "word", "The relation of each clause.", RELATIONS, many=True),
    Facet("np.size", "word", "The size word of each phrase.", SIZE_VALUES, many=True),
    Facet("np.color", "word", "The colour word of each phrase.", COLOR_VALUES, many=True),
    Facet("np.shape", "word", "The shape word of each phrase.", SHAPE_VALUES, many=True),
    Facet("target.size", "number", "The size of the target.", (min(SIZES), max(SIZES)), level="world"),
    Facet("target.color", "word", "The colour of the target.", COLORS, level="world"),
    Facet("target.shape", "word", "The shape of the target.", SHAPES, level="world"),
    Facet("direction", "word", "Where the target lies from the agent.", DIRECTIONS, level="world", column="direction"),
    Facet("distance", "number", "How many steps the agent is from the target.", (1, 38), level="world", column="distance"),
    Facet("action_count", "number", "How many actions the answer has.", level="world", column="action_count"),
    Facet("object_count", "number", "How many objects the world holds.", (1, 31), level="world", column="object_count"),
    Facet("grid_size", "number", "How many rows and columns the grid has.", (5, 20), column="grid_size"),
    Facet("interaction", "flag", "Whether something moves.", level="world", column="interaction"),
    *(
        Facet(f"{name}_distractor", "flag", f"Whether there are {name} distractors.", level="world", column=f"{name}_distractor")
        for name in STRATEGIES
    ),
)  # fmt: skip
FACETS: Mapping[str, Facet] = MappingProxyType({facet.name: facet for facet in _FACETS})


def facet_values(example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
    """The value of every facet of one example."""
    command, world = cast(Command, example.plan), cast("World", example.world)
    said, target = command.description, world.things[0]
    depth = [0]
    for parent in said.parents[1:]:
        depth.append(depth[parent] + 1)
    found: dict[str, Value | tuple[Value, ...]] = {
        "verb": command.verb,
        "adverb": command.adverb or "none",
        "depth": max(depth),
        "clauses": len(command.phrases) - 1,
        "relation": said.relations[1:],
        "np.size": tuple(phrase.size or "none" for phrase in command.phrases),
        "np.color": tuple(phrase.color or "none" for phrase in command.phrases),
        "np.shape": tuple(phrase.shape or "object" for phrase in command.phrases),
        "target.size": target.size,
        "target.color": target.color,
        "target.shape": target.shape,
        "direction": world.direction_to(target),
        "distance": world.distance_to(target),
        "grid_size": world.size,
        "object_count": len(world.things),
        "action_count": len(example.answer.split(",")) if example.answer else 0,
    }
    return {name: found.get(name, example.meta.get(name, "")) for name in FACETS if name in found or name in example.meta}


def facet_columns(batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
    """The values of these facets in every row of a batch."""
    return {name: batch.columns[FACETS[name].column] if FACETS[name].column else _COMPUTED[name](batch) for name in names}


# --- computed from the form --------------------------------------------------------------------------------------------


def _digits(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(digits[n, most phrases] of each command, in the order of its phrases; how many there are)."""
    value = np.asarray(batch.columns["form"]).astype(np.int64) // N_MANNERS
    counts = np.asarray(batch.columns["clauses"]).astype(np.int64) + 1
    most = int(counts.max(initial=1))
    power = counts[:, None] - 1 - np.arange(most)
    scale = np.power(np.int64(N_DIGITS), np.maximum(power, 0))
    return np.where(power >= 0, value[:, None] // scale % N_DIGITS, -1), counts


def _words(
    batch: Batch, code_of: Callable[[NDArray[np.int64]], NDArray[np.int64]], values: tuple[str, ...], first: int
) -> Ragged:
    """A column of lists: one value for each phrase from number `first` on."""
    digits, counts = _digits(batch)
    inside = (np.arange(digits.shape[1]) < counts[:, None]) & (np.arange(digits.shape[1]) >= first)
    offsets = np.concatenate([[0], np.cumsum(counts - first)]).astype(np.int64)
    return Ragged(Coded(code_of(digits[inside]).astype(np.int8), values), offsets)


def _depths(batch: Batch) -> NDArray[np.int8]:
    """A phrase hangs on the one before it, or on the same one as that; the depth counts the first kind."""
    digits, counts = _digits(batch)
    is_deeper = (digits // N_PHRASES % 2 == 1) & (np.arange(digits.shape[1]) < counts[:, None])
    found_rows: NDArray[np.int8] = is_deeper.sum(axis=1).astype(np.int8)
    return found_rows


def _target(batch: Batch, name: str) -> Column:
    """One attribute of object 0."""
    lists = cast(Ragged, batch.columns[name])
    first = lists.offsets[:-1]
    if isinstance(lists.values, Coded):
        return Coded(np.asarray(lists.values.codes)[first], lists.values.values)
    return np.asarray(lists.values)[first]


_COMPUTED: Mapping[str, Callable[[Batch], Column]] = MappingProxyType(
    {
        "adverb": lambda b: Coded(np.asarray(b.columns["form"]).astype(np.int64) % N_ADVERBS, ADVERB_VALUES),
        "depth": _depths,
        "relation": lambda b: _words(b, lambda d: d // (2 * N_PHRASES), RELATIONS, 1),
        "np.size": lambda b: _words(b, lambda d: d % N_PHRASES // 25, SIZE_VALUES, 0),
        "np.color": lambda b: _words(b, lambda d: d % N_PHRASES // 5 % 5, COLOR_VALUES, 0),
        "np.shape": lambda b: _words(b, lambda d: d % 5, SHAPE_VALUES, 0),
        "target.size": lambda b: _target(b, "object_sizes"),
        "target.color": lambda b: _target(b, "object_colors"),
        "target.shape": lambda b: _target(b, "object_shapes"),
    }
)
