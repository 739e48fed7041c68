"""Where targets and agents may stand, as tables to draw from: targets uniform, the eight directions to them balanced.

Both at once is a transport problem (a corner target can be approached from three directions only), solved by scaling rows and
columns in turn. Sums are exact (`math.fsum`) and the weights are rounded to integers, so every machine draws the same.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from recombine.grid.codes import DIRECTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_MODES = 4
ROUNDS = 60
SCALE = 1 << 20


def direction_of(agent: tuple[int, int], target: tuple[int, int]) -> int:
    """The code of the direction in which the target lies from the agent."""
    down, right = target[0] - agent[0], target[1] - agent[1]
    name = ("n" if down < 0 else "s" if down > 0 else "") + ("w" if right < 0 else "e" if right > 0 else "")
    return DIRECTIONS.index(name)


def is_allowed(mode: int, grid: int, agent: tuple[int, int], target: tuple[int, int]) -> bool:
    """Whether the pair of cells fits a mode of `kernel.draw_aim`: anywhere; pushable (straight, zigzag); not next in line."""
    down, right = target[0] - agent[0], target[1] - agent[1]
    if mode == 0:
        return True
    if mode == 3:
        return abs(down) + abs(right) > 1
    is_along_row = down == 0 or (mode == 2 and abs(right) > abs(down))
    if is_along_row:
        return 0 <= target[1] + (1 if right > 0 else -1) < grid
    return 0 <= target[0] + (1 if down > 0 else -1) < grid


@functools.cache
def aim_tables(grid: int, allowed: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(targets[mode, cell], agents[mode, target cell, agent cell]): running sums of weights, directions limited to `allowed`."""
    import numpy as np

    cells = [(r, c) for r in range(grid) for c in range(grid)]
    targets = np.zeros((N_MODES, len(cells)), dtype=np.int64)
    agents = np.zeros((N_MODES, len(cells), len(cells)), dtype=np.int64)
    for mode in range(N_MODES):
        choices: list[dict[int, list[int]]] = []
        for target in cells:
            by_direction: dict[int, list[int]] = {}
            for a, agent in enumerate(cells):
                if agent == target or not is_allowed(mode, grid, agent, target):
                    continue
                direction = direction_of(agent, target)
                if direction in allowed:
                    by_direction.setdefault(direction, []).append(a)
            choices.append(by_direction)
        for t, row in enumerate(_balanced(choices)):
            targets[mode, t] = 1 if row else 0
            for direction, weight in row.items():
                for a in choices[t][direction]:
                    agents[mode, t, a] = max(1, round(weight * SCALE / len(choices[t][direction])))
    return np.cumsum(targets, axis=1), np.cumsum(agents, axis=2)


def _balanced(choices: list[dict[int, list[int]]]) -> list[dict[int, float]]:
    """Weights per target that sum to 1, and to as equal totals per direction as can be."""
    weights = [dict.fromkeys(sorted(row), 1.0) for row in choices]
    used = sorted({direction for row in weights for direction in row})
    rows = sum(1 for row in weights if row)
    for _ in range(ROUNDS):
        totals = {d: math.fsum(row[d] for row in weights if d in row) for d in used}
        for row in weights:
            for d in row:
                row[d] *= rows / len(used) / totals[d]
            total = math.fsum(row.values())
            for d in row:
                row[d] /= total
    return weights
