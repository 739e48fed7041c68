"""Relational memory core: a few memory slots that attend to each other and to each word, with gates, word by word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.kinship import EntityEmbedding, KinshipModel, Stories, head
from recombine.models.layers import perceptron


@dataclass(frozen=True)
class RmcConfig:
    """Two slots of four heads of 192, keys of 64, three layers in the attention's perceptron, unit gates, forget bias 1."""

    embedding: int = 100
    slots: int = 2
    head_size: int = 192
    heads: int = 4
    key_size: int = 64
    attention_layers: int = 3
    forget_bias: float = 1.0
    input_bias: float = 0.0
    classifier: int = 200
    policy: str = "fixed"


class Rmc(KinshipModel):
    """The story is read word by word; the slots at each row's end, and the vectors of the two people, make the answer."""

    Config = RmcConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=100, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=8.0, chunk=20
    )
    config: RmcConfig

    def __init__(self, config: RmcConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        size = config.head_size * config.heads
        self.size = size
        self.embedding = EntityEmbedding(len(self.vocabulary), config.embedding, config.policy)
        self.input = nn.Linear(config.embedding, size)
        self.project = nn.Linear(size, config.heads * (2 * config.key_size + config.head_size))
        self.norm_projected = nn.LayerNorm(config.heads * (2 * config.key_size + config.head_size))
        self.think = perceptron(*[size] * (config.attention_layers + 1))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2))
        self.input_gate, self.memory_gate = nn.Linear(size, 2), nn.Linear(size, 2)
        self.head = head(config.slots * size + 2 * config.embedding, len(self.labels), config.classifier)

    def _attended(self, memory: Tensor, word: Tensor) -> Tensor:
        """The slots after looking at themselves and at the word."""
        c = self.config
        seen = torch.cat([memory, word.unsqueeze(1)], 1)
        parts = self.norm_projected(self.project(seen)).unflatten(2, (c.heads, -1)).transpose(1, 2)
        query, key, value = torch.split(parts, [c.key_size, c.key_size, c.head_size], 3)
        weights = torch.softmax(query[:, :, : c.slots] @ key.transpose(2, 3) / c.key_size**0.5, 3)
        found = (weights @ value).transpose(1, 2).flatten(2)
        memory = self.norms[0](memory + found)
        thought: Tensor = self.norms[1](memory + self.think(memory))
        return thought

    def logits(self, batch: Stories) -> Tensor:
        """Scores of the labels."""
        c = self.config
        rows = len(batch.words)
        memory = torch.eye(c.slots, self.size, device=batch.words.device).expand(rows, -1, -1)
        words = self.input(self.embedding(batch.words))
        biases = words.new_tensor([c.input_bias, c.forget_bias])
        for place in range(words.shape[1]):
            gates = self.input_gate(words[:, place]).unsqueeze(1) + self.memory_gate(torch.tanh(memory)) + biases
            let_in, keep = torch.sigmoid(gates).unsqueeze(3).unbind(2)
            fresh = torch.tanh(self._attended(memory, words[:, place]))
            inside = (place < batch.lengths)[:, None, None]
            memory = torch.where(inside, let_in * fresh + keep * memory, memory)
        people = self.embedding(batch.query).flatten(1)
        found: Tensor = self.head(torch.cat([memory.flatten(1), people], 1))
        return found
