"""Recurrences with a backward pass written by hand: the fast path of the sequence-to-sequence models.

Automatic differentiation of a step-by-step loop spends its time in small graph nodes, and multiplies a weight gradient
at every step. Here the whole recurrence is one node: gate pre-activations come in for all steps at once, the loop holds
only what truly depends on the previous state, the backward loop fills one buffer of gate gradients, and every weight
gradient is a single product afterwards. The values are those of the plain loop (a test compares them in double).

Two inner identities keep the loops cheap: tanh(x) = 2 sigmoid(2x) - 1 (sigmoid is several times faster on a CPU), and a
softmax over scores v·tanh(k + q) does not see the constant -sum(v), so the attention stores the sigmoid alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def tanh_(x: Tensor) -> Tensor:
    """tanh in place, by way of the sigmoid."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)


Carried = tuple[Tensor | None, Tensor | None]
"""The parts of a previous state's gradient, and of its memory's, that do not go through the recurrent product."""


class Cell(ABC):
    """One recurrent cell, split into what happens at a step and what can be done for all steps at once.

    Gate orders are PyTorch's (GRU: reset, update, new; LSTM: input, forget, cell, output). `states` has one more step
    than the inputs: `states[0]` is the start. A cell instance holds the buffers of one forward pass; never share it.
    """

    gates = 1
    has_memory = False

    def __init__(self, hidden: Tensor, memory: Tensor | None) -> None:
        self.hidden = hidden
        self.memory = memory
        self.units = hidden.shape[-1]

    @abstractmethod
    def step(self, t: int, pre: Tensor, recurrent: Tensor) -> None:
        """Write state t + 1 from the gate pre-activations of the input and of the previous state."""

    @abstractmethod
    def prepare(self) -> None:
        """Compute, for all steps at once, the factors that `back` multiplies with."""

    @abstractmethod
    def back(self, t: int, dh: Tensor, dc: Tensor | None, d_pre: Tensor, d_recurrent: Tensor) -> Carried:
        """Fill the gradients of both pre-activations; return the direct parts of the previous state's gradients."""


class Simple(Cell):
    """The Elman network: h' = tanh(pre + recurrent)."""

    def step(self, t: int, pre: Tensor, recurrent: Tensor) -> None:
        tanh_(torch.add(pre, recurrent, out=self.hidden[t + 1]))

    def prepare(self) -> None:
        after = self.hidden[1:]
        self.slope = torch.addcmul(torch.ones((), dtype=after.dtype, device=after.device), after, after, value=-1)

    def back(self, t: int, dh: Tensor, dc: Tensor | None, d_pre: Tensor, d_recurrent: Tensor) -> Carried:  # noqa: ARG002
        torch.mul(dh, self.slope[t], out=d_pre)
        d_recurrent.copy_(d_pre)
        return None, None


class Gru(Cell):
    """The gated recurrent unit: n = tanh(pre_n + r * recurrent_n), h' = (1 - z) n + z h."""

    gates = 3

    def __init__(self, hidden: Tensor, memory: Tensor | None) -> None:
        super().__init__(hidden, memory)
        steps, *rest = hidden[1:].shape
        self.reset_update = hidden.new_empty(steps, *rest[:-1], 2 * self.units)
        self.new = hidden.new_empty(steps, *rest)
        self.recurrent_new = hidden.new_empty(steps, *rest)

    def step(self, t: int, pre: Tensor, recurrent: Tensor) -> None:
        n = self.units
        both = torch.add(pre[..., : 2 * n], recurrent[..., : 2 * n], out=self.reset_update[t]).sigmoid_()
        inner = self.recurrent_new[t].copy_(recurrent[..., 2 * n :])
        new = tanh_(torch.addcmul(pre[..., 2 * n :], both[..., :n], inner, out=self.new[t]))
        torch.lerp(new, self.hidden[t], both[..., n:], out=self.hidden[t + 1])

    def prepare(self) -> None:
        n = self.units
        reset, update = self.reset_update[..., :n], self.reset_update[..., n:]
        keep = 1 - update
        self.by_update = (self.hidden[:-1] - self.new).mul_(update).mul_(keep)
        self.by_new = keep.mul_(1 - self.new * self.new)
        self.by_reset = (1 - reset).mul_(reset).mul_(self.recurrent_new)

    def back(self, t: int, dh: Tensor, dc: Tensor | None, d_pre: Tensor, d_recurrent: Tensor) -> Carried:  # noqa: ARG002
        n = self.units
        d_new = torch.mul(dh, self.by_new[t], out=d_pre[..., 2 * n :])
        torch.mul(dh, self.by_update[t], out=d_pre[..., n : 2 * n])
        torch.mul(d_new, self.by_reset[t], out=d_pre[..., :n])
        d_recurrent[..., : 2 * n].copy_(d_pre[..., : 2 * n])
        torch.mul(d_new, self.reset_update[t][..., :n], out=d_recurrent[..., 2 * n :])
        return dh * self.reset_update[t][..., n:], None


class Lstm(Cell):
    """The long short-term memory: c' = f c + i g, h' = o tanh(c')."""

    gates = 4
    has_memory = True

    def __init__(self, hidden: Tensor, memory: Tensor | None) -> None:
        super().__init__(hidden, memory)
        steps, *rest = hidden[1:].shape
        self.activations = hidden.new_empty(steps, *rest[:-1], 4 * self.units)
        self.shown = hidden.new_empty(steps, *rest)

    def step(self, t: int, pre: Tensor, recurrent: Tensor) -> None:
        assert self.memory is not None
        n = self.units
        act = torch.add(pre, recurrent, out=self.activations[t])
        act[..., : 2 * n].sigmoid_()
        tanh_(act[..., 2 * n : 3 * n])
        act[..., 3 * n :].sigmoid_()
        after = torch.mul(self.memory[t], act[..., n : 2 * n], out=self.memory[t + 1])
        after.addcmul_(act[..., :n], act[..., 2 * n : 3 * n])
        shown = tanh_(self.shown[t].copy_(after))
        torch.mul(shown, act[..., 3 * n :], out=self.hidden[t + 1])

    def prepare(self) -> None:
        assert self.memory is not None
        n = self.units
        i, f, g, o = (self.activations[..., k * n : (k + 1) * n] for k in range(4))
        self.by_memory = (1 - self.shown * self.shown).mul_(o)
        self.by_input = (1 - i).mul_(i).mul_(g)
        self.by_forget = (1 - f).mul_(f).mul_(self.memory[:-1])
        self.by_cell = (1 - g * g).mul_(i)
        self.by_output = (1 - o).mul_(o).mul_(self.shown)

    def back(self, t: int, dh: Tensor, dc: Tensor | None, d_pre: Tensor, d_recurrent: Tensor) -> Carried:
        n = self.units
        d_memory = dh * self.by_memory[t]
        if dc is not None:
            d_memory += dc
        torch.mul(d_memory, self.by_input[t], out=d_pre[..., :n])
        torch.mul(d_memory, self.by_forget[t], out=d_pre[..., n : 2 * n])
        torch.mul(d_memory, self.by_cell[t], out=d_pre[..., 2 * n : 3 * n])
        torch.mul(dh, self.by_output[t], out=d_pre[..., 3 * n :])
        d_recurrent.copy_(d_pre)
        return None, d_memory.mul_(self.activations[t][..., n : 2 * n])


CELLS: dict[str, type[Cell]] = {"rnn": Simple, "gru": Gru, "lstm": Lstm}
"""The recurrent cells of the paper, by the names used in configurations."""


def _states(steps: int, start: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Buffers for all states, the first filled in."""
    hidden = start.new_empty(steps + 1, *start.shape)
    hidden[0].copy_(start)
    if memory is None:
        return hidden, None
    kept = torch.empty_like(hidden)
    kept[0].copy_(memory)
    return hidden, kept


class _Recur(torch.autograd.Function):
    """D independent recurrences side by side: (steps, D, batch, units)."""

    @staticmethod
    def forward(ctx: Any, kind: str, pre: Tensor, start: Tensor, memory: Tensor | None, weight: Tensor, bias: Tensor) -> Any:
        steps = pre.shape[0]
        hidden, kept = _states(steps, start, memory)
        cell = CELLS[kind](hidden, kept)
        recurrent = pre.new_empty(pre.shape[1:])
        columns = bias.unsqueeze(1)
        for t in range(steps):
            torch.baddbmm(columns, hidden[t], weight, out=recurrent)
            cell.step(t, pre[t], recurrent)
        ctx.cell = cell
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(weight)
        return hidden[1:], None if kept is None else kept[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        (weight,) = ctx.saved_tensors
        cell: Cell = ctx.cell
        d_hidden, d_memory = grads[0], grads[1]
        cell.prepare()
        steps = cell.hidden.shape[0] - 1
        d_pre = cell.hidden.new_empty(steps, *cell.hidden.shape[1:-1], cell.gates * cell.units)
        d_recurrent = torch.empty_like(d_pre)
        dh = torch.zeros_like(cell.hidden[0])
        dc = torch.zeros_like(dh) if cell.has_memory else None
        back = weight.transpose(1, 2)
        for t in reversed(range(steps)):
            if d_hidden is not None:
                dh += d_hidden[t]
            if dc is not None and d_memory is not None:
                dc += d_memory[t]
            direct, dc = cell.back(t, dh, dc, d_pre[t], d_recurrent[t])
            if direct is None:
                torch.bmm(d_recurrent[t], back, out=dh)
            else:
                torch.baddbmm(direct, d_recurrent[t], back, out=dh)
        d_weight = _product_over_steps(cell.hidden[:-1], d_recurrent)
        return None, d_pre, dh, dc, d_weight, d_recurrent.sum(dim=(0, 2))


def _product_over_steps(left: Tensor, right: Tensor) -> Tensor:
    """Sum over steps and rows of left^T right, for each of the D recurrences."""
    return torch.stack([left[:, d].flatten(0, 1).t() @ right[:, d].flatten(0, 1) for d in range(left.shape[1])])


def recur(
    kind: str, pre: Tensor, start: Tensor, memory: Tensor | None, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Hidden states (and memories, for an LSTM) after each step of D recurrences run side by side.

    pre: (steps, D, batch, gates * units), the input's part of the gates; start, memory: (D, batch, units);
    weight: (D, units, gates * units), input-major; bias: (D, gates * units).
    """
    return cast(tuple[Tensor, Tensor | None], _Recur.apply(kind, pre, start, memory, weight, bias))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Attended:
    """What an attending decoder gives back: states and contexts for all steps, attention weights, an LSTM's last memory."""

    hidden: Tensor
    contexts: Tensor
    weights: Tensor
    memory: Tensor | None


class _Attend(torch.autograd.Function):
    """A decoder that looks at the source before each step; see `attend` for shapes."""

    @staticmethod
    def forward(ctx: Any, kind: str, pre: Tensor | None, steps: int, *given: Any) -> Any:
        keys, values, to_gates, mask, start, memory, weight, bias, scorer = (
            given  # flat, because autograd looks for tensors here
        )
        batch, places, units = keys.shape
        hidden, kept = _states(steps, start, memory)
        cell = CELLS[kind](hidden, kept)
        looks = keys.new_empty(steps, batch, places, units)
        weights = keys.new_empty(steps, batch, places)
        gathered = keys.new_empty(steps, batch, values.shape[-1])
        joint = keys.new_empty(batch, weight.shape[1])
        query, recurrent = joint[:, None, :units], joint[:, units:]
        gates = keys.new_empty(batch, cell.gates * units)
        for t in range(steps):
            torch.addmm(bias, hidden[t], weight, out=joint)
            look = torch.add(keys, query, out=looks[t]).sigmoid_()
            scores = torch.mv(look.view(-1, units), scorer).view(batch, places).add_(mask)
            torch.softmax(scores, 1, out=weights[t])
            torch.bmm(weights[t].unsqueeze(1), values, out=gathered[t].unsqueeze(1))
            if to_gates is not None:
                torch.mm(gathered[t], to_gates, out=gates)
                told = gates if pre is None else gates.add_(pre[t])
            else:
                told = gathered[t] if pre is None else torch.add(gathered[t], pre[t], out=gates)
            cell.step(t, told, recurrent)
        ctx.cell, ctx.looks, ctx.has_pre = cell, looks, pre is not None
        ctx.save_for_backward(values, to_gates, weight, scorer, weights, gathered)
        ctx.set_materialize_grads(False)
        last = None if kept is None else kept[-1].clone()
        ctx.mark_non_differentiable(*([] if last is None else [last]), *([] if to_gates is None else [weights]))
        return hidden[1:], gathered if to_gates is not None else None, weights, last

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_hidden: Tensor | None, d_gathered: Tensor | None, d_weights: Tensor | None, _: Tensor | None
    ) -> Any:
        values, to_gates, weight, scorer, weights, gathered = ctx.saved_tensors
        cell: Cell = ctx.cell
        cell.prepare()
        looks: Tensor = ctx.looks
        steps, batch, places, units = looks.shape
        d_pre = looks.new_empty(steps, batch, cell.gates * units)
        d_joint = looks.new_empty(steps, batch, weight.shape[1])
        d_context = d_pre if to_gates is None else torch.empty_like(gathered)
        d_scores = torch.empty_like(weights)
        d_keys = looks.new_zeros(batch, places, units)
        slope = torch.empty_like(d_keys)
        dh = torch.zeros_like(cell.hidden[0])
        dc = torch.zeros_like(dh) if cell.has_memory else None
        back, back_gates = weight.t(), None if to_gates is None else to_gates.t()
        across = values.transpose(1, 2)  # a row times a matrix: ten times faster here than a matrix times a column
        for t in reversed(range(steps)):
            if d_hidden is not None:
                dh += d_hidden[t]
            direct, dc = cell.back(t, dh, dc, d_pre[t], d_joint[t, :, units:])
            if back_gates is not None:
                if d_gathered is None:
                    torch.mm(d_pre[t], back_gates, out=d_context[t])
                else:
                    torch.addmm(d_gathered[t], d_pre[t], back_gates, out=d_context[t])
            inner = torch.bmm(d_context[t].unsqueeze(1), across).squeeze(1)
            if d_weights is not None and to_gates is None:
                inner += d_weights[t]
            inner *= weights[t]
            torch.addcmul(inner, weights[t], inner.sum(1, keepdim=True), value=-1, out=d_scores[t])
            look = looks[t]
            torch.addcmul(look, look, look, value=-1, out=slope)
            d_keys.addcmul_(d_scores[t].unsqueeze(2), slope)
            d_query = torch.bmm(d_scores[t].unsqueeze(1), slope).squeeze(1)
            torch.mul(d_query, scorer, out=d_joint[t, :, :units])
            if direct is None:
                torch.mm(d_joint[t], back, out=dh)
            else:
                torch.addmm(direct, d_joint[t], back, out=dh)
        flat = d_joint.flatten(0, 1)
        d_weight = cell.hidden[:-1].flatten(0, 1).t() @ flat
        d_values = torch.bmm(weights.permute(1, 2, 0), d_context.transpose(0, 1))
        d_to_gates = None if to_gates is None else gathered.flatten(0, 1).t() @ d_pre.flatten(0, 1)
        d_scorer = looks.view(-1, units).t() @ d_scores.view(-1)
        return (
            None, d_pre if ctx.has_pre else None, None, d_keys.mul_(scorer), d_values, d_to_gates, None,
            dh, dc, d_weight, flat.sum(0), d_scorer,
        )  # fmt: skip


@dataclass(frozen=True)
class Source:
    """The encoded source as an attending decoder sees it: keys (batch, places, units), values, additive mask (0 or -inf)."""

    keys: Tensor
    values: Tensor
    mask: Tensor


def attend(
    kind: str,
    source: Source,
    pre: Tensor | None,
    steps: int,
    states: Sequence[Tensor | None],
    weights: Sequence[Tensor],
    context_first: bool | None = None,
) -> Attended:
    """Run a Bahdanau decoder over known inputs (teacher forcing): the fast path of `+Attn`.

    pre: (steps, batch, gates * units) or None where the previous word is not connected; states: start and memory;
    weights: query (units, units), scorer (units,), recurrent (units, gates * units) and its bias, context-to-gates
    (values, gates * units) and its bias; all input-major.

    The context reaches the gates as weights·values·W. The product values·W (once per source place) or (weights·values)·W
    (once per step) can come first; the shorter side pays less. `context_first` None chooses by lengths.
    """
    query, scorer, recurrent, bias, to_gates, gate_bias = weights
    start, memory = states
    assert start is not None
    batch, places, units = source.keys.shape
    if context_first is None:
        context_first = steps <= places
    joint = torch.cat([query * 2, recurrent], 1)
    joint_bias = torch.cat([bias.new_zeros(units), bias])
    if context_first:
        if pre is None:
            pre = gate_bias.expand(steps, batch, -1)
            inputs: Tensor | None = pre
        else:
            inputs = pre + gate_bias
        values, after = source.values, to_gates
    else:
        values = torch.addmm(gate_bias, source.values.flatten(0, 1), to_gates).view(batch, places, -1)
        inputs, after = pre, None
    hidden, gathered, looked, last = cast(
        tuple[Tensor, Tensor | None, Tensor, Tensor | None],
        _Attend.apply(  # type: ignore[no-untyped-call]
            kind, inputs, steps, source.keys * 2, values, after, source.mask, start, memory, joint, joint_bias, scorer * 2
        ),
    )
    if gathered is None:
        gathered = torch.bmm(looked.transpose(0, 1), source.values).transpose(0, 1)
    return Attended(hidden, gathered, looked, last)
