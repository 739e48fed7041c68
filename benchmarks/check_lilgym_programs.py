"""Long checks of lilGym's programs: the compiled form against the plain interpreter, and fuzzed texts.

    python benchmarks/check_lilgym_programs.py [--pairs 1000000] [--fuzz 200000] [--statements 100000] [--rows 20000] [--files FOLDER]

Pairs: programs of our own grammar (and of the published files in FOLDER) on random scenes, towers and scattered items.
Fuzz: programs with characters, words and brackets changed; each must give a `ProgramError` or a value within 100 ms of CPU time,
and so must programs that are made to use up all their steps.
Statements: the sentence, read back by the oracle, against its program. Rows: generated tasks of every split, part and
configuration through the oracle. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

import numpy as np

from recombine import files, kernels, keys
from recombine.errors import ProgramError
from recombine.families.lilgym import LILGYM, oracle, program, splits
from recombine.families.lilgym.program import KERNEL_NAME, UNDECIDED, Bank, Program, reference
from recombine.families.lilgym.program.values import World
from recombine.families.lilgym.scene import KINDS, Kind, Scene, unpack
from recombine.families.lilgym.sound import language, worlds
from recombine.jobs import make_job

LIMIT_SECONDS = 0.1
_WORDS = re.compile(r"\w+|\s+|[^\w\s]+")


def published(folder: Path | None) -> list[str]:
    """The distinct programs of the published files in a folder."""
    texts: dict[str, None] = {}
    for path in sorted(folder.glob("*_*_*.json*")) if folder else []:
        texts |= dict.fromkeys(record["lf"] for record in files.read_json(path).values() if "lf" in record)
    return list(texts)


def own(kind: Kind, count: int) -> list[str]:
    """Distinct programs of our own statements, spread over the table."""
    known = len(language.table(kind).codes)
    return [language.statement(kind, place * known // count).program for place in range(min(count, known))]


def scenes(count: int, seed: str) -> tuple[np.ndarray, np.ndarray, list[Scene]]:
    """Scenes of all four sorts, a quarter each; SCATTER's may hold overlapping items pushed a little over the edge."""
    packed = []
    for kind in KINDS:
        for scratch in (False, True):
            items, counts = worlds.draw_scenes(
                kind, scratch, keys.states(keys.state(seed, kind, int(scratch)), 0, -(-count // 4)), True
            )
            wide = np.zeros((len(counts), 21, 6), np.int16)
            wide[:, : items.shape[1]] = items
            packed.append((wide, counts))
    items, counts = np.concatenate([p[0] for p in packed]), np.concatenate([p[1] for p in packed])
    stream = keys.Stream(seed, "jitter")
    for row in range(len(counts) // 2, len(counts), 3):
        for k in range(int(counts[row])):
            items[row, k, 1 + stream.below(2)] += stream.below(9) - 4
    return items, counts, unpack("scatter", items, counts)


def compare(programs: list[Program], pairs: int, seed: str = "check") -> int:
    """How many program/scene pairs differ between the two forms, of at least `pairs`; errors must be left open by the kernel."""
    per_program = max(1, -(-pairs // len(programs)))
    items, counts, shown = scenes(max(200, per_program), seed)
    bank = Bank(programs)
    index = np.repeat(np.arange(len(programs)), per_program)
    chosen = (index * 7919 + np.tile(np.arange(per_program), len(programs)) * 104729) % len(counts)
    out = np.zeros(len(index), np.int8)
    words = np.zeros(program.kernel.HEADER + program.kernel.ROWS * items.shape[1], np.int64)
    run = kernels.load(KERNEL_NAME, True).evaluate_batch
    run(bank.code, bank.offsets, index, items[chosen], counts[chosen], words, np.zeros(program.kernel.REGISTERS, np.int64), out)
    laid = {int(c): World.of(shown[int(c)]) for c in np.unique(chosen)}
    wrong = undecided = 0
    for which, scene, value in zip(index.tolist(), chosen.tolist(), out.tolist(), strict=True):
        try:
            expected = int(reference.evaluate_world(programs[which].tree, laid[scene]))
        except ProgramError:
            expected = UNDECIDED
        undecided += value == UNDECIDED
        if value not in (expected, UNDECIDED):
            wrong += 1
            print("DIFFERENT", programs[which].text, shown[scene], expected, value)
    print(
        f"  {len(index):,} pairs, {len(programs):,} programs, {len(counts):,} scenes: {wrong} differ, {undecided:,} left open by the kernel"
    )
    return wrong


def mutated(text: str, stream: keys.Stream, others: list[str]) -> str:
    """The text with one to four changes: words and signs dropped, doubled, swapped, replaced; characters flipped; texts spliced."""
    for _ in range(1 + stream.below(4)):
        parts = _WORDS.findall(text) or [""]
        where = stream.below(len(parts))
        match stream.below(8):
            case 0:
                del parts[where]
            case 1:
                parts.insert(where, parts[where])
            case 2:
                parts[where] = stream.choice(_WORDS.findall(stream.choice(others)) or ["x"])
            case 3:
                parts[where] = stream.choice(
                    ["(", ")", "[", "]", "{", "}", "lambda", "not", "0", "9" * 30, "'", "\0", "\ud800", "é", "**", ".", ","]
                )
            case 4:
                other = stream.below(len(parts))
                parts[where], parts[other] = parts[other], parts[where]
            case 5:
                parts[where:] = _WORDS.findall(stream.choice(others))[stream.below(20) :]
            case 6:
                parts[where] = "".join(chr(32 + stream.below(95)) for _ in range(1 + stream.below(6)))
            case _:
                parts[where] = parts[where] * (1 + stream.below(40))
        text = "".join(parts)
    return text


def tried(text: str, scene: Scene) -> tuple[float, str, Program | None]:
    """(CPU seconds, the name of an untyped error, the program if it is one) of compiling a text and evaluating it."""
    began = time.process_time()
    problem, made = "", None
    try:
        made = program.make(text)
        made.evaluate(scene)
        made.code  # noqa: B018 - compiling must not fail either
    except ProgramError:
        pass
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return time.process_time() - began, problem, made


def fuzz(texts: list[str], count: int, seed: str = "fuzz") -> tuple[int, list[Program]]:
    """(untyped errors or slow cases, the texts that were programs after all) of `count` mutated texts, tried on dense scenes."""
    stream = keys.Stream(seed)
    _, _, shown = scenes(64, seed)
    dense = sorted(shown, key=lambda scene: -len(scene.items))[:8]
    faults = 0
    accepted: list[Program] = []
    slowest = 0.0
    for number in range(count):
        text = mutated(stream.choice(texts), stream, texts)
        scene = dense[number % len(dense)]
        took, problem, made = tried(text, scene)
        if took > LIMIT_SECONDS:  # once more: the first time may have met the garbage collector
            took = tried(text, scene)[0]
        slowest = max(slowest, took)
        accepted += [made] if made is not None else []
        if problem or took > LIMIT_SECONDS:
            faults += 1
            print("FAULT", problem, f"{took:.3f} s", json.dumps(text))
    print(
        f"  {count:,} fuzzed texts: {faults} faults, {len(accepted):,} were programs; the slowest took {1000 * slowest:.1f} ms"
    )
    return faults, accepted


_HUNGRY = (
    "False", "is_blue(x) and is_black(x)", "all_same_color(all_items) and False", "count(get_set_colors(all_items)) == 9",
    "is_top(x) and is_bottom(y) and False", "contained(all_items, all_items) and False", "x in all_items and False",
    "count(get_img_all_above(all_items)) == 99", "y not in get_box_all_above(x) and False",
    "count(union_all(get_box_all_above(x), get_box_all_below(y), get_img_all_above(z))) == 99", "count(get_touching(all_items)) == 99",
    "all_same_attribute(all_items, is_blue) and all_same_attribute(all_items, is_touching_corner) and False",
    "equal_color(query_color(all_items), query_color(all_items)) and False", "min(all_boxes, key=count) == all_boxes[0] and False",
    "is_closely_touching_specific_corner(x, Side.LEFT, Side.TOP)", "exist(get_img_exclusive(x)) and exist(get_img_exclusive(y)) and False",
    "len(set(get_img_all_above(x))) == 99", "[x, y, z] == [z, y, x] and {x, y} == {z} and False", "len(all_items[1:] + all_items[2:]) == 9",
    "AND(AND(is_blue(x), is_black(y)), AND(is_blue(z), NOT(is_black(y))))", "count(combinations(all_items, 6)) == 1", "count(combinations(all_items, 2)) == 1",
    "is_closely_touching_wall(z) and is_closely_touching_wall(x) and is_touching_corner(y) and is_second(y) and False",
)  # fmt: skip
"""Bodies of nested lambdas that ask as much as they can."""


def devour() -> int:
    """How many programs that use up all their steps take longer than the limit, on scenes as full as can be."""
    _, _, shown = scenes(64, "devour")
    full = [Scene.of("scatter", [(k % boxes, k, k, 10, k % 3, k % 3) for k in range(62)]) for boxes in (1, 3)]
    full.append(max(shown, key=lambda scene: len(scene.items)))
    slowest, faults = 0.0, 0
    for body in _HUNGRY:
        text = body
        for name in "zyx":
            text = f"exist(filter_obj(all_items, lambda {name}: {text}))"
        for scene in full:
            took, problem, _ = min((tried(text, scene) for _ in range(2)), key=lambda found: found[0])
            slowest = max(slowest, took)
            if problem or took > LIMIT_SECONDS:
                faults += 1
                print("FAULT", problem, f"{took:.3f} s", json.dumps(text))
    print(
        f"  {len(_HUNGRY) * len(full)} evaluations that are hungry on purpose: {faults} faults; the slowest took {1000 * slowest:.1f} ms"
    )
    return faults


def read_back(count: int) -> int:
    """How many statements are not proved to mean their program, or are judged differently on some scene."""
    wrong = 0
    for kind in KINDS:
        known = len(language.table(kind).codes)
        looks = {
            tidy: [
                scene
                for scratch in (False, True)
                for scene in unpack(kind, worlds.looks(kind, scratch, tidy).items, worlds.looks(kind, scratch, tidy).counts)
            ]
            for tidy in (False, True)
        }
        for number in range(min(known, count // 2)):
            statement = language.statement(kind, number * known // min(known, count // 2))
            test, made = oracle.understand(statement.text), program.compile(statement.program)
            wrong += len(oracle.proof(statement.text, statement.program, kind))
            shown = looks[worlds.is_tidy(kind, statement.program)]
            for offset in range(4):
                scene = shown[(number * 4 + offset) * 37 % len(shown)]
                if oracle.holds(test, scene.items) != made.evaluate(scene):
                    wrong += 1
                    print("DIFFERENT", statement.text, statement.program, scene)
    print(f"  {count:,} statements on 4 scenes each: {wrong} differ")
    return wrong


def validate_rows(count: int, seed: int = 11) -> int:
    """How many problems the oracle finds in generated rows, spread over every split, part and configuration."""
    cases = [
        (split, part, {"scene": kind, "start": start, "task": task})
        for split in (name for name, known in splits.SPLITS.items() if "sound" in known.recipes)
        for part in ("train", "validation", "test")
        for kind in KINDS
        for start in ("flipit", "scratch")
        for task in ("edit", "truth")
    ]
    wrong = 0
    for split, part, options in sorted(cases, key=str):
        job = make_job(LILGYM, split, part, None, seed, options)
        batch = LILGYM.generate(job.rows(0, -(-count // len(cases))))
        for row in range(len(batch)):
            example = LILGYM.example(batch, row)
            for problem in example.validate():
                wrong += 1
                print("PROBLEM", example.id, problem)
            if example.score(example.answer).value != 1.0:
                wrong += 1
                print("SCORE", example.id, example.answer, example.score(example.answer))
    print(f"  {count:,} rows of {len(cases)} cases: {wrong} problems")
    return wrong


def main() -> int:
    """Run the checks at the given counts; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--fuzz", type=int, default=200_000)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--files", type=Path, default=None, help="a folder of published lilGym files")
    asked = parser.parse_args()
    texts = published(asked.files)
    print(f"{len(texts):,} published programs")
    texts += [text for kind in KINDS for text in own(kind, 1000)]
    programs = [program.compile(text) for text in texts]
    print(f"{sum(p.code is None for p in programs)} of {len(programs):,} programs are left to the plain interpreter")
    faults = compare(programs, asked.pairs) if asked.pairs else 0
    if asked.fuzz:
        found, survivors = fuzz(texts, asked.fuzz)
        faults += found + (compare(survivors, 20 * len(survivors), "survivors") if survivors else 0)
        faults += devour()
    faults += read_back(asked.statements) if asked.statements else 0
    faults += validate_rows(asked.rows) if asked.rows else 0
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
