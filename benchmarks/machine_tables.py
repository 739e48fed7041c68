"""Print the machines' results as Markdown tables, from the JSON files in docs/results.

python benchmarks/machine_tables.py
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from recombine.models.tables_nacs import EXTRAS, JUMPS, MAIN, TASKS

HERE = Path(__file__).parent.parent / "docs" / "results"
PAPER_SEQUENCE = {
    **{split: [MAIN[family]["gru-attn"].split()[i] for family in ("scan", "nacs")] for i, split in enumerate(TASKS)},
    **{
        f"nacs_jump_num{n}": [JUMPS[family]["gru-attn"].split()[i] for family in ("scan", "nacs")] for i, n in enumerate(EXTRAS)
    },
}
"""GRU with attention in the NACS paper: SCAN, NACS."""
FIRST_RULE = 0.1
"""A finder of the set machine with a higher training loss began again, before that bound was lowered."""
TESTS = {
    "reascan": ("all", "simple", "one_clause", "two_clauses", "a1", "a2", "a3", "b1", "b2", "c1", "c2"),
    "gscan": (
        "compositional", "visual_easier", "visual", "situational_1", "situational_2", "contextual", "adverb_1", "adverb_2",
    ),
}  # fmt: skip
"""In the papers' order; gSCAN's are A to H."""
PAPER_REASCAN = {
    "all": 99.0, "simple": 99.7, "one_clause": 99.1, "two_clauses": 98.6, "a1": 92.3, "a2": 42.1, "a3": 87.5, "b1": 69.7, "b2": 52.8,
    "c1": 57.0, "c2": 22.1,
}  # fmt: skip
PAPER_GSCAN = {
    "compositional": 97.69, "visual_easier": 54.96, "visual": 23.51, "situational_1": 0.0, "situational_2": 35.02, "contextual": 92.52,
    "adverb_1": 0.0, "adverb_2": 22.70,
}  # fmt: skip
PAPERS = {"reascan": ("paper, GCN-LSTM", PAPER_REASCAN), "gscan": ("paper, multimodal LSTM", PAPER_GSCAN)}
"""The papers' own models, exact match."""


def span(values: Sequence[float]) -> str:
    """The mean, and the least value where they differ."""
    return f"{mean(values):.1f}" + (f" (least {min(values):.1f})" if max(values) - min(values) >= 0.05 else "")


def runs_of(name: str) -> list[dict[str, Any]]:
    """The runs in a file; none if there is no file."""
    path = HERE / f"machine-{name}.json"
    return json.loads(path.read_text())["runs"] if path.is_file() else []


def kind_of(split: str) -> str:
    """A split's name without the number of its sample: five samples are one line."""
    return re.sub(r"_rep\d+$", "", split)


def in_order(kinds: Iterable[str]) -> list[str]:
    """Names in the order of their appearance; those that differ in a number only stand together, by that number."""
    stems = list(dict.fromkeys(re.sub(r"\d+$", "", kind) for kind in kinds))

    def place(kind: str) -> tuple[int, int]:
        stem = re.sub(r"\d+$", "", kind)
        return stems.index(stem), int(kind[len(stem) :] or 0)

    return sorted(dict.fromkeys(kinds), key=place)


def sequence() -> None:
    """One line per split."""
    print("| split | seeds | SCAN | NACS | GRU +Attn in the paper | CPU-s to learn | slots |\n|---|---|---|---|---|---|---|")
    runs = [run for run in runs_of("sequence") if not run["settings"]]
    for split in in_order([kind_of(run["split"]) for run in runs]):
        these = [run for run in runs if kind_of(run["split"]) == split]
        paper = " / ".join(value.split("±")[0] for value in PAPER_SEQUENCE.get(split, ("–",)))
        cpu = f"{min(r['cpu_seconds'] for r in these):.0f}–{max(r['cpu_seconds'] for r in these):.0f}"
        scores = " | ".join(span([run[family] for run in these]) for family in ("scan", "nacs"))
        print(f"| {split} | {len(these)} | {scores} | {paper} | {cpu} | {max(r['slots'] for r in these)} |")


def open_answers() -> None:
    """One line per split: how many test answers the training rows leave open, and through which words."""
    path = HERE / "identify-scan.json"
    if not path.is_file():
        return
    print("\n## What SCAN's training rows leave open (`python benchmarks/identify_splits.py`)\n")
    print(
        "| split | test answers open | words with another entry that fits training and changes a test (the cheapest one) |\n|---|---|---|"
    )
    for item in json.loads(path.read_text())["splits"]:
        words = [f"{word}: level {told['cheapest_level']:g}, {told['cheapest']}" for word, told in item["words"].items()]
        print(f"| {item['split']} | {item['open']:,} of {item['tests']:,} | {'; '.join(words) or 'none found'} |")


def begins_again_above(run: dict[str, Any]) -> float:
    """The training loss above which the finder of this run began again; the first runs had one start."""
    return float(run.get("stuck", FIRST_RULE if "starts" in run else math.inf))


def _named(run: dict[str, Any]) -> str:
    """Recipe, grid size, and settings that differ from the defaults; the finders of older runs of ReaSCAN began again less often."""
    settings = [f"{name} = {value}" for name, value in run["settings"].items()]
    rule = begins_again_above(run)
    again = {math.inf: ["one start"], FIRST_RULE: [f"begins again above {FIRST_RULE}"]}.get(rule, [])
    return ", ".join([run["job"].split("/", 1)[1], *settings, *(again if run["job"].startswith("reascan") else [])])


def sets() -> None:
    """One table per family: exact match, and target found."""
    runs = runs_of("set")
    for family in ("reascan", "gscan"):
        these = [run for run in runs if run["job"].startswith(family)]
        if not these:
            continue
        tests = TESTS[family]
        print(f"\n| {family} | seeds | {' | '.join(tests)} | CPU-s |\n|{'---|' * (len(tests) + 3)}")
        label, published = PAPERS[family]
        print(f"| {label} | | {' | '.join(f'{published[test]:.1f}' for test in tests)} | |")
        for named in dict.fromkeys(_named(run) for run in these):
            own = [run for run in these if _named(run) == named]
            cpu = f"{mean(run['cpu_seconds'] for run in own):.0f}"
            for what in ("exact", "target"):
                cells = " | ".join(f"{mean(run[what][test] for run in own):.1f}" for test in tests)
                print(f"| {named}, {what} | {len(own)} | {cells} | {cpu} |")


def kinship() -> None:
    """One line per job and seed."""
    runs = runs_of("kinship")
    for job in dict.fromkeys((run["job"], str(run["options"].get("style", "auto"))) for run in runs):
        own = [run for run in runs if (run["job"], str(run["options"].get("style", "auto"))) == job]
        tests = sorted(own[0]["tests"], key=lambda name: (len(name), name))
        print(f"\n| {job[0]}, style {job[1]}, from text | {' | '.join(tests)} | CPU-s |\n|{'---|' * (len(tests) + 2)}")
        for run in own:
            figures = " | ".join(str(run["tests"][t]["accuracy"]) for t in tests)
            print(f"| seed {run['seed']} | {figures} | {run['cpu_seconds']:.0f} |")
        if len(own) > 1:
            means = " | ".join(f"{mean(run['tests'][t]['accuracy'] for run in own):.1f}" for t in tests)
            print(f"| mean | {means} | {mean(run['cpu_seconds'] for run in own):.0f} |")


PAPER_SCENE = {"official/tower": "81.0", "official/scatter": "70.1"}
"""PPO+SF with C+BERT in the lilGym paper: SCRATCH dev, learnt from rewards alone."""


def _taught_by(run: dict[str, Any]) -> str:
    """What taught the machine, if not programs."""
    return f", **from {run['labels']} labelled scenes a statement, no programs**" if run.get("labels") else ""


def _rows_told(count: int) -> str:
    """The number of test rows, where it is not the heading's 200."""
    return "" if count == 200 else f" ({count} rows)"


def _over(tests: Sequence[dict[str, Any]], what: str) -> str:
    """A figure of these tests over the seeds that have it."""
    known = [test[what] for test in tests if what in test]
    return span(known) if known else "–"


def scenes() -> None:
    """One line per job: the published statements, then our splits."""
    runs = runs_of("scene")
    official = [run for run in runs if run["job"].startswith("official")]
    print(
        "\n| published statements, dev | seeds | training rows | SCRATCH | best reading right | statements not in train | FLIPIT (200 rows) | one fixed scene, SCRATCH | another statement's program, SCRATCH / FLIPIT "
        "| paper, PPO+SF from rewards | CPU-s |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for job, cleaned, taught_by in dict.fromkeys((run["job"], run["cleaned"], _taught_by(run)) for run in official):
        these = [run for run in official if (run["job"], run["cleaned"], _taught_by(run)) == (job, cleaned, taught_by)]
        first, cpu = these[0], mean(run["cpu_seconds"] for run in these)
        scratch, flipit = ([run["tests"][start] for run in these] for start in ("scratch", "flipit"))
        cells = [
            f"{job.split('/')[1]}, {'without dev statements' if cleaned else 'as published'}{taught_by}",
            str(len(these)), f"{first['rows']:,}", _over(scratch, "accuracy"), _over(scratch, "reading"),
            f"{_over(scratch, 'new_accuracy')} ({scratch[0]['new_rows']} rows)",
            _over(flipit, "accuracy") + _rows_told(flipit[0]["rows"]), _over(scratch, "fixed_scene"),
            f"{_over(scratch, 'other_statement')} / {_over(flipit, 'other_statement')}", PAPER_SCENE[job], f"{cpu:.0f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    own = [run for run in runs if run["job"].startswith("sound")]
    own.sort(key=lambda run: "scatter" in run["job"])
    print(
        "\n| our statements, FLIPIT, 200 rows | seeds | training rows | task solved | best reading right | another statement's program | CPU-s |\n|---|---|---|---|---|---|---|"
    )
    for job, taught_by in dict.fromkeys((run["job"], _taught_by(run)) for run in own):
        these = [run for run in own if (run["job"], _taught_by(run)) == (job, taught_by)]
        cells = [span([run["tests"]["test"][what] for run in these]) for what in ("accuracy", "reading")]
        cpu = f"{mean(run['cpu_seconds'] for run in these):.0f}"
        known = [run["tests"]["test"]["other_statement"] for run in these if "other_statement" in run["tests"]["test"]]
        chance = span(known) if known else "–"
        print(
            f"| {job.removeprefix('sound/')}{taught_by} | {len(these)} | {these[0]['rows']:,} | {' | '.join(cells)} | {chance} | {cpu} |"
        )


def ablations() -> None:
    """One line per setting: target found."""
    runs = runs_of("set-ablations")
    if not runs:
        return
    print("\n## Set machine: one thing taken away (small actor, 300 rows of each test, mean of the seeds)")
    tests = TESTS["reascan"]
    common = runs[0]["settings"]
    print(
        f"\n| {runs[0]['job']}, target found, {runs[0]['visits']:,} visits | seeds | {' | '.join(tests)} |\n|{'---|' * (len(tests) + 2)}"
    )
    for settings in {json.dumps(run["settings"], sort_keys=True): run["settings"] for run in runs}.values():
        own = [run for run in runs if run["settings"] == settings]
        changed = {name: value for name, value in settings.items() if common.get(name) != value}
        told = ", ".join(f"{name} = {value}" for name, value in changed.items()) or "whole"
        cells = (f"{mean(run['target'][test] for run in own):.1f}" for test in tests)
        print("| " + " | ".join([told, str(len(own)), *cells]) + " |")


def lexicon() -> None:
    """The lexicon of the set machine that comes with the package for ReaSCAN."""
    from recombine.models.shipped import shipped

    one = next(item for item in shipped() if (item.family, item.machine) == ("reascan", "set-machine"))
    print(f"\n{one.part}\n\n| word | does | p | means |\n|---|---|---|---|")
    for line in one.load().lines():
        if line[1] != "pass":
            print(f"| {' | '.join(line)} |")


HEAD = """# Results of machines

Made by `python benchmarks/machine_tables.py` from `machine-*.json`, which hold every run with its seed, CPU-seconds and sizes, what is built in
and what is learnt. A machine is not a reproduction of a published model; what is built in stands in [models.md](../models.md#machines).
Accuracies are percentages."""

if __name__ == "__main__":
    print(HEAD)
    print("\n## Sequence machine: SCAN and NACS, all test rows\n")
    sequence()
    open_answers()
    print("\n## Set machine: 1,000 rows of each test, generator seeds that were not used while it was designed")
    sets()
    ablations()
    print("\n## Kinship machine: CLUTRR from text, generator seeds that were not used while it was designed")
    kinship()
    print("\n## Scene machine: lilGym, learnt from statements and their programs, or from labelled scenes where a line says so")
    scenes()
    print("\n## What the words of the shipped set machine do (all other words pass)")
    lexicon()
