"""The contents of the report's charts and tables, computed from the findings. The page, the figures and the files show the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recombine import charts
from recombine.evaluate.answerers import SHORTCUT
from recombine.evaluate.verdict import PLAIN, given_runs

MOST_READERS = 8
"""Columns of a heat map."""
MOST_LINES = 6
"""Runs drawn in one small chart."""
Cell = tuple[str, str, str]
"""A set, a run and a reader."""
Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Header and rows."""


def short(key: str) -> str:
    """`scan/length` for `scan/length/test`."""
    return key.removesuffix("/test")


def drawn_runs(found: Mapping[str, Any]) -> list[str]:
    """The runs that charts show in colour: the given ones, or the simple baselines if there are none."""
    given = given_runs(found)
    return given or [n for n in PLAIN if any(n in part["runs"] for part in found["parts"].values())]


def accuracy_rows(found: Mapping[str, Any]) -> list[charts.DotRow]:
    """The dot chart's rows: a set with its runs as dots and its baselines as ticks."""
    runs = drawn_runs(found)
    rows = []
    for key, part in found["parts"].items():
        dots = [dot_of(runs.index(name), name, part["runs"][name]["accuracy"]) for name in runs if name in part["runs"]]
        ticks = [
            (name, run["accuracy"]["mean"])
            for name, run in part["runs"].items()
            if name in found["baselines"] and name not in runs and name != "oracle"
            if not (name.startswith(SHORTCUT) and run["accuracy"]["mean"] == 1)
        ]
        rows.append(charts.DotRow(short(key), dots, ticks))
    return rows


def dot_of(series: int, name: str, accuracy: Mapping[str, Any], *, hollow: bool = False) -> charts.Dot:
    return charts.Dot(series, name, accuracy["mean"], accuracy["low"], accuracy["high"], hollow)


def accuracy_table(found: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the given runs, their baselines, and the best shortcut reader, for each set."""
    given = given_runs(found)
    plain = [name for name in PLAIN if any(name in part["runs"] for part in found["parts"].values())]
    rows = []
    for key, part in found["parts"].items():
        runs = part["runs"]
        cells = [runs[name]["accuracy"]["text"] if name in runs else "—" for name in (*given, *plain)]
        readers = [(r["accuracy"]["mean"], n) for n, r in runs.items() if n.startswith(SHORTCUT) and r["accuracy"]["mean"] < 1]
        best = "{:.1%} {}".format(*max(readers)).replace(SHORTCUT, "") if readers else "—"
        size = next(iter(runs.values()))["accuracy"]
        effect = max(r["accuracy"]["design_effect"] for r in runs.values())
        rows.append([key, *cells, best, f"{size['rows']:,} in {size['clusters']:,}", f"{effect:.1f}"])
    return ["set", *given, *plain, "best shortcut reader", "rows in clusters", "design effect"], rows


def rule_table(found: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: for each set that a rule answered, every given run with its accuracy and the rule's length. Else no rows."""
    rows = []
    for key, part in found["parts"].items():
        if any(run["rule"] for run in part["runs"].values()):
            runs = [(name, part["runs"][name]) for name in given_runs(found) if name in part["runs"]]
            rows += [[key, name, run["accuracy"]["text"], run["rule"] or "no rule: each row by itself"] for name, run in runs]
    return ["set", "answerer", "accuracy", "length of the rule"], rows


def printed(value: Mapping[str, Any]) -> str:
    return f"{value['accuracy']:g}%" + (f" ± {value['deviation']:g}" if value["deviation"] is not None else "")


def dial_series(found: Mapping[str, Any]) -> list[tuple[str, str, dict[str, list[charts.Point]], Mapping[str, Any]]]:
    """Family, dial, the drawn runs' points, and the finding itself, for each small chart."""
    runs = drawn_runs(found)[:MOST_LINES]
    return [
        (item["family"], item["dial"], {name: points_of(item["runs"].get(name, {}).get("points", [])) for name in runs}, item)
        for item in found["dials"]
        if any(len(item["runs"].get(name, {}).get("points", [])) > 1 for name in runs)
    ]


def points_of(points: Sequence[Mapping[str, Any]]) -> list[charts.Point]:
    """The points of a curve, each with its interval, or with None where there are too few clusters for one."""
    return [(p["at"], p["mean"], p["low"], p["high"]) for p in points]


def known_rows(found: Mapping[str, Any]) -> list[charts.DotRow]:
    """A row for each run and held-out set: the known set as a hollow dot, the held-out one as a full dot."""
    runs = drawn_runs(found)
    rows = []
    for gap in found["gaps"]:
        name = gap["run"]
        if name in runs:
            known = found["parts"][gap["known"]]["runs"][name]["accuracy"]
            new = found["parts"][gap["held_out"]]["runs"][name]["accuracy"]
            label = short(gap["held_out"]) + (f" · {name}" if len(runs) > 1 else "")
            dots = [dot_of(runs.index(name), f"known: {gap['known']}", known, hollow=True)]
            dots.append(dot_of(runs.index(name), f"new: {gap['held_out']}", new))
            rows.append(charts.DotRow(label, dots, joined=True))
    return rows


def told_p(p: float) -> str:
    """A p-value to print. A very small one has a bound, because its digits mean nothing."""
    return "< 0.001" if p < 0.001 else f"{p:.3g}"


def comparison_table(found: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the comparisons by set."""
    rows = []
    for c in found["comparisons"]:
        few = f"too few clusters: {c['clusters']}"
        span = f"[{100 * c['low']:+.1f}, {100 * c['high']:+.1f}]" if c["low"] is not None else few
        told = "tied" if c["holm"] >= 0.05 else f"{c['a'] if c['difference'] > 0 else c['b']} is better"
        p = f"{told_p(c['decisive_p'])} ({c['decided_by']})"
        only = f"{c['only_a']} / {c['only_b']}"
        rows.append([c["part"], c["a"], c["b"], f"{100 * c['difference']:+.1f}", span, only, p, told_p(c["holm"]), told])
    return ["set", "a", "b", "a − b", "95 %", "only a / only b right", "p", "Holm p", "verdict"], rows


# --- mistakes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MistakeRow:
    """The named mistakes of one run on one set."""

    key: str
    run: str
    label: str
    named: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class MistakeMap:
    """The heat map of a family: rows are sets and runs, columns are the readers with the largest shares."""

    family: str
    columns: Sequence[str]
    rows: Sequence[MistakeRow]
    readers: Mapping[str, str]


def mistake_maps(found: Mapping[str, Any]) -> list[MistakeMap]:
    """One heat map for each family in which a given run makes named mistakes."""
    given = given_runs(found)
    families: dict[str, list[MistakeRow]] = {}
    for key, part in found["parts"].items():
        for name in given:
            if name in part["runs"] and part["runs"][name]["mistakes"]:
                named = {mistake["name"]: mistake for mistake in part["runs"][name]["mistakes"]}
                label = f"{short(key)} · {name}" if len(given) > 1 else short(key)
                families.setdefault(key.split("/")[0], []).append(MistakeRow(key, name, label, named))
    maps = []
    for family, rows in families.items():
        best: dict[str, float] = {}
        for row in rows:
            for name, mistake in row.named.items():
                best[name] = max(best.get(name, 0.0), mistake["share"] + mistake["above_chance"])
        columns = sorted(best, key=lambda name: (-best[name], name))[:MOST_READERS]
        readers = {name: mistake["reader"] for row in rows for name, mistake in row.named.items()}
        maps.append(MistakeMap(family, columns, rows, readers))
    return maps


def heat_chart(item: MistakeMap) -> str:
    """The heat map as a picture."""
    rows = []
    for row in item.rows:
        cells = [row.named.get(name) for name in item.columns]
        rows.append((row.label, [None if cell is None else (cell["share"], cell["above_chance"]) for cell in cells]))
    names = [name.replace("_", " ") for name in item.columns]
    return charts.heat(f"{item.family}: share of the errors that are a reader's", names, rows)


# --- tables ----------------------------------------------------------------------------------------------------------


def published_table(found: Mapping[str, Any]) -> Table:
    """Published figures for comparable sets."""
    rows = [(key, p["model"], printed(p), p["source"]) for key, part in found["parts"].items() for p in part["published"]]
    return ("set", "model", "accuracy", "where"), rows


def gap_table(found: Mapping[str, Any]) -> Table:
    """Known minus held-out accuracy, in points."""
    runs = drawn_runs(found)
    rows = [(g["run"], g["known"], g["held_out"], f"{100 * g['gap']:+.1f}") for g in found["gaps"] if g["run"] in runs]
    return ("run", "known", "held out", "gap"), rows


def mistake_table(found: Mapping[str, Any]) -> Table:
    """Every named mistake of every given run."""
    rows = []
    for key, part in found["parts"].items():
        for name in given_runs(found):
            for m in part["runs"].get(name, {}).get("mistakes", []):
                figures = (f"{m[field]:.4f}" for field in ("share", "low", "high", "chance"))
                rows.append((key, name, m["name"], m["reader"], str(m["errors"]), *figures))
    return ("set", "run", "reader", "what it does", "errors", "share", "low", "high", "chance"), rows


def dial_table(found: Mapping[str, Any]) -> Table:
    """Every point of every curve along a dial."""
    rows = []
    for item in found["dials"]:
        for name, run in item["runs"].items():
            for p in run["points"]:
                ends = ("" if p[end] is None else f"{p[end]:.4f}" for end in ("low", "high"))
                rows.append((item["family"], item["dial"], name, f"{p['at']:g}", f"{p['mean']:.4f}", *ends, str(p["rows"])))
    return ("family", "dial", "run", "at", "accuracy", "low", "high", "rows"), rows


def profile_table(found: Mapping[str, Any]) -> Table:
    """Accuracy by axis (the ability that a split tests)."""
    axes = list(dict.fromkeys(axis for run in found["profile"].values() for axis in run))
    rows = []
    for name, run in found["profile"].items():
        rows.append([name, *(run[axis]["text"] if axis in run else "" for axis in axes)])
    return ["run", *axes], rows


def status_table(found: Mapping[str, Any]) -> Table:
    """How many rows of each run have which status."""
    rows = []
    for key, part in found["parts"].items():
        for name, run in part["runs"].items():
            rows += [(key, name, status, str(count)) for status, count in run["statuses"].items()]
    return ("set", "run", "status", "rows"), rows


TABLES: Mapping[str, Callable[[Mapping[str, Any]], Table]] = {
    "accuracy": accuracy_table,
    "rules": rule_table,
    "published": published_table,
    "mistakes": mistake_table,
    "dials": dial_table,
    "gaps": gap_table,
    "profile": profile_table,
    "comparison": comparison_table,
    "statuses": status_table,
}
"""Every table of the report, by the name of its file."""
