"""How many more demonstrations would settle a task, for any task in our objects: those that others bring, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine import kernels, keys
from recombine.core import Example
from recombine.families.abstract import generate, operations
from recombine.families.abstract import task_kernel as kernel
from recombine.families.abstract.answers import Scene, read_answer, scene_of
from recombine.families.abstract.effect_kernel import CODE_BASE
from recombine.families.abstract.oracle import world_of
from recombine.families.abstract.oracle_elimination import (
    Elimination,
    Group,
    causes,
    dissenters,
    eliminate,
    fitting,
    ordered,
    readings_of,
)
from recombine.families.abstract.oracle_space import DEPTHS, World, descriptions, view
from recombine.families.abstract.plan import N_PHRASES, PATTERNS, Form
from recombine.families.abstract.rows import changed, unpack
from recombine.families.abstract.splits import DEEP_OBJECTS
from recombine.grid.codes import COLORS, SHAPES
from recombine.grid.world import Thing

MOST = 6
"""Demonstrations that are added at most."""
WORLDS = 12
"""Worlds among which each of them is chosen."""
RULES = 8
"""Rules that are tried as the true one."""
WORLD_TRIES = 1_000
"""Draws for each world: some rules rarely apply, and a task may hang on one of them."""
SURVEYED = 200
"""Tasks of a file for which the question is answered."""
Pair = tuple[Scene, Scene]


@dataclass(frozen=True)
class Settlement:
    """What it takes to settle a task.

    `rivals` counts the hypotheses that miss the answer, first with the demonstrations at hand and then after each added one. `added`
    holds these demonstrations. They are chosen greedily for one rule that explains the task, so `more` is an upper bound.
    """

    rivals: tuple[int, ...]
    added: tuple[Pair, ...] = ()

    @property
    def more(self) -> int | None:
        """How many more demonstrations settle the task: 0 if it is settled, None if MOST do not, or if no rule explains it."""
        return len(self.added) if self.rivals and self.rivals[-1] == 0 else None


def settle(inputs: Mapping[str, Any], answer: str) -> Settlement:
    """Add demonstrations until every rule that fits gives this answer."""
    side = int(inputs["grid_size"])
    before = scene_of(side, inputs["test"])
    after = read_answer(before, answer)
    if after is None:
        return Settlement(())
    pairs = [(world_of(pair["input"]), world_of(pair["output"])) for pair in inputs["demonstrations"]]
    test, output = world_of(inputs["test"]), world_of(after.listed())
    for depths in (DEPTHS[:2], DEPTHS[:3], DEPTHS):
        found = eliminate(pairs, side, depths)
        true = _true_rules(found, test, output, side)
        if not true:
            continue
        against = dissenters(found, test, output, side)
        tried = [_settled(found, rule, (test, output), side, against) for rule in (true if against else ())]
        return min(
            (one for one in tried if one.more is not None), key=lambda one: len(one.added), default=Settlement((against,))
        )
    return Settlement(())


def settlement_of(example: Example) -> Settlement:
    """The same for an example."""
    return settle(example.inputs, example.answer)


def survey(examples: Sequence[Example]) -> dict[str, Any]:
    """Figures about a file: how many demonstrations its tasks have, and how many more would settle each of the first SURVEYED."""
    more = {str(example.id): settlement_of(example).more for example in examples[:SURVEYED]}
    counts = Counter("unknown" if count is None else str(count) for count in more.values())
    return {
        "tasks": len(examples),
        "demonstrations": dict(sorted(Counter(len(example.inputs["demonstrations"]) for example in examples).items())),
        "more_demonstrations_needed": dict(sorted(counts.items())),
        "needed_by_task": {name: count for name, count in more.items() if count != 0},
    }


def _true_rules(found: Elimination, test: World, output: World, side: int) -> list[tuple[Form, str]]:
    """A few rules that fit the demonstrations and give the answer, the simplest first."""
    counts: Counter[tuple[Form, str]] = Counter()
    for group in found.groups:
        allowed = causes(test, output, side, group.deed)
        rows = fitting(view(ordered(test), group.reading[0]), group.depth, group.rows, group.reading[1], allowed)
        for head, bond, child, bond2, child2 in descriptions(group.depth)[rows].tolist():
            form = Form(PATTERNS.index(group.depth), head, bond * N_PHRASES + child, bond2 * N_PHRASES + child2)
            counts[form, " and ".join(" ".join(act) for act in group.deed)] += 1
    # A rule whose readings disagree cannot be told apart from itself: demonstrations never settle it.
    whole = [rule for rule, count in counts.items() if count == len(readings_of(PATTERNS[rule[0].pattern]))]
    return whole[:: max(1, len(whole) // RULES)][:RULES] or list(counts)[:1]


def _settled(found: Elimination, rule: tuple[Form, str], test: tuple[World, World], side: int, against: int) -> Settlement:
    """Add the world that leaves fewest rivals, again and again, as if this rule were the true one."""
    rivals, added = [against], list[Pair]()
    for number in range(MOST):
        options = list[tuple[int, int, Elimination, Pair]]()
        for pair in _worlds(rule, side, number):
            left = _narrowed(found, pair, side)
            options.append((dissenters(left, *test, side), len(options), left, pair))
        if not options:
            break
        fewest, _, found, pair = min(options, key=lambda option: option[:2])
        rivals.append(fewest)
        added.append(pair)
        if fewest == 0:
            break
    return Settlement(tuple(rivals), tuple(added))


def _narrowed(found: Elimination, pair: Pair, side: int) -> Elimination:
    """The hypotheses that fit one more demonstration."""
    before, after = (world_of(scene.listed()) for scene in pair)
    left = list[Group]()
    for group in found.groups:
        allowed = causes(before, after, side, group.deed)
        seen = view(ordered(before), group.reading[0])
        rows = fitting(seen, group.depth, group.rows, group.reading[1], allowed) if allowed else group.rows[:0]
        if len(rows):
            left.append(replace(group, rows=rows))
    return Elimination(left, [sum(len(group.rows) for group in left)])


def _worlds(rule: tuple[Form, str], side: int, number: int) -> Sequence[Pair]:
    """Worlds in which the rule applies, with what it makes of them. The same rule always gives the same ones."""
    form, operation = rule
    settings = np.zeros(kernel.N_SETTINGS, dtype=np.int64)
    settings[kernel.S_GRID] = side
    settings[kernel.S_LOW], settings[kernel.S_HIGH] = DEEP_OBJECTS
    settings[kernel.S_WORLD_TRIES] = WORLD_TRIES
    desk = generate.desk_of(settings)
    run = kernels.load(generate.KERNEL_NAME, compiled=kernels.is_ready(generate.KERNEL_NAME))
    rng = np.array([keys.state("abstract", "settle", form.encode(), operation, number)], dtype=np.uint64)
    op = operations.table()[operations.numbers()[operation]]
    found = []
    for _ in range(WORLDS):
        if not run.draw_demonstration(desk, 0, form.encode(), op, settings, rng):
            break
        rows = desk.things[0, : int(desk.counts[0])].tolist()
        before = Scene(side, tuple(Thing(size, COLORS[c], SHAPES[s], row, column) for size, c, s, row, column in rows))
        code = int(desk.effects[0])
        new = unpack(np.array([code % CODE_BASE]))[0].tolist()
        found.append((before, changed(before, 0 if code >= CODE_BASE else -1, new)))
    return found


__all__ = ["Settlement", "settle", "settlement_of", "survey"]
