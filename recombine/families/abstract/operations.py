"""Operations: what a rule does to its referent. Every operation has a number, a row of `TABLE` and a text.

A row of `TABLE` is one number per column. `NOTHING` in a column means that the operation leaves that property alone.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from recombine.grid.codes import COLORS, HEADINGS, SHAPES, SIZES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# columns of TABLE
PAINT, RESHAPE, RESIZE, STEP, MOVE, REMOVE, ADD_COLOR, ADD_SHAPE, ADD_SIZE, ADD_HEADING, COPY = range(11)
NOTHING = -1
COPY_COLOR, COPY_SHAPE, COPY_SIZE = 0, 1, 2
COPIED = ("color", "shape", "size")
ADDED_SHAPES = SHAPES[:3]
"""A new object is never a box."""

Row = tuple[int, ...]


def _row(**fields: int) -> Row:
    names = (
        "paint",
        "reshape",
        "resize",
        "step",
        "move",
        "remove",
        "add_color",
        "add_shape",
        "add_size",
        "add_heading",
        "copy",
    )
    return tuple(fields.get(name, 0 if name == "step" else NOTHING) for name in names)


def _merged(a: Row, b: Row) -> Row:
    idle = _row()
    return tuple(y if x == rest else x for x, y, rest in zip(a, b, idle, strict=True))


@functools.cache
def _listed() -> tuple[tuple[str, str, Row], ...]:
    """(kind, text, row) of every operation, in the order of their numbers."""
    paint = [("paint", f"paint {color}", _row(paint=i)) for i, color in enumerate(COLORS)]
    reshape = [("reshape", f"reshape {shape}", _row(reshape=i)) for i, shape in enumerate(SHAPES)]
    resize = [("resize", f"resize {size}", _row(resize=size)) for size in SIZES]
    grow, shrink = [("grow", "grow", _row(step=1))], [("shrink", "shrink", _row(step=-1))]
    move = [("move", f"move {heading}", _row(move=i)) for i, heading in enumerate(HEADINGS)]
    remove = [("remove", "remove", _row(remove=1))]
    add = [
        (
            "add",
            f"add {color} {shape} {size} {heading}",
            _row(add_color=c, add_shape=s, add_size=size, add_heading=h),
        )
        for c, color in enumerate(COLORS)
        for s, shape in enumerate(ADDED_SHAPES)
        for size in SIZES
        for h, heading in enumerate(HEADINGS)
    ]
    copy = [("copy", f"copy {name}", _row(copy=i)) for i, name in enumerate(COPIED)]
    groups = (paint, reshape, [*resize, *grow, *shrink], move)
    two = [
        ("two", f"{a[1]} and {b[1]}", _merged(a[2], b[2]))
        for first, second in itertools.combinations(groups, 2)
        for a in first
        for b in second
    ]
    return (*paint, *reshape, *resize, *grow, *shrink, *move, *remove, *add, *copy, *two)


KINDS = ("paint", "reshape", "resize", "grow", "shrink", "move", "remove", "add", "copy", "two")
"""Kinds of operations; `two` is two of the first six in sequence, on different properties."""


@functools.cache
def texts() -> tuple[str, ...]:
    """The text of every operation, by number: `paint red`, `add blue square 4 east`, `grow and move north`."""
    return tuple(text for _, text, _ in _listed())


@functools.cache
def numbers() -> Mapping[str, int]:
    """Text -> number."""
    return MappingProxyType({text: i for i, text in enumerate(texts())})


@functools.cache
def kinds() -> tuple[str, ...]:
    """The kind of every operation, by number."""
    return tuple(kind for kind, _, _ in _listed())


@functools.cache
def ranges() -> Mapping[str, tuple[int, int]]:
    """Kind -> [first, end) of its numbers."""
    listed = kinds()
    return MappingProxyType({kind: (listed.index(kind), len(listed) - listed[::-1].index(kind)) for kind in KINDS})


@functools.cache
def table() -> NDArray[np.int64]:
    """[operations, columns], as the kernel takes it."""
    import numpy as np

    return np.array([row for _, _, row in _listed()], dtype=np.int64)


def sentence(operation: str, pivot: str = "") -> str:
    """What happens to the object, as the end of a sentence: `turns red`, `takes the color of the blue box`."""
    return " and ".join(_clause(part.split(), pivot) for part in operation.split(" and "))


def _clause(words: list[str], pivot: str) -> str:
    kind, *given = words
    if kind == "add":
        color, shape, size, heading = given
        return f"gets a new {color} {shape} of size {size} one cell to its {heading}"
    if kind == "copy":
        return f"takes the {given[0]} of the {pivot or 'related object'}"
    simple = {
        "paint": "turns {}", "reshape": "becomes a {}", "resize": "gets size {}", "grow": "grows by one size",
        "shrink": "shrinks by one size", "move": "moves one cell {}", "remove": "disappears",
    }  # fmt: skip
    return simple[kind].format(*given)
