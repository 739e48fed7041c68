"""Puzzles of lilGym: towers to edit by clicks, and scattered items to judge true or false.

The page cannot run programs. So the truth of a tower statement is worked out here for every scene within `EDITS` edits, for the
right reading and for each careless one. The page lists the same scenes in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.core import Example
from recombine.errors import ProgramError
from recombine.families.lilgym import program
from recombine.families.lilgym.program import Program
from recombine.families.lilgym.readings import READERS, readings
from recombine.families.lilgym.scene import (
    BOX_COUNT,
    BOX_NAMES,
    COLORS,
    SQUARE,
    TOWER_HEIGHT,
    TOWER_SIZE,
    TOWER_X,
    Scene,
    tower_y,
)
from recombine.gallery.puzzle import EASY, HARDER, HARDEST, Puzzle, Reader, Step, wrong_readers

EDITS = 3
"""Edits that a player may make; statements that need more are left out of the gallery."""
Towers = tuple[str, ...]
"""The colours of each box's blocks as digits, from the bottom up."""


def within(start: Towers, edits: int = EDITS) -> list[Towers]:
    """Every scene that this many edits reach: fewer edits first; then box by box, adding each colour before removing."""
    order, seen, level = [start], {start}, [start]
    for _ in range(edits):
        following: list[Towers] = []
        for towers in level:
            for box, tower in enumerate(towers):
                changed = [f"{tower}{color}" for color in range(len(COLORS))] if len(tower) < TOWER_HEIGHT else []
                for new in [*changed, *([tower[:-1]] if tower else [])]:
                    reached = (*towers[:box], new, *towers[box + 1 :])
                    if reached not in seen:
                        seen.add(reached)
                        following.append(reached)
        order += following
        level = following
    return order


def _scene(towers: Towers) -> Scene:
    items = [
        (box, TOWER_X, tower_y(level), TOWER_SIZE, int(color), SQUARE)
        for box, tower in enumerate(towers)
        for level, color in enumerate(tower)
    ]
    return Scene.of("tower", items)


def _truth(reading: Program, scenes: Sequence[Scene]) -> str:
    """One letter for each scene: 1 true, 0 false, - where the reading has no value."""
    found = []
    for scene in scenes:
        try:
            found.append("1" if reading.evaluate(scene) else "0")
        except ProgramError:
            found.append("-")
    return "".join(found)


def tower(example: Example) -> Puzzle | None:
    """A statement to make true or false by adding and removing blocks; None if that takes more than `EDITS` edits."""
    edits = example.answer.count(";")
    if not 1 <= edits <= EDITS:
        return None
    start = tuple("".join(str(item.color) for item in example.world.items if item.box == box) for box in range(BOX_COUNT))
    scenes = [_scene(towers) for towers in within(start)]
    compiled = program.compile(example.meta["program"])
    readers = [Reader("stops_at_once", "answers STOP at once", ["stop"])]
    readers += [Reader(name, READERS[name][0], [_truth(reading, scenes)]) for name, reading in readings(compiled)]
    target = bool(example.meta["target"])
    question = f"Make this statement {str(target).lower()}: “{example.inputs['statement']}”"
    level = EASY if edits == 1 and len(question) < 90 else HARDER if edits == 1 else HARDEST
    scene = {"towers": list(start), "target": target, "edits": EDITS}
    return Puzzle(
        example, "tower", level, question, [_truth(compiled, scenes)], _steps(example), readers, example.answer, scene
    )


def scatter(example: Example) -> Puzzle:
    """A picture and a statement: true or false?"""
    question = f"True or false? “{example.inputs['statement']}”"
    items = [[item.box, item.x, item.y, item.size, item.color, item.shape] for item in example.world.items]
    readers = wrong_readers(example, [example.answer])
    level = HARDER if len(readers) < 3 else HARDEST
    return Puzzle(
        example, "truth", level, question, [example.answer], _steps(example), readers, example.answer, {"items": items}
    )


def _steps(example: Example) -> list[Step]:
    found: list[Step] = []
    for text in example.explain().steps:
        marks: list[Any] = [box for box, name in enumerate(BOX_NAMES) if f"{name} box" in text or f" {name}:" in text]
        found.append(Step(text.strip(), marks))
    return found


def lilgym(example: Example) -> Puzzle | None:
    """The puzzle that fits the example's task."""
    return tower(example) if example.meta["task"] == "edit" else scatter(example)
