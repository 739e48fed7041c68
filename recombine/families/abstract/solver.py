"""A solver that sees the inputs alone: it keeps every rule that fits the demonstrations and says what they give for the test.

It is the ceiling: on `sound` tasks all rules that are left give one output. It uses the oracle's hypothesis space, so it works on
tasks that others bring, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recombine.core import Example
from recombine.families.abstract.answers import Scene, scene_of, write_answer
from recombine.families.abstract.oracle import world_of
from recombine.families.abstract.oracle_elimination import eliminate, outputs
from recombine.families.abstract.oracle_space import DEPTHS
from recombine.grid.world import Thing


@dataclass(frozen=True)
class Solution:
    """What elimination finds.

    `answers` holds each possible test output with the number of hypotheses that give it, the commonest first. `silent` counts the
    hypotheses that fit the demonstrations but do not apply to the test input. `counts` are the hypotheses left after each demonstration.
    """

    answers: tuple[tuple[Scene, int], ...]
    silent: int
    counts: tuple[int, ...]

    @property
    def is_determined(self) -> bool:
        """Whether every rule that is left gives the same output."""
        return len(self.answers) == 1 and not self.silent


def solve(inputs: Mapping[str, Any]) -> Solution:
    """Eliminate rules of one clause first, then of two, then nested ones; the first space with a rule that applies decides."""
    side = int(inputs["grid_size"])
    pairs = [(world_of(pair["input"]), world_of(pair["output"])) for pair in inputs["demonstrations"]]
    test = world_of(inputs["test"])
    found = Solution((), 0, ())
    for depths in (DEPTHS[:2], DEPTHS[:3], DEPTHS):
        left = eliminate(pairs, side, depths)
        said = outputs(left, test, side)
        silent = said.pop(None, 0)
        scenes = [(Scene(side, tuple(Thing(*item) for item in sorted(world or ()))), n) for world, n in said.items()]
        found = Solution(tuple(sorted(scenes, key=lambda pair: (-pair[1], pair[0].key()))), silent, tuple(left.counts))
        if found.answers:
            break
    return found


def solver(example: Example) -> str | None:
    """The answer of the solver: the output that most of the rules left give; None if no rule fits."""
    found = solve(example.inputs)
    if not found.answers:
        return None
    before = scene_of(int(example.inputs["grid_size"]), example.inputs["test"])
    return write_answer(str(example.inputs["answer_form"]), before, found.answers[0][0])


def imitator(example: Example) -> str | None:
    """A heuristic baseline: repeats the last demonstration's change on the test object that is most like the changed one."""
    side = int(example.inputs["grid_size"])
    before, after = (scene_of(side, example.inputs["demonstrations"][-1][part]) for part in ("input", "output"))
    test = scene_of(side, example.inputs["test"])
    gone = [t for t in before.ordered if t not in after.ordered]
    new = [t for t in after.ordered if t not in before.ordered]
    form = str(example.inputs["answer_form"])
    if not gone:
        return write_answer(form, test, Scene(side, (*test.things, *new)))
    old = gone[0]

    def likeness(t: Thing) -> tuple[int, int, int]:
        shared = (t.color == old.color) + (t.shape == old.shape) + (t.size == old.size)
        return shared, -abs(t.row - old.row) - abs(t.column - old.column), -t.row * side - t.column

    chosen = max(test.ordered, key=likeness)
    rest = tuple(t for t in test.things if t != chosen)
    if not new:
        return write_answer(form, test, Scene(side, rest))
    now = Thing(
        new[0].size if new[0].size != old.size else chosen.size,
        new[0].color if new[0].color != old.color else chosen.color,
        new[0].shape if new[0].shape != old.shape else chosen.shape,
        chosen.row + new[0].row - old.row,
        chosen.column + new[0].column - old.column,
    )
    return write_answer(form, test, Scene(side, (*rest, now)))
