"""Acting in scenes: validity, rewards, episodes; one at a time or many at once. Knows nothing of Gymnasium.

Two rule books. `paper`: exact shapes, an item stays where it is put, −1 at the horizon; an invalid action terminates.
`code`: what the released code does: circles are 64-gons, a new item within four pixels of a neighbour is pulled to it (and not
checked again), the last action before the horizon costs only −0.1, and an invalid action truncates.
In both, the action at the horizon (step 11) is not carried out unless it is STOP.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.errors import ProgramError, UsageError, shown
from recombine.families.lilgym import render
from recombine.families.lilgym.play import geometry
from recombine.families.lilgym.play.edits import (
    ERRORS,
    GRIDS,
    Edit,
    Resolution,
    Setting,
    Sight,
    action_of,
    edit_of,
    format_edits,
    parse_edits,
)
from recombine.families.lilgym.play.kernel import Board, Results, Tables
from recombine.families.lilgym.program import Bank, Program
from recombine.families.lilgym.scene import (
    BOX_COUNT,
    FIELDS,
    MAX_ITEMS,
    SQUARE,
    TOWER_HEIGHT,
    TOWER_PITCH,
    TOWER_SIZE,
    TOWER_X,
    Counts,
    Flags,
    Items,
    Kind,
    Numbers,
    Scene,
    check_items,
    tower_y,
    unpack,
)

__all__ = [
    "ERRORS", "Edit", "Instances", "Judge", "Outcome", "Play", "Setting", "States", "Step", "action_of", "advance", "begin",
    "captions", "edit_of", "edit_scene", "format_edits", "parse_edits", "play", "restart", "step", "truths",
]  # fmt: skip

KERNEL_NAME = "recombine.families.lilgym.play.kernel"
_FIRST = np.zeros(1, np.int64)
"""The only place where there is one episode."""


# --- one scene -------------------------------------------------------------------------------------------------------


@functools.cache
def tables() -> Tables:
    """The shared tables; about 0.3 s, once per process."""
    directions = np.array([geometry.direction(k) for k in range(geometry.SEGMENTS)])
    return Tables(
        geometry.contact_table(), geometry.area_table(), directions, render.blank()[0], render.spans(), render.blend()
    )


def edit_scene(setting: Setting, scene: Scene, action: int) -> tuple[Scene, str]:
    """The scene after an ADD or REMOVE, and the name of the error ("" if none; then the scene is changed). Pure."""
    if not 0 < action < setting.action_count:
        raise UsageError(f"action {shown(action)} is no ADD or REMOVE; they are 1 to {setting.action_count - 1}.")
    kernel = kernels.load(KERNEL_NAME, compiled=kernels.is_loaded(KERNEL_NAME))
    rect, count = np.zeros(4, np.int64), len(scene.items)
    items = np.zeros((1, min(count + 1, MAX_ITEMS), FIELDS), np.int16)
    if count:
        items[0, :count] = scene.items
    if setting.kind == "tower":
        error = kernel.edit_tower(items[0], count, action, True, rect)
        removes = action >= 10
    else:
        error = kernel.edit_scatter(setting.rule(images=False), tables(), items[0], count, action, True, rect)
        columns, rows, _ = GRIDS[setting.grid]
        removes = action > 27 * columns * rows
    if error:
        return scene, ERRORS[error]
    return unpack(scene.kind, items, [count + (-1 if removes else 1)])[0], ""


@dataclass(frozen=True)
class Play:
    """An episode as it went: scenes (one more than steps), the actions taken, rewards, and the named error ("" if solved)."""

    scenes: tuple[Scene, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    error: str

    @property
    def solved(self) -> bool:
        """Whether it ended with STOP where the target holds."""
        return bool(self.rewards) and self.rewards[-1] > 0


def play(setting: Setting, scene: Scene, target: bool, holds: Callable[[Scene], bool], actions: Sequence[int]) -> Play:
    """Play actions from a scene until the episode ends or they run out (then the error is `never_stopped`)."""
    scenes, taken, rewards, error = [scene], [], [], "never_stopped"
    for clock, action in enumerate(actions, 1):
        if setting.stop_forcing and action != 0 and holds(scene) == target:
            action = 0
        taken.append(int(action))
        after, fault, last = scene, "", clock >= setting.horizon
        if action == 0:
            fault = "" if holds(scene) == target else "stopped_early"
        else:
            after, fault = edit_scene(setting, scene, int(action))
            if last and not fault:
                after, fault = scene, "never_stopped"
        ends = action == 0 or bool(fault)
        cost = -setting.step_cost if fault == "never_stopped" and setting.rules == "code" else -1.0
        rewards.append((1.0 if not fault else cost) if ends else -setting.step_cost)
        scene = after
        scenes.append(scene)
        if ends:
            error = fault
            break
    return Play(tuple(scenes), tuple(taken), tuple(rewards), error)


def captions(setting: Setting, played: Play) -> list[str]:
    """A line for each scene of an episode: the edit that led there and what it gave; for `render.filmstrip` and `render.gif`."""
    lines = ["start"]
    for clock, (action, reward) in enumerate(zip(played.actions, played.rewards, strict=True), 1):
        lines.append(f"{clock}. {edit_of(setting, action)}   {reward:+.1f}")
    if played.error and played.actions:
        lines[-1] += f"   {played.error.replace('_', ' ')}"
    return lines


# --- many episodes ---------------------------------------------------------------------------------------------------


class Judge:
    """Says whether statements hold: one program per instance, run in bulk."""

    def __init__(self, programs: Sequence[Program]) -> None:
        distinct = {program.text: program for program in programs}
        places = {text: place for place, text in enumerate(distinct)}
        self.bank = Bank(list(distinct.values()))
        self.program_of: Numbers = np.array([places[program.text] for program in programs], np.int64)

    def __call__(self, rows: Numbers, items: Items, counts: Counts, compiled: bool | None) -> NDArray[np.int8]:
        """For each k: 1 if the statement of instance rows[k] holds in scene k, 0 if not, -1 if its program fails there."""
        index = self.program_of[rows]
        try:
            return self.bank.evaluate(index, items, counts, compiled).astype(np.int8)
        except ProgramError:
            if len(rows) == 1:
                return np.array([-1], np.int8)
            each = [self(rows[k : k + 1], items[k : k + 1], counts[k : k + 1], compiled) for k in range(len(rows))]
            return np.concatenate(each)


@dataclass(frozen=True)
class Instances:
    """The tasks from which episodes start: statement, target and initial scene of each, and who judges them."""

    kind: Kind
    ids: Sequence[str]
    sentences: Sequence[str]
    targets: Flags
    items: Items
    counts: Counts
    judge: Judge

    def __post_init__(self) -> None:
        check_items(self.items, self.counts)
        if self.kind == "tower":
            self._check_towers()

    def __len__(self) -> int:
        return len(self.targets)

    def _check_towers(self) -> None:
        """Refuse TOWER scenes that do not stand as towers do: the kernels rely on at most four blocks a box, bottom up."""
        boxes, present = self.items[..., 0], np.arange(self.items.shape[1]) < self.counts[:, None]
        level = np.zeros(boxes.shape, np.int64)
        for place in range(1, boxes.shape[1]):
            level[:, place] = np.where(boxes[:, place] == boxes[:, place - 1], level[:, place - 1] + 1, 0)
        wrong = (level >= TOWER_HEIGHT) | (self.items[..., 2] != tower_y(0) - TOWER_PITCH * level)
        for field_, value in ((1, TOWER_X), (3, TOWER_SIZE), (5, SQUARE)):
            wrong |= self.items[..., field_] != value
        bad = np.flatnonzero((wrong & present).any(1))
        if len(bad):
            raise UsageError(f"the scene of {shown(self.ids[int(bad[0])])} is not made of towers; act in it as a scatter.")


@dataclass
class States:
    """Episodes under way. `advance` changes them in place; `copy` first to keep them."""

    setting: Setting
    instances: Instances
    rows: Numbers
    items: Items
    counts: Counts
    clocks: Numbers
    active: Flags
    canvases: NDArray[np.uint8]
    images: NDArray[np.uint8]
    compiled: bool = False
    rule: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.rows)

    def copy(self) -> States:
        """The same episodes, independent from now on."""
        arrays = ("rows", "items", "counts", "clocks", "active", "canvases", "images")
        return replace(self, **{name: getattr(self, name).copy() for name in arrays})

    @functools.cached_property
    def board(self) -> Board:
        """The arrays that kernels change in place."""
        return Board(self.items, self.counts, self.clocks, self.active, self.canvases, self.images)

    @functools.cached_property
    def results(self) -> Results:
        """Room for what one step gives; `advance_one` uses it again and again."""
        return _results(len(self))

    def scenes(self) -> list[Scene]:
        """The current scenes as values."""
        return unpack(self.setting.kind, self.items, self.counts)


class Outcome(NamedTuple):
    """What one step gave, per episode: reward, (terminated, truncated), error code (see `ERRORS`), whether STOP was forced."""

    rewards: NDArray[np.float64]
    ended: Flags
    errors: NDArray[np.int8]
    forced: Flags


def room(setting: Setting, instances: Instances) -> int:
    """How many items a scene of these instances may come to have."""
    given = int(instances.items.shape[1])
    return max(TOWER_HEIGHT * BOX_COUNT, given) if setting.kind == "tower" else given + setting.horizon


def begin(
    setting: Setting, instances: Instances, rows: Sequence[int] | Numbers, images: bool = True, compiled: bool = False
) -> States:
    """Start the episodes of these instances; with `images`, the half-size observations are kept up to date."""
    index = np.asarray(rows, np.int64)
    n, width = len(index), room(setting, instances)
    if width > MAX_ITEMS and int(instances.counts.max(initial=0)) + setting.horizon - 1 > MAX_ITEMS:
        raise UsageError(
            f"scenes with {instances.items.shape[1]} items and horizon {setting.horizon} exceed {MAX_ITEMS} items."
        )
    shape = (n, render.HEIGHT, render.WIDTH) if images else (n, 0, 0)
    states = States(
        setting, instances, index.copy(), np.zeros((n, width, 6), np.int16),
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(shape, np.uint8),
        np.zeros((n, *render.OBSERVATION_SHAPE) if images else (n, 0, 0, 3), np.uint8), compiled, setting.rule(images),
    )  # fmt: skip
    restart(states, np.arange(n), index)
    return states


def restart(states: States, which: Numbers, rows: Numbers) -> None:
    """Begin new episodes, of instances `rows`, in the places `which`; in place."""
    instances = states.instances
    states.rows[which] = rows
    states.items[which] = 0
    states.items[which, : instances.items.shape[1]] = instances.items[rows]
    states.counts[which] = instances.counts[rows]
    states.clocks[which] = 0
    states.active[which] = True
    if states.images.size:
        render.redraw(states.canvases, states.images, states.items, states.counts, which, states.compiled)


def view(states: States, sight: Sight, resolution: Resolution = "half") -> NDArray[Any]:
    """What is seen of the episodes, copied: the images, or the items with -1 wherever there is none."""
    if sight == "image":
        return states.images.copy() if resolution == "half" else render.PALETTE[states.canvases]
    present = np.arange(states.items.shape[1]) < states.counts[:, None]
    return np.where(present[..., None], states.items, np.int16(-1))


def view_one(states: States, sight: Sight, resolution: Resolution = "half") -> NDArray[Any]:
    """`view` where there is one episode."""
    if sight == "image":
        return states.images[0].copy() if resolution == "half" else render.PALETTE[states.canvases[0]]
    count = states.counts.item()
    seen = states.items[0].copy()
    seen[count:] = -1
    return seen


def _kernel(states: States) -> Any:
    return kernels.load(KERNEL_NAME, states.compiled)


def truths(states: States, which: Numbers, compiled: bool | None) -> Flags:
    """Whether the target holds now in the episodes `which`; a program that fails on a scene meets no target there."""
    rows = states.rows[which]
    holds = states.instances.judge(rows, states.items[which], states.counts[which], compiled)
    same: Flags = holds == states.instances.targets[rows].astype(np.int8)
    return same


def advance(states: States, actions: NDArray[Any]) -> Outcome:
    """One step of every episode under way, in place; places whose episode has ended stay as they are."""
    n = len(states)
    wanted = np.asarray(actions)
    if wanted.shape != (n,) or wanted.dtype.kind not in "iu":
        raise UsageError(f"actions are {n} integers, but {wanted.dtype} of shape {wanted.shape} was given.")
    if n and not (int(wanted.min()) >= 0 and int(wanted.max()) < states.setting.action_count):
        raise UsageError(f"an action lies outside 0 to {states.setting.action_count - 1}: {shown(wanted.tolist())}.")
    taken = wanted.astype(np.int64)
    met = np.zeros(n, np.bool_)
    forced = np.zeros(n, np.bool_)
    judged = np.flatnonzero(states.active if states.setting.stop_forcing else states.active & (taken == 0))
    if len(judged):
        met[judged] = truths(states, judged, states.compiled)
    if states.setting.stop_forcing:
        forced = met & (taken != 0)
        taken[forced] = 0
    results = _results(n)
    _kernel(states).advance(states.rule, states.setting.step_cost, tables(), states.board, taken, met, results)
    states.active &= ~(results.ended[:, 0] | results.ended[:, 1])
    return Outcome(results.rewards, results.ended, results.errors, forced)


def advance_one(states: States, action: int) -> tuple[float, bool, bool, int, bool]:
    """`advance` where there is one episode, under way: reward, terminated, truncated, error code, whether STOP was forced."""
    setting, results = states.setting, states.results
    is_met = is_forced = False
    if action == 0 or setting.stop_forcing:
        is_met = bool(truths(states, _FIRST, None if states.compiled else False)[0])
        is_forced = is_met and action != 0
    taken = np.array([0 if is_forced else action])
    _kernel(states).advance(states.rule, setting.step_cost, tables(), states.board, taken, np.array([is_met]), results)
    terminated, truncated = results.ended[0].tolist()
    if terminated or truncated:
        states.active[0] = False
    return results.rewards.item(), terminated, truncated, results.errors.item(), is_forced


def _results(places: int) -> Results:
    return Results(np.zeros(places, np.float64), np.zeros((places, 2), np.bool_), np.zeros(places, np.int8))


class Step(NamedTuple):
    """New states and what the step gave."""

    states: States
    outcome: Outcome


def step(states: States, actions: NDArray[Any]) -> Step:
    """One step of every episode; the given states stay as they were."""
    after = states.copy()
    return Step(after, advance(after, actions))
