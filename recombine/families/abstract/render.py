"""Tasks for people: text, SVG and PNG. The picture has one row per demonstration (input, output) and one for the test."""

from __future__ import annotations

from recombine.core import Example, Medium
from recombine.families.abstract.answers import Scene, object_text, write_answer
from recombine.families.abstract.plan import Rule
from recombine.families.abstract.rows import Task
from recombine.grid.canvas import Canvas
from recombine.grid.draw import CELL, FAINT, GRID_LINE, INK, PAINT, PAPER, paint_thing
from recombine.grid.draw import EDGE as DARKER

MEDIA: tuple[Medium, ...] = ("text", "ascii", "svg", "png")
GAP, EDGE, LABEL = 46.0, 20.0, 24.0
INSET, INSET_STEP, MOST_SIZE = 2.0, 1.3, 4
"""Distance of a box of the largest size from the edge of its cells, and how much larger it is for each smaller size.

The frame of the smallest box must show around the largest object in its cell.
"""


def render(example: Example, medium: Medium) -> str | bytes:
    """The task with its solution: for people, not for prompts."""
    task: Task = example.world
    title = str(example.plan) if isinstance(example.plan, Rule) else ""
    if medium == "svg":
        return picture(task, task.output, title).svg()
    if medium == "png":
        return picture(task, task.output, title).png()
    if medium == "ascii":
        return _cells(task)
    return "\n".join([describe(task), f"Test output: {_objects(task.output)}", *([title] if title else [])])


def describe(task: Task) -> str:
    """The demonstrations and the test input in words, without the answer."""
    lines = [f"Grid: {task.test.size} rows and {task.test.size} columns."]
    for k, (before, after) in enumerate(task.demonstrations, 1):
        lines += [f"Demonstration {k} input: {_objects(before)}", f"Demonstration {k} output: {_objects(after)}"]
    return "\n".join([*lines, f"Test input: {_objects(task.test)}"])


def _objects(scene: Scene) -> str:
    return "; ".join(object_text(thing) for thing in scene.ordered) or "nothing"


def _cells(task: Task) -> str:
    blocks = []
    for k, (before, after) in enumerate((*task.demonstrations, (task.test, task.output)), 1):
        name = f"demonstration {k}" if k <= len(task.demonstrations) else "test"
        for part, scene in (("input", before), ("output", after)):
            rows = write_answer("cells", scene, scene).split(" / ")
            blocks.append("\n".join([f"{name} {part}", *(" ".join(f"{c:>7}" for c in row.split()) for row in rows)]))
    return "\n\n".join(blocks)


def picture(task: Task, output: Scene | None, title: str = "") -> Canvas:
    """k rows of input and output, then the test input and its output, or a question mark if `output` is None."""
    side = task.test.size * CELL
    rows = [*task.demonstrations, (task.test, output)]
    top = EDGE + (LABEL if title else 0.0)
    canvas = Canvas(2 * side + GAP + 2 * EDGE, top + len(rows) * (side + LABEL) + EDGE, PAPER, title)
    if title:
        canvas.write(EDGE, EDGE + 10, title, size=13, fill=INK, bold=True)
    for k, (before, after) in enumerate(rows):
        y = corner(task, k, is_output=False, has_title=bool(title))[1]
        name = "test" if k == len(rows) - 1 else f"demonstration {k + 1}"
        canvas.write(EDGE, y - 7, f"{name}: input", size=12, fill=FAINT)
        canvas.write(EDGE + side + GAP, y - 7, f"{name}: output", size=12, fill=FAINT)
        _paint_scene(canvas, before, EDGE, y)
        middle = y + side / 2
        arrow = ((EDGE + side + 10, middle), (EDGE + side + GAP - 10, middle))
        canvas.line(arrow, stroke=INK, width=2.0)
        tip = arrow[1][0]
        canvas.polygon(((tip, middle), (tip - 8, middle - 5), (tip - 8, middle + 5)), fill=INK)
        _paint_scene(canvas, after, EDGE + side + GAP, y, task.test.size)
    return canvas


def corner(task: Task, row: int, *, is_output: bool, has_title: bool = False) -> tuple[float, float]:
    """The upper left corner of one grid in `picture`; row 0 is the first demonstration, the last row is the test."""
    side = task.test.size * CELL
    y = EDGE + (LABEL if has_title else 0.0) + row * (side + LABEL) + LABEL
    return (EDGE + side + GAP if is_output else EDGE), y


def _paint_scene(canvas: Canvas, scene: Scene | None, x: float, y: float, size: int = 0) -> None:
    n = scene.size if scene is not None else size
    side = n * CELL
    canvas.rect(x, y, side, side, fill="#ffffff", stroke="#b9b4a8", width=2.0, radius=3)
    if scene is None:
        canvas.write(x + side / 2, y + side / 2 + 30, "?", size=90, fill=FAINT, anchor="middle", bold=True)
        return
    for k in range(1, n):
        canvas.line(((x + k * CELL, y), (x + k * CELL, y + side)), stroke=GRID_LINE, width=1.2)
        canvas.line(((x, y + k * CELL), (x + side, y + k * CELL)), stroke=GRID_LINE, width=1.2)
    for thing in scene.ordered:
        if thing.is_box:
            inset = INSET + INSET_STEP * (MOST_SIZE - thing.size)
            corner, span = (x + thing.column * CELL + inset, y + thing.row * CELL + inset), thing.size * CELL - 2 * inset
            canvas.rect(*corner, span, span, stroke=DARKER[thing.color], width=5.2, radius=5)
            canvas.rect(*corner, span, span, stroke=PAINT[thing.color], width=3.6, radius=5)
            left, low = x + thing.column * CELL + 13, y + thing.row * CELL + 20
            canvas.write(left, low, str(thing.size), size=11, fill=INK, bold=True)
    for thing in scene.ordered:
        if not thing.is_box:
            paint_thing(canvas, thing, x + (thing.column + 0.5) * CELL, y + (thing.row + 0.5) * CELL, CELL)
