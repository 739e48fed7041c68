"""Small pictures as SVG text: bars and curves with intervals. Pure functions of numbers; everything written is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

INK, SOFT, GRID = "#1f2937", "#6b7280", "#e5e7eb"
COLORS = ("#2563eb", "#ea580c", "#059669", "#9333ea", "#dc2626", "#0891b2", "#ca8a04", "#4b5563")
"""One colour per series, told apart also by people who see no red or green well."""
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


Point = tuple[float, float, float, float]
"""x, y, and the interval's low and high end (equal to y where there is none)."""


def curves(title: str, series: Mapping[str, Sequence[Point]], *, across: str = "", width: int = 420, height: int = 230) -> str:
    """Lines over a dial with their intervals as bands; y runs from 0 to 1 and is labelled in per cent."""
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
    last = -100.0
    for x in sorted({p[0] for p in points}):
        px, _ = place(x, 0)
        if px - last >= 34:
            parts.append(f"<text x='{px:.1f}' y='{bottom + 14:.1f}' text-anchor='middle' {FONT} fill='{SOFT}'>{x:.3g}</text>")
            last = px
    parts.append(
        f"<text x='{(left + right) / 2:.1f}' y='{height - 4}' text-anchor='middle' {FONT} fill='{SOFT}'>{escape(across)}</text>"
    )
    for i, (name, line) in enumerate(series.items()):
        color = COLORS[i % len(COLORS)]
        ordered = sorted(line)
        upper = [place(p[0], p[3]) for p in ordered]
        lower = [place(p[0], p[2]) for p in reversed(ordered)]
        band = " ".join(f"{x:.1f},{y:.1f}" for x, y in upper + lower)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(p[0], p[1]) for p in ordered))
        parts.append(f"<polygon points='{band}' fill='{color}' opacity='0.13'/>")
        parts.append(
            f"<polyline points='{path}' fill='none' stroke='{color}' stroke-width='2'><title>{escape(name)}</title></polyline>"
        )
        parts += [
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.6' fill='{color}'/>" for x, y in (place(p[0], p[1]) for p in ordered)
        ]
    return _svg(width, height, "".join(parts), title)
