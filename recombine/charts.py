"""Small pictures as SVG text: bars, dots and curves with intervals. Pure functions of numbers; everything written is escaped.

Colours are CSS variables with a fixed colour as the fallback. A page can thus turn them for dark mode, and `standalone` writes the
fixed ones into a picture that stands alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

LIGHT = ("#1f6fb4", "#b8560f", "#6b3fa0", "#00756b", "#b0185f", "#7a6200", "#3f4a9e", "#4b5563")
INK, SOFT, GRID = "var(--ink,#1f2937)", "var(--soft,#566070)", "var(--line,#dfe3e8)"
PAPER = "var(--card,#ffffff)"
COLORS = tuple(f"var(--c{number},{color})" for number, color in enumerate(LIGHT))
"""One colour per series. Dots also differ in shape, so readers need not rely on colours alone."""
FONT = "font-family='system-ui, sans-serif' font-size='11'"


def _svg(width: float, height: float, body: str, title: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' height='{height:g}' "
        f"role='img' aria-label='{escape(title, quote=True)}'>{body}</svg>"
    )


def text_bar(share: float, width: int = 24) -> str:
    """A bar of block characters for the terminal; `share` is of the longest bar."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def bars(title: str, counts: Mapping[str, float], *, unit: str = "", most: int = 30, note: str = "") -> str:
    """Horizontal bars, one per name, with the value at the end."""
    shown = list(counts.items())[:most]
    label = min(220, 12 + 6.2 * max([len(name) for name, _ in shown], default=1))
    top, step, span = 26, 18, 240
    longest = max([value for _, value in shown], default=1) or 1
    parts = [f"<text x='0' y='14' {FONT} font-weight='600' fill='{INK}'>{escape(title)}</text>"]
    for i, (name, value) in enumerate(shown):
        y = top + i * step
        cut = name if len(name) <= 34 else name[:33] + "…"
        parts.append(f"<text x='{label - 6:g}' y='{y + 11}' text-anchor='end' {FONT} fill='{INK}'>{escape(cut)}</text>")
        parts.append(
            f"<rect x='{label:g}' y='{y}' width='{span * value / longest:.1f}' height='13' rx='2' fill='{COLORS[0]}'/>"
        )
        figure = f"{value:,.0f}" if float(value).is_integer() else f"{value:.1f}"
        parts.append(
            f"<text x='{label + span * value / longest + 5:.1f}' y='{y + 11}' {FONT} fill='{SOFT}'>{figure}{escape(unit)}</text>"
        )
    bottom = top + len(shown) * step
    left_out = len(counts) - len(shown)
    more = f"{note} … and {left_out} more" if left_out else note
    if more:
        parts.append(f"<text x='0' y='{bottom + 12}' {FONT} fill='{SOFT}'>{escape(more.strip())}</text>")
    return _svg(label + span + 70, bottom + (20 if more else 4), "".join(parts), title)


def columns(title: str, counts: Mapping[int, float], *, width: int = 360, height: int = 150) -> str:
    """A histogram over whole numbers: one column per value, gaps kept."""
    if not counts:
        return _svg(width, height, "", title)
    low, high = min(counts), max(counts)
    slots = high - low + 1
    tallest = max(counts.values()) or 1
    step = (width - 10) / slots
    parts = [f"<text x='0' y='14' {FONT} font-weight='600' fill='{INK}'>{escape(title)}</text>"]
    floor = height - 18
    for value, count in sorted(counts.items()):
        tall = (floor - 24) * count / tallest
        x = 5 + (value - low) * step
        tip = f"<title>{value}: {count:,.0f}</title>"
        parts.append(
            f"<rect x='{x:.1f}' y='{floor - tall:.1f}' width='{max(step * 0.86, 0.8):.2f}' height='{tall:.1f}' fill='{COLORS[0]}'>{tip}</rect>"
        )
    every = max(1, -(-slots // 10))
    for value in range(low, high + 1, every):
        x = 5 + (value - low + 0.43) * step
        parts.append(f"<text x='{x:.1f}' y='{height - 4}' text-anchor='middle' {FONT} fill='{SOFT}'>{value}</text>")
    parts.append(f"<line x1='0' y1='{floor}' x2='{width}' y2='{floor}' stroke='{GRID}'/>")
    return _svg(width, height, "".join(parts), title)


Point = tuple[float, float, float | None, float | None]
"""x, y, and the interval's low and high end. None: the interval is missing, and the point is hollow."""


def standalone(svg: str) -> str:
    """The picture with fixed colours instead of the page's variables, for a file of its own."""
    return re.sub(r"var\(--\w+,(#[0-9a-f]{6})\)", r"\1", svg)


def scaled(svg: str, scale: float) -> str:
    """The picture `scale` times as large: its width and height change, its coordinates do not."""
    opening, rest = svg.split(">", 1)
    for name in ("width", "height"):
        opening = re.sub(rf"( {name}=['\"])([0-9.]+)", lambda found: f"{found[1]}{float(found[2]) * scale:g}", opening, count=1)
    return f"{opening}>{rest}"


def mark(number: int, x: float, y: float, *, hollow: bool = False, size: float = 4.2) -> str:
    """The dot of series `number`: a circle, square, diamond or triangle in the series' colour."""
    color = COLORS[number % len(COLORS)]
    look = f"fill='{PAPER}' stroke='{color}' stroke-width='2'" if hollow else f"fill='{color}'"
    shape = number % 4
    if shape == 0:
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{size:g}' {look}/>"
    corners = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
        3: ((0, -1.3), (1.25, 0.95), (-1.25, 0.95)),
    }[shape]
    points = " ".join(f"{x + 0.92 * size * a:.1f},{y + 0.92 * size * b:.1f}" for a, b in corners)
    return f"<polygon points='{points}' {look}/>"


def legend(names: Sequence[str]) -> str:
    """Which mark and colour stands for which series, in the order of `curves` and `dots`."""
    parts, x = [], 8.0
    for number, name in enumerate(names):
        parts.append(mark(number, x, 9))
        parts.append(f"<text x='{x + 9:g}' y='13' {FONT} fill='{INK}'>{escape(name)}</text>")
        x += 26 + 6.3 * len(name)
    return _svg(x, 18, "".join(parts), "legend: " + ", ".join(names))


def nice_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers from low to high, at most `most` of them: steps of 1, 2 or 5 times a power of ten."""
    if high <= low:
        return [low]
    rough = (high - low) / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9)), 10 * power)
    if float(low).is_integer() and float(high).is_integer():
        step = max(1.0, step)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Dot:
    """One value from 0 to 1 with its interval (None where there is none); `series` chooses colour and shape."""

    series: int
    name: str
    mean: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False


@dataclass(frozen=True)
class DotRow:
    """One line of a dot chart. `ticks` are baselines (name, value), drawn grey; `joined` draws a line between the dots."""

    label: str
    dots: Sequence[Dot]
    ticks: Sequence[tuple[str, float]] = ()
    joined: bool = False


def dot_blocks(rows: Sequence[DotRow], most: float = 560.0) -> list[Sequence[DotRow]]:
    """The rows in blocks of similar size, none much taller than `most` pixels: a chart of each fits on a sheet of paper."""
    blocks = max(1, math.ceil(sum(_dot_height(row) for row in rows) / most))
    size = max(1, math.ceil(len(rows) / blocks))
    return [rows[start : start + size] for start in range(0, len(rows), size)] or [rows]


def _dot_height(row: DotRow) -> float:
    return 12 + 11.0 * max(1, 1 if row.joined else len(row.dots))


def dots(title: str, rows: Sequence[DotRow], *, width: int = 760, above: bool = False, longest: int = 0) -> str:
    """Dots with intervals on a scale from 0 to 100 %, one row a set; `above` puts the labels above the rows (for phones).

    `longest` leaves room for labels of so many letters, so that several charts stand in line.
    """
    longest = max([longest, *(len(row.label) for row in rows)], default=1)
    left = 14.0 if above else min(300.0, 16 + 6.4 * longest)
    right, top = width - 22.0, 8.0
    heights = [(18 if above else 0) + _dot_height(row) for row in rows]
    bottom = top + sum(heights)

    def place(share: float) -> float:
        return left + (right - left) * share

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = place(share)
        parts.append(f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top:g}' y2='{bottom:g}' stroke='{GRID}'/>")
        parts.append(f"<text x='{x:.1f}' y='{bottom + 15:g}' text-anchor='middle' {FONT} fill='{SOFT}'>{share:.0%}</text>")
    y = top
    for row, height in zip(rows, heights, strict=True):
        inner = y + (18 if above else 0)
        middle = inner + (height - (18 if above else 0)) / 2
        room = int((right - left) / 6.2) if above else 46
        label = row.label if len(row.label) <= room else "…" + row.label[1 - room :]
        where = f"x='{left:g}' y='{y + 14:g}'" if above else f"x='{left - 10:g}' y='{middle + 4:g}' text-anchor='end'"
        parts.append(f"<text {where} {FONT} fill='{INK}'>{escape(label)}</text>")
        parts += [_tick(name, place(value), inner + 3, y + height - 3) for name, value in row.ticks]
        if row.joined and len(row.dots) > 1:
            ends = [place(dot.mean) for dot in row.dots]
            parts.append(
                f"<line x1='{min(ends):.1f}' x2='{max(ends):.1f}' y1='{middle:g}' y2='{middle:g}' stroke='{SOFT}' stroke-width='1.5'/>"
            )
        for number, dot in enumerate(row.dots):
            level = middle if row.joined else inner + 11.5 + 11 * number
            parts.append(_dot(dot, place, level))
        y += height
    return _svg(width, bottom + 22, "".join(parts), title)


def _tick(name: str, x: float, top: float, bottom: float) -> str:
    tip = f"<title>{escape(name)}</title>"
    return f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top:g}' y2='{bottom:g}' stroke='{SOFT}' stroke-width='2' opacity='0.5'>{tip}</line>"


def _dot(dot: Dot, place: Callable[[float], float], y: float) -> str:
    span = ""
    if dot.low is not None and dot.high is not None:
        color = COLORS[dot.series % len(COLORS)]
        span = (
            f"<line x1='{place(dot.low):.1f}' x2='{place(dot.high):.1f}' y1='{y:.1f}' y2='{y:.1f}' stroke='{color}' "
            "stroke-width='2.4' stroke-linecap='round' opacity='0.75'/>"
        )
    told = f" [{100 * dot.low:.1f}, {100 * dot.high:.1f}]" if dot.low is not None and dot.high is not None else ""
    return f"<g><title>{escape(dot.name)}: {dot.mean:.1%}{told}</title>{span}{mark(dot.series, place(dot.mean), y, hollow=dot.hollow)}</g>"


def curves(title: str, series: Mapping[str, Sequence[Point]], *, across: str = "", width: int = 420, height: int = 230) -> str:
    """Lines over a dial with their intervals as bands; y runs from 0 to 1. A point whose interval is missing is hollow."""
    points = [point for line in series.values() for point in line]
    if not points:
        return _svg(width, height, "", title)
    low, high = min(p[0] for p in points), max(p[0] for p in points)
    left, top, right, bottom = 40.0, 26.0, width - 10.0, height - 34.0

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * ((x - low) / ((high - low) or 1)), bottom - (bottom - top) * y

    parts = [f"<text x='0' y='14' {FONT} font-weight='600' fill='{INK}'>{escape(title)}</text>"]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(low, share)
        parts.append(f"<line x1='{left}' y1='{y:.1f}' x2='{right}' y2='{y:.1f}' stroke='{GRID}'/>")
        parts.append(f"<text x='{left - 6}' y='{y + 4:.1f}' text-anchor='end' {FONT} fill='{SOFT}'>{share:.0%}</text>")
    for x in nice_ticks(low, high, max(2, int((right - left) / 34))):
        px, _ = place(x, 0)
        parts.append(f"<text x='{px:.1f}' y='{bottom + 14:.1f}' text-anchor='middle' {FONT} fill='{SOFT}'>{x:g}</text>")
    parts.append(
        f"<text x='{(left + right) / 2:.1f}' y='{height - 4}' text-anchor='middle' {FONT} fill='{SOFT}'>{escape(across)}</text>"
    )
    for i, (name, line) in enumerate(series.items()):
        color = COLORS[i % len(COLORS)]
        ordered = sorted(line)
        parts += [_band(run, place, color) for run in _runs_with_intervals(ordered)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(p[0], p[1]) for p in ordered))
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{color}' stroke-width='2'><title>{escape(name)}</title></polyline>"
        )
        parts += [mark(i, *place(p[0], p[1]), hollow=p[2] is None or p[3] is None, size=2.6) for p in ordered]
    return _svg(width, height, "".join(parts), title)


Ends = tuple[float, float, float]
"""x, and the interval's low and high end."""


def _runs_with_intervals(line: Sequence[Point]) -> list[list[Ends]]:
    """The longest runs of neighbouring points that all have an interval: a band must not reach a point without one."""
    runs: list[list[Ends]] = [[]]
    for x, _, low, high in line:
        if low is not None and high is not None:
            runs[-1].append((x, low, high))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _band(run: Sequence[Ends], place: Callable[[float, float], tuple[float, float]], color: str) -> str:
    """The band over neighbouring points; a bar where one point stands alone."""
    upper = [place(x, high) for x, _, high in run]
    lower = [place(x, low) for x, low, _ in reversed(run)]
    if len(run) == 1:
        (x, top), (_, bottom) = upper[0], lower[0]
        return f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top:.1f}' y2='{bottom:.1f}' stroke='{color}' stroke-width='5' opacity='0.2'/>"
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in upper + lower)
    return f"<polygon points='{corners}' fill='{color}' opacity='0.13'/>"


def heat(title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[tuple[float, bool] | None]]]) -> str:
    """Shares as tinted cells: one line a row of (share, whether it stands above chance); None is an empty cell."""
    left = min(300.0, 16 + 6.2 * max([len(name) for name, _ in rows], default=1))
    wide, tall = 66.0, 20.0
    heads = [_folded(name) for name in columns]
    top = 26.0 + 12 * max([len(lines) for lines in heads], default=1)
    parts = [f"<text x='0' y='14' {FONT} font-weight='600' fill='{INK}'>{escape(title)}</text>"]
    for number, lines in enumerate(heads):
        x = left + wide * (number + 0.5)
        for k, line in enumerate(lines):
            y = top - 6 - 12 * (len(lines) - 1 - k)
            parts.append(f"<text x='{x:.1f}' y='{y:g}' text-anchor='middle' {FONT} fill='{SOFT}'>{escape(line)}</text>")
    for k, (name, cells) in enumerate(rows):
        y = top + tall * k
        parts.append(f"<text x='{left - 8:g}' y='{y + 14:g}' text-anchor='end' {FONT} fill='{INK}'>{escape(name)}</text>")
        for number, cell in enumerate(cells):
            x = left + wide * number
            if cell is None:
                continue
            share, is_above = cell
            if is_above:
                parts.append(
                    f"<rect x='{x + 1:g}' y='{y + 1:g}' width='{wide - 2:g}' height='{tall - 2:g}' fill='{COLORS[2]}' "
                    f"opacity='{0.1 + 0.5 * share:.2f}'/>"
                )
            parts.append(
                f"<text x='{x + wide / 2:.1f}' y='{y + 14:g}' text-anchor='middle' {FONT} fill='{INK if is_above else SOFT}'>{share:.0%}</text>"
            )
    return _svg(left + wide * len(columns) + 4, top + tall * len(rows) + 6, "".join(parts), title)


_HEAD_WIDTH = 11
"""Characters in a line of a column's head; a longer word stands alone."""


def _folded(name: str) -> list[str]:
    """The words of a name in short lines."""
    lines: list[str] = []
    for word in name.split():
        if lines and len(lines[-1]) + 1 + len(word) <= _HEAD_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]
