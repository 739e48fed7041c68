"""How many different clean stories (names aside) each part of `sound` can hold, and how many two seeds share.

The numbers are counted from the rules: clauses of the part, times the ways to group their facts, times the paraphrases of each
group, times the orders of telling, times the part's share of the ranks. Shared rows are measured: `--rows` rows of two seeds.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.language import store
from recombine.families.clutrr.sound.balance import LISTED_K, clauses, is_held
from recombine.families.clutrr.splits import RANKS, HeldOut
from recombine.jobs import make_job

SHARE = {"train": 0.8, "validation": 0.1, "test": 0.1}
"""Role -> the share of the ranks, where the clause does not decide."""


def wordings(k: int, portion: store.Portion) -> int:
    """The ways to word k facts in a row: groupings into chunks of up to three, paraphrases of each, orders of the chunks."""
    tables = store.tables("paraphrase", portion)
    counts = [
        int(tables.counts.reshape(store.BASE, store.BASE, store.BASE, 2)[(*at, 0)]) for at in ((1, 0, 0), (1, 1, 0), (1, 1, 1))
    ]
    ways = {(0, 0): 1}  # (facts, chunks) -> the paraphrases of all groupings
    for facts in range(1, k + 1):
        for chunks in range(1, facts + 1):
            ways[facts, chunks] = sum(
                ways.get((facts - length, chunks - 1), 0) * number for length, number in enumerate(counts, 1) if length <= facts
            )
    return sum(ways[k, chunks] * math.factorial(chunks) for chunks in range(1, k + 1))


def stories(k: int, role: str) -> int:
    """About how many clean stories of k <= 5 facts the role can hold."""
    gender, _, words = clauses(k)
    held = HeldOut(round(0.1 * RANKS))
    is_test = role == "test"
    chosen = np.ones(len(words), np.bool_) if k < 3 else is_held(gender, words, held) == is_test
    share = 1.0 if k >= 3 and is_test else SHARE[role]
    return round(len(np.unique(words[chosen], axis=0)) * wordings(k, "heldout" if is_test else "train") * share)


def shared(part: str, k: int, rows: int) -> tuple[int, int]:
    """(different stories in `rows` rows of seed 1, how many of seed 2's different stories are among them)."""
    words = []
    for seed in (1, 2):
        job = make_job(CLUTRR, "generalization_23", part, "sound", seed, {"k": str(k)})
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
            print(f"{part:<12} {k:>2} {len(clauses(k)[2]):>8,} {stories(k, role):>22,} {different:>10,} {both:>7,}", flush=True)


if __name__ == "__main__":
    main()
