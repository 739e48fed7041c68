"""Shapes of JSON values: what a file of ours must hold, declared once beside its reader and checked when it is read.

A shape is a function that raises `Misfit` for a value that does not fit. `check` turns that into a `FileError` that names the file,
the place inside it, the value and what was expected. Keys that a shape does not name are allowed: later versions may add some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from recombine.errors import FileError, shown

Shape = Callable[[Any], None]
MOST_ROWS = 10**11
"""The most rows that a part of a folder can have."""


class Misfit(Exception):
    """A value does not have its shape; `path` grows on the way out."""

    def __init__(self, value: object, need: str, path: str = "") -> None:
        super().__init__(need)
        self.value, self.need, self.path = value, need, path


def check(value: Any, shape: Shape, place: str) -> None:
    """A `FileError` unless the value has the shape; `place` names the file (and the line) it was read from."""
    try:
        shape(value)
    except Misfit as misfit:
        what = misfit.path.lstrip(".") or "the document"
        raise FileError(f"{place}: {what} is {shown(misfit.value)}, but must be {misfit.need}.") from None


def text(most: int = 10_000, pattern: str = "") -> Shape:
    """A text of at most so many characters that matches the pattern as a whole."""
    wanted = re.compile(pattern) if pattern else None

    def fits(value: Any) -> None:
        if not isinstance(value, str) or len(value) > most or (wanted is not None and not wanted.fullmatch(value)):
            raise Misfit(value, f"a text of the form {pattern}" if pattern else f"a text of at most {most:,} characters")

    return fits


def whole(low: int = 0, high: int = 1 << 63) -> Shape:
    """A whole number within bounds; true and false are none."""

    def fits(value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise Misfit(value, f"a whole number from {low} to {high}")

    return fits


def number(low: float = -math.inf, high: float = math.inf) -> Shape:
    """A finite number within bounds."""

    def fits(value: Any) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not low <= value <= high:
            raise Misfit(value, "a finite number" if low == -math.inf else f"a number from {low:g} to {high:g}")

    return fits


def flag(value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise Misfit(value, "true or false")


def anything(_value: Any) -> None:
    """Any JSON value, for fields that are kept for the record and never read."""


def option(value: Any) -> None:
    """A value of a dial: true or false, a number, or a short text."""
    if not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        raise Misfit(value, "true or false, a finite number or a text")
    if isinstance(value, str) and len(value) > 200:
        raise Misfit(value, "a text of at most 200 characters")


def optional(shape: Shape) -> Shape:
    """Null, or a value of the shape."""

    def fits(value: Any) -> None:
        if value is not None:
            shape(value)

    return fits


def either(*shapes: Shape) -> Shape:
    """A value of one of the shapes; the last one's complaint is raised."""

    def fits(value: Any) -> None:
        for shape in shapes[:-1]:
            try:
                shape(value)
            except Misfit:
                continue
            return
        shapes[-1](value)

    return fits


def both(*shapes: Shape) -> Shape:
    """A value of all the shapes."""

    def fits(value: Any) -> None:
        for shape in shapes:
            shape(value)

    return fits


def listing(shape: Shape, least: int = 0) -> Shape:
    """A list of values of one shape."""

    def fits(value: Any) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise Misfit(value, f"a list of at least {least} values" if least else "a list")
        for i, item in enumerate(value):
            _within(f"[{i}]", shape, item)

    return fits


def pair(first: Shape, second: Shape) -> Shape:
    """A list of exactly two values."""

    def fits(value: Any) -> None:
        if not isinstance(value, list) or len(value) != 2:
            raise Misfit(value, "a list of two values")
        _within("[0]", first, value[0])
        _within("[1]", second, value[1])

    return fits


def mapping(shape: Shape) -> Shape:
    """An object with any names and values of one shape."""

    def fits(value: Any) -> None:
        if not isinstance(value, dict):
            raise Misfit(value, "an object")
        for name, item in value.items():
            _within(f".{name}", shape, item)

    return fits


def record(needs: Mapping[str, Shape], may: Mapping[str, Shape] | None = None) -> Shape:
    """An object that has all the names of `needs` and may have those of `may`, each with its shape."""

    def fits(value: Any) -> None:
        if not isinstance(value, dict):
            raise Misfit(value, "an object")
        for name, shape in needs.items():
            if name not in value:
                raise Misfit(sorted(value), f"an object with {name!r}")
            _within(f".{name}", shape, value[name])
        for name, shape in (may or {}).items():
            if name in value:
                _within(f".{name}", shape, value[name])

    return fits


def _within(step: str, shape: Shape, value: Any) -> None:
    try:
        shape(value)
    except Misfit as misfit:
        misfit.path = step[:80] + misfit.path
        raise
