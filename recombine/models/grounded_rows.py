"""Training items of the grounded models straight from columns, without an object per row: the same items as from examples.

Column names are those that gSCAN and ReaSCAN share. Of a world only what a model may see is read, and the target's cell, which is
the training signal of `target_weight`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.columns import Ragged, distinct, inside, places_in, values_of
from recombine.errors import UsageError
from recombine.models.batching import END, UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from recombine.core import Batch

HEADINGS = ("east", "south", "west", "north")
SIZES = 4
NEEDED = (
    "command", "actions", "grid_size", "agent_row", "agent_column", "agent_heading",
    "object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns",
)  # fmt: skip

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Item:
    """A command, a grid, and (for training) the actions and the target's cell if it is known (-1 if not)."""

    words: Ints
    grid: NDArray[np.uint8]
    actions: Ints | None
    cell: int


@dataclass(frozen=True)
class Items(Sequence[Item]):
    """Answered items as arrays: row i has words [word_ends[i], word_ends[i + 1]) and actions likewise, each with its end mark."""

    words: NDArray[np.int16]
    word_ends: Ints
    actions: NDArray[np.int16]
    action_ends: Ints
    grids: NDArray[np.uint8]  # (rows, n, n, bits)
    cells: Ints

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        """One item (a negative index counts from the end), or a list of them for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        words = self.words[self.word_ends[row] : self.word_ends[row + 1]].astype(np.int64)
        actions = self.actions[self.action_ends[row] : self.action_ends[row + 1]].astype(np.int64)
        return Item(words, self.grids[row], actions, int(self.cells[row]))

    def fingerprint(self) -> str:
        """A short hash of all items, in order."""
        return keys.digest(*(getattr(self, f.name).tobytes() for f in fields(self))).hex()[:16]


def codec_of(batches: Iterable[Batch]) -> dict[str, Any]:
    """What `GroundedModel.learn_codec` learns from the same rows."""
    words, actions, colors, shapes = set[str](), set[str](), set[str](), set[str]()
    for batch in batches:
        c = _columns(batch)
        words.update(word for command in set(values_of(c["command"])) for word in command.split())
        actions.update(distinct(inside(c["actions"])))
        if (np.diff(c["actions"].offsets) == 0).any():
            actions.add("")  # an answer without actions is one empty word
        colors.update(distinct(inside(c["object_colors"])))
        shapes.update(distinct(inside(c["object_shapes"])))
    listed = {"words": list(Vocabulary.of([sorted(words)]).words), "actions": list(Vocabulary.of([sorted(actions)]).words)}
    return {**listed, "colors": sorted(colors), "shapes": sorted(shapes)}


def items_of(batches: Iterable[Batch], codec: Mapping[str, Any]) -> Items:
    """All rows of these batches as items for a model with this codec."""
    parts = [_converted(batch, codec) for batch in batches]
    if len({part.grids.shape[1:] for part in parts}) != 1:
        raise UsageError("a grounded model trains on worlds of one grid size at a time.")
    return Items(
        np.concatenate([part.words for part in parts]), _joined_ends([part.word_ends for part in parts]),
        np.concatenate([part.actions for part in parts]), _joined_ends([part.action_ends for part in parts]),
        np.concatenate([part.grids for part in parts]), np.concatenate([part.cells for part in parts]),
    )  # fmt: skip


def _joined_ends(parts: Sequence[Ints]) -> Ints:
    lengths = np.concatenate([np.diff(part) for part in parts])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _columns(batch: Batch) -> Mapping[str, Any]:
    if missing := [name for name in NEEDED if name not in batch.columns]:
        raise UsageError(f"a grounded model needs a command and a grid; {batch.job.family} has no column {missing[0]!r}.")
    return batch.columns


def _converted(batch: Batch, codec: Mapping[str, Any]) -> Items:
    c = _columns(batch)
    sizes = np.unique(c["grid_size"])
    if len(sizes) != 1:
        raise UsageError(f"a grounded model trains on worlds of one grid size; these rows have {sizes.tolist()}.")
    words, word_ends = _commands(values_of(c["command"]), Vocabulary.from_json(codec["words"]))
    actions, action_ends = _answers(c["actions"], Vocabulary.from_json(codec["actions"]))
    return Items(words, word_ends, actions, action_ends, _grids(c, int(sizes[0]), codec), _cells(c, int(sizes[0])))


def _commands(texts: Sequence[str], known: Vocabulary) -> tuple[NDArray[np.int16], Ints]:
    """All words end to end, and where each row's end."""
    seen = {text: known.encode(text.split()).astype(np.int16) for text in set(texts)}
    rows = [seen[text] for text in texts]
    ends = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return np.concatenate([np.zeros(0, np.int16), *rows]), ends


def _answers(column: Ragged, known: Vocabulary) -> tuple[NDArray[np.int16], Ints]:
    """All actions end to end, each row with its end mark; a row without actions has one empty word."""
    offsets = np.asarray(column.offsets, np.int64)
    given = np.diff(offsets)
    number = {word: i for i, word in enumerate(known.words)}
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(given, 1) + 1)])
    out = np.full(int(ends[-1]), number.get("", UNKNOWN), np.int16)
    out[ends[1:] - 1] = END
    place = np.arange(int(offsets[-1] - offsets[0])) + np.repeat(ends[:-1] - (offsets[:-1] - offsets[0]), given)
    out[place] = places_in(inside(column), known.words, UNKNOWN)
    return out, ends


def _grids(c: Mapping[str, Any], n: int, codec: Mapping[str, Any]) -> NDArray[np.uint8]:
    """The n × n × d arrays of all rows; `GroundedModel.grid` says what the bits are."""
    colors, shapes = codec["colors"], codec["shapes"]
    objects = SIZES + len(colors) + len(shapes)
    rows = len(c["agent_row"])
    out = np.zeros((rows, n, n, objects + 1 + len(HEADINGS)), np.uint8)
    owner = np.repeat(np.arange(rows), np.diff(c["object_sizes"].offsets))
    row, column = (np.asarray(inside(c[name]), np.int64) for name in ("object_rows", "object_columns"))
    bits = (
        np.asarray(inside(c["object_sizes"]), np.int64) - 1,
        _names(c["object_colors"], colors, SIZES),
        _names(c["object_shapes"], shapes, SIZES + len(colors)),
    )
    for bit in bits:
        is_known = bit >= 0
        np.add.at(out, (owner[is_known], row[is_known], column[is_known], bit[is_known]), 1)
    every, agent = np.arange(rows), (np.asarray(c["agent_row"], np.int64), np.asarray(c["agent_column"], np.int64))
    out[every, *agent, objects] = 1
    out[every, *agent, objects + 1 + places_in(c["agent_heading"], HEADINGS)] = 1
    return out


def _names(column: Ragged, names: Sequence[str], first: int) -> Ints:
    """The bit of each named value, counted from `first`; -1 for a name that training never had."""
    codes = places_in(inside(column), names)
    return np.where(codes >= 0, codes + first, -1)


def _cells(c: Mapping[str, Any], n: int) -> Ints:
    """The number of the target's cell in each row; -1 where no object has that role."""
    out = np.full(len(c["agent_row"]), -1, np.int64)
    if "object_roles" not in c:
        return out
    is_target = _names(c["object_roles"], ("target",), 0) == 0
    owner = np.repeat(np.arange(len(out)), np.diff(c["object_sizes"].offsets))[is_target]
    place = np.asarray(inside(c["object_rows"]), np.int64) * n + np.asarray(inside(c["object_columns"]), np.int64)
    out[owner[::-1]] = place[is_target][::-1]  # the first of a row counts
    return out
