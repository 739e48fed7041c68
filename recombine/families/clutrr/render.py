"""A story for people: the text, the list of facts, and the family tree with the path, the noise and the query marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import sqrt
from typing import Any
from xml.sax.saxutils import escape

from recombine.core import Example, Medium
from recombine.errors import UsageError
from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.plan import KINDS, Fact, People, StoryPlan
from recombine.grid.pixels import encode

MEDIA: tuple[Medium, ...] = ("text", "graph", "svg", "png")
_CELL_WIDTH, _CELL_HEIGHT, _MARGIN = 96, 128, 60
_COLORS = {0: "#1f6feb", 1: "#8250df", 2: "#bc6c00", 3: "#6e7781"}
_INK, _FAINT, _QUERY, _PAPER = "#1f2328", "#c4c9d0", "#cf222e", "#ffffff"
_GAP, _ROUNDS, _STILL = 1.0, 80, 1e-5
_FILLS = ("#fde7ef", "#e3eefc")


@dataclass(frozen=True)
class Line:
    """A straight line; dashed for noise."""

    x1: float
    y1: float
    x2: float
    y2: float
    color: str
    width: float
    dashed: bool = False


@dataclass(frozen=True)
class Shape:
    """A circle for a woman, a square for a man."""

    x: float
    y: float
    radius: float
    is_circle: bool
    fill: str
    color: str
    width: float


@dataclass(frozen=True)
class Label:
    """A piece of text, centred unless `left`; with a paper background where it lies over lines."""

    x: float
    y: float
    text: str
    color: str
    size: int
    left: bool = False
    backed: bool = False


Mark = Line | Shape | Label


def render(example: Example, medium: Medium) -> str | bytes:
    """`text`: story and question; `graph`: the facts; `svg` and `png`: the family tree (or the graph of facts)."""
    if medium == "text":
        return f"{example.inputs['story']}\n\n{example.inputs['question']}"
    if medium == "graph":
        return fact_list(example)
    if medium not in ("svg", "png"):
        raise UsageError(f"clutrr cannot be rendered as {medium!r}; it can as {', '.join(MEDIA)}.")
    width, height, marks = drawing(example)
    return _svg(width, height, marks) if medium == "svg" else _png(width, height, marks)


def fact_list(example: Example) -> str:
    """One line per fact, in the order of telling, with its place on the path or its kind of noise; then the query."""
    plan: StoryPlan = example.plan
    lines = []
    for fact in plan.facts:
        role = f"path {fact.place + 1}" if fact.place >= 0 else KINDS[fact.kind]
        lines.append(f"{plan.names[fact.subject]} --{RELATIONS[fact.relation]}--> {plan.names[fact.relative]}  ({role})")
    x, y = (plan.names[p] for p in plan.query)
    return "\n".join([*lines, f"{x} --?--> {y}"])


def drawing(example: Example) -> tuple[int, int, list[Mark]]:
    """(width, height, marks): the tree below, then facts, then people, then words."""
    plan: StoryPlan = example.plan
    world = example.world if example.world is not None else _unrelated(plan)
    spots = [(_MARGIN + x * _CELL_WIDTH, _MARGIN + 26.0 + row * _CELL_HEIGHT) for x, row in layout(world)]
    marks: list[Mark] = list(_tree_lines(world, spots))
    labels: list[Mark] = []
    for fact in plan.facts:
        line, label = _arrow(fact, spots)
        marks += line
        labels.append(label)
    for p, (x, y) in enumerate(spots):
        is_named, is_asked = p < len(plan.names), p in plan.query
        radius = 17 if is_named else 7
        color = _QUERY if is_asked else (_INK if is_named else _FAINT)
        fill = _FILLS[world.genders[p]] if is_named else _PAPER
        marks.append(Shape(x, y, radius, world.genders[p] == 0, fill, color, 3.5 if is_asked else 1.5))
        if is_named:
            labels.append(Label(x, y + 30, plan.names[p], _QUERY if is_asked else _INK, 13, backed=True))
    names = [plan.names[p] for p in plan.query]
    width = int(max(x for x, _ in spots) + _MARGIN + 30)
    bottom = max(y for _, y in spots) + 62
    caption = f"What is {names[1]} to {names[0]}?  {example.answer}"
    labels.append(Label(_MARGIN - 20, bottom, caption, _QUERY, 15, left=True))
    kinds = sorted({fact.kind for fact in plan.facts})
    for i, kind in enumerate(kinds):
        text = "story path" if kind == 0 else f"{KINDS[kind]} noise"
        labels.append(Label(_MARGIN - 20 + 150 * i, bottom + 24, text, _COLORS[kind], 13, left=True))
    return max(width, 2 * _MARGIN + 8 * len(caption), 150 * len(kinds) + _MARGIN), int(bottom + 46), marks + labels


def _unrelated(plan: StoryPlan) -> People:
    """People of an unknown family, so that a graph can be drawn all the same."""
    none = tuple(-1 for _ in plan.names)
    return People(plan.genders, none, none, none)


def _tree_lines(world: People, spots: list[tuple[float, float]]) -> list[Mark]:
    marks: list[Mark] = []
    for p in range(len(world)):
        q = world.spouses[p]
        if q > p:
            marks.append(Line(*spots[p], *spots[q], _FAINT, 3))
        if world.fathers[p] >= 0:
            (ax, ay), (bx, _) = spots[world.fathers[p]], spots[world.mothers[p]]
            x, y = spots[p]
            middle, level = (ax + bx) / 2, y - _CELL_HEIGHT / 2 + 8
            marks += [Line(middle, ay, middle, level, _FAINT, 1.5), Line(middle, level, x, level, _FAINT, 1.5)]
            marks.append(Line(x, level, x, y, _FAINT, 1.5))
    return marks


def _arrow(fact: Fact, spots: list[tuple[float, float]]) -> tuple[list[Mark], Label]:
    """The fact from subject to relative as a bow with its word; between people of one row it passes above the others."""
    (x1, y1), (x2, y2) = spots[fact.subject], spots[fact.relative]
    dx, dy = x2 - x1, y2 - y1
    length = max(sqrt(dx * dx + dy * dy), 1.0)
    ux, uy = dx / length, dy / length
    side = 1.0 if abs(dy) > 1 or dx < 0 else -1.0
    bow = side * (8 + length / 14 if abs(dy) > 1 else 18 + length / 9)
    curve = _curve((x1, y1), ((x1 + x2) / 2 - 2 * bow * uy, (y1 + y2) / 2 + 2 * bow * ux), (x2, y2))
    color, is_noise = _COLORS[fact.kind], fact.kind != 0
    kept = [p for p in curve if min(_apart(p, (x1, y1)), _apart(p, (x2, y2))) > 21]
    marks: list[Mark] = [Line(*a, *b, color, 2.2, is_noise) for a, b in pairwise(kept)]
    (px, py), (ex, ey) = kept[-2:] if len(kept) > 1 else ((x1, y1), (x2, y2))
    size = max(_apart((px, py), (ex, ey)), 0.1)
    hx, hy = (ex - px) / size, (ey - py) / size
    for half in (0.5, -0.5):
        marks.append(Line(ex, ey, ex - 9 * hx - 9 * half * hy, ey - 9 * hy + 9 * half * hx, color, 2.2))
    step = f"{fact.place + 1} " if fact.place >= 0 else ""
    return marks, Label(*curve[len(curve) // 2], step + RELATIONS[fact.relation], color, 12, backed=True)


_Point = tuple[float, float]
_PIECES = 64
"""Straight pieces of a drawn curve."""


def _curve(a: _Point, c: _Point, b: _Point) -> list[_Point]:
    """Points of the quadratic curve from a to b that leans towards c."""
    found = []
    for i in range(_PIECES + 1):
        t = i / _PIECES
        u = 1 - t
        found.append((u * u * a[0] + 2 * u * t * c[0] + t * t * b[0], u * u * a[1] + 2 * u * t * c[1] + t * t * b[1]))
    return found


def _apart(a: _Point, b: _Point) -> float:
    dx, dy = a[0] - b[0], a[1] - b[1]
    return sqrt(dx * dx + dy * dy)  # not a power: its last bit differs between machines


def _svg(width: int, height: int, marks: list[Mark]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>', *map(_svg_mark, marks), "</svg>"])


def _svg_mark(mark: Mark) -> str:
    if isinstance(mark, Line):
        dash = ' stroke-dasharray="3 3"' if mark.dashed else ""
        ends = f'x1="{mark.x1:.1f}" y1="{mark.y1:.1f}" x2="{mark.x2:.1f}" y2="{mark.y2:.1f}"'
        return f'<line {ends} stroke="{mark.color}" stroke-width="{mark.width}" stroke-linecap="round"{dash}/>'
    if isinstance(mark, Shape):
        style = f'fill="{mark.fill}" stroke="{mark.color}" stroke-width="{mark.width}"'
        if mark.is_circle:
            return f'<circle cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{mark.radius}" {style}/>'
        side = 2 * mark.radius
        return f'<rect x="{mark.x - mark.radius:.1f}" y="{mark.y - mark.radius:.1f}" width="{side}" height="{side}" rx="3" {style}/>'
    anchor = "start" if mark.left else "middle"
    halo = f' stroke="{_PAPER}" stroke-width="4" paint-order="stroke"' if mark.backed else ""
    place = f'x="{mark.x:.1f}" y="{mark.y + mark.size * 0.35:.1f}"'
    return f'<text {place} font-size="{mark.size}" fill="{mark.color}" text-anchor="{anchor}"{halo}>{escape(mark.text)}</text>'


_SCALE = 2
"""A picture is painted at this scale and made smaller, for smooth edges."""


def _png(width: int, height: int, marks: list[Mark]) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width * _SCALE, height * _SCALE), _PAPER)
    pen = ImageDraw.Draw(image)
    for mark in marks:
        if isinstance(mark, Line):
            _draw_line(pen, mark)
        elif isinstance(mark, Shape):
            box = [(c + s * mark.radius) * _SCALE for s in (-1, 1) for c in (mark.x, mark.y)]
            draw = pen.ellipse if mark.is_circle else pen.rectangle
            draw(box, fill=mark.fill, outline=mark.color, width=round(mark.width * _SCALE))
        else:
            _draw_label(image, mark)
    return encode(image.reduce(_SCALE).tobytes(), width, height)


def _draw_label(image: Any, mark: Label) -> None:
    """The words, over a band of paper around the letters where they are backed."""
    for color, stroke in ((_PAPER, 2 * _SCALE), (mark.color, 0)) if mark.backed else ((mark.color, 0),):
        cover, left, top = _written(mark.text, mark.size, "lm" if mark.left else "mm", stroke)
        image.paste(color, (round(mark.x * _SCALE) + left, round(mark.y * _SCALE) + top), cover)


@cache
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size * _SCALE)


@lru_cache(maxsize=4096)
def _written(text: str, size: int, anchor: str, stroke: int) -> tuple[Any, int, int]:
    """How far the letters cover each pixel, and where that mask lies beside the anchor. Words come back in many pictures."""
    from PIL import Image, ImageDraw

    left, top, right, bottom = (round(end) for end in _font(size).getbbox(text, anchor=anchor, stroke_width=stroke))
    cover = Image.new("L", (right - left + 2, bottom - top + 2), 0)
    at = (1 - left, 1 - top)
    ImageDraw.Draw(cover).text(at, text, fill=255, font=_font(size), anchor=anchor, stroke_width=stroke)
    return cover, left - 1, top - 1


def _draw_line(pen: Any, mark: Line) -> None:
    dx, dy = mark.x2 - mark.x1, mark.y2 - mark.y1
    length = sqrt(dx * dx + dy * dy)
    dashes = max(1, int(length // 6)) if mark.dashed else 1
    for i in range(dashes):
        a, b = (i / dashes, (i + 0.6) / dashes) if mark.dashed else (0.0, 1.0)
        ends = [(mark.x1 + dx * t, mark.y1 + dy * t) for t in (a, b)]
        pen.line([(x * _SCALE, y * _SCALE) for x, y in ends], fill=mark.color, width=max(1, round(mark.width * _SCALE)))


# --- the family on paper: generations in rows, couples side by side, children under their parents ----------------------


def generations(world: People) -> list[int]:
    """Each person's row, 0 at the top of that person's own tree."""
    row: list[int | None] = [None] * len(world)
    for start in range(len(world)):
        if row[start] is not None:
            continue
        row[start], open_, piece = 0, [start], [start]
        while open_:
            p = open_.pop()
            here = row[p] or 0
            near = [(world.fathers[p], here - 1), (world.mothers[p], here - 1), (world.spouses[p], here)]
            near += [(c, here + 1) for c in range(len(world)) if p in (world.fathers[c], world.mothers[c])]
            for q, level in near:
                if q >= 0 and row[q] is None:
                    row[q] = level
                    open_.append(q)
                    piece.append(q)
        top = min(row[q] or 0 for q in piece)
        for q in piece:
            row[q] = (row[q] or 0) - top
    return [level or 0 for level in row]


def pieces(world: People) -> list[list[int]]:
    """The people of each connected tree, in the order of a walk through it."""
    seen: set[int] = set()
    found = []
    for start in range(len(world)):
        if start in seen:
            continue
        piece: list[int] = []
        open_ = [start]
        while open_:
            p = open_.pop(0)
            if p in seen:
                continue
            seen.add(p)
            piece.append(p)
            children = [c for c in range(len(world)) if p in (world.fathers[c], world.mothers[c])]
            open_ += [q for q in (world.spouses[p], world.fathers[p], world.mothers[p], *children) if q >= 0 and q not in seen]
        found.append(piece)
    return found


def layout(world: People) -> list[tuple[float, int]]:
    """(x, row) of every person; trees stand side by side."""
    rows = generations(world)
    x = [0.0] * len(world)
    offset = 0.0
    for piece in pieces(world):
        _arrange(world, piece, rows, x)
        left = min(x[p] for p in piece)
        for p in piece:
            x[p] += offset - left
        offset = max(x[p] for p in piece) + 1.6 * _GAP
    return list(zip(x, rows, strict=True))


def _arrange(world: People, piece: Sequence[int], rows: Sequence[int], x: list[float]) -> None:
    """Pull everybody towards parents, children and spouse in turn, keeping couples together and everybody apart."""
    blocks: dict[int, list[list[int]]] = {}
    for p in piece:
        if world.spouses[p] < 0:
            blocks.setdefault(rows[p], []).append([p])
        elif world.genders[p] == 1:
            blocks.setdefault(rows[p], []).append([p, world.spouses[p]])
    for row in blocks.values():
        for i, block in enumerate(row):
            for j, p in enumerate(block):
                x[p] = 2.0 * i + j
    children = [[c for c in range(len(world)) if p in (world.fathers[c], world.mothers[c])] for p in range(len(world))]
    before: list[float] | None = None
    for turn in range(_ROUNDS):
        downwards = turn % 2 == 0
        if downwards:
            beside = [x[p] - x[piece[0]] for p in piece]
            if before is not None and max(abs(new - old) for new, old in zip(beside, before, strict=True)) < _STILL:
                break  # the people no longer move relative to each other
            before = beside
        for level in sorted(blocks, reverse=not downwards):
            row = blocks[level]
            wish = [_wish(world, block, x, None if downwards else children[block[0]]) for block in row]
            order = sorted(range(len(row)), key=lambda i: (wish[i], row[i][0]))
            blocks[level] = [row[i] for i in order]
            _spread(blocks[level], [wish[i] for i in order], x)
            _turn_couples(world, blocks[level], x)


def _wish(world: People, block: Sequence[int], x: Sequence[float], children: Sequence[int] | None) -> float:
    """Where the middle of a block would like to be: over the children, or under the parents where none are given."""
    if children is None:
        near = [(x[world.fathers[p]] + x[world.mothers[p]]) / 2 for p in block if world.fathers[p] >= 0]
    else:
        near = [x[c] for c in children]
    return sum(near) / len(near) if near else sum(x[p] for p in block) / len(block)


def _spread(row: Sequence[Sequence[int]], wish: Sequence[float], x: list[float]) -> None:
    """Put the blocks of a row near their wishes without overlap."""
    at: list[float] = []
    for block, middle in zip(row, wish, strict=True):
        start = middle - (len(block) - 1) * _GAP / 2
        at.append(max(start, at[-1] + _GAP * 1.15) if at else start)
        for j, p in enumerate(block):
            x[p] = at[-1] + j * _GAP
        at[-1] = x[block[-1]]
    shift = sum(w - (x[b[0]] + x[b[-1]]) / 2 for b, w in zip(row, wish, strict=True)) / len(row)
    for block in row:
        for p in block:
            x[p] += shift


def _turn_couples(world: People, row: Sequence[list[int]], x: list[float]) -> None:
    """Let each spouse stand on the side of the own parents."""
    for block in row:
        if len(block) != 2 or min(world.fathers[p] for p in block) < 0:
            continue
        a, b = block
        if x[world.fathers[a]] > x[world.fathers[b]]:
            x[a], x[b] = x[b], x[a]
            block.reverse()
