"""The recurrence of the action writer with a backward pass written by hand: two attentions and an LSTM step for each action.

Rows come sorted by their number of actions, the longest first, and all steps lie end to end without padding: the rows still
running at step t are the first `counts[t]` of the batch. The attention and the LSTM's pointwise part are compiled kernels where
Numba is there and the numbers are float32 on a CPU; otherwise PyTorch does the same. Everything else is a product of matrices:
once per step where it depends on the state, once for all steps where it does not. `plain.plain_write` is the same, step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from recombine import kernels

KERNEL = "recombine.models.writer_kernel"


class Keys(NamedTuple):
    """One side that is attended to: keys (batch, places, units), which are also the values, and how many places each row has."""

    keys: Tensor
    places: Tensor


class Weights(NamedTuple):
    """The writer's weights, input-major: from (units) to what the name says."""

    hidden_to_text: Tensor  # (units, units): the query over words
    hidden_to_query: Tensor  # (units, units): what asks over cells, from the state
    read_to_query: Tensor  # (units, units): the same, from what was read
    query_bias: Tensor  # (units,)
    query_to_world: Tensor  # (units, units): the query over cells
    hidden_to_gates: Tensor  # (units, 4 units)
    read_to_gates: Tensor  # (units, 4 units)
    seen_to_gates: Tensor  # (units, 4 units)
    text_scorer: Tensor  # (units,)
    world_scorer: Tensor  # (units,)


class Written(NamedTuple):
    """All steps end to end: states, contexts of words and of cells; and each row's weights over cells, averaged over its steps."""

    hidden: Tensor
    read: Tensor
    seen: Tensor
    looks: Tensor


class Steps(Protocol):
    """The parts of a step that are not products of matrices. Names and shapes are those of `writer_kernel`."""

    def look(self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, contexts: Tensor) -> None:
        """One attention step."""

    def look_back(
        self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, asked: tuple[Tensor, Tensor], out: Sequence[Tensor]
    ) -> None:
        """Its gradients; `asked`: those of contexts and weights; `out`: those of keys, queries and scorer."""

    def lstm_step(self, gates: Tensor, before: Tensor, after: Tensor, hidden: Tensor) -> None:
        """One LSTM step."""

    def lstm_back(
        self, gates: Tensor, before: Tensor, after: Tensor, d_hidden: Tensor, d_memory: Tensor, d_gates: Tensor
    ) -> None:
        """Its gradients."""


class CompiledSteps:
    """The steps by compiled kernels."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def look(self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, contexts: Tensor) -> None:
        self.kernel.look(*_arrays(side.keys, side.places, queries, scorer, weights, contexts))

    def look_back(
        self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, asked: tuple[Tensor, Tensor], out: Sequence[Tensor]
    ) -> None:
        self.kernel.look_back(*_arrays(side.keys, side.places, queries, scorer, weights, *asked, *out))

    def lstm_step(self, gates: Tensor, before: Tensor, after: Tensor, hidden: Tensor) -> None:
        self.kernel.lstm_step(*_arrays(gates, before, after, hidden))

    def lstm_back(
        self, gates: Tensor, before: Tensor, after: Tensor, d_hidden: Tensor, d_memory: Tensor, d_gates: Tensor
    ) -> None:
        self.kernel.lstm_back(*_arrays(gates, before, after, d_hidden, d_memory, d_gates))


def _arrays(*tensors: Tensor) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]


class TorchSteps:
    """The same steps by PyTorch, for other devices and types of numbers, and where Numba is not installed."""

    def look(self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, contexts: Tensor) -> None:
        keys = side.keys[: len(queries)]
        scores = torch.tanh(keys + queries.unsqueeze(1)) @ scorer
        outside = torch.arange(keys.shape[1], device=keys.device) >= side.places[: len(queries)].unsqueeze(1)
        weights.copy_(torch.softmax(scores.masked_fill_(outside, -torch.inf), 1))
        contexts.copy_(torch.bmm(weights.unsqueeze(1), keys).squeeze(1))

    def look_back(
        self, side: Keys, queries: Tensor, scorer: Tensor, weights: Tensor, asked: tuple[Tensor, Tensor], out: Sequence[Tensor]
    ) -> None:
        d_contexts, d_weights = asked
        d_keys, d_queries, d_scorer = out
        rows = len(queries)
        keys = side.keys[:rows]
        wanted = torch.bmm(d_contexts.unsqueeze(1), keys.transpose(1, 2)).squeeze(1).add_(d_weights[:rows]).mul_(weights)
        d_scores = wanted - weights * wanted.sum(1, keepdim=True)
        told = torch.tanh(keys + queries.unsqueeze(1))
        d_scorer += (d_scores.unsqueeze(2) * told).sum((0, 1))
        through = (1 - told * told).mul_(d_scores.unsqueeze(2)).mul_(scorer)
        d_queries.copy_(through.sum(1))
        d_keys[:rows] += through.addcmul_(weights.unsqueeze(2), d_contexts.unsqueeze(1))

    def lstm_step(self, gates: Tensor, before: Tensor, after: Tensor, hidden: Tensor) -> None:
        i, f, g, o = gates.chunk(4, 1)
        for part in (i, f, o):
            part.sigmoid_()
        g.tanh_()
        torch.addcmul(i * g, f, before[: len(gates)], out=after)
        torch.mul(o, torch.tanh(after), out=hidden)

    def lstm_back(
        self, gates: Tensor, before: Tensor, after: Tensor, d_hidden: Tensor, d_memory: Tensor, d_gates: Tensor
    ) -> None:
        i, f, g, o = gates.chunk(4, 1)
        shown = torch.tanh(after)
        d_memory.addcmul_(d_hidden * o, 1 - shown * shown)
        parts = (d_memory * g * i * (1 - i), d_memory * before[: len(gates)] * f * (1 - f))
        torch.cat([*parts, d_memory * i * (1 - g * g), d_hidden * shown * o * (1 - o)], 1, out=d_gates)
        d_memory.mul_(f)


def steps_for(tensor: Tensor) -> Steps:
    """What runs the steps on numbers like these."""
    if tensor.device.type == "cpu" and tensor.dtype == torch.float32 and kernels.has_numba():
        kernel = kernels.load(KERNEL, True)
        if kernels.is_loaded(KERNEL):  # not inside a block that forbids compiling
            return CompiledSteps(kernel)
    return TorchSteps()


class _Kept(NamedTuple):
    """What the forward pass leaves for the backward pass, all steps end to end."""

    before: Tensor  # (steps, units): the state before each step
    memory_before: Tensor
    memory: Tensor
    gates: Tensor  # (steps, 4 units): activations
    text_queries: Tensor
    text_weights: Tensor
    asked: Tensor  # (steps, units): what asks over cells
    world_queries: Tensor
    world_weights: Tensor


class _Write(torch.autograd.Function):
    """See `write` for shapes."""

    @staticmethod
    def forward(ctx: Any, counts: list[int], pre: Tensor, start: Tensor, *given: Tensor) -> Any:
        text, world, w = Keys(*given[:2]), Keys(*given[2:4]), Weights(*given[4:])
        run = steps_for(pre)
        total, units = len(pre), start.shape[1]

        def room(width: int) -> Tensor:
            return pre.new_empty(total, width)

        places = (text.keys.shape[1], world.keys.shape[1])
        kept = _Kept(
            room(units), room(units), room(units), pre.clone(), room(units), room(places[0]), room(units), room(units), room(places[1])
        )  # fmt: skip
        hidden, read, seen = room(units), room(units), room(units)
        state, memory = start, start
        for end, count in zip(accumulate(counts), counts, strict=True):
            part = slice(end - count, end)
            before = kept.before[part].copy_(state[:count])
            kept.memory_before[part].copy_(memory[:count])
            query = torch.mm(before, w.hidden_to_text, out=kept.text_queries[part])
            run.look(text, query, w.text_scorer, kept.text_weights[part], read[part])
            asked = torch.addmm(w.query_bias, before, w.hidden_to_query, out=kept.asked[part])
            asked.addmm_(read[part], w.read_to_query).tanh_()
            query = torch.mm(asked, w.query_to_world, out=kept.world_queries[part])
            run.look(world, query, w.world_scorer, kept.world_weights[part], seen[part])
            gates = kept.gates[part].addmm_(before, w.hidden_to_gates)
            gates.addmm_(read[part], w.read_to_gates).addmm_(seen[part], w.seen_to_gates)
            run.lstm_step(gates, kept.memory_before[part], kept.memory[part], hidden[part])
            state, memory = hidden[part], kept.memory[part]
        own = _own_steps(counts, pre)
        looks = _by_row(kept.world_weights, counts).div_(own)
        ctx.counts, ctx.run, ctx.kept = counts, run, kept
        ctx.save_for_backward(read, seen, own, *given)
        ctx.set_materialize_grads(False)
        return hidden, read, seen, looks

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        read, seen, own, *given = ctx.saved_tensors
        text, world, w = Keys(*given[:2]), Keys(*given[2:4]), Weights(*given[4:])
        counts: list[int] = ctx.counts
        run: Steps = ctx.run
        kept: _Kept = ctx.kept
        d_hidden, d_read, d_seen = (torch.zeros_like(read) if grad is None else grad.contiguous() for grad in grads[:3])
        d_text, d_world = torch.zeros_like(text.keys), torch.zeros_like(world.keys)
        no_looks = text.keys.new_zeros(text.keys.shape[:2])
        d_looks = world.keys.new_zeros(world.keys.shape[:2]) if grads[3] is None else grads[3] / own
        d_gates, d_asked = torch.empty_like(kept.gates), torch.empty_like(read)
        d_text_queries, d_world_queries = torch.empty_like(read), torch.empty_like(read)
        d_scorers = torch.zeros_like(w.text_scorer), torch.zeros_like(w.world_scorer)
        dh, dc = read.new_zeros(counts[0], read.shape[1]), read.new_zeros(counts[0], read.shape[1])
        back = Weights(*(weight.t() if weight.dim() == 2 else weight for weight in w))
        ends = list(accumulate(counts))
        for end, count in zip(reversed(ends), reversed(counts), strict=True):
            part = slice(end - count, end)
            state = dh[:count].add_(d_hidden[part])
            run.lstm_back(kept.gates[part], kept.memory_before[part], kept.memory[part], state, dc[:count], d_gates[part])
            context = torch.addmm(d_seen[part], d_gates[part], back.seen_to_gates)
            out = (d_world, d_world_queries[part], d_scorers[1])
            run.look_back(world, kept.world_queries[part], w.world_scorer, kept.world_weights[part], (context, d_looks), out)
            asked = torch.mm(d_world_queries[part], back.query_to_world, out=d_asked[part])
            asked.addcmul_(asked, kept.asked[part].square(), value=-1)
            context = torch.addmm(d_read[part], d_gates[part], back.read_to_gates).addmm_(asked, back.read_to_query)
            out = (d_text, d_text_queries[part], d_scorers[0])
            run.look_back(text, kept.text_queries[part], w.text_scorer, kept.text_weights[part], (context, no_looks), out)
            torch.mm(d_gates[part], back.hidden_to_gates, out=state)
            state.addmm_(asked, back.hidden_to_query).addmm_(d_text_queries[part], back.hidden_to_text)
        before = kept.before.t()
        d_weights = Weights(
            before @ d_text_queries, before @ d_asked, read.t() @ d_asked, d_asked.sum(0), kept.asked.t() @ d_world_queries,
            before @ d_gates, read.t() @ d_gates, seen.t() @ d_gates, *d_scorers,
        )  # fmt: skip
        return None, d_gates, dh.add_(dc), d_text, None, d_world, None, *d_weights


def _own_steps(counts: Sequence[int], like: Tensor) -> Tensor:
    """How many steps each row has: (batch, 1)."""
    running = torch.tensor(counts, device=like.device).unsqueeze(1) > torch.arange(counts[0], device=like.device)
    return running.sum(0).to(like.dtype).unsqueeze(1)


def _by_row(packed: Tensor, counts: Sequence[int]) -> Tensor:
    """The sum over steps of each row: (batch, width)."""
    out = packed.new_zeros(counts[0], packed.shape[1])
    for end, count in zip(accumulate(counts), counts, strict=True):
        out[:count] += packed[end - count : end]
    return out


def write(counts: Sequence[int], pre: Tensor, start: Tensor, text: Keys, world: Keys, weights: Weights) -> Written:
    """Run the writer over known actions.

    counts: rows still running at each step, none more than before; pre: (sum of counts, 4 units), the previous action's part of
    the gates with all biases, step after step; start: (batch, units), the first state and memory.
    """
    flat = (text.keys.contiguous(), text.places, world.keys.contiguous(), world.places, *weights)
    return Written(*cast(tuple[Tensor, ...], _Write.apply(list(counts), pre, start, *flat)))  # type: ignore[no-untyped-call]
