"""Output worlds as text, in four forms: the objects, the edit, the cells, and an ARC grid. All are read back without executing them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from recombine.families.abstract import blocks
from recombine.grid.codes import COLORS, SHAPES, SIZES
from recombine.grid.world import Thing

MAX_ANSWER = 20_000
"""Longer answers are not read."""


@dataclass(frozen=True)
class Scene:
    """A world without an agent. Row 0 is north, column 0 is west. Two scenes are equal if they hold the same objects."""

    size: int
    things: tuple[Thing, ...]

    @cached_property
    def ordered(self) -> tuple[Thing, ...]:
        """The objects by place; a box comes after what stands in its corner."""
        return tuple(sorted(self.things, key=lambda t: (t.row, t.column, t.is_box, t.color, t.shape, t.size)))

    def key(self) -> str:
        """The objects as a text that does not depend on their order."""
        return f"{self.size}:" + ";".join(object_text(t) for t in self.ordered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and self.size == other.size and self.ordered == other.ordered

    def __hash__(self) -> int:
        return hash((self.size, self.ordered))

    def listed(self) -> list[dict[str, Any]]:
        """The objects as plain values, by place."""
        return [{"size": t.size, "color": t.color, "shape": t.shape, "row": t.row, "column": t.column} for t in self.ordered]

    def problems(self) -> list[str]:
        """What no world may have, as sentences."""
        found, taken = [], set()
        for t in self.things:
            if t.size not in SIZES or t.color not in COLORS or t.shape not in SHAPES:
                found.append(f"no object is a {t.color} {t.shape} of size {t.size}")
            reach = t.size if t.is_box else 1
            if not (0 <= t.row <= self.size - reach and 0 <= t.column <= self.size - reach):
                found.append(f"{object_text(t)} does not fit the grid")
            if (t.is_box, t.row, t.column) in taken:
                found.append(f"two objects share the cell {t.row + 1},{t.column + 1}")
            taken.add((t.is_box, t.row, t.column))
        return found


def scene_of(size: int, listed: list[dict[str, Any]]) -> Scene:
    """The scene that an example's inputs hold."""
    return Scene(size, tuple(Thing(t["size"], t["color"], t["shape"], t["row"], t["column"]) for t in listed))


def object_text(thing: Thing) -> str:
    """`red circle 2 at 1,3`: colour, shape, size, row and column from 1."""
    return f"{thing.color} {thing.shape} {thing.size} at {thing.row + 1},{thing.column + 1}"


_OBJECT = re.compile(
    rf"({'|'.join(COLORS)}) ({'|'.join(SHAPES)}) ([{SIZES[0]}-{SIZES[-1]}]) at ([0-9]{{1,2}}) ?, ?([0-9]{{1,2}})"
)


def _read_object(text: str) -> Thing | None:
    found = _OBJECT.fullmatch(text.strip())
    if found is None:
        return None
    color, shape, size, row, column = found.groups()
    return Thing(int(size), color, shape, int(row) - 1, int(column) - 1)


# --- the objects -----------------------------------------------------------------------------------------------------


def _write_objects(_before: Scene, after: Scene) -> str:
    return "; ".join(object_text(thing) for thing in after.ordered) or "nothing"


def _read_objects(before: Scene, text: str) -> Scene | None:
    if text == "nothing":
        return Scene(before.size, ())
    things = [_read_object(piece) for piece in text.split(";")]
    return None if None in things else Scene(before.size, tuple(t for t in things if t is not None))


# --- the edit --------------------------------------------------------------------------------------------------------


def _write_edit(before: Scene, after: Scene) -> str:
    gone = [t for t in before.ordered if t not in after.ordered]
    new = [t for t in after.ordered if t not in before.ordered]
    pieces = [f"remove {object_text(t)}" for t in gone] + [f"add {object_text(t)}" for t in new]
    return "; ".join(pieces) or "nothing"


def _read_edit(before: Scene, text: str) -> Scene | None:
    things = list(before.ordered)
    for piece in text.split(";"):
        verb, _, rest = piece.strip().partition(" ")
        thing = _read_object(rest)
        if thing is None or verb not in ("remove", "add") or (verb == "remove" and thing not in things):
            return None
        if verb == "remove":
            things.remove(thing)
        else:
            things.append(thing)
    return Scene(before.size, tuple(things))


# --- the cells -------------------------------------------------------------------------------------------------------

_COLOR_LETTERS, _SHAPE_LETTERS = "rbgy", "oisx"
"""Red, blue, green, yellow; circle (o), cylinder (i), square (s), box (x)."""


def _write_cells(_before: Scene, after: Scene) -> str:
    cells = [["." for _ in range(after.size)] for _ in range(after.size)]
    for t in after.ordered:
        code = f"{_COLOR_LETTERS[COLORS.index(t.color)]}{_SHAPE_LETTERS[SHAPES.index(t.shape)]}{t.size}"
        here = cells[t.row][t.column]
        cells[t.row][t.column] = code if here == "." else f"{here}+{code}"
    return " / ".join(" ".join(row) for row in cells)


def _read_cells(before: Scene, text: str) -> Scene | None:
    rows = [row.split() for row in text.split("/")]
    if len(rows) != before.size or any(len(row) != before.size for row in rows):
        return None
    things = []
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            for code in cell.split("+") if cell != "." else ():
                if not re.fullmatch(f"[{_COLOR_LETTERS}][{_SHAPE_LETTERS}][1-4]", code):
                    return None
                color, shape = COLORS[_COLOR_LETTERS.index(code[0])], SHAPES[_SHAPE_LETTERS.index(code[1])]
                things.append(Thing(int(code[2]), color, shape, r, c))
    return Scene(before.size, tuple(things))


# --- ARC grids -------------------------------------------------------------------------------------------------------


def _write_arc(_before: Scene, after: Scene) -> str:
    return json.dumps(blocks.paint(after.size, after.things), separators=(",", ":"))


def _read_arc(before: Scene, text: str) -> Scene | None:
    if not re.fullmatch(r"[\[\]0-9,\s]+", text):
        return None
    try:
        grid = json.loads(text)
        things = blocks.read(grid)
    except (ValueError, RecursionError):
        return None
    return Scene(before.size, tuple(things)) if len(grid) == before.size * blocks.BLOCK else None


_WRITERS: Mapping[str, Callable[[Scene, Scene], str]] = MappingProxyType(
    {"objects": _write_objects, "edit": _write_edit, "cells": _write_cells, "arc": _write_arc}
)
_READERS: Mapping[str, Callable[[Scene, str], Scene | None]] = MappingProxyType(
    {"objects": _read_objects, "edit": _read_edit, "cells": _read_cells, "arc": _read_arc}
)


def write_answer(form: str, before: Scene, after: Scene) -> str:
    """The output world `after` of the input world `before` in one of the four forms."""
    return _WRITERS[form](before, after)


def read_answer(before: Scene, text: str) -> Scene | None:
    """The output world that an answer in any of the four forms means; None if it is in none, or no possible world."""
    cleaned = text.strip().rstrip(".").strip() if "/" not in text else text.strip()
    if not cleaned or len(cleaned) > MAX_ANSWER:
        return None
    for read in _READERS.values():
        scene = read(before, cleaned)
        if scene is not None:
            return None if scene.problems() else scene
    return None
