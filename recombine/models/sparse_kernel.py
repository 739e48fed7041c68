"""Adds rows of one array to rows of another. A convolution over present cells needs this and products of matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

KERNEL = True
FUSED = True


def add_rows(out: NDArray[np.float32], rows: NDArray[np.int64], first: int, given: NDArray[np.float32]) -> None:
    """Add row i of `given` to row `rows[i]` of `out`, from column `first` on."""
    for i in range(len(rows)):
        target, source = out[rows[i]], given[i]
        for u in range(len(source)):
            target[first + u] += source[u]


def take_rows(out: NDArray[np.float32], rows: NDArray[np.int64], first: int, given: NDArray[np.float32]) -> None:
    """Write row `rows[i]` of `given`, from column `first` on, to row i of `out`."""
    for i in range(len(rows)):
        target, source = out[i], given[rows[i]]
        for u in range(len(target)):
            target[u] = source[first + u]
