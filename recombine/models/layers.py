"""Layers that several models share: a two-way recurrence, additive attention, a small perceptron."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

from recombine.models.recurrent import CELLS, recur


def uniform(*shape: int, fan: int) -> nn.Parameter:
    """A weight drawn evenly from ±1/sqrt(fan), as PyTorch starts its recurrent layers."""
    return nn.Parameter(torch.empty(*shape).uniform_(-1 / math.sqrt(fan), 1 / math.sqrt(fan)))


def tanh(x: Tensor) -> Tensor:
    """tanh by way of the sigmoid, which is several times faster on a CPU."""
    return torch.sigmoid(x * 2) * 2 - 1


class TwoWay(nn.Module):
    """A recurrent layer over (batch, places, inputs) in both directions, run side by side in one loop.

    The second direction reads each row reversed within its own length; nothing behind a row's end touches its states.
    """

    def __init__(self, cell: str, inputs: int, units: int) -> None:
        super().__init__()
        self.cell, self.units = cell, units
        gates = CELLS[cell].gates * units
        self.input = uniform(2, inputs, gates, fan=units)
        self.input_bias = uniform(2, gates, fan=units)
        self.recurrent = uniform(2, units, gates, fan=units)
        self.recurrent_bias = uniform(2, gates, fan=units)

    def run(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """States (batch, places, 2 * units), last states (batch, 2 * units), and last memories of an LSTM."""
        batch, places, _ = words.shape
        rows = words.transpose(0, 1).flatten(0, 1)
        place = torch.arange(places, device=words.device).unsqueeze(1)
        mirrored = torch.where(place < lengths, lengths - 1 - place, place)
        flip = (mirrored * batch + torch.arange(batch, device=words.device)).flatten()
        pre = torch.baddbmm(self.input_bias.unsqueeze(1), torch.stack([rows, rows.index_select(0, flip)]), self.input)
        pre = pre.view(2, places, batch, -1).transpose(0, 1)
        start = words.new_zeros(2, batch, self.units)
        memory = start if CELLS[self.cell].has_memory else None
        hidden, kept = recur(self.cell, pre, start, memory, self.recurrent, self.recurrent_bias)
        backward = hidden[:, 1].flatten(0, 1).index_select(0, flip).view(places, batch, -1)
        states = torch.cat([hidden[:, 0], backward], 2).transpose(0, 1)
        return states, last_states(hidden, lengths), None if kept is None else last_states(kept, lengths)


def last_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Both directions' states (places, 2, batch, units) at each row's own end, side by side: (batch, 2 * units)."""
    _, directions, batch, _ = states.shape
    row = torch.arange(batch, device=states.device)
    flat = states.flatten(0, 2)
    picks = [flat.index_select(0, ((lengths - 1) * directions + d) * batch + row) for d in range(directions)]
    return torch.cat(picks, 1)


def padding_mask(lengths: Tensor, places: int) -> Tensor:
    """Additive mask (batch, places): 0 inside a row, -inf behind its end."""
    outside = torch.arange(places, device=lengths.device) >= lengths.unsqueeze(1)
    return torch.zeros(outside.shape, device=lengths.device).masked_fill_(outside, -math.inf)


class AdditiveAttention(nn.Module):
    """Scores v·tanh(key + W query) over (batch, places, units) keys, which are also the values."""

    def __init__(self, query: int, units: int) -> None:
        super().__init__()
        self.query = nn.Linear(query, units, bias=False)
        self.scorer = uniform(units, fan=units)

    def forward(self, query: Tensor, keys: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """The context (batch, units) and the weights (batch, places)."""
        scores = tanh(keys + self.query(query).unsqueeze(1)) @ self.scorer
        weights = torch.softmax(scores if mask is None else scores + mask, 1)
        return torch.bmm(weights.unsqueeze(1), keys).squeeze(1), weights


def perceptron(*sizes: int) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])
