"""Judging rows one by one, so that a malformed row is a finding about that row and the others are still judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from recombine.core import Problem
from recombine.errors import RecombineError, shown

MALFORMED = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecombineError)
"""What reading a row raises when the row is not an example. Nothing else is expected there."""


def by_row(rows: Iterable[int], check: Callable[[int], Iterable[Problem]]) -> Iterator[tuple[int, Problem]]:
    """Each problem that `check(row)` finds, with its row; a row that cannot be read has the problem `malformed`."""
    for row in rows:
        try:
            found = list(check(row))
        except MALFORMED as fault:
            found = [Problem("malformed", f"the row is not an example: {type(fault).__name__}: {shown(str(fault))}")]
        for problem in found:
            yield row, problem
