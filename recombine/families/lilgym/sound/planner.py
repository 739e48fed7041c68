"""Edit plans for generated tasks: quick, reproducible, not always the shortest (`play.solver` is the one that proves).

A search has three steps: (1) it tries every single edit; (2) it tries two dozen short random walks; (3) it removes edits that are
not needed. Many searches advance together: kernels propose scenes (`moves.py`), and a judge says in which of them the statements
hold.

Rows in bulk need a scene and a plan for each statement that is asked, and no (statement, scene) pair twice. Visit v of a statement that
comes n times takes a scene of class v of n, so two visits never share a scene. A class can lack scenes from which a plan is found.
`selection.py` therefore makes every visit once from a random state of its own, the spare state, and gives a statement only as many
visits as it can make. A job whose own states find nothing falls back on the spare state.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.kernel import Tables
from recombine.families.lilgym.scene import (
    BOX_COUNT,
    COLORS,
    FIELDS,
    SHAPES,
    SIZE_NAMES,
    TOWER_HEIGHT,
    Counts,
    Flags,
    Items,
    Kind,
    Numbers,
    Words,
)
from recombine.families.lilgym.sound.flip import Made, Rules, Wishes
from recombine.families.lilgym.sound.moves import DRAWN_ADDS, Ground, Scenes
from recombine.families.lilgym.sound.worlds import WIDTHS

if TYPE_CHECKING:
    from recombine.families.lilgym.program import Program

FLIP = "recombine.families.lilgym.sound.flip"
ROUNDS = 8
"""Scenes from which a row tries to find a plan, before it takes its spare state."""
SPARE_ROUNDS = 8
"""The same, from the spare state."""
TRUTH = "recombine.families.lilgym.sound.truth"
MOVES = "recombine.families.lilgym.sound.moves"
MAX_EDITS = 10
"""Edits before STOP, under the horizon of 11."""
WALKS, WALK_STEPS = 24, 6
GROWTH = WALK_STEPS
"""Items that a plan can add to a scene of scattered items."""
SETTINGS: dict[Kind, Setting] = {"tower": Setting("tower"), "scatter": Setting("scatter")}
NO_PLAN = -1
Judge = Callable[[Numbers, Items, Counts], Flags]
"""The truth of statement rows[k] of scene k."""


class Tasks(NamedTuple):
    """Scenes to be changed until a statement has the target's truth value."""

    items: Items  # (n, width, 6)
    counts: Counts  # (n,)
    targets: Flags  # (n,)
    tastes: Numbers  # (n, 4): what each statement speaks of
    states: Words  # (n,): random states


class Plans(NamedTuple):
    """Edits without STOP."""

    actions: Numbers  # (n, WALK_STEPS)
    lengths: Numbers  # (n,): NO_PLAN where none was found


@functools.lru_cache(maxsize=65_536)
def taste(program: str) -> tuple[int, int, int, int]:
    """Which colours, shapes and sizes a program names, as sets (all where it names none; sizes small and medium), and contact."""
    named = {word.lower() for found in re.findall(r"is_(\w+)\(|(?:Color|Shape|Size)\.(\w+)", program) for word in found}
    colors, shapes, sizes = (
        sum(1 << code for code, word in enumerate(table) if word in named) for table in (COLORS, SHAPES, SIZE_NAMES)
    )
    return colors or 7, shapes or 7, sizes or 3, int("get_touching(" in program)


def pack_tastes(tastes: Sequence[tuple[int, int, int, int]]) -> NDArray[np.uint16]:
    """Tastes as numbers: three bits each for colours, shapes and sizes, and one for contact."""
    return np.array([colors | shapes << 3 | sizes << 6 | tidy << 9 for colors, shapes, sizes, tidy in tastes], np.uint16)


def unpack_tastes(packed: NDArray[np.uint16]) -> Numbers:
    """Tastes (n, 4) from their numbers."""
    return np.asarray((packed.astype(np.int64)[:, None] >> np.array([0, 3, 6, 9])) & 7)


@functools.cache
def ground(kind: Kind) -> Ground:
    """How edits are carried out; towers need no tables of shapes."""
    if kind == "scatter":
        from recombine.families.lilgym.play.episodes import tables

        return Ground(SETTINGS[kind].rule(images=False), tables(), False)
    contacts, areas = np.zeros((1, 1, 1, 1), np.uint8), np.zeros((1, 1, 1), np.int64)
    for array in (contacts, areas):  # read-only as the real tables are, so that kernels are compiled once for both
        array.setflags(write=False)
    none = Tables(
        contacts, areas, np.zeros((1, 2)), np.zeros(1, np.uint8), np.zeros((1, 1, 2), np.int64), np.zeros((1, 3), np.uint8)
    )
    return Ground(SETTINGS[kind].rule(images=False), none, True)


def by_codes(kind: Kind, codes: Numbers, compiled: bool) -> Judge:
    """Statements judged by their plans: codes (n, WIDTH)."""
    evaluate = kernels.load(TRUTH, compiled).evaluate

    def judge(rows: Numbers, items: Items, counts: Counts) -> Flags:
        out = np.zeros(len(rows), np.bool_)
        evaluate(codes, rows, kind == "tower", items, counts, out)
        return out

    return judge


def by_programs(programs: Sequence[Program]) -> Judge:
    """Statements judged by their programs."""
    from recombine.families.lilgym.program import Bank

    bank = Bank(programs)
    return lambda rows, items, counts: bank.evaluate(rows, items, counts)


def search(kind: Kind, tasks: Tasks, judge: Judge, compiled: bool) -> Plans:
    """A plan for every task that finds one."""
    n, width = len(tasks.counts), tasks.items.shape[1]
    plans = Plans(np.zeros((n, WALK_STEPS), np.int64), np.full(n, NO_PLAN, np.int64))
    run = kernels.load(MOVES, compiled)
    most = 12 if kind == "tower" else width + 3 * DRAWN_ADDS
    room = max(width, BOX_COUNT * TOWER_HEIGHT) if kind == "tower" else width + GROWTH  # kernels write without bounds checks
    given = Scenes(_widened(tasks.items, room), tasks.counts)
    actions, found = np.zeros((n, most), np.int64), np.zeros(n, np.int64)
    after, counts = np.zeros((n, most, room, FIELDS), np.int16), np.zeros((n, most), np.int64)
    run.singles(ground(kind), tasks.states, tasks.tastes, given, actions, found, after, counts)
    rows, tried = np.nonzero(np.arange(most) < found[:, None])
    arrived = np.zeros((n, most), np.bool_)
    arrived[rows, tried] = judge(rows, after[rows, tried], counts[rows, tried]) == tasks.targets[rows]
    done = np.flatnonzero(arrived.any(1))
    plans.lengths[done] = 1
    plans.actions[done, 0] = actions[done, arrived[done].argmax(1)]
    _walk(kind, tasks, given, judge, plans, compiled)
    return plans


def _widened(items: Items, width: int) -> Items:
    wide = np.zeros((len(items), width, FIELDS), np.int16)
    wide[:, : items.shape[1]] = items
    return wide


def _walk(kind: Kind, tasks: Tasks, given: Scenes, judge: Judge, plans: Plans, compiled: bool) -> None:
    """Short random walks for the tasks without a plan; the first that arrives is trimmed and taken."""
    run, land = kernels.load(MOVES, compiled), ground(kind)
    left = np.flatnonzero(plans.lengths == NO_PLAN)
    items, counts = np.repeat(given.items[left][:, None], WALKS, 1), np.repeat(given.counts[left][:, None], WALKS, 1)
    moves, lengths = np.zeros((len(left), WALKS, WALK_STEPS), np.int64), np.zeros((len(left), WALKS), np.int64)
    states = keys.derived(tasks.states[left], 1)
    found: list[Numbers] = []
    for _ in range(WALK_STEPS):
        if not len(left):
            break
        run.walk(land, states, tasks.tastes[left], items, counts, moves, lengths)
        rows = np.repeat(left, WALKS)
        truths = judge(rows, items.reshape(-1, *items.shape[2:]), counts.reshape(-1))
        arrived = (truths == tasks.targets[rows]).reshape(-1, WALKS) & (lengths > 0)
        here, first = arrived.any(1), arrived.argmax(1)
        if not here.any():
            continue
        done = left[here]
        plans.actions[done], plans.lengths[done] = moves[here, first[here]], lengths[here, first[here]]
        found.append(done)
        on = ~here
        left, items, counts, moves, lengths, states = left[on], items[on], counts[on], moves[on], lengths[on], states[on]
    _trim(kind, tasks, given, judge, plans, np.sort(np.concatenate(found)) if found else left, compiled)


def _trim(kind: Kind, tasks: Tasks, given: Scenes, judge: Judge, plans: Plans, rows: Numbers, compiled: bool) -> None:
    """Leave out edits that a plan can do without: one at a time, then two at a time (an ADD and its REMOVE)."""
    run, land = kernels.load(MOVES, compiled), ground(kind)
    dropped = np.ones(len(plans.lengths), np.int64)
    while len(rows):
        shorter = [
            (row, [place for place in range(length) if place not in gone])
            for row, length, drop in zip(rows.tolist(), plans.lengths[rows].tolist(), dropped[rows].tolist(), strict=True)
            for gone in itertools.combinations(range(length), drop)
            if drop < length
        ]
        owner = np.array([row for row, _ in shorter], np.int64)
        tried, sizes = np.zeros((len(shorter), WALK_STEPS), np.int64), np.array([len(kept) for _, kept in shorter], np.int64)
        for k, (row, kept) in enumerate(shorter):
            tried[k, : len(kept)] = plans.actions[row, kept]
        ends, valid = Scenes(given.items[owner], given.counts[owner]), np.zeros(len(owner), np.bool_)
        run.replay(land, tasks.tastes[owner], tried, sizes, ends, valid)
        good = np.flatnonzero(valid & (judge(owner, ends.items, ends.counts) == tasks.targets[owner]))
        better, first = np.unique(owner[good], return_index=True)
        plans.actions[better], plans.lengths[better] = tried[good[first]], sizes[good[first]]
        dropped[rows] += 1
        dropped[better] = 1
        rows = rows[dropped[rows] <= np.minimum(2, plans.lengths[rows] - 1)]


def build(kind: Kind, goal: Items, count: int, judge: Judge) -> list[int]:
    """The ADDs that build a goal from nothing, without the items that need not be there."""
    while count:
        smaller = np.stack([_without(kind, goal, count, index) for index in range(count)])
        good = np.flatnonzero(judge(np.zeros(count, np.int64), smaller, np.full(count, count - 1)))
        if not len(good):
            break
        goal, count = smaller[good[0]], count - 1
    rows = goal[:count].tolist()
    if kind == "tower":
        return [1 + 3 * box + color for box, _, _, _, color, _ in rows]
    return [
        1 + (((5 * (x // 20 + 7 * box) + y // 20) * 3 + shape) * 3 + color) * 3 + size // 10 - 1
        for box, x, y, size, color, shape in rows
    ]


def _without(kind: Kind, scene: Items, count: int, index: int) -> Items:
    """The scene without one item; in a tower the blocks above it come down."""
    rest = np.delete(scene, index, 0)
    rest = np.concatenate([rest, np.zeros((1, FIELDS), np.int16)])
    if kind == "tower":
        box = scene[index, 0]
        above = np.flatnonzero((rest[: count - 1, 0] == box) & (np.arange(count - 1) >= index))
        rest[above, 2] += 21
    return rest


# --- rows in bulk ----------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Statements that are asked, and of which class of scenes."""

    codes: NDArray[np.int8]  # (n, WIDTH)
    tastes: NDArray[np.uint16]  # (n,): as `pack_tastes` makes them
    visits: Numbers  # (n,): how often the statement came before: the class of the scene
    classes: Numbers  # (n,): how often the statement comes in all: the number of classes

    def at(self, rows: Numbers) -> Asked:
        """Some of them."""
        return Asked(self.codes[rows], self.tastes[rows], self.visits[rows], self.classes[rows])


def spare_states(kind: Kind, asked: Asked) -> Words:
    """A random state for each visit of a statement that no job and no seed changes."""
    packed = np.ascontiguousarray(asked.codes).view(np.uint8).astype(np.uint64)
    odd = keys.states(keys.state("lilgym", "spare", kind), 0, packed.shape[1]) | np.uint64(1)
    named = (packed * odd).sum(1, dtype=np.uint64)
    return keys.derived(named ^ keys.derived(asked.visits.astype(np.uint64), keys.state("lilgym", "visit", kind)), 1)


def make(kind: Kind, asked: Asked, states: Words, *, from_scratch: bool, flips: bool, compiled: bool) -> Made:
    """A scene for each statement and, if `flips`, a plan that flips the statement there; the same at both speeds.

    Without `compiled`, rows that find no plan in their first scene still take the compiled form, if it costs little.
    """
    rules = Rules(kind == "tower", from_scratch, flips, ROUNDS, SPARE_ROUNDS)
    if compiled or not kernels.is_ready(FLIP):
        return run(kind, asked, states, rules, compiled)
    made = run(kind, asked, states, rules._replace(rounds=1, spare_rounds=0), False)
    left = np.flatnonzero(made.truths == 0)
    if len(left):
        found = run(kind, asked.at(left), states[left], rules, True)
        for name in Made._fields:
            getattr(made, name)[left] = getattr(found, name)
    return made


def run(kind: Kind, asked: Asked, states: Words, rules: Rules, compiled: bool) -> Made:
    """The same under other rules; `truths` is 0 where no row was found."""
    n = len(states)
    wishes = Wishes(
        asked.codes.astype(np.int64), unpack_tastes(asked.tastes), asked.visits.astype(np.int64),
        asked.classes.astype(np.int64), states, spare_states(kind, asked),
    )  # fmt: skip
    made = Made(
        np.zeros((n, WIDTHS[kind], FIELDS), np.int16), np.zeros(n, np.int64), np.zeros(n, np.int8),
        np.zeros((n, MAX_EDITS), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
    )  # fmt: skip
    kernels.load(FLIP, compiled).make_rows(ground(kind), wishes, rules, made)
    return made
