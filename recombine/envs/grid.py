"""gSCAN and ReaSCAN as Gymnasium environments: the agent steps through the grid itself and says when it is done."""

from __future__ import annotations

import functools
import io
import string
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from recombine.core import Example, Problem
from recombine.envs.base import BatchedEnv, SingleEnv
from recombine.envs.engine import Numbers, OneResult, Pace, Result, completed, objects
from recombine.envs.grid_kernel import Gold, Places, Results
from recombine.envs.words import ID_COUNT, MAX_WORDS, word_ids
from recombine.errors import UnknownName, UsageError, shown
from recombine.families import family
from recombine.grid.acting import NAMES
from recombine.grid.codes import ACTIONS, MAX_GRID, OUTCOMES
from recombine.grid.describe import LEGEND, ascii_map
from recombine.grid.draw import draw
from recombine.grid.play import parse_actions
from recombine.grid.tensor import GSCAN, REASCAN, BitOrder, bits_of, tensors
from recombine.grid.world import World
from recombine.jobs import make_job

Goal = Literal["end_state", "sequence"]
GOALS: tuple[Goal, ...] = ("end_state", "sequence")
ORDERS: dict[str, BitOrder] = {"gscan": GSCAN, "reascan": REASCAN}
STOP = len(ACTIONS)
ACTION_NAMES = (*ACTIONS, "STOP")
"""The names of the actions 0 to 6."""
HORIZON = 120
DEFAULT_SIZE = 1_000
MAX_TEXT = 320
_KERNEL = "recombine.envs.grid_kernel"
COMPILE_FROM_STEPS = 20_000
"""Interpreted steps that take about as long as compiling the kernel."""


@dataclass(frozen=True)
class GridInstances:
    """The worlds from which episodes start, with their commands, gold actions and the states to which those lead."""

    ids: list[str]
    commands: list[str]
    worlds: list[World]
    things: Numbers
    counts: Numbers
    grids: Numbers
    agents: Numbers
    golds: Numbers
    lengths: Numbers

    @classmethod
    def of(cls, examples: Iterable[Example]) -> GridInstances:
        """Instances from examples of a grid family."""
        listed = list(examples)
        worlds: list[World] = [example.world for example in listed]
        golds = [parse_actions(example.answer) or () for example in listed]
        n, most = len(listed), max((len(world.things) for world in worlds), default=1)
        things, agents = np.zeros((n, max(1, most), 5), np.int64), np.zeros((n, 4), np.int64)
        actions = np.zeros((n, max((len(gold) for gold in golds), default=1)), np.int64)
        for i, world in enumerate(worlds):
            rows, count, agents[i] = world.arrays()
            things[i, :count] = rows[:count]
            actions[i, : len(golds[i])] = [ACTIONS.index(name) for name in golds[i]]
        return cls(
            [example.id for example in listed], [str(example.inputs["command"]) for example in listed], worlds, things,
            np.array([len(world.things) for world in worlds], np.int64), np.array([world.size for world in worlds], np.int64),
            agents, actions, np.array([len(gold) for gold in golds], np.int64),
        )  # fmt: skip


def load_instances(name: str, split: str | None, part: str | None, data: str | Path | None, size: int | None) -> GridInstances:
    """Worlds of a part of the family (train unless given), or of an originally released file; at most `size` (1,000 unless given).

    Of a file, `split` and `part` choose those rows that the file lists under them; left out, all are taken, in the file's order.
    """
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise UsageError(f"size is {shown(size)}, but must be a positive integer.")
    if data is not None and not isinstance(data, str | Path):
        raise UsageError(f"data is {shown(data)}, but must be the path of a released file.")
    most = DEFAULT_SIZE if size is None else size
    if data is None:
        return _embedded(name, split, part or "train", most)
    wanted = {"split": split, "part": "validation" if part == "dev" else part}
    asked = {key: value for key, value in wanted.items() if value is not None}
    rows = (row for row in family(name).read(Path(data)) if not isinstance(row, Problem))
    held: set[tuple[str, str]] = set()
    found: list[Example] = []
    for row in rows:
        place = {key: str(row.meta.get(key, "")) for key in wanted}
        held.add((place["split"] or "(no split named)", place["part"]))
        if all(place[key] == value for key, value in asked.items()):
            found.append(row)
            if len(found) == most:
                break
    if held and not found:
        told = " and ".join(f"{key} {shown(value)}" for key, value in asked.items())
        raise UsageError(f"{shown(str(data))} holds no row of {told}; it holds {', '.join(map('/'.join, sorted(held)))}.")
    return GridInstances.of(found)


@functools.lru_cache(maxsize=32)
def _embedded(name: str, split: str | None, part: str, size: int) -> GridInstances:
    """The first rows of a part; cached, because many environments of a process share them."""
    source = family(name)
    job = make_job(source, split, part)
    batch = source.generate(job.rows(0, min(size, job.stop)))
    return GridInstances.of(source.example(batch, row) for row in range(len(batch)))


class GridEngine:
    """Episodes of a grid family in n places: six actions of the agent, and STOP."""

    def __init__(
        self,
        name: str,
        instances: GridInstances,
        goal: Goal,
        horizon: int,
        step_penalty: float,
        text: str,
        compiled: bool | None,
    ) -> None:
        if not isinstance(instances, GridInstances):
            raise UsageError(f"instances are {shown(instances)}, but must be `GridInstances`.")
        if not len(instances.ids):
            raise UsageError("there is no instance to act in; choose another split or part, or another file.")
        if goal not in GOALS:
            raise UnknownName("goal", goal, GOALS)
        if text not in ("tokens", "string"):
            raise UnknownName("form of text", text, ["tokens", "string"])
        if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
            raise UsageError(f"horizon is {shown(horizon)}, but must be a positive integer.")
        is_number = isinstance(step_penalty, int | float | np.floating) and not isinstance(step_penalty, bool)
        if not is_number or not np.isfinite(step_penalty):
            raise UsageError(f"step_penalty is {shown(step_penalty)}, but must be a finite number.")
        self.instances, self.goal, self.horizon, self.step_penalty = instances, goal, horizon, float(step_penalty)
        self.order, self.text_form = ORDERS[name], text
        self.pace = Pace(_KERNEL, compiled, COMPILE_FROM_STEPS)
        self.ids = instances.ids
        self.grid = int(instances.grids.max())
        self._check_kinds()
        self.action_space = spaces.Discrete(STOP + 1)
        seen: dict[str, spaces.Space[Any]] = {"grid": spaces.Box(0, 4, (self.grid, self.grid, self.order.depth), np.int8)}
        if text == "tokens":
            self.tokens = word_ids(instances.commands)
            seen["tokens"] = spaces.Box(0, ID_COUNT - 1, (MAX_WORDS,), np.int32)
        else:
            longest = max(MAX_TEXT, *(len(command) for command in instances.commands))
            seen["sentence"] = spaces.Text(longest, min_length=0, charset=string.printable)
        self.observation_space = spaces.Dict(seen)
        self.names, self.commands = objects(instances.ids), objects(instances.commands)
        self.errors = objects(("", *OUTCOMES[1:], "stopped_early", "never_stopped"))
        self.rule = np.array([goal == "sequence", horizon], np.int64)
        self.gold = self._gold()
        self.states: Places
        self.results: Results

    def _check_kinds(self) -> None:
        """An error if an object has a shape or colour without a bit: compiled code writes bits without looking."""
        data, (shapes, colors) = self.instances, bits_of(self.order)
        for i, world in enumerate(data.worlds):
            kinds = data.things[i, : len(world.things)]
            if len(kinds) and max(int(shapes[kinds[:, 2]].max()), int(colors[kinds[:, 1]].max())) >= self.order.depth:
                raise UsageError(f"{shown(data.ids[i])} has an object of a kind that this benchmark does not know.")

    def _gold(self) -> Gold:
        """The gold actions of each instance, and where things and agents stand after them."""
        data = self.instances
        things, agents = data.things.copy(), data.agents.copy()
        boards = np.zeros((len(data.ids), MAX_GRID), np.int64)
        kernel = self.pace.kernel
        kernel.restart(things, data.counts, boards, data.grids, np.arange(len(data.ids)))
        kernel.replay(things, data.counts, boards, data.grids, agents, data.golds, data.lengths)
        return Gold(data.golds, data.lengths, things, agents)

    def begin(self, places: int) -> None:
        """Make room; every place shows the first instance until it is restarted."""
        data, first = self.instances, np.zeros(places, np.int64)
        self.states = Places(
            first, data.things[first], data.counts[first], np.zeros((places, MAX_GRID), np.int64), data.grids[first],
            data.agents[first], np.zeros(places, np.int64), np.ones(places, np.bool_), np.zeros(places, np.bool_),
        )  # fmt: skip
        self.results = _results(places)
        self.restart(np.arange(places), first)
        self.states.active[:] = False

    def restart(self, which: Numbers, rows: Numbers) -> None:
        """Start the episodes of instances `rows` in the places `which`."""
        data, states = self.instances, self.states
        states.rows[which], states.things[which], states.counts[which] = rows, data.things[rows], data.counts[rows]
        states.grids[which], states.agents[which], states.clocks[which] = data.grids[rows], data.agents[rows], 0
        states.faithful[which], states.active[which] = True, True
        self.pace.kernel.restart(states.things, states.counts, states.boards, states.grids, which)

    def advance(self, actions: Numbers) -> Result:
        """One step of every episode under way. STOP ends it; an impossible action changes nothing and is named."""
        states, n = self.states, len(self.states.rows)
        wanted = np.asarray(actions)
        if wanted.shape != (n,) or wanted.dtype.kind not in "iu" or wanted.min() < 0 or wanted.max() > STOP:
            raise UsageError(f"actions are {n} integers from 0 to {STOP}, but {shown(wanted.tolist())} was given.")
        taken, results = wanted.astype(np.int64), _results(n)
        self.pace.kernel.advance(self.rule, self.step_penalty, states, self.gold, taken, results)
        facts = {"error": self.errors[results.errors], "action_taken": taken, "step": states.clocks.copy()}
        final = {"accuracy": (results.ended[:, 0] & (results.errors == 0)).astype(np.float64)}
        return Result(results.rewards, results.ended[:, 0].copy(), results.ended[:, 1].copy(), facts, final)

    def advance_one(self, action: int) -> OneResult:
        """`advance` where there is one place."""
        self.pace.count()
        states, results = self.states, self.results
        self.pace.kernel.advance(self.rule, self.step_penalty, states, self.gold, np.array([action]), results)
        (reward,), ((terminated, truncated),) = results.rewards.tolist(), results.ended.tolist()
        facts = {"error": self.errors[results.errors[0]], "action_taken": action, "step": states.clocks.item()}
        return OneResult(reward, terminated, truncated, facts, {"accuracy": float(terminated and results.errors[0] == 0)})

    def _tensors(self) -> NDArray[np.int8]:
        """The worlds in the bit order of the published models."""
        states = self.states
        if self.pace.compiled:
            bits = np.zeros((len(states.rows), self.grid, self.grid, self.order.depth), np.int8)  # signed: this is no image
            self.pace.kernel.look(states.things, states.counts, states.agents, *bits_of(self.order), bits)
            return bits
        return tensors(self.grid, states.things, states.counts, states.agents, self.order).view(np.int8)

    def observe(self) -> dict[str, Any]:
        """World tensors and commands."""
        states = self.states
        seen: dict[str, Any] = {"grid": self._tensors()}
        if self.text_form == "tokens":
            seen["tokens"] = self.tokens[states.rows]
        else:
            seen["sentence"] = tuple(self.instances.commands[row] for row in states.rows.tolist())
        return seen

    def observe_one(self) -> dict[str, Any]:
        """`observe` where there is one place."""
        row = self.states.rows.item()
        if self.text_form == "tokens":
            return {"grid": self._tensors()[0], "tokens": self.tokens[row].copy()}
        return {"grid": self._tensors()[0], "sentence": self.instances.commands[row]}

    def standing(self) -> dict[str, NDArray[Any]]:
        """Id and command of each place's instance."""
        return {"id": self.names[self.states.rows], "sentence": self.commands[self.states.rows]}

    def standing_one(self) -> dict[str, Any]:
        """`standing` where there is one place."""
        row = self.states.rows.item()
        return {"id": self.ids[row], "sentence": self.instances.commands[row]}

    def masks(self) -> NDArray[np.bool_]:
        """Actions that do not bump into anything."""
        states = self.states
        out = np.zeros((len(states.rows), STOP + 1), np.bool_)
        self.pace.kernel.masks(states.things, states.counts, states.boards, states.grids, states.agents, out)
        return out

    def state(self) -> Places:
        """The episodes, copied."""
        return Places(*(values.copy() for values in self.states))

    def set_state(self, state: Places) -> None:
        """Go on from a copy."""
        self.states = Places(*(values.copy() for values in state))

    def world(self, place: int) -> World:
        """The world of a place as it stands."""
        states = self.states
        return self.instances.worlds[int(states.rows[place])].moved(states.things[place], states.agents[place])

    def picture(self, place: int) -> NDArray[np.uint8]:
        """The world, without its command, so that all pictures of a grid are of one size."""
        from PIL import Image

        drawn = draw(self.world(place)).png()
        return np.asarray(Image.open(io.BytesIO(drawn)).convert("RGB"))

    def text(self, place: int) -> str:
        """The command and the world as a map."""
        return f"{self.commands[self.states.rows[place]]}\n{ascii_map(self.world(place))}"

    def caption(self, place: int) -> str:  # noqa: ARG002
        """Nothing: the picture shows the command."""
        return ""

    def action_name(self, action: int) -> str:
        """`walk`, `turn left`, …, `STOP`."""
        return NAMES[action]

    @property
    def legend(self) -> str:
        """How to read the map."""
        return LEGEND


def _results(places: int) -> Results:
    """Room for what one step gives."""
    return Results(np.zeros(places, np.float64), np.zeros((places, 2), np.bool_), np.zeros(places, np.int64))


class Arguments(TypedDict, total=False):
    """Arguments that both environments share; see `GridEnv`."""

    split: str | None
    part: str | None
    data: str | Path | None
    size: int | None
    instances: GridInstances | None
    goal: Goal
    horizon: int
    step_penalty: float
    text: str


DEFAULTS: Arguments = {
    "split": None, "part": None, "data": None, "size": None, "instances": None, "goal": "end_state", "horizon": HORIZON,
    "step_penalty": 0.0, "text": "tokens",
}  # fmt: skip


def make_engine(name: str, compiled: bool | None, given: Arguments) -> GridEngine:
    """The engine behind an environment, with the default of every argument that is not given."""
    asked = completed(DEFAULTS, given)
    source = asked["instances"]
    if source is None:
        source = load_instances(name, asked["split"], asked["part"], asked["data"], asked["size"])
    return GridEngine(name, source, asked["goal"], asked["horizon"], asked["step_penalty"], asked["text"], compiled)


class GridEnv(SingleEnv):
    """gSCAN or ReaSCAN as an environment: walk, push, pull, stay, turn left, turn right, STOP; +1 for STOP at the right end.

    `goal`: "end_state" (objects and agent stand where the gold actions lead; the manner is free) or "sequence" (exactly the gold
    actions, so adverbs count; the first deviation ends the episode). Impossible actions change nothing; `info["error"]` names
    them. Worlds come from the family (`split`, `part`) or from an originally released file (`data`), of which `split` and `part`
    choose rows. `compiled`: whether to step by compiled code; left out, it is used if it lies on disk already, or after so many
    steps that compiling pays.
    """

    ACTION_NAMES = ACTION_NAMES

    def __init__(
        self, name: str, evaluate: bool = False, masks: bool = True, render_mode: str | None = None, compiled: bool | None = None,
        **given: Unpack[Arguments],
    ) -> None:  # fmt: skip
        super().__init__(make_engine(name, compiled, given), render_mode, evaluate, masks)


class GridVectorEnv(BatchedEnv):
    """Many grid episodes at once; the arguments of `GridEnv`."""

    ACTION_NAMES = ACTION_NAMES

    def __init__(
        self, name: str, num_envs: int = 1, evaluate: bool = False, masks: bool = False, render_mode: str | None = None,
        compiled: bool = True, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP, **given: Unpack[Arguments],
    ) -> None:  # fmt: skip
        super().__init__(make_engine(name, compiled, given), num_envs, render_mode, evaluate, masks, autoreset_mode)
