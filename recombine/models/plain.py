"""The same recurrences as a plain step-by-step loop with automatic differentiation.

This is the yardstick, not the product: tests compare `recurrent` with it in double precision, and the benchmark prints the
ratio of their speeds. It shares no code with `recurrent` on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from recombine.models.batching import PAD, dropout
from recombine.models.layers import padding_mask

if TYPE_CHECKING:
    from recombine.models.grounded import ActionWriter, Read, WorldReader


def cell_step(kind: str, pre: Tensor, recurrent: Tensor, h: Tensor, c: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """One step of a cell from its two gate pre-activations."""
    if kind == "rnn":
        return torch.tanh(pre + recurrent), None
    if kind == "gru":
        pr, pz, pn = pre.chunk(3, -1)
        rr, rz, rn = recurrent.chunk(3, -1)
        z = torch.sigmoid(pz + rz)
        n = torch.tanh(pn + torch.sigmoid(pr + rr) * rn)
        return (1 - z) * n + z * h, None
    assert c is not None
    i, f, g, o = (pre + recurrent).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def plain_recur(
    kind: str, pre: Tensor, start: Tensor, memory: Tensor | None, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor | None]:
    """`recurrent.recur`, step by step."""
    h, c = start, memory
    states, memories = [], []
    for step in pre:
        h, c = cell_step(kind, step, torch.bmm(h, weight) + bias.unsqueeze(1), h, c)
        states.append(h)
        memories.append(c)
    return torch.stack(states), None if memory is None else torch.stack([m for m in memories if m is not None])


def plain_attend(
    kind: str, keys: Tensor, values: Tensor, mask: Tensor, pre: Tensor | None, steps: int,
    states: tuple[Tensor, Tensor | None], weights: tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`recurrent.attend`, step by step: hidden states and contexts."""
    query, scorer, recurrent, bias, to_gates, gate_bias = weights
    h, c = states
    hidden, contexts = [], []
    for t in range(steps):
        scores = torch.tanh(keys + (h @ query).unsqueeze(1)) @ scorer + mask
        context = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), values).squeeze(1)
        gates = context @ to_gates + gate_bias
        if pre is not None:
            gates = gates + pre[t]
        h, c = cell_step(kind, gates, h @ recurrent + bias, h, c)
        hidden.append(h)
        contexts.append(context)
    return torch.stack(hidden), torch.stack(contexts)


def plain_present(reader: WorldReader, features: Tensor, cells: Tensor, shape: tuple[int, int], grids: int) -> Tensor:
    """`grounded.WorldReader.present` by dense convolutions over whole grids."""
    whole = features.new_zeros(grids * shape[0] * shape[1], features.shape[1]).index_copy(0, cells, features)
    read: Tensor = reader(whole.view(grids, *shape, -1))
    return read


def plain_write(writer: ActionWriter, source: Read, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`grounded.ActionWriter.forward`, step by step over padded rows; the two output layers one after the other."""
    text_keys, world_keys, state = writer.begin(source.text, source.last, source.world)
    mask = padding_mask(source.lengths, source.text.shape[1]).to(source.text.dtype)
    previous = torch.cat([torch.zeros_like(actions[:, :1]), actions[:, :-1]], 1).t()
    given = actions.t() != PAD
    words = dropout(writer.embedding(previous), writer.rate, writer.training)
    outs, looks = [], []
    for word in words:
        out, weights, state = writer.step(word, (text_keys, world_keys), mask, state)
        outs.append(out)
        looks.append(weights)
    logits = writer.output(writer.read(torch.stack(outs)))
    shown = (torch.stack(looks) * given.unsqueeze(2)).sum(0) / given.sum(0).unsqueeze(1)
    return logits[given], actions.t()[given], shown
