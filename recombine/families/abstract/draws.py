"""Random numbers from words of 64 bits, many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def mixed(words: Words) -> Words:
    """`keys.mix` of each word."""
    z = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Words = z ^ (z >> np.uint64(31))
    return found


def below(words: Words, limits: Any) -> Ints:
    """A number in [0, limit) from each word."""
    return (((words >> np.uint64(32)) * np.asarray(limits, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)
