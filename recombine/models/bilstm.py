"""Two-way LSTMs over the story: mean of the states, or attention that asks for the two people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.configs import check_choice
from recombine.models.kinship import EntityEmbedding, KinshipModel, Stories, head, masked_mean, mention_sums
from recombine.models.layers import TwoWay, padding_mask, tanh

POOLINGS = ("mean", "attention")
"""Values of the setting `pooling`."""


@dataclass(frozen=True)
class BiLstmConfig:
    """Sizes as published; `pooling` is mean or attention."""

    pooling: str = "mean"
    embedding: int = 100
    units: int = 100
    layers: int = 2
    classifier: int = 200
    policy: str = "fixed"


class StoryReader(nn.Module):
    """Entity-aware embeddings through stacked two-way LSTMs."""

    def __init__(self, words: int, config: Any) -> None:
        super().__init__()
        self.embedding = EntityEmbedding(words, config.embedding, config.policy)
        sizes = [config.embedding] + [2 * config.units] * (config.layers - 1)
        self.layers = nn.ModuleList(TwoWay("lstm", size, config.units) for size in sizes)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """States (batch, places, 2 * units)."""
        states: Tensor = self.embedding(words)
        for layer in self.layers:
            states, _, _ = layer.run(states, lengths)  # type: ignore[operator]
        return states


class BiLstm(KinshipModel):
    """The paper's two plain text baselines: 100 epochs of Adam at 1e-3 in batches of 100."""

    Config = BiLstmConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=100, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=1.0, chunk=20
    )
    config: BiLstmConfig

    def __init__(self, config: BiLstmConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        check_choice("pooling", config.pooling, POOLINGS)
        width = 2 * config.units
        self.reader = StoryReader(len(self.vocabulary), config)
        self.look = nn.Linear(3 * width, width) if config.pooling == "attention" else None
        self.scorer = nn.Linear(width, 1, bias=False) if config.pooling == "attention" else None
        self.head = head(3 * width, len(self.labels), config.classifier)

    def logits(self, batch: Stories) -> Tensor:
        """Scores of the labels."""
        states = self.reader(batch.words, batch.lengths)
        query = mention_sums(states, batch)
        if self.look is None or self.scorer is None:
            story = masked_mean(states, batch.lengths)
        else:
            asked = torch.cat([states, query.unsqueeze(1).expand(-1, states.shape[1], -1)], 2)
            scores = self.scorer(tanh(self.look(asked))).squeeze(2) + padding_mask(batch.lengths, states.shape[1])
            story = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), states).squeeze(1)
        found: Tensor = self.head(torch.cat([story, query], 1))
        return found
