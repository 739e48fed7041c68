"""The random baseline of the ReaSCAN paper: actions drawn evenly, as many as the true sequence has. Nothing is learnt.

It is given the length of the right answer, which no other model is; that is how the paper defines it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import nn

from recombine import keys
from recombine.models.base import Loss, Training
from recombine.models.batching import SPECIALS
from recombine.models.grounded import GroundedModel

if TYPE_CHECKING:
    from recombine.core import Batch, Example


@dataclass(frozen=True)
class RandomActionsConfig:
    """Another `draw` is another run."""

    draw: int = 0


class RandomActions(GroundedModel):
    """Draws by the example's id, so that the same example always gets the same answer."""

    Config = RandomActionsConfig
    TRAINING: ClassVar[Training] = Training(epochs=1, batch=10_000)
    config: RandomActionsConfig

    def __init__(self, config: RandomActionsConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.nothing = nn.Parameter(torch.zeros(1))

    def encode(self, example: Example, answered: bool) -> Any:  # noqa: ARG002
        return example.id, len(example.answer.split(","))

    def encode_all(self, batches: Sequence[Batch]) -> Any:
        """Nothing is learnt from items, so these have no ids."""
        counts = np.concatenate([np.diff(batch.columns["actions"].offsets) for batch in batches])  # type: ignore[union-attr]
        return [("", max(1, count)) for count in counts.tolist()]

    def length(self, item: Any) -> tuple[int, ...]:
        return (int(item[1]),)

    def collate(self, items: Sequence[Any]) -> Any:
        return list(items)

    def loss(self, batch: Any) -> Loss:  # noqa: ARG002
        """Zero."""
        return Loss(self.nothing.sum() * 0, 0, 0)

    def answers(self, batch: Any) -> list[str]:
        """Even draws from the actions that training showed."""
        actions = self.words_out.words[len(SPECIALS) :]
        streams = [(keys.Stream("random actions", self.config.draw, name), count) for name, count in batch]
        return [",".join(stream.choice(actions) for _ in range(count)) for stream, count in streams]
