"""Puzzles on a grid: gSCAN and ReaSCAN are walked, abstract tasks are answered with an object and what happens to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from recombine.core import Example
from recombine.families.abstract import operations
from recombine.families.abstract.answers import Scene, write_answer
from recombine.families.abstract.explain import applied, pivot_of, readers_outputs
from recombine.families.abstract.plan import Rule
from recombine.families.abstract.rows import Task
from recombine.families.gscan.explain import READERS as GSCAN_READERS
from recombine.families.reascan.explain import doings
from recombine.gallery.puzzle import EASY, HARDER, HARDEST, Puzzle, Reader, Step
from recombine.grid.codes import ACTIONS, COLORS, HEADINGS, SHAPES
from recombine.grid.world import Thing, World

SIGNS = "wpls<>"
"""One letter for each of `ACTIONS`: walk, push, pull, stay, turn left, turn right."""
_CELL = re.compile(r"row (\d+), column (\d+)")
_QUOTED = re.compile(r"'([^']+)'")
_AT = re.compile(r"(\d+),(\d+)")


def _listed(things: Sequence[Thing]) -> list[list[int]]:
    """The objects as numbers: size, colour, shape, row, column."""
    return [[t.size, COLORS.index(t.color), SHAPES.index(t.shape), t.row, t.column] for t in things]


def _signs(actions: Sequence[str]) -> str:
    return "".join(SIGNS[ACTIONS.index(action)] for action in actions)


def _walked(example: Example, level: int, readers: Sequence[Reader]) -> Puzzle:
    world: World = example.world
    right = _signs(example.answer.split(","))
    steps = []
    for text in example.explain().steps:
        cells = [[int(row) - 1, int(column) - 1] for row, column in _CELL.findall(text)]
        steps.append(Step(text[:1].upper() + text[1:], [cells, _QUOTED.findall(text)]))
    steps[-1] = Step(steps[-1].text, [*steps[-1].marks, right])  # the last step shows the way
    scene = {
        "size": world.size,
        "things": _listed(world.things),
        "agent": [world.row, world.column, HEADINGS.index(world.heading)],
        "can": "".join(SIGNS[ACTIONS.index(action)] for action in ("push", "pull", "stay")),
    }
    known = [r for r in readers if any(answer != right for answer in r.answers)]
    kept = [Reader(r.name, r.does, [a for a in r.answers if a != right]) for r in known]
    return Puzzle(
        example, "grid", level, str(example.inputs["command"]), [right], steps, kept, example.answer.replace(",", ", "), scene
    )


def gscan(example: Example) -> Puzzle:
    """A command to carry out in a small world."""
    command = example.plan
    level = EASY + (command.verb != "walk") + bool(command.adverb)
    answers = {name: read(example.world, command) for name, (_, read) in GSCAN_READERS.items()}
    readers = [Reader(name, GSCAN_READERS[name][0], list(map(_signs, plans))) for name, plans in answers.items() if plans]
    return _walked(example, level, readers)


def reascan(example: Example) -> Puzzle:
    """A command with relative clauses to carry out in a small world."""
    phrases = len(example.plan.phrases)
    readers = [
        Reader(reader.name, reader.what, list(dict.fromkeys(map(_signs, plans))))
        for reader, plans in doings(example.world, example.plan)
        if plans
    ]
    return _walked(example, EASY if phrases < 2 else HARDER if phrases == 2 else HARDEST, readers)


# --- abstract tasks --------------------------------------------------------------------------------------------------

OFFERED = tuple(
    text
    for text, kind in zip(operations.texts(), operations.kinds(), strict=True)
    if kind in ("paint", "reshape", "resize", "grow", "shrink", "move", "remove", "copy")
)
"""Operations that a player can choose; tasks with another one are left out of the gallery."""


def abstract(example: Example) -> Puzzle | None:
    """Demonstrations of a hidden rule, and a world to which it must be applied; None if the page does not offer its operation."""
    task: Task = example.world
    rule: Rule = example.plan
    if rule.operation not in OFFERED:
        return None
    right, named = _outcomes(example)
    outputs = readers_outputs(example)
    shortcuts = {shortcut.name: shortcut.reader for shortcut in example.explain().shortcuts}
    readers = [Reader(name, shortcuts[name], named.get(name, [])) for name in outputs if name != "copies_demonstration"]
    steps = []
    for text in example.explain().steps:
        shown = re.match(r"Demonstration (\d+)", text)
        place = int(shown[1]) - 1 if shown else len(task.demonstrations)
        cells = [[int(row) - 1, int(column) - 1] for row, column in _AT.findall(text.split(" Of ")[0])]
        steps.append(Step(text, [place, cells]))
    scene = {
        "size": task.test.size,
        "demonstrations": [[_listed(a.ordered), _listed(b.ordered)] for a, b in task.demonstrations],
        "things": _listed(task.test.ordered),
        "output": _listed(task.output.ordered),
        "offered": [operations.sentence(text) for text in OFFERED],
    }
    level = EASY if len(rule.description.phrases) == 1 else HARDER if len(rule.description.phrases) == 2 else HARDEST
    question = f"{len(task.demonstrations)} pictures change by one hidden rule. What happens in the last one?"
    return Puzzle(example, "task", level, question, right, steps, readers, write_answer("edit", task.test, task.output), scene)


def _outcomes(example: Example) -> tuple[list[str], dict[str, list[str]]]:
    """What the page calls right, and what each reader does: `OBJECT,OPERATION`, numbers in the test world and in `OFFERED`."""
    task: Task = example.world
    outputs = readers_outputs(example)
    right: list[str] = []
    named: dict[str, list[str]] = {"no_change": ["-"]}
    for i, thing in enumerate(task.test.ordered):
        for k, operation in enumerate(OFFERED):
            output = _applied(example, thing, operation)
            if output is None:
                continue
            if output == task.output:
                right.append(f"{i},{k}")
            for name, scenes in outputs.items():
                if name != "no_change" and output in scenes:
                    named.setdefault(name, []).append(f"{i},{k}")
    return right, named


def _applied(example: Example, thing: Thing, operation: str) -> Scene | None:
    task: Task = example.world
    rule: Rule = replace(example.plan, operation=operation)
    return applied(task.test, thing, rule, pivot_of(task.test, rule.description, thing))
