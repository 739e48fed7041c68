"""How many different clean stories of style rich (names aside) each part of `sound` can hold, and how many two seeds share.

The numbers are counted from the rules: clauses of the part, times the ways to group their facts, times the paraphrases of each
group, times the orders of telling, times the part's share of the ranks. Shared rows are measured: `--rows` rows of two seeds.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.language import rich, rich_tables, store
from recombine.families.clutrr.language.kernel import BASE
from recombine.families.clutrr.sound.balance import LISTED_K, clauses, is_held
from recombine.families.clutrr.splits import RANKS, HeldOut
from recombine.jobs import make_job

Array = NDArray[Any]
SHARE = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""Role -> the share of the ranks, where the clause does not decide."""


def wordings(gender: Array, words: Array, portion: store.Portion) -> float:
    """The rich wordings of these clauses: over all ways to cut a clause into passages, frames times fillings, times the orders.

    At most: fillings that give the same text count as often as they come.
    """
    counts = rich_tables.tables(portion).counts.astype(np.float64) * rich.FILLS
    k = words.shape[1]
    first = np.column_stack([gender, 1 - words % 2])  # the gender of each person of the path
    total = 0.0
    for lengths in _cuts(k):
        ways, at = np.full(len(words), float(math.factorial(len(lengths)))), 0
        for length in lengths:
            key = np.zeros(len(words), np.int64)
            for place in range(3):
                key = key * BASE + (words[:, at + place] + 1 if place < length else 0)
            ways *= counts[key * 2 + first[:, at]]
            at += length
        total += float(ways.sum())
    return total


def _cuts(k: int) -> list[tuple[int, ...]]:
    """The ways to write k as a sum of ones, twos and threes."""
    if k == 0:
        return [()]
    return [(n, *rest) for n in (1, 2, 3) if n <= k for rest in _cuts(k - n)]


def stories(k: int, role: str) -> float:
    """At most how many clean rich stories of k <= 5 facts the role can hold."""
    gender, _, words = clauses(k)
    held = HeldOut(round(0.1 * RANKS))
    is_test = role == "test"
    chosen = np.ones(len(words), np.bool_) if k < 3 else is_held(gender, words, held) == is_test
    share = 1.0 if k >= 3 and is_test else SHARE[role]
    return wordings(gender[chosen], words[chosen], "heldout" if is_test else "train") * share


def shared(part: str, k: int, rows: int) -> tuple[int, int]:
    """(different stories in `rows` rows of seed 1, how many of seed 2's different stories are among them)."""
    words = []
    for seed in (1, 2):
        name = f"test_k{k}" if part.startswith("test") else part
        job = make_job(CLUTRR, "generalization_23", name, "sound", seed, {"k": str(k)})
        words.append(np.unique(CLUTRR.canonical_batch(CLUTRR.generate(job.rows(0, rows)))))
    return len(words[0]), int(np.isin(words[1], words[0]).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    rows = parser.parse_args().rows
    print(
        f"{'part':<12} {'k':>2} {'clauses':>8} {'stories':>22} {'different':>10} {'shared':>7}   of {rows:,} rows of two seeds"
    )
    for part, role in (("train", "train"), ("validation", "validation"), ("test_k2", "test")):
        for k in range(2, LISTED_K + 1):
            different, both = shared(part, k, rows)
            print(
                f"{part:<12} {k:>2} {len(clauses(k)[2]):>8,} {stories(k, role):>22.3g} {different:>10,} {both:>7,}", flush=True
            )


if __name__ == "__main__":
    main()
