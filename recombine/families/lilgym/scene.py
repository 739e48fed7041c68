"""A scene: three boxes of 100 × 100 pixels with coloured circles, squares and triangles; as a value, as a column, as an array.

The three forms hold the same six integers per item, in this order: box, x, y, size, color, shape. `x` and `y` are pixels from
the box's left and top edge to the item's bounding square. **Items are grouped by box, left to right; inside a box their order
is the box's list order** (a tower's from the bottom up): it decides ties, drawing and the order in which programs see them.
Three forms: `Scene` (readable), `Ragged` int16 columns (six per item), padded (n, width, 6) int16 arrays with counts (kernels).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Ragged
from recombine.errors import UsageError, shown

Kind = Literal["tower", "scatter"]
KINDS: tuple[Kind, ...] = ("tower", "scatter")

COLORS = ("yellow", "black", "blue")
"""By code; the same order as in actions."""
SHAPES = ("circle", "square", "triangle")
"""By code; the same order as in actions."""
SIZES = (10, 20, 30)
"""In pixels, by size index; items hold the pixels, actions the index."""
SIZE_NAMES = ("small", "medium", "big")
BOX_NAMES = ("left", "middle", "right")
CIRCLE, SQUARE, TRIANGLE = 0, 1, 2

BOX_SIDE = 100
BOX_COUNT = 3
TOWER_X = 40
TOWER_SIZE = 20
TOWER_PITCH = 21
TOWER_HEIGHT = 4
MAX_ITEMS = 64
"""A scene holds at most this many items, so that a set of items is one 64-bit word."""
FIELDS = 6
BOX, X, Y, SIZE, COLOR, SHAPE = range(FIELDS)


def tower_y(level: int) -> int:
    """The y of the block at a level from the bottom: 80, 59, 38, 17 (21 pixels apart, so one pixel of gap)."""
    return BOX_SIDE - TOWER_SIZE - TOWER_PITCH * level


class Item(NamedTuple):
    """One item of a scene; six integers, in the order of all three forms."""

    box: int
    x: int
    y: int
    size: int
    color: int
    shape: int

    def __str__(self) -> str:
        size = SIZE_NAMES[SIZES.index(self.size)]
        return f"{size} {COLORS[self.color]} {SHAPES[self.shape]} at ({self.x}, {self.y}) in the {BOX_NAMES[self.box]} box"


@dataclass(frozen=True)
class Scene:
    """Three boxes with their items, grouped by box. Build with `Scene.of`, which groups; equality is by list order."""

    kind: Kind
    items: tuple[Item, ...] = ()

    @classmethod
    def of(cls, kind: Kind, items: Iterable[Sequence[int]]) -> Scene:
        """A scene from items in any box order; inside each box the given order is kept. Impossible values are an error."""
        made = [_item(*item) for item in items]
        if len(made) > MAX_ITEMS:
            raise UsageError(f"the scene has {len(made)} items, but at most {MAX_ITEMS} are possible.")
        if kind not in KINDS:
            raise UsageError(f"a scene is a tower or a scatter, not {shown(kind)}.")
        return cls(kind, tuple(sorted(made, key=lambda item: item.box)))

    @classmethod
    def of_towers(cls, towers: Sequence[Sequence[int]]) -> Scene:
        """A TOWER scene from the colours of its three boxes, each from the bottom up."""
        return cls.of(
            "tower",
            [
                (box, TOWER_X, tower_y(level), TOWER_SIZE, color, SQUARE)
                for box, colors in enumerate(towers)
                for level, color in enumerate(colors)
            ],
        )

    @classmethod
    def of_flat(cls, kind: Kind, numbers: Sequence[int]) -> Scene:
        """A scene from the column form: six integers per item."""
        if len(numbers) % FIELDS:
            raise UsageError(f"a scene has six integers per item, but {len(numbers)} were given.")
        return cls.of(kind, [numbers[i : i + FIELDS] for i in range(0, len(numbers), FIELDS)])

    @property
    def flat(self) -> list[int]:
        """The column form: six integers per item."""
        return [value for item in self.items for value in item]

    @property
    def boxes(self) -> tuple[tuple[Item, ...], ...]:
        """The items of the left, middle and right box."""
        return tuple(tuple(item for item in self.items if item.box == box) for box in range(BOX_COUNT))

    def permuted(self, order: Sequence[int]) -> Scene:
        """The same boxes in another order: the new box b is the old box order[b]."""
        return Scene(self.kind, tuple(item._replace(box=new) for new, old in enumerate(order) for item in self.boxes[old]))

    def __str__(self) -> str:
        return "\n".join(
            f"{BOX_NAMES[box]} box: " + ("; ".join(str(item).rsplit(" in the ", 1)[0] for item in items) or "empty")
            for box, items in enumerate(self.boxes)
        )


@lru_cache(maxsize=65_536)
def _item(*numbers: int) -> Item:
    """The item of six numbers; towers have but 36, and other items come back too."""
    item = Item(*(int(number) for number in numbers))
    _check(item)
    return item


def _check(item: Item) -> None:
    """Refuse codes that no item can have; positions may lie a little outside a box, since snapping can push there."""
    if not 0 <= item.box < BOX_COUNT or not 0 <= item.color < len(COLORS) or not 0 <= item.shape < len(SHAPES):
        raise UsageError(f"box, color and shape are codes 0, 1 or 2, but the item is {tuple(item)}.")
    if item.size not in SIZES:
        raise UsageError(f"an item's size is 10, 20 or 30 pixels, but the item is {tuple(item)}.")
    if not -BOX_SIDE < item.x < BOX_SIDE or not -BOX_SIDE < item.y < BOX_SIDE:
        raise UsageError(f"an item lies in its box of {BOX_SIDE} pixels, but the item is {tuple(item)}.")


EMPTY_TOWER = Scene("tower")
EMPTY_SCATTER = Scene("scatter")


# --- many scenes -----------------------------------------------------------------------------------------------------

Items = NDArray[np.int16]  # (scenes, width, FIELDS), or one scene (width, FIELDS); padded with zeros
ItemRow = NDArray[np.int16]  # (FIELDS,)
Counts = NDArray[np.int64]  # (scenes,): how many items each scene has
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Codes = NDArray[np.int8]  # outcomes and truth values
Words = NDArray[np.uint64]  # states of random streams
Instructions = NDArray[np.int32]  # (instructions, 4): operation, target register, two operands


def pack(scenes: Sequence[Scene], width: int | None = None) -> tuple[Items, Counts]:
    """The kernel form of many scenes: items (n, width, 6) padded with zeros, and how many items each has."""
    return pack_rows([scene.flat for scene in scenes], width)


def pack_rows(rows: Ragged | Sequence[Sequence[int]], width: int | None = None) -> tuple[Items, Counts]:
    """The kernel form from the column form (or lists of six integers per item); vectorised for `Ragged`."""
    if isinstance(rows, Ragged):
        offsets = np.asarray(rows.offsets, np.int64)
        values = np.asarray(rows.values, np.int16)[offsets[0] : offsets[-1]]
    else:
        offsets = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
        values = np.array([value for row in rows for value in row], np.int16)
    wrong = np.flatnonzero(np.diff(offsets) % FIELDS)
    if len(wrong):
        raise UsageError(f"a scene has six integers per item, but row {int(wrong[0])} has {int(np.diff(offsets)[wrong[0]])}.")
    counts = np.diff(offsets) // FIELDS
    most = int(counts.max()) if len(counts) else 0
    wide = most if width is None else width
    if most > wide:
        raise UsageError(f"a scene has {most} items, but the array is {wide} wide.")
    items = np.zeros((len(counts), wide, FIELDS), np.int16)
    items[np.arange(wide) < counts[:, None]] = values.reshape(-1, FIELDS)
    return items, counts


def check_items(items: Items, counts: Counts) -> None:
    """Refuse packed scenes that would lead a kernel out of its tables: foreign codes, sizes, places or counts."""
    if items.ndim != 3 or items.shape[2] != FIELDS or items.dtype != np.int16 or counts.shape != items.shape[:1]:
        raise UsageError(
            f"packed scenes are int16 of shape (scenes, width, {FIELDS}), but {items.dtype} {items.shape} was given."
        )
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= min(items.shape[1], MAX_ITEMS):
        raise UsageError(f"a scene of {int(counts.max())} items was given, but at most {min(items.shape[1], MAX_ITEMS)} fit.")
    present = np.arange(items.shape[1]) < counts[:, None]
    codes = items[..., [BOX, COLOR, SHAPE]]
    wrong = ((codes < 0) | (codes > 2)).any(2) | ~np.isin(items[..., SIZE], SIZES)
    wrong |= (np.abs(items[..., [X, Y]].astype(np.int64)) >= BOX_SIDE).any(2)
    bad = np.argwhere(wrong & present)
    if len(bad):
        row, place = bad[0].tolist()
        _check(Item(*items[row, place].tolist()))


def unpack(kind: Kind, items: Any, counts: Any) -> list[Scene]:
    """Packed scenes as values (without checks: kernels keep the laws)."""
    return [Scene(kind, tuple(Item(*row) for row in items[i, : int(counts[i])].tolist())) for i in range(len(counts))]
