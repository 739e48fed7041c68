"""The interface between the training loop and a model, and the settings of the loop."""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import torch
from torch import Tensor, nn

from recombine.errors import UsageError, shown
from recombine.models.configs import changed

if TYPE_CHECKING:
    from recombine.core import Batch, Example

__all__ = ["ColumnModel", "Loss", "Model", "Training", "as_json", "changed", "find_device", "reseed", "single_thread"]


MMAP_THRESHOLD, TRIM_THRESHOLD, TOP_PAD = -3, -1, -2
"""Settings of glibc's `mallopt`, as its header numbers them."""


@dataclass(frozen=True)
class Training:
    """How a run is trained. The defaults are those of the NACS paper; a model's `TRAINING` may state others.

    A run stops before `epochs` when validation reaches 1.0 (a later epoch cannot be strictly better, so the kept weights
    would be the same), or after `patience` epochs without improvement (0: never; the paper has no patience), or after
    `max_steps` steps (0: no limit). The rate decays by the factor `decay` every epoch, or every `decay_steps` steps, a bit at each.
    """

    epochs: int = 50
    max_steps: int = 0
    batch: int = 32
    optimizer: Literal["sgd", "adam"] = "sgd"
    rate: float = 0.2
    decay: float = 0.96
    decay_steps: int = 0
    weight_decay: float = 1e-8
    clip: float = 5.0
    warmup_steps: int = 0
    patience: int = 0
    seed: int = 0
    chunk: int = 100
    answer_batch: int = 256


@dataclass(frozen=True)
class Loss:
    """One batch's loss (differentiable), and how many of its decisions were right."""

    value: Tensor
    right: int
    decisions: int


class Model(nn.Module, ABC):
    """A model with its codec: it reads examples, learns from batches of items, and answers in text.

    A subclass states `Config` (a frozen dataclass; the first thing in its file) and `TRAINING`, and implements the
    methods below. `codec` is everything that a model needs, in addition to weights and configuration, to read and answer
    (vocabularies, label lists) as a JSON value; `Model(config, codec)` with loaded weights is the trained model again.
    """

    Config: ClassVar[type[Any]]
    TRAINING: ClassVar[Training] = Training()

    def __init__(self, config: Any, codec: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = config
        self.codec = codec

    @classmethod
    @abstractmethod
    def learn_codec(cls, config: Any, examples: Sequence[Example]) -> dict[str, Any]:
        """The codec for these training examples."""

    @classmethod
    def build(cls, config: Any, examples: Sequence[Example]) -> Self:
        """A fresh model for these training examples; weights come from torch's current random state."""
        return cls(config, cls.learn_codec(config, examples))

    @abstractmethod
    def encode(self, example: Example, answered: bool) -> Any:
        """One example as an item; `answered`: with its answer, for training."""

    @abstractmethod
    def length(self, item: Any) -> tuple[int, ...]:
        """The sort key by which items are batched: those with equal keys need no padding."""

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> Any:
        """Items as one batch of tensors."""

    @abstractmethod
    def loss(self, batch: Any) -> Loss:
        """The training loss of a batch of answered items."""

    @abstractmethod
    def answers(self, batch: Any) -> list[str]:
        """The answers to a batch's items, as text, in order."""

    def begin_epoch(self) -> None:
        """Called before each epoch's first step, with torch's random state set by seed and epoch."""


class ColumnModel(Model):
    """A model that can learn from columns, without an object per row. Its items teach what those of `encode` teach."""

    @classmethod
    @abstractmethod
    def learn_codec_from(cls, batches: Sequence[Batch]) -> dict[str, Any]:
        """What `learn_codec` learns from the same rows."""

    @abstractmethod
    def encode_all(self, batches: Sequence[Batch]) -> Sequence[Any]:
        """The answered items of all rows."""

    @classmethod
    @abstractmethod
    def fingerprint(cls, batches: Sequence[Batch]) -> str:
        """A short hash of the rows that the model would learn from, in order."""


def as_json(config: Any) -> dict[str, Any]:
    """A configuration dataclass as a JSON value."""
    return asdict(config)


def single_thread() -> None:
    """One thread per process: the fastest way to run several trainings, and the only reproducible one."""
    torch.set_num_threads(1)
    keep_freed_memory()


def keep_freed_memory() -> None:
    """Have freed memory used again by this process instead of returned at once, where the C library is glibc.

    A training step frees and takes the same megabytes over and over; fresh pages cost a twelfth of its time.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if adjust is not None:
        for setting, size in ((MMAP_THRESHOLD, 32 << 20), (TRIM_THRESHOLD, 1 << 30), (TOP_PAD, 64 << 20)):
            adjust(setting, size)


def reseed(seed: int, device: torch.device) -> None:
    """Set torch's random state, as `torch.manual_seed` does. That one keeps a stack trace per call for devices not in use."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def find_device(name: str) -> torch.device:
    """The device of this name; one that does not exist here is an error that says so."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as problem:
        raise UsageError(f"device {shown(name)} cannot be used here: {str(problem).splitlines()[0][:120]} Use cpu.") from None
    return device
