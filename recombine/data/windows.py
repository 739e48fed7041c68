"""A cache of rows for access by index. A jump makes one row; reading forward makes runs of 2, 4, 8, … rows.

One row costs nearly as much as many rows: names are looked up, tables are fetched, a kernel is called. Reading forward therefore
makes longer and longer runs, and then whole blocks. Jumps make single rows, and a whole block after `VISITS` rows of that block.
Which rows are made together never changes a row.
"""

from __future__ import annotations

from collections.abc import Callable

from recombine.batches import unpacked
from recombine.core import Batch

BLOCK_ROWS = 256
"""Rows of a block; blocks begin at its multiples."""
MOST_BLOCKS = 64
"""Blocks that are kept; the one that was not used for longest goes first."""
VISITS = 16
"""The visit of a block that makes the whole block; earlier visits make single rows or short runs."""
MOST_VISITED = 100_000
"""Blocks whose visits are counted at the same time."""
WHOLE_FROM = BLOCK_ROWS // 2
"""A run that would have this many rows or more becomes a whole block."""


class Window:
    """Rows of one part by index. `rows(start, stop)` makes or reads them; `size` is their number."""

    def __init__(self, rows: Callable[[int, int], Batch], size: int) -> None:
        self._rows, self._size = rows, size
        self._blocks: dict[int, Batch] = {}
        self._visits: dict[int, int] = {}
        self._run: tuple[int, int, Batch] | None = None

    def at(self, row: int) -> tuple[Batch, int]:
        """The batch that holds a row, and the row's place in it."""
        run = self._run
        if run is not None and run[0] <= row < run[1]:
            return run[2], row - run[0]
        number = row // BLOCK_ROWS
        block = self._blocks.pop(number, None)
        if block is None:
            length = 2 * (run[1] - run[0]) if run is not None and row == run[1] else 1
            if len(self._visits) > MOST_VISITED:
                self._visits.clear()
            visits = self._visits[number] = self._visits.get(number, 0) + 1
            if length < WHOLE_FROM and visits < VISITS:
                return self._read(row, min(row + length, (number + 1) * BLOCK_ROWS, self._size), row)
            self._visits.pop(number, None)
            block = unpacked(self._rows(number * BLOCK_ROWS, min((number + 1) * BLOCK_ROWS, self._size)))
            while len(self._blocks) >= MOST_BLOCKS:
                self._blocks.pop(next(iter(self._blocks)), None)
        self._blocks[number] = block  # the youngest is the last
        first = number * BLOCK_ROWS
        self._run = (first, first + len(block), block)
        return block, row - first

    def _read(self, start: int, stop: int, row: int) -> tuple[Batch, int]:
        batch = self._rows(start, stop)
        batch = unpacked(batch) if stop - start > 1 else batch
        self._run = (start, stop, batch)
        return batch, row - start
