"""Pictures as PDF: a small writer for the SVG that this package draws. No library, vector shapes, the fonts that every reader has.

It knows the elements and attributes that our charts and pictures use; an element that it does not know is an error, so that nothing
is left out in silence. Text is set in Helvetica, arrows in Symbol.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from recombine.errors import UsageError, shown

POINTS = 0.75
"""Points of a PDF for one pixel of an SVG."""
ROUND = 0.5522847498
"""How far the control points of a quarter circle stand out, for radius 1."""
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 "
    "1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 "
    "333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
WIDTHS = tuple(int(width) for width in _WIDTHS.split())
"""Widths of Helvetica's letters from space to tilde, in thousandths of the font size."""
BOLD = 1.06
"""The approximate width of bold letters relative to plain ones."""
SYMBOLS = {"←": 0xAC, "↑": 0xAD, "→": 0xAE, "↓": 0xAF, "≤": 0xA3, "≥": 0xB3, "∞": 0xA5}
"""Characters that stand in the font Symbol."""
SYMBOL_WIDTH = 987
PLAIN = {"−": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "}
NAMED = {"white": "#ffffff", "black": "#000000"}
Drawer = Callable[[Mapping[str, str]], Iterator[str]]
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def to_pdf(svg: str, scale: float = 1.0) -> bytes:
    """A PDF page of the picture's size, times `scale`."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - drawn by this package
    box = [float(number) for number in _NUMBER.findall(root.get("viewBox", ""))]
    if len(box) != 4:
        raise UsageError(f"the picture has no size: viewBox is {shown(root.get('viewBox'))}.")
    page = _Page()
    zoom = POINTS * scale
    begin = f"{_n(zoom)} 0 0 {_n(-zoom)} {_n(-box[0] * zoom)} {_n((box[1] + box[3]) * zoom)} cm"
    body = "\n".join(["q", begin, *page.children(root, {"fill": "#000000"}), "Q"])
    return _document(body.encode("ascii"), box[2] * zoom, box[3] * zoom, page.opacities)


def _n(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) >= 0.0005 else "0"


class _Page:
    """The drawing commands of one page, and the opacities that they name."""

    def __init__(self) -> None:
        self.opacities: list[float] = []

    def children(self, element: ElementTree.Element, above: Mapping[str, str]) -> Iterator[str]:
        """The commands of an element's children; they inherit its look."""
        look = {**above, **{name: value for name, value in element.attrib.items() if name in INHERITED}}
        for child in element:
            kind = child.tag.rpartition("}")[2]
            if kind == "title":
                continue
            if kind == "g":
                yield from self.children(child, look)
            elif kind in SHAPES:
                yield from self._drawn(child, {**look, **child.attrib}, kind)
            else:
                raise UsageError(f"a picture with the element {shown(kind)} cannot be written as PDF.")

    def _drawn(self, element: ElementTree.Element, look: Mapping[str, str], kind: str) -> Iterator[str]:
        yield "q"
        opacity = float(look.get("opacity", "1"))
        if opacity < 1:
            if opacity not in self.opacities:
                self.opacities.append(opacity)
            yield f"/O{self.opacities.index(opacity)} gs"
        if kind == "text":
            yield from _text("".join(element.itertext()), look)
        else:
            yield from _shape(SHAPES[kind], {**look, "fill": "none"} if kind == "line" else look)
        yield "Q"


# --- shapes ----------------------------------------------------------------------------------------------------------


INHERITED = ("fill", "stroke", "stroke-width", "font-size", "font-weight", "text-anchor")


def _shape(draw: Drawer, look: Mapping[str, str]) -> Iterator[str]:
    fill, stroke = _color(look.get("fill", "none")), _color(look.get("stroke", "none"))
    width = float(look.get("stroke-width", "1"))
    if fill:
        yield f"{fill} rg"
    if stroke and width > 0:
        yield f"{stroke} RG {_n(width)} w"
        yield f"{('butt', 'round', 'square').index(look.get('stroke-linecap', 'butt'))} J"
        yield f"{('miter', 'round', 'bevel').index(look.get('stroke-linejoin', 'miter'))} j"
        if "stroke-dasharray" in look:
            yield f"[{' '.join(_NUMBER.findall(look['stroke-dasharray']))}] 0 d"
    yield from draw(look)
    has_line = bool(stroke) and width > 0
    yield "B" if fill and has_line else "f" if fill else "S" if has_line else "n"


def _color(text: str) -> str:
    """Three shares of red, green and blue; empty for none."""
    text = NAMED.get(text, text)
    if text in ("none", "transparent"):
        return ""
    if re.fullmatch(r"#[0-9a-fA-F]{3}", text):
        text = "#" + "".join(2 * letter for letter in text[1:])
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", text):
        raise UsageError(f"a picture with the colour {shown(text)} cannot be written as PDF.")
    return " ".join(_n(int(text[i : i + 2], 16) / 255) for i in (1, 3, 5))


def _get(look: Mapping[str, str], *names: str) -> list[float]:
    return [float(look.get(name, "0")) for name in names]


def _line(look: Mapping[str, str]) -> Iterator[str]:
    a, b, c, d = _get(look, "x1", "y1", "x2", "y2")
    yield f"{_n(a)} {_n(b)} m {_n(c)} {_n(d)} l"


def _rect(look: Mapping[str, str]) -> Iterator[str]:
    x, y, w, h, r = _get(look, "x", "y", "width", "height", "rx")
    r = min(r, w / 2, h / 2)
    if r <= 0:
        yield f"{_n(x)} {_n(y)} {_n(w)} {_n(h)} re"
        return
    k = r * (1 - ROUND)
    corners = (
        ((x + w, y), (x + w - k, y), (x + w, y + k), (x + w, y + r), (x + w, y + h - r)),
        ((x + w, y + h), (x + w, y + h - k), (x + w - k, y + h), (x + w - r, y + h), (x + r, y + h)),
        ((x, y + h), (x + k, y + h), (x, y + h - k), (x, y + h - r), (x, y + r)),
        ((x, y), (x, y + k), (x + k, y), (x + r, y), (x + r, y)),
    )
    yield f"{_n(x + r)} {_n(y)} m {_n(x + w - r)} {_n(y)} l"
    for _, first, second, end, to in corners:
        curve = " ".join(f"{_n(a)} {_n(b)}" for a, b in (first, second, end))
        yield f"{curve} c {_n(to[0])} {_n(to[1])} l"
    yield "h"


def _round(x: float, y: float, a: float, b: float) -> Iterator[str]:
    k, m = a * ROUND, b * ROUND
    yield f"{_n(x + a)} {_n(y)} m"
    turns = (
        (x + a, y + m, x + k, y + b, x, y + b),
        (x - k, y + b, x - a, y + m, x - a, y),
        (x - a, y - m, x - k, y - b, x, y - b),
        (x + k, y - b, x + a, y - m, x + a, y),
    )
    for numbers in turns:
        yield " ".join(_n(number) for number in numbers) + " c"
    yield "h"


def _circle(look: Mapping[str, str]) -> Iterator[str]:
    x, y, r = _get(look, "cx", "cy", "r")
    return _round(x, y, r, r)


def _ellipse(look: Mapping[str, str]) -> Iterator[str]:
    return _round(*_get(look, "cx", "cy", "rx", "ry"))


def _points(look: Mapping[str, str]) -> Iterator[str]:
    numbers = [float(number) for number in _NUMBER.findall(look.get("points", ""))]
    for i, (x, y) in enumerate(zip(numbers[::2], numbers[1::2], strict=True)):
        yield f"{_n(x)} {_n(y)} {'l' if i else 'm'}"


def _polygon(look: Mapping[str, str]) -> Iterator[str]:
    yield from _points(look)
    yield "h"


def _path(look: Mapping[str, str]) -> Iterator[str]:
    """Straight lines, quadratic and cubic curves in absolute coordinates."""
    x = y = 0.0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", look.get("d", "")):
        numbers = [float(number) for number in _NUMBER.findall(rest)]
        need = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}.get(command)
        if need is None or len(numbers) % (need or 1):
            raise UsageError(f"a picture with the path command {shown(command)} cannot be written as PDF.")
        if command == "Z":
            yield "h"
        for i in range(0, len(numbers), need or 1):
            piece = numbers[i : i + need]
            if command == "Q":
                (a, b), (c, d) = piece[:2], piece[2:]
                piece = [x + 2 / 3 * (a - x), y + 2 / 3 * (b - y), c + 2 / 3 * (a - c), d + 2 / 3 * (b - d), c, d]
            sign = "m" if command == "M" and i == 0 else "l" if command in "ML" else "c"
            yield " ".join(_n(number) for number in piece) + f" {sign}"
            x, y = piece[-2:]


SHAPES: Mapping[str, Drawer] = {
    "line": _line, "rect": _rect, "circle": _circle, "ellipse": _ellipse, "polyline": _points, "polygon": _polygon, "path": _path,
    "text": _points,
}  # fmt: skip
"""Element -> what draws its outline; text has no outline."""


# --- text ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """Letters of one font."""

    font: str
    codes: bytes
    width: float


def _pieces(text: str, is_bold: bool) -> list[_Piece]:
    """The text cut where the font changes. A character that no font has becomes a question mark."""
    found: list[_Piece] = []
    for letter in text:
        plain = PLAIN.get(letter, letter)
        if letter in SYMBOLS:
            piece = _Piece("S", bytes([SYMBOLS[letter]]), SYMBOL_WIDTH)
        else:
            code = plain.encode("cp1252", "replace")
            wide = WIDTHS[code[0] - 32] if 32 <= code[0] < 127 else 556
            piece = _Piece("B" if is_bold else "R", code, wide * (BOLD if is_bold else 1))
        if found and found[-1].font == piece.font:
            last = found.pop()
            piece = _Piece(last.font, last.codes + piece.codes, last.width + piece.width)
        found.append(piece)
    return found


def _text(text: str, look: Mapping[str, str]) -> Iterator[str]:
    size, (x, y) = float(look.get("font-size", "16").removesuffix("px")), _get(look, "x", "y")
    pieces = _pieces(" ".join(text.split()), look.get("font-weight", "400") in ("600", "700", "bold"))
    width = sum(piece.width for piece in pieces) * size / 1000
    x -= {"start": 0.0, "middle": width / 2, "end": width}[look.get("text-anchor", "start")]
    fill, stroke = _color(look.get("fill", "#000000")), _color(look.get("stroke", "none"))
    looks = [(f"{stroke} RG {look.get('stroke-width', '1')} w 1 j", 1)] if stroke else []  # the halo is painted first
    for set_look, mode in [*looks, (f"{fill} rg", 0)]:
        yield set_look
        at = x
        for piece in pieces:
            yield f"BT /{piece.font} {_n(size)} Tf {mode} Tr 1 0 0 -1 {_n(at)} {_n(y)} Tm <{piece.codes.hex()}> Tj ET"
            at += piece.width * size / 1000


# --- the file --------------------------------------------------------------------------------------------------------


def _document(content: bytes, width: float, height: float, opacities: Sequence[float]) -> bytes:
    """One page in the layout of PDF 1.4; equal pictures give equal bytes."""
    fonts = {"R": "Helvetica", "B": "Helvetica-Bold", "S": "Symbol"}
    encoding = " /Encoding /WinAnsiEncoding"
    listed = " ".join(
        f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{font}{encoding if name != 'S' else ''} >>"
        for name, font in fonts.items()
    )
    states = " ".join(f"/O{i} << /ca {_n(value)} /CA {_n(value)} >>" for i, value in enumerate(opacities))
    packed = zlib.compress(content, 9)
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_n(math.ceil(width))} {_n(math.ceil(height))}] /Contents 4 0 R "
            f"/Resources << /Font << {listed} >> /ExtGState << {states} >> >> >>"
        ).encode(),
        f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream",
    ]
    out, places = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
