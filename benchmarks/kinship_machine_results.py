"""Train and test the kinship machine on CLUTRR, from text: `docs/results/machine-kinship.json`.

Run k uses generator seed 101 + k for training and for tests; the machine was designed on seeds 0 and 100. A record that is there is not made again.

  python benchmarks/kinship_machine_results.py --jobs sound/generalization_23,sound/robust_clean --seeds 5
  python benchmarks/kinship_machine_results.py --released FOLDER --seeds 1    # the authors' files, stories written by people
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported: one core

import argparse
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from recombine.core import Example
from recombine.data.datasets import load
from recombine.families import family
from recombine.families.clutrr import native
from recombine.files import read_json, write_json
from recombine.models.kinship_machine import KinshipMachine
from recombine.models.machines import train_machine

FIRST_SEED = 101


def run(job: str, seed: int, options: dict[str, Any], size: int, tests: int) -> dict[str, Any]:
    """Learn from train, answer every test part of the split from its text."""
    recipe, split = job.split("/")
    words: dict[str, Any] = {"seed": FIRST_SEED + seed, "recipe": recipe, **options}
    rows = load("clutrr", split, "train", size=size or None, **words)
    with tempfile.TemporaryDirectory() as folder:
        machine, trained = train_machine("kinship-machine", {}, rows, Path(folder), seed, lambda _line: None)
    record: dict[str, Any] = {
        "job": job, "seed": seed, "data_seed": FIRST_SEED + seed, "options": options, "rows": len(rows),
        "cpu_seconds": trained.cpu_seconds, **trained.sizes, "tests": {},
    }  # fmt: skip
    for part in family("clutrr").SPLITS[split].parts:
        if part.startswith("test"):
            examples = list(load("clutrr", split, part, size=tests if recipe == "sound" else None, **words))[:tests]
            answers = machine.answers(examples)
            right = sum(answer == example.answer for answer, example in zip(answers, examples, strict=True))
            record["tests"][part] = {"rows": len(examples), "right": right, "accuracy": round(100 * right / len(examples), 1)}
    return record


class Stories(list[Example]):
    """Stories of files that stand for a part."""

    job = SimpleNamespace(key="released files")


def released(folder: Path, seed: int) -> dict[str, Any]:
    """Learn from the training files of a released folder, answer its tests: `1.4_test.csv.gz` is `test_k4`."""
    rows: Any = Stories(e for path in sorted(folder.glob("*train*.csv*")) for e in native.read(path) if isinstance(e, Example))
    with tempfile.TemporaryDirectory() as out:
        machine, trained = train_machine("kinship-machine", {}, rows, Path(out), seed, lambda _line: None)
    tests = {}
    for path in sorted(folder.glob("1.*_test.csv*")):
        examples = [e for e in native.read(path) if isinstance(e, Example)]
        right = sum(a == e.answer for a, e in zip(machine.answers(examples), examples, strict=True))
        tests["test_k" + path.name.split("_")[0][2:]] = {
            "rows": len(examples), "right": right, "accuracy": round(100 * right / len(examples), 1),
        }  # fmt: skip
    return {
        "job": f"released/{folder.name}", "seed": seed, "options": {"style": "crowd"}, "rows": len(rows),
        "cpu_seconds": trained.cpu_seconds, **trained.sizes, "tests": tests,
    }  # fmt: skip


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="docs/results/machine-kinship.json")
    parser.add_argument("--jobs", default="sound/generalization_23")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--size", type=int, default=0, help="training rows (0: all)")
    parser.add_argument("--tests", type=int, default=200, help="rows of every test")
    parser.add_argument("--set", dest="options", default="{}", help="the family's options as JSON")
    parser.add_argument("--released", type=Path, help="a folder of released files, instead of generated rows")
    a = parser.parse_args()
    out, options = Path(a.out), json.loads(a.options) if a.released is None else {"style": "crowd"}
    for seed in range(a.seeds):
        for job in a.jobs.split(",") if a.released is None else [f"released/{a.released.name}"]:
            found: dict[str, Any] = read_json(out) if out.is_file() else {
                "machine": KinshipMachine.NAME, "built_in": list(KinshipMachine.BUILT_IN), "learnt": list(KinshipMachine.LEARNT),
                "command": "python benchmarks/kinship_machine_results.py", "runs": [],
            }  # fmt: skip
            if any((r["job"], r["seed"], r["options"]) == (job, seed, options) for r in found["runs"]):
                continue
            found["runs"].append(released(a.released, seed) if a.released else run(job, seed, options, a.size, a.tests))
            write_json(out, found)
            print(json.dumps(found["runs"][-1]), flush=True)


if __name__ == "__main__":
    main()
