"""Grid worlds: drive the agent with the keys, or click the object that is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from recombine.core import Example
from recombine.errors import UsageError
from recombine.grid.codes import ACTIONS
from recombine.grid.describe import describe
from recombine.grid.draw import CELL, MARGIN, draw
from recombine.grid.play import Outcome, parse_actions, plan, replay, trail
from recombine.grid.world import World
from recombine.serve.boards.base import MARK, Button, View, labelled, places, unknown

MOST_ACTIONS = 400
BUTTONS = (
    Button("turn left", "do:turn left", "ArrowLeft"),
    Button("walk", "do:walk", "ArrowUp"),
    Button("turn right", "do:turn right", "ArrowRight"),
    Button("push", "do:push", "p"),
    Button("pull", "do:pull", "l"),
    Button("stay", "do:stay", "s"),
    Button("undo", "undo", "Backspace"),
    Button("start again", "clear"),
)
_CELL = re.compile(r"row (\d{1,2}), column (\d{1,2})")
_WHY = {
    "wall": "The edge of the grid is in the way.",
    "blocked": "Another object is in the way.",
    "nothing": "There is nothing to move here.",
}


class GridBoard:
    """The state is the list of actions, joined by commas."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """The world as it stands after the actions, with the way so far."""
        actions = _parsed(state)
        world = cast(World, example.world)
        done = replay(world, actions)
        svg = labelled(_drawn(done.world, done.cells), _told(done, len(actions)))
        hint = (
            "Click the object that is meant, or drive: arrow keys turn and walk, P pushes, L pulls, S stays, Backspace undoes."
        )
        return View(",".join(actions), svg, said or _told(done, len(actions)), hint, BUTTONS)

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:  # noqa: ARG002
        """One more action, one fewer, or the whole plan for a clicked object."""
        actions = list(_parsed(state))
        world = cast(World, example.world)
        if event == "clear":
            return "", ""
        if event == "undo":
            return ",".join(actions[:-1]), ""
        if event.startswith("do:") and event[3:] in ACTIONS:
            if len(actions) >= MOST_ACTIONS:
                return state, f"A plan has at most {MOST_ACTIONS} actions."
            before = len(replay(world, actions).failures)
            actions.append(event[3:])
            failures = replay(world, actions).failures
            return ",".join(actions), _WHY[failures[-1].rsplit(": ", 1)[1]] if len(failures) > before else ""
        clicked = places(event)
        if clicked is None or clicked[0] != "click":
            raise unknown(event)
        column, row = (int((value - MARGIN) // CELL) for value in clicked[1])
        return self._towards(example, world, row, column, state)

    def _towards(self, example: Example, world: World, row: int, column: int, state: str) -> tuple[str, str]:
        target = world.thing_at(row, column)
        if target is None:
            return state, "There is no object in that cell."
        thing = world.things[target]
        done = plan(world, target, example.plan.verb, example.plan.adverb)
        return ",".join(done), f"You chose the {thing.name} of size {thing.size} in row {row + 1}, column {column + 1}."

    def question(self, example: Example) -> str:
        """The command and the world in words."""
        return f"{example.inputs['command']}\n\n{describe(cast(World, example.world))}"

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:
        """The world with the way of an answer, and rings around the cells that the last step names."""
        step = proof[-1] if proof else ""
        world = cast(World, example.world)
        if answer is None or answer == example.answer:
            actions = parse_actions(example.answer) or ()
            canvas = draw(world, "", show_roles=True, path=trail(world, actions))
        else:
            canvas = draw(world, "", path=trail(world, parse_actions(answer) or ()))
        for row, column in _cells(world, step):
            x, y = MARGIN + column * CELL, MARGIN + row * CELL
            canvas.rect(x + 1, y + 1, CELL - 2, CELL - 2, stroke=MARK, width=5.0, radius=9)
        return labelled(canvas.svg(), "the world" if not step else f"the world; marked: {step}")

    def film(self, example: Example) -> Sequence[str]:
        """The right actions, one more in each frame."""
        actions = parse_actions(example.answer) or ()
        return [",".join(actions[:count]) for count in range(len(actions) + 1)]


def _drawn(world: World, cells: Sequence[tuple[int, int]]) -> str:
    return draw(world, "", path=cells).svg()


def _cells(world: World, step: str) -> list[tuple[int, int]]:
    found = [(int(row) - 1, int(column) - 1) for row, column in _CELL.findall(step)]
    return [cell for cell in found if world.has_cell(*cell)]


def _told(done: Outcome, count: int) -> str:
    world = done.world
    failed = f" {len(done.failures)} of them impossible." if done.failures else ""
    taken = f"After {count} action{'s' if count != 1 else ''}:{failed} " if count else ""
    return f"{taken}the agent is in row {world.row + 1}, column {world.column + 1} and faces {world.heading}."


def _parsed(state: str) -> tuple[str, ...]:
    actions = parse_actions(state) if state.strip() else ()
    if actions is None or len(actions) > MOST_ACTIONS:
        raise UsageError(
            "the answer is no list of actions; write walk, push, pull, stay, turn left, turn right, joined by commas."
        )
    return actions
