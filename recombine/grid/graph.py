"""Relation graphs: a world or a command as nodes with coloured edges, one edge per relation, drawn side by side.

A world's node is an object, and a command's node is a noun phrase. Words label the nodes, and clauses are the edges. A command has a
referent in a world exactly if the command's graph fits into the world's.
"""

from __future__ import annotations

from math import cos, hypot, pi, sin

from recombine.grid.canvas import Canvas
from recombine.grid.codes import RELATIONS
from recombine.grid.draw import FAINT, GRID_LINE, INK, PAPER, TARGET, paint_thing
from recombine.grid.matching import Description, edges
from recombine.grid.world import Thing, World

EDGE_COLORS = dict(zip(RELATIONS, ("#1c7ed6", "#0ca678", "#e8590c", "#9c36b5", "#495057", "#d6336c"), strict=True))
EDGE_NAMES = dict(
    zip(RELATIONS, ("same row", "same column", "same color", "same shape", "same size", "inside of"), strict=True)
)
SIDE = 460.0
TARGET_PLACE = 0
"""The object of a world that is the target."""


def relation_graph(world: World, description: Description, caption: str) -> Canvas:
    """The graph of the command (left) and of the world (right). Object 0 of the world is the target."""
    canvas = Canvas(2 * SIDE, SIDE + 74, PAPER, caption)
    canvas.write(20, 28, caption, size=14, fill=INK, bold=True)
    canvas.write(20, 50, "command", size=11, fill=FAINT)
    canvas.write(SIDE + 20, 50, "world", size=11, fill=FAINT)
    canvas.line(((SIDE, 44), (SIDE, SIDE + 34)), stroke=GRID_LINE)
    _paint_command(canvas, description, SIDE / 2, 44 + SIDE / 2)
    _paint_world(canvas, world, 1.5 * SIDE, 44 + SIDE / 2)
    for k, relation in enumerate(RELATIONS):
        x = 20 + k * (2 * SIDE - 40) / 6
        canvas.line(((x, SIDE + 54), (x + 22, SIDE + 54)), stroke=EDGE_COLORS[relation], width=3.0)
        canvas.write(x + 28, SIDE + 58, EDGE_NAMES[relation], size=11, fill=INK)
    return canvas


def _ring(n: int, radius: float, x: float, y: float) -> list[tuple[float, float]]:
    """n places around (x, y), the first at the top; a single one in the middle."""
    if n == 1:
        return [(x, y)]
    return [(x + radius * sin(2 * pi * k / n), y - radius * cos(2 * pi * k / n)) for k in range(n)]


def _paint_command(canvas: Canvas, description: Description, x: float, y: float) -> None:
    places = _ring(len(description.phrases), SIDE * 0.3, x, y)
    for k in range(1, len(places)):
        relation = description.relations[k]
        a, b = places[description.parents[k]], places[k]
        canvas.line((a, b), stroke=EDGE_COLORS[relation], width=3.0)
        mx, my = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        canvas.rect(mx - 40, my - 9, 80, 18, fill=PAPER, radius=9)
        canvas.write(mx, my + 4, EDGE_NAMES[relation], size=11, fill=EDGE_COLORS[relation], anchor="middle")
    for k, (phrase, (px, py)) in enumerate(zip(description.phrases, places, strict=True)):
        text = str(phrase)
        half = max(34.0, 3.9 * len(text) + 12)
        stroke = TARGET if k == 0 else INK
        canvas.rect(px - half, py - 16, 2 * half, 32, fill="#ffffff", stroke=stroke, width=2.4 if k == 0 else 1.4, radius=16)
        canvas.write(px, py + 4.5, text, size=12.5, fill=INK, anchor="middle")


def _paint_world(canvas: Canvas, world: World, x: float, y: float) -> None:
    places = _ring(len(world.things), SIDE * 0.38, x, y)
    pairs: dict[tuple[int, int], list[str]] = {}
    for a, b, relation in edges(world):
        pairs.setdefault((min(a, b), max(a, b)), []).append(relation)
    for (a, b), names in pairs.items():
        for k, relation in enumerate(names):
            bend = (k - (len(names) - 1) / 2) * 9.0
            is_near = TARGET_PLACE in (a, b)
            style = {"stroke": EDGE_COLORS[relation], "width": 2.2 if is_near else 1.3, "opacity": 0.95 if is_near else 0.38}
            canvas.line(_bent(places[a], places[b], bend), **style)
    for i, (thing, (px, py)) in enumerate(zip(world.things, places, strict=True)):
        canvas.ellipse(
            px,
            py,
            24,
            24,
            fill="#ffffff",
            stroke=TARGET if i == TARGET_PLACE else GRID_LINE,
            width=3.0 if i == TARGET_PLACE else 1.5,
        )
        paint_thing(canvas, Thing(thing.size, thing.color, thing.shape, 0, 0), px, py, 44)


def _bent(a: tuple[float, float], b: tuple[float, float], bend: float) -> list[tuple[float, float]]:
    """A gentle arc from a to b whose middle is `bend` points off the straight line."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = hypot(dx, dy) or 1.0
    nx, ny = -dy / length, dx / length
    steps = [k / 12 for k in range(13)]
    return [(a[0] + dx * t + nx * bend * 4 * t * (1 - t), a[1] + dy * t + ny * bend * 4 * t * (1 - t)) for t in steps]
