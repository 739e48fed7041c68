"""Convolutions over a grid that is mostly empty: computed only where something stands.

Several kernels of odd, rising sizes run side by side over the same input. For each offset the rows of the cells that hold something
are multiplied with that offset's weights and added to the cells they reach. The result is that of `nn.Conv2d` with `padding=k // 2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from recombine import kernels

KERNEL = "recombine.models.sparse_kernel"


class Reach(NamedTuple):
    """One offset of the largest kernel: its place there, the first output column of the kernels that have it, and who reaches whom."""

    row: int
    column: int
    first: int
    sources: Tensor  # (pairs,): numbers of present cells
    targets: Tensor  # (pairs,): numbers of cells in the whole batch


def reaches(cells: Tensor, shape: tuple[int, int], sizes: Sequence[int], channels: int) -> list[Reach]:
    """All offsets between cells. cells: their numbers in a batch of grids of this shape, counted through all grids."""
    rows, columns = shape
    number: NDArray[np.int64] = cells.numpy()
    row, column = number % (rows * columns) // columns, number % columns
    middle = sizes[-1] // 2
    found = []
    for i in range(sizes[-1]):
        in_rows = (row >= i - middle) & (row < rows + i - middle)
        for j in range(sizes[-1]):
            ring = max(abs(i - middle), abs(j - middle))
            sources = np.flatnonzero(in_rows & (column >= j - middle) & (column < columns + j - middle))
            if not len(sources):
                continue
            targets = number[sources] - (i - middle) * columns - (j - middle)
            first = channels * sum(size // 2 < ring for size in sizes)
            found.append(Reach(i, j, first, torch.from_numpy(sources), torch.from_numpy(targets)))
    return found


class _Rooms:
    """Room for the rows of one offset, used again for the next: fresh memory costs as much as the product that fills it."""

    def __init__(self, like: Tensor, steps: Sequence[Reach], *widths: int) -> None:
        most = max((len(step.sources) for step in steps), default=0)
        self.rooms = [like.new_empty(most * width) for width in widths]

    def __call__(self, which: int, rows: int, width: int) -> Tensor:
        return self.rooms[which][: rows * width].view(rows, width)


class _Convolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, frame: Tensor, bias: Tensor, steps: list[Reach], cells: int) -> Tensor:
        kernel = _kernel_for(features)
        out = bias.expand(cells, -1).contiguous()
        room = _Rooms(features, steps, *frame.shape[2:])
        for step in steps:
            weight = frame[step.row, step.column, :, step.first :]
            rows, (inputs, width) = len(step.sources), weight.shape
            source = torch.index_select(features, 0, step.sources, out=room(0, rows, inputs))
            told = torch.mm(source, weight, out=room(1, rows, width))
            if kernel is None:
                out[:, step.first :].index_add_(0, step.targets, told)
            else:
                kernel.add_rows(out.numpy(), step.targets.numpy(), step.first, told.numpy())
        ctx.steps = steps
        ctx.save_for_backward(features, frame)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> Any:
        features, frame = ctx.saved_tensors
        kernel = _kernel_for(features)
        d_out = d_out.contiguous()
        d_features, d_frame = torch.zeros_like(features), torch.zeros_like(frame)
        room = _Rooms(features, ctx.steps, *frame.shape[2:])
        for step in ctx.steps:
            weight = frame[step.row, step.column, :, step.first :]
            rows, (inputs, width) = len(step.sources), weight.shape
            asked = room(1, rows, width)
            if kernel is None:
                torch.index_select(d_out[:, step.first :], 0, step.targets, out=asked)
            else:
                kernel.take_rows(asked.numpy(), step.targets.numpy(), step.first, d_out.numpy())
            source = torch.index_select(features, 0, step.sources, out=room(0, rows, inputs))
            d_frame[step.row, step.column, :, step.first :] = source.t() @ asked
            told = torch.mm(asked, weight.t(), out=room(0, rows, inputs))
            if kernel is None:
                d_features.index_add_(0, step.sources, told)
            else:
                kernel.add_rows(d_features.numpy(), step.sources.numpy(), 0, told.numpy())
        return d_features, d_frame, d_out.sum(0), None, None


def _kernel_for(tensor: Tensor) -> Any:
    """The compiled kernels, where they can be used on numbers like these."""
    if tensor.device.type != "cpu" or tensor.dtype != torch.float32 or not kernels.has_numba():
        return None
    found = kernels.load(KERNEL, True)
    return found if kernels.is_loaded(KERNEL) else None


def convolve(layers: Sequence[nn.Conv2d], features: Tensor, cells: Tensor, shape: tuple[int, int], grids: int) -> Tensor:
    """All layers' outputs side by side, for every cell of every grid: (grids * cells, layers * channels).

    features: (present, inputs); cells: (present,), their places, counted through all grids; every other cell counts as zeros.
    """
    sizes = [layer.kernel_size[0] for layer in layers]
    assert sizes == sorted(sizes), "kernels must come in rising sizes"
    framed = []
    for layer, size in zip(layers, sizes, strict=True):
        edge = (sizes[-1] - size) // 2
        framed.append(nn.functional.pad(layer.weight, (edge, edge, edge, edge)))
    frame = torch.cat(framed).permute(2, 3, 1, 0).contiguous()
    biases = torch.cat([cast(Tensor, layer.bias) for layer in layers])
    steps = reaches(cells.cpu(), shape, sizes, layers[0].out_channels)
    steps = [step._replace(sources=step.sources.to(cells.device), targets=step.targets.to(cells.device)) for step in steps]
    total = grids * shape[0] * shape[1]
    return cast(Tensor, _Convolve.apply(features, frame, biases, steps, total))  # type: ignore[no-untyped-call]
