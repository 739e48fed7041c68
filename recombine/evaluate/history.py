"""Earlier runs of the same suite: accuracy with its interval, the change since the exam before, and the trend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.errors import shown
from recombine.files import is_report, read_json, told
from recombine.schemas import check, listing, mapping, number, optional, record, text, whole

REPORT = "report.json"
_SHARE = optional(number(0, 1))
SHAPE = record({
    "suite": record({"suite": text(40), "seed": whole(), "size": whole(1)}), "baselines": listing(text()),
    "parts": mapping(record({
        "runs": mapping(record({"accuracy": record({"mean": number(0, 1), "low": _SHARE, "high": _SHARE})})),
    })),
})  # fmt: skip
"""What a report on a suite must hold, as far as histories read it."""
QUANTILE = 1.959963984540054
FEWEST_EXAMS = 3
"""A trend needs so many exams."""
MOST_DEPTH = 4
"""Folders below the given ones in which reports are looked for."""


@dataclass(frozen=True)
class Sitting:
    """One run's result in one exam: the mean over its sets, each counting the same, with its standard error."""

    run: str
    seed: int
    size: int
    mean: float
    error: float
    sets: int
    left_out: int
    place: str

    @property
    def text(self) -> str:
        """`61.3% [58.9, 63.7]`."""
        low, high = max(0.0, self.mean - QUANTILE * self.error), min(1.0, self.mean + QUANTILE * self.error)
        return f"{self.mean:.1%} [{100 * low:.1f}, {100 * high:.1f}]"


@dataclass(frozen=True)
class Trend:
    """Points per exam, with a 95 % interval."""

    slope: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """`+1.2 points an exam [0.4, 2.0]`, and whether that is more than chance."""
        said = f"{100 * self.slope:+.1f} points an exam [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"
        return said if self.low > 0 or self.high < 0 else f"{said}: no trend that can be told from chance"


def find_reports(places: Iterable[str | Path]) -> Iterator[Path]:
    """The folders with a report, at or below these places."""
    for place in places:
        yield from _below(Path(place), MOST_DEPTH)


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if is_report(folder):
        yield folder
    elif depth and folder.is_dir() and not folder.is_symlink():
        for entry in sorted(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                yield from _below(entry, depth - 1)


def sittings(reports: Iterable[Path], suite: str) -> list[Sitting]:
    """Every given run's result in every exam of this suite, by run and seed."""
    found = []
    for folder in reports:
        report = read_json(folder / REPORT)
        title = report.get("suite")
        if not isinstance(title, dict) or title.get("suite") != suite:
            continue
        check(report, SHAPE, shown(str(folder / REPORT)))
        names = dict.fromkeys(n for part in report["parts"].values() for n in part["runs"] if n not in report["baselines"])
        found += [_sitting(name, title, report, folder) for name in names]
    return sorted(found, key=lambda item: (item.run, item.seed, item.place))


def exams(found: Iterable[Sitting]) -> list[Sitting]:
    """One sitting for each run and seed: several reports on one exam are not several exams.

    Of those, the one with the most rows counts, and of equal ones the newest report.
    """
    best: dict[tuple[str, int], tuple[tuple[int, int, str], Sitting]] = {}
    for item in found:
        with told("read", item.place):
            rank = item.size, (Path(item.place) / REPORT).stat().st_mtime_ns, item.place
        before = best.get((item.run, item.seed))
        if before is None or rank > before[0]:
            best[item.run, item.seed] = rank, item
    return [item for _, item in best.values()]


def _sitting(name: str, title: Mapping[str, Any], report: Mapping[str, Any], folder: Path) -> Sitting:
    figures = [part["runs"][name]["accuracy"] for part in report["parts"].values() if name in part["runs"]]
    known = [item for item in figures if item["low"] is not None]
    mean = sum(item["mean"] for item in figures) / len(figures)
    spread = sum(((item["high"] - item["low"]) / (2 * QUANTILE)) ** 2 for item in known)
    error = math.sqrt(spread) / len(known) if known else math.inf
    return Sitting(
        name, int(title["seed"]), int(title["size"]), mean, error, len(figures), len(figures) - len(known), str(folder)
    )


def change(before: Sitting, now: Sitting) -> str:
    """The difference of two exams of different rows, with its interval."""
    difference, error = now.mean - before.mean, math.hypot(before.error, now.error)
    low, high = difference - QUANTILE * error, difference + QUANTILE * error
    said = f"{100 * difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    return said if low > 0 or high < 0 else f"{said}, no difference that can be told from chance"


def trend(exams: list[Sitting]) -> Trend | None:
    """The slope over exams in order, by weighted least squares; None with fewer than three, or without intervals."""
    if len(exams) < FEWEST_EXAMS or any(not 0 < item.error < math.inf for item in exams):
        return None
    weights = [1 / item.error**2 for item in exams]
    total = sum(weights)
    middle = sum(w * i for i, w in enumerate(weights)) / total
    level = sum(w * item.mean for w, item in zip(weights, exams, strict=True)) / total
    spread = sum(w * (i - middle) ** 2 for i, w in enumerate(weights))
    slope = sum(w * (i - middle) * (item.mean - level) for i, (w, item) in enumerate(zip(weights, exams, strict=True))) / spread
    half = QUANTILE / math.sqrt(spread)
    return Trend(slope, slope - half, slope + half)
