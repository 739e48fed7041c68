"""Which actions are valid now: flat over all actions, or in factors where there are too many."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine import kernels
from recombine.errors import UsageError
from recombine.families.lilgym import render
from recombine.families.lilgym.play import geometry
from recombine.families.lilgym.play.edits import GRIDS, RuleBook
from recombine.families.lilgym.play.episodes import KERNEL_NAME, States, tables
from recombine.families.lilgym.scene import BOX_SIDE, SIZES, Flags, Scene


def _kernel(states: States) -> Any:
    return kernels.load(KERNEL_NAME, states.compiled)


def masks(states: States) -> Flags:
    """Which actions are valid now, (n, actions); the native grid has too many and offers `factored_masks` only."""
    if states.setting.grid == "native" and states.setting.kind == "scatter":
        raise UsageError(
            "the native grid has 1,064,001 actions: use factored_masks (action type, placements to add, places to remove)."
        )
    flat = np.zeros((len(states), states.setting.action_count), np.bool_)
    if states.setting.kind == "tower":
        _kernel(states).mask_tower(states.items, states.counts, flat)
        return flat
    if states.compiled:
        _kernel(states).mask_actions(states.rule, tables(), states.items, states.counts, flat)
        return flat
    columns, rows, _ = GRIDS[states.setting.grid]
    add, remove = placements(states)
    flat[:, 0] = True
    by_cell = add.transpose(0, 2, 3, 1).reshape(len(states), columns * rows, 3, 1, 3)
    by_color = np.broadcast_to(by_cell, (len(states), columns * rows, 3, 3, 3))
    flat[:, 1 : 1 + 27 * columns * rows] = by_color.reshape(len(states), -1)
    flat[:, 1 + 27 * columns * rows :] = remove.reshape(len(states), -1)
    return flat


def factored_masks(states: States) -> dict[str, Flags]:
    """SCATTER's validity: `type` (n, STOP/ADD/REMOVE), `add` (n, shape, size, column, row), `remove` (n, column, row)."""
    if states.setting.kind != "scatter":
        raise UsageError("TOWER has 13 actions and a flat mask; factored masks are for SCATTER.")
    add, remove = placements(states)
    n, (columns, rows, _) = len(states), GRIDS[states.setting.grid]
    kinds = np.stack([np.ones(n, np.bool_), add.any((1, 2, 3)), remove.any((1, 2))], axis=1)
    return {"type": kinds, "add": add.reshape(n, 3, 3, columns, rows), "remove": remove}


def placements(states: States) -> tuple[Flags, Flags]:
    """add[n, kind, column, row] and remove[n, column, row]: where items fit, and where one can be taken."""
    columns, rows, cell = GRIDS[states.setting.grid]
    n = len(states)
    add = np.zeros((n, geometry.KIND_COUNT, columns, rows), np.bool_)
    remove = np.zeros((n, columns, rows), np.bool_)
    if states.compiled:
        _kernel(states).mask_many(states.rule, tables(), states.items, states.counts, add, remove)
        return add, remove
    for i, scene in enumerate(states.scenes()):
        free, covered = _stamped(scene, states.setting.rules)
        add[i] = free[:, ::cell, ::cell]
        remove[i] = covered.reshape(columns, cell, rows, cell).any((1, 3))
    return add, remove


def _stamped(scene: Scene, rules: RuleBook) -> tuple[Flags, Flags]:
    """For every canvas pixel: where a corner of each kind may be put, and which pixels are covered by an item of their box."""
    side, reach = BOX_SIDE, geometry.REACH
    bit = geometry.MEETS if rules == "code" else geometry.MEETS_EXACTLY
    contacts, areas = tables().contacts, tables().areas
    free = np.zeros((geometry.KIND_COUNT, render.WIDTH, render.HEIGHT), np.bool_)
    covered = np.zeros((render.WIDTH, render.HEIGHT), np.bool_)
    for box, items in enumerate(scene.boxes):
        left = render.STRIDE * box
        for kind in range(geometry.KIND_COUNT):
            free[kind, left : left + side - SIZES[kind % 3] + 1, : side - SIZES[kind % 3] + 1] = True
        for item in items:
            kind = geometry.kind_of(item.shape, item.size)
            meets = (contacts[:, kind, ::-1, ::-1] & bit != 0).transpose(0, 2, 1)
            x0, x1, y0, y1 = (max(0, item.x - reach), min(side, item.x + reach + 1),
                              max(0, item.y - reach), min(side, item.y + reach + 1))  # fmt: skip
            dx, dy = item.x - reach, item.y - reach
            free[:, left + x0 : left + x1, y0:y1] &= ~meets[:, x0 - dx : x1 - dx, y0 - dy : y1 - dy]
            table = areas[kind]
            pixels = np.diff(np.diff(table, axis=0), axis=1)[: item.size, : item.size] > 0
            x0, x1, y0, y1 = max(0, item.x), min(side, item.x + item.size), max(0, item.y), min(side, item.y + item.size)
            covered[left + x0 : left + x1, y0:y1] |= pixels[x0 - item.x : x1 - item.x, y0 - item.y : y1 - item.y]
    return free, covered
