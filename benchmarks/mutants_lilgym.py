"""Mutation testing of lilGym's oracle: programs, sentences and columns are changed, and every true mutant must be caught.

    python -P benchmarks/mutants_lilgym.py --count 2000

A mutant of a program is true if its value differs from the original's on some scene. The judge of that is not the oracle: it is
the compiled interpreter, on thousands of drawn scenes, and for TOWER on all scenes there are. A mutant of a derived column is
always true. Exits with 1 if a true mutant passes.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from recombine import keys
from recombine.core import Example
from recombine.errors import ProgramError
from recombine.families.lilgym import LILGYM, program
from recombine.families.lilgym.play import solver
from recombine.families.lilgym.program import Bank, Prepared
from recombine.families.lilgym.scene import KINDS, Kind
from recombine.families.lilgym.sound import worlds
from recombine.jobs import make_job
from recombine.keys import Stream

SWAPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "comparison": (r" (==|>=|<=) (?=\d)", ("==", ">=", "<=", ">", "<")),
    "number": (r"(?<=[=<>] )(\d)", tuple("0123456789")),
    "color": (r"(?<=is_)(yellow|black|blue)", ("yellow", "black", "blue")),
    "color_filter": (r"(?<=Color\.)(YELLOW|BLACK|BLUE)", ("YELLOW", "BLACK", "BLUE")),
    "shape": (r"(?<=is_)(circle|square|triangle)", ("circle", "square", "triangle")),
    "size": (r"(?<=is_)(small|medium|big)", ("small", "medium", "big")),
    "and_or": (r" (and|or) ", ("and", "or")),
    "quantifier": (r"(not exist|exist|All)\(", ("exist", "not exist", "All", "Any")),
    "place": (r"\bis_(top|bottom|second|third)\b", ("top", "bottom", "second", "third")),
    "wall": (r"(is_touching_wall|is_closely_touching_wall)", ("is_touching_wall", "is_closely_touching_wall")),
    "side": (r"(?<=Side\.)(LEFT|RIGHT|TOP|BOTTOM)", ("LEFT", "RIGHT", "TOP", "BOTTOM")),
    "relation": (
        r"\b(get_above|get_below|get_box_all_above|get_box_all_below|get_touching|get_box_exclusive)\b",
        ("get_above", "get_below", "get_box_all_above", "get_box_all_below", "get_touching", "get_box_exclusive"),
    ),
    "attribute": (r"(?<=get_set_)(colors|shapes|sizes)", ("colors", "shapes", "sizes")),
    "negation": (r"(not )", ("",)),
}  # fmt: skip
"""Kind of mutation -> what is replaced in a program, and by what."""
COLUMNS: dict[str, Callable[[Example], dict[str, object]]] = {
    "objects": lambda e: {"objects": e.meta["objects"] + 1},
    "words": lambda e: {"words": e.meta["words"] - 1},
    "depth": lambda e: {"depth": e.meta["depth"] + 1},
    "edits": lambda e: {"edits": e.meta["edits"] + 1},
    "phenomena": lambda e: {"phenomena": e.meta["phenomena"][1:]},
    "key": lambda _: {"key": "x"},
    "target": lambda e: {"target": not e.meta["target"]},
    "start": lambda e: {"start": "scratch" if e.meta["start"] == "flipit" else "flipit"},
    "scene": lambda e: {"scene": "scatter" if e.meta["scene"] == "tower" else "tower"},
    "task": lambda e: {"task": "truth" if e.meta["task"] == "edit" else "edit"},
    "part": lambda e: {"part": "train" if e.meta["part"] == "test" else "test"},
    "split": lambda _: {"split": "no_such"},
}
"""Derived column -> a change of it, which is always wrong."""


def mutated(text: str, kind: str, stream: Stream) -> str | None:
    """The program with one piece replaced; None if it has no such piece."""
    pattern, words = SWAPS[kind]
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    place = stream.choice(found)
    others = [word for word in words if word != place[1]]
    return text[: place.start(1)] + stream.choice(others) + text[place.end(1) :]


@cache
def _scenes(kind: Kind, tidy: bool) -> Prepared:
    parts = [
        worlds.draw_scenes(kind, scratch, keys.states(keys.state("mutants", kind, int(scratch)), 0, n), True, tidy)
        for scratch, n in ((False, 3_000), (True, 1_500))
    ]
    return Prepared(np.concatenate([items for items, _ in parts]), np.concatenate([counts for _, counts in parts]))


def is_true(kind: Kind, original: str, mutant: str) -> bool | None:
    """Whether the two programs differ on some scene; None if the mutant is no program, or fails."""
    try:
        bank = Bank([program.compile(original), program.compile(mutant)])
        values = bank.evaluate_grid(_scenes(kind, worlds.is_tidy(kind, original)), compiled=True)
        if bool((values[0] != values[1]).any()):
            return True
        return kind == "tower" and _differs_on_some_tower(bank)
    except ProgramError:
        return None


def _differs_on_some_tower(bank: Bank) -> bool:
    """All 121 ** 3 scenes, in the order of three fillings that do not decrease (no program of ours looks at box order)."""
    for low in range(solver.FILLINGS):
        pairs = np.array([(b, c) for b in range(low, solver.FILLINGS) for c in range(b, solver.FILLINGS)])
        states = low + solver.FILLINGS * pairs[:, 0] + solver.FILLINGS**2 * pairs[:, 1]
        items, counts = solver.tower_scenes(states)
        rows = [bank.evaluate(np.full(len(states), which), items, counts, compiled=True) for which in (0, 1)]
        if bool((rows[0] != rows[1]).any()):
            return True
    return False


def examples(kind: Kind, start: str, count: int, seed: int = 17) -> Iterator[Example]:
    """Examples of the default split's test part."""
    job = make_job(LILGYM, "random", "test", None, seed, {"scene": kind, "start": start})
    batch = LILGYM.generate(job.rows(0, count))
    yield from (LILGYM.example(batch, row) for row in range(count))


def survivors(kind: Kind, mutation: str, count: int, seed: int = 17) -> tuple[int, list[Example]]:
    """How many of `count` mutants of programs are true, and those of them that the oracle lets pass."""
    stream, true, asked = Stream("mutants", kind, mutation, seed), 0, count
    passed: list[Example] = []
    for tried, example in enumerate(_endless(kind, seed)):
        text = mutated(str(example.meta["program"]), mutation, stream)
        if text is not None:
            count -= 1
            changed = dataclasses.replace(example, meta={**example.meta, "program": text})
            caught = any(p.code in PROGRAM_CODES for p in changed.validate())
            if is_true(kind, str(example.meta["program"]), text):
                true += 1
                passed += [] if caught else [changed]
        if count == 0 or tried > 40_000 or (count == asked and tried >= KNOWN):  # the last: no program has such a place
            break
    return true, passed


KNOWN = 700
"""Examples that are changed, again and again."""
PROGRAM_CODES = ("program_mismatch", "unproved_program", "bad_program", "type_fault")
"""What the oracle says of a wrong program; other findings (a hash of its text, a list of phenomena) do not count here."""


def _endless(kind: Kind, seed: int) -> Iterator[Example]:
    while True:
        yield from _known(kind, seed)


@cache
def _known(kind: Kind, seed: int) -> list[Example]:
    return list(examples(kind, "flipit", KNOWN, seed))


def passed_columns(kind: Kind, start: str, count: int) -> Counter[str]:
    """Column -> how many of `count` changed rows the oracle lets pass."""
    passed: Counter[str] = Counter()
    for example in examples(kind, start, count):
        for name, change in COLUMNS.items():
            changed = dataclasses.replace(example, meta={**example.meta, **change(example)})
            passed[name] += not any(p.severity == "error" for p in changed.validate())
    return +passed


def main() -> int:
    """Print, per kind of mutation, the true mutants and those that passed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2_000, help="mutants of programs per kind (default 2000)")
    arguments = parser.parse_args()
    failed = 0
    for kind in KINDS:
        for mutation in SWAPS:
            true, passed = survivors(kind, mutation, arguments.count)
            failed += len(passed)
            print(f"{kind:8} {mutation:13} {true:6,} true mutants, {len(passed)} passed", flush=True)
            for example in passed[:2]:
                print(f"         {example.inputs['statement']} | {example.meta['program']}")
        for start in ("flipit", "scratch"):
            columns = passed_columns(kind, start, max(20, arguments.count // 10))
            failed += sum(columns.values())
            print(f"{kind:8} {start} columns passed: {dict(columns)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
