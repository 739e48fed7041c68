"""ARC-AGI JSON: one object of tasks by id, each with `train` and `test` pairs of grids. A file with a single task is read too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from recombine.core import Batch, Example, Family, Problem
from recombine.errors import BadOption
from recombine.families.abstract import blocks
from recombine.families.abstract.answers import Scene, write_answer
from recombine.families.abstract.rows import Task, inputs_of, task_of
from recombine.files import read_json

NATIVE_NAME = "{split}-{part}.json"
LARGEST_GRID = blocks.MAX_SIDE // blocks.BLOCK


def arc_task(task: Task) -> dict[str, list[dict[str, blocks.Grid]]]:
    """One task as ARC writes it."""

    def pair(before: Scene, after: Scene) -> dict[str, blocks.Grid]:
        return {"input": blocks.paint(before.size, before.things), "output": blocks.paint(after.size, after.things)}

    if task.test.size > LARGEST_GRID:
        raise BadOption(f"ARC grids have at most {blocks.MAX_SIDE} rows; set grid_size to {LARGEST_GRID} or less.")
    return {"train": [pair(*shown) for shown in task.demonstrations], "test": [pair(task.test, task.output)]}


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """All rows as one JSON object: id -> task."""
    out.write("{")
    is_first = True
    for batch in batches:
        for row in range(len(batch)):
            out.write("\n" if is_first else ",\n")
            is_first = False
            task = json.dumps(arc_task(task_of(batch.row(row))), separators=(",", ":"))
            out.write(f"{json.dumps(batch.id(row))}: {task}")
    out.write("\n}\n")


def read(family: Family, path: Path) -> Iterator[Example | Problem]:
    """The tasks of a file; a Problem for each that is not made of our objects. Files are judged as `release`."""
    value = read_json(path)
    tasks = {path.stem: value} if isinstance(value, dict) and {"train", "test"} <= set(value) else value
    if not isinstance(tasks, dict) or not tasks:
        yield Problem("unreadable", "the file holds no ARC task", place=path.name)
        return
    for name, task in tasks.items():
        try:
            yield _example(family, str(name), task)
        except (ValueError, KeyError, TypeError, IndexError) as fault:
            yield Problem("unreadable", f"the task cannot be read: {str(fault)[:200]}", place=str(name)[:200])


def _example(family: Family, name: str, value: Any) -> Example:
    train, test = value["train"], value["test"]
    if not isinstance(train, list) or not isinstance(test, list) or not train or len(test) != 1:
        raise ValueError("a task needs train pairs and one test pair")
    pairs = [tuple(_scene(pair[side]) for side in ("input", "output")) for pair in (*train, test[0])]
    if len({scene.size for pair in pairs for scene in pair}) != 1:
        raise ValueError("all grids of a task must have the same size")
    task = Task(tuple((a, b) for a, b in pairs[:-1]), *pairs[-1])
    answer = write_answer("objects", task.test, task.output)
    meta = {"recipe": "release", "place": name, "demonstrations": len(task.demonstrations)}
    return Example(family, name, inputs_of(task, "objects"), answer, world=task, meta=meta)


def _scene(grid: Any) -> Scene:
    things = blocks.read(grid)
    return Scene(len(grid) // blocks.BLOCK, tuple(things))
