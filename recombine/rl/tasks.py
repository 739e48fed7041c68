"""The instances of a run: what to learn from, what is held out for validation, and what is tested."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.envs.lilgym import Start, load_instances
from recombine.errors import FileError, UsageError
from recombine.families.lilgym.native import find_file
from recombine.families.lilgym.play.episodes import Instances
from recombine.families.lilgym.scene import Kind
from recombine.rl import find_env

TESTS = {"dev": "validation", "test": "test"}
"""Name of a test -> the part it is."""


@dataclass(frozen=True)
class Task:
    """Which environment, and whose statements: embedded ones of a split, or the published files in the folder `files`.

    At most `train_rows` and `test_rows` instances are taken (0: all published ones, or 1,000 embedded ones).
    """

    env: str = "TowerScratch"
    split: str | None = None
    files: str = ""
    train_rows: int = 0
    test_rows: int = 0

    def __post_init__(self) -> None:
        find_env(self.env)

    def load(self, part: str) -> Instances:
        """The instances of a part."""
        kind, start = find_env(self.env)
        rows = self.train_rows if part == "train" else self.test_rows
        return load_instances(
            cast(Kind, kind), cast(Start, start), self.split, part, self.files or None, rows or None
        )  # fmt: skip

    def tests(self) -> dict[str, Instances]:
        """The tests by name. A published test file that is not there is left out; embedded parts are always there."""
        kind, start = find_env(self.env)
        found: dict[str, Instances] = {}
        for name, part in TESTS.items():
            if self.files:
                try:
                    find_file(self.files, f"{kind}_{start}", part)
                except FileError:  # not there; one that is there but broken is an error below
                    continue
            found[name] = self.load(part)
        if not found:
            raise FileError(f"there is neither a dev nor a test file of {self.env} in {self.files!r}.")
        return found


def subset(instances: Instances, rows: Sequence[int] | NDArray[np.int64]) -> Instances:
    """Some of the instances, in this order."""
    index = np.asarray(rows, np.int64)
    judge = copy.copy(instances.judge)
    judge.program_of = instances.judge.program_of[index]
    return replace(
        instances, ids=[instances.ids[i] for i in index.tolist()], sentences=[instances.sentences[i] for i in index.tolist()],
        targets=instances.targets[index], items=instances.items[index], counts=instances.counts[index], judge=judge,
    )  # fmt: skip


def held_out(instances: Instances, share: float, seed: int = 0) -> tuple[Instances, Instances]:
    """Instances to learn from, and about this share of them to validate with; no statement stands on both sides.

    The statement's own hash decides, so the choice does not depend on the order or on what else is in the file.
    """
    if share == 0:
        return instances, instances
    border = int(share * 2**64)
    aside = np.array([keys.state("held out", seed, sentence) < border for sentence in instances.sentences], np.bool_)
    if aside.all() or not aside.any():
        raise UsageError(f"{len(instances)} instances are too few to hold out {share:.0%}; give more, or held_out=0.")
    return subset(instances, np.flatnonzero(~aside)), subset(instances, np.flatnonzero(aside))
