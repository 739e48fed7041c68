"""Train and test the set machine on ReaSCAN and gSCAN: `docs/results/machine-set.json`.

Run k uses generator seed 100 + k for training and for tests, so no row was seen while the machine was designed (that was seed 0).
One record per job and seed; a record that is there already is not made again, so a killed run goes on.

  python benchmarks/set_machine_results.py --jobs reascan/release/6,reascan/sound/6 --seeds 5 --out docs/results/machine-set.json
  python benchmarks/set_machine_results.py --jobs reascan/sound/6 --seeds 1 --with '{"penalty": 0.0}'     # an ablation
  python benchmarks/set_machine_results.py --jobs reascan/sound/6 --seeds 1 --ship recombine/models/shipped/set
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported: one core

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.datasets import load
from recombine.files import read_json, write_json
from recombine.models.machines import Task
from recombine.models.set_machine import SetMachine, SetMachineConfig
from recombine.models.set_machine_camera import Camera
from recombine.models.set_machine_rows import rows_of, vocabulary_of, walked
from recombine.models.set_machine_sight import PICTURES
from recombine.models.set_machine_train import STUCK, learn

TESTS = {
    "reascan": ("all", "simple", "one_clause", "two_clauses", "a1", "a2", "a3", "b1", "b2", "c1", "c2"),
    "gscan": (
        "compositional", "visual_easier", "visual", "situational_1", "situational_2", "contextual", "adverb_1", "adverb_2",
    ),
}  # fmt: skip
FIRST_SEED = 100


def run(job: str, seed: int, data_seed: int, settings: dict[str, Any], sizes: tuple[int, int], ship: str) -> dict[str, Any]:
    """Learn from the train part of the first split, answer so many rows of every test."""
    family, recipe, grid = job.split("/")
    options: dict[str, Any] = {"grid_size": int(grid)} if grid != "6" else {}
    config = SetMachineConfig(**settings)
    clock = time.process_time()
    dataset = load(family, TESTS[family][0], "train", seed=data_seed, recipe=recipe, size=sizes[0], **options)
    camera = Camera(dataset.family) if config.sight == PICTURES else None
    batches = list(dataset.batches())
    known = vocabulary_of(batches)
    rows = rows_of(batches, known, camera)
    del batches
    data_seconds = time.process_time() - clock
    clock = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        task = Task(None, config, seed, Path(folder), lambda line: print(line, file=sys.stderr, flush=True))  # type: ignore[arg-type]
        machine, figures = learn(rows, known, config, task)
    record: dict[str, Any] = {
        "job": job, "seed": seed, "data_seed": data_seed, "settings": settings, "rows": len(rows.lengths), "visits": config.rows,
        "cpu_seconds": round(time.process_time() - clock, 1), "data_cpu_seconds": round(data_seconds, 1), **machine.sizes(),
        "test_rows": sizes[1], "exact": {}, "target": {},
    }  # fmt: skip
    for split in TESTS[family]:
        dataset = load(family, split, "test", seed=data_seed, recipe=recipe, size=sizes[1], **options)
        tests = rows_of(dataset.batches(), known, camera)
        taken, cells = machine.run(tests, np.arange(len(tests.lengths)))
        right = [taken[i] == tests.actions[tests.ends[i] : tests.ends[i + 1]].tolist() for i in range(len(taken))]
        record["exact"][split] = round(100 * float(np.mean(right)), 2)
        record["target"][split] = round(100 * float((cells == walked(tests).targets).all(1).mean()), 2)
    record["curve"] = [{name: round(value, 5) for name, value in point.items()} for point in figures["curve"]]
    record["starts"], record["stuck"], record["lexicon"] = figures["starts"], STUCK, machine.lines()
    if ship:
        Path(ship).mkdir(parents=True, exist_ok=True)
        machine.save(Path(ship), np.float16)
    return record


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="docs/results/machine-set.json")
    parser.add_argument("--jobs", default="reascan/release/6,reascan/sound/6")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="generator seed of run 0")
    parser.add_argument("--size", type=int, default=150_000, help="training rows")
    parser.add_argument("--tests", type=int, default=1_000, help="rows of every test")
    parser.add_argument("--with", dest="settings", default="{}", help="settings as JSON")
    parser.add_argument("--ship", default="", help="also write the machine into this folder, in half precision")
    a = parser.parse_args()
    out, settings = Path(a.out), json.loads(a.settings)
    for seed in range(a.seeds):
        for job in a.jobs.split(","):
            found: dict[str, Any] = read_json(out) if out.is_file() else {
                "machine": SetMachine.NAME, "built_in": list(SetMachine.BUILT_IN), "learnt": list(SetMachine.LEARNT),
                "command": "python benchmarks/set_machine_results.py", "runs": [],
            }  # fmt: skip
            this = (job, seed, a.first_seed + seed, settings)
            if any((r["job"], r["seed"], r["data_seed"], r["settings"]) == this for r in found["runs"]):
                continue
            found["runs"].append(run(job, seed, a.first_seed + seed, settings, (a.size, a.tests), a.ship))
            write_json(out, found)
            print(json.dumps({k: v for k, v in found["runs"][-1].items() if k not in ("curve", "lexicon")}), flush=True)


if __name__ == "__main__":
    main()
