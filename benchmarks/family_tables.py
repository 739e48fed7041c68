"""The tables of docs/results/README.md, one per family: published, ours, machine. Made from the JSON files beside it.

python benchmarks/family_tables.py            # writes them between the two marks in the README
python benchmarks/family_tables.py --print
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from lilgym_causes import BOTH
from machine_tables import PAPER_GSCAN, TESTS, begins_again_above, runs_of

from recombine.files import write_text
from recombine.models.tables_nacs import MAIN, TASKS
from recombine.models.tables_reascan import TOGETHER
from recombine.rl.table1 import COLUMNS, PAPER

HERE = Path(__file__).parent.parent / "docs" / "results"
README = HERE / "README.md"
BEGIN, END = "<!-- made by benchmarks/family_tables.py -->", "<!-- end -->"
NOTHING = "–"


def told(values: Sequence[float], seeds: bool = True) -> str:
    """The mean in percent, its deviation over seeds where there are several, and how many there are."""
    if not values:
        return NOTHING
    if len(values) == 1:
        return f"{values[0]:.1f}" + (" (1)" if seeds else "")
    return f"{mean(values):.1f} ± {stdev(values):.1f}" + (f" ({len(values)})" if seeds else "")


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines))


def read(pattern: str) -> list[dict[str, Any]]:
    """The files of these names, by name."""
    return [json.loads(path.read_text()) for path in sorted(HERE.glob(pattern))]


def scores(pattern: str, part: str = "test", path: Sequence[str] = ("score",)) -> list[float]:
    """A test score in percent of every run of this name that has it."""
    found = []
    for run in read(pattern):
        value: Any = run["tests"].get(part)
        for key in path:
            value = value[key] if value is not None else None
        if value is not None:
            found.append(100 * float(value))
    return found


def sequences() -> str:
    """SCAN and NACS."""
    lines = []
    published = {family: dict(zip(TASKS, MAIN[family]["gru-attn"].split(), strict=True)) for family in ("scan", "nacs")}
    runs = [run for run in runs_of("sequence") if not run["settings"]]
    for split in dict.fromkeys([*TASKS, *(run["split"] for run in runs if not re.search(r"_(num|p)\d", run["split"]))]):
        cells = [split]
        for family in ("scan", "nacs"):
            longer = scores(f"{family}-{split}-gru-attn-75-epochs-seed*.json")
            ours = longer or scores(f"{family}-{split}-gru-attn-day-seed*.json")
            own = [run[family] for run in runs if run["split"] == split]
            cells += [published[family].get(split, NOTHING).replace("±", " ± "), told(ours), told(own)]
        lines.append(cells)
    return table(
        [
            "split",
            "SCAN: GRU +Attn, published",
            "ours",
            "sequence machine",
            "NACS: GRU +Attn, published",
            "ours",
            "sequence machine",
        ],
        lines,
    )


def _set_machine(family: str, recipe: str, test: str, settings: dict[str, Any], what: str = "exact", grid: int = 6) -> str:
    job = f"{family}/{recipe}/{grid}"
    runs = [run for run in runs_of("set") if run["job"] == job and run["settings"] == settings]
    rule = min((begins_again_above(run) for run in runs), default=None)  # the newest rule has seeds of its own
    return told([run[what][test] for run in runs if begins_again_above(run) == rule])


def gscan() -> str:
    """gSCAN, A to H."""
    lines = []
    for letter, test in zip("ABCDEFGH", TESTS["gscan"], strict=True):
        machines = [
            _set_machine("gscan", recipe, test, with_) for with_ in ({}, {"actor": "rules"}) for recipe in ("release", "sound")
        ]
        lines.append([f"{letter}: {test}", f"{PAPER_GSCAN[test]:.1f}", NOTHING, *machines])
    heads = ["part", "multimodal LSTM, published", "ours"]
    return table(
        [*heads, *(f"set machine, {actor}, {recipe}" for actor in ("perceptron", "rules") for recipe in ("release", "sound"))],
        lines,
    )


OURS_REASCAN = {
    "M-LSTM, ours, 0.5 M visits": "mlstm-hour",
    "GCN-LSTM, ours, 3.2 M visits": "gcn-lstm-day",
    "the same with target loss": "gcn-lstm-target_weight-0.3-day",
    "small Transformer, 3.2 M visits": "grounded-transformer-day",
    "small Transformer with target loss": "grounded-transformer-target_weight-0.3-day",
}
"""Column -> the middle of the files' names; a column without a file is left out."""


LONGER: dict[str, Any] = {"rows": 1_200_000}
"""On grids of 12 the set machine visits three times as many rows."""


def reascan() -> str:
    """ReaSCAN: the parts of its Table 3."""
    lines = []
    ours = {head: f"reascan-all-release-{run}-seed*.json" for head, run in OURS_REASCAN.items()}
    ours = {head: pattern for head, pattern in ours.items() if read(pattern)}
    for (name, (part, measure, _, mlstm, gcn)), test in zip(TOGETHER.items(), _reascan_tests(), strict=True):
        path = measure.split(".")
        trained = [told(scores(pattern, part, path), False) for pattern in ours.values()]
        machine = [_set_machine("reascan", recipe, test, {}) for recipe in ("release", "sound")]
        machine += [_set_machine("reascan", recipe, test, LONGER, grid=12) for recipe in ("release", "sound")]
        lines.append([name, *(paper.replace("±", " ± ") for paper in (mlstm, gcn)), *trained, *machine])
    heads = ["part", "M-LSTM, published", "GCN-LSTM, published", *ours]
    return table([*heads, "set machine, release", "sound", "release, grid 12", "sound, grid 12"], lines)


def _reascan_tests() -> tuple[str, ...]:
    """The set machine's names of the parts, in the order of `TOGETHER`."""
    first, *rest = TESTS["reascan"]
    return (*rest[:3], first, *rest[3:])


def clutrr() -> str:
    """CLUTRR, trained on k = 2, 3."""
    lines = []
    machine = [run for run in runs_of("kinship") if run["job"] == "sound/generalization_23"]
    for k in range(2, 11):
        part = f"test_k{k}"
        ours = [told(scores(f"clutrr-generalization_23-release-*fresh-{model}-day-seed*.json", part)) for model in (
            "bilstm-attention", "gat", "edge-composition",
        )]  # fmt: skip
        own = [
            told([run["tests"][part]["accuracy"] for run in machine if run["options"]["style"] == style])
            for style in ("plain", "rich")
        ]
        people = [run["tests"][part]["accuracy"] for run in runs_of("kinship") if run["job"].startswith("released")]
        lines.append([f"k = {k}", "plot only", *ours, *own, told(people)])
    return table(
        ["", "published", "BiLSTM-attention, ours", "GAT, ours (reads the graph)", "edge composition (reads the graph)",
         "kinship machine, plain text", "rich text", "released stories by people"], lines,
    )  # fmt: skip


def lilgym() -> str:
    """lilGym: dev accuracy."""
    lines = []
    causes = json.loads((HERE / "lilgym-causes.json").read_text())["groups"] if (HERE / "lilgym-causes.json").is_file() else {}
    for place, (name, env) in enumerate(COLUMNS.items()):
        kind, start = name.lower().split("-")
        published = [f"{PAPER[algorithm, 'C+BERT'][place][0]:.1f}" for algorithm in ("PPO", "PPO+SF")]
        ours = [_trained(f"lilgym-{kind}-{start}-official-{label}.json", causes, env, label) for label in ("ppo", "sf")]
        both = [r for g in causes.values() if g["env"] == env for r in g["records"] if r["change"] == BOTH]
        most = max((r["settings"]["steps"] for r in both), default=0)
        best = told([100 * r["tests"]["dev"] for r in both if r["settings"]["steps"] == most])
        small = told(
            [100 * r["tests"]["dev"] for r in causes.get("cbert", {}).get("records", []) if causes["cbert"]["env"] == env]
        )
        machine = [
            told([run["tests"][start]["accuracy"] for run in runs_of("scene")
                  if run["job"] == f"official/{kind}" and run["cleaned"] and bool(run.get("labels")) == labels])
            for labels in (False, True)
        ]  # fmt: skip
        lines.append([name, *published, *ours, best, small, *machine])
    return table(
        ["dev", "PPO, C+BERT, published", "PPO+SF", "PPO, set policy, ours", "PPO+SF, set policy, ours",
         "the same with MiniLM and stops that keep an advantage", "PPO+SF, C+BERT with MiniLM, ours",
         "scene machine from programs", "from labelled scenes"], lines,
    )  # fmt: skip


def _trained(pattern: str, causes: dict[str, Any], env: str, label: str) -> str:
    """The dev accuracy of a run of its own, or of the runs with stop forcing in `lilgym-causes.json` (FLIPIT)."""
    own = [100 * run["test"]["tests"]["dev"]["accuracy"] for run in read(pattern)]
    if own or label != "sf" or "FlipIt" not in env:
        return told(own)
    found = [100 * record["tests"]["dev"] for group in causes.values() if group["env"] == env for record in group["records"]]
    return told(found) + (" our statements" if found else "")


FAMILIES: dict[str, tuple[str, Callable[[], str]]] = {
    "SCAN and NACS": ("Ours: the paper's settings (`recombine reproduce nacs-table1 --scale day`). In brackets: seeds.", sequences),
    "gSCAN": ("No published model was trained here on gSCAN.", gscan),
    "ReaSCAN": (
        ("Ours saw less than the papers' models: 54 million rows are visited by the published GCN-LSTM, 400 million by M-LSTM. The published columns "
        "of the first four rows come from tests that overlap with training."),
        reascan,
    ),
    "CLUTRR": ("Trained on k = 2 and 3. Ours read the `release` stories or graphs (`recombine reproduce clutrr-figure5 --scale day`), the machine `sound`, and in the last column 1,500 released stories by people.", clutrr),
    "lilGym": (
        ("Accuracy on the published dev statements in percent, SCRATCH and FLIPIT. The set policy sees symbols; the machine is told more than rewards, "
        "and its training has no dev statement."),
        lilgym,
    ),
}  # fmt: skip


def made() -> str:
    """All tables."""
    return "\n\n".join(f"### {name}\n\n{said}\n\n{make()}" for name, (said, make) in FAMILIES.items())


def main() -> None:
    """Print the tables, or put them into the README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="only_print")
    if parser.parse_args().only_print:
        print(made())
        return
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    write_text(README, f"{before}{BEGIN}\n\n{made()}\n\n{END}{after}")


if __name__ == "__main__":
    main()
