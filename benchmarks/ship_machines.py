"""Train the machines that come with the package (`recombine/models/shipped`): four sequence machines, two set machines and a kinship machine.

A machine that stands in the index already is not made again; delete its line to make it anew.

  python benchmarks/ship_machines.py
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported: one core

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.datasets import load
from recombine.files import read_json, write_json
from recombine.models.kinship_machine import KinshipMachine
from recombine.models.machines import train_machine
from recombine.models.set_machine import SetMachine
from recombine.models.shipped import HERE, INDEX

WANTED: tuple[tuple[str, str, str, str, str, int, dict[str, object]], ...] = (
    ("set-machine", "reascan", "sound", "all", "train", 150_000, {}),
    ("set-machine", "gscan", "sound", "compositional", "train", 150_000, {}),
    ("sequence-machine", "scan", "release", "simple", "fit", 0, {}),
    ("sequence-machine", "scan", "release", "length", "fit", 0, {}),
    ("sequence-machine", "scan", "release", "addprim_jump", "fit", 0, {}),
    ("sequence-machine", "scan", "release", "hold_out", "fit", 0, {}),
    ("kinship-machine", "clutrr", "sound", "generalization_23", "train", 0, {}),
)
"""Machine, family, recipe, split, part, rows (0: all), settings."""


def main() -> None:
    """Train what is missing, write it in half precision, and add it to the index."""
    index: list[dict[str, Any]] = read_json(HERE / INDEX) if (HERE / INDEX).is_file() else []
    for machine, family, recipe, split, part, size, settings in WANTED:
        folder = f"{family}-{recipe}-{split}"
        if any(item["folder"] == folder for item in index):
            continue
        rows = load(family, split, part, recipe=recipe, size=size or None)
        with tempfile.TemporaryDirectory() as scratch:
            made, trained = train_machine(machine, settings, rows, Path(scratch), 0, print)
        (HERE / folder).mkdir(exist_ok=True)
        if isinstance(made, SetMachine | KinshipMachine):
            made.save(HERE / folder, np.float16)
        else:
            made.save(HERE / folder)
        index.append({
            "folder": folder, "machine": machine, "family": family, "recipe": recipe, "split": split, "part": rows.job.key,
            "grid": made.grid if isinstance(made, SetMachine) else 0, "rows": len(rows),
            "cpu_seconds": trained.cpu_seconds, "command": "python benchmarks/ship_machines.py",
        })  # fmt: skip
        write_json(HERE / INDEX, index)
        print(folder, trained.cpu_seconds, trained.sizes, flush=True)


if __name__ == "__main__":
    main()
