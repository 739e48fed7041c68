"""Graph attention with edge features over the story's true graph: what a reader who understood every sentence could do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.batching import dropout
from recombine.models.kinship import EntityEmbedding, KinshipModel, Stories, head
from recombine.models.layers import uniform


@dataclass(frozen=True)
class GatConfig:
    """Nodes of 100, edges of 20, three rounds of (three heads averaged, ELU, one head) with shared weights, dropout 0.6.

    Nodes start from the vectors of their entity tokens. (The released code numbers them along the path instead, which gives
    the place on the path away; that is not offered.)
    """

    units: int = 100
    edge: int = 20
    rounds: int = 3
    heads: int = 3
    dropout: float = 0.6
    classifier: int = 200
    policy: str = "fixed"


class EdgeAttention(nn.Module):
    """One layer: each node attends over the edges that reach it and over itself; messages carry sender and edge."""

    def __init__(self, units: int, edge: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.message = uniform(heads, units + edge, units, fan=units + edge)
        self.scorer = uniform(heads, 2 * units + edge, fan=2 * units + edge)
        self.units = units

    def forward(self, nodes: Tensor, edges: Tensor, present: Tensor) -> Tensor:
        """nodes (batch, n, units); edges (batch, from, to, edge); present (batch, from, to)."""
        u = self.units
        by_receiver = nodes @ self.scorer[:, :u].t()
        by_sender = nodes @ self.scorer[:, u : 2 * u].t()
        by_edge = edges @ self.scorer[:, 2 * u :].t()
        scores = nn.functional.leaky_relu(by_receiver.unsqueeze(1) + by_sender.unsqueeze(2) + by_edge, 0.2)
        weights = torch.softmax(scores.masked_fill(~present.unsqueeze(3), -1e9), 1)
        sent = torch.einsum("bnu,huo->bhno", nodes, self.message[:, :u])
        carried = torch.einsum("bijh,bije->bhje", weights, edges)
        received = torch.einsum("bijh,bhio->bhjo", weights, sent) + carried @ self.message[:, u:]
        return received.mean(1)


class Gat(KinshipModel):
    """Reads the graph, not the text. Readout: mean of all nodes and the two queried ones."""

    Config = GatConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=100, optimizer="adam", rate=1e-3, decay=1.0, weight_decay=0.0, clip=1.0, chunk=20
    )
    config: GatConfig

    def __init__(self, config: GatConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.nodes = EntityEmbedding(len(self.vocabulary), config.units, config.policy)
        self.edges = nn.Embedding(len(self.relations) + 1, config.edge, padding_idx=0)
        self.wide = EdgeAttention(config.units, config.edge, config.heads)
        self.narrow = EdgeAttention(config.units, config.edge, 1)
        self.head = head(3 * config.units, len(self.labels), config.classifier)

    def logits(self, batch: Stories) -> Tensor:
        """Scores of the labels."""
        rate, training = self.config.dropout, self.training
        nodes = self.nodes(batch.entities)
        real = batch.entities > 0
        edges = self.edges(batch.relations)
        loops = torch.eye(nodes.shape[1], dtype=torch.bool, device=nodes.device)
        present = (batch.relations > 0) | loops
        for _ in range(self.config.rounds):
            nodes = nn.functional.elu(self.wide(dropout(nodes, rate, training), edges, present))
            nodes = self.narrow(dropout(nodes, rate, training), edges, present)
        mean = (nodes * real.unsqueeze(2)).sum(1) / real.sum(1, keepdim=True)
        row = torch.arange(len(nodes), device=nodes.device)
        ends = [nodes[row, batch.ends[:, i]] for i in range(2)]
        found: Tensor = self.head(torch.cat([mean, *ends], 1))
        return found
