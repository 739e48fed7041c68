"""Exchange of single rows between training, test and the rest: the inner loop of `search`.

Every sum of counts is exact, because weights are multiples of a power of two. A step that is taken back therefore leaves no trace. Powers
are those of `exact`, and sums go from the first to the last, so the same rows are chosen on every machine, compiled or not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.draws import below, unit
from recombine.exact import exponential, tenth_root

KERNEL = True
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Words = NDArray[np.uint64]
REST, TRAIN, TEST = 0, 1, 2
ATOMS, COMPOUNDS = 0, 1
POWER = 0.1
"""The exponent of the training share in the similarity of compounds (`power`). Atoms have one half."""
TRAIN_MOVES, TEST_MOVES, MOVES = 5, 9, 10
"""Of ten steps, five exchange a training row with the rest, four a test row with the rest, one both with each other."""
REFRESH = 1 << 16
"""After this many steps the sums of products are computed anew, so that rounding errors do not accumulate."""


class Rows(NamedTuple):
    """Rows with lists of their atoms and of their weighted compounds."""

    atom_offsets: Ints  # (rows + 1,)
    atoms: SmallInts  # (entries,)
    compound_offsets: Ints  # (rows + 1,)
    compounds: SmallInts  # (entries,)
    weights: Singles  # (entries,), multiples of a power of two
    homes: Ints  # (rows,): 1 if the row may be trained, plus 2 if it may be tested


class Tally(NamedTuple):
    """What training and test hold now. The first axis is the side: 0 for training, 1 for the test."""

    atoms: Floats  # (2, atoms)
    atom_powers: Floats  # (2, atoms): the counts to the power that the similarity takes
    compounds: Floats  # (2, compounds)
    compound_powers: Floats  # (2, compounds)
    totals: Floats  # (2, 2): [side, ATOMS or COMPOUNDS], the sums of the counts
    products: Floats  # (2,): [ATOMS or COMPOUNDS], the sums of the products of powers


class Members(NamedTuple):
    """Which rows each set holds."""

    lists: Ints  # (3, rows): REST, TRAIN and TEST
    sizes: Ints  # (3,)


class Schedule(NamedTuple):
    """How the search goes."""

    steps: int
    warm: float  # the temperature at the start
    cooling: float  # the natural logarithm of how many times less it is at the end
    cheap: float  # the price of one unit of atom divergence above the aim at the start
    rise: float  # the natural logarithm of how many times more it is at the end
    aim: float  # atom divergence up to this costs nothing
    target: float  # the wanted compound divergence; 1 for the largest


def power(count: float, side: int) -> float:
    """A count of training (side 0) to the power `POWER`, one of the test to the rest of 1."""
    root = tenth_root(count)
    return root if side == 0 or count == 0.0 else count / root


def move(rows: Rows, tally: Tally, row: int, side: int, sign: float) -> None:
    """Add a row to training or test (sign 1), or take it away (sign -1)."""
    for i in range(rows.atom_offsets[row], rows.atom_offsets[row + 1]):
        k = rows.atoms[i]
        tally.atoms[side, k] += sign
        raised = math.sqrt(tally.atoms[side, k])
        tally.products[ATOMS] += (raised - tally.atom_powers[side, k]) * tally.atom_powers[1 - side, k]
        tally.atom_powers[side, k] = raised
        tally.totals[side, ATOMS] += sign
    for i in range(rows.compound_offsets[row], rows.compound_offsets[row + 1]):
        k = rows.compounds[i]
        tally.compounds[side, k] += sign * rows.weights[i]
        raised = power(tally.compounds[side, k], side)
        tally.products[COMPOUNDS] += (raised - tally.compound_powers[side, k]) * tally.compound_powers[1 - side, k]
        tally.compound_powers[side, k] = raised
        tally.totals[side, COMPOUNDS] += sign * rows.weights[i]


def swap(rows: Rows, tally: Tally, sets: tuple[int, int], pair: tuple[int, int]) -> None:
    """The first row leaves the first set for the second one, and the second row comes in its place."""
    for own, leaves, enters in ((sets[0], pair[0], pair[1]), (sets[1], pair[1], pair[0])):
        if own != REST:
            move(rows, tally, leaves, own - TRAIN, -1.0)
            move(rows, tally, enters, own - TRAIN, 1.0)


def atom_divergence(tally: Tally) -> float:
    """The atom divergence of test and training."""
    found: float = 1.0 - tally.products[ATOMS] / math.sqrt(tally.totals[0, ATOMS] * tally.totals[1, ATOMS])
    return found


def compound_divergence(tally: Tally) -> float:
    """The compound divergence of test and training."""
    whole = power(tally.totals[0, COMPOUNDS], 0) * power(tally.totals[1, COMPOUNDS], 1)
    found: float = 1.0 - tally.products[COMPOUNDS] / whole
    return found


def refresh(tally: Tally) -> None:
    """Work out the powers of compounds and add up the products, from the first to the last."""
    tally.products[:] = 0.0
    for k in range(tally.atoms.shape[1]):
        tally.products[ATOMS] += tally.atom_powers[0, k] * tally.atom_powers[1, k]
    for k in range(tally.compounds.shape[1]):
        for side in range(2):
            tally.compound_powers[side, k] = power(tally.compounds[side, k], side)
        tally.products[COMPOUNDS] += tally.compound_powers[0, k] * tally.compound_powers[1, k]


def is_at_home(rows: Rows, row: int, own: int) -> bool:
    """Whether the row may stand in this set."""
    return own == REST or (rows.homes[row] & own) != 0


def exchange(rows: Rows, tally: Tally, members: Members, schedule: Schedule, rng: Words) -> None:
    """Try random exchanges. Accept those that help, and sometimes one that does not; this becomes rarer towards the end."""
    before = np.empty(2)
    for step in range(schedule.steps):
        if step % REFRESH == 0:
            refresh(tally)
        progress = step / schedule.steps
        heat = schedule.warm * exponential(-schedule.cooling * progress)
        price = schedule.cheap * exponential(schedule.rise * progress)
        kind = below(rng, MOVES)
        first = TEST if TRAIN_MOVES <= kind < TEST_MOVES else TRAIN
        second = TEST if kind >= TEST_MOVES else REST
        place, other = below(rng, members.sizes[first]), below(rng, members.sizes[second])
        a, b = members.lists[first, place], members.lists[second, other]
        if not is_at_home(rows, b, first) or not is_at_home(rows, a, second):
            continue
        worth = -abs(schedule.target - compound_divergence(tally)) - price * max(0.0, atom_divergence(tally) - schedule.aim)
        before[:] = tally.products
        swap(rows, tally, (first, second), (a, b))
        new = -abs(schedule.target - compound_divergence(tally)) - price * max(0.0, atom_divergence(tally) - schedule.aim)
        if new >= worth or unit(rng) < exponential((new - worth) / heat):
            members.lists[first, place], members.lists[second, other] = b, a
        else:
            swap(rows, tally, (first, second), (b, a))
            tally.products[:] = before
    refresh(tally)
