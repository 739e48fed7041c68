"""A Transformer encoder-decoder with relative positions: the modern reference beside the recurrent models.

Positions enter only as distances: attention scores get the query's product with a learned vector per (clipped) distance, so
that nothing in the model knows an absolute place. Layers normalise before they transform.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from recombine.models.base import Loss, Training
from recombine.models.batching import END, PAD, dropout
from recombine.models.layers import padding_mask
from recombine.models.seq2seq import PairModel, Pairs, token_loss


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes; small, because the tasks are."""

    units: int = 128
    heads: int = 8
    layers: int = 3
    feed_forward: int = 256
    dropout: float = 0.1
    distance: int = 16
    max_answer_tokens: int = 64


Past = tuple[Tensor, Tensor]


class Attention(nn.Module):
    """Multi-head attention; with `distance`, scores also depend on how far a key is from the query, clipped there."""

    def __init__(self, units: int, heads: int, distance: int | None) -> None:
        super().__init__()
        if units % heads:
            raise ValueError(f"{heads} heads do not divide {units} units")
        self.heads, self.distance = heads, distance
        self.query, self.key, self.value, self.out = (nn.Linear(units, units) for _ in range(4))
        if distance is not None:
            self.relative = nn.Parameter(torch.randn(2 * distance + 1, units // heads) / math.sqrt(units // heads))

    def project(self, x: Tensor) -> Past:
        """Keys and values (batch, heads, places, size)."""
        keys, values = self._together(x, self.key, self.value)
        return keys, values

    def _together(self, x: Tensor, *layers: nn.Linear) -> list[Tensor]:
        """What several layers make of the same input, by one product; each with its heads apart."""
        batch, places, units = x.shape
        weight, bias = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
        made = nn.functional.linear(x, weight, bias).view(batch, places, len(layers), self.heads, units // self.heads)
        return [part.transpose(1, 2) for part in made.unbind(2)]

    def within(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Past]:
        """Look from x at itself; also its keys and values."""
        query, keys, values = self._together(x, self.query, self.key, self.value)
        return self._look(query, (keys, values), mask, 0), (keys, values)

    def forward(self, x: Tensor, known: Past, mask: Tensor | None, offset: int = 0) -> Tensor:
        """Look from x (its first row stands at place `offset`) at known keys and values; mask: additive, or None."""
        return self._look(self._together(x, self.query)[0], known, mask, offset)

    def _look(self, query: Tensor, known: Past, mask: Tensor | None, offset: int) -> Tensor:
        """Products and a softmax: PyTorch's fused attention is 6 % slower here (heads of 16 units, a few dozen places)."""
        keys, values = known
        query = query / math.sqrt(query.shape[-1])
        scores = query @ keys.transpose(-1, -2)
        if self.distance is not None:
            scores = scores + self._by_distance(query, keys.shape[2], offset, self.distance)
        seen = torch.softmax(scores if mask is None else scores + mask, -1) @ values
        return self.out(seen.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _by_distance(self, query: Tensor, places: int, offset: int, furthest: int) -> Tensor:
        """The query's product with the vector of each key's distance: one product of matrices for each place of a query."""
        batch, heads, steps, size = query.shape
        here = torch.arange(offset, offset + steps, device=query.device).unsqueeze(1)
        away = (torch.arange(places, device=query.device) - here).clamp(-furthest, furthest) + furthest
        vectors = self.relative[away].transpose(1, 2)  # (steps, size, places)
        near = query.permute(2, 0, 1, 3).reshape(steps, batch * heads, size) @ vectors
        return near.view(steps, batch, heads, places).permute(1, 2, 0, 3)


class Block(nn.Module):
    """Self-attention, attention to a source (if `crosses`), and a feed-forward part, each with a residual path."""

    def __init__(self, config: Any, crosses: bool) -> None:
        super().__init__()
        self.own = Attention(config.units, config.heads, config.distance)
        self.own_norm = nn.LayerNorm(config.units)
        self.cross = Attention(config.units, config.heads, None) if crosses else None
        self.cross_norm = nn.LayerNorm(config.units) if crosses else None
        self.forward_norm = nn.LayerNorm(config.units)
        self.wide = nn.Linear(config.units, config.feed_forward)
        self.narrow = nn.Linear(config.feed_forward, config.units)
        self.rate = config.dropout

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        source: Past | None = None,
        source_mask: Tensor | None = None,
        past: Past | None = None,
    ) -> tuple[Tensor, Past]:
        """The block's output, and the keys and values of everything seen so far."""
        y = self.own_norm(x)
        if past is None:
            own, known = self.own.within(y, mask)
        else:
            new = self.own.project(y)
            known = torch.cat([past[0], new[0]], 2), torch.cat([past[1], new[1]], 2)
            own = self.own(y, known, mask, past[0].shape[2])
        x = x + dropout(own, self.rate, self.training)
        if self.cross is not None and self.cross_norm is not None:
            assert source is not None
            x = x + dropout(self.cross(self.cross_norm(x), source, source_mask), self.rate, self.training)
        thought = self.narrow(torch.relu(self.wide(self.forward_norm(x))))
        return x + dropout(thought, self.rate, self.training), known


class Decoder(nn.Module):
    """Blocks that look at their own past and at a source; greedy decoding keeps what earlier steps computed."""

    def __init__(self, config: Any, words: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(words, config.units)
        self.blocks = nn.ModuleList(Block(config, True) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.units)
        self.output = nn.Linear(config.units, words)
        self.rate = config.dropout

    def project(self, source: Tensor) -> list[Past]:
        """The source's keys and values for each block."""
        return [block.cross.project(source) for block in self.blocks]  # type: ignore[operator, union-attr]

    def forward(
        self, previous: Tensor, source: list[Past], source_mask: Tensor, mask: Tensor | None, past: list[Past] | None = None
    ) -> tuple[Tensor, list[Past]]:
        """Logits for the words after `previous` (batch, steps), and the keys and values to go on from."""
        x = dropout(self.embedding(previous), self.rate, self.training)
        known = []
        for i, block in enumerate(self.blocks):
            x, seen = block(x, mask, source[i], source_mask, None if past is None else past[i])
            known.append(seen)
        return self.output(self.norm(x)), known

    def loss(self, target: Tensor, source: Tensor, source_mask: Tensor) -> Loss:
        """Teacher-forced cross-entropy per row, as for the recurrent models; target (batch, steps)."""
        steps = target.shape[1]
        previous = torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], 1)
        mask = torch.full((steps, steps), -math.inf, device=target.device).triu(1)
        logits, _ = self(previous, self.project(source), source_mask, mask)
        return token_loss(logits.transpose(0, 1), target.t())

    def greedy(self, source: Tensor, source_mask: Tensor, limit: int) -> list[list[int]]:
        """Word numbers per row, up to and including the end mark if it comes within the limit."""
        known = self.project(source)
        previous = torch.zeros(len(source), 1, dtype=torch.int64, device=source.device)
        ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
        past: list[Past] | None = None
        chosen = []
        for _ in range(limit + 1):
            logits, past = self(previous, known, source_mask, None, past)
            logits[:, :, PAD] = -math.inf
            previous = logits[:, -1].argmax(-1, keepdim=True)
            chosen.append(previous)
            ended |= previous[:, 0] == END
            if bool(ended.all()):
                break
        found: list[list[int]] = torch.cat(chosen, 1).tolist()
        return found


class Transformer(PairModel):
    """Words to words; reads and answers like the recurrent models."""

    Config = TransformerConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=50, batch=64, optimizer="adam", rate=1e-3, decay=0.97, weight_decay=0.0, clip=1.0, warmup_steps=400
    )
    config: TransformerConfig

    def __init__(self, config: TransformerConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.embedding = nn.Embedding(len(self.words_in), config.units, padding_idx=PAD)
        self.blocks = nn.ModuleList(Block(config, False) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.units)
        self.rate = config.dropout
        self.decoder = Decoder(config, len(self.words_out))

    def _encoded(self, batch: Pairs) -> tuple[Tensor, Tensor]:
        """The source's states and their mask."""
        mask = padding_mask(batch.lengths, batch.source.shape[1])[:, None, None]
        x = dropout(self.embedding(batch.source), self.rate, self.training)
        for block in self.blocks:
            x, _ = block(x, mask)
        return self.norm(x), mask

    def loss(self, batch: Pairs) -> Loss:
        """Teacher-forced cross-entropy per row, as for the recurrent models."""
        assert batch.target is not None, "loss needs answered items"
        return self.decoder.loss(batch.target, *self._encoded(batch))

    @torch.no_grad()
    def answers(self, batch: Pairs) -> list[str]:
        """Greedy decoding; each step looks only at the newest word and at what earlier steps left."""
        rows = self.decoder.greedy(*self._encoded(batch), self.config.max_answer_tokens)
        return [" ".join(self.words_out.decode(row)) for row in rows]
