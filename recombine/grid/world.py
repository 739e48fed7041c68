"""The readable world: what a person, a picture or a file sees. Kernels see arrays instead (`World.arrays`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recombine.columns import Coded, Ragged
from recombine.core import Batch, ColumnType
from recombine.errors import UsageError, shown
from recombine.grid.codes import ACTIONS, COLORS, DIRECTIONS, HEADINGS, MAX_GRID, MAX_THINGS, SHAPES, SIZES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.columns import Column

WORLD_SCHEMA: dict[str, ColumnType] = {
    "grid_size": "int8",
    "agent_row": "int8",
    "agent_column": "int8",
    "agent_heading": "string",
    "object_sizes": "list<int8>",
    "object_colors": "list<string>",
    "object_shapes": "list<string>",
    "object_rows": "list<int8>",
    "object_columns": "list<int8>",
    "object_roles": "list<string>",
}
"""The columns that hold a world, as every grid family stores it; object 0 is the target."""


@dataclass(frozen=True)
class Thing:
    """One object. `role` says why it is there (`target`, `pivot`, a kind of distractor); the world does not depend on it."""

    size: int
    color: str
    shape: str
    row: int
    column: int
    role: str = ""

    @property
    def name(self) -> str:
        """`red square`; the size is a number, so it is not in the name."""
        return f"{self.color} {self.shape}"

    @property
    def is_box(self) -> bool:
        """Whether it covers size × size cells and blocks nothing."""
        return self.shape == "box"

    def covers(self, row: int, column: int) -> bool:
        """Whether the cell is under it: its own cell, or any of a box's."""
        k = self.size if self.is_box else 1
        return self.row <= row < self.row + k and self.column <= column < self.column + k


@dataclass(frozen=True)
class World:
    """A grid with objects and an agent. Row 0 is north, column 0 is west. `problems` lists what is impossible about it."""

    size: int
    things: tuple[Thing, ...]
    row: int
    column: int
    heading: str = "east"

    @cached_property
    def outcomes(self) -> dict[tuple[str, ...], Any]:
        """A cache of the effects and end states of action sequences; `score.end_after` fills it."""
        return {}

    @cached_property
    def fits(self) -> dict[object, int]:
        """The objects that phrases fit and that relations lead to, as bits; `matching` fills and reads it."""
        return {}

    @cached_property
    def sets(self) -> dict[tuple[str, object], int]:
        """The objects of each size, colour, shape, row and column as a number whose bit i stands for object i."""
        found: dict[tuple[str, object], int] = {}
        for i, thing in enumerate(self.things):
            for name in ("size", "color", "shape", "row", "column"):
                key = name, getattr(thing, name)
                found[key] = found.get(key, 0) | 1 << i
        return found

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Faults that no grid world may have, as sentences; empty for a possible world."""
        found: list[str] = []
        if not 1 <= self.size <= MAX_GRID:
            found.append(f"the grid size is {self.size}, not 1 to {MAX_GRID}")
        if len(self.things) > MAX_THINGS:
            found.append(f"{len(self.things)} objects, more than {MAX_THINGS}")
        if self.heading not in HEADINGS:
            found.append(f"the agent faces {shown(self.heading)}")
        if not self.has_cell(self.row, self.column):
            found.append(f"the agent is outside the grid at ({self.row}, {self.column})")
        taken: dict[tuple[bool, int, int], int] = {}
        for i, thing in enumerate(self.things):
            found += self._problems_of(i, thing)
            key = (thing.is_box, thing.row, thing.column)
            if key in taken:
                found.append(f"objects {taken[key]} and {i} share the cell ({thing.row}, {thing.column})")
            taken[key] = i
        return tuple(found)

    def _problems_of(self, i: int, thing: Thing) -> list[str]:
        found = []
        if thing.size not in SIZES or thing.color not in COLORS or thing.shape not in SHAPES:
            found.append(f"object {i} is of unknown kind: size {thing.size}, {shown(thing.color)}, {shown(thing.shape)}")
        reach = thing.size if thing.is_box else 1
        if not (self.has_cell(thing.row, thing.column) and self.has_cell(thing.row + reach - 1, thing.column + reach - 1)):
            found.append(f"object {i} ({thing.name}, size {thing.size}) does not fit the grid at ({thing.row}, {thing.column})")
        return found

    def has_cell(self, row: int, column: int) -> bool:
        """Whether the cell is in the grid."""
        return 0 <= row < self.size and 0 <= column < self.size

    def thing_at(self, row: int, column: int) -> int | None:
        """The index of the object that is no box in this cell."""
        for i, thing in enumerate(self.things):
            if not thing.is_box and (thing.row, thing.column) == (row, column):
                return i
        return None

    def direction_to(self, thing: Thing) -> str:
        """Where the object lies as seen from the agent: one of n, ne, e, se, s, sw, w, nw; empty if it is underfoot."""
        down, right = thing.row - self.row, thing.column - self.column
        return ("n" if down < 0 else "s" if down > 0 else "") + ("w" if right < 0 else "e" if right > 0 else "")

    def distance_to(self, thing: Thing) -> int:
        """Steps from the agent to the object."""
        return abs(thing.row - self.row) + abs(thing.column - self.column)

    def arrays(self) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
        """(things, n, agent) as the kernels take them, to be copied before they are changed; an impossible world is an error."""
        return self._arrays

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
        import numpy as np

        if self.problems:
            raise UsageError(f"this world cannot be acted in: {'; '.join(self.problems[:3])}.")
        listed = [(t.size, COLORS.index(t.color), SHAPES.index(t.shape), t.row, t.column) for t in self.things]
        things = np.array(listed or [(0, 0, 0, 0, 0)], dtype=np.int64)
        agent = np.array([self.row, self.column, HEADINGS.index(self.heading), 0], dtype=np.int64)
        return things, len(self.things), agent

    def moved(self, things: NDArray[np.int64], agent: NDArray[np.int64]) -> World:
        """The same world with the positions that a kernel left in its arrays."""
        places = things[:, 3:5].tolist()
        placed = tuple(
            [
                t if [t.row, t.column] == at else replace(t, row=at[0], column=at[1])
                for t, at in zip(self.things, places, strict=False)
            ]
        )
        row, column, heading, _ = agent.tolist()
        return World(self.size, placed, row, column, HEADINGS[heading])


def world_of(row: Mapping[str, Any]) -> World:
    """The world that the `WORLD_SCHEMA` columns of one row hold."""
    keys = ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns", "object_roles")
    things = tuple(Thing(*values) for values in zip(*(row[key] for key in keys), strict=True))
    return World(int(row["grid_size"]), things, int(row["agent_row"]), int(row["agent_column"]), str(row["agent_heading"]))


def inputs_of(world: World) -> dict[str, Any]:
    """The world as plain values that a model may see: no roles, and objects by place, because object 0 is the target."""
    order = sorted(world.things, key=lambda t: (t.row, t.column, t.is_box))
    return {
        "grid_size": world.size,
        "agent": {"row": world.row, "column": world.column, "heading": world.heading},
        "objects": [{"size": t.size, "color": t.color, "shape": t.shape, "row": t.row, "column": t.column} for t in order],
    }


_OBJECTS = ("object_sizes", "object_colors", "object_shapes", "object_rows", "object_columns")


def world_at(batch: Batch, row: int) -> World:
    """The world in one row of a batch."""
    columns = [batch.value(name, row) for name in (*_OBJECTS, "object_roles")]
    things = tuple([Thing(*values) for values in zip(*columns, strict=True)])
    return World(batch.value("grid_size", row), things, *_agent_at(batch, row))


def _agent_at(batch: Batch, row: int) -> tuple[int, int, str]:
    return batch.value("agent_row", row), batch.value("agent_column", row), batch.value("agent_heading", row)


def inputs_at(batch: Batch, row: int) -> dict[str, Any]:
    """`inputs_of` of the world in one row of a batch, with the command; no `World` is made."""
    sizes, colors, shapes, rows, columns = [batch.value(name, row) for name in _OBJECTS]
    places = [(r, c, shape == "box", i) for i, (r, c, shape) in enumerate(zip(rows, columns, shapes, strict=True))]
    places.sort()
    agent_row, agent_column, heading = _agent_at(batch, row)
    return {
        "command": batch.value("command", row),
        "grid_size": batch.value("grid_size", row),
        "agent": {"row": agent_row, "column": agent_column, "heading": heading},
        "objects": [{"size": sizes[i], "color": colors[i], "shape": shapes[i], "row": r, "column": c} for r, c, _, i in places],
    }


def actions_at(batch: Batch, row: int) -> str:
    """The right answer in one row of a batch."""
    return ",".join(batch.value("actions", row))


def world_columns(
    grid: int,
    things: NDArray[np.integer[Any]],
    counts: NDArray[np.integer[Any]],
    agents: NDArray[np.integer[Any]],
    roles: NDArray[np.integer[Any]],
    role_names: Sequence[str],
) -> dict[str, Column]:
    """The `WORLD_SCHEMA` columns of many worlds at once.

    things[N, M, 5], counts[N], agents[N, >= 3], roles[N, M] (codes into role_names); rows beyond each count are ignored.
    """
    import numpy as np

    rows, most = roles.shape
    inside = np.arange(most)[None, :] < counts[:, None]
    offsets = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    flat = things[inside].astype(np.int8)

    def lists(column: int) -> NDArray[np.int8]:
        return np.ascontiguousarray(flat[:, column])

    return {
        "grid_size": np.full(rows, grid, dtype=np.int8),
        "agent_row": agents[:, 0].astype(np.int8),
        "agent_column": agents[:, 1].astype(np.int8),
        "agent_heading": Coded(agents[:, 2].astype(np.int8), HEADINGS),
        "object_sizes": Ragged(lists(0), offsets),
        "object_colors": Ragged(Coded(lists(1), COLORS), offsets),
        "object_shapes": Ragged(Coded(lists(2), SHAPES), offsets),
        "object_rows": Ragged(lists(3), offsets),
        "object_columns": Ragged(lists(4), offsets),
        "object_roles": Ragged(Coded(roles[inside].astype(np.int8), tuple(role_names)), offsets),
    }


def action_column(actions: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]) -> Ragged:
    """actions[N, L] with counts[N] as a `list<string>` column of action names."""
    import numpy as np

    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    inside = np.arange(actions.shape[1])[None, :] < counts[:, None]
    return Ragged(Coded(actions[inside].astype(np.int8), ACTIONS), offsets)


def directions(agents: NDArray[np.integer[Any]], things: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
    """Codes into DIRECTIONS of object 0 as seen from the agent, for many worlds at once (-1 if it is underfoot)."""
    import numpy as np

    return direction_codes(things[:, 0, 3].astype(np.int64) - agents[:, 0], things[:, 0, 4].astype(np.int64) - agents[:, 1])


def direction_codes(down: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
    """Codes into DIRECTIONS of what lies this many cells down and to the right; -1 where both are 0."""
    import numpy as np

    names = (("nw", "n", "ne"), ("w", "", "e"), ("sw", "s", "se"))
    table = np.array([[DIRECTIONS.index(name) if name else -1 for name in row] for row in names], dtype=np.int8)
    found: NDArray[np.int8] = table[np.sign(down) + 1, np.sign(right) + 1]
    return found
