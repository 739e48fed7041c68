"""The hand-written backward passes against a plain loop with automatic differentiation, in double precision."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch")

from recombine.models.plain import plain_attend, plain_recur  # noqa: E402
from recombine.models.recurrent import CELLS, Source, attend, recur  # noqa: E402


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def gradients(outputs: list[torch.Tensor], leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    torch.manual_seed(1)
    total = sum((out * torch.randn(out.shape, dtype=out.dtype)).sum() for out in outputs)
    return list(torch.autograd.grad(total, leaves))


def assert_same(left: list[torch.Tensor], right: list[torch.Tensor]) -> None:
    for a, b in zip(left, right, strict=True):
        assert float((a - b).detach().abs().max()) < 1e-12 * max(1.0, float(b.detach().abs().max()))


@pytest.mark.parametrize("kind", list(CELLS))
def test_recurrence_equals_the_plain_loop(kind: str) -> None:
    torch.manual_seed(0)
    gates = CELLS[kind].gates * 5
    leaves = [leaf(6, 2, 3, gates), leaf(2, 3, 5), leaf(2, 5, gates), leaf(2, gates)]
    memory = leaf(2, 3, 5) if CELLS[kind].has_memory else None
    pre, start, weight, bias = leaves
    leaves += [memory] if memory is not None else []
    fast, plain = recur(kind, pre, start, memory, weight, bias), plain_recur(kind, pre, start, memory, weight, bias)
    fast_out, plain_out = ([out for out in pair if out is not None] for pair in (fast, plain))
    assert_same(fast_out, plain_out)
    assert_same(gradients(fast_out, leaves), gradients(plain_out, leaves))


@pytest.mark.parametrize("kind", list(CELLS))
@pytest.mark.parametrize("depends", [True, False])
@pytest.mark.parametrize("context_first", [True, False])
def test_attention_equals_the_plain_loop(kind: str, depends: bool, context_first: bool) -> None:
    torch.manual_seed(0)
    units, gates = 5, CELLS[kind].gates * 5
    keys, values, start = leaf(3, 4, units), leaf(3, 4, 10), leaf(3, units)
    weights = (leaf(units, units), leaf(units), leaf(units, gates), leaf(gates), leaf(10, gates), leaf(gates))
    pre = leaf(6, 3, gates) if depends else None
    memory = leaf(3, units) if CELLS[kind].has_memory else None
    mask = torch.zeros(3, 4, dtype=torch.float64)
    mask[0, 2:] = -torch.inf
    leaves = [keys, values, start, *weights, *([pre] if pre is not None else []), *([memory] if memory is not None else [])]
    fast = attend(kind, Source(keys, values, mask), pre, 6, (start, memory), weights, context_first)
    plain = plain_attend(kind, keys, values, mask, pre, 6, (start, memory), weights)
    assert_same([fast.hidden, fast.contexts], list(plain))
    assert_same(gradients([fast.hidden, fast.contexts], leaves), gradients(list(plain), leaves))


def test_a_forward_pass_leaves_nothing_behind() -> None:
    units = 4
    weights = (leaf(units, units), leaf(units), leaf(units, 12), leaf(12), leaf(8, 12), leaf(12))

    def alive() -> int:
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    def run(context_first: bool) -> None:
        source = Source(leaf(2, 3, units), leaf(2, 3, 8), torch.zeros(2, 3, dtype=torch.float64))
        attend("gru", source, None, 3, (leaf(2, units), None), weights, context_first).hidden.sum().backward()

    for context_first in (True, False):
        run(context_first)
        gc.collect()
        gc.disable()
        try:
            before = alive()
            for _ in range(3):
                run(context_first)
            assert alive() == before
        finally:
            gc.enable()
