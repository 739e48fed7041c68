"""Pictures of worlds: grid, objects, boxes, agent; on demand the roles of the objects and the way the agent goes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache

from recombine.grid.canvas import Canvas, Sprite
from recombine.grid.codes import HEADINGS
from recombine.grid.world import Thing, World

CELL = 64.0
MARGIN = 22.0
LINE_ROOM = 3
"""Pixels at the edges of a cell that its object leaves to the lines of the grid."""
PAPER, GRID_LINE, INK, FAINT = "#fbfaf7", "#dcd8cf", "#2b2d33", "#8b877d"
PAINT = {"red": "#dd5144", "blue": "#4a7bd8", "green": "#4aa564", "yellow": "#f0c043"}
EDGE = {"red": "#a3342a", "blue": "#2f549c", "green": "#2f7344", "yellow": "#b58a17"}
AGENT, AGENT_EDGE = "#e86fa6", "#8e2f60"
TARGET = "#d6336c"
ROLE_COLORS = {
    "target": TARGET, "pivot": "#0ca678", "random": "#868e96", "blocker": "#74a012",
    "size decoy": "#f76707", "color decoy": "#1c7ed6", "shape decoy": "#ae3ec9",
    "relation": "#1c7ed6", "attribute": "#f76707", "isomorphism": "#ae3ec9", "contrast": "#fab005",
}  # fmt: skip
"""Roles that always have the same colour; any other role takes one of OTHER_COLORS."""
OTHER_COLORS = ("#5c7cfa", "#fab005", "#9c36b5", "#1098ad", "#7048e8", "#fd7e14", "#66a80f")


def draw(world: World, caption: str = "", show_roles: bool = False, path: Sequence[tuple[int, int]] = ()) -> Canvas:
    """The picture of a world. `show_roles` rings the target and tints every other role; `path` dots the agent's way."""
    side = world.size * CELL
    width = side + 2 * MARGIN
    lines = textwrap.wrap(caption, max(12, int(width / 7.4)))
    top = MARGIN + 20.0 * len(lines) + (14.0 if lines else 0.0)
    roles = role_colors(world) if show_roles else {}
    height = top + side + MARGIN + (22.0 * ((len(roles) + 1) // 2) + 4.0 if roles else 0.0)
    canvas = Canvas(width, height, PAPER, caption)
    for k, line in enumerate(lines):
        canvas.write(MARGIN, MARGIN + 12 + 20.0 * k, line, size=14, fill=INK, bold=True)
    _paint_grid(canvas, world, top)
    canvas.backdrop = range(len(lines), len(canvas.marks))
    for thing in world.things:
        if thing.is_box:
            paint_box(canvas, thing, *_corner(thing.row, thing.column, top))
    for thing in world.things:
        if roles:
            _paint_role(canvas, thing, roles, *_corner(thing.row, thing.column, top))
    if len(path) > 1:
        points = [(MARGIN + (c + 0.5) * CELL, top + (r + 0.5) * CELL) for r, c in path]
        canvas.line(points, stroke=AGENT_EDGE, width=2.5, dash=6.0, opacity=0.75)
    boxes = [thing for thing in world.things if thing.is_box]
    is_plain = not roles and len(path) <= 1
    for thing in world.things:
        if not thing.is_box:
            x, y = _corner(thing.row, thing.column, top)
            first = len(canvas.marks)
            paint_thing(canvas, thing, x + CELL / 2, y + CELL / 2, CELL)
            if is_plain and not any(box.covers(thing.row, thing.column) for box in boxes):
                name = thing.size, thing.color, thing.shape
                place = int(x) + LINE_ROOM, int(y) + LINE_ROOM
                side = int(CELL) - 2 * LINE_ROOM
                canvas.sprites.append(Sprite(name, first, len(canvas.marks), *place, side, "#ffffff"))
    _paint_agent(canvas, world, top)
    _paint_legend(canvas, roles, top + side + MARGIN)
    return canvas


def role_colors(world: World) -> dict[str, str]:
    """A colour for each role that occurs, the target's first."""
    names = sorted({thing.role for thing in world.things} - {"", "target"})
    others = [name for name in names if name not in ROLE_COLORS]
    colors = {name: ROLE_COLORS.get(name) or OTHER_COLORS[others.index(name) % len(OTHER_COLORS)] for name in names}
    return {"target": TARGET, **colors} if any(t.role == "target" for t in world.things) else colors


def _corner(row: int, column: int, top: float) -> tuple[float, float]:
    return MARGIN + column * CELL, top + row * CELL


def _paint_grid(canvas: Canvas, world: World, top: float) -> None:
    side = world.size * CELL
    canvas.rect(MARGIN, top, side, side, fill="#ffffff", radius=3)
    for k in range(1, world.size):
        canvas.line(((MARGIN + k * CELL, top), (MARGIN + k * CELL, top + side)), stroke=GRID_LINE, width=1.2)
        canvas.line(((MARGIN, top + k * CELL), (MARGIN + side, top + k * CELL)), stroke=GRID_LINE, width=1.2)
    canvas.rect(MARGIN, top, side, side, stroke="#b9b4a8", width=2.0, radius=3)
    for k in range(world.size):
        canvas.write(MARGIN + (k + 0.5) * CELL, top - 6, str(k + 1), size=10, fill=FAINT, anchor="middle")
        canvas.write(MARGIN - 7, top + (k + 0.5) * CELL + 4, str(k + 1), size=10, fill=FAINT, anchor="end")


def _paint_role(canvas: Canvas, thing: Thing, roles: dict[str, str], x: float, y: float) -> None:
    color = roles.get(thing.role)
    if color is None:
        return
    if thing.is_box:
        inset = 8.0 + 1.4 * (4 - thing.size)
        side = thing.size * CELL - 2 * inset
        canvas.rect(x + inset, y + inset, side, side, stroke=color, width=1.8, radius=4)
        return
    is_target = thing.role == "target"
    canvas.rect(x + 3, y + 3, CELL - 6, CELL - 6, fill=color, opacity=0.22 if is_target else 0.11, radius=7)
    canvas.rect(x + 3, y + 3, CELL - 6, CELL - 6, stroke=color, width=3.0 if is_target else 1.6, radius=7)


def paint_box(canvas: Canvas, box: Thing, x: float, y: float) -> None:
    """A box as a coloured frame around its cells, (x, y) being its top-left corner."""
    side = box.size * CELL
    inset = 3.0 + 1.4 * (4 - box.size)
    canvas.rect(x + inset, y + inset, side - 2 * inset, side - 2 * inset, fill=PAINT[box.color], opacity=0.12, radius=5)
    canvas.rect(x + inset, y + inset, side - 2 * inset, side - 2 * inset, stroke=EDGE[box.color], width=5.2, radius=5)
    canvas.rect(x + inset, y + inset, side - 2 * inset, side - 2 * inset, stroke=PAINT[box.color], width=3.6, radius=5)


def paint_thing(canvas: Canvas, thing: Thing, x: float, y: float, cell: float, has_digit: bool = True) -> None:
    """A circle, square or cylinder (or a small box as an icon) around (x, y), scaled by its size; the size also as a digit."""
    r = cell * (0.13 + 0.075 * thing.size)
    style = {"fill": PAINT[thing.color], "stroke": EDGE[thing.color], "width": cell / 34}
    if thing.shape == "circle":
        canvas.ellipse(x, y, r, r, **style)
    elif thing.shape == "square":
        canvas.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, radius=r * 0.1, **style)
    elif thing.shape == "cylinder":
        _paint_cylinder(canvas, thing, x, y, r)
    else:
        canvas.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, radius=r * 0.15, stroke=PAINT[thing.color], width=cell / 12)
    if not has_digit:
        return
    ink = "#ffffff" if thing.color != "yellow" else "#5b4508"
    if thing.is_box:
        ink = EDGE[thing.color]
    drop = r * 0.3 if thing.shape == "cylinder" else 0.0
    digit = max(9.0, cell * 0.17)
    canvas.write(x, y + drop + digit * 0.36, str(thing.size), size=digit, fill=ink, anchor="middle", bold=True)


def _paint_cylinder(canvas: Canvas, thing: Thing, x: float, y: float, r: float) -> None:
    fill, edge, width = PAINT[thing.color], EDGE[thing.color], CELL / 34
    half, lid = r * 0.78, r * 0.3
    top, bottom = y - r * 0.75, y + r * 0.75
    canvas.ellipse(x, bottom, half, lid, fill=fill, stroke=edge, width=width)
    canvas.rect(x - half, top, 2 * half, bottom - top, fill=fill)
    canvas.line(((x - half, top), (x - half, bottom)), stroke=edge, width=width)
    canvas.line(((x + half, top), (x + half, bottom)), stroke=edge, width=width)
    canvas.ellipse(x, top, half, lid, fill=_lighter(thing.color), stroke=edge, width=width)


@cache
def _lighter(color: str) -> str:
    """The colour half-way to white, for the lid of a cylinder."""
    code = PAINT[color]
    return "#" + "".join(f"{(int(code[i : i + 2], 16) + 255) // 2:02x}" for i in (1, 3, 5))


def _paint_agent(canvas: Canvas, world: World, top: float) -> None:
    x, y = _corner(world.row, world.column, top)
    x, y = x + CELL / 2, y + CELL / 2
    is_shared = world.thing_at(world.row, world.column) is not None
    scale = CELL * (0.2 if is_shared else 0.34)
    if is_shared:
        x, y = x + CELL * 0.26, y - CELL * 0.26
    turn = HEADINGS.index(world.heading)
    shape = ((1.0, 0.0), (-0.8, 0.78), (-0.42, 0.0), (-0.8, -0.78))
    points = []
    for a, b in shape:
        for _ in range(turn):
            a, b = -b, a
        points.append((x + a * scale, y + b * scale))
    canvas.polygon(points, fill=AGENT, stroke=AGENT_EDGE, width=2.2)


def _paint_legend(canvas: Canvas, roles: dict[str, str], top: float) -> None:
    for k, (role, color) in enumerate(roles.items()):
        x = MARGIN + (k % 2) * (canvas.width - 2 * MARGIN) / 2
        y = top - 6 + 22.0 * (k // 2)
        canvas.rect(x, y, 14, 14, fill=color, opacity=0.16, radius=3)
        canvas.rect(x, y, 14, 14, stroke=color, width=3.0 if role == "target" else 1.6, radius=3)
        canvas.write(x + 21, y + 11.5, role.replace("_", " "), size=12, fill=INK)
