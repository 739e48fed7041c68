"""How often the demonstrations of the original notebook's tasks determine the answer, with the operation taken as known.

    python benchmarks/abstract_notebook.py [tasks]

A task is determined if all descriptions that mean the changed object in every demonstration mean the same single object in the test.
Size words are read pairwise, and two phrases mean different objects. Beside each figure stand an earlier one, measured with another
program on 60 to 150 tasks in the notebook's way (descriptions drawn uniformly), and how many standard errors lie between the two.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from recombine import kernels
from recombine.core import Batch
from recombine.families import family
from recombine.families.abstract import generate as making
from recombine.families.abstract import plan
from recombine.families.abstract.answers import Scene
from recombine.families.abstract.oracle import world_of
from recombine.families.abstract.oracle_elimination import ordered
from recombine.families.abstract.oracle_space import candidates, descriptions, meanings, view
from recombine.families.abstract.rows import Task, task_of
from recombine.grid.world import Thing
from recombine.jobs import make_job
from recombine.keys import Stream

DEMONSTRATIONS = (2, 3, 4, 6)
MEASURED = {
    ("random description", "one clause"): (0.24, 0.54, 0.68, 0.86),
    ("random description", "two clauses"): (0.25, 0.53, 0.68, 0.83),
    ("the notebook's own", "one clause"): (0.43, 0.78, 0.89, 0.96),
    ("the notebook's own", "two clauses"): (0.25, 0.62, 0.77, 0.92),
}
"""Figures of the notebook's code, by description and grammar, for each number of demonstrations."""
TASKS_THEN = 60
"""At least so many tasks stand behind each of them."""
GRAMMARS = {"one clause": ("simple", "one_clause"), "two clauses": ("simple", "one_clause", "two_clauses")}
OWN = "the object that is in the same row as the red circle"


def seen_of(scene: Scene) -> tuple[object, int]:
    """The world as the oracle sees it, and the set that holds its referent alone."""
    items = ordered(world_of(scene.listed()))
    first: Thing = scene.things[0]
    target = items.index((first.size, first.color, first.shape, first.row, first.column))
    return view(items, False), 1 << target


def is_determined(task: Task, depths: tuple[str, ...]) -> bool:
    """Whether the descriptions that fit leave one test object."""
    worlds = [seen_of(before) for before, _ in task.demonstrations]
    test, target = seen_of(task.test)
    for depth in depths:
        rows = candidates(worlds[0][0], depth, worlds[0][1])  # type: ignore[arg-type]
        for seen, met in worlds:
            rows = rows[meanings(seen, depth, descriptions(depth)[rows], False) == met]  # type: ignore[arg-type]
        if (meanings(test, depth, descriptions(depth)[rows], False) != target).any():  # type: ignore[arg-type]
            return False
    return True


def batch_of(k: int, tasks: int, own: bool) -> Batch:
    """Tasks for the notebook's own description, or for descriptions drawn uniformly: they replace the rules that are drawn."""
    listed = plan.forms(plan.ONE)
    numbers = np.arange(len(listed.root))
    if own:
        every = (plan.Form(*(int(c[row]) for c in listed)) for row in numbers)
        numbers = np.array([next(number for number, form in enumerate(every) if plan.describe(form) == OWN)])
    codes, drawn, item = listed.encode(), making.draw_rules, family("abstract")

    def replaced(words: np.ndarray, counters: np.ndarray, rows: np.ndarray, *rest: Any) -> tuple[np.ndarray, np.ndarray]:
        states = [Stream("notebook", k, int(words[row]), int(counters[row])) for row in rows]
        forms, ops = drawn(words, counters, rows, *rest)
        for place, stream in enumerate(states):
            forms[place] = [codes[stream.choice(numbers)] for _ in range(forms.shape[1])]
        return forms, ops

    making.draw_rules = replaced
    try:
        return item.generate(make_job(item, "random", "test", "release", 1, {"demonstrations": k}).rows(0, tasks))
    finally:
        making.draw_rules = drawn


def main(tasks: int) -> None:
    """Print the table."""
    kernels.load(making.RELEASE_NAME, compiled=True)
    for (source, grammar), then in MEASURED.items():
        for k, old in zip(DEMONSTRATIONS, then, strict=True):
            batch = batch_of(k, tasks, source != "random description")
            share = float(np.mean([is_determined(task_of(batch.row(row)), GRAMMARS[grammar]) for row in range(tasks)]))
            pooled = (share * tasks + old * TASKS_THEN) / (tasks + TASKS_THEN)
            error = math.sqrt(pooled * (1 - pooled) * (1 / tasks + 1 / TASKS_THEN))
            apart = (share - old) / error
            print(
                f"{source:20} {grammar:12} {k} demonstrations: {share:.2f} (then {old:.2f}), {apart:+.1f} standard errors",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
