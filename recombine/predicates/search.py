"""Search for a split of large compound divergence: which rows of two pools to take for training and for the test.

The search starts from rows that the seed draws and exchanges one row at a time (simulated annealing). It weighs D_C against a price for
D_A above its aim; the price rises towards the end. One exchange touches only the atoms and compounds of two rows, so millions of
exchanges take seconds. Both sets may be chosen from one pool; then no row is in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.errors import Infeasible
from recombine.predicates import search_kernel
from recombine.predicates.search_kernel import REST, TEST, TRAIN, Members, Rows, Schedule, Tally

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
ATOM_ALPHA, COMPOUND_ALPHA = 0.5, search_kernel.POWER
ATOM_LIMIT = 0.02
"""The largest allowed atom divergence of train and test."""
SLACK = 0.9
"""The search aims at this share of the limit, if it is not told another one."""
GRAIN = float(1 << 20)
"""Weights are rounded to multiples of 1 / GRAIN, so that their sums are exact."""
STEPS_PER_ROW = 100
"""Exchanges that the search tries, per row of the pools."""
WARM, COOLING = 1e-3, 4.605170185988092
"""The temperature at the start, in units of divergence and divided by the rows of the test; it falls to a hundredth (ln 100)."""
CHEAP, RISE = 1.0, 3.4011973816621555
"""The cost of one unit of atom divergence above the aim, at the start. It rises to thirty times that (ln 30)."""
CLOSE = 0.02
"""The search succeeds if it comes this close to the wanted divergence."""


@dataclass(frozen=True)
class Pool:
    """Rows to choose from, with lists of their atoms and of their weighted compounds."""

    atom_offsets: Ints  # (rows + 1,)
    atoms: SmallInts  # (entries,)
    compound_offsets: Ints  # (rows + 1,)
    compounds: SmallInts  # (entries,)
    weights: Singles  # (entries,), multiples of 1 / GRAIN
    sizes: tuple[int, int]  # how many different atoms and compounds there are

    def __len__(self) -> int:
        return len(self.atom_offsets) - 1


@dataclass(frozen=True)
class Choice:
    """The rows of each pool that were taken, ascending, and the divergences that they reach."""

    train: Ints
    test: Ints
    atoms: float
    compounds: float


def similarity(train: Floats, test: Floats, alpha: float) -> float:
    """The Chernoff coefficient of two tables of counts."""
    if not train.sum() or not test.sum():
        return 0.0
    p, q = train / train.sum(), test / test.sum()
    both = (p > 0) & (q > 0)
    return float((p[both] ** alpha * q[both] ** (1 - alpha)).sum())


def choose(
    pools: tuple[Pool, Pool],
    sizes: tuple[int, int],
    *,
    seed: int,
    name: str,
    target: float | None = None,
    limit: float = ATOM_LIMIT,
    slack: float = SLACK,
) -> Choice:
    """Rows of the two pools with a large compound divergence, or one close to `target`, and atom divergence within the limit.

    Two pools that are one object are one pool: each of its rows is taken once at most. Deterministic: `name` and `seed` draw the rows to
    start from and the exchanges. Raises `Infeasible` if the wanted divergence is out of reach.
    """
    is_one = pools[0] is pools[1]
    rows = _rows(pools[:1] if is_one else pools, is_one)
    word = keys.state("exchange", name, seed)
    sets = _drawn_sets(word, rows.homes, sizes)
    tally, members = _counted(rows, sets, pools[0].sizes), _members(sets)
    aims = slack * limit, 1.0 if target is None else target
    schedule = Schedule(STEPS_PER_ROW * len(sets), WARM / sizes[1], COOLING, CHEAP, RISE, *aims)
    kernel = kernels.for_rows(search_kernel.__name__, schedule.steps)
    kernel.exchange(rows, tally, members, schedule, np.array([keys.mix(word)], np.uint64))
    train, test = (np.sort(members.lists[own, : members.sizes[own]]) for own in (TRAIN, TEST))
    figures = search_kernel.atom_divergence(tally), search_kernel.compound_divergence(tally)
    return _checked(Choice(train, test if is_one else test - len(pools[0]), *figures), target, limit)


def _checked(choice: Choice, target: float | None, limit: float) -> Choice:
    """The choice, if it keeps the limit of atom divergence and comes close to the wanted compound divergence."""
    compounds = choice.compounds
    if choice.atoms > limit:
        raise Infeasible(
            f"no choice of {len(choice.train):,} and {len(choice.test):,} rows keeps the atom divergence at {limit:g}."
        )
    if target is not None and abs(compounds - target) > CLOSE:
        reach = f"{compounds:.3f} is the most that was found" if compounds < target else f"{compounds:.3f} is the nearest"
        raise Infeasible(
            f"a compound divergence of {target:g} was not reached: {reach} with atom divergence at most {limit:g}."
        )
    return choice


# --- what the kernel takes -------------------------------------------------------------------------------------------


def _rows(pools: tuple[Pool, ...], is_one: bool) -> Rows:
    """The rows of all pools as one list."""

    def offsets(own: list[Ints]) -> Ints:
        return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(one) for one in own]))]).astype(np.int64)

    return Rows(
        offsets([pool.atom_offsets for pool in pools]),
        np.concatenate([pool.atoms for pool in pools]),
        offsets([pool.compound_offsets for pool in pools]),
        np.concatenate([pool.compounds for pool in pools]),
        np.concatenate([pool.weights for pool in pools]),
        np.repeat(np.array([TRAIN + TEST] if is_one else [TRAIN, TEST], np.int64), [len(pool) for pool in pools]),
    )


def _drawn_sets(word: int, homes: Ints, sizes: tuple[int, int]) -> Ints:
    """The set of every row at the start: the first rows, in an order that the seed draws, that may stand in each set."""
    order = np.argsort(keys.states(keys.mix(word ^ 1), 0, len(homes)), kind="stable")
    sets = np.full(len(homes), REST, np.int64)
    for own, size in ((TRAIN, sizes[0]), (TEST, sizes[1])):
        free = order[(sets[order] == REST) & (homes[order] & own != 0)]
        sets[free[:size]] = own
    return sets


def _counted(rows: Rows, sets: Ints, sizes: tuple[int, int]) -> Tally:
    """What the sets hold."""
    atoms, compounds = np.zeros((2, sizes[0])), np.zeros((2, sizes[1]))
    of_atoms = np.repeat(sets, np.diff(rows.atom_offsets))
    of_compounds = np.repeat(sets, np.diff(rows.compound_offsets))
    for side, own in enumerate((TRAIN, TEST)):
        atoms[side] = np.bincount(rows.atoms[of_atoms == own], minlength=sizes[0])
        is_own = of_compounds == own
        compounds[side] = np.bincount(rows.compounds[is_own], rows.weights[is_own], sizes[1])
    totals = np.stack([atoms.sum(axis=1), compounds.sum(axis=1)], axis=1)
    return Tally(atoms, np.sqrt(atoms), compounds, np.zeros_like(compounds), totals, np.zeros(2))


def _members(sets: Ints) -> Members:
    """The rows of each set, as lists."""
    lists = np.zeros((3, len(sets)), np.int64)
    for own in (REST, TRAIN, TEST):
        rows = np.flatnonzero(sets == own)
        lists[own, : len(rows)] = rows
    return Members(lists, np.bincount(sets, minlength=3).astype(np.int64))


# --- two kinds of pools ----------------------------------------------------------------------------------------------


def pool_of_lists(rows: Sequence[tuple[list[int], list[int], list[float]]], sizes: tuple[int, int]) -> Pool:
    """A pool of rows that come as lists of atoms, of compounds and of weights."""

    def flat(which: int, kind: Any) -> NDArray[Any]:
        return np.array([item for row in rows for item in row[which]], kind)

    def offsets(which: int) -> Ints:
        return np.concatenate([[0], np.cumsum([len(row[which]) for row in rows])]).astype(np.int64)

    return Pool(offsets(0), flat(0, np.int32), offsets(1), flat(1, np.int32), _rounded(flat(2, np.float64)), sizes)


def pool_of_pairs(present: NDArray[np.bool_], weights: Floats) -> Pool:
    """A pool of rows whose compounds are the pairs of their atoms: which row has which atom, and the weight of every pair."""
    count = present.shape[1]
    first, second = np.triu_indices(count, 1)
    is_weighed = weights[first, second] > 0
    first, second = first[is_weighed], second[is_weighed]
    own = _rounded(weights[first, second])
    compounds, lengths = [], []
    for start in range(0, len(present), BLOCK_ROWS):
        both = present[start : start + BLOCK_ROWS, first] & present[start : start + BLOCK_ROWS, second]
        lengths.append(both.sum(axis=1))
        compounds.append(np.nonzero(both)[1].astype(np.int32))
    listed = np.concatenate(compounds)
    return Pool(
        np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.int64),
        np.nonzero(present)[1].astype(np.int32),
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
        listed,
        own[listed],
        (count, len(first)),
    )


BLOCK_ROWS = 4_000
"""Rows whose pairs are looked for together."""


def _rounded(weights: Floats) -> Singles:
    """Weights whose sums are exact."""
    found: Singles = (np.round(weights * GRAIN) / GRAIN).astype(np.float32)
    return found
