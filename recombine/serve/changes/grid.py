"""Grid worlds: move, add, recolour and remove objects, move the agent, change the words of the command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from recombine.core import Example
from recombine.errors import UsageError
from recombine.grid.codes import COLORS, HEADINGS, MAX_GRID, MAX_THINGS, SIZES
from recombine.grid.draw import CELL, INK, MARGIN, PAINT, draw, paint_thing
from recombine.grid.world import Thing, World
from recombine.serve.boards.base import Button, Field, Form, View, labelled, places, unknown
from recombine.serve.changes.base import Finding, Saved, parsed, single_line, written
from recombine.serve.changes.judges import Judge, actions_of, named

SWATCH = 44.0
MARK = "#7048e8"


class GridEditor:
    """State: command, grid size, agent, objects."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def begin(self, example: Example) -> str:
        """The example's command and world."""
        return _state(str(example.inputs["command"]), cast(World, example.world))

    def view(self, state: str, said: str = "") -> View:
        """The world with the meant objects ringed, and swatches below it."""
        command, world = _read(state)
        canvas = draw(world)
        top = 2 * MARGIN + world.size * CELL
        canvas.height, canvas.width = top + 2 * SWATCH + MARGIN, max(canvas.width, 6 * SWATCH + 2 * MARGIN)
        if not world.problems:
            for i in self._judge.judge(command, world).meant:
                thing = world.things[i]
                x, y = MARGIN + thing.column * CELL, MARGIN + thing.row * CELL
                canvas.rect(x + 1, y + 1, CELL - 2, CELL - 2, stroke=MARK, width=5.0, radius=9)
        for place, value in enumerate(self._swatches()):
            x, y = MARGIN + SWATCH * (place % 6), top + SWATCH * (place // 6)
            fill = PAINT.get(value, "#ffffff")
            canvas.rect(x + 3, y + 3, SWATCH - 6, SWATCH - 6, fill=fill, stroke="#b9b4a8", width=1.2, radius=6)
            if value in self._judge.SHAPES:
                paint_thing(canvas, Thing(2, "red", value, 0, 0), x + SWATCH / 2, y + SWATCH / 2, SWATCH - 8)
            elif value not in COLORS:
                canvas.write(x + SWATCH / 2, y + SWATCH / 2 + 6, value, size=17, fill=INK, anchor="middle", bold=True)
        names = tuple(named(world, i) for i in range(len(world.things)))
        svg = labelled(canvas.svg(), f"the world of {command!r}")
        hint = (
            "Drag an object or the agent to move it, drag an object out of the grid to remove it, drag a colour, shape or size onto it to "
            "change it, drag a shape onto an empty cell to add one. The rings show what the command can mean."
        )
        return View(state, svg, said, hint, (Button("turn the agent", "turn"),), self._forms(world, names))

    def _swatches(self) -> list[str]:
        return [*COLORS, *self._judge.SHAPES, *map(str, SIZES)]

    def _forms(self, world: World, names: tuple[str, ...]) -> tuple[Form, ...]:
        cells = tuple(f"{r + 1},{c + 1}" for r in range(world.size) for c in range(world.size))
        thing, cell = Field("thing", "object", ("the agent", *names)), Field("cell", "row,column", cells)
        kinds = (
            Field("color", "colour", COLORS),
            Field("shape", "shape", self._judge.SHAPES),
            Field("size", "size", tuple(map(str, SIZES))),
            cell,
        )
        return (
            Form("Change", "change", (Field("thing", "object", names), Field("value", "to", tuple(self._swatches())))),
            Form("Move", "move", (thing, cell)),
            Form("Remove", "remove", (Field("thing", "object", names),)),
            Form("Add", "add", kinds),
        )

    def act(self, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """The example after one change; one that gives no possible world changes nothing."""
        command, world = _read(state)
        if event == "text":
            return _state(single_line(fields.get("text", "")), world), ""
        if event == "turn":
            heading = HEADINGS[(HEADINGS.index(world.heading) + 1) % 4]
            return _state(command, replace(world, heading=heading)), ""
        dragged = places(event)
        if dragged is not None:
            if dragged[0] == "click":
                return state, "Drag it, or use the lists below."
            after = self._dragged(world, *dragged[1])
        else:
            after = self._typed(world, event, fields)
        if after is None:
            return state, "Nothing was changed."
        return (state, f"Not possible: {after.problems[0]}.") if after.problems else (_state(command, after), "")

    def _typed(self, world: World, event: str, fields: Mapping[str, str]) -> World | None:
        chosen = next((i for i in range(len(world.things)) if named(world, i) == fields.get("thing", "")), None)
        if event == "add":
            color, shape, size = (fields.get(name, "") for name in ("color", "shape", "size"))
            if color not in COLORS or shape not in self._judge.SHAPES or size not in map(str, SIZES):
                return None
            return _added(world, Thing(int(size), color, shape, *_cell(fields.get("cell", ""))))
        if event == "move":
            row, column = _cell(fields.get("cell", ""))
            if fields.get("thing") == "the agent":
                return replace(world, row=row, column=column)
            return None if chosen is None else _with(world, chosen, replace(world.things[chosen], row=row, column=column))
        if event == "remove":
            return None if chosen is None else _without(world, chosen)
        if event == "change":
            return None if chosen is None else _with(world, chosen, _changed(world.things[chosen], fields.get("value", "")))
        raise unknown(event)

    def _dragged(self, world: World, x1: float, y1: float, x2: float, y2: float) -> World | None:
        top = 2 * MARGIN + world.size * CELL
        (c1, r1), (c2, r2) = ((int((x - MARGIN) // CELL), int((y - MARGIN) // CELL)) for x, y in ((x1, y1), (x2, y2)))
        is_inside = world.has_cell(r2, c2)
        there = _index_at(world, r2, c2) if is_inside else None
        if y1 >= top:
            place = int((x1 - MARGIN) // SWATCH) + 6 * int((y1 - top) // SWATCH)
            if not is_inside or not 0 <= place < len(self._swatches()):
                return None
            value = self._swatches()[place]
            if there is not None:
                return _with(world, there, _changed(world.things[there], value))
            return _added(world, Thing(1, COLORS[0], value, r2, c2)) if value in self._judge.SHAPES else None
        chosen = _index_at(world, r1, c1)
        if (r1, c1) == (world.row, world.column) and chosen is None:
            return replace(world, row=r2, column=c2) if is_inside else None
        if chosen is None:
            return None
        return _with(world, chosen, replace(world.things[chosen], row=r2, column=c2)) if is_inside else _without(world, chosen)

    def finding(self, state: str) -> Finding:
        """The oracle's answer."""
        command, world = _read(state)
        if world.problems:
            return Finding("impossible", f"This is no possible world: {world.problems[0]}.")
        if not world.things:
            return Finding("impossible", "The world is empty.")
        found = self._judge.judge(command, world).finding
        if any((t.row, t.column) == (world.row, world.column) and not t.is_box for t in world.things):
            found = replace(found, notes=(*found.notes, "The agent starts on an object; generated worlds never do that."))
        return found

    def saved(self, state: str) -> Saved:
        """One example in the released layout."""
        command, world = _read(state)
        judgement = self._judge.judge(command, world)
        actions = actions_of(judgement.finding)
        text = self._judge.document(command, world, judgement.meant[0], actions)
        return Saved(f"my-{self._judge.NAME}.txt", text, self._judge.NAME)


# --- worlds ----------------------------------------------------------------------------------------------------------


def _state(command: str, world: World) -> str:
    things = [[t.size, t.color, t.shape, t.row, t.column] for t in world.things]
    return written(
        {"command": command, "size": world.size, "agent": [world.row, world.column, world.heading], "things": things}
    )


def _read(state: str) -> tuple[str, World]:
    found = parsed(state)
    try:
        size, (row, column, heading), listed = found["size"], found["agent"], found["things"]
        things = tuple(Thing(_int(s), str(c), str(k), _int(r), _int(d)) for s, c, k, r, d in listed)
        world = World(_int(size), things, _int(row), _int(column), str(heading))
    except (KeyError, TypeError, ValueError):
        raise UsageError("the example cannot be read; reload the page.") from None
    if not 1 <= world.size <= MAX_GRID or len(things) > MAX_THINGS or world.problems:
        raise UsageError(f"this is no possible world: {', '.join(world.problems[:2]) or 'too large'}.")
    return single_line(str(found.get("command", ""))), world


def _int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(json.dumps(value)[:40])
    return value


def _index_at(world: World, row: int, column: int) -> int | None:
    fits = [i for i, t in enumerate(world.things) if (t.row, t.column) == (row, column)]
    return min(fits, key=lambda i: world.things[i].is_box, default=None)


def _cell(text: str) -> tuple[int, int]:
    row, comma, column = text.partition(",")
    if not (comma and row.isdecimal() and column.isdecimal() and len(text) <= 5):
        raise UsageError("a cell is written as row,column, such as 1,3.")
    return int(row) - 1, int(column) - 1


def _with(world: World, i: int, thing: Thing) -> World:
    return replace(world, things=(*world.things[:i], thing, *world.things[i + 1 :]))


def _without(world: World, i: int) -> World:
    return replace(world, things=(*world.things[:i], *world.things[i + 1 :]))


def _added(world: World, thing: Thing) -> World:
    return replace(world, things=(*world.things, thing))


def _changed(thing: Thing, value: str) -> Thing:
    if value in COLORS:
        return replace(thing, color=value)
    if value in map(str, SIZES):
        return replace(thing, size=int(value))
    return replace(thing, shape=value)
