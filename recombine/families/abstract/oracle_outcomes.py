"""The oracle's own operations: the output world as a set of objects, for every operation, object and pivot."""

from __future__ import annotations

import functools
import itertools

from recombine.families.abstract.oracle_space import FIGURES, HUES, Item, World

Act = tuple[str, ...]
"""Words of an operation: ("paint", "red"), ("add", "blue", "square", "4", "east")."""
AWAY = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


@functools.cache
def deeds() -> tuple[tuple[Act, ...], ...]:
    """Every operation as one act or two."""
    paint: list[Act] = [("paint", hue) for hue in HUES]
    reshape: list[Act] = [("reshape", figure) for figure in FIGURES]
    scale: list[Act] = [("grow",), ("shrink",), *(("resize", str(size)) for size in range(1, 5))]
    move: list[Act] = [("move", way) for way in AWAY]
    add = [("add", *words) for words in itertools.product(HUES, FIGURES[:3], "1234", AWAY)]
    copy: list[Act] = [("copy", what) for what in ("color", "shape", "size")]
    single = [*paint, *reshape, *scale, *move, ("remove",), *add, *copy]
    double = [
        (a, b) for first, second in itertools.combinations((paint, reshape, scale, move), 2) for a in first for b in second
    ]
    return (*((act,) for act in single), *double)


def parse_deed(text: str) -> tuple[Act, ...] | None:
    """The operation with this text; None if there is none."""
    acts = tuple(tuple(piece.split(" ")) for piece in text.split(" and "))
    return acts if acts in _known_deeds() else None


@functools.cache
def _known_deeds() -> frozenset[tuple[Act, ...]]:
    return frozenset(deeds())


def product(item: Item, deed: tuple[Act, ...], pivot: Item | None) -> Item | None:
    """The object that comes, wherever that is; None for `remove`, or if some act changes nothing."""
    if deed[0][0] == "add":
        _, hue, figure, size, way = deed[0]
        down, right = AWAY[way]
        return int(size), hue, figure, item[3] + down, item[4] + right
    now = item
    for act in deed:
        after = _altered(now, act, pivot)
        if after is None or after == now:
            return None
        now = after
    return now


def outcome(world: World, side: int, item: Item, deed: tuple[Act, ...], pivot: Item | None) -> World | None:
    """The output world; None if some act changes nothing or the result is no possible world."""
    rest = world if deed[0][0] == "add" else world - {item}
    if deed[0][0] == "remove":
        return rest
    new = product(item, deed, pivot)
    return rest | {new} if new is not None and _is_possible(rest, new, side) else None


def _altered(item: Item, act: Act, pivot: Item | None) -> Item | None:
    size, hue, figure, row, column = item
    match act:
        case ("paint", word):
            hue = word
        case ("reshape", word):
            figure = word
        case ("resize", word):
            size = int(word)
        case ("grow",):
            size += 1
        case ("shrink",):
            size -= 1
        case ("move", way):
            row, column = row + AWAY[way][0], column + AWAY[way][1]
        case ("copy", what):
            if pivot is None:
                return None
            if what == "color":
                hue = pivot[1]
            elif what == "shape":
                figure = pivot[2]
            else:
                size = pivot[0]
        case _:
            return None
    return (size, hue, figure, row, column) if 1 <= size <= 4 else None


def _is_possible(rest: World, new: Item, side: int) -> bool:
    """Whether the object lies in the grid and shares its cell with no other box, or no other object that is no box."""
    span = new[0] if new[2] == "box" else 1
    if new[3] < 0 or new[4] < 0 or new[3] + span > side or new[4] + span > side:
        return False
    return not any(other[3:] == new[3:] and (other[2] == "box") == (new[2] == "box") for other in rest)
