"""Train and test the scene machine on lilGym: `docs/results/machine-scene.json`.

A run `sound/SCENE/SPLIT` uses generator seed 101 + k for training and tests; the machine was designed on seed 0. A run `official/SCENE` needs the
published files. It learns from SCRATCH train and is tested on SCRATCH and FLIPIT dev, once as published and once without the training
statements that dev also has. A record that is there is not made again.

  python benchmarks/scene_machine_results.py --jobs official/tower,official/scatter --files FOLDER
  python benchmarks/scene_machine_results.py --jobs sound/tower/random,sound/scatter/random --seeds 5
  python benchmarks/scene_machine_results.py --baselines --files FOLDER
  python benchmarks/scene_machine_results.py --jobs official/scatter --files FOLDER --labels 16 --pool 4000

With `--labels N` no program is paired with a statement: each training statement comes with N labelled scenes, half true and half false. Readings are proposed by a
pool: for the published statements, programs of our own generator (seed 0); for our splits, the programs of the training part, unpaired.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported: one core

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recombine.abilities import Programmed
from recombine.core import Example, Job
from recombine.data.datasets import Dataset, load
from recombine.files import read_json, write_json
from recombine.models.machines import Task, train_machine
from recombine.models.scene_machine import SceneMachine, SceneMachineConfig
from recombine.models.scene_machine_labels import label, learn_from_labels
from recombine.models.scene_machine_text import words_of
from recombine.models.scene_machine_train import pairs_of

FIRST_SEED = 101
GIVEN_LOOKS = 240
"""The first so many bits of a meaning are values on given scenes, the others on scenes that can be built from scratch."""


class Rows(list[Example]):
    """Some rows of a part."""

    def __init__(self, rows: Sequence[Example], job: Job) -> None:
        super().__init__(rows)
        self.job = job


def words(example: Example) -> tuple[str, ...]:
    """A statement without case, plurals and spelt numbers."""
    return tuple(words_of(str(example.inputs["statement"])))


def fixed_scene(family: Programmed, kind: str, train: Sequence[Example], tests: Sequence[Example]) -> float:
    """How many tests the one scene meets that most training statements hold in (SCRATCH only)."""
    bits = [_bits(family.meanings(kind, [family.program_of(e) for e in rows])) for rows in (train, tests)]
    return round(100 * float(bits[1][:, int(bits[0].sum(0).argmax())].mean()), 1)


def _bits(meanings: Sequence[bytes]) -> Any:
    """The values on scenes that can be built; a constant statement counts as met nowhere."""
    empty = bytes(max(map(len, meanings)))
    return np.array([np.unpackbits(np.frombuffer(m or empty, np.uint8))[GIVEN_LOOKS:] for m in meanings])


def tested(machine: Any, kind: str, tests: Sequence[Example], known: set[tuple[str, ...]]) -> dict[str, Any]:
    """Right answers, right best readings, and both again on statements that training does not have."""
    family, begun = machine_family(tests), time.process_time()
    marks = []
    for example in tests:
        found = machine.readings(family, kind, str(example.inputs["statement"]))
        best, own = family.meanings(kind, [found[0][0] if found else "", family.program_of(example)])
        marks.append((bool(best) and best == own, example.score(family.enact(example, found)).value == 1.0))
    new = [mark for mark, example in zip(marks, tests, strict=True) if words(example) not in known]
    out: dict[str, Any] = {"rows": len(marks), "cpu_seconds": round(time.process_time() - begun, 1), "new_rows": len(new)}
    for place, name in enumerate(("reading", "accuracy")):
        out[name] = round(100 * sum(mark[place] for mark in marks) / len(marks), 1)
        out[f"new_{name}"] = round(100 * sum(mark[place] for mark in new) / max(len(new), 1), 1)
    return out


def machine_family(rows: Sequence[Example]) -> Programmed:
    """The family of the rows."""
    family = rows[0].family
    assert isinstance(family, Programmed)
    return family


def parts(job: str, seed: int, size: int, most: int, files: str) -> tuple[Dataset, dict[str, list[Example]]]:
    """The training part of a job, and its tests."""
    recipe, kind, *rest = job.split("/")
    if recipe == "official":
        options: dict[str, Any] = {"recipe": "official", "files": files}
        tests = {start: list(load("lilgym", f"{kind}_{start}", "validation", **options)) for start in ("scratch", "flipit")}
        tests["flipit"] = tests["flipit"][:: max(1, len(tests["flipit"]) // most)][:most]
        return load("lilgym", f"{kind}_scratch", "train", **options), tests
    options = {"recipe": "sound", "seed": FIRST_SEED + seed, "scene": kind}
    learnt = load("lilgym", rest[0], "train", size=size, **options)
    return learnt, {"test": list(load("lilgym", rest[0], "test", size=most, **options))}


def other_statement(tests: Sequence[Example]) -> float:
    """The baseline: how many tests are solved by acting on the right program of another test, half a part away."""
    family, half = machine_family(tests), len(tests) // 2
    right = 0.0
    for place, example in enumerate(tests):
        other = family.program_of(tests[(place + half) % len(tests)])
        right += example.score(family.enact(example, [(other, 1.0)])).value
    return round(100 * right / len(tests), 1)


def add_baselines(out: Path, a: argparse.Namespace) -> None:
    """Add the baseline to every test in the file that lacks it; needs no training."""
    found = read_json(out)
    known: dict[tuple[str, int], dict[str, float]] = {}
    for record in found["runs"]:
        if all("other_statement" in told for told in record["tests"].values()):
            continue
        most = record["tests"].get("test", {"rows": a.tests})["rows"]
        key = record["job"], record["seed"]
        if key not in known:
            known[key] = {name: other_statement(tests) for name, tests in parts(*key, a.size, most, a.files)[1].items()}
        for name, share in known[key].items():
            record["tests"][name]["other_statement"] = share
        write_json(out, found)
        print(record["job"], {name: told["other_statement"] for name, told in record["tests"].items()}, flush=True)


def learnt_from_labels(job: str, rows: Rows, seed: int, labels: int, pool_size: int) -> tuple[SceneMachine, dict[str, Any]]:
    """The machine that labelled scenes teach, and what its record says."""
    kind, begun = job.split("/")[1], time.process_time()
    task = Task(rows, SceneMachineConfig(), seed, Path(), lambda line: print(line, file=sys.stderr, flush=True))  # type: ignore[arg-type]
    pairs, family = pairs_of(task)
    seen = label(pairs, family, labels)
    source: Sequence[Example] = rows
    if job.startswith("official"):
        source = list(load("lilgym", "random", "train", recipe="sound", seed=0, scene=kind, size=pool_size))
    machine, figures = learn_from_labels(seen, [family.program_of(example) for example in source], family, task)
    truth = {pair.statement: pair.program for pair in pairs}
    texts = [text for statement, program in figures["chosen"] for text in (program, truth[statement])]
    meanings = family.meanings(kind, texts)
    right = sum(a == b for a, b in zip(meanings[::2], meanings[1::2], strict=True))
    figures = {**figures, "chosen": len(figures["chosen"]), "chosen_right": right}
    seconds = round(time.process_time() - begun, 1)
    return machine, {"labels": labels, "cpu_seconds": seconds, **machine.sizes(), "learning": figures}


def run(
    job: str, seed: int, size: int, most: int, files: str, cleaned: bool, labels: int, pool: int, most_rows: int
) -> dict[str, Any]:
    """Learn from train, answer the tests."""
    recipe, kind = job.split("/")[:2]
    learnt, tests = parts(job, seed, size, most, files)
    rows: Any = Rows(list(learnt), learnt.job)
    if cleaned:
        held = {words(example) for part in tests.values() for example in part}
        rows = Rows([example for example in rows if words(example) not in held], learnt.job)
    record: dict[str, Any] = {"job": job, "seed": seed, "cleaned": cleaned, "rows": len(rows)}
    machine: Any
    if labels:
        rows = Rows(rows[:most_rows] if most_rows else rows, learnt.job)
        record["rows"] = len(rows)
        machine, told = learnt_from_labels(job, rows, seed, labels, pool)
        record |= told
    else:
        with tempfile.TemporaryDirectory() as folder:
            machine, trained = train_machine("scene-machine", {}, rows, Path(folder), seed, lambda _line: None)
        record |= {"cpu_seconds": trained.cpu_seconds, **trained.sizes}
    record["tests"] = {}
    known = {words(example) for example in rows}
    for name, part in tests.items():
        record["tests"][name] = tested(machine, kind, part, known)
    if recipe == "official":
        record["tests"]["scratch"]["fixed_scene"] = fixed_scene(machine_family(rows), kind, rows, tests["scratch"])
    return record


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="docs/results/machine-scene.json")
    parser.add_argument("--jobs", default="sound/tower/random")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--size", type=int, default=5_000, help="training rows of sound jobs")
    parser.add_argument("--tests", type=int, default=200, help="rows of every test (SCRATCH dev is taken whole)")
    parser.add_argument("--files", default="", help="the folder of the published files")
    parser.add_argument("--baselines", action="store_true", help="only add the baseline of another statement's program")
    parser.add_argument(
        "--labels", type=int, default=0, help="learn from so many labelled scenes a statement, not from programs"
    )
    parser.add_argument("--rows", type=int, default=0, help="with --labels: at most so many training rows (0: all)")
    parser.add_argument(
        "--pool", type=int, default=4_000, help="rows of our generator whose programs are proposed (official jobs)"
    )
    a = parser.parse_args()
    out = Path(a.out)
    if a.baselines:
        add_baselines(out, a)
        return
    wanted = [(job, seed, cleaned) for seed in range(a.seeds) for job in a.jobs.split(",") for cleaned in (True, False)]
    for job, seed, cleaned in wanted:
        if cleaned != job.startswith("official") and (cleaned or a.labels):
            continue
        found: dict[str, Any] = read_json(out) if out.is_file() else {
            "machine": SceneMachine.NAME, "built_in": list(SceneMachine.BUILT_IN), "learnt": list(SceneMachine.LEARNT),
            "command": "python benchmarks/scene_machine_results.py", "runs": [],
        }  # fmt: skip
        if any(
            (r["job"], r["seed"], r["cleaned"], r.get("labels", 0)) == (job, seed, cleaned, a.labels) for r in found["runs"]
        ):
            continue
        found["runs"].append(run(job, seed, a.size, a.tests, a.files, cleaned, a.labels, a.pool, a.rows))
        write_json(out, found)
        print(json.dumps(found["runs"][-1]), flush=True)


if __name__ == "__main__":
    main()
