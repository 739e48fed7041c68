"""Episodes of a grid world in words: the agent acts reply by reply and says STOP when the command is carried out.

The rules are those of the Gymnasium environments `recombine/GSCAN-v0` and `recombine/ReaSCAN-v0`; a test compares the two.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from recombine import kernels
from recombine.abilities import Sight
from recombine.core import Example
from recombine.errors import BadOption, UnknownName, shown
from recombine.grid.codes import ACTIONS, AGENT_COLUMN, AGENT_ROW, CHARGE, COLUMN_STEP, HEAVY_FROM, OUTCOMES, ROW_STEP
from recombine.grid.describe import describe
from recombine.grid.draw import draw
from recombine.grid.play import KERNEL_NAME, parse_actions, replay
from recombine.grid.world import World

Goal = Literal["end_state", "sequence"]
GOALS: tuple[Goal, ...] = ("end_state", "sequence")
STOP = "STOP"
NAMES: tuple[str, ...] = (*ACTIONS, STOP)
DEFAULTS: dict[str, Any] = {"goal": "end_state", "horizon": 120, "step_penalty": 0.0}
"""Settings of an episode; the environments have the same ones."""
MOST_STATES = 200_000
"""States that `expert` looks at before it gives up."""
_STOP = re.compile(r"\bstop\b[\s.;,!]*$", re.IGNORECASE)
_WHY = {
    "wall": "the edge of the grid is in the way",
    "blocked": "another object is in the way",
    "nothing": "there is no object in the agent's cell",
}
_TASK = (
    "An agent stands in a grid with objects. Carry out the command by acting in the grid.\n"
    "The actions are: walk, push, pull, stay, turn left, turn right, STOP.\n"
    "Reply with one or more actions in order, separated by commas, for example: turn right, walk, walk. They are carried out, and you "
    "see the grid as it is then. An action that is impossible changes nothing. Say STOP when the command is carried out; STOP ends the "
    "episode. If you write anything besides actions, end your reply with one line: `Answer: ` and then the actions."
)
_GOAL_WORDS: dict[Goal, str] = {
    "end_state": "At STOP, the agent and every object must stand where the command leads. Any way there is right.",
    "sequence": "The actions must be exactly those that the rules prescribe. The first other action ends the episode.",
}


def task(settings: Mapping[str, Any]) -> str:
    """What to do and how to write it."""
    return f"{_TASK}\n{_GOAL_WORDS[checked(settings)['goal']]}"


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults; an unknown or impossible one is an error."""
    for name in settings:
        if name not in DEFAULTS:
            raise UnknownName("setting of a grid episode", name, DEFAULTS)
    found = {**DEFAULTS, **settings}
    if found["goal"] not in GOALS:
        raise UnknownName("goal", found["goal"], GOALS)
    horizon, penalty = found["horizon"], found["step_penalty"]
    if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
        raise BadOption(f"horizon is {shown(horizon)}, but must be a positive integer.")
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= 1:
        raise BadOption(f"step_penalty is {shown(penalty)}, but must be a number from 0 to 1.")
    return found


def parse(text: str) -> tuple[str, ...] | None:
    """The actions that a text names, in order, with STOP only at the end; None if it says anything else, or nothing."""
    body, stops = _STOP.subn("", text.strip())
    named = parse_actions(body.strip(" \t\r\n.,;"))
    if named is None or not (named or stops):
        return None
    return (*named, STOP) if stops else named


class GridState:
    """One episode under way in a grid world."""

    def __init__(self, example: Example, settings: Mapping[str, Any]) -> None:
        found = checked(settings)
        self.goal: Goal = found["goal"]
        self.horizon: int = found["horizon"]
        self.step_penalty = float(found["step_penalty"])
        self.command = str(example.inputs["command"])
        self.world: World = example.world
        self.gold = parse_actions(example.answer) or ()
        end = replay(self.world, self.gold).world
        self.end = (end.row, end.column), tuple((t.row, t.column) for t in end.things)
        things, self.count, agent = self.world.arrays()
        self.things, self.agent = things.copy(), agent.copy()
        self.board = np.zeros(self.world.size, dtype=np.int64)
        self.kernel = kernels.load(KERNEL_NAME, compiled=kernels.is_loaded(KERNEL_NAME))
        self.kernel.fill_board(self.board, self.world.size, self.things, self.count)
        self.clock = 0
        self.taken: list[str] = []
        self.is_faithful = True
        self.is_over = self.is_solved = False

    def seen(self, sight: Sight) -> tuple[str, bytes | None]:
        """The command and the world as it stands, in words, as a picture, or both."""
        world = self.present()
        words = f"Command: {self.command}" if sight == "picture" else f"{describe(world)}\nCommand: {self.command}"
        return words, None if sight == "text" else draw(world).png()

    def present(self) -> World:
        """The world as it stands."""
        return self.world.moved(self.things, self.agent)

    def reached(self) -> bool:
        """Whether STOP would be right now."""
        if self.goal == "sequence":
            return self.is_faithful and self.clock == len(self.gold)
        world = self.present()
        return ((world.row, world.column), tuple((t.row, t.column) for t in world.things)) == self.end

    def act(self, text: str) -> tuple[float, bool, Mapping[str, Any]]:
        """Carry out the actions of a text until the episode is over."""
        named = parse(text)
        if named is None:
            return self._unreadable(text)
        reward, errors, said = 0.0, list[str](), list[str]()
        taken = 0
        for name in named:
            gained, error, sentence = self._step(name)
            reward, taken = reward + gained, taken + 1
            if error:
                errors.append(error)
            if sentence:
                said.append(f"Action {taken} ({name}): {sentence}")
            if self.is_over:
                break
        return reward, self.is_over, self._info(errors, " ".join(said), list(named[:taken]))

    def _unreadable(self, text: str) -> tuple[float, bool, Mapping[str, Any]]:
        """A text that names no action: an action that changes nothing, but takes its step."""
        self.clock += 1
        self.is_faithful = False
        self.is_over = self.goal == "sequence" or self.clock >= self.horizon
        said = f"{shown(text, 80)} is no list of actions; write walk, push, pull, stay, turn left, turn right or STOP."
        return 0.0 - self.step_penalty, self.is_over, self._info(["unreadable"], said, [])

    def _step(self, name: str) -> tuple[float, str, str]:
        """One action: reward, name of the error, and a sentence where there is something to say."""
        if name == STOP:
            self.is_solved, self.is_over = self.reached(), True
            self.clock += 1
            if self.is_solved:
                return 1.0, "", "the command is carried out."
            return 0.0, "stopped_early", "the command is not carried out."
        self.is_faithful &= self.clock < len(self.gold) and name == self.gold[self.clock]
        self.clock += 1
        self.taken.append(name)
        outcome = self.kernel.act(self.things, self.count, self.board, self.world.size, self.agent, ACTIONS.index(name))
        error = OUTCOMES[outcome] if outcome else ""
        sentence = f"impossible, {_WHY[error]}." if error else ""
        if not error and name in ("push", "pull") and self.agent[CHARGE]:
            sentence = "the object is heavy; a second such action moves it."
        if self.goal == "sequence" and not self.is_faithful:
            self.is_over = True
            return 0.0 - self.step_penalty, "stopped_early", "this is not the prescribed action."
        if self.clock >= self.horizon:
            self.is_over = True
            return 0.0 - self.step_penalty, "never_stopped", f"the episode ends after {self.horizon} actions without STOP."
        return 0.0 - self.step_penalty, error, sentence

    def _info(self, errors: list[str], said: str, taken: list[str]) -> dict[str, Any]:
        return {
            "error": errors[-1] if errors else "",
            "errors": errors,
            "said": said,
            "actions": taken,
            "step": self.clock,
            "solved": self.is_solved,
        }

    def answer(self) -> str:
        """The actions that were named, possible or not, without STOP."""
        return ", ".join(self.taken)

    def expert(self) -> tuple[str, ...]:
        """The rest of the gold actions if they were followed and fit before the horizon; else the shortest way to the same end.

        Empty if there is none.
        """
        left = self.horizon - self.clock
        if self.is_over:
            return ()
        if self.is_faithful and self.clock <= len(self.gold) < self.horizon:
            return (*self.gold[self.clock :], STOP)
        if self.goal == "sequence":
            return ()
        found = self._shortest()
        return () if found is None or len(found) >= left else (*found, STOP)

    def _shortest(self) -> tuple[str, ...] | None:
        """Breadth-first search over agent, heading, effort and the objects that are out of place; checked by the simulator."""
        world = self.present()
        moving = [i for i, t in enumerate(world.things) if (t.row, t.column) != self.end[1][i] and not t.is_box]
        fixed = frozenset((t.row, t.column) for i, t in enumerate(world.things) if i not in moving and not t.is_box)
        heavy = [world.things[i].size >= HEAVY_FROM for i in moving]
        goal = self.end[0], tuple(self.end[1][i] for i in moving)
        start: _Node = (
            (int(self.agent[AGENT_ROW]), int(self.agent[AGENT_COLUMN])),
            int(self.agent[2]),
            int(self.agent[CHARGE]),
            tuple((world.things[i].row, world.things[i].column) for i in moving),
        )
        before: dict[_Node, tuple[_Node, str] | None] = {start: None}
        queue = deque([start])
        while queue and len(before) < MOST_STATES:
            node = queue.popleft()
            if (node[0], node[3]) == goal:
                return _walked(before, node)
            for name in ("walk", "turn left", "turn right", "push", "pull"):
                after = _after(node, name, self.world.size, fixed, heavy)
                if after is not None and after not in before:
                    before[after] = node, name
                    queue.append(after)
        return None


_Cell = tuple[int, int]
_Node = tuple[_Cell, int, int, tuple[_Cell, ...]]
"""Agent's cell, heading, charge, and the cells of the objects that may move."""


def _after(node: _Node, name: str, size: int, fixed: frozenset[_Cell], heavy: list[bool]) -> _Node | None:
    """The node after an action; None where it is impossible."""
    cell, heading, charge, movers = node
    if name.startswith("turn"):
        return cell, (heading + (3 if name == "turn left" else 1)) % 4, charge, movers
    way = (heading + 2) % 4 if name == "pull" else heading
    ahead = cell[0] + ROW_STEP[way], cell[1] + COLUMN_STEP[way]
    if not (0 <= ahead[0] < size and 0 <= ahead[1] < size):
        return None
    if name == "walk":
        return ahead, heading, 0, movers
    if cell not in movers or ahead in fixed or ahead in movers:
        return None
    moved = movers.index(cell)
    if heavy[moved] and charge != way + 1:
        return cell, heading, way + 1, movers
    return ahead, heading, 0, (*movers[:moved], ahead, *movers[moved + 1 :])


def _walked(before: Mapping[_Node, tuple[_Node, str] | None], node: _Node) -> tuple[str, ...]:
    names: list[str] = []
    while (step := before[node]) is not None:
        node = step[0]
        names.append(step[1])
    return tuple(reversed(names))
