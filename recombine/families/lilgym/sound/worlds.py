"""Scenes in bulk, and which statements are worth asking: neither constant nor out of reach within the horizon."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.families.lilgym.play import geometry
from recombine.families.lilgym.scene import Counts, Items, Kind
from recombine.families.lilgym.sound.kernel import contact

if TYPE_CHECKING:
    from recombine.families.lilgym.program import Prepared

WIDTHS: dict[Kind, int] = {"tower": 12, "scatter": 21}
"""The most items that a drawn scene holds."""
KERNEL_NAME = "recombine.families.lilgym.sound.kernel"
LOOKS, SCRATCH_LOOKS = 240, 480
"""Scenes of each sort at which a statement is tried."""
LEAST = 3
"""A statement must hold, and must fail, in at least this many of the scenes tried."""


def is_tidy(kind: Kind, program: str) -> bool:
    """Whether a program asks which scattered items touch: its scenes are such that every two clearly do or clearly do not."""
    return kind == "scatter" and "get_touching(" in program


def draw_scenes(
    kind: Kind, scratch: bool, states: NDArray[np.uint64], compiled: bool | None = None, tidy: bool | NDArray[np.bool_] = False
) -> tuple[Items, Counts]:
    """One scene per 64-bit word; the same word gives the same scene, tidy or not."""
    items = np.zeros((len(states), WIDTHS[kind], 6), np.int16)
    counts = np.zeros(len(states), np.int64)
    is_worth = kernels.is_worth_compiling(KERNEL_NAME, len(states), 4 * kernels.COMPILE_FROM_ROWS)
    run = kernels.load(KERNEL_NAME, is_worth if compiled is None else compiled).draw_scenes
    run(states, np.broadcast_to(tidy, len(states)).copy(), kind == "tower", scratch, items, counts)
    return items, counts


def is_steady(items: Items, count: int) -> bool:
    """Whether the items of a SCATTER scene can be added one by one without one being pulled towards another."""
    rows = items[:count].tolist()
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if a[0] == b[0]]
    return not any(contact(*_seen(a), *_seen(b)) == 2 and _is_near(a, b) for a, b in pairs)


def _seen(row: list[int]) -> tuple[int, int, int, int]:
    return row[1], row[2], row[3], row[5]


def _is_near(a: list[int], b: list[int]) -> bool:
    """Whether fewer than five pixels lie between two shapes, so that the released code would move the later one."""
    dx, dy = b[1] - a[1] + geometry.REACH, b[2] - a[2] + geometry.REACH
    if not (0 <= dx <= 2 * geometry.REACH and 0 <= dy <= 2 * geometry.REACH):
        return False
    kinds = geometry.kind_of(a[5], a[3]), geometry.kind_of(b[5], b[3])
    return bool(geometry.contact_table()[(*kinds, dy, dx)] & geometry.NEAR)


@functools.cache
def looks(kind: Kind, scratch: bool, tidy: bool = False) -> Prepared:
    """The scenes at which every statement is tried, the smallest first; the first scratch scene is the empty one.

    Scratch scenes are goals of plans, so they are such that every rule book builds them alike.
    """
    from recombine.families.lilgym.program import Prepared

    n, key = SCRATCH_LOOKS if scratch else LOOKS, keys.state("lilgym", "looks", kind, int(scratch), int(tidy))
    if kind == "scatter" and scratch:
        items, counts = draw_scenes(kind, True, keys.states(key, 0, 3 * n), tidy=tidy)
        steady = [scene for scene in range(3 * n) if is_steady(items[scene], int(counts[scene]))][:n]
        items, counts = items[steady], counts[steady]
    else:
        items, counts = draw_scenes(kind, scratch, keys.states(key, 0, n), tidy=tidy)
    order = np.argsort(counts, kind="stable")
    items, counts = items[order], counts[order]
    if scratch:
        items[0], counts[0] = 0, 0
    return Prepared(items, counts)


_KNOWN: dict[tuple[Kind, str], tuple[str, int]] = {}


def verdicts(kind: Kind, programs: Sequence[str], compiled: bool | None = None) -> list[tuple[str, int]]:
    """For each program why it is not worth asking ("" if it is), and the first scratch look in which it holds (-1: none).

    The reasons: `constant`, `out_of_reach` (no scene of at most ten items found).
    Tried together in one kernel call; remembered within the process.
    """
    fresh = [text for text in dict.fromkeys(programs) if (kind, text) not in _KNOWN]
    if len(_KNOWN) > 500_000:
        _KNOWN.clear()
        fresh = list(dict.fromkeys(programs))
    for tidy in (False, True):
        chosen = [text for text in fresh if is_tidy(kind, text) == tidy]
        for low in range(0, len(chosen), 512):
            part = chosen[low : low + 512]
            judged = _judged(part, looks(kind, False, tidy), looks(kind, True, tidy), compiled)
            _KNOWN.update(zip(((kind, text) for text in part), judged, strict=True))
    return [_KNOWN[kind, text] for text in programs]


def _judged(texts: Sequence[str], given: Prepared, scratch: Prepared, compiled: bool | None) -> list[tuple[str, int]]:
    from recombine.families.lilgym import program

    bank = program.Bank([program.compile(text) for text in texts])
    fast = len(texts) * (LOOKS + SCRATCH_LOOKS) >= program.COMPILE_FROM_PAIRS if compiled is None else compiled
    seen = bank.evaluate_grid(given, compiled=fast)
    built = bank.evaluate_grid(scratch, compiled=fast)
    found = []
    for row in range(len(texts)):
        true = int(seen[row].sum())
        reach = np.flatnonzero(built[row])
        first = int(reach[0]) if len(reach) else -1
        reason = "constant" if not LEAST <= true <= LOOKS - LEAST else "out_of_reach" if first < 0 else ""
        found.append((reason, first))
    return found
