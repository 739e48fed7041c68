"""Named random streams: blake2b over the parts of a key gives a 64-bit state, SplitMix64 draws from it.

Nothing is ever derived by adding a number to a seed: seeds 7 and 8, or items 7 and 8, share no more than chance.
A `Stream` is the readable form, for plans and small jobs. Kernels draw with `recombine.draws`, bit for bit the same,
from an array of one state per example that `states` computes.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Key = str | int
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def digest(*parts: Key) -> bytes:
    """32 bytes that name these parts; ("a", "bc") and ("ab", "c") differ, and so do 1 and "1"."""
    h = hashlib.blake2b(digest_size=32)
    for part in parts:
        raw = str(part).encode("utf-8", "surrogatepass")
        h.update(b"i" if isinstance(part, int) else b"s")
        h.update(len(raw).to_bytes(8, "little"))
        h.update(raw)
    return h.digest()


def state(*parts: Key) -> int:
    """The 64-bit starting state of the stream named by these parts."""
    return int.from_bytes(digest(*parts)[:8], "little")


def mix(z: int) -> int:
    """SplitMix64's finaliser: a bijection of 64-bit words that scatters neighbours."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def item_state(base: int, index: int) -> int:
    """The starting state of item `index` under a part's base state (`states` is the same for a whole range)."""
    return mix(base ^ mix((index + GOLDEN) & MASK))


def states(base: int, start: int, stop: int) -> NDArray[np.uint64]:
    """`item_state(base, i)` for i in [start, stop), as one array."""
    import numpy as np

    index = np.arange(start, stop, dtype=np.uint64) + np.uint64(GOLDEN)
    return mixed(np.uint64(base) ^ mixed(index))


def derived(words: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Another random state for each one; different salts give independent states."""
    import numpy as np

    return mixed(words ^ mixed(np.full(1, (salt + GOLDEN) & MASK, np.uint64)))


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` of each word: SplitMix64's last step, in which every bit of the input reaches every bit of the output."""
    import numpy as np

    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class Stream:
    """A stream of draws with a name: `Stream("scan", "simple", seed)`; the same name always draws the same."""

    __slots__ = ("word",)

    def __init__(self, *parts: Key) -> None:
        self.word = state(*parts)

    @classmethod
    def at(cls, word: int) -> Stream:
        """A stream that starts from a given 64-bit state (an item's, from `item_state`)."""
        stream = cls.__new__(cls)
        stream.word = int(word) & MASK
        return stream

    def bits(self) -> int:
        """64 fresh bits."""
        self.word = (self.word + GOLDEN) & MASK
        return mix(self.word)

    def below(self, n: int) -> int:
        """An integer in [0, n), n up to 2**31."""
        return ((self.bits() >> 32) * n) >> 32

    def unit(self) -> float:
        """A float in [0, 1)."""
        return (self.bits() >> 11) / (1 << 53)

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, uniformly."""
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[float]) -> int:
        """An index, with probability proportional to its weight."""
        point = self.unit() * sum(weights)
        for i, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return i
        return max(i for i, weight in enumerate(weights) if weight > 0)

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Permute in place (Fisher–Yates from the end)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """k distinct positions' items, in random order."""
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]
