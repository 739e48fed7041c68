"""GRU +Attn over SCAN splits of growing compound divergence: `docs/results/divergence-scan.json`.

    python benchmarks/divergence_results.py [--out FILE] [--runs FOLDER] [--epochs 40] [--seed 0]

Five splits with equal numbers of rows are searched for, each with atom divergence at most 0.02. The same model is trained on each with the same
number of epochs. The file has one record per split, and the rank and linear correlation of accuracy with compound divergence. A killed run goes on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.core import Example
from recombine.data.datasets import Dataset
from recombine.data.mcd import make_mcd_plan
from recombine.files import read_json, write_json
from recombine.models.batching import permutation
from recombine.models.experiments import Experiment, Scale, run
from recombine.models.train import mean_score

TARGETS = (0.1, 0.25, 0.4, 0.55, 0.7)
"""The wanted compound divergences."""
ROWS = (3_300, 500)
"""Rows for training and validation together, and for the test."""
VALIDATION_ROWS = 300
MODEL = "gru-attn"
SETTINGS: Mapping[str, Any] = {"units": 128}
TRAINING: Mapping[str, Any] = {"optimizer": "adam", "rate": 0.001, "decay": 1.0}


@dataclass(frozen=True)
class Chosen:
    """The rows of one split, as an experiment reads them: part of the training rows serves for validation."""

    target: float
    fit: str = "fit"
    validation: str = "validation"
    tests: tuple[str, ...] = ("test",)

    @cached_property
    def found(self) -> tuple[Any, Any]:
        """The plan and the divergences of the split."""
        return make_mcd_plan("scan", self.target, sizes=ROWS)

    def name(self) -> str:
        """The rows as part of a folder's name."""
        return f"scan-divergence-{self.target:g}"

    def load(self, part: str, rows: int, seed: int) -> list[Example]:  # noqa: ARG002 - every run sees all rows
        """The rows of a part; the validation rows are drawn by name, alike for every seed."""
        from recombine.families import family

        train, test = self.found[0].parts
        if part == "test":
            return list(Dataset(family("scan"), test))
        every = list(Dataset(family("scan"), train))
        order = permutation(len(every), "held back", self.name(), 0).tolist()
        kept = order[:VALIDATION_ROWS] if part == "validation" else order[VALIDATION_ROWS:]
        return [every[row] for row in kept]

    def metric(self, examples: Sequence[Example], answers: Sequence[str]) -> float:
        """The mean of the family's own scores."""
        return mean_score(examples, answers)

    def measures(self, examples: Sequence[Example], answers: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002
        """Nothing besides the mean score."""
        return {}

    def is_measured(self, record: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """There is nothing else to measure."""
        return True


def actions(source: Chosen, part: str) -> float:
    """The mean number of actions of a part's answers: longer ones are harder whatever the divergence."""
    return round(float(np.mean([len(str(one.answer).split()) for one in source.load(part, 0, 0)])), 2)


def correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """The linear correlation, and that of the ranks (equal values share their mean rank)."""

    def ranks(values: Sequence[float]) -> list[float]:
        return [sum(v < value for v in values) + (sum(v == value for v in values) - 1) / 2 for value in values]

    if len(set(x)) < 2 or len(set(y)) < 2:
        return {}
    return {
        "pearson": round(float(np.corrcoef(x, y)[0, 1]), 4),
        "spearman": round(float(np.corrcoef(ranks(x), ranks(y))[0, 1]), 4),
    }


def main() -> None:
    """Train what is not trained yet; write the file after every split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/results/divergence-scan.json")
    parser.add_argument("--runs", default="runs/divergence")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    out = Path(arguments.out)
    scale = Scale("small", 1, arguments.epochs, 0, changes=SETTINGS, training=TRAINING)
    document: dict[str, Any] = read_json(out) if out.is_file() else {
        "command": f"python benchmarks/divergence_results.py --epochs {arguments.epochs}",
        "model": MODEL, "scale": scale.sentence(), "splits": [],
    }  # fmt: skip
    for target in TARGETS:
        if any((one["wanted"], one["seed"]) == (target, arguments.seed) for one in document["splits"]):
            continue
        source = Chosen(target)
        choice = source.found[1]
        found = run(Experiment(source, MODEL, scale, arguments.seed), Path(arguments.runs))
        record = {
            "wanted": target, "seed": arguments.seed, "atom_divergence": round(choice.atoms, 4),
            "compound_divergence": round(choice.compounds, 4), "mean_actions": {part: actions(source, part) for part in ("fit", "test")},
            "fit_rows": found["fit_rows"], "fingerprint": found["fingerprint"],
            "validation": found["validation"], "best_epoch": found["best_epoch"], "epochs": found["epochs"], "stopped": found["stopped"],
            "test": found["tests"]["test"], "train_cpu_seconds": found["train_cpu_seconds"], "finished": found["finished"],
        }  # fmt: skip
        document["splits"].append(record)
        far = [float(one["compound_divergence"]) for one in document["splits"]]
        right = [float(one["test"]["score"]) for one in document["splits"]]
        document["correlation"] = correlations(far, right)
        write_json(out, document)
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
