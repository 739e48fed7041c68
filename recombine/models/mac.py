"""MAC: a control state that asks, a memory that is written, six times over the story's states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.batching import dropout
from recombine.models.bilstm import StoryReader
from recombine.models.kinship import KinshipModel, Stories, head, mention_sums
from recombine.models.layers import padding_mask


@dataclass(frozen=True)
class MacConfig:
    """Six iterations, dropout 0.2, one question transform for all of them, as published.

    `random_start`: the released code draws the first memory and control at random in every forward pass, in testing too;
    off, they are learnt.
    """

    embedding: int = 100
    units: int = 100
    layers: int = 1
    iterations: int = 6
    dropout: float = 0.2
    classifier: int = 200
    policy: str = "fixed"
    random_start: bool = False


class Mac(KinshipModel):
    """Control attends over the two queried people, reading over the story, and a linear layer writes the memory."""

    Config = MacConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=16, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=8.0, chunk=50
    )
    config: MacConfig

    def __init__(self, config: MacConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        width = 2 * config.units
        self.reader = StoryReader(len(self.vocabulary), config)
        self.question = nn.Linear(2 * width, width)
        self.control_join, self.control_score = nn.Linear(2 * width, width), nn.Linear(width, 1)
        self.memory_in, self.know = nn.Linear(width, width), nn.Linear(width, width)
        self.read_join, self.read_score = nn.Linear(2 * width, width), nn.Linear(width, 1)
        self.write = nn.Linear(2 * width, width)
        self.start = nn.Parameter(torch.randn(2, width) / width**0.5)
        self.head = head(3 * width, len(self.labels), config.classifier)

    def logits(self, batch: Stories) -> Tensor:
        """Scores of the labels."""
        rate, training = self.config.dropout, self.training
        states = self.reader(batch.words, batch.lengths)
        mask = padding_mask(batch.lengths, states.shape[1])
        query = mention_sums(states, batch)
        people = query.view(len(query), 2, -1)
        question = self.question(query)
        start = torch.randn_like(self.start) if self.config.random_start else self.start
        control, memory = (start[i].expand(len(states), -1) for i in range(2))
        known = self.know(dropout(states, rate, training))
        for _ in range(self.config.iterations):
            asked = self.control_join(torch.cat([control, question], 1))
            weights = torch.softmax(self.control_score(asked.unsqueeze(1) * people).squeeze(2), 1)
            control = torch.bmm(weights.unsqueeze(1), people).squeeze(1)
            memory = dropout(memory, rate, training)
            joint = self.memory_in(memory).unsqueeze(1) * known
            joint = self.read_join(torch.cat([joint, states], 2))
            scores = self.read_score(dropout(control.unsqueeze(1) * joint, rate, training)).squeeze(2) + mask
            read = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), states).squeeze(1)
            memory = self.write(torch.cat([read, memory], 1))
        found: Tensor = self.head(torch.cat([query, memory], 1))
        return found
