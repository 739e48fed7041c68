"""GCN-LSTM: language-conditioned message passing between the grid's objects, then M-LSTM's convolutions and decoder.

Only cells that hold something are nodes; they all send to each other. In every round the command is read anew, and decides
what is sent. Nodes do not know where they are: places enter only through the convolutions behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.batching import dropout
from recombine.models.grounded import (
    ActionWriter,
    CommandReader,
    Read,
    Scenes,
    WorldReader,
    WritingModel,
    present_cells,
    word_mask,
)
from recombine.models.grounded_rows import SIZES


@dataclass(frozen=True)
class GcnLstmConfig:
    """Sizes and dropouts as published."""

    embedding: int = 32
    units: int = 64
    feature: int = 16
    channels: int = 64
    rounds: int = 4
    input_dropout: float = 0.2
    command_dropout: float = 0.08
    dropout: float = 0.15
    target_weight: float = 0.0
    max_answer_tokens: int = 120


class MessagePassing(nn.Module):
    """Rounds of messages between nodes (batch, nodes, units), each conditioned on a new reading of the command."""

    def __init__(self, units: int, rounds: int, rate: float, command_rate: float) -> None:
        super().__init__()
        self.rounds, self.rate, self.command_rate = rounds, rate, command_rate
        self.context = nn.Parameter(torch.randn(units) / math.sqrt(units))
        self.query = nn.Linear(units, units)
        self.turns = nn.ModuleList(nn.Linear(units, units) for _ in range(rounds))
        self.scorer = nn.Linear(units, 1)
        self.here, self.around = nn.Linear(units, units), nn.Linear(units, units)
        self.receive, self.send, self.send_command = (
            nn.Linear(3 * units, units),
            nn.Linear(3 * units, units),
            nn.Linear(units, units),
        )
        self.say, self.say_command = nn.Linear(3 * units, units), nn.Linear(units, units)
        self.keep, self.hear = nn.Linear(units, units), nn.Linear(units, units)
        self.join = nn.Linear(2 * units, units)

    def forward(self, nodes: Tensor, present: Tensor, text: Tensor, last: Tensor, mask: Tensor) -> Tensor:
        """The nodes' features after all rounds; `present` (batch, nodes) says which are real.

        Receiving, sending and saying read (node, context, node x context) by one linear layer each. Their weights are cut into these
        three parts: the node's part is computed once for all rounds, and the context's part together with what else reads it.
        """
        units = nodes.shape[2]
        of_node, of_context, of_both = self._parts(units)
        biases = torch.cat([self.receive.bias, self.send.bias, self.say.bias])
        known = nn.functional.linear(nodes, of_node, biases)
        from_context = torch.cat([self.around.weight, of_context, self.keep.weight])
        context_bias = torch.cat([self.around.bias, biases.new_zeros(3 * units), self.keep.bias])
        barred = torch.zeros(present.shape, device=nodes.device, dtype=nodes.dtype).masked_fill_(~present, -1e9).unsqueeze(1)
        alone = torch.eye(nodes.shape[1], dtype=nodes.dtype, device=nodes.device) * -1e9
        barred = barred + alone
        allowed = (barred == 0).to(nodes.dtype)
        context = self.context.view(1, 1, -1)  # the same for every node until messages arrive
        asked = torch.relu(self.query(dropout(last, self.command_rate, self.training)))
        for turn in self.turns:
            scores = self.scorer(turn(asked).unsqueeze(1) * text).squeeze(2) + mask
            command = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), text)
            told = nn.functional.linear(context, from_context, context_bias)
            around, reading, kept = torch.split(told, [units, 3 * units, units], 2)
            both = self.here(dropout(nodes, self.rate, self.training)) * around
            receive, send, say = torch.split(known + reading + nn.functional.linear(both, of_both), units, 2)
            send = send * (self.send_command(command) / math.sqrt(units))
            weights = torch.softmax(torch.baddbmm(barred, receive, send.transpose(1, 2)), 2) * allowed
            message = torch.bmm(weights, say * self.say_command(command))
            context = kept + self.hear(message)
        inner, outer = torch.split(self.join.weight, units, 1)
        joined: Tensor = nn.functional.linear(nodes, inner, self.join.bias) + nn.functional.linear(context, outer)
        return joined

    def _parts(self, units: int) -> tuple[Tensor, ...]:
        """The weights of receive, send and say (3 units, units) for each part of what they read."""
        return torch.split(torch.cat([self.receive.weight, self.send.weight, self.say.weight]), units, 1)


class GcnLstm(WritingModel):
    """The published model: 100 epochs of Adam at 8e-4 in batches of 200."""

    Config = GcnLstmConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=200, optimizer="adam", rate=8e-4, decay=0.986, weight_decay=0.0, clip=1e9, chunk=50
    )
    config: GcnLstmConfig

    def __init__(self, config: GcnLstmConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.groups = [SIZES, len(self.colors), len(self.shapes), self.bits - self.object_bits]
        self.features = nn.ModuleList(nn.Linear(bits, config.feature, bias=False) for bits in self.groups)
        units = len(self.groups) * config.feature
        self.command = CommandReader(len(self.words_in), config.embedding, units // 2, config.command_dropout, joined=True)
        self.passing = MessagePassing(units, config.rounds, config.dropout, config.command_dropout)
        self.world = WorldReader(units, config.channels, (1, 5, 7), config.dropout)
        self.writer = ActionWriter(len(self.words_out), config.units, units, 3 * config.channels, config.dropout)

    def read(self, batch: Scenes) -> Read:
        """The command and the grid, read."""
        text, last = self.command(batch.words, batch.lengths)
        mask = word_mask(batch)
        rows, columns = batch.grids.shape[1:3]
        places, present, bits = present_cells(batch.grids)
        parts = torch.split(bits, self.groups, 2)
        nodes = torch.cat([layer(part) for layer, part in zip(self.features, parts, strict=True)], 2)
        nodes = dropout(nodes, self.config.input_dropout, self.training)
        features = self.passing(nodes, present, text, last, mask)
        through = places + torch.arange(len(places), device=places.device).unsqueeze(1) * (rows * columns)
        world = self.world.present(features[present], through[present], (rows, columns), len(places))
        return Read(text, last, batch.lengths, world)
