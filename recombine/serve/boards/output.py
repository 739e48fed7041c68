"""Abstract tasks: edit the output world by dragging, or with the lists below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recombine.core import Example
from recombine.errors import UsageError
from recombine.families.abstract.answers import Scene, object_text, read_answer, write_answer
from recombine.families.abstract.render import corner, picture
from recombine.families.abstract.rows import Task
from recombine.grid.canvas import Canvas
from recombine.grid.codes import COLORS, SHAPES, SIZES
from recombine.grid.draw import CELL, GRID_LINE, INK, PAINT, PAPER, paint_box, paint_thing
from recombine.grid.world import Thing
from recombine.serve.boards.base import MARK, Button, Field, Form, View, labelled, places, unknown, worded

MARGIN = 12.0
SWATCH = 44.0
_NAMED = re.compile(rf"(add|remove|the) (?:{'|'.join(COLORS)}) ({'|'.join(SHAPES)}) (\d) at (\d+),(\d+)")


class OutputBoard:
    """The state is the output world as a list of objects; the empty text is the test input."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """The output world as it stands, with swatches below it."""
        scene = _scene(example, state)
        canvas = _painted(scene)
        names = tuple(object_text(thing) for thing in scene.ordered)
        cells = tuple(f"{r + 1},{c + 1}" for r in range(scene.size) for c in range(scene.size))
        forms = (
            Form(
                "Change",
                "change",
                (Field("thing", "object", names), Field("value", "to", (*COLORS, *SHAPES, *map(str, SIZES)))),
            ),
            Form("Move", "move", (Field("thing", "object", names), Field("cell", "row,column", cells))),
            Form("Remove", "remove", (Field("thing", "object", names),)),
            Form(
                "Add",
                "add",
                (
                    Field("color", "colour", COLORS),
                    Field("shape", "shape", SHAPES),
                    Field("size", "size", tuple(map(str, SIZES))),
                    Field("cell", "row,column", cells),
                ),
            ),
        )
        hint = (
            "Edit the test output. Drag an object to move it, drag it out of the grid to remove it, drag a colour, shape or size onto it to "
            "change it, drag a shape onto an empty cell to add one."
        )
        svg = labelled(canvas.svg(), "the output world: " + ("; ".join(names) or "nothing"))
        return View(write_answer("objects", scene, scene), svg, said, hint, (Button("start again", "clear"),), forms)

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """The world after one change; one that gives no possible world changes nothing."""
        scene = _scene(example, state)
        if event == "clear":
            return "", ""
        dragged = places(event)
        if dragged is not None:
            if dragged[0] == "click":
                return state, "Drag it, or use the lists below."
            things = _dragged(scene, *dragged[1])
        else:
            things = _typed(scene, event, fields)
        if things is None:
            return state, "Nothing was changed."
        after = Scene(scene.size, things)
        problems = after.problems()
        return (state, f"{problems[0]}.") if problems else (write_answer("objects", scene, after), "")

    def question(self, example: Example) -> str:
        """The demonstrations and the test input in words."""
        return f"Find the rule from the demonstrations. What is the test output?\n\n{worded(example)}"

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:
        """The task with an answer as its output; a question mark if the answer is empty. The objects of the last step are ringed."""
        task: Task = example.world
        output = task.output if answer is None else read_answer(task.test, answer) if answer else None
        canvas, step = picture(task, output), proof[-1] if proof else ""
        for x, y, reach in _rings(task, step):
            canvas.rect(x + 1, y + 1, reach * CELL - 2, reach * CELL - 2, stroke=MARK, width=5.0, radius=9)
        name = "the demonstrations, the test input and its output"
        return labelled(canvas.svg(), f"{name}; marked: {step}" if step else name)

    def film(self, example: Example) -> Sequence[str]:  # noqa: ARG002
        """Nothing moves."""
        return ()


def _rings(task: Task, step: str) -> Iterator[tuple[float, float, int]]:
    """(x, y, cells on a side) of every object that a step of the proof names. What is added stands in the output."""
    told = re.match(r"Demonstration (\d+):", step)
    row = int(told[1]) - 1 if told else len(task.demonstrations)
    for verb, shape, size, r, c in _NAMED.findall(step):
        x, y = corner(task, row, is_output=verb == "add")
        yield x + (int(c) - 1) * CELL, y + (int(r) - 1) * CELL, int(size) if shape == "box" else 1


def _scene(example: Example, state: str) -> Scene:
    test: Scene = example.world.test
    if not state.strip():
        return test
    scene = read_answer(test, state)
    if scene is None:
        raise UsageError("the answer is no possible world; write objects such as `red circle 2 at 1,3`, joined by semicolons.")
    return scene


def _typed(scene: Scene, event: str, fields: Mapping[str, str]) -> tuple[Thing, ...] | None:
    chosen = next((t for t in scene.ordered if object_text(t) == fields.get("thing", "")), None)
    others = tuple(t for t in scene.ordered if t is not chosen)
    if event == "add":
        color, shape, size, cell = (fields.get(name, "") for name in ("color", "shape", "size", "cell"))
        if color not in COLORS or shape not in SHAPES or size not in map(str, SIZES):
            return None
        return (*scene.ordered, Thing(int(size), color, shape, *_cell(cell)))
    if event not in ("change", "move", "remove"):
        raise unknown(event)
    if chosen is None:
        return None
    if event == "remove":
        return others
    if event == "move":
        row, column = _cell(fields.get("cell", ""))
        return (*others, replace(chosen, row=row, column=column))
    return (*others, _changed(chosen, fields.get("value", "")))


def _cell(text: str) -> tuple[int, int]:
    row, comma, column = text.partition(",")
    if not (comma and row.isdecimal() and column.isdecimal() and len(text) <= 5):
        raise UsageError("a cell is written as row,column, such as 1,3.")
    return int(row) - 1, int(column) - 1


def _changed(thing: Thing, value: str) -> Thing:
    if value in COLORS:
        return replace(thing, color=value)
    if value in SHAPES:
        return replace(thing, shape=value)
    return replace(thing, size=int(value)) if value in map(str, SIZES) else thing


# --- dragging and drawing --------------------------------------------------------------------------------------------


def _swatches() -> list[str]:
    return [*COLORS, *SHAPES, *map(str, SIZES)]


def _dragged(scene: Scene, x1: float, y1: float, x2: float, y2: float) -> tuple[Thing, ...] | None:
    side = scene.size * CELL
    (c1, r1), (c2, r2) = ((int((x - MARGIN) // CELL), int((y - MARGIN) // CELL)) for x, y in ((x1, y1), (x2, y2)))
    is_inside = 0 <= c2 < scene.size and 0 <= r2 < scene.size
    there = _thing_at(scene, r2, c2) if is_inside else None
    if y1 >= 2 * MARGIN + side:
        place = int((x1 - MARGIN) // SWATCH) + 6 * int((y1 - 2 * MARGIN - side) // SWATCH)
        if not 0 <= place < len(_swatches()) or not is_inside:
            return None
        value = _swatches()[place]
        if there is not None:
            return tuple(_changed(t, value) if t is there else t for t in scene.ordered)
        return (*scene.ordered, Thing(1, COLORS[0], value, r2, c2)) if value in SHAPES else None
    chosen = _thing_at(scene, r1, c1)
    if chosen is None:
        return None
    others = tuple(t for t in scene.ordered if t is not chosen)
    return (*others, replace(chosen, row=r2, column=c2)) if is_inside else others


def _thing_at(scene: Scene, row: int, column: int) -> Thing | None:
    fits = [t for t in scene.ordered if (t.row, t.column) == (row, column)]
    return min(fits, key=lambda t: t.is_box, default=None)


def _painted(scene: Scene) -> Canvas:
    side = scene.size * CELL
    canvas = Canvas(max(side, 6 * SWATCH) + 2 * MARGIN, side + 3 * MARGIN + 2 * SWATCH, PAPER, "the output world")
    canvas.rect(MARGIN, MARGIN, side, side, fill="#ffffff", stroke="#b9b4a8", width=2.0, radius=3)
    for k in range(1, scene.size):
        canvas.line(((MARGIN + k * CELL, MARGIN), (MARGIN + k * CELL, MARGIN + side)), stroke=GRID_LINE, width=1.2)
        canvas.line(((MARGIN, MARGIN + k * CELL), (MARGIN + side, MARGIN + k * CELL)), stroke=GRID_LINE, width=1.2)
    for thing in sorted(scene.ordered, key=lambda t: not t.is_box):
        x, y = MARGIN + thing.column * CELL, MARGIN + thing.row * CELL
        if thing.is_box:
            paint_box(canvas, thing, x, y)
        else:
            paint_thing(canvas, thing, x + CELL / 2, y + CELL / 2, CELL)
    for place, value in enumerate(_swatches()):
        x, y = MARGIN + SWATCH * (place % 6), 2 * MARGIN + side + SWATCH * (place // 6)
        canvas.rect(
            x + 3, y + 3, SWATCH - 6, SWATCH - 6, fill=PAINT.get(value, "#ffffff"), stroke="#b9b4a8", width=1.2, radius=6
        )
        if value in SHAPES:
            paint_thing(canvas, Thing(2, "red", value, 0, 0), x + SWATCH / 2, y + SWATCH / 2, SWATCH - 8)
        elif value not in COLORS:
            canvas.write(x + SWATCH / 2, y + SWATCH / 2 + 6, value, size=17, fill=INK, anchor="middle", bold=True)
    return canvas
