"""gSCAN: commands in a small grid world, answered by action sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example, Problem
from recombine.families.gscan import native, oracle, prompts
from recombine.families.gscan.explain import explain
from recombine.families.gscan.generate import SCHEMA, generate, pick, size
from recombine.families.gscan.native import NATIVE_NAME
from recombine.families.gscan.oracle import validate
from recombine.families.gscan.plan import parse_command
from recombine.families.gscan.render import MEDIA, render
from recombine.families.gscan.score import score
from recombine.families.gscan.splits import OPTIONS, RECIPES, SPLITS
from recombine.families.gscan.survey import survey
from recombine.grid.codes import COLORS, SHAPES
from recombine.grid.world import WORLD_SCHEMA, inputs_of, world_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Family

__all__ = [
    "CITATION", "CLUSTER", "DIALS", "MEDIA", "NAME", "NATIVE_NAME", "OPTIONS", "RECIPES", "SCHEMA", "SPLITS", "TITLE",
    "canonical", "canonical_batch", "example", "explain", "generate", "pick", "prompts", "read", "render", "score", "size", "survey", "validate",
    "validate_batch", "write",
]  # fmt: skip

NAME = "gscan"
TITLE = "gSCAN: commands in a grid world to actions"
CITATION = """@inproceedings{ruis2020benchmark,
  title = {A Benchmark for Systematic Generalization in Grounded Language Understanding},
  author = {Ruis, Laura and Andreas, Jacob and Baroni, Marco and Bouchacourt, Diane and Lake, Brenden M.},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {33},
  year = {2020}
}
"""
CLUSTER = "command"
DIALS = ("action_count", "distance", "object_count")
_HIDDEN = frozenset({"command", "actions", *WORLD_SCHEMA})


def _family() -> Family:
    import sys

    return cast("Family", sys.modules[__name__])


def example(batch: Batch, row: int) -> Example:
    """The readable view of one row: the plan is the command, the world has the target as its first object."""
    values = batch.row(row)
    world, job = world_of(values), batch.job
    meta: dict[str, Any] = {"recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed}
    meta |= {name: value for name, value in values.items() if name not in _HIDDEN}
    inputs = {"command": values["command"], **inputs_of(world)}
    command = parse_command(values["command"])
    return Example(_family(), batch.id(row), inputs, ",".join(values["actions"]), command, world, meta)


def canonical(example: Example) -> bytes:
    """Command, agent and the objects by place: roles and the order of objects do not matter."""
    world = example.world
    things = sorted((t.row, t.column, t.size, t.color, t.shape) for t in world.things)
    return repr((str(example.inputs["command"]), world.size, world.row, world.column, world.heading, things)).encode()


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits for each row: a sum over its objects, so that their order does not matter, mixed with the rest."""
    columns = batch.columns
    command, rows = columns["command"], cast(Ragged, columns["object_rows"])
    if isinstance(command, Coded):
        words = np.array([parse_command(text).number for text in command.values], dtype=np.uint64)[command.codes]
    else:
        words = np.array([parse_command(str(command[row])).number for row in range(len(batch))], dtype=np.uint64)
    packed = np.zeros(int(rows.offsets[-1]), dtype=np.uint64)
    names: dict[str, tuple[str, ...]] = {"object_colors": COLORS, "object_shapes": SHAPES}
    for name in ("object_rows", "object_columns", "object_sizes", *names):
        values = cast(Ragged, columns[name]).values
        if isinstance(values, Coded):
            values = np.array([names[name].index(value) for value in values.values], dtype=np.uint64)[values.codes]
        packed = packed * np.uint64(64) + np.asarray(values).astype(np.uint64)
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(_mixed(packed), dtype=np.uint64)])
    words = _mixed(words) ^ (running[rows.offsets[1:]] - running[rows.offsets[:-1]])
    place = np.asarray(columns["agent_row"]).astype(np.uint64) * np.uint64(64) + np.asarray(columns["agent_column"]).astype(
        np.uint64
    )
    return _mixed(words ^ _mixed(place * np.uint64(64) + np.asarray(columns["grid_size"]).astype(np.uint64)))


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def validate_batch(batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Each broken law with the row that breaks it."""
    return oracle.validate_batch(batch, (example(batch, row) for row in range(len(batch))))


def read(path: Path) -> Iterator[Example | Problem]:
    """The examples of a released `dataset.txt`, as a stream."""
    return native.read(_family(), Path(path))


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The same rows as a released `dataset.txt`."""
    native.write(batches, out)
