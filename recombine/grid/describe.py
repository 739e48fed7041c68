"""Worlds in words and characters: plain-language descriptions for prompts, ascii maps for terminals."""

from __future__ import annotations

from recombine.grid.codes import HEADINGS
from recombine.grid.world import Thing, World

ARROWS = dict(zip(HEADINGS, ">v<^", strict=True))
LETTERS = {"circle": "O", "cylinder": "C", "square": "S", "box": "B"}
LEGEND = (
    "rS2: red square of size 2; r, b, g, y: red, blue, green, yellow; O, C, S, B: circle, cylinder, square, box; "
    "> v < ^: the agent and where it faces; dots: inside a box; *: the target, where it is shown"
)
"""How to read `ascii_map`."""


def describe(world: World) -> str:
    """The world in plain sentences, rows and columns counted from 1; objects come by place, so their order tells nothing."""
    n = world.size
    lines = [
        f"The grid has {n} rows, counted from 1 in the north, and {n} columns, counted from 1 in the west.",
        f"The agent stands in row {world.row + 1}, column {world.column + 1} and faces {world.heading}.",
    ]
    order = sorted(world.things, key=lambda t: (t.row, t.column, t.is_box, t.size, t.color, t.shape))
    things = [t for t in order if not t.is_box]
    listed = _count(len(things), "object", "objects")
    if len(things) < len(order):
        listed += " and " + _count(len(order) - len(things), "box", "boxes")
    lines.append(f"The grid holds {listed} (sizes run from 1 to 4):")
    lines += [f"- a {t.name} of size {t.size} in row {t.row + 1}, column {t.column + 1}" for t in things]
    lines += [f"- {_extent(t)}" for t in order if t.is_box]
    return "\n".join(lines)


def _count(n: int, one: str, many: str) -> str:
    return f"1 {one}" if n == 1 else f"{n} {many}"


def _extent(box: Thing) -> str:
    if box.size == 1:
        return f"a {box.name} of size 1 around row {box.row + 1}, column {box.column + 1}"
    rows = f"rows {box.row + 1} to {box.row + box.size}"
    return f"a {box.name} of size {box.size} around {rows}, columns {box.column + 1} to {box.column + box.size}"


def token(thing: Thing) -> str:
    """Three characters: colour, shape, size (`rS2` is a red square of size 2; O circle, C cylinder, B box)."""
    return f"{thing.color[0]}{LETTERS[thing.shape]}{thing.size}"


def ascii_map(world: World, target: int | None = None) -> str:
    """The grid in characters: objects as `rS2`, the agent an arrow, the target (if given) starred, boxes dotted and listed."""
    edge = "  +" + "-----+" * world.size
    lines = ["   " + "".join(f"  {c + 1:<4}" for c in range(world.size)).rstrip(), edge]
    for r in range(world.size):
        cells = [_cell(world, r, c, target) for c in range(world.size)]
        lines += [f"{r + 1:>2}|" + "|".join(cells) + "|", edge]
    lines += [f"{token(t)}: {_extent(t)}" for t in world.things if t.is_box]
    return "\n".join(lines)


def _cell(world: World, row: int, column: int, target: int | None) -> str:
    i = world.thing_at(row, column)
    left = ARROWS[world.heading] if (row, column) == (world.row, world.column) else " "
    right = "*" if i is not None and i == target else " "
    text = f"{left}{token(world.things[i]) if i is not None else '   '}{right}"
    is_boxed = any(t.is_box and t.covers(row, column) for t in world.things)
    return text.replace(" ", ".") if is_boxed else text
