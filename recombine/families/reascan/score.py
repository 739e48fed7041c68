"""One answer -> right or wrong, whether it went to the right cell, and the names of the readers who would answer so."""

from __future__ import annotations

import functools
from typing import cast

from recombine.core import Example, Score
from recombine.families.reascan.explain import doings
from recombine.families.reascan.plan import Command
from recombine.grid.play import parse_actions, replay
from recombine.grid.world import World

MAX_ACTIONS = 400
"""Longer answers are wrong without being acted out."""


def score(example: Example, answer: str) -> Score:
    """Exact match of the actions. `detail` says whether the target's cell was right even if the actions were not.

    A wrong answer is a reader's mistake if it is what the reader does for one of the objects it may take, or ends the same.
    """
    world, command = cast(World, example.world), cast(Command, example.plan)
    actions = parse_actions(answer) if isinstance(answer, str) else None
    if actions is None or (not actions and answer.strip()):
        return Score(0.0, "unparsable", detail={"target_cell": False})
    target = (world.things[0].row, world.things[0].column)
    if len(actions) > MAX_ACTIONS:
        return Score(0.0, "wrong", detail={"target_cell": False})
    outcome = replay(world, actions)
    detail = {"target_cell": outcome.reached == target, "reached": list(outcome.reached), "failures": len(outcome.failures)}
    if ",".join(actions) == example.answer:
        return Score(1.0, "right", detail=detail)
    if not actions:
        return Score(0.0, "unparsable" if not answer.strip() else "wrong", detail=detail)
    mistakes = []
    is_elsewhere = outcome.reached != target and not outcome.failures
    for reader, plans in doings(world, command):
        for done in plans:
            if ",".join(done) == example.answer:
                continue
            if done == actions or (is_elsewhere and reader.takes != (0,) and _ends_like(world, done, outcome.world)):
                mistakes.append(reader.name)
                break
    return Score(0.0, "wrong", tuple(mistakes), detail)


@functools.lru_cache(maxsize=4096)
def _end(world: World, done: tuple[str, ...]) -> World:
    return replay(world, done).world


def _ends_like(world: World, done: tuple[str, ...], end: World) -> bool:
    other = _end(world, done)
    return (other.things, other.row, other.column) == (end.things, end.row, end.column)
