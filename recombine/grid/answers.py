"""Worlds and answers of a batch as the arrays that the answer kernels take. Inputs are checked here, once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np

from recombine.columns import Coded, Column, Ragged
from recombine.core import Batch
from recombine.draws import Ints
from recombine.grid.answer_kernel import Answers, Worlds
from recombine.grid.codes import ACTIONS, BOX, COLORS, HEADINGS, MAX_GRID, MAX_THINGS, SHAPES
from recombine.grid.play import parse_actions

UNKNOWN = -1
Key = TypeVar("Key", bound=Hashable)


def worlds_of(batch: Batch, rows: Sequence[int]) -> Worlds | None:
    """The worlds of these rows; None if one of them is impossible."""
    columns, at = batch.columns, np.asarray(rows, np.int64)
    sizes = cast(Ragged, columns["object_sizes"])
    starts, counts = sizes.offsets[at], np.diff(sizes.offsets)[at]
    if len(at) == 0 or counts.min() < 1 or counts.max() > MAX_THINGS:
        return None
    most = int(counts.max())
    inside = np.arange(most)[None, :] < counts[:, None]
    flat = (starts[:, None] + np.arange(most)[None, :])[inside]
    things = np.zeros((len(at), most, 5), np.int64)
    names: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("object_sizes", ()), ("object_colors", COLORS), ("object_shapes", SHAPES), ("object_rows", ()), ("object_columns", ()),
    )  # fmt: skip
    for field, (name, known) in enumerate(names):
        things[inside, field] = codes_of(cast(Ragged, columns[name]).values, known)[flat]
    agents = np.zeros((len(at), 4), np.int64)
    agents[:, 0] = np.asarray(columns["agent_row"])[at]
    agents[:, 1] = np.asarray(columns["agent_column"])[at]
    agents[:, 2] = codes_of(columns["agent_heading"], HEADINGS)[at]
    worlds = Worlds(things, counts.astype(np.int64), agents, np.asarray(columns["grid_size"])[at].astype(np.int64))
    return worlds if _are_possible(worlds, inside) else None


def _are_possible(worlds: Worlds, inside: np.ndarray[Any, Any]) -> bool:
    grids = worlds.grids
    if grids.min() < 1 or grids.max() > MAX_GRID or (worlds.agents[:, :3] < 0).any():
        return False
    if (worlds.agents[:, :2] >= grids[:, None]).any():
        return False
    size, color, shape, row, column = np.moveaxis(worlds.things, 2, 0)
    reach = np.where(shape == BOX, size, 1)
    is_right = (size >= 1) & (size <= 4) & (color >= 0) & (shape >= 0) & (row >= 0) & (column >= 0)
    is_right &= (row + reach <= grids[:, None]) & (column + reach <= grids[:, None])
    if not is_right[inside].all():
        return False
    places = ((shape == BOX) * MAX_GRID + row) * MAX_GRID + column
    places[~inside] = -1 - np.broadcast_to(np.arange(places.shape[1]), places.shape)[~inside]
    ordered = np.sort(places, axis=1)
    return not bool((ordered[:, 1:] == ordered[:, :-1]).any())


def codes_of(column: Column, known: Sequence[str]) -> Ints:
    """A column as numbers: codes of known words (UNKNOWN for others), or the numbers that it holds."""
    if isinstance(column, Coded):
        table = np.array([known.index(value) if value in known else UNKNOWN for value in column.values], np.int64)
        return table[column.codes] if len(table) else np.zeros(0, np.int64)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return column.astype(np.int64)
    places = {word: code for code, word in enumerate(known)}
    return np.array([places.get(str(column[i]), UNKNOWN) for i in range(len(column))], np.int64)


def gold_of(batch: Batch, rows: Sequence[int]) -> Answers | None:
    """The right actions of these rows; None if a row names an action that does not exist."""
    actions = cast(Ragged, batch.columns["actions"])
    codes, at = codes_of(actions.values, ACTIONS), np.asarray(rows, np.int64)
    counts = np.diff(actions.offsets)[at]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    flat = np.arange(int(offsets[-1])) + np.repeat(actions.offsets[at] - offsets[:-1], counts)
    chosen = codes[flat]
    return None if (chosen < 0).any() else Answers(chosen, offsets)


@lru_cache(maxsize=1 << 16)
def action_codes(answer: str) -> bytes | None:
    """The actions that an answer names, one byte each; None if it names anything else."""
    actions = parse_actions(answer)
    return None if actions is None else bytes([ACTIONS.index(action) for action in actions])


def answers_of(said: Sequence[bytes]) -> Answers:
    """Answers in bytes as arrays."""
    offsets = np.concatenate([[0], np.cumsum([len(codes) for codes in said])]).astype(np.int64)
    return Answers(np.frombuffer(b"".join(said), np.uint8).astype(np.int64), offsets)


def tabled(keys: Sequence[Key], read: Callable[[Key], Sequence[int]]) -> Ints:
    """[rows, n]: what `read` gives for each key, read once for each different key."""
    found = {key: read(key) for key in dict.fromkeys(keys)}
    return np.array([found[key] for key in keys], np.int64)
