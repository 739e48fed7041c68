"""Random draws inside kernels: the same bits as `keys.Stream`, in the subset that Numba compiles.

`rng` is a uint64 array whose element 0 is the state; a kernel sets it from `keys.states` at each example and passes the
array on. `kernels.load` runs interpreted kernels with NumPy's overflow warnings off, because the words are meant to wrap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

KERNEL = True
Words = NDArray[np.uint64]
"""Random states: a stream is an array of one word."""
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int8]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32), np.uint64(11)


def bits(rng: Words) -> np.uint64:
    """64 fresh bits as uint64; advances rng[0]."""
    rng[0] += _GOLDEN
    z: np.uint64 = rng[0]
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


def below(rng: Words, n: int) -> int:
    """An int64 in [0, n), n up to 2**31."""
    return (np.int64(bits(rng) >> _S32) * np.int64(n)) >> np.int64(32)  # type: ignore[return-value]


def unit(rng: Words) -> float:
    """A float64 in [0, 1)."""
    return np.float64(bits(rng) >> _S11) / 9007199254740992.0
