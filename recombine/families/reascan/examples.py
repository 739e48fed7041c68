"""One row as an `Example`, and its canonical form."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example, Family, option
from recombine.families.reascan.plan import encode_form, parse_command
from recombine.families.reascan.splits import OPTIONS
from recombine.grid.codes import COLORS, SHAPES
from recombine.grid.world import WORLD_SCHEMA, World, inputs_of, world_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def this_family() -> Family:
    """The family itself, as examples hold it."""
    return cast(Family, sys.modules["recombine.families.reascan"])


def example(batch: Batch, row: int) -> Example:
    """The readable view of one row; works from the columns of SCHEMA alone."""
    values = batch.row(row)
    world = world_of(values)
    command, _ = parse_command(values["command"])
    job = batch.job
    meta = {name: value for name, value in values.items() if name not in WORLD_SCHEMA and name not in ("command", "actions")}
    meta |= {"recipe": job.recipe, "split": job.split, "part": job.part, "index": batch.start + row}
    if batch.indices is not None:
        meta["index"] = int(batch.indices[row])
    meta |= {name: option(job, OPTIONS, name) for name in ("longest", "shots")}
    return Example(
        this_family(),
        batch.id(row),
        {"command": values["command"], **inputs_of(world)},
        ",".join(values["actions"]),
        command,
        world,
        meta,
    )


def canonical(example: Example) -> bytes:
    """Command and world without the order of the objects, their roles, and the determiners (which follow from the world)."""
    world = cast(World, example.world)
    things = sorted((t.row, t.column, t.shape, t.color, t.size) for t in world.things)
    text = f"{encode_form(example.plan)}|{world.size}|{world.row},{world.column},{world.heading}|{things}"
    return text.encode()


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits per row for its canonical form: a mix of the command and the agent plus the sum of the mixes of the objects."""
    columns = batch.columns
    sizes = cast(Ragged, columns["object_sizes"])
    packed = np.asarray(sizes.values).astype(np.uint64)
    for name, known in (("object_colors", COLORS), ("object_shapes", SHAPES), ("object_rows", ()), ("object_columns", ())):
        packed = packed * np.uint64(32) + _numbers(cast(Ragged, columns[name]).values, known).astype(np.uint64)
    summed = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(_mixed(packed), dtype=np.uint64)])
    objects = summed[sizes.offsets[1:]] - summed[sizes.offsets[:-1]]
    place = np.zeros(len(batch), dtype=np.uint64)
    for name in ("grid_size", "agent_row", "agent_column"):
        place = place * np.uint64(32) + np.asarray(columns[name]).astype(np.uint64)
    return _mixed(_mixed(np.asarray(columns["form"]).astype(np.uint64)) ^ _mixed(place) ^ objects)


def _numbers(values: Any, known: tuple[str, ...]) -> NDArray[Any]:
    if not isinstance(values, Coded):
        return np.asarray(values)
    table = np.array([known.index(value) for value in values.values], dtype=np.int64)
    return table[values.codes]


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
