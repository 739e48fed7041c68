"""Every law on very many `sound` stories: `python benchmarks/check_clutrr.py 1000000`.

With `--reader` only the texts are read, which is several times quicker: the independent reader must find exactly the facts of every
rich story, in one reading. With `--state FILE` what is done is noted after every block, and a later run goes on from there.

Stories of k = 2 … 10 (and 12, 16, 20 a few), every kind of noise, training and test parts. For each: an independent fixpoint
solver finds exactly one answer and it is ours, the proof replays, the text parses back to the same facts and the question to
the same query; no clause of three or more facts, and no paraphrase, is in both a training and a test part.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from recombine.core import Batch, Job
from recombine.families.clutrr import CLUTRR
from recombine.families.clutrr.kinship import REGISTERS, RELATIONS
from recombine.families.clutrr.language.parser import Unreadable, differences
from recombine.families.clutrr.options import NOISE_NAMES
from recombine.families.clutrr.oracle_reader import Ambiguous, read_rich_story
from recombine.files import write_text
from recombine.jobs import make_job

BLOCK = 5_000


def batches(count: int, seed: int) -> Iterator[tuple[str, Batch]]:
    """Blocks of stories, turn about: each k with each noise, from train and from test."""
    cases = [(k, noise, part) for k in range(2, 11) for noise in NOISE_NAMES for part in ("train", "test_k2")]
    cases += [(k, "clean", "train") for k in (12, 16, 20)]
    each = -(-count // len(cases))
    warm = CLUTRR.generate(make_job(CLUTRR, "generalization_23", "train", "sound", seed).rows(0, 1_000))
    next(CLUTRR.validate_batch(warm), None)  # compiled kernels, once loaded, serve the small blocks too
    for k, noise, part in cases:
        job = _job(part, seed, {"k": str(k), "noise": noise})
        for start in range(0, each, BLOCK):
            yield part, CLUTRR.generate(job.rows(start, min(start + BLOCK, each)))


def _job(part: str, seed: int, options: dict[str, str]) -> Job:
    """Training stories, or those of the test part of this length."""
    name = part if part == "train" else f"test_k{options['k']}"
    return make_job(CLUTRR, "generalization_23", name, "sound", seed, options)


def check(count: int, seed: int = 0, verbose: bool = False) -> Counter[str]:
    """Problems by code over at least `count` stories; leaks of clauses and paraphrases included."""
    problems: Counter[str] = Counter()
    clauses: dict[str, set[tuple[str, int]]] = {"train": set(), "test_k2": set()}
    paraphrases: dict[str, set[int]] = {"train": set(), "test_k2": set()}
    done = 0
    for part, batch in batches(count, seed):
        for row, problem in CLUTRR.validate_batch(batch):
            problems[problem.code] += 1
            if verbose:
                print(batch.id(row), problem, file=sys.stderr)
        columns = batch.columns
        for row in range(len(batch)):
            if columns["k"][row] >= 3:
                facts, places = columns["facts"][row], columns["places"][row]
                first = facts[3 * places.index(0) + 1]
                clauses[part].add((columns["clause"][row], columns["genders"][row][first]))
        paraphrases[part].update(columns["paraphrases"].values.tolist())
        done += len(batch)
        if verbose:
            print(f"{done:>9,} stories, {sum(problems.values())} problems", file=sys.stderr, flush=True)
    problems["clause in train and test"] += len(clauses["train"] & clauses["test_k2"])
    problems["paraphrase in train and test"] += len(paraphrases["train"] & paraphrases["test_k2"])
    problems["stories"] = done
    return problems


def check_texts(count: int, seed: int, state: Path | None, verbose: bool) -> Counter[str]:
    """Rich stories whose text has another reading, no reading, or other facts, by kind; goes on where the state file ends."""
    done: dict[str, dict[str, int]] = {}
    if state and state.exists():
        done = json.loads(state.read_text(encoding="utf-8"))
    options = [{"k": str(k), "noise": noise} for k in (2, 3, 2, 3, 4, 6, 10) for noise in ("clean", "all")]
    options += [{"k": "3", "register": register} for register in REGISTERS[1:]]
    options += [
        {"k": "3", "coreference": "1"},
        {"k": "3", "coreference": "0", "colloquial": "1"},
        {"k": "3", "mentions": "anonymous"},
    ]
    blocks = -(-count // BLOCK)
    for block in range(blocks):
        key = f"{seed}/{block}"
        if key in done:
            continue
        part = "train" if block % 2 else "test_k2"
        job = _job(part, seed, options[block // 2 % len(options)])
        start = block // 2 // len(options) * BLOCK
        done[key] = dict(_text_counts(CLUTRR.generate(job.rows(start, start + BLOCK)), verbose))
        if state:
            write_text(state, json.dumps(done))
        if verbose:
            wrong = sum(n for row in done.values() for name, n in row.items() if name != "stories")
            print(f"block {block + 1:>5} of {blocks}, {wrong} problems", file=sys.stderr, flush=True)
    found: Counter[str] = Counter()
    for row in done.values():
        found.update(row)
    return found


def _text_counts(batch: Batch, verbose: bool) -> Counter[str]:
    counts: Counter[str] = Counter(stories=len(batch))
    columns = batch.columns
    for row in range(len(batch)):
        names, facts, sexes = columns["names"][row], columns["facts"][row], columns["genders"][row]
        wanted = [(RELATIONS[facts[i]], names[facts[i + 1]], names[facts[i + 2]]) for i in range(0, len(facts), 3)]
        genders = {name: ("female", "male")[g] for name, g in zip(names, sexes, strict=True)}
        try:
            problem = "other facts" if differences(read_rich_story(columns["story"][row], names), wanted, genders) else ""
        except Ambiguous:
            problem = "a second reading"
        except Unreadable:
            problem = "no reading"
        if problem:
            counts[problem] += 1
            if verbose:
                print(batch.id(row), problem, columns["story"][row], file=sys.stderr)
    return counts


def main() -> int:
    """Check, print, and say by the exit code whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--reader", action="store_true", help="only read the texts of rich stories")
    parser.add_argument("--state", type=Path, help="with --reader: a file that notes what is done")
    arguments = parser.parse_args()
    start = time.process_time()
    if arguments.reader:
        found = check_texts(arguments.count, arguments.seed, arguments.state, arguments.verbose)
    else:
        found = check(arguments.count, arguments.seed, arguments.verbose)
    stories = found.pop("stories")
    for code, number in sorted(found.items()):
        print(f"{code}: {number}")
    print(f"{stories:,} stories, {sum(found.values())} problems, {time.process_time() - start:.0f} CPU seconds")
    return int(sum(found.values()) > 0)


if __name__ == "__main__":
    sys.exit(main())
