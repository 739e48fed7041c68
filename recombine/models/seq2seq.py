"""Sequence to sequence as in the NACS paper: RNN, GRU or LSTM, without attention, with it, or with it and cut from its past.

Encoder: one bidirectional layer. Decoder: one layer that starts at tanh(Linear(both ends)); with attention it is Bahdanau's:
s_i = f(e_{i-1}, c_i, s_{i-1}), t_i = W_e e_{i-1} + W_c c_i + W_s s_i, o_i = W_o t_i, no maxout, no biases in attention and
output. `-Dep` (`depends=False`) removes the previous word's embedding from both places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recombine.models.base import Loss, Model, Training
from recombine.models.batching import END, PAD, UNKNOWN, Vocabulary, dropout, pad, source_words
from recombine.models.configs import check_choice
from recombine.models.layers import TwoWay, padding_mask, uniform
from recombine.models.recurrent import CELLS, Source, attend, recur

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Example

STARTS = ("zero", "learned")
"""Values of the setting `start`."""


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes as published. The last three are where the released code departs from, or adds to, what the paper says.

    `start`: the paper does not say what stands for the word before the first; the released code uses zeros, and so does
    the default; `learned` is a trained vector. `predict_from_embedding`: the paper's equation (True) has W_e e_{i-1} in
    the output; one example in the released README turns it off. `mask_after_end`: the released code leaves out the loss
    at positions behind the model's own first predicted end mark, although the true prefix is fed; off by default.
    """

    cell: str = "gru"
    attention: bool = True
    depends: bool = True
    embedding: int = 64
    units: int = 256
    dropout: float = 0.2
    max_answer_tokens: int = 64
    start: str = "zero"
    predict_from_embedding: bool = True
    mask_after_end: bool = False


@dataclass(frozen=True)
class Pairs:
    """A batch: source (batch, places), its lengths, and the target with its end marks (batch, steps), if known."""

    source: Tensor
    lengths: Tensor
    target: Tensor | None


Item = tuple["NDArray[np.int64]", "NDArray[np.int64] | None"]


class PairModel(Model):
    """What all models from words to words share: two vocabularies, items that are pairs, batches of pairs."""

    def __init__(self, config: Any, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.words_in = Vocabulary.from_json(codec["source"])
        self.words_out = Vocabulary.from_json(codec["target"])

    @classmethod
    def learn_codec(cls, config: Any, examples: Sequence[Example]) -> dict[str, Any]:  # noqa: ARG003
        source = Vocabulary.of(source_words(example) for example in examples)
        target = Vocabulary.of(example.answer.split() for example in examples)
        longer = sum(len(source_words(e)) - len(e.answer.split()) for e in examples) > 0
        return {"source": list(source.words), "target": list(target.words), "source_is_longer": longer}

    def encode(self, example: Example, answered: bool) -> Item:
        target = self.words_out.encode(example.answer.split(), end=True) if answered else None
        return self.words_in.encode(source_words(example)), target

    def knows(self, examples: Sequence[Example]) -> bool:
        """Whether training had any word of these examples' sources."""
        return any((self.words_in.encode(source_words(example)) != UNKNOWN).any() for example in examples)

    def length(self, item: Item) -> tuple[int, ...]:
        """The longer side of the task first: that is where padding costs most."""
        source, target = item
        steps = 0 if target is None else len(target)
        return (len(source), steps) if self.codec["source_is_longer"] else (steps, len(source))

    def collate(self, items: Sequence[Item]) -> Pairs:
        targets = [target for _, target in items if target is not None]
        lengths = torch.tensor([len(source) for source, _ in items])
        return Pairs(pad([source for source, _ in items]), lengths, pad(targets) if len(targets) == len(items) else None)


def token_loss(logits: Tensor, target: Tensor, mask_after_end: bool = False) -> Loss:
    """Cross-entropy summed over tokens, divided by rows; logits (steps, batch, words), target (steps, batch)."""
    rows = target.shape[1]
    best = logits.detach().argmax(-1)
    counted = target != PAD
    if mask_after_end:
        ended = best == END
        counted &= (ended.cumsum(0) - ended.to(torch.int64)) == 0
    labels = torch.where(counted, target, -100)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
    return Loss(total / rows, int(((best == target) & (target != PAD)).sum()), int((target != PAD).sum()))


class Encoder(TwoWay):
    """Embedded words through a two-way layer."""

    def __init__(self, words: int, config: Seq2SeqConfig) -> None:
        super().__init__(config.cell, config.embedding, config.units)
        self.rate = config.dropout
        self.embedding = nn.Embedding(words, config.embedding, padding_idx=PAD)

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """States (batch, places, 2 * units), last states (batch, 2 * units), and last memories of an LSTM."""
        return self.run(dropout(self.embedding(source), self.rate, self.training), lengths)


class Seq2Seq(PairModel):
    """The paper's nine models, by `cell`, `attention` and `depends`."""

    Config = Seq2SeqConfig
    TRAINING: ClassVar[Training] = Training(epochs=150)
    config: Seq2SeqConfig

    def __init__(self, config: Seq2SeqConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        check_choice("cell", config.cell, CELLS)
        check_choice("start", config.start, STARTS)
        units, values, cell = config.units, 2 * config.units, CELLS[config.cell]
        gates = cell.gates * units
        self.encoder = Encoder(len(self.words_in), config)
        self.bridge = nn.Linear(values, units)
        self.memory_bridge = nn.Linear(values, units) if cell.has_memory else None
        self.input_bias = uniform(gates, fan=units)
        self.recurrent = uniform(units, gates, fan=units)
        self.recurrent_bias = uniform(gates, fan=units)
        self.embedding = nn.Embedding(len(self.words_out), config.embedding, padding_idx=PAD) if config.depends else None
        self.start = nn.Parameter(torch.randn(config.embedding)) if config.depends and config.start == "learned" else None
        self.input = uniform(config.embedding, gates, fan=units) if config.depends else None
        if config.attention:
            self.key = uniform(values, units, fan=values)
            self.query = uniform(units, units, fan=units)
            self.scorer = uniform(units, fan=units)
            self.context = uniform(values, gates, fan=units)
            read = units + values + (config.embedding if self._predicts_from_embedding else 0)
            self.read = uniform(read, units, fan=read)
        self.output = uniform(units, len(self.words_out), fan=units)

    @property
    def _predicts_from_embedding(self) -> bool:
        return self.config.attention and self.config.depends and self.config.predict_from_embedding

    def _encoded(self, batch: Pairs) -> tuple[Source | None, Tensor, Tensor | None]:
        """The source as the decoder sees it, and the decoder's start."""
        states, ends, memories = self.encoder(batch.source, batch.lengths)
        start = torch.tanh(self.bridge(ends))
        memory = None if self.memory_bridge is None else torch.tanh(self.memory_bridge(memories))
        if not self.config.attention:
            return None, start, memory
        mask = padding_mask(batch.lengths, batch.source.shape[1])
        return Source(states @ self.key, states, mask), start, memory

    def _words(self, previous: Tensor) -> Tensor | None:
        """Embeddings of the previous words (steps, batch); padding stands for the start and is zero or learned."""
        if self.embedding is None:
            return None
        words = self.embedding(previous)
        if self.start is not None:
            words = torch.where((previous == PAD).unsqueeze(-1), self.start, words)
        return dropout(words, self.config.dropout, self.training)

    def _decoded(
        self, source: Source | None, words: Tensor | None, steps: int, start: Tensor, memory: Tensor | None
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """States (steps, batch, units), their memories' last (LSTM, one step only), and contexts."""
        config = self.config
        if source is None:
            if words is None or self.input is None:
                pre = self.input_bias.expand(steps, 1, start.shape[0], -1)
            else:
                pre = (words @ self.input + self.input_bias).unsqueeze(1)
            kept = None if memory is None else memory.unsqueeze(0)
            hidden, memories = recur(
                config.cell, pre, start.unsqueeze(0), kept, self.recurrent.unsqueeze(0), self.recurrent_bias.unsqueeze(0)
            )
            return hidden[:, 0], None if memories is None else memories[-1, 0], None
        inputs = None if words is None or self.input is None else words @ self.input
        weights = (self.query, self.scorer, self.recurrent, self.recurrent_bias, self.context, self.input_bias)
        attended = attend(config.cell, source, inputs, steps, (start, memory), weights)
        return attended.hidden, attended.memory, attended.contexts

    def _logits(self, hidden: Tensor, words: Tensor | None, contexts: Tensor | None) -> Tensor:
        """Scores of the next word. Both output matrices are multiplied first where that is the smaller product."""
        if contexts is None:
            return hidden @ self.output
        parts = [words, hidden, contexts] if words is not None and self._predicts_from_embedding else [hidden, contexts]
        read = dropout(torch.cat([part for part in parts if part is not None], -1), self.config.dropout, self.training)
        if len(self.words_out) < self.config.units:
            return read @ (self.read @ self.output)
        return read @ self.read @ self.output

    def loss(self, batch: Pairs) -> Loss:
        """Teacher-forced cross-entropy, summed over tokens and divided by the batch's rows."""
        assert batch.target is not None, "loss needs answered items"
        target = batch.target.t()
        source, start, memory = self._encoded(batch)
        words = self._words(torch.cat([torch.zeros_like(target[:1]), target[:-1]]))
        hidden, _, contexts = self._decoded(source, words, len(target), start, memory)
        return token_loss(self._logits(hidden, words, contexts), target, self.config.mask_after_end)

    @torch.no_grad()
    def answers(self, batch: Pairs) -> list[str]:
        """Greedy decoding of the whole batch, until every row has ended or `max_answer_tokens` is reached."""
        source, state, memory = self._encoded(batch)
        rows = len(batch.source)
        previous = torch.zeros(1, rows, dtype=torch.int64, device=batch.source.device)
        chosen = []
        ended = torch.zeros(rows, dtype=torch.bool, device=batch.source.device)
        for _ in range(self.config.max_answer_tokens + 1):
            words = self._words(previous)
            hidden, memory, contexts = self._decoded(source, words, 1, state, memory)
            state = hidden[-1]
            logits = self._logits(hidden, words, contexts)[0]
            logits[:, PAD] = -math.inf
            picked = logits.argmax(-1)
            chosen.append(picked)
            ended |= picked == END
            if bool(ended.all()):
                break
            previous = picked.unsqueeze(0)
        return [" ".join(self.words_out.decode(row)) for row in torch.stack(chosen, 1).tolist()]
