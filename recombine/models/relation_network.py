"""Relation Network: every pair of sentences, together with the two people asked for, through one small network; summed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.bilstm import StoryReader
from recombine.models.kinship import KinshipModel, Stories, mention_sums
from recombine.models.layers import perceptron


@dataclass(frozen=True)
class RelationNetworkConfig:
    """Sizes as published: g of four layers of 64, f of 256 and 64.

    `batch_norm`: the released code normalises g over the batch; then answers depend on running averages that small batches
    of pairs estimate badly, so the default normalises each pair by itself. The paper does not mention either.
    """

    embedding: int = 100
    units: int = 100
    layers: int = 1
    pair: int = 64
    sentence_limit: int = 24
    classifier: int = 200
    policy: str = "fixed"
    batch_norm: bool = False


class RelationNetwork(KinshipModel):
    """Sentence vectors are means of a two-way LSTM's states; the query is part of every pair, so the head does not repeat it."""

    Config = RelationNetworkConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=16, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=1.0, chunk=50
    )
    config: RelationNetworkConfig

    def __init__(self, config: RelationNetworkConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        width = 2 * config.units
        self.reader = StoryReader(len(self.vocabulary), config)
        sizes = [4 * width, *[config.pair] * 4]
        norm: type[nn.Module] = nn.BatchNorm1d if config.batch_norm else nn.LayerNorm
        layers = [(nn.Linear(a, b), norm(b), nn.ReLU()) for a, b in itertools.pairwise(sizes)]
        self.pair = nn.Sequential(*(layer for group in layers for layer in group))
        self.all = perceptron(config.pair, 256, 64, config.classifier or 64, len(self.labels))

    def logits(self, batch: Stories) -> Tensor:
        """Scores of the labels."""
        states = self.reader(batch.words, batch.lengths)
        query = mention_sums(states, batch)
        count = min(int(batch.sentences.max()) + 1, self.config.sentence_limit)
        inside = torch.arange(states.shape[1], device=states.device) < batch.lengths.unsqueeze(1)
        member = (batch.sentences.unsqueeze(1) == torch.arange(count, device=states.device).unsqueeze(1)) & inside.unsqueeze(1)
        sizes = member.sum(2, keepdim=True)
        sentences = torch.bmm(member.to(states.dtype), states) / sizes.clamp(min=1)
        real = (sizes > 0).squeeze(2)
        row, left, right = (real.unsqueeze(2) & real.unsqueeze(1)).nonzero(as_tuple=True)
        related = self.pair(torch.cat([sentences[row, left], sentences[row, right], query[row]], 1))
        found: Tensor = self.all(related.new_zeros(len(states), related.shape[1]).index_add(0, row, related))
        return found
