"""Edit plans that reach the target: for TOWER the shortest there is; for SCATTER the shortest that a search finds.

A TOWER has 121 fillings per box, so breadth-first search over whole layers of scenes is exact and proves that nothing shorter
(or nothing at all) exists. SCATTER: all single edits are tried, then thousands of episodes wander with a purpose each, and
the best is trimmed. Every plan is replayed under the rules before it is returned.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.episodes import Instances, Judge, play, tables
from recombine.families.lilgym.program import Program
from recombine.families.lilgym.scene import (
    SQUARE,
    TOWER_HEIGHT,
    TOWER_SIZE,
    TOWER_X,
    Counts,
    Flags,
    Items,
    Numbers,
    Scene,
    pack,
    tower_y,
    unpack,
)  # fmt: skip

CHUNK = 1 << 16
"""Scenes judged at a time."""
EPISODES = 2048
"""Wandering episodes per round."""


@dataclass(frozen=True)
class Solution:
    """A plan, or that none was found. `actions` ends with STOP; `shortest`: no plan with fewer edits exists (proved).

    With `actions` None and `shortest` True, no plan exists within the horizon.
    """

    actions: tuple[int, ...] | None
    shortest: bool
    judged: int

    @property
    def edits(self) -> int | None:
        """How many edits the plan takes before STOP: the difficulty of the task."""
        return None if self.actions is None else len(self.actions) - 1


def solve(setting: Setting, scene: Scene, program: Program, target: bool, rounds: int = 8, compiled: bool = True) -> Solution:
    """A plan from the scene to one where the program's value is `target`, within the horizon (the last step is STOP).

    `rounds` bounds the SCATTER search; the same arguments give the same plan.
    """
    judge = Judge([program])
    if setting.kind == "tower":
        solution = _solve_tower(setting, judge, scene, target, compiled)
    else:
        solution = _Scatter(setting, judge, target, compiled).solve(scene, rounds)
    if solution.actions is not None:
        replayed = play(setting, scene, target, program.evaluate, solution.actions)
        if not replayed.solved:
            raise AssertionError(f"the plan {solution.actions} does not replay: {replayed.error}")
    return solution


def demonstrations(setting: Setting, instances: Instances, rows: Sequence[int], rounds: int = 8) -> list[Solution]:
    """A plan for each of these instances: expert demonstrations, solvability and difficulty."""
    found = []
    for row in rows:
        scene = unpack(instances.kind, instances.items[row : row + 1], instances.counts[row : row + 1])[0]
        program = instances.judge.bank.programs[int(instances.judge.program_of[row])]
        found.append(solve(setting, scene, program, bool(instances.targets[row]), rounds))
    return found


# --- TOWER -----------------------------------------------------------------------------------------------------------

_STARTS = (0, 1, 4, 13, 40, 121)
FILLINGS = _STARTS[-1]
"""Ways to fill one box with at most four blocks of three colours."""


def _filling(colors: Sequence[int]) -> int:
    number = 0
    for color in colors:
        number = 3 * number + color
    return _STARTS[len(colors)] + number


@functools.cache
def _boxes() -> tuple[Numbers, Items, Numbers]:
    """By filling: what ADD of each colour and REMOVE make of it (-1: impossible), its item rows (box 0), its height."""
    colors: list[tuple[int, ...]] = [()]
    for height in range(TOWER_HEIGHT):
        colors += [(*low, c) for low in colors[_STARTS[height] : _STARTS[height + 1]] for c in range(3)]
    after = np.full((FILLINGS, 4), -1, np.int64)
    items = np.zeros((FILLINGS, TOWER_HEIGHT, 6), np.int16)
    for code, tower in enumerate(colors):
        if len(tower) < TOWER_HEIGHT:
            after[code, :3] = [_filling((*tower, c)) for c in range(3)]
        if tower:
            after[code, 3] = _filling(tower[:-1])
        for level, color in enumerate(tower):
            items[code, level] = (0, TOWER_X, tower_y(level), TOWER_SIZE, color, SQUARE)
    return after, items, np.array([len(tower) for tower in colors], np.int64)


def tower_scenes(states: Numbers) -> tuple[Items, Counts]:
    """Packed scenes of TOWER states (three fillings in base 121, the left box lowest)."""
    _, items, heights = _boxes()
    fillings = states[:, None] // np.array([1, FILLINGS, FILLINGS**2]) % FILLINGS
    rows = items[fillings]
    rows[..., 0] = np.arange(3)[None, :, None]
    present = np.arange(TOWER_HEIGHT) < heights[fillings][..., None]
    order = np.argsort(~present.reshape(len(states), -1), axis=1, kind="stable")
    packed = np.take_along_axis(rows.reshape(len(states), -1, 6), order[..., None], axis=1)
    return packed, heights[fillings].sum(1)


def _solve_tower(setting: Setting, judge: Judge, scene: Scene, target: bool, compiled: bool) -> Solution:
    after, _, _ = _boxes()
    start = sum(_filling([item.color for item in box]) * FILLINGS**b for b, box in enumerate(scene.boxes))
    seen = np.zeros(FILLINGS**3, np.bool_)
    seen[start] = True
    layers: list[tuple[Numbers, Numbers, Numbers]] = [(np.array([start]), np.zeros(1, np.int64), np.zeros(1, np.int64))]
    judged = 0
    for _ in range(setting.horizon):
        states = layers[-1][0]
        hit, looked = _first_met(judge, states, target, compiled)
        judged += looked
        if hit >= 0:
            return Solution((*_walk_back(layers, hit), 0), True, judged)
        layers.append(_next_layer(states, seen, after))
    return Solution(None, True, judged)


def _first_met(judge: Judge, states: Numbers, target: bool, compiled: bool) -> tuple[int, int]:
    """The first state of a layer that meets the target (or -1), and how many were judged."""
    for low in range(0, len(states), CHUNK):
        part = states[low : low + CHUNK]
        items, counts = tower_scenes(part)
        met = np.flatnonzero(judge(np.zeros(len(part), np.int64), items, counts, compiled) == int(target))
        if len(met):
            return low + int(met[0]), low + len(part)
    return -1, len(states)


def _next_layer(states: Numbers, seen: Flags, after: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The unseen neighbours of a layer, in order of first arrival, with parent and action."""
    reached, parents, actions = [], [], []
    for box in range(3):
        unit = FILLINGS**box
        filling = states // unit % FILLINGS
        for move in range(4):
            there = after[filling, move]
            possible = np.flatnonzero(there >= 0)
            reached.append(states[possible] + (there[possible] - filling[possible]) * unit)
            parents.append(possible)
            actions.append(np.full(len(possible), 1 + 3 * box + move if move < 3 else 10 + box))
    every = np.concatenate(reached)
    fresh = np.flatnonzero(~seen[every])
    _, first = np.unique(every[fresh], return_index=True)
    chosen = fresh[np.sort(first)]
    seen[every[chosen]] = True
    return every[chosen], np.concatenate(parents)[chosen], np.concatenate(actions)[chosen]


def _walk_back(layers: Sequence[tuple[Numbers, Numbers, Numbers]], hit: int) -> list[int]:
    actions = []
    for _, parents, moves in reversed(layers[1:]):
        actions.append(int(moves[hit]))
        hit = int(parents[hit])
    return actions[::-1]


# --- SCATTER ---------------------------------------------------------------------------------------------------------


class _Scatter:
    """The search for one SCATTER task."""

    def __init__(self, setting: Setting, judge: Judge, target: bool, compiled: bool) -> None:
        self.setting, self.judge, self.target, self.compiled = setting, judge, target, compiled
        self.rule = setting.rule(images=False)
        self.judged = 0

    def solve(self, scene: Scene, rounds: int) -> Solution:
        items, counts = pack([scene], width=len(scene.items) + self.setting.horizon)
        if self.met(items, counts)[0]:
            return Solution((0,), True, self.judged)
        if self.setting.horizon == 1:
            return Solution(None, True, self.judged)
        complete = self.setting.grid == "19x5"
        single = self.single_edit(items, counts) if complete else None
        if single is not None:
            return Solution((single, 0), True, self.judged)
        best: tuple[int, ...] | None = None
        for number in range(rounds):
            most = self.setting.horizon - 1 if best is None else len(best) - 1
            found = self.wander(items, counts, most, number) if most > 1 else None
            best = best if found is None else self.trimmed(items, counts, found)
            if best is not None and len(best) <= 1 + complete:
                break
        if best is None:
            return Solution(None, complete and self.setting.horizon == 2, self.judged)
        return Solution((*best, 0), complete and len(best) == 2, self.judged)

    def met(self, items: Items, counts: Counts) -> Flags:
        self.judged += len(counts)
        flags: Flags = self.judge(np.zeros(len(counts), np.int64), items, counts, self.compiled) == int(self.target)
        return flags

    def many(self, items: Items, counts: Counts, n: int) -> tuple[Items, Counts]:
        return np.repeat(items, n, axis=0), np.repeat(counts, n)

    def edited(self, items: Items, counts: Counts, actions: Numbers) -> Flags:
        """Carry out one edit per scene, in place; which ones were valid."""
        kernel = kernels.load("recombine.families.lilgym.play.kernel", self.compiled)
        valid = np.zeros(len(actions), np.bool_)
        kernel.edit_many(self.rule, tables(), items, counts, actions, valid)
        return valid

    def single_edit(self, items: Items, counts: Counts) -> int | None:
        """The first single edit that reaches the target, of all there are on the 19 × 5 grid."""
        actions = np.arange(1, self.setting.action_count)
        many, numbers = self.many(items, counts, len(actions))
        valid = np.flatnonzero(self.edited(many, numbers, actions))
        good = valid[self.met(many[valid], numbers[valid])]
        return int(actions[good[0]]) if len(good) else None

    def wander(self, items: Items, counts: Counts, most: int, number: int) -> tuple[int, ...] | None:
        """The fewest edits by which an episode of this round met the target, at most `most`."""
        kernel = kernels.load("recombine.families.lilgym.play.solver_kernel", self.compiled)
        many, numbers = self.many(items, counts, EPISODES)
        states = keys.states(keys.state("lilgym", "solver", number), 0, EPISODES)
        themes = _themes(number, EPISODES)
        moves = np.zeros((EPISODES, most), np.int64)
        for clock in range(most):
            kernel.wander(self.rule, tables(), many, numbers, themes, states, moves, clock)
            met = np.flatnonzero(self.met(many, numbers))
            if len(met):
                plan = moves[met[0], : clock + 1]
                return tuple(int(action) for action in plan if action)
        return None

    def trimmed(self, items: Items, counts: Counts, plan: tuple[int, ...]) -> tuple[int, ...]:
        """The plan without edits that it can do without, dropped one at a time."""
        while True:
            shorter = [plan[:k] + plan[k + 1 :] for k in range(len(plan))]
            many, numbers = self.many(items, counts, len(shorter))
            valid = np.ones(len(shorter), np.bool_)
            for column in np.array(shorter, np.int64).T:
                valid &= self.edited(many, numbers, column)
            good = np.flatnonzero(valid & self.met(many, numbers)) if len(plan) > 1 else np.zeros(0, np.int64)
            if not len(good):
                return plan
            plan = shorter[int(good[0])]


def _themes(number: int, n: int) -> NDArray[np.int64]:
    """What each episode of a round is after; half of them have no taste in shape or size."""
    stream = keys.Stream("lilgym", "solver", "themes", number)
    themes = np.zeros((n, 6), np.int64)
    growths = (0, 15, 50, 85, 100)
    for i in range(n):
        themes[i] = (
            stream.below(4) - 1, max(-1, stream.below(6) - 3), max(-1, stream.below(6) - 3), stream.below(5),
            1 + stream.below(7), growths[stream.below(5)],
        )  # fmt: skip
    return themes


def difficulty(solutions: Sequence[Solution]) -> dict[str, Any]:
    """How hard a set of tasks is: how many take k edits, how many have no plan, and for how many that is proved."""
    edits = [s.edits for s in solutions]
    return {
        "edits": {str(k): edits.count(k) for k in sorted({e for e in edits if e is not None})},
        "no plan found": edits.count(None),
        "proved": sum(s.shortest for s in solutions),
        "scenes judged": sum(s.judged for s in solutions),
    }
