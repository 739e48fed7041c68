"""A small display list with two backends: the same marks as SVG text, or as PNG bytes through Pillow.

Marks are painted in order. Lengths are in points.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

Anchor = Literal["start", "middle", "end"]
FONT = "Inter, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Mark:
    """One thing painted: a polygon, rounded rectangle, ellipse, line (through points) or text; colours are #rrggbb."""

    kind: Literal["polygon", "rect", "ellipse", "line", "text"]
    points: tuple[tuple[float, float], ...]
    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    opacity: float = 1.0
    dash: float = 0.0
    radius: float = 0.0
    text: str = ""
    size: float = 12.0
    anchor: Anchor = "start"
    bold: bool = False


class Sprite(NamedTuple):
    """Marks that lie in a square by themselves, on one colour. `name` says what they are; equal names, equal looks."""

    name: Hashable
    first: int
    stop: int
    x: int
    y: int
    side: int
    ground: str


@dataclass
class Canvas:
    """A picture under construction: `rect`, `ellipse`, … add marks; `svg` and `png` paint them all.

    `backdrop`: the places of marks that come back in other pictures and lie below all others; `png` keeps them painted.
    `sprites`: marks that come back together, each on a square of one colour; `png` keeps the painted squares.
    """

    width: float
    height: float
    background: str = "#ffffff"
    title: str = ""
    marks: list[Mark] = field(default_factory=list)
    backdrop: range = range(0)
    sprites: list[Sprite] = field(default_factory=list)

    def rect(self, x: float, y: float, w: float, h: float, **style: Any) -> None:
        """A rectangle by its top-left corner; `radius` rounds the corners."""
        self.marks.append(Mark("rect", ((x, y), (x + w, y + h)), **style))

    def ellipse(self, x: float, y: float, rx: float, ry: float, **style: Any) -> None:
        """An ellipse by its middle."""
        self.marks.append(Mark("ellipse", ((x - rx, y - ry), (x + rx, y + ry)), **style))

    def polygon(self, points: Sequence[tuple[float, float]], **style: Any) -> None:
        """A closed polygon."""
        self.marks.append(Mark("polygon", tuple(points), **style))

    def line(self, points: Sequence[tuple[float, float]], **style: Any) -> None:
        """An open line through the points; `dash` breaks it."""
        self.marks.append(Mark("line", tuple(points), **style))

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Text on one line; (x, y) is its baseline at the anchor."""
        self.marks.append(Mark("text", ((x, y),), text=text, **style))

    def svg(self) -> str:
        """The picture as a complete SVG document."""
        w, h = _number(self.width), _number(self.height)
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img">']
        lines.append(f"<title>{escape(self.title)}</title>" if self.title else "<title>grid world</title>")
        lines.append(f'<rect width="{w}" height="{h}" fill="{self.background}"/>')
        lines += [_svg_mark(mark) for mark in self.marks]
        return "\n".join([*lines, "</svg>", ""])

    def png(self) -> bytes:
        """The picture as PNG bytes (needs Pillow)."""
        from recombine.grid.pixels import png_of

        return png_of(round(self.width), round(self.height), self.background, self.marks, self.backdrop, self.sprites)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _svg_mark(mark: Mark) -> str:
    (x0, y0), (x1, y1) = mark.points[0], mark.points[-1]
    paint = f'fill="{mark.fill or "none"}"'
    if mark.stroke:
        paint += f' stroke="{mark.stroke}" stroke-width="{_number(mark.width)}" stroke-linejoin="round" stroke-linecap="round"'
    if mark.dash:
        paint += f' stroke-dasharray="{_number(mark.dash)}"'
    if mark.opacity < 1.0:
        paint += f' opacity="{_number(mark.opacity)}"'
    if mark.kind == "rect":
        box = f'x="{_number(x0)}" y="{_number(y0)}" width="{_number(x1 - x0)}" height="{_number(y1 - y0)}"'
        return f'<rect {box} rx="{_number(mark.radius)}" {paint}/>'
    if mark.kind == "ellipse":
        middle = f'cx="{_number((x0 + x1) / 2)}" cy="{_number((y0 + y1) / 2)}"'
        return f'<ellipse {middle} rx="{_number((x1 - x0) / 2)}" ry="{_number((y1 - y0) / 2)}" {paint}/>'
    if mark.kind == "text":
        weight = ' font-weight="600"' if mark.bold else ""
        font = f'font-family="{FONT}" font-size="{_number(mark.size)}" text-anchor="{mark.anchor}"{weight}'
        return f'<text x="{_number(x0)}" y="{_number(y0)}" {font} {paint}>{escape(mark.text)}</text>'
    path = " ".join(f"{_number(x)},{_number(y)}" for x, y in mark.points)
    return f'<{"polygon" if mark.kind == "polygon" else "polyline"} points="{path}" {paint}/>'
