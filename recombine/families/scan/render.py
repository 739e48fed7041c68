"""An example for people: what is asked (`text`); the derivation tree (`ascii`) and the walk as a picture (`svg`).

Only `text` is fit for a model: the tree shows the answer of NACS, the picture that of SCAN.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from recombine.core import Example, Medium
from recombine.errors import UnknownName
from recombine.families.scan.generate import texts
from recombine.families.scan.plan import REPEATS, Clause, Command, Phrase, parse_actions

SIGNS = {
    "W": ("W", "#1f6feb", "walk"),
    "R": ("R", "#d1242f", "run"),
    "J": ("J", "#8250df", "jump"),
    "L": ("L", "#9a6700", "look"),
    "<": ("\u2190", "#57606a", "turn left"),
    ">": ("\u2192", "#57606a", "turn right"),
}
"""How the picture shows an action: sign, colour, name."""
STRIDE = {"W": 1, "R": 2, "J": 1}
"""How far the picture moves for an action. SCAN itself gives actions no such meaning."""
MARGIN, BORDER, UNIT, SIGN, STRIP_COLUMNS = 32, 60, 60, 23, 16
"""Pixels around the text, around the path, per step and per sign; signs in one row of the strip."""


def render(example: Example, medium: Medium) -> str:
    """The example as `text` (the input), `ascii` (the derivation tree) or `svg` (the path that the actions walk)."""
    if medium not in MEDIA:
        raise UnknownName("medium of scan", medium, MEDIA)
    return MEDIA[medium](example)


def _question(example: Example) -> str:
    return "\n".join(f"{name}: {value}" for name, value in example.inputs.items())


# --- the tree --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A node of the derivation: a symbol of the grammar and its children, or a word."""

    label: str
    children: tuple[Node, ...] = ()


def derivation(command: Command) -> Node:
    """The parse tree of a command, in the symbols of the paper's grammar (C, S, V, D, U)."""
    first = _clause(command.first)
    return Node("C", (first,) if command.second is None else (first, Node(command.conjunction), _clause(command.second)))


def _clause(clause: Clause) -> Node:
    times = (Node(REPEATS[clause.times - 1]),) if clause.times > 1 else ()
    return Node("S", (_phrase(clause.phrase), *times))


def _phrase(phrase: Phrase) -> Node:
    head = Node("turn") if phrase.verb == "turn" else Node("U", (Node(phrase.verb),))
    if not phrase.side:
        return Node("V", (head,))
    if phrase.manner:
        return Node("V", (Node("D[1]", (head,)), Node(phrase.manner), Node("D[2]", (Node(phrase.side),))))
    return Node("V", (Node("D", (head, Node(phrase.side))),))


def _branches(node: Node, indent: str = "") -> Iterator[str]:
    for i, child in enumerate(node.children):
        is_last = i == len(node.children) - 1
        yield f"{indent}{'`-- ' if is_last else '|-- '}{child.label}"
        yield from _branches(child, indent + ("    " if is_last else "|   "))


def _tree(example: Example) -> str:
    if not isinstance(example.plan, Command):
        return f"{texts(example)[0]}\n(not a command of the grammar)"
    root = derivation(example.plan)
    return "\n".join([f"{example.plan}", root.label, *_branches(root)])


# --- the picture -----------------------------------------------------------------------------------------------------

Point = tuple[float, float]


@dataclass(frozen=True)
class Act:
    """One action that is not a turn: what, from where to where, and how often this stretch or place was used before."""

    letter: str
    start: Point
    end: Point
    before: int


def walk(letters: str) -> list[Act]:
    """The acts of a sequence, from the origin, facing north (y grows southward); turns only change the heading."""
    x, y, dx, dy = 0, 0, 0, -1
    acts: list[Act] = []
    used: Counter[frozenset[Point]] = Counter()
    for letter in letters:
        if letter in "<>":
            dx, dy = (dy, -dx) if letter == "<" else (-dy, dx)
            continue
        step = STRIDE.get(letter, 0)
        start, end = (x, y), (x + dx * step, y + dy * step)
        acts.append(Act(letter, start, end, used[frozenset((start, end))]))
        used[frozenset((start, end))] += 1
        x, y = end
    return acts


def _picture(example: Example) -> str:
    """The command, its actions as a strip of signs, and the path that they walk."""
    command, actions = texts(example)
    letters = parse_actions(actions) or ""
    acts = walk(letters)
    xs, ys = ([point[axis] for act in acts for point in (act.start, act.end)] or [0] for axis in (0, 1))
    map_wide, map_high = (max(xs) - min(xs)) * UNIT + 2 * BORDER, (max(ys) - min(ys)) * UNIT + 2 * BORDER
    map_top = 56 + math.ceil(len(letters) / STRIP_COLUMNS) * SIGN
    wide = max(map_wide, 9 * len(command) + 2 * MARGIN, STRIP_COLUMNS * SIGN + 2 * MARGIN)
    high = map_top + map_high
    left, top = (wide - map_wide) / 2 + BORDER - min(xs) * UNIT, map_top + BORDER - min(ys) * UNIT

    def at(point: Point) -> Point:
        return left + point[0] * UNIT, top + point[1] * UNIT

    title = escape("".join(c if c.isprintable() else "?" for c in command))
    shapes = [f'<title>{title}</title><rect width="{wide:g}" height="{high:g}" fill="#ffffff"/>']
    shapes.append(f'<text x="{MARGIN}" y="32" font-size="16" font-weight="600" fill="#1f2328">{title}</text>')
    shapes += [_sign(i, letter) for i, letter in enumerate(letters)]
    shapes += [_shape(number, act, at(act.start), at(act.end)) for number, act in enumerate(acts, 1)]
    (x0, y0), (x1, y1) = at((0, 0)), at(acts[-1].end if acts else (0, 0))
    shapes.append(f'<circle cx="{x0:g}" cy="{y0:g}" r="5" fill="#1a7f37"><title>start, facing north</title></circle>')
    shapes.append(
        f'<circle cx="{x1:g}" cy="{y1:g}" r="9" fill="none" stroke="#1f2328" stroke-width="2"><title>end</title></circle>'
    )
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}" '
        f'font-family="system-ui, sans-serif" role="img">\n{body}\n</svg>\n'
    )


def _sign(i: int, letter: str) -> str:
    """One action of the strip."""
    row, column = divmod(i, STRIP_COLUMNS)
    x, y = MARGIN + column * SIGN, 48 + row * SIGN
    sign, colour, name = SIGNS[letter]
    box = f'<rect x="{x}" y="{y}" width="{SIGN - 3}" height="{SIGN - 3}" rx="4" fill="{colour}"/>'
    text = f'<text x="{x + 10}" y="{y + 15}" font-size="13" text-anchor="middle" fill="#ffffff">{sign}</text>'
    return f"<g><title>{i + 1}: {name}</title>{box}{text}</g>"


def _shape(number: int, act: Act, start: Point, end: Point) -> str:
    """An act on the map: a line walked or run, an arc jumped, a ring for a look. Later passes lie beside earlier ones."""
    _, colour, name = SIGNS[act.letter]
    style = f'fill="none" stroke="{colour}" stroke-width="2.5"><title>{number}: {name}</title>'
    (x0, y0), (x1, y1) = start, end
    if act.letter == "L":
        return f'<circle cx="{x0:g}" cy="{y0:g}" r="{11 + 3 * act.before}" {style}</circle>'
    length = abs(x1 - x0) + abs(y1 - y0)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length

    def beside(along: float, across: float) -> str:
        """A point of the line, this many pixels from its start and to its right."""
        return f"{x0 + dx * along - dy * across:g} {y0 + dy * along + dx * across:g}"

    aside, bend, half = 3.5 * act.before, 14 if act.letter == "J" else 0, length / 2
    line = f"M {beside(0, aside)} Q {beside(half, aside + 2 * bend)} {beside(length, aside)}"
    tip = aside + bend
    head = f"M {beside(half - 4, tip - 4)} L {beside(half + 3, tip)} L {beside(half - 4, tip + 4)}"
    return f'<path d="{line} {head}" {style}</path>'


MEDIA: dict[str, Callable[[Example], str]] = {"text": _question, "ascii": _tree, "svg": _picture}
