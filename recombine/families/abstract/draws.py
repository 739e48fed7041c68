"""Random numbers from words of 64 bits, many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def below(words: Words, limits: Any) -> Ints:
    """A number in [0, limit) from each word."""
    return (((words >> np.uint64(32)) * np.asarray(limits, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)
