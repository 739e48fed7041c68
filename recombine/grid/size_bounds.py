"""The sizes to which the original ReaSCAN code binds kinds of objects, so that "small" and "big" have a clear meaning in a world.

A phrase with a size word binds its object's shape, or its colour and shape if it names a colour, to one small and one big size.
Every object of that kind then has one of the two. A bound of a shape outranks those of its colours.
"""

from __future__ import annotations

from typing import Any

from recombine.draws import Ints, Words, below

KERNEL = True
LEAN = True
N_KEYS = 20
"""Rows of `bounds`: 4 shapes, then 16 colours and shapes. Columns: the small and the big size, or 0."""


def bound(bounds: Ints, color: int, shape: int, is_small: bool) -> Any:
    """The small or big size that objects of this kind are bound to, or 0."""
    key = shape if bounds[shape, 0] != 0 else 4 + color * 4 + shape
    return bounds[key, 0] if is_small else bounds[key, 1]


def clear_bounds(bounds: Ints) -> None:
    """No kind is bound."""
    for key in range(N_KEYS):
        bounds[key, 0], bounds[key, 1] = 0, 0


def bind(bounds: Ints, color: int, shape: int, rng: Words) -> None:
    """Draw a pair of sizes for this kind, or for the shape if the colour is -1; that overwrites the bounds of its colours."""
    low = 1 + below(rng, 3)
    high = low + 1 + below(rng, 4 - low)
    key = shape
    if color < 0:
        for c in range(4):
            bounds[4 + c * 4 + shape, 0], bounds[4 + c * 4 + shape, 1] = 0, 0
    else:
        key = 4 + color * 4 + shape
    bounds[key, 0], bounds[key, 1] = low, high
