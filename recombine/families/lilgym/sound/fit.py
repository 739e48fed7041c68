"""How often each statement is asked, so that a part's phenomena occur about as often as in the annotated corpus.

From scratch every statement comes at most once, and its weight says how early. From given scenes it comes as often as it has visits.
Both are fitted to the corpus's shares and to its mean length. They follow from columns of the table alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.families.lilgym.facets import CORPUS, NAMES
from recombine.families.lilgym.scene import Flags, Floats, Kind, Numbers
from recombine.families.lilgym.sound.kernel import CLASSES

STEPS, RATE = 300, 0.1
"""Steps of the fit, and how far one goes."""
MEAN_WORDS, SLOPE_RATE, STEEPEST = 11.0, 0.01, 1.5
"""Mean length of the corpus's sentences; how far a step goes; how much a word may change the logarithm of a weight."""
BOUND = 6.0
"""Largest change of a weight by one phenomenon, as a logarithm: a share that cannot be reached must not decide everything."""
TRAIN_ROWS, TRAIN_SHARE = 10_000, 0.8
"""A typical part from scratch: this many rows, of this many of all statements."""
MEAN_VISITS = 6.5
"""How often a statement comes on average where it may come again."""
TRIALS, EASY = 4, 2
"""Rows tried for each statement, in one scene each. A statement that succeeds less often than `EASY` is asked from scratch only."""
UNFITTED = {"tower": ("shape", "size", "corner"), "scatter": ("is_tower", "rank", "above_below")}
"""Phenomena that the scenes do not have."""
CONTACT_PERCENT = 3.5
"""Share of SCATTER's statements about contact: the corpus has 0.2 %, too few to learn from."""


class Facts(NamedTuple):
    """What the fit looks at, for n statements."""

    phenomena: NDArray[np.uint32]  # (n,): sets of places in `facets.NAMES`
    bases: NDArray[np.float16]  # (n,): logarithms of the grammar's weights
    spoken: NDArray[np.float16]  # (n,): mean number of words of a few wordings
    goals: NDArray[np.int16]  # (n,): 0 where the empty scene fulfils the statement, which is then no task from scratch
    limits: NDArray[np.uint8]  # (n,): the most visits


def targets(kind: Kind) -> dict[str, float]:
    """Phenomenon -> the share that is aimed at."""
    wanted = {**CORPUS[kind], "contact": max(CORPUS[kind]["contact"], CONTACT_PERCENT)}
    return {name: wanted[name] / 100 for name in NAMES if name not in UNFITTED[kind] and CORPUS[kind][name] > 0}


def shown(sets: NDArray[np.uint32]) -> Floats:
    """Which phenomena statements show: (n, phenomena), 0 or 1."""
    return ((sets[:, None] >> np.arange(len(NAMES), dtype=np.uint32)) & 1).astype(np.float64)


def fitted(kind: Kind, facts: Facts, asked: Callable[[Floats], Floats]) -> Floats:
    """Logarithms of weights under which the phenomena have the corpus's shares and sentences its mean length.

    `asked` says how often each statement is asked under such logarithms.
    """
    aims = targets(kind)
    features = shown(facts.phenomena)[:, [NAMES.index(name) for name in aims]]
    wanted, length = np.array(list(aims.values())), facts.spoken.astype(np.float64)
    base = facts.bases.astype(np.float64)
    logs, tilt, slope = base, np.zeros(len(aims)), 0.0
    for _ in range(STEPS):
        logs = base + features @ tilt + slope * (length - MEAN_WORDS)
        times = asked(logs)
        share = np.clip(times @ features / times.sum(), 0.001, 0.999)
        tilt = np.clip(tilt + RATE * (np.log(wanted / share) - np.log((1 - wanted) / (1 - share))), -BOUND, BOUND)
        slope -= SLOPE_RATE * float(times @ length / times.sum() - MEAN_WORDS)
        slope = min(max(slope, -STEEPEST), STEEPEST)
    return logs


def once(logs: Floats, usable: Flags) -> Floats:
    """The chance of each usable statement to be among the rows of a typical part from scratch."""
    share = min(0.95, TRAIN_ROWS / (TRAIN_SHARE * max(1, int(usable.sum()))))
    mine = logs[usable]
    low, high = -float(mine.max()) - 20.0, -float(mine.min()) + 5.0
    for _ in range(24):  # bisection of the time that passes
        middle = (low + high) / 2
        is_early = float(-np.expm1(-np.exp(mine + middle)).mean()) < share
        low, high = (middle, high) if is_early else (low, middle)
    return np.where(usable, -np.expm1(-np.exp(np.minimum(logs + low, 50.0))), 0.0)


def often(logs: Floats, most: Floats) -> Floats:
    """How often each statement comes where it may come again: by weight, from once to `most` times, `MEAN_VISITS` times on average."""
    least, mine = np.minimum(1.0, most), most > 0
    low, high = -float(logs.max()), -float(logs.min()) + 6.0
    for _ in range(24):
        middle = (low + high) / 2
        is_few = float(np.clip(np.exp(np.minimum(logs[mine] + middle, 50.0)), 1.0, most[mine]).mean()) < MEAN_VISITS
        low, high = (middle, high) if is_few else (low, middle)
    return np.asarray(np.clip(np.exp(np.minimum(logs + low, 50.0)), least, most))


def weights(kind: Kind, facts: Facts) -> NDArray[np.float16]:
    """Logarithms of the weights with which statements come from scratch."""
    usable = facts.goals != 0
    logs = fitted(kind, facts, lambda found: once(found, usable))
    return np.asarray(logs - logs.mean(), np.float16)


def visits(kind: Kind, facts: Facts) -> NDArray[np.uint8]:
    """How often statements come where they may come again."""
    most = facts.limits.astype(np.float64)
    return np.rint(often(fitted(kind, facts, lambda logs: often(logs, most)), most)).astype(np.uint8)


def made_visits(
    kind: Kind, facts: Facts, fails: Callable[[Numbers, Numbers], Flags]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Visits that can all be made, and the limits under which the fit gives them, but for a few that came out lower still.

    `fails` says for statements and their visits whether one of the visits cannot be made. Such a statement gets fewer, and the fit
    is made once more under the limits that were found.
    """
    first = visits(kind, facts)
    can = _reduced(first, np.zeros_like(first), fails)
    limits = np.where(can < first, can, facts.limits)
    second = visits(kind, facts._replace(limits=limits))
    return _reduced(second, can, fails), limits


def _reduced(
    wanted: NDArray[np.uint8], known: NDArray[np.uint8], fails: Callable[[Numbers, Numbers], Flags]
) -> NDArray[np.uint8]:
    """The visits that are wanted, fewer where they cannot be made; `known` can be made."""
    found = wanted.copy()
    left = np.flatnonzero((found > 0) & (found != known))
    while len(left):
        left = left[fails(left, found[left].astype(np.int64))]
        found[left] = found[left].astype(np.int64) * 2 // 3
        left = left[found[left] > 0]
    return found


def first_limits(eases: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The most visits of a statement, by how many of its trials succeeded."""
    return np.where(eases < EASY, 0, CLASSES * eases.astype(np.int64) // TRIALS).astype(np.uint8)
