"""Edit plans for generated tasks: quick, reproducible, not always the shortest (`solver.py` is the one that proves).

A search has three steps: (1) it tries every single edit; (2) it tries two dozen short random walks; (3) it removes edits that are
not needed. It is a generator that yields scenes and is sent their truth values, so thousands of searches advance together.

Plans use only safe edits, on which every rule book and every geometry agrees. An added item's bounding square meets no other. It is
not so near to another that the released code would pull it there. A removing cell is covered by its item by a clear margin. Where
a statement speaks of contact, an added item clearly touches or clearly does not touch each other item of its box.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym.plan import Plan
from recombine.families.lilgym.play import geometry
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.scene import SIZES, SQUARE, TOWER_HEIGHT, TOWER_SIZE, TOWER_X, Kind, pack_rows, tower_y
from recombine.families.lilgym.sound.kernel import APART, contact
from recombine.families.lilgym.sound.truth import World, holds
from recombine.keys import Stream

if TYPE_CHECKING:
    from recombine.families.lilgym.program import Program

Row = tuple[int, ...]
Truths = NDArray[np.bool_]
Search = Generator[list[World], Truths, "tuple[int, ...] | None"]

MAX_EDITS = 10
"""Edits before STOP, under the horizon of 11."""
WALKS, WALK_STEPS = 24, 6
MARGIN = 2_000_000
"""By how many millionths of a pixel a removing cell must be covered more by its item than by any other."""
COLUMNS = 5
_STARTS = (0, 7, 14)
_ADD_CELLS = 19 * 5
SETTINGS: dict[Kind, Setting] = {"tower": Setting("tower"), "scatter": Setting("scatter")}


@dataclass(frozen=True)
class Taste:
    """What a statement speaks of, so that what is added has to do with it."""

    colors: tuple[int, ...]
    shapes: tuple[int, ...]
    sizes: tuple[int, ...]
    contact: bool = False

    @classmethod
    def of(cls, program: str) -> Taste:
        """The colours, shapes and sizes that a program names; all of them where it names none."""
        words = {
            word.lower() for word in re.findall(r"is_(\w+)\(|(?:Color|Shape|Size)\.(\w+)", program) for word in word if word
        }
        named = [
            tuple(code for code, word in enumerate(table) if word in words)
            for table in (("yellow", "black", "blue"), ("circle", "square", "triangle"), ("small", "medium", "big"))
        ]
        return cls(named[0] or (0, 1, 2), named[1] or (0, 1, 2), named[2] or (0, 1), "get_touching(" in program)


# --- edits -----------------------------------------------------------------------------------------------------------


def apply(kind: Kind, world: World, action: int, tidy: bool = False) -> World | None:
    """The world after an edit; None if the edit is invalid or not a safe one (`tidy`: or blurs which scattered items touch)."""
    return _apply_tower(world, action) if kind == "tower" else _apply_scatter(world, action, tidy)


def _apply_tower(world: World, action: int) -> World | None:
    box = action - 10 if action >= 10 else (action - 1) // 3
    column = [row for row in world if row[0] == box]
    if action >= 10:
        return tuple(row for row in world if row is not column[-1]) if column else None
    if len(column) == TOWER_HEIGHT:
        return None
    block = (box, TOWER_X, tower_y(len(column)), TOWER_SIZE, (action - 1) % 3, SQUARE)
    return _grouped((*world, block))


def _apply_scatter(world: World, action: int, tidy: bool) -> World | None:
    if action > 27 * _ADD_CELLS:
        column, row = divmod(action - 1 - 27 * _ADD_CELLS, COLUMNS)
        box = _box_of(column)
        index = _removable(world, box, 20 * (column - _STARTS[box]), 20 * row) if box >= 0 else -1
        return world[:index] + world[index + 1 :] if index >= 0 else None
    place, item = divmod(action - 1, 27)
    column, row = divmod(place, COLUMNS)
    box = _box_of(column)
    if box < 0:
        return None
    x, y, size = 20 * (column - _STARTS[box]), 20 * row, SIZES[item % 3]
    if x + size > 100 or y + size > 100:
        return None
    near = [other for other in world if other[0] == box and _gap(other, x, y, size) < APART]
    if any(_gap(other, x, y, size) < 0 or _blurs(other, x, y, size, item // 9, tidy) for other in near):
        return None
    return _grouped((*world, (box, x, y, size, item // 3 % 3, item // 9)))


def _contact(other: Row, x: int, y: int, size: int, shape: int) -> int:
    return int(contact(other[1], other[2], other[3], other[5], x, y, size, shape))


def _blurs(other: Row, x: int, y: int, size: int, shape: int, tidy: bool) -> bool:
    """Whether a new item would be pulled towards another by the sticky snap, or (`tidy`) it is unclear if they touch."""
    if _contact(other, x, y, size, shape) < 2:
        return False
    return tidy or is_sticky(other, x, y, size, shape)


def is_sticky(other: Row, x: int, y: int, size: int, shape: int) -> bool:
    """Whether fewer than five pixels lie between an item and a new one, so that the released code moves the new one."""
    place = (geometry.kind_of(other[5], other[3]), geometry.kind_of(shape, size))
    dy, dx = y - other[2], x - other[1]
    if max(abs(dx), abs(dy)) > geometry.REACH:
        return False
    return bool(geometry.contact_table()[(*place, dy + geometry.REACH, dx + geometry.REACH)] & geometry.NEAR)


def is_steady(world: World) -> bool:
    """Whether the items of a SCATTER scene can be added one by one without one being pulled towards another."""
    pairs = [(a, b) for a, b in itertools.combinations(world, 2) if a[0] == b[0]]
    return not any(_blurs(a, b[1], b[2], b[3], b[5], False) for a, b in pairs)


def _grouped(world: World) -> World:
    return tuple(sorted(world, key=lambda row: row[0]))


def _box_of(column: int) -> int:
    return next((box for box, start in enumerate(_STARTS) if start <= column < start + COLUMNS), -1)


def _gap(other: Row, x: int, y: int, size: int) -> int:
    """Pixels between two bounding squares of a box, on the axis where they are further apart; negative if they meet."""
    return max(x - other[1] - other[3], other[1] - x - size, y - other[2] - other[3], other[2] - y - size)


@functools.cache
def _areas() -> list[list[list[int]]]:
    table: list[list[list[int]]] = geometry.area_table().tolist()
    return table


def _covered(row: Row, x: int, y: int) -> int:
    """How much of an item lies in the cell at (x, y), in millionths of a pixel."""
    table = _areas()[3 * row[5] + row[3] // 10 - 1]
    x0, x1 = max(0, x - row[1]), min(row[3], x + 20 - row[1])
    y0, y1 = max(0, y - row[2]), min(row[3], y + 20 - row[2])
    if x1 <= x0 or y1 <= y0:
        return 0
    return table[x1][y1] - table[x0][y1] - table[x1][y0] + table[x0][y0]


def _removable(world: World, box: int, x: int, y: int) -> int:
    """The item that a cell removes, if it is covered by a clear margin; else -1."""
    best, second, found = 0, 0, -1
    for index, row in enumerate(world):
        if row[0] == box:
            area = _covered(row, x, y)
            if area > best:
                best, second, found = area, best, index
            else:
                second = max(second, area)
    return found if best - second >= MARGIN else -1


def removal(world: World, index: int) -> int | None:
    """A SCATTER action that removes this item, if a cell does so safely."""
    box, x, y, size = world[index][:4]
    for column in range(max(0, x // 20), min(4, (x + size - 1) // 20) + 1):
        for row in range(max(0, y // 20), min(4, (y + size - 1) // 20) + 1):
            if _removable(world, box, 20 * column, 20 * row) == index:
                return 1 + 27 * _ADD_CELLS + COLUMNS * (column + _STARTS[box]) + row
    return None


def addition(box: int, column: int, row: int, shape: int, color: int, size: int) -> int:
    """The SCATTER action that adds an item at a cell of a box."""
    return 1 + (((COLUMNS * (column + _STARTS[box]) + row) * 3 + shape) * 3 + color) * 3 + size


# --- searching -------------------------------------------------------------------------------------------------------


def candidates(kind: Kind, world: World, taste: Taste, stream: Stream) -> list[int]:
    """Single edits worth trying, in an order of the stream's."""
    if kind == "tower":
        actions = [a for a in range(1, 13) if _apply_tower(world, a) is not None]
    else:
        actions = [a for a in (removal(world, index) for index in range(len(world))) if a is not None]
        for box in range(3):
            actions += [_drawn(world, box, taste, stream) for _ in range(14)]
        actions = [a for a in dict.fromkeys(actions) if _apply_scatter(world, a, taste.contact) is not None]
    stream.shuffle(actions)
    return actions


def _drawn(world: World, box: int, taste: Taste, stream: Stream) -> int:
    """An ADD of something that the statement speaks of; one in four has another colour; where contact counts, most touch."""
    size = stream.choice(taste.sizes)
    color = stream.choice(taste.colors) if stream.below(4) else stream.below(3)
    cells = 4 if size == 2 else COLUMNS
    if taste.contact and stream.below(3):
        shape, places = stream.choice(taste.shapes), list(itertools.product(range(cells), range(cells)))
        inside = [row for row in world if row[0] == box]
        fits = [(c, r) for c, r in places if any(_contact(other, 20 * c, 20 * r, SIZES[size], shape) == 1 for other in inside)]
        return addition(box, *stream.choice(fits or places), shape, color, size)
    column, row = stream.below(cells), stream.below(cells)
    if stream.below(3) == 0:
        column, row = ((0, cells - 1)[stream.below(2)], row) if stream.below(2) else (column, (0, cells - 1)[stream.below(2)])
    return addition(box, column, row, stream.choice(taste.shapes), color, size)


def search(kind: Kind, world: World, target: bool, taste: Taste, stream: Stream) -> Search:
    """Yields scenes to judge; returns the edits of a plan (without STOP), or None if it found none."""
    singles = candidates(kind, world, taste, stream)
    after = [apply(kind, world, action, taste.contact) for action in singles]
    scenes = [scene for scene in after if scene is not None]
    truths = yield [world, *scenes]
    if truths[0] == target:
        return ()
    for action, truth in zip(singles, truths[1:], strict=True):
        if truth == target:
            return (action,)
    found = yield from _walk(kind, world, target, taste, stream)
    return None if found is None else (yield from _trim(kind, world, target, found, taste.contact))


def _walk(kind: Kind, world: World, target: bool, taste: Taste, stream: Stream) -> Search:
    """Short random walks, all at once; the first that arrives."""
    walks: list[tuple[World, tuple[int, ...]]] = [(world, ())] * WALKS
    for _ in range(WALK_STEPS):
        walks = [_stepped(kind, scene, moves, taste, stream) for scene, moves in walks]
        truths = yield [scene for scene, _ in walks]
        for (_, moves), truth in zip(walks, truths, strict=True):
            if truth == target:
                return moves
    return None


def _stepped(kind: Kind, scene: World, moves: tuple[int, ...], taste: Taste, stream: Stream) -> tuple[World, tuple[int, ...]]:
    """One more edit, if a few tries give a valid one."""
    for _ in range(6):
        action = _proposal(kind, scene, taste, stream)
        after = apply(kind, scene, action, taste.contact) if action is not None else None
        if action is not None and after is not None:
            return after, (*moves, action)
    return scene, moves


def _proposal(kind: Kind, scene: World, taste: Taste, stream: Stream) -> int | None:
    removes = bool(scene) and stream.below(5) < 2
    if kind == "tower":
        box = stream.below(3)
        return 10 + box if removes else 1 + 3 * box + stream.choice(taste.colors)
    return removal(scene, stream.below(len(scene))) if removes else _drawn(scene, stream.below(3), taste, stream)


def _trim(kind: Kind, world: World, target: bool, plan: tuple[int, ...], tidy: bool) -> Search:
    """The plan without the edits that it can do without: one at a time, then two at a time (an ADD and its REMOVE)."""
    dropped = 1
    while dropped <= min(2, len(plan) - 1):
        shorter = [_left(plan, chosen) for chosen in itertools.combinations(range(len(plan)), dropped)]
        played = [(moves, end) for moves in shorter if (end := replay(kind, world, moves, tidy)) is not None]
        truths = yield [end for _, end in played]
        good = [moves for (moves, _), truth in zip(played, truths, strict=True) if truth == target]
        plan, dropped = (good[0], 1) if good else (plan, dropped + 1)
    return plan


def _left(plan: tuple[int, ...], without: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(action for place, action in enumerate(plan) if place not in without)


def replay(kind: Kind, world: World, plan: Sequence[int], tidy: bool = False) -> World | None:
    """The world after all edits; None if one of them is invalid or not safe."""
    scene: World | None = world
    for action in plan:
        scene = apply(kind, scene, action, tidy) if scene is not None else None
    return scene


def build(kind: Kind, goal: World, target: bool = True) -> Search:
    """From the empty scene to a goal in which the statement holds: its items added, those left out that need not be there."""
    while True:
        smaller = [_without(kind, goal, index) for index in range(len(goal))]
        truths = yield smaller
        good = [scene for scene, truth in zip(smaller, truths, strict=True) if truth == target]
        if not good:
            break
        goal = good[0]
    if kind == "tower":
        return tuple(1 + 3 * row[0] + row[4] for row in goal)
    return tuple(
        addition(row[0], row[1] // 20, row[2] // 20, row[5], row[4], SIZES.index(row[3])) for row in goal
    )  # fmt: skip


def _without(kind: Kind, world: World, index: int) -> World:
    """The world without one item; in a tower the blocks above it come down."""
    rest = world[:index] + world[index + 1 :]
    if kind == "scatter":
        return rest
    heights = [0, 0, 0]
    fallen = []
    for row in rest:
        fallen.append((row[0], TOWER_X, tower_y(heights[row[0]]), *row[3:]))
        heights[row[0]] += 1
    return tuple(fallen)


# --- many searches at once -------------------------------------------------------------------------------------------

Judge = Callable[[Sequence[int], Sequence[World]], Truths]
"""The truth of statement which[k] of scene k."""


def by_programs(programs: Sequence[Program], compiled: bool | None = None) -> Judge:
    """Statements judged by their programs, in one kernel call where there is much to do."""
    from recombine.families.lilgym.program import Bank

    distinct = {program.text: program for program in programs}
    places = {text: place for place, text in enumerate(distinct)}
    bank = Bank(list(distinct.values()))
    index = np.array([places[program.text] for program in programs], np.int64)

    def judge(which: Sequence[int], scenes: Sequence[World]) -> Truths:
        items, counts = pack_rows([[value for row in scene for value in row] for scene in scenes])
        return bank.evaluate(index[np.asarray(which, np.int64)], items, counts, compiled)

    return judge


def by_plans(kind: Kind, plans: Sequence[Plan]) -> Judge:
    """The same by the plans themselves: no program is parsed, which is quicker for a few rows."""
    return lambda which, scenes: np.array(
        [holds(plans[k], kind, scene) for k, scene in zip(which, scenes, strict=True)], np.bool_
    )


def run(searches: Sequence[Search], judge: Judge) -> list[tuple[int, ...] | None]:
    """The results of many searches; all their scenes of a round are judged together."""
    results: list[tuple[int, ...] | None] = [None] * len(searches)
    waiting = [(i, next(one)) for i, one in enumerate(searches)]
    while waiting:
        which = [i for i, scenes in waiting for _ in scenes]
        truths = judge(which, [scene for _, scenes in waiting for scene in scenes])
        ends = np.cumsum([len(scenes) for _, scenes in waiting])
        following = []
        for (i, scenes), end in zip(waiting, ends.tolist(), strict=True):
            try:
                following.append((i, searches[i].send(truths[end - len(scenes) : end])))
            except StopIteration as done:
                results[i] = done.value
        waiting = following
    return results
