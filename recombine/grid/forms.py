"""The canonical form of a command in a grid world: roles and the order of objects do not matter."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.columns import Ragged
from recombine.core import Batch
from recombine.grid.answers import codes_of
from recombine.grid.codes import COLORS, HEADINGS, SHAPES
from recombine.grid.world import World

Words = NDArray[np.uint64]
_OBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("object_rows", ()), ("object_columns", ()), ("object_sizes", ()), ("object_colors", COLORS), ("object_shapes", SHAPES),
)  # fmt: skip
_AGENT: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("grid_size", ()), ("agent_row", ()), ("agent_column", ()), ("agent_heading", HEADINGS),
)  # fmt: skip
_BASE = np.uint64(64)


def canonical(said: object, world: World) -> bytes:
    """What is said, the agent, and the objects by place."""
    things = sorted((t.row, t.column, t.size, t.color, t.shape) for t in world.things)
    return repr((said, world.size, world.row, world.column, world.heading, things)).encode()


def canonical_batch(said: Words, batch: Batch) -> Words:
    """64 bits for each row. The objects are mixed one by one and summed, so that their order does not matter."""
    columns = batch.columns
    offsets = cast(Ragged, columns["object_rows"]).offsets
    objects = _mixed(_packed([codes_of(cast(Ragged, columns[name]).values, known) for name, known in _OBJECTS]))
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(objects, dtype=np.uint64)])
    agent = _packed([codes_of(columns[name], known) for name, known in _AGENT])
    return _mixed(_mixed(said) ^ _mixed(agent) ^ (running[offsets[1:]] - running[offsets[:-1]]))


def _packed(fields: list[NDArray[Any]]) -> Words:
    """Small numbers as one; an unknown word (-1) stays different from every known one."""
    packed = np.zeros(len(fields[0]), np.uint64)
    for field in fields:
        packed = packed * _BASE + (field + 1).astype(np.uint64)
    return packed


def _mixed(words: Words) -> Words:
    """SplitMix64 of each word."""
    return keys.mixed(words + np.uint64(keys.GOLDEN))
