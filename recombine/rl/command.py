"""The command `recombine train ppo`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from recombine.errors import UsageError, shown
from recombine.models.base import changed
from recombine.models.progress import Progress
from recombine.rl.report import mistake_lines
from recombine.rl.tasks import Task
from recombine.rl.train import REPORT, Plan, plan_for, train

REFUSED = ("part", "seed", "recipe", "hold_out", "options", "size", "validation")
"""Words of `recombine train` that say which rows other models learn from."""


def plan_of(arguments: argparse.Namespace, changes: dict[str, object]) -> Plan:
    """The plan that the words ask for; `--data` is a folder of published files, absent for embedded statements."""
    if not arguments.env or not arguments.out:
        raise UsageError("train ppo needs --env (TowerScratch, …) and --out (the run's folder).")
    for name in REFUSED:
        if getattr(arguments, name):
            word = "--set" if name == "options" else "--" + name.replace("_", "-")
            raise UsageError(
                f"train ppo takes no {word}: its rows are --split, or --data with --with train_rows=N and test_rows=N."
            )
    files = arguments.data or ""
    if files and not Path(files).is_dir():
        raise UsageError(f"--data {shown(files)} is no folder of published lilGym files; leave it out for embedded statements.")
    sizes = {"train_rows", "test_rows"} & changes.keys()
    task = changed(Task(arguments.env, arguments.split, files), {name: changes[name] for name in sizes})
    return plan_for(arguments.policy, {n: v for n, v in changes.items() if n not in sizes}, task, arguments.run_seed)


def run_ppo(arguments: argparse.Namespace, changes: dict[str, object]) -> dict[str, Any]:
    """Train or go on, test, print the results with the error analysis, and return them."""
    plan, out = plan_of(arguments, changes), Path(arguments.out)
    settings = plan.settings
    periods = -(-settings.updates // settings.period)
    progress = Progress(periods, out if arguments.tensorboard else None, live=sys.stderr.isatty())
    try:
        found = train(plan, out, progress, arguments.device)
    finally:
        progress.close()
    write = sys.stdout.write
    write(
        f"{found['parameters']:,} parameters; {found['steps']:,} steps in {found['cpu_seconds']:,.0f} CPU-seconds; best validation accuracy {100 * found['best']:.2f} %\n"
    )
    for name, measured in found["tests"].items():
        write(f"{name}: accuracy {100 * measured['accuracy']:.2f} %, mean reward {measured['reward']:.3f}\n")
        for line in mistake_lines(measured):
            write(f"  {line}\n")
    write(f"report: {out / REPORT}\n")
    return {"run": str(out), **found, "report": str(out / REPORT)}
