"""From examples to tensors: vocabularies, padding, and batches of similar length in a seeded order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from recombine import keys
from recombine.errors import FileError, UsageError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Example

PAD, UNKNOWN, END = 0, 1, 2
SPECIALS = ("<pad>", "<unknown>", "<end>")


@dataclass(frozen=True)
class Vocabulary:
    """Words with numbers; 0, 1 and 2 are padding, unknown and end. Word order is that of first appearance in sorted order."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_number", {word: i for i, word in enumerate(self.words)})

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """All words that occur, sorted, behind the special ones."""
        return cls((*SPECIALS, *sorted({word for sentence in sentences for word in sentence} - set(SPECIALS))))

    @classmethod
    def from_json(cls, value: object) -> Vocabulary:
        """The vocabulary that a run's configuration holds."""
        if not isinstance(value, list) or tuple(value[:3]) != SPECIALS or not all(isinstance(word, str) for word in value):
            raise FileError(f"a vocabulary must be a list of words that begins with {SPECIALS}, not {shown(value)}.")
        return cls(tuple(value))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str], end: bool = False) -> NDArray[np.int64]:
        """The words' numbers, unknown words as such; with `end`, the end mark behind them."""
        number: Mapping[str, int] = self._number  # type: ignore[attr-defined]
        listed = [number.get(word, UNKNOWN) for word in words]
        return np.array([*listed, END] if end else listed, dtype=np.int64)

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The words up to the first end mark; padding is skipped."""
        words = []
        for number in numbers:
            if number == END:
                break
            if number != PAD:
                words.append(self.words[number])
        return words


def source_words(example: Example) -> list[str]:
    """The words of the one text among the example's inputs: what a pure sequence model reads."""
    texts = [value for value in example.inputs.values() if isinstance(value, str)]
    if len(texts) != 1 or len(example.inputs) != 1:
        listed = ", ".join(example.inputs)
        raise UsageError(
            f"a sequence-to-sequence model needs examples with exactly one text as input; {example.id} has {listed}."
        )
    return texts[0].split()


def pad(rows: Sequence[NDArray[np.int64]]) -> Tensor:
    """Rows of numbers as one (batch, longest) tensor, padded with 0 behind."""
    out = np.zeros((len(rows), max((len(row) for row in rows), default=0)), dtype=np.int64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return torch.from_numpy(out)


def permutation(n: int, *parts: keys.Key) -> NDArray[np.int64]:
    """A permutation of range(n) that depends on the named parts alone."""
    return np.argsort(keys.states(keys.state(*parts), 0, n), kind="stable").astype(np.int64)


def buckets(lengths: Sequence[tuple[int, ...]], size: int, chunk: int, *parts: keys.Key) -> list[NDArray[np.int64]]:
    """One epoch of batches: shuffled, then sorted by length inside chunks of `chunk` batches, then the batches shuffled.

    Sorting inside chunks keeps rows of similar length together (little padding) and still mixes the data anew every epoch.
    The order depends on the named parts alone, so an interrupted epoch can be taken up in its middle.
    """
    order = permutation(len(lengths), *parts, "rows")
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), size * chunk):
        piece = sorted(order[start : start + size * chunk].tolist(), key=lambda row: lengths[row])
        batches += [np.array(piece[i : i + size], dtype=np.int64) for i in range(0, len(piece), size)]
    return [batches[i] for i in permutation(len(batches), *parts, "batches")]


def by_length(lengths: Sequence[tuple[int, ...]], size: int) -> list[NDArray[np.int64]]:
    """All rows in batches of similar length, in a fixed order, for evaluation."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    return [np.array(order[i : i + size], dtype=np.int64) for i in range(0, len(order), size)]


def dropout(x: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout whose mask comes from single random bytes: several times cheaper on a CPU than one float per value.

    The rate is rounded to a multiple of 1/256 (0.2 becomes 51/256 = 0.199) and the scale fits the rounded rate, so the
    expectation is exact.
    """
    limit = round(rate * 256)
    if not training or limit == 0:
        return x
    if x.device.type != "cpu":
        return torch.nn.functional.dropout(x, rate)
    count = x.numel()
    words = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.uint8)[:count].view(x.shape) >= limit
    return x * kept.to(x.dtype).mul_(256 / (256 - limit))


def to_device(value: Any, device: torch.device) -> Any:
    """A dataclass, tuple, dict or tensor with every tensor moved to the device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, tuple | list):
        return type(value)(to_device(v, device) for v in value)
    if isinstance(value, dict):
        return {key: to_device(v, device) for key, v in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return type(value)(**{name: to_device(getattr(value, name), device) for name in value.__dataclass_fields__})
    return value
