"""Prompt texts about grid worlds: how a model sees them, how the agent moves, how answers are written.

A world is rebuilt from an example's `inputs`, so that nothing else (the target, the roles of objects) can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from recombine.core import Example
from recombine.grid import wording
from recombine.grid.describe import describe
from recombine.grid.draw import draw
from recombine.grid.world import Thing, World

ANSWER_FORM = (
    "The actions are: walk, push, pull, stay, turn left, turn right.\n"
    "The answer is the actions in order, separated by commas, for example: turn right, walk, walk, push. "
    "It must be exactly the sequence that the rules of this world prescribe, not only a way to the same end."
)

MOVES = """Directions: the agent faces north, east, south or west; row 1 is the northernmost row, column 1 the westernmost column.
Actions: `walk` goes one cell ahead. `turn left` and `turn right` turn by 90 degrees on the spot. `push` moves the object in the
agent's own cell one cell ahead, and the agent with it; `pull` moves both one cell backwards, without turning. `stay` does nothing.
The way: the agent goes to the target's cell, first all steps east or west, then all steps north or south. Objects never block its way.
Before a step it turns to the direction of the step if it does not face it yet, by the shortest turn; to face the opposite direction
it makes two left turns. A target in the agent's own cell needs no step.
`walk to`: the answer ends at the target's cell.
`push`: from the target's cell, without turning first, the agent pushes the object ahead, in the direction in which it arrived, again
and again until the wall of the grid or the cell of another object is in the way. If it cannot move at all, there is no push action.
`pull`: the same with pull actions, backwards, against the direction in which it arrived.
Objects of size 1 and 2 are light: one push or pull moves them one cell. Objects of size 3 and 4 are heavy: each cell takes two push
or pull actions.
Manners, at the end of a command:
- none: as above.
- `while zigzagging`: steps alternate between east/west and north/south, beginning with east/west, until one of the two is used up;
  then the rest goes straight. Pushing and pulling are as above.
- `while spinning`: before every walk, push and pull the agent makes four left turns, and only then the turns that the step needs.
- `cautiously`: before every walk, push and pull, after the turns that the step needs, the agent looks around: turn left, turn right,
  turn right, turn left.
- `hesitantly`: after every walk, push and pull the agent stays once."""

LEGEND = (
    "The picture shows the grid. Row and column numbers stand at its edge; north is up, west is left. The pink arrowhead is the agent, "
    "and it points where the agent faces. Every object shows its colour (red, blue, green, yellow), its shape (circle, cylinder, square) "
    "and, as a number on it, its size from 1 to 4."
)


def world_seen(inputs: Mapping[str, Any]) -> World:
    """The world that an example's inputs hold: no roles, objects by place."""
    things = tuple(Thing(t["size"], t["color"], t["shape"], t["row"], t["column"]) for t in inputs["objects"])
    agent = inputs["agent"]
    return World(inputs["grid_size"], things, agent["row"], agent["column"], agent["heading"])


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:
    """The world and the command; the command alone where a picture shows the world."""
    command = f"Command: {example.inputs['command']}"
    if wording.is_reworded(str(example.inputs["command"])):
        command = f"{wording.NOTE}\n{command}"
    return command if sight == "picture" else f"{describe(world_seen(example.inputs))}\n{command}"


def answer(example: Example) -> str:
    """The actions with a blank after each comma."""
    return example.answer.replace(",", ", ")


def steps(example: Example) -> tuple[str, ...]:
    """The proof."""
    return example.explain().steps


def picture(example: Example) -> bytes | None:
    """The world as a model may see it, as PNG without the command."""
    return draw(world_seen(example.inputs)).png()
