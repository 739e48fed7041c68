"""Whether two meanings are the same: equal normal forms, or no scene that tells them apart.

For TOWER all 121 fillings of a box are tried, which decides the question. For SCATTER some hundred varied boxes are tried, which
can only refute.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from recombine.families.lilgym.oracle import contact
from recombine.families.lilgym.oracle.contact import Picture, Thing
from recombine.families.lilgym.oracle.meaning import Box, Contribution, Meaning, contribution, judged
from recombine.keys import Stream


class Difference(NamedTuple):
    """The outcome of a comparison: a scene that tells two meanings apart, or None; `proved`: all scenes were covered."""

    witness: Picture | None
    proved: bool


def compare(first: Meaning, second: Meaning, fillings: Sequence[Box], is_all: bool) -> Difference:
    """Look for three of the fillings that tell the meanings apart; `is_all`: the fillings are all that a box can have."""
    if first == second:
        return Difference(None, True)
    classes: dict[Any, tuple[Contribution, Contribution, Box]] = {}
    for box in fillings:
        one, other = contribution(first, box), contribution(second, box)
        classes.setdefault((tuple(one.items()), tuple(other.items())), (one, other, box))
    found = list(classes.values())
    threes = itertools.combinations_with_replacement(found, 3) if is_all else _threes(found)
    for three in threes:
        if judged(first, [t[0] for t in three]) != judged(second, [t[1] for t in three]):
            return Difference(tuple((box, *t[1:]) for box, part in enumerate(three) for t in part[2]), False)
    return Difference(None, is_all)


def _threes(found: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Any two fillings together: each twice, and both beside an empty box (the first filling)."""
    for one, other in itertools.combinations_with_replacement(found, 2):
        yield one, one, other
        yield one, other, other
        yield found[0], one, other


@functools.cache
def tower_fillings() -> tuple[Box, ...]:
    """All 121 ways to fill a box with at most four blocks of three colours."""
    return tuple(
        tuple((0, 40, 80 - 21 * level, 20, color, 1) for level, color in enumerate(colors))
        for height in range(5)
        for colors in itertools.product(range(3), repeat=height)
    )


@functools.cache
def scatter_fillings(is_clear: bool) -> tuple[Box, ...]:
    """Varied boxes of scattered items, the empty one first; `is_clear`: only boxes in which it is clear what touches what."""
    stream = Stream("lilgym", "oracle", "fillings")
    found: dict[Box, None] = {(): None}
    tries = 0
    while len(found) < FILLINGS and tries < 50 * FILLINGS:
        tries += 1
        box = _scattered(stream, stream.below(8))
        if not is_clear or contact.is_clear(box):
            found[box] = None
    return tuple(found)


FILLINGS = 160
"""Boxes of scattered items from which scenes are put together to refute a program."""
SPOTS = (0, 0, 2, 4, 20, 30, 40, 50, 60)
"""Distances from a wall: flush, almost touching, inside."""


def _scattered(stream: Stream, wanted: int) -> Box:
    """A box of at most this many items whose bounding squares are apart or flush."""
    box: list[Thing] = []
    hue, form = stream.below(6), stream.below(6)
    for _ in range(4 * wanted):
        size = stream.choice((10, 20, 20, 30))
        x, y = (at if stream.below(2) else 100 - size - at for at in (stream.choice(SPOTS), stream.choice(SPOTS)))
        if box and stream.below(3) == 0:
            beside = stream.choice(box)
            x, y = (beside[1] + beside[3], beside[2]) if stream.below(2) else (beside[1], beside[2] + beside[3])
        color, shape = (hue if hue < 3 else stream.below(3)), (form if form < 3 else stream.below(3))
        inside = min(x, y) >= 0 and max(x, y) + size <= 100
        if inside and all(max(x - t[1] - t[3], t[1] - x - size, y - t[2] - t[3], t[2] - y - size) >= 0 for t in box):
            box.append((0, x, y, size, color, shape))
        if len(box) == wanted:
            break
    return tuple(box)
