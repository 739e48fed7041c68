"""The n × n × d arrays that the published models read: object bits, an agent bit, four heading bits (east, south, west, north).

Bits of an object: size one-hot (1 to 4), then shape, then colour, in the order that the benchmark's vocabulary had when its
files were written. A box is marked at its anchor only; where a box's anchor and another object share a cell their bits add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from recombine.grid.codes import COLORS, HEADINGS, SHAPES, SIZES
from recombine.grid.world import Thing, World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class BitOrder:
    """Which bit says what: `shapes` and `colors` in the order of a benchmark's vocabulary."""

    shapes: tuple[str, ...]
    colors: tuple[str, ...]

    @property
    def width(self) -> int:
        """Bits of one object."""
        return len(SIZES) + len(self.shapes) + len(self.colors)

    @property
    def depth(self) -> int:
        """Channels of one cell: object bits, agent, four headings."""
        return self.width + 1 + len(HEADINGS)

    def vector(self, thing: Thing) -> str:
        """The object's bits as released files print them: `01000101000`."""
        bits = ["0"] * self.width
        for place in self.places(thing.size, thing.color, thing.shape):
            bits[place] = "1"
        return "".join(bits)

    def places(self, size: int, color: str, shape: str) -> tuple[int, int, int]:
        """The three bits that are set."""
        shape_bit = len(SIZES) + self.shapes.index(shape)
        return size - 1, shape_bit, len(SIZES) + len(self.shapes) + self.colors.index(color)


REASCAN = BitOrder(shapes=("circle", "cylinder", "square", "box"), colors=("red", "blue", "green", "yellow"))
GSCAN = BitOrder(shapes=("square", "cylinder", "circle"), colors=("red", "green", "yellow", "blue"))


def tensor(world: World, order: BitOrder) -> NDArray[np.uint8]:
    """One world as an n × n × depth array."""
    import numpy as np

    grid = np.zeros((world.size, world.size, order.depth), dtype=np.uint8)
    for thing in world.things:
        for place in order.places(thing.size, thing.color, thing.shape):
            grid[thing.row, thing.column, place] += 1
    grid[world.row, world.column, order.width] = 1
    grid[world.row, world.column, order.width + 1 + HEADINGS.index(world.heading)] = 1
    return grid


def tensors(
    grid: int,
    things: NDArray[np.integer[Any]],
    counts: NDArray[np.integer[Any]],
    agents: NDArray[np.integer[Any]],
    order: BitOrder,
) -> NDArray[np.uint8]:
    """Many worlds at once: things[N, M, 5], counts[N], agents[N, >= 3] to an array [N, grid, grid, depth]."""
    import numpy as np

    out = np.zeros((len(counts), grid, grid, order.depth), dtype=np.uint8)
    flat, cells = out.reshape(-1), grid * grid
    which, place = np.nonzero(np.arange(things.shape[1])[None, :] < counts[:, None])
    size, color, shape, row, column = things[which, place].astype(np.int64).T
    cell = (which * cells + row * grid + column) * order.depth
    shape_bits, color_bits = bits_of(order)
    np.add.at(flat, np.concatenate([cell + size - 1, cell + shape_bits[shape], cell + color_bits[color]]), 1)
    row, column, heading = agents[:, :3].astype(np.int64).T
    cell = (np.arange(len(counts)) * cells + row * grid + column) * order.depth + order.width
    flat[cell] = 1
    flat[cell + 1 + heading] = 1
    return out


@cache
def bits_of(order: BitOrder) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Our codes of shapes and colours -> the benchmark's bits; what it does not have points far outside, so that using it fails."""
    import numpy as np

    far, first = 1 << 60, len(SIZES)
    shapes = [first + order.shapes.index(name) if name in order.shapes else far for name in SHAPES]
    colors = [first + len(order.shapes) + order.colors.index(name) if name in order.colors else far for name in COLORS]
    return np.array(shapes, dtype=np.int64), np.array(colors, dtype=np.int64)
