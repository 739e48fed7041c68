"""Files for a paper: the charts as SVG and PDF, the tables as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recombine import charts
from recombine.evaluate.contents import TABLES, accuracy_rows, dial_series, heat_chart, known_rows, mistake_maps, short
from recombine.evaluate.figures import Figure
from recombine.evaluate.gallery import slug
from recombine.evaluate.verdict import PLAIN, given_runs
from recombine.files import write_text, writing
from recombine.signature import signed

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def figures(found: Mapping[str, Any]) -> list[Figure]:
    """Every chart of the report."""
    drawn = [("accuracy", "Accuracy by set with 95 % intervals", charts.dots("Accuracy by set", accuracy_rows(found)))]
    if known := known_rows(found):
        title = "Accuracy on known and on new combinations"
        drawn.append(("known-and-new", title, charts.dots(title, known)))
    for family, dial, series, _ in dial_series(found):
        title = f"{family}: {dial.replace('_', ' ')}"
        drawn.append((f"dial-{family}-{slug(dial)}", title, charts.curves(title, series, across=dial.replace("_", " "))))
    for item in mistake_maps(found):
        drawn.append((f"mistakes-{item.family}", f"{item.family}: mistakes", heat_chart(item)))
    return [Figure(name, title, charts.standalone(svg)) for name, title, svg in drawn]


def write_figures(found: Mapping[str, Any], out: str | Path) -> list[Path]:
    """Write every chart as SVG and PDF and every table as CSV into a folder; returns the files."""
    written = []
    for figure in figures(found):
        for suffix, drawn in ((".svg", figure.svg.encode()), (".pdf", figure.pdf())):
            content = signed(drawn, suffix)
            written.append(Path(out) / f"{figure.name}{suffix}")
            with writing(written[-1]) as stream:
                stream.write(content)
    for name, make in TABLES.items():
        header, rows = make(found)
        if rows:
            written.append(Path(out) / f"{name}.csv")
            write_text(written[-1], _csv(header, rows))
    return written


def _csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """CSV text. A cell that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_inert(cell) for cell in header])
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return out.getvalue()


def _inert(cell: str) -> str:
    is_number = cell.replace("+", "", 1).replace("-", "", 1).replace(".", "", 1).isdecimal()
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not is_number else cell


def latex(found: Mapping[str, Any]) -> str:
    """The accuracies as a booktabs table: per cent ± half the interval, a dagger where the best run beats the second."""
    runs = given_runs(found)
    names = [*runs, *(name for name in PLAIN if any(name in part["runs"] for part in found["parts"].values()))]
    lines = [r"\begin{tabular}{l" + "r" * len(names) + "}", r"\toprule", _line(["set", *map(_escape, names)]), r"\midrule"]
    beaten = _beaten(found)
    for key, part in found["parts"].items():
        cells = [_cell(part["runs"].get(name), (key, name) in beaten) for name in names]
        lines.append(_line([_escape(short(key)), *cells]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    note = "% ± is half of the clustered 95 % interval. A dagger: better than every other run on this set, Holm p < 0.05."
    return "\n".join([note, *lines, ""])


def _beaten(found: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The sets and runs where a run is better than every other given run."""
    runs = given_runs(found)
    wins: dict[tuple[str, str], int] = {}
    for item in found["comparisons"]:
        if item["holm"] < 0.05:
            winner = item["a"] if item["difference"] > 0 else item["b"]
            wins[item["part"], winner] = wins.get((item["part"], winner), 0) + 1
    present = {key: sum(name in part["runs"] for name in runs) for key, part in found["parts"].items()}
    return {place for place, count in wins.items() if count == present[place[0]] - 1}


def _cell(run: Mapping[str, Any] | None, daggered: bool) -> str:
    if run is None:
        return "--"
    accuracy = run["accuracy"]
    text = f"{100 * accuracy['mean']:.1f}"
    if accuracy["low"] is not None:
        text += rf" $\pm$ {50 * (accuracy['high'] - accuracy['low']):.1f}"
    return text + (r"$^\dagger$" if daggered else "")


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escape(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)
