"""Marks as pixels: each mark is a mask of how far it covers each pixel, painted in one colour.

A mask is drawn at three times its size and scaled down, for smooth edges. Masks are kept: a red circle of size 2 has the same one
in every cell of every picture, and so has a word of a caption.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Hashable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from recombine.grid.canvas import Mark, Sprite

OVERSAMPLING = 3
SMALL_AREA = 160 * 160
"""Masks of up to this many pixels are kept by the thousand, larger ones by the dozen."""
COMPRESSION = 3
"""The level of zlib: higher ones take twice the time for a sixth of the bytes, and filters help neither."""
RGB, INDEXED = 2, 3
"""Kinds of PNG files: three channels, or codes of a palette."""
TILE = 64
"""Large masks are cut into tiles of this side, so that the empty inside of a frame is not painted."""


class Tile(NamedTuple):
    """How far a mark covers each pixel of a rectangle, and the distance of the rectangle's corner from the mark's."""

    cover: Any
    x: int
    y: int


Mask = tuple[Tile, ...]


class Shape(NamedTuple):
    """What decides the mask of a mark: its fields without colours, moved to (0, 0)."""

    kind: str
    points: tuple[tuple[float, float], ...]
    width: float
    opacity: float
    dash: float
    radius: float


def png_of(
    width: int, height: int, background: str, marks: Sequence[Mark], first: range, sprites: Sequence[Sprite] = ()
) -> bytes:
    """The marks, painted in order on the background, as PNG bytes (needs Pillow). Those in `first` are painted before the others.

    The squares of sprites are kept painted. They may not overlap, and come in the order of their marks.
    """
    image = _painted(width, height, background, tuple(marks[first.start : first.stop])).copy()
    _paint(image, marks[: first.start])
    done = first.stop
    for sprite in sprites:
        _paint(image, marks[done : sprite.first])
        image.paste(_square(image, marks, sprite), (sprite.x, sprite.y))
        done = sprite.stop
    _paint(image, marks[done:])
    return encode(image.tobytes(), width, height)


_SQUARES: dict[tuple[Hashable, int, str], Any] = {}
MOST_SQUARES = 1024


def _square(image: Any, marks: Sequence[Mark], sprite: Sprite) -> Any:
    """The painted square of a sprite."""
    key = sprite.name, sprite.side, sprite.ground
    found = _SQUARES.get(key)
    if found is None:
        box = sprite.x, sprite.y, sprite.x + sprite.side, sprite.y + sprite.side
        whole = image.copy()
        whole.paste(sprite.ground, box)
        _paint(whole, marks[sprite.first : sprite.stop])
        if len(_SQUARES) >= MOST_SQUARES:
            _SQUARES.clear()
        found = _SQUARES[key] = whole.crop(box)
    return found


@lru_cache(maxsize=16)
def _painted(width: int, height: int, background: str, marks: tuple[Mark, ...]) -> Any:
    """The empty picture with marks that come back in others; to be copied."""
    from PIL import Image

    image = Image.new("RGB", (width, height), background)
    _paint(image, marks)
    return image


def _paint(image: Any, marks: Sequence[Mark]) -> None:
    core, paste = image.im, image.im.paste
    for mark in marks:
        for color, mask, x, y in _layers(mark):
            ink = _ink(color)
            for cover, dx, dy in mask:
                left, top = x + dx, y + dy
                right, bottom = left + cover.width, top + cover.height
                if left >= 0 and top >= 0 and right <= core.size[0] and bottom <= core.size[1]:
                    paste(ink, (left, top, right, bottom), cover.im)
                else:
                    image.paste(color, (left, top), cover)


@cache
def _ink(color: str) -> tuple[int, ...]:
    from PIL import ImageColor

    return ImageColor.getrgb(color)


def encode(pixels: bytes, width: int, height: int) -> bytes:
    """Red, green and blue of all pixels, line by line, as a PNG file."""
    stride = 3 * width
    lines = b"".join([b"\0" + pixels[at : at + stride] for at in range(0, stride * height, stride)])  # 0: no filter
    return png_file(lines, struct.pack(">IIBBBBB", width, height, 8, RGB, 0, 0, 0))


def encode_codes(lines: bytes, width: int, height: int, palette: bytes) -> bytes:
    """Lines of colour codes, four bits each, after their filters, as a PNG file. The palette has three bytes a colour."""
    return png_file(lines, struct.pack(">IIBBBBB", width, height, 4, INDEXED, 0, 0, 0), (b"PLTE", palette))


def png_file(lines: bytes, header: bytes, *more: tuple[bytes, bytes]) -> bytes:
    """A PNG file of lines that begin with their filters."""
    pieces = (b"IHDR", header), *more, (b"IDAT", zlib.compress(lines, COMPRESSION)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*piece) for piece in pieces)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _layers(mark: Mark) -> Iterator[tuple[str, Mask, int, int]]:
    """(colour, mask, x, y) of the inside of a mark, of its outline, or of each word of a text."""
    if mark.kind == "text":
        yield from _words(mark)
        return
    left, top = min(x for x, _ in mark.points), min(y for _, y in mark.points)
    x, y = floor(left), floor(top)
    points = tuple((round(a - x, 4), round(b - y, 4)) for a, b in mark.points)
    shape = Shape(mark.kind, points, mark.width, mark.opacity, mark.dash, mark.radius)
    is_small = (max(a for a, _ in points) + 1) * (max(b for _, b in points) + 1) <= SMALL_AREA
    kept = _small_mask if is_small else _large_mask
    if mark.fill and mark.kind != "line":
        yield mark.fill, kept(shape, False), x, y
    if mark.stroke:
        yield mark.stroke, kept(shape, True), x, y


@lru_cache(maxsize=4096)
def _small_mask(shape: Shape, is_outline: bool) -> Mask:
    return _mask(shape, is_outline)


@lru_cache(maxsize=48)
def _large_mask(shape: Shape, is_outline: bool) -> Mask:
    return _mask(shape, is_outline)


def _mask(shape: Shape, is_outline: bool) -> Mask:
    """The mask of the inside or the outline of a shape that lies beside (0, 0)."""
    from PIL import Image, ImageDraw

    k, margin = OVERSAMPLING, ceil(shape.width) + 2
    width, height = (ceil(max(values)) + 2 * margin for values in zip(*shape.points, strict=True))
    large = Image.new("L", (k * width, k * height), 0)
    _draw(ImageDraw.Draw(large), shape, [((x + margin) * k, (y + margin) * k) for x, y in shape.points], is_outline)
    return _tiles(_scaled(large, shape.opacity), -margin, -margin)


def _tiles(cover: Any, x: int, y: int) -> Mask:
    """The tiles of a mask that cover anything."""
    found, side = [], TILE if cover.width * cover.height > SMALL_AREA else max(cover.width, cover.height)
    for top in range(0, cover.height, side):
        for left in range(0, cover.width, side):
            piece = cover.crop((left, top, min(left + side, cover.width), min(top + side, cover.height)))
            box = piece.getbbox()
            if box is not None:
                found.append(Tile(piece.crop(box), x + left + box[0], y + top + box[1]))
    return tuple(found)


def _scaled(large: Any, opacity: float) -> Any:
    """A mask scaled down to the size of the picture."""
    small = large.reduce(OVERSAMPLING)
    return small if opacity >= 1.0 else small.point([int(value * opacity) for value in range(256)])


def _draw(draw: Any, shape: Shape, points: list[tuple[float, float]], is_outline: bool) -> None:
    k = OVERSAMPLING
    fill, stroke, width = (None, 255, max(1, round(shape.width * k))) if is_outline else (255, None, 0)
    if shape.kind == "rect":
        if shape.dash and stroke:
            raise ValueError("rectangles have solid outlines; draw dashes with lines")
        draw.rounded_rectangle([*points[0], *points[1]], radius=shape.radius * k, fill=fill, outline=stroke, width=width)
    elif shape.kind == "ellipse":
        draw.ellipse([*points[0], *points[1]], fill=fill, outline=stroke, width=width)
    elif shape.kind == "polygon" and not is_outline:
        draw.polygon(points, fill=fill)
    elif is_outline:
        closed = [*points, points[0], points[1]] if shape.kind == "polygon" else points
        for piece in _dashes(closed, shape.dash * k):
            draw.line(piece, fill=stroke, width=width, joint="curve")


# --- text ------------------------------------------------------------------------------------------------------------


def _words(mark: Mark) -> Iterator[tuple[str, Mask, int, int]]:
    k = OVERSAMPLING
    lengths = [_length(word, mark.size) for word in mark.text.split(" ")]
    space = _length(" ", mark.size)
    whole = sum(lengths) + space * (len(lengths) - 1)
    (x, y), shift = mark.points[0], {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
    at = x * k - whole * shift
    for word, length in zip(mark.text.split(" "), lengths, strict=True):
        column, rest = divmod(round(at), k)
        row, below = divmod(round(y * k), k)
        if word and mark.fill:
            yield mark.fill, _word_mask(word, mark.size, mark.bold, rest, below, mark.opacity), column, row
        at += length + space


@cache
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size=size * OVERSAMPLING)


@lru_cache(maxsize=4096)
def _length(word: str, size: float) -> float:
    """The length of a word, in thirds of a pixel."""
    return float(_font(size).getlength(word))


@lru_cache(maxsize=4096)
def _word_mask(word: str, size: float, bold: bool, right: int, below: int, opacity: float) -> Mask:
    """The mask of a word whose baseline begins `right` and `below` thirds of a pixel beside (0, 0)."""
    from PIL import Image, ImageDraw

    k, font, stroke = OVERSAMPLING, _font(size), OVERSAMPLING // 3 if bold else 0
    left, top, end, bottom = font.getbbox(word, anchor="ls", stroke_width=stroke)
    x, y = floor(left / k) - 2, floor(top / k) - 2
    width, height = ceil((end + right) / k) + 2 - x, ceil((bottom + below) / k) + 2 - y
    large = Image.new("L", (k * width, k * height), 0)
    ImageDraw.Draw(large).text((right - k * x, below - k * y), word, font=font, fill=255, anchor="ls", stroke_width=stroke)
    return _tiles(_scaled(large, opacity), x, y)


def _dashes(points: list[tuple[float, float]], dash: float) -> list[list[tuple[float, float]]]:
    """The line cut into dashes and gaps of equal length; whole if `dash` is 0."""
    if dash <= 0:
        return [points]
    pieces: list[list[tuple[float, float]]] = []
    piece, is_on, left = [points[0]], True, dash
    for (x0, y0), (x1, y1) in pairwise(points):
        length = sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))  # not a power: its last bit differs between machines
        done = 0.0
        while length - done > left:
            done += left
            at = (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length)
            if is_on:
                pieces.append([*piece, at])
            piece, is_on, left = [at], not is_on, dash
        left -= length - done
        piece.append((x1, y1))
    if is_on and len(piece) > 1:
        pieces.append(piece)
    return pieces
