"""Search for a split of large compound divergence: which rows of two pools to take for training and for the test.

Start with rows drawn by the seed. Then exchange rows in batches: the rows that bring the two sets' compounds closest leave, and the rows that
keep them apart enter. A batch that does not help is halved. Rows are scored with the derivative of the objective, so one round costs one
pass over the pools. The objective is D_C minus a price for D_A, which is raised until D_A keeps its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recombine import keys
from recombine.errors import Infeasible

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ATOM_ALPHA, COMPOUND_ALPHA = 0.5, 0.1
ATOM_LIMIT = 0.02
"""The most that the atoms of train and test may differ."""
SLACK = 0.9
"""The search aims at this share of the limit, so that the figures of the finished split stay below the limit."""
PRICES = (3.0, 6.0, 12.0, 24.0, 48.0, 96.0)
"""What one unit of atom divergence costs; raised, from where the last search ended, until the limit is kept."""
FLOOR = 0.8
"""Atom divergence below this share of the aim costs nothing."""
STARTS = 2
"""Searches from different rows; the best one is taken."""
GROWTH, GROWTH_STEPS, GROWTH_ROUNDS = 1.3, 16, 12
"""Sets begin at GROWTH**-GROWTH_STEPS of their sizes and grow by this factor, with so many exchanges at each step."""
TINY = 1e-9
MOST_ROUNDS = 600
FIRST_BATCH = 0.1
"""The share of a set that the first batch exchanges."""
SMALL = 0.5
"""Added to counts in derivatives: a compound that a set has not at all still has a finite slope."""
CLOSE = 0.005
"""A wanted divergence is met within this."""


class Pool(Protocol):
    """Rows to choose from, with their atoms and weighted compounds."""

    def __len__(self) -> int:
        """How many rows there are."""

    def counts(self, rows: Ints) -> tuple[Floats, Floats]:
        """How often these rows have each atom, and the summed weights of each compound."""

    def scores(self, atoms: Floats, compounds: Floats) -> Floats:
        """For every row, the sum of these slopes over its atoms and its weighted compounds."""


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


def _slopes(train: Floats, test: Floats, alpha: float) -> tuple[Floats, Floats]:
    """The derivatives of the similarity by the counts of train and of test."""
    total, tested = max(train.sum(), SMALL), max(test.sum(), SMALL)
    p, q = (train + SMALL) / total, (test + SMALL) / tested
    whole = similarity(train, test, alpha)
    by_train = alpha * ((q / p) ** (1 - alpha) - whole) / total
    by_test = (1 - alpha) * ((p / q) ** alpha - whole) / tested
    return by_train, by_test


class _State:
    """A choice under way."""

    def __init__(self, pools: tuple[Pool, Pool], chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> None:
        self.pools, self.chosen = pools, chosen
        self.tables = [pool.counts(np.flatnonzero(mask)) for pool, mask in zip(pools, chosen, strict=True)]

    def figures(self) -> tuple[float, float]:
        """Atom and compound divergence."""
        (train_atoms, train), (test_atoms, test) = self.tables
        return 1 - similarity(train_atoms, test_atoms, ATOM_ALPHA), 1 - similarity(train, test, COMPOUND_ALPHA)

    def _scores(self, side: int, price: float) -> Floats:
        """What each row of a pool would do to the similarity of compounds, minus the price times that of atoms."""
        (train_atoms, train), (test_atoms, test) = self.tables
        compounds = _slopes(train, test, COMPOUND_ALPHA)[side]
        atoms = -price * _slopes(train_atoms, test_atoms, ATOM_ALPHA)[side]
        return self.pools[side].scores(atoms, compounds)

    def enlarged(self, side: int, size: int, price: float, ties: Floats) -> _State:
        """The state in which one set has `size` rows: the best ones are added."""
        mask = self.chosen[side].copy()
        outside = np.flatnonzero(~mask)
        scores = self._scores(side, price)
        more = max(0, size - int(mask.sum()))
        mask[outside[np.lexsort((ties[outside], scores[outside]))[:more]]] = True
        return _State(self.pools, (mask, self.chosen[1]) if side == 0 else (self.chosen[0], mask))

    def exchanged(self, side: int, size: int, price: float, is_closing: bool, ties: Floats) -> _State | None:
        """The state after one batch: the `size` worst rows of one set are replaced by the best ones outside it.

        `is_closing` brings the compounds closer together instead, for a wanted divergence that was passed.
        """
        scores = -self._scores(side, price) if is_closing else self._scores(side, price)
        mask = self.chosen[side]
        inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
        size = min(size, len(inside), len(outside))
        if not size:
            return None
        leave = inside[np.lexsort((ties[inside], -scores[inside]))[:size]]
        enter = outside[np.lexsort((ties[outside], scores[outside]))[:size]]
        is_better = scores[leave] > scores[enter]
        if not is_better.any():
            return None
        changed = mask.copy()
        changed[leave[is_better]], changed[enter[is_better]] = False, True
        chosen = (changed, self.chosen[1]) if side == 0 else (self.chosen[0], changed)
        return _State(self.pools, chosen)


def choose(
    pools: tuple[Pool, Pool],
    sizes: tuple[int, int],
    *,
    seed: int,
    name: str,
    target: float | None = None,
    limit: float = ATOM_LIMIT,
) -> Choice:
    """Rows of the two pools with the largest compound divergence, or one close to `target`, and atom divergence within the limit.

    Deterministic: `name` and `seed` draw the rows to start from. Raises `Infeasible` if the wanted divergence is out of reach.
    """
    aim = SLACK * limit
    best: _State | None = None
    for start in range(STARTS):
        word = keys.state("mcd", name, seed, start)
        ties = (_drawn(word, 0, len(pools[0])), _drawn(word, 1, len(pools[1])))
        state = _grown(pools, sizes, PRICES[0], aim, target, ties)
        for price in PRICES:
            state = _climbed(state, sizes, price, aim, target, ties)
            atoms, compounds = state.figures()
            if atoms <= aim:
                if best is None or _distance(compounds, target) < _distance(best.figures()[1], target):
                    best = state
                break
        if best is not None and target is not None and _distance(best.figures()[1], target) <= CLOSE:
            break
    if best is None:
        raise Infeasible(f"no choice of {sizes[0]:,} and {sizes[1]:,} rows keeps the atom divergence at {limit:g}.")
    atoms, compounds = best.figures()
    if target is not None and abs(compounds - target) > 4 * CLOSE:
        reach = f"{compounds:.3f} is the most that was found" if compounds < target else f"{compounds:.3f} is the nearest"
        raise Infeasible(
            f"a compound divergence of {target:g} was not reached: {reach} with atom divergence at most {limit:g}."
        )
    train, test = (np.flatnonzero(mask) for mask in best.chosen)
    return Choice(train, test, atoms, compounds)


def _distance(compounds: float, target: float | None) -> float:
    """How far a divergence is from the wanted one, or from the largest there is."""
    return 1 - compounds if target is None else abs(compounds - target)


def _drawn_state(pools: tuple[Pool, Pool], sizes: tuple[int, int], ties: tuple[Floats, Floats]) -> _State:
    """The rows to start from."""
    chosen = [np.zeros(len(pool), np.bool_) for pool in pools]
    for mask, order, size in zip(chosen, ties, sizes, strict=True):
        mask[np.argsort(order, kind="stable")[:size]] = True
    return _State(pools, (chosen[0], chosen[1]))


def _grown(
    pools: tuple[Pool, Pool],
    sizes: tuple[int, int],
    price: float,
    aim: float,
    target: float | None,
    ties: tuple[Floats, Floats],
) -> _State:
    """Sets that grow from a few rows to their sizes; each step adds the best rows and mends the choice.

    Small sets soon take sides over compounds, and the rows that follow keep to them. Sets drawn at full size would not.
    """
    shares = [GROWTH**-step for step in range(GROWTH_STEPS, -1, -1)]
    state = _drawn_state(pools, _sized(sizes, shares[0]), ties)
    for share in shares:
        wanted = _sized(sizes, share)
        for side in (0, 1):
            state = state.enlarged(side, wanted[side], price, ties[side])
        state = _climbed(state, wanted, price, aim, target, ties, GROWTH_ROUNDS)
    return state


def _sized(sizes: tuple[int, int], share: float) -> tuple[int, int]:
    """The sizes of smaller sets of the same proportion."""
    return max(1, int(sizes[0] * share)), max(1, int(sizes[1] * share))


def _climbed(
    state: _State,
    sizes: tuple[int, int],
    price: float,
    aim: float,
    target: float | None,
    ties: tuple[Floats, Floats],
    rounds: int = MOST_ROUNDS,
) -> _State:
    """Exchange batches until nothing helps any more."""
    firsts = [max(1, int(FIRST_BATCH * size)) for size in sizes]
    batches = list(firsts)

    def worth(one: _State) -> float:
        atoms, compounds = one.figures()
        return -_distance(compounds, target) - price * max(0.0, atoms - FLOOR * aim)

    value = worth(state)
    for turn in range(rounds):
        side = turn % 2
        if not any(batches):
            break
        if not batches[side]:
            continue
        is_above = target is not None and state.figures()[1] > target
        tried = state.exchanged(side, batches[side], -price if is_above else price, is_above, ties[side])
        better = worth(tried) if tried is not None else value
        if tried is not None and better > value + TINY:
            state, value = tried, better
            batches[1 - side] = max(batches[1 - side], min(firsts[1 - side], 2 * batches[side], 64))
        else:
            batches[side] //= 2
    return state


def _drawn(word: int, side: int, rows: int) -> Floats:
    """One number in [0, 1) for each row: the order in which ties are broken."""
    drawn = keys.states(keys.mix(word ^ side), 0, rows)
    found: Floats = (drawn >> np.uint64(11)).astype(np.float64) / float(1 << 53)
    return found


# --- two kinds of pools ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DensePool:
    """Rows whose compounds are all pairs of their atoms."""

    present: NDArray[np.float32]  # (rows, atoms), 0 or 1
    weights: Floats  # (atoms, atoms), symmetric

    def __len__(self) -> int:
        return len(self.present)

    def counts(self, rows: Ints) -> tuple[Floats, Floats]:
        """Atoms, and the upper triangle of weighted pairs."""
        taken = self.present[rows]
        together = (taken.T @ taken).astype(np.float64)
        upper = np.triu_indices(len(together), 1)
        return np.diag(together).copy(), (together * self.weights)[upper]

    def scores(self, atoms: Floats, compounds: Floats) -> Floats:
        """Half of x G x for the symmetric table of slopes."""
        size = self.present.shape[1]
        table = np.zeros((size, size))
        table[np.triu_indices(size, 1)] = compounds
        table = (table + table.T) * self.weights
        slopes = table.astype(np.float32)
        halves = np.einsum("ij,ij->i", self.present @ slopes, self.present, dtype=np.float64) / 2
        found: Floats = halves + self.present @ atoms
        return found


@dataclass(frozen=True)
class SparsePool:
    """Rows with lists of atoms and of weighted compounds."""

    atom_offsets: Ints
    atoms: Ints
    compound_offsets: Ints
    compounds: Ints
    weights: Floats
    sizes: tuple[int, int]  # how many different atoms and compounds there are

    def __len__(self) -> int:
        return len(self.atom_offsets) - 1

    def counts(self, rows: Ints) -> tuple[Floats, Floats]:
        """Atoms and weighted compounds."""
        is_taken = np.zeros(len(self), np.bool_)
        is_taken[rows] = True
        atoms = self.atoms[np.repeat(is_taken, np.diff(self.atom_offsets))]
        entries = np.repeat(is_taken, np.diff(self.compound_offsets))
        return (
            np.bincount(atoms, minlength=self.sizes[0]).astype(np.float64),
            np.bincount(self.compounds[entries], self.weights[entries], self.sizes[1]).astype(np.float64),
        )

    def scores(self, atoms: Floats, compounds: Floats) -> Floats:
        """Sums over each row's lists."""
        return _sums(atoms[self.atoms], self.atom_offsets) + _sums(
            compounds[self.compounds] * self.weights, self.compound_offsets
        )


def _sums(values: Floats, offsets: Ints) -> Floats:
    running = np.concatenate([[0.0], np.cumsum(values)])
    found: Floats = running[offsets[1:]] - running[offsets[:-1]]
    return found


def lists(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Lists of numbers as offsets and values."""
    lengths = np.array([len(row) for row in rows], np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return offsets, np.array([item for row in rows for item in row], np.int64)
