"""Train and test the sequence machine on the splits of SCAN and NACS: `docs/results/machine-sequence.json`.

One record per split and seed; a record that is there already is not made again, so a killed run goes on.

  python benchmarks/sequence_machine_results.py --out docs/results/machine-sequence.json --seeds 5 [--splits length,…] [--files MCD]
  python benchmarks/sequence_machine_results.py --splits sampled --seeds 5     # few-shot, fillers, added jumps, shares of the commands

A split that is one of five samples (`fewshot_num8_rep3`) runs once, with the seed of its place: the five are five seeds of one row.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from recombine.data.datasets import load
from recombine.families import family as find_family
from recombine.files import read_json, write_json
from recombine.models.machines import train_machine
from recombine.models.parts import scores
from recombine.models.sequence_machine import SequenceMachine

SPLITS = (
    "length", "addprim_jump", "template_around_right", "simple", "addprim_turn_left", "template_jump_around_right", "template_right",
    "template_opposite_right",
)  # fmt: skip


SAMPLED = "sampled"
"""Stands for all splits with a number in their name."""


def splits_of(words: str) -> list[str]:
    """The splits that `--splits` asks for."""
    return (
        [name for name in find_family("scan").SPLITS if re.search(r"_(num|p)\d", name)]
        if words == SAMPLED
        else words.split(",")
    )


def runs_with(split: str, seed: int) -> bool:
    """Whether a split has a run of this seed: `…_rep3` has that of seed 2 alone."""
    place = re.search(r"_rep(\d+)$", split)
    return place is None or int(place[1]) == seed + 1


def run(split: str, seed: int, files: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Learn from `fit` (a sampled split's rows are drawn by the seed too), answer all test rows of both families."""
    options: dict[str, Any] = {"files": files} if split.startswith("mcd") else {}
    with tempfile.TemporaryDirectory() as folder:
        rows = load("scan", split, "fit", seed=seed, **options)
        machine, trained = train_machine("sequence-machine", settings, rows, Path(folder), seed, lambda _line: None)
    record: dict[str, Any] = {
        "split": split, "seed": seed, "settings": settings, "rows": len(rows), "cpu_seconds": trained.cpu_seconds,
        **trained.sizes, "training_commands_wrong": trained.figures["training_commands_wrong"],
    }  # fmt: skip
    for family in ("scan", "nacs"):
        examples = list(load(family, split, "test", seed=seed, **options))
        clock = time.process_time()
        answers = machine.answers(examples)
        record[f"{family}_cpu_seconds"] = round(time.process_time() - clock, 2)
        verdicts = scores(examples, answers)
        record[f"{family}_rows"], record[f"{family}_right"] = len(verdicts), int(sum(verdicts))
        record[family] = round(100 * sum(verdicts) / len(verdicts), 2)
    return record


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/results/machine-sequence.json")
    parser.add_argument("--splits", default=",".join(SPLITS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--files", default="")
    parser.add_argument("--with", dest="settings", default="{}", help="settings as JSON, for ablations")
    arguments = parser.parse_args()
    out, settings = Path(arguments.out), json.loads(arguments.settings)
    found: dict[str, Any] = read_json(out) if out.is_file() else {
        "machine": SequenceMachine.NAME,
        "built_in": list(SequenceMachine.BUILT_IN),
        "learnt": list(SequenceMachine.LEARNT),
        "command": "python benchmarks/sequence_machine_results.py",
        "runs": [],
    }  # fmt: skip
    for seed in range(arguments.seeds):
        for split in splits_of(arguments.splits):
            if not runs_with(split, seed) or any(
                (r["split"], r["seed"], r["settings"]) == (split, seed, settings) for r in found["runs"]
            ):
                continue
            found["runs"].append(run(split, seed, arguments.files, settings))
            write_json(out, found)
            print(json.dumps(found["runs"][-1]), flush=True)


if __name__ == "__main__":
    main()
