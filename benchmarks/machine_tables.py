"""Print the machines' results as Markdown tables, from the JSON files in docs/results.

python benchmarks/machine_tables.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

HERE = Path(__file__).parent.parent / "docs" / "results"
PAPER_SEQUENCE = {
    "simple": ("100.0", "99.8"),
    "length": ("18.1", "17.2"),
    "addprim_turn_left": ("59.1", "55.9"),
    "addprim_jump": ("12.5", "0.0"),
}
"""GRU with attention in the NACS paper: SCAN, NACS."""
PAPER_REASCAN = ["99.0", "99.7", "99.1", "98.6", "92.3", "42.1", "87.5", "69.7", "52.8", "57.0", "22.1"]
"""GCN-LSTM in the ReaSCAN paper: all, simple, one clause, two clauses, A1 … C2."""


def span(values: Sequence[float]) -> str:
    """The mean, and the least value where they differ."""
    return f"{mean(values):.1f}" + (f" (least {min(values):.1f})" if max(values) - min(values) >= 0.05 else "")


def runs_of(name: str) -> list[dict[str, Any]]:
    """The runs in a file; none if there is no file."""
    path = HERE / f"machine-{name}.json"
    return json.loads(path.read_text())["runs"] if path.is_file() else []


def sequence() -> None:
    """One line per split."""
    print("| split | seeds | SCAN | NACS | GRU +Attn in the paper | CPU-s to learn | slots |\n|---|---|---|---|---|---|---|")
    runs = [run for run in runs_of("sequence") if not run["settings"]]
    for split in dict.fromkeys(run["split"] for run in runs):
        these = [run for run in runs if run["split"] == split]
        paper = " / ".join(PAPER_SEQUENCE.get(split, ("–",)))
        cpu = f"{min(r['cpu_seconds'] for r in these):.0f}–{max(r['cpu_seconds'] for r in these):.0f}"
        scores = " | ".join(span([run[family] for run in these]) for family in ("scan", "nacs"))
        print(f"| {split} | {len(these)} | {scores} | {paper} | {cpu} | {max(r['slots'] for r in these)} |")


def sets() -> None:
    """One table per family: exact match, and target found."""
    runs = [run for run in runs_of("set") if not run["settings"]]
    for family in ("reascan", "gscan"):
        these = [run for run in runs if run["job"].startswith(family)]
        if not these:
            continue
        tests = list(these[0]["exact"])
        print(f"\n| {family} | seeds | {' | '.join(tests)} | CPU-s |\n|{'---|' * (len(tests) + 3)}")
        if family == "reascan":
            print(f"| paper, GCN-LSTM | | {' | '.join(PAPER_REASCAN)} | |")
        for job in dict.fromkeys(run["job"] for run in these):
            own = [run for run in these if run["job"] == job]
            cpu = f"{mean(run['cpu_seconds'] for run in own):.0f}"
            for what in ("exact", "target"):
                cells = " | ".join(f"{mean(run[what][test] for run in own):.1f}" for test in tests)
                print(f"| {job.split('/', 1)[1]}, {what} | {len(own)} | {cells} | {cpu} |")


def kinship() -> None:
    """One line per job and seed."""
    runs = runs_of("kinship")
    for job in dict.fromkeys(run["job"] for run in runs):
        own = [run for run in runs if run["job"] == job]
        tests = list(own[0]["tests"])
        print(f"\n| {job}, from text | {' | '.join(tests)} | CPU-s |\n|{'---|' * (len(tests) + 2)}")
        for run in own:
            print(
                f"| seed {run['seed']} | {' | '.join(str(run['tests'][t]['accuracy']) for t in tests)} | {run['cpu_seconds']:.0f} |"
            )


def lexicon() -> None:
    """The lexicon of the first ReaSCAN run of each recipe."""
    runs = [run for run in runs_of("set") if run["job"].startswith("reascan") and not run["settings"]]
    for job in dict.fromkeys(run["job"] for run in runs):
        lines = next(run for run in runs if run["job"] == job)["lexicon"]
        print(f"\n{job}\n\n| word | does | p | means |\n|---|---|---|---|")
        for line in lines:
            if line[1] != "pass":
                print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    sequence()
    sets()
    kinship()
    lexicon()
