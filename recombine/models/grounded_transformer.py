"""A grounded Transformer: words and cells attend to each other in turns, and a decoder attends to both.

In the manner of the cross-modal models that lead on gSCAN and ReaSCAN: two streams, each block first across, then within.
Words know distances (relative positions); cells know their row and column. Only cells that hold something are read: an empty one
says nothing that the others do not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.errors import UsageError
from recombine.models.base import Loss, Training
from recombine.models.batching import PAD, dropout
from recombine.models.grounded import GroundedModel, Present, Scenes, present_cells, target_loss, word_mask
from recombine.models.transformer import Attention, Decoder


@dataclass(frozen=True)
class GroundedTransformerConfig:
    """Sizes; `layers` counts the decoder's, `blocks` the encoder's pairs of across and within.

    `grid` is the largest size of a grid. `target_weight` above 0 adds a score for each encoded cell and the auxiliary loss that the
    target's cell scores highest.
    """

    units: int = 128
    heads: int = 8
    blocks: int = 4
    layers: int = 3
    feed_forward: int = 256
    dropout: float = 0.1
    distance: int = 16
    grid: int = 12
    target_weight: float = 0.0
    max_answer_tokens: int = 120


def barred(found: Present) -> Tensor:
    """Additive mask (batch, cells): 0 where a cell is, -inf behind the last."""
    return torch.zeros(found.is_there.shape, device=found.places.device).masked_fill_(~found.is_there, -math.inf)


class Stream(nn.Module):
    """One modality's half of a block: look at the other, look at itself, think."""

    def __init__(self, config: GroundedTransformerConfig, distance: int | None) -> None:
        super().__init__()
        self.across = Attention(config.units, config.heads, None)
        self.within = Attention(config.units, config.heads, distance)
        self.norms = nn.ModuleList(nn.LayerNorm(config.units) for _ in range(4))
        self.wide = nn.Linear(config.units, config.feed_forward)
        self.narrow = nn.Linear(config.feed_forward, config.units)
        self.rate = config.dropout

    def forward(self, x: Tensor, mask: Tensor, other: Tensor, other_mask: Tensor) -> Tensor:
        """The stream after the block."""
        across, source, within, think = self.norms
        seen = self.across(across(x), self.across.project(source(other)), other_mask)
        x = x + dropout(seen, self.rate, self.training)
        x = x + dropout(self.within.within(within(x), mask)[0], self.rate, self.training)
        return x + dropout(self.narrow(torch.relu(self.wide(think(x)))), self.rate, self.training)


class GroundedTransformer(GroundedModel):
    """Command and grid to actions."""

    Config = GroundedTransformerConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=100, batch=200, optimizer="adam", rate=8e-4, decay=0.986, weight_decay=0.0, clip=1.0, warmup_steps=500, chunk=50
    )
    config: GroundedTransformerConfig

    def __init__(self, config: GroundedTransformerConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.embedding = nn.Embedding(len(self.words_in), config.units, padding_idx=PAD)
        self.look = nn.Linear(self.bits, config.units)
        self.row, self.column = nn.Embedding(config.grid, config.units), nn.Embedding(config.grid, config.units)
        self.words = nn.ModuleList(Stream(config, config.distance) for _ in range(config.blocks))
        self.cells = nn.ModuleList(Stream(config, None) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.units)
        self.rate = config.dropout
        self.decoder = Decoder(config, len(self.words_out))
        self.pointer = nn.Linear(config.units, 1) if config.target_weight else None

    def _encoded(self, batch: Scenes) -> tuple[Tensor, Tensor, Present]:
        """Words and cells in one row, the mask over them, and which cells these are."""
        size, most = max(batch.grids.shape[1:3]), self.config.grid
        if size > most:
            raise UsageError(
                f"this grounded-transformer reads grids of at most {most} rows and columns, not {size}; "
                f"train one in another folder with --with grid={size}."
            )
        found = present_cells(batch.grids)
        columns = batch.grids.shape[2]
        seen = self.look(found.bits) + self.row(found.places // columns) + self.column(found.places % columns)
        cells = dropout(seen, self.rate, self.training)
        words = dropout(self.embedding(batch.words), self.rate, self.training)
        word, cell = word_mask(batch)[:, None, None], barred(found)[:, None, None]
        for of_words, of_cells in zip(self.words, self.cells, strict=True):
            words, cells = of_words(words, word, cells, cell), of_cells(cells, cell, words, word)
        return self.norm(torch.cat([words, cells], 1)), torch.cat([word, cell], 3), found

    def loss(self, batch: Scenes) -> Loss:
        """Teacher-forced cross-entropy per row; with `target_weight`, also of the target's cell where it is known."""
        assert batch.actions is not None, "loss needs answered items"
        source, mask, found = self._encoded(batch)
        loss = self.decoder.loss(batch.actions, source, mask)
        if self.pointer is None:
            return loss
        scores = self.pointer(source[:, batch.words.shape[1] :]).squeeze(2) + barred(found)
        is_target = found.is_there & (found.places == batch.cells.unsqueeze(1))
        place = torch.where(is_target.any(1), is_target.to(torch.uint8).argmax(1), -1)
        missed = target_loss(torch.softmax(scores, 1), place)
        return Loss(loss.value + self.config.target_weight * missed, loss.right, loss.decisions)

    @torch.no_grad()
    def answers(self, batch: Scenes) -> list[str]:
        """Greedy decoding."""
        return self.spoken(self.decoder.greedy(*self._encoded(batch)[:2], self.config.max_answer_tokens))
