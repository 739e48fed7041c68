"""The paper's Table 1 for our paraphrase store: how many paraphrases, how many words, how much they overlap within a clause.

    python benchmarks/language_table1.py [--style plain|rich] [--pairs 20000] [--clauses 40] [--show 20]

Two paraphrases count as different only if they still differ after names, pronouns, kinship words and times (the adjuncts) are
deleted. Each is told forwards and (mostly) backwards, hence the number per clause. The Jaccard overlaps are taken between the
full texts of pairs of paraphrases of the same clause, names deleted.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterator

import numpy as np

from recombine import kernels
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import rich, rich_tables, store
from recombine.families.clutrr.language.kernel import BASE, EVENT, KIN, LITERAL, PRONOUN, TIME
from recombine.families.clutrr.language.names import name_arrays
from recombine.families.clutrr.language.realize import KERNEL_MODULE
from recombine.keys import Stream

WORD = re.compile(r"[\w'-]+")
PAPER = {1: (1868, 20), 2: (1890, 58), 3: (2258, 236)}


def clauses(k: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every clause of k stated facts: (relation codes, gender of the first person); a husband has a wife and she has him."""
    for relations in itertools.product(kinship.STATED, repeat=k):
        for gender in (kinship.FEMALE, kinship.MALE):
            people = [gender, *(kinship.GENDER[r] for r in relations)]
            if all(r // 2 != kinship.SPOUSE or people[i] != people[i + 1] for i, r in enumerate(relations)):
                yield relations, gender


def words_of(p: store.Paraphrase, mirrored: bool, relations: tuple[int, ...], gender: int) -> list[str]:
    """The words of a paraphrase of this clause, without names."""
    frame = store.frames()[p.frame]
    people = [gender, *(kinship.GENDER[r] for r in relations)]
    k = len(relations)
    text = []
    for op in frame.ops:
        a, b = (k - op.a, k - op.b) if mirrored else (op.a, op.b)
        if op.kind == LITERAL:
            text.append(op.text)
        elif op.kind == EVENT:
            text.append(store.events()[p.events[op.a]][op.b])
        elif op.kind == TIME:
            text.append(store.times()[p.time][op.b])
        elif op.kind == PRONOUN:
            text.append(list(store.PRONOUNS.values())[op.b][people[a]])
        elif op.kind == KIN:
            text.append(kinship.RELATIONS[relations[a] if b > a else kinship.inverse(relations[b], people[b])])
    return WORD.findall(" ".join(" ".join(text).replace(" 's", "").lower().split()))


def skeleton(p: store.Paraphrase) -> tuple[str, ...]:
    """What is left after deleting names, pronouns, kinship words and times."""
    frame = store.frames()[p.frame]
    parts = [store.events()[p.events[op.a]][op.b] if op.kind == EVENT else op.text for op in frame.ops]
    return tuple(WORD.findall(" ".join(parts).lower()))


def jaccard(a: set[object], b: set[object]) -> float:
    """Shared over all."""
    return len(a & b) / len(a | b)


def overlap(k: int, clause_count: int, pairs: int) -> tuple[float, float]:
    """Mean pairwise Jaccard overlap of (unigrams, bigrams) within clauses of k facts, over sampled clauses and pairs."""
    stream = Stream("table 1", k)
    every = list(clauses(k))
    pool = [(p, m) for p in store.paraphrases() if store.frames()[p.frame].facts == k
            for m in ((False,) if store.frames()[p.frame].is_one_way else (False, True))]  # fmt: skip
    ones, twos, n = 0.0, 0.0, 0
    for relations, gender in stream.sample(every, min(clause_count, len(every))):
        for _ in range(max(1, pairs // clause_count)):
            left, right = stream.sample(range(len(pool)), 2) if len(pool) < 3 else _two(stream, len(pool))
            a, b = (words_of(*pool[i], relations, gender) for i in (left, right))
            ones += jaccard(set(a), set(b))
            twos += jaccard(set(itertools.pairwise(a)), set(itertools.pairwise(b)))
            n += 1
    return ones / n, twos / n


def _two(stream: Stream, count: int) -> tuple[int, int]:
    first, second = stream.below(count), stream.below(count - 1)
    return first, second + (second >= first)


def table(pairs: int, clause_count: int) -> dict[str, dict[str, float]]:
    """The rows of the table, by name."""
    found: dict[str, dict[str, float]] = {}
    vocabulary: set[str] = set()
    for k in (1, 2, 3):
        own = [p for p in store.paraphrases() if store.frames()[p.frame].facts == k]
        count = sum(1 for _ in clauses(k))
        one, two = overlap(k, clause_count, pairs)
        held = [p for p in own if p.portion == "heldout"]
        told = sum(1 if store.frames()[p.frame].is_one_way else 2 for p in own)
        found[f"k = {k}"] = {
            "frames": len({p.frame for p in own}), "paraphrases": len(own), "distinct": len({skeleton(p) for p in own}),
            "held out": len(held), "clauses": count, "per clause": told, "unigrams": one, "bigrams": two,
        }  # fmt: skip
        for p in own:
            vocabulary.update(skeleton(p))
            vocabulary.update(WORD.findall(store.times()[p.time][0].lower()))
    vocabulary.update(kinship.RELATIONS)
    found["all"] = {
        "paraphrases": sum(row["paraphrases"] for row in found.values()),
        "distinct": sum(row["distinct"] for row in found.values()),
        "unigrams": sum(row["unigrams"] for row in found.values()) / 3,
        "bigrams": sum(row["bigrams"] for row in found.values()) / 3,
        "words": len(vocabulary),
    }
    return found


def rich_words(code: int, relations: tuple[int, ...], gender: int, t: store.Tables) -> list[str]:
    """The words of a rich paraphrase of this clause, without names."""
    people = [gender, *(kinship.GENDER[r] for r in relations)]
    facts = np.array([(r, i, i + 1) for i, r in enumerate(relations)], np.int32)
    out = np.zeros(4_000, np.uint8)
    name_bytes, name_offsets = name_arrays(["Qa", "Qb", "Qc", "Qd"])
    kernel = kernels.load(KERNEL_MODULE, compiled=True)
    end = kernel.write_chunk(
        facts, 0, len(relations), code, np.array(people, np.int8), np.arange(4, dtype=np.int32), name_bytes, name_offsets, False, t,
        out, 0,
    )  # fmt: skip
    return WORD.findall(re.sub(r"Q[abcd]('s)?", "", bytes(out[:end]).decode()).lower())


def rich_table(pairs: int, clause_count: int) -> dict[str, dict[str, float]]:
    """Frames, held-out frames, clause families, fewest frames for a clause, and overlaps of pairs as stories draw them."""
    t, rng = rich_tables.tables(), np.array([20], np.uint64)
    kernel = kernels.load(KERNEL_MODULE, compiled=True)
    found: dict[str, dict[str, float]] = {}
    vocabulary: set[str] = set()
    for k in (1, 2, 3):
        stream, every = Stream("table 1", "rich", k), list(clauses(k))
        ones, twos, n = 0.0, 0.0, 0
        fewest = 1 << 30
        for relations, gender in stream.sample(every, min(clause_count, len(every))):
            padded = [r + 1 for r in relations] + [0] * (3 - k)
            key = ((padded[0] * BASE + padded[1]) * BASE + padded[2]) * 2 + gender
            own = t.candidates[t.first[key] : t.first[key] + t.counts[key]] >> 1
            fewest = min(fewest, len(set(own.tolist())))
            for _ in range(max(1, pairs // clause_count)):
                a, b = (rich_words(kernel.draw_code(key, t, rng), relations, gender, t) for _ in range(2))
                vocabulary.update(a + b)
                ones += jaccard(set(a), set(b))
                twos += jaccard(set(itertools.pairwise(a)), set(itertools.pairwise(b)))
                n += 1
        frames = [frame for frame in rich.frames() if frame.facts == k]
        held = sum(frame.side == "heldout" for frame in frames)
        found[f"k = {k}"] = {
            "frames": len(frames), "held out": held, "families": 11**k, "fewest": fewest, "unigrams": ones / n, "bigrams": twos / n,
        }  # fmt: skip
    found["all"] = {
        "frames": len(rich.frames()), "words": len(vocabulary),
        "unigrams": sum(found[f"k = {k}"]["unigrams"] for k in (1, 2, 3)) / 3,
        "bigrams": sum(found[f"k = {k}"]["bigrams"] for k in (1, 2, 3)) / 3,
    }  # fmt: skip
    return found


def main() -> None:
    """Print the table, and some paraphrases to read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--clauses", type=int, default=40)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--style", choices=("plain", "rich"), default="plain")
    options = parser.parse_args()
    if options.style == "rich":
        for name, row in rich_table(options.pairs, options.clauses).items():
            print(f"{name:6}", ", ".join(f"{label} {value:.4f}".rstrip("0").rstrip(".") for label, value in row.items()))
        return
    rows = table(options.pairs, options.clauses)
    print(
        f"{'':8}{'frames':>8}{'paraphrases':>13}{'distinct':>10}{'held out':>10}{'clauses':>9}{'per clause':>12}{'unigrams':>10}{'bigrams':>9}   paper"
    )
    for k in (1, 2, 3):
        row = rows[f"k = {k}"]
        print(
            f"k = {k:<4}{row['frames']:>8}{row['paraphrases']:>13}{row['distinct']:>10}{row['held out']:>10}{row['clauses']:>9}{row['per clause']:>12}"
            f"{row['unigrams']:>10.3f}{row['bigrams']:>9.4f}   {PAPER[k][0]} paraphrases, {PAPER[k][1]} clauses"
        )
    last = rows["all"]
    print(
        f"{'all':8}{'':8}{last['paraphrases']:>13}{last['distinct']:>10}{'':31}{last['unigrams']:>10.3f}{last['bigrams']:>9.4f}   6016; 0.201; 0.0385"
    )
    print(f"word types: {last['words']} (paper: 3797)")
    stream = Stream("table 1", "show")
    for p in stream.sample(store.paraphrases(), options.show):
        frame = store.frames()[p.frame]
        relations, gender = stream.choice(list(clauses(frame.facts)))
        print(f"{p.number:>6} {p.portion:8}", " ".join(words_of(p, False, relations, gender)))


if __name__ == "__main__":
    main()
