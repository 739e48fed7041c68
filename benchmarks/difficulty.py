"""Measure the paths of difficulty: the accuracy of a fixed panel of answerers on every level.

    python benchmarks/difficulty.py [FAMILY …] [--rows 1000]

The panel is every shortcut reader (wrong where its shortcut leads nowhere), the commonest answer and the nearest neighbour in 100 training rows. In
ReaSCAN, abstract and lexicon the rows are made so that shortcut readers fail on every level, so a second panel of limited means is measured, too. In
ReaSCAN its members do all that the command says, but guess the object: any one, or any one that the first phrase fits. In the other two they
solve the task from its first 1, 2, 4 or 6 demonstrations. A level's figure is a panel's mean accuracy with a 95 % interval over the rows. A level
whose figure lies above the interval of the level before is marked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from recombine.core import Example
from recombine.data.datasets import load
from recombine.difficulty import PATHS
from recombine.evaluate.answerers import SHORTCUT, Answerer, make_answerer, shortcut_names
from recombine.evaluate.statistics import interval
from recombine.families.abstract.solver import solver as solve_abstract
from recombine.families.lexicon.solver import solver as solve_lexicon
from recombine.grid.matching import Description, referents
from recombine.grid.play import plan

TRAIN_ROWS = 100
MEMORIES = (1, 2, 4, 6)
"""Demonstrations that the solvers of limited memory look at."""
Member = Callable[[Example], float]
"""A member of a panel: an example -> the score that it may expect."""


def _answering(answerer: Answerer) -> Member:
    def score(example: Example) -> float:
        answer = answerer(example)
        return 0.0 if answer is None else example.score(answer).value

    return score


def _reader(name: str) -> Answerer:
    """A shortcut reader that has no answer where its shortcut leads nowhere."""
    return lambda example: next((s.answer for s in example.explain().shortcuts if s.name == name), None)


def _limited(solver: Answerer, memory: int) -> Answerer:
    """A solver that sees the first demonstrations only."""

    def answer(example: Example) -> str | None:
        shown = example.inputs["demonstrations"][:memory]
        return solver(replace(example, inputs={**example.inputs, "demonstrations": shown}))

    return answer


def _guess(example: Example, is_read: bool) -> float:
    """The expected score of a reader that takes any object, or any that the first phrase fits, and does the rest right."""
    world, command = example.world, example.plan
    first = Description(command.description.phrases[:1])
    taken = referents(world, first, "pairwise") if is_read else range(len(world.things))
    answers = [",".join(plan(world, i, command.verb, command.adverb)) for i in taken]
    return sum(example.score(answer).value for answer in answers) / len(answers)


def shortcut_panel(family: str) -> Sequence[Member]:
    """Shortcut readers, the commonest answer and the nearest neighbour."""
    train = list(islice(load(family, None, "train"), TRAIN_ROWS))
    top = len(PATHS[family]) - 1
    seen = [example for n in range(top + 1) for example in load(family, difficulty=n / top, size=40)]
    readers = [_reader(name.removeprefix(SHORTCUT)) for name in shortcut_names(seen)]
    return [_answering(one) for one in (*readers, *(make_answerer(name, train) for name in ("majority", "nearest_neighbour")))]


def limited_panel(family: str) -> Sequence[Member]:
    """Readers of limited means; empty for families that have none."""
    if family == "reascan":
        return [lambda example: _guess(example, False), lambda example: _guess(example, True)]
    solvers = {"abstract": solve_abstract, "lexicon": solve_lexicon}
    return [_answering(_limited(solvers[family], memory)) for memory in MEMORIES] if family in solvers else []


PANELS = {"shortcuts": shortcut_panel, "limited": limited_panel}


def measure(family: str, name: str, rows: int) -> int:
    """Print one line per level; how many levels rise."""
    panel = PANELS[name](family)
    before, rises = 1.0, 0
    for number, level in enumerate(PATHS[family] if panel else ()):
        difficulty = number / (len(PATHS[family]) - 1)
        values, clusters = [], []
        for example in load(family, difficulty=difficulty, size=rows):
            values.append(sum(member(example) for member in panel) / len(panel))
            clusters.append(str(example.meta.get(example.family.CLUSTER, example.id)))
        found = interval(values, clusters)
        dials = ", ".join(f"{option} = {value}" for option, value in level.options.items()) or f"{level.split}/{level.part}"
        is_above = found.mean > before
        rises += is_above
        print(f"| {family} | {name} | {difficulty:.2f} | {dials} | {found.text} |{'  RISES' * is_above}", flush=True)
        before = found.high if found.high is not None else found.mean
    return rises


def main() -> None:
    """Print one line per family, panel and level; exit 1 if a level rises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(PATHS))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--panel", choices=PANELS)
    arguments = parser.parse_args()
    names = [arguments.panel] if arguments.panel else list(PANELS)
    rises = sum(measure(family, name, arguments.rows) for family in arguments.families for name in names)
    raise SystemExit(1 if rises else 0)


if __name__ == "__main__":
    main()
