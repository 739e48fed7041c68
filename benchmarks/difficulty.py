"""Measure the paths of difficulty: the accuracy of a fixed panel of answerers on every level.

    python benchmarks/difficulty.py [FAMILY …] [--rows 1000]

The panel is every shortcut reader of the family (wrong where its shortcut leads nowhere), the commonest answer and the nearest neighbour in 100 training rows. A level's figure is the
panel's mean accuracy with a 95 % interval over the rows. A level whose figure lies above the interval of the level before is marked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import islice

from recombine.core import Example
from recombine.data.datasets import load
from recombine.difficulty import PATHS
from recombine.evaluate.answerers import SHORTCUT, make_answerer, shortcut_names
from recombine.evaluate.statistics import interval

TRAIN_ROWS = 100


def _reader(name: str) -> Callable[[Example], str | None]:
    """A shortcut reader that has no answer where its shortcut leads nowhere."""
    own = name.removeprefix(SHORTCUT)
    return lambda example: next((s.answer for s in example.explain().shortcuts if s.name == own), None)


def main() -> None:
    """Print one line per family and level."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(PATHS))
    parser.add_argument("--rows", type=int, default=1000)
    arguments = parser.parse_args()
    for family in arguments.families:
        train = list(islice(load(family, None, "train"), TRAIN_ROWS))
        top = len(PATHS[family]) - 1
        seen = [example for n in range(top + 1) for example in load(family, difficulty=n / top, size=40)]
        panel = [SHORTCUT + name for name in shortcut_names(seen)] + ["majority", "nearest_neighbour"]
        answerers = [_reader(name) if name.startswith(SHORTCUT) else make_answerer(name, train) for name in panel]
        before = 1.0
        for number, level in enumerate(PATHS[family]):
            difficulty = number / top
            rows = list(load(family, difficulty=difficulty, size=arguments.rows))
            values, clusters = [], []
            for example in rows:
                given = [answerer(example) for answerer in answerers]
                scores = [0.0 if answer is None else example.score(answer).value for answer in given]
                values.append(sum(scores) / len(scores))
                clusters.append(str(example.meta.get(example.family.CLUSTER, example.id)))
            found = interval(values, clusters)
            dials = ", ".join(f"{name} = {value}" for name, value in level.options.items()) or f"{level.split}/{level.part}"
            mark = "  RISES" if found.mean > before else ""
            print(f"| {family} | {difficulty:.2f} | {dials} | {found.text} |{mark}", flush=True)
            before = found.high if found.high is not None else found.mean


if __name__ == "__main__":
    main()
