"""Rows in bulk: a scene and a plan for each statement that is asked, no (statement, scene) pair twice.

Visit v of a statement that comes n times takes a scene of class v of n, so two visits never share a scene. A class can lack scenes
from which a plan is found. `selection.py` therefore makes every visit once from a random state of its own, the spare state, and
gives a statement only as many visits as it can make. A job whose own states find nothing falls back on the spare state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.families.lilgym.scene import FIELDS, Kind, Numbers, Words
from recombine.families.lilgym.sound import planner
from recombine.families.lilgym.sound.flip import Made, Rules, Wishes
from recombine.families.lilgym.sound.worlds import WIDTHS, derived

FLIP = "recombine.families.lilgym.sound.flip"
ROUNDS = 8
"""Scenes from which a row tries to find a plan, before it takes its spare state."""
SPARE_ROUNDS = 8
"""The same, from the spare state."""


class Asked(NamedTuple):
    """Statements that are asked, and of which class of scenes."""

    codes: NDArray[np.int8]  # (n, WIDTH)
    tastes: NDArray[np.uint16]  # (n,): as `planner.pack_tastes` makes them
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
    return derived(named ^ derived(asked.visits.astype(np.uint64), keys.state("lilgym", "visit", kind)), 1)


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
        asked.codes.astype(np.int64), planner.unpack_tastes(asked.tastes), asked.visits.astype(np.int64),
        asked.classes.astype(np.int64), states, spare_states(kind, asked),
    )  # fmt: skip
    made = Made(
        np.zeros((n, WIDTHS[kind], FIELDS), np.int16), np.zeros(n, np.int64), np.zeros(n, np.int8),
        np.zeros((n, planner.MAX_EDITS), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
    )  # fmt: skip
    kernels.load(FLIP, compiled).make_rows(planner.ground(kind), wishes, rules, made)
    return made
