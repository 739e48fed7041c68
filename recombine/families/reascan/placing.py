"""Where targets and agents may stand, as tables to draw from: both uniform over the cells, the eight directions balanced.

All at once this is a transport problem (a corner target can be approached from three directions only), solved by scaling the
weights of pairs of cells to each of the three margins in turn. It is done in integers, so every machine draws the same.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from recombine.grid.codes import DIRECTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_MODES = 4
ROUNDS = 60
UNIT = 1 << 24
"""The weights of one target's agents sum to about this much."""


def pairs(grid: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(down, right) from agent to target, for [target cell, agent cell]."""
    import numpy as np

    row, column = np.divmod(np.arange(grid * grid, dtype=np.int64), grid)
    return row[:, None] - row[None, :], column[:, None] - column[None, :]


def direction_codes(grid: int) -> NDArray[np.int64]:
    """The code of the direction in which the target lies from the agent, for [target cell, agent cell]; -1 where they coincide."""
    import numpy as np

    down, right = pairs(grid)
    named = (("nw", "n", "ne"), ("w", "", "e"), ("sw", "s", "se"))
    table = np.array([[DIRECTIONS.index(name) if name else -1 for name in row] for row in named], dtype=np.int64)
    found: NDArray[np.int64] = table[np.sign(down) + 1, np.sign(right) + 1]
    return found


def allowed_pairs(mode: int, grid: int) -> NDArray[np.bool_]:
    """Which [target cell, agent cell] fit a mode of `kernel.draw_aim`: anywhere; pushable (straight, zigzag); not next in line."""
    import numpy as np

    down, right = pairs(grid)
    apart: NDArray[np.bool_] = (down != 0) | (right != 0)
    if mode == 0:
        return apart
    if mode == 3:
        nearby: NDArray[np.bool_] = np.abs(down) + np.abs(right) > 1
        return nearby
    row, column = np.divmod(np.arange(grid * grid, dtype=np.int64), grid)
    is_along_row = (down == 0) | ((np.abs(right) > np.abs(down)) & (mode == 2))
    next_row, next_column = row[:, None] + np.sign(down), column[:, None] + np.sign(right)
    has_room: NDArray[np.bool_] = np.where(
        is_along_row, (next_column >= 0) & (next_column < grid), (next_row >= 0) & (next_row < grid)
    )
    return apart & has_room


@functools.cache
def aim_tables(grid: int, allowed: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(targets[mode, cell], agents[mode, target cell, agent cell]): running sums of weights, directions limited to `allowed`."""
    import numpy as np

    directions = direction_codes(grid)
    is_wanted = np.isin(directions, allowed)
    weights = np.stack([balanced(allowed_pairs(mode, grid) & is_wanted, directions) for mode in range(N_MODES)])
    targets = (weights.sum(axis=2) > 0).astype(np.int64)
    return np.cumsum(targets, axis=1), np.cumsum(weights, axis=2)


def balanced(is_allowed: NDArray[np.bool_], directions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Integer weights of the allowed pairs: equal sums for the targets, and as equal as can be for agents and directions."""
    import numpy as np

    weights = np.where(is_allowed, UNIT // 64, 0).astype(np.int64)
    total = UNIT * int(is_allowed.any(axis=1).sum())
    margins = (
        np.arange(len(weights))[None, :] + 0 * directions,
        np.maximum(directions, 0),
        np.arange(len(weights))[:, None] + 0 * directions,
    )
    for _ in range(ROUNDS):
        for groups in margins:
            sums = np.bincount(groups.reshape(-1), weights=weights.reshape(-1)).astype(np.int64)
            goal = total // max(1, int((sums > 0).sum()))
            scaled = weights * goal // np.maximum(sums, 1)[groups]
            weights = np.where(is_allowed, np.maximum(scaled, 1), 0)
    return weights
