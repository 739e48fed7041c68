"""Run what a published table needs, over the cores, and put our mean ± deviation beside the paper's.

What stands after ± is what the table's paper prints: the deviation of the sample of runs, that of the whole population (NACS: eight
items in three runs can give 5.9 only so), or the standard error of the mean (CLUTRR).
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recombine.charts import Point, curves
from recombine.errors import UnknownName, UsageError, shown
from recombine.files import write_json, write_text
from recombine.models.cells import Cell, Spread, Table
from recombine.models.experiments import TEST, Experiment, Scale, Source, find_scale, run
from recombine.models.tables import TABLES
from recombine.processes import spread

BERT = "bert-base-uncased"
AFTER: dict[str, str] = {
    "deviation": "the sample's standard deviation over runs", "population": "the population's standard deviation over runs",
    "error": "the standard error of the mean over runs",
}  # fmt: skip


@dataclass(frozen=True)
class Wish:
    """Which table, at which scale, and how: 0 workers is one per core, 0 seeds is the scale's own number."""

    table: str
    scale: str = "smoke"
    workers: int = 0
    seeds: int = 0
    only: tuple[str, ...] = ()
    files: str = ""
    templates: str = ""

    @property
    def command(self) -> str:
        """The command line that asks for this."""
        words = ["recombine reproduce", self.table, "--scale", self.scale]
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        words += [f"--only '{text}'" for text in self.only]
        words += ["--files FOLDER"] if self.files else []
        words += ["--templates FILE"] if self.templates else []
        return " ".join(words)


@dataclass(frozen=True)
class Report:
    """A finished table, ready to print."""

    title: str
    scale: str
    header: list[str]
    rows: list[list[str]]
    json_path: Path
    markdown_path: Path


def reproduce(wish: Wish, out: Path) -> Report:
    """Run every wanted cell that is not finished yet; write all finished ones into `out` as `TABLE-SCALE.json` and `.md`."""
    if wish.table not in TABLES:
        raise UnknownName("table", wish.table, TABLES)
    table = TABLES[wish.table]
    scale = find_scale(wish.scale, table.scales)
    if wish.seeds:
        scale = replace(scale, seeds=wish.seeds)
    every, notes = _prepared(table, wish)
    if not any(cell.source and _is_wanted(cell, wish.only) for cell in every):
        raise UsageError(f"no cell of {wish.table} has {shown(' or '.join(wish.only))} in its name.")
    wanted = {e.name: e for cell in every if cell.source and _is_wanted(cell, wish.only) for e in _seeds(cell, scale)}
    started = time.monotonic()
    results = _run_all(list(wanted.values()), out / "runs", wish.workers)
    cells = [cell for cell in every if _is_wanted(cell, wish.only) or _is_done(cell, scale, out / "runs")]
    experiments = {e.name: e for cell in cells if cell.source for e in _seeds(cell, scale)}
    results |= {name: run(e, out / "runs") for name, e in experiments.items() if name not in results}
    records = [_record(cell, scale, results, table.spread) for cell in cells]
    records += _average(every, records) if table.average else []
    stem = f"{wish.table}-{scale.name}"
    document = {
        "table": wish.table,
        "title": table.title,
        "command": wish.command,
        "scale": scale.sentence(),
        "spread": table.spread,
        "notes": notes,
        "wall_seconds": round(time.monotonic() - started, 1),
        "train_cpu_seconds": round(sum(r["train_cpu_seconds"] for r in results.values()), 1),
        "cells": records,
        "runs": [results[name] for name in experiments],
    }
    header, rows = grid(records)
    report = Report(table.title, document["scale"], header, rows, out / f"{stem}.json", out / f"{stem}.md")
    write_json(report.json_path, document)
    write_text(report.markdown_path, markdown(document, header, rows))
    if table.across:
        write_text(out / f"{stem}.svg", plot(table.title, table.across, records))
    return report


def _prepared(table: Table, wish: Wish) -> tuple[list[Cell], list[str]]:
    """The cells that can be run here, with the user's templates, and what there is to say about them."""
    every, notes = list(table.cells(wish.files)), [note] if (note := table.note(wish.files)) else []
    if wish.files and not notes:
        raise UsageError(f"{wish.table} has no use for --files: leave it out.")
    if wish.templates:
        every = [_with_templates(cell, wish) for cell in every]
        notes.append("stories worded with the user's template file")
    lacking = {
        str(cell.config.get("encoder", BERT)) for cell in every if "encoder" in cell.model and _is_wanted(cell, wish.only)
    }
    lacking = {name for name in lacking if not _has_encoder(name)}
    left_out = [cell for cell in every if "encoder" in cell.model and str(cell.config.get("encoder", BERT)) in lacking]
    if left_out and len(left_out) < len(every):
        columns = ", ".join(dict.fromkeys(cell.column for cell in left_out))
        named = columns if not table.across else ", ".join(dict.fromkeys(cell.row for cell in left_out))
        notes.append(f"left out, because no encoder was found ({', '.join(sorted(lacking))}; give one with --files): {named}")
        every = [cell for cell in every if cell not in left_out]
    return every, notes


def _has_encoder(name: str) -> bool:
    from recombine.models.frozen_encoder import is_there

    return is_there(name)


def _with_templates(cell: Cell, wish: Wish) -> Cell:
    """The same cell with stories worded by the user's templates; simple language has no templates."""
    if not isinstance(cell.source, Source) or cell.source.family != "clutrr":
        raise UsageError(f"--templates words CLUTRR stories; {wish.table} has none.")
    if cell.source.options.get("language") == "simple":
        return cell
    return replace(cell, source=replace(cell.source, options={**cell.source.options, "templates": wish.templates}))


def _average(every: Sequence[Cell], records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row with each column's mean: of the paper's printed values, and of ours where the whole column was run."""
    found = []
    for column in dict.fromkeys(record["column"] for record in records):
        papers = [cell.paper[0] for cell in every if cell.column == column and cell.paper is not None]
        ours = [r["mean"] for r in records if r["column"] == column and "mean" in r]
        whole = len(ours) == sum(cell.column == column for cell in every)
        record: dict[str, Any] = {"row": "Average", "column": column, "paper": None, "seeds": []}
        record["paper"] = (sum(papers) / len(papers), None) if papers else None
        if whole and ours:
            record |= {"seeds": [sum(ours) / len(ours)], "mean": sum(ours) / len(ours), "deviation": 0.0}
        found.append(record)
    return found


def plot(title: str, across: str, records: Sequence[Mapping[str, Any]]) -> str:
    """The table as curves: one line for each row, columns such as `k = 4` as the axis. A cell of one run has no deviation."""
    series: dict[str, list[Point]] = {}
    is_spread = any(len(r["seeds"]) > 1 for r in records)
    for r in records:
        if "mean" in r:
            at, mean, spread = float(r["column"].rpartition(" ")[2]), r["mean"] / 100, r["deviation"] / 100
            known = len(r["seeds"]) > 1 or not is_spread
            ends = (max(0.0, mean - spread), min(1.0, mean + spread)) if known else (None, None)
            series.setdefault(r["row"], []).append((at, mean, *ends))
    return curves(title, series, across=across, width=640, height=380)


def _is_wanted(cell: Cell, only: Sequence[str]) -> bool:
    name = f"{cell.row} | {cell.column}".lower()
    return not only or (cell.source is not None and any(text.lower() in name for text in only))


def _is_done(cell: Cell, scale: Scale, runs: Path) -> bool:
    """Whether earlier calls finished all runs of a cell: such cells are shown even when not asked for."""
    return cell.source is not None and all((runs / e.name / TEST).is_file() for e in _seeds(cell, scale))


def _seeds(cell: Cell, scale: Scale) -> Iterable[Experiment]:
    return (cell.experiment(scale, seed) for seed in range(scale.seeds))


def _run_all(experiments: Sequence[Experiment], runs: Path, workers: int) -> dict[str, dict[str, Any]]:
    """Each experiment's outcome, by name; several processes with one thread each, taken from one queue."""
    found: dict[str, dict[str, Any]] = {}
    for name, outcome in spread(run, {e.name: (e, runs) for e in experiments}, workers):
        found[name] = outcome
        _tell(found, len(experiments), name)
    return found


def _tell(found: Mapping[str, Mapping[str, Any]], count: int, name: str) -> None:
    """A line of progress for a finished run."""
    tests = ", ".join(f"{part} {100 * measured['score']:.1f} %" for part, measured in found[name]["tests"].items())
    epochs = found[name]["epochs"]
    logging.getLogger("recombine").info("%d/%d %s: %d epochs; %s", len(found), count, name, epochs, tests)


def _record(cell: Cell, scale: Scale, results: Mapping[str, Mapping[str, Any]], spread: Spread) -> dict[str, Any]:
    """A cell's numbers in percent: ours, one per seed; their mean and deviation; the paper's; whether ours differ from the paper's."""
    record: dict[str, Any] = {"row": cell.row, "column": cell.column, "paper": cell.paper, "seeds": []}
    if cell.source is None:
        return record
    record["seeds"] = [100 * _measured(results[e.name]["tests"][cell.part], cell.measure) for e in _seeds(cell, scale)]
    record["runs"] = [e.name for e in _seeds(cell, scale)]
    record["mean"] = statistics.fmean(record["seeds"])
    record["deviation"] = spread_of(record["seeds"], spread)
    if cell.paper is not None:
        apart = abs(record["mean"] - cell.paper[0])
        record["differs"] = apart > max(0.5, (cell.paper[1] or 0.0) + record["deviation"])
    return record


def spread_of(values: Sequence[float], kind: Spread) -> float:
    """The figure after ± for these runs; 0 for a single run."""
    if len(values) < 2:
        return 0.0
    if kind == "population":
        return statistics.pstdev(values)
    return statistics.stdev(values) / (len(values) ** 0.5 if kind == "error" else 1.0)


def _measured(found: Mapping[str, Any], path: str) -> float:
    """A number of a run's test; 0 where a small scale's sample has no row of the kind."""
    value: Any = found
    for name in path.split("."):
        value = value.get(name, {})
    return float(value) if value != {} else 0.0


def grid(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The table as text: each place holds ours, a stroke, and the paper's."""
    columns = list(dict.fromkeys(r["column"] for r in records))
    rows = list(dict.fromkeys(r["row"] for r in records))
    places = {(r["row"], r["column"]): _place(r) for r in records}
    return ["ours | paper", *columns], [[row, *(places.get((row, column), "") for column in columns)] for row in rows]


def _place(record: Mapping[str, Any]) -> str:
    paper = record["paper"]
    theirs = "–" if paper is None else f"{paper[0]:.1f} ± {paper[1]:.1f}" if paper[1] is not None else f"{paper[0]:.1f}"
    if not record["seeds"]:
        return f"– | {theirs}"
    spread = f" ± {record['deviation']:.1f}" if len(record["seeds"]) > 1 else ""
    return f"{record['mean']:.1f}{spread} | {theirs}"


def markdown(document: Mapping[str, Any], header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The report for people."""
    lines = [
        f"# {document['title']}", "", "Each place: ours | the paper's.", "",
        "| " + " | ".join(["ours / paper", *header[1:]]) + " |", "|" + "---|" * len(header),
        *("| " + " | ".join(cell.replace(" | ", " / ") for cell in row) + " |" for row in rows), "",
        f"- scale: {document['scale']}",
        *([f"- after ±: {AFTER[document['spread']]}"] if "spread" in document else []),
        *(f"- {note}" for note in document.get("notes", ())),
        f"- command: `{document['command']}`",
        f"- time: {document['wall_seconds']:,.0f} s wall in the last call, {document['train_cpu_seconds']:,.0f} s of one core in training",
    ]  # fmt: skip
    apart = [r for r in document["cells"] if r.get("differs")]
    if apart:
        lines += ["", "Further from the paper than both deviations together:", ""]
        lines += [f"- {r['row']}, {r['column']}: {r['mean']:.1f} against {r['paper'][0]:.1f}" for r in apart]
    return "\n".join(lines) + "\n"
