"""Whether a plan holds of a scene, straight from the plan: for small jobs, in which parsing and compiling programs does not pay.

Large jobs ask the programs instead. Both agree on every scene; a test says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recombine.families.lilgym import plan as p
from recombine.families.lilgym.scene import BOX, BOX_SIDE, COLOR, COLORS, SHAPE, SHAPES, SIZE, SIZE_NAMES, SIZES, Kind, X, Y

Row = tuple[int, ...]
World = tuple[Row, ...]
"""Items as six integers each, grouped by box; a tower's blocks from the bottom up."""
ATTRIBUTES = {"color": COLOR, "shape": SHAPE, "size": SIZE}
ALMOST = 4
"""Pixels up to which an item almost touches a wall."""


def holds(plan: p.Plan, kind: Kind, world: World) -> bool:
    """Whether the statement is true of the scene."""
    boxes = [tuple(row for row in world if row[BOX] == box) for box in range(3)]
    match plan:
        case p.Both(first, second):
            return holds(first, kind, world) and holds(second, kind, world)
        case p.Either(first, second):
            return holds(first, kind, world) or holds(second, kind, world)
        case p.Not(inner):
            return not holds(inner, kind, world)
        case p.Items(quantifier, number, noun):
            return _admits(quantifier, number, _count(noun, boxes))
        case p.Boxes(quantifier, number, conditions, plain):
            needs_tower = kind == "tower" and not plain
            return _admits(quantifier, number, sum(_keeps(conditions, box, needs_tower) for box in boxes))
        case p.EveryBox(conditions):
            return all(_keeps(conditions, box, kind == "tower") for box in boxes)
        case p.EveryItem(noun, predicate):
            found = [(row, box) for box in boxes for row in _chosen(noun, box)]
            return bool(found) and all(_fits(predicate, row, box) for row, box in found)
        case p.AllSame(noun, attribute):
            return _count(noun, boxes) >= 2 and len(_values(attribute, noun, boxes)) == 1
        case p.Variety(quantifier, number, attribute, noun):
            return _admits(quantifier, number, len(_values(attribute, noun, boxes)))
        case p.Compare(more, first_noun, second_noun):
            a, b = _count(first_noun, boxes), _count(second_noun, boxes)
            return a > b if more else a == b
        case p.SameCount(some):
            counts = [len(box) for box in boxes if box or kind == "scatter"]
            return (len(set(counts)) < len(counts)) == some


def _admits(quantifier: p.Quantifier, number: int, count: int) -> bool:
    verdicts = {"some": count > 0, "none": count == 0, "exactly": count == number, "at_least": count >= number}
    return verdicts.get(quantifier, count <= number)


def _keeps(conditions: tuple[p.Condition, ...], box: World, needs_tower: bool) -> bool:
    return (bool(box) or not needs_tower) and all(_is_kept(condition, box) for condition in conditions)


def _is_kept(condition: p.Condition, box: World) -> bool:
    match condition:
        case p.Has(quantifier, number, noun):
            return _admits(quantifier, number, len(_chosen(noun, box)))
        case p.HasOnly(noun):
            return bool(box) and all(_fits(noun, row, box) for row in box)
        case p.HasVariety(quantifier, number, attribute):
            return _admits(quantifier, number, len({row[ATTRIBUTES[attribute]] for row in box}))


def _values(attribute: p.Attribute, noun: p.Noun, boxes: list[World]) -> set[int]:
    return {row[ATTRIBUTES[attribute]] for box in boxes for row in _chosen(noun, box)}


def _count(noun: p.Noun, boxes: list[World]) -> int:
    return sum(len(_chosen(noun, box)) for box in boxes)


def _chosen(noun: p.Noun, box: World) -> list[Row]:
    return [row for row in box if _fits(noun, row, box)]


def _fits(noun: p.Noun, row: Row, box: World) -> bool:
    named = (
        (not noun.color or COLORS[row[COLOR]] == noun.color)
        and (not noun.shape or SHAPES[row[SHAPE]] == noun.shape)
        and (not noun.size or SIZE_NAMES[SIZES.index(row[SIZE])] == noun.size)
    )
    if not named or (noun.place and not _is_at(noun.place, row, box)):
        return False
    if noun.other is None:
        return True
    related = any(
        other is not row and _RELATIONS[noun.relation](row, other, box) and _fits(noun.other, other, box) for other in box
    )
    return related != (noun.relation == "no_contact")


def _is_at(place: str, row: Row, box: World) -> bool:
    if place in _RANKS:
        return box[_RANKS[place] :][:1] == (row,)
    slack = ALMOST if place.startswith("near_") else 0
    rooms = {
        "left": row[X], "right": BOX_SIDE - row[X] - row[SIZE], "top": row[Y], "bottom": BOX_SIDE - row[Y] - row[SIZE],
    }  # fmt: skip
    touched = [side for side, room in rooms.items() if room <= slack]
    name = place.removeprefix("near_")
    if name == "corner":
        return len(touched) == 2
    return name.removesuffix("_wall") in touched if name not in ("wall", "no_wall") else bool(touched) == (name == "wall")


_RANKS = {"bottom": 0, "second": 1, "third": 2, "top": -1}


def _gap(row: Row, other: Row) -> int:
    """Pixels between two bounding squares, on the axis where they are further apart."""
    across = max(row[X] - other[X] - other[SIZE], other[X] - row[X] - row[SIZE])
    return max(across, row[Y] - other[Y] - other[SIZE], other[Y] - row[Y] - row[SIZE])


def _rise(row: Row, other: Row, box: World) -> int:
    return box.index(row) - box.index(other)


_RELATIONS: Mapping[str, Callable[[Row, Row, World], bool]] = {
    "directly_above": lambda row, other, box: _rise(row, other, box) == 1,
    "directly_below": lambda row, other, box: _rise(row, other, box) == -1,
    "above": lambda row, other, box: _rise(row, other, box) > 0,
    "below": lambda row, other, box: _rise(row, other, box) < 0,
    "same_box": lambda _row, _other, _box: True,
    **dict.fromkeys(("touching", "contact", "no_contact"), lambda row, other, _box: _gap(row, other) <= 1),
}
