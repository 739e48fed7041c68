"""Search for a split of large compound divergence among rows with derivation trees, by exchange of single rows.

It starts from rows that the seed draws and exchanges one row at a time (simulated annealing). A row costs only its own few
atoms and compounds, so millions of exchanges take seconds. Both sets may be chosen from one pool; then no row is in both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.predicates import exchange_kernel
from recombine.predicates.exchange_kernel import Members, Rows, Schedule, Tally
from recombine.predicates.search import Choice, SparsePool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
GRAIN = float(1 << 20)
"""Weights are rounded to multiples of one part in so many: their sums are exact then."""
STEPS_PER_ROW = 200
"""Exchanges that are tried, for each row of the pools."""
HEATS = 1e-7, 1e-8
"""The temperature at the start and at the end, in units of divergence."""
PRICES = 3.0, 30.0
"""What one unit of atom divergence above the aim costs at the start and at the end."""
AIM = 0.3
"""The search aims at this share of the limit of atom divergence: about what the published splits of SCAN have."""


def exchanged(
    pools: tuple[SparsePool, SparsePool],
    sizes: tuple[int, int],
    *,
    seed: int,
    name: str,
    target: float | None,
    limit: float,
    steps_per_row: int = STEPS_PER_ROW,
) -> Choice:
    """The choice after all exchanges. Two pools that are one object are one pool: each of its rows is taken once at most."""
    is_one = pools[0] is pools[1]
    rows = _rows(pools[:1] if is_one else pools, is_one)
    count = len(rows.homes)
    word = keys.state("exchange", name, seed)
    sets = _drawn_sets(word, rows.homes, sizes)
    schedule = Schedule(steps_per_row * count, *HEATS, *PRICES, AIM * limit, 1.0 if target is None else target)
    tally = _counted(rows, sets, pools[0].sizes)
    members = _members(sets)
    kernel = kernels.for_rows(exchange_kernel.__name__, schedule.steps)
    kernel.exchange(rows, tally, members, schedule, np.array([keys.mix(word)], np.uint64))
    train, test = (np.sort(members.lists[own, : members.sizes[own]]) for own in (exchange_kernel.TRAIN, exchange_kernel.TEST))
    return Choice(
        train,
        test if is_one else test - len(pools[0]),
        exchange_kernel.atom_divergence(tally),
        exchange_kernel.compound_divergence(tally),
    )


def _rows(pools: tuple[SparsePool, ...], is_one: bool) -> Rows:
    """The rows of all pools as one list."""

    def offsets(own: list[Ints]) -> Ints:
        lengths = np.concatenate([np.diff(one) for one in own])
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    return Rows(
        offsets([pool.atom_offsets for pool in pools]),
        np.concatenate([pool.atoms for pool in pools]),
        offsets([pool.compound_offsets for pool in pools]),
        np.concatenate([pool.compounds for pool in pools]),
        np.round(np.concatenate([pool.weights for pool in pools]) * GRAIN) / GRAIN,
        np.repeat([3] if is_one else [1, 2], [len(pool) for pool in pools]),
    )


def _drawn_sets(word: int, homes: Ints, sizes: tuple[int, int]) -> Ints:
    """The set of every row at the start: the first rows, in an order that the seed draws, that may stand in each set."""
    order = np.argsort(keys.states(keys.mix(word ^ 1), 0, len(homes)), kind="stable")
    sets = np.zeros(len(homes), np.int64)
    for own, size in ((exchange_kernel.TRAIN, sizes[0]), (exchange_kernel.TEST, sizes[1])):
        free = order[(sets[order] == exchange_kernel.REST) & (homes[order] & own != 0)]
        sets[free[:size]] = own
    return sets


def _counted(rows: Rows, sets: Ints, sizes: tuple[int, int]) -> Tally:
    """What the sets hold."""
    atoms, compounds = np.zeros((2, sizes[0])), np.zeros((2, sizes[1]))
    of_atoms = np.repeat(sets, np.diff(rows.atom_offsets))
    of_compounds = np.repeat(sets, np.diff(rows.compound_offsets))
    for side in (0, 1):
        atoms[side] = np.bincount(rows.atoms[of_atoms == side + 1], minlength=sizes[0])
        own = of_compounds == side + 1
        compounds[side] = np.bincount(rows.compounds[own], rows.weights[own], sizes[1])
    powers = np.array([exchange_kernel.POWER, 1 - exchange_kernel.POWER])[:, None]
    totals = np.stack([atoms.sum(axis=1), compounds.sum(axis=1)], axis=1)
    return Tally(atoms, np.sqrt(atoms), compounds, compounds**powers, totals, np.zeros(2))


def _members(sets: Ints) -> Members:
    """The rows of each set, as lists."""
    lists, places = np.zeros((3, len(sets)), np.int64), np.zeros(len(sets), np.int64)
    for own in range(3):
        rows = np.flatnonzero(sets == own)
        lists[own, : len(rows)] = rows
        places[rows] = np.arange(len(rows))
    return Members(lists, np.bincount(sets, minlength=3).astype(np.int64), places)
