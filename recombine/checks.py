"""Judging rows one by one, so that a malformed row is a finding about that row and the others are still judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from recombine.core import Claim, Example, Problem
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


def claim_problems(claims: Mapping[str, Claim], example: Example) -> Iterator[Problem]:
    """Whether the example may stand in its part, by the claim of its split. Files by others name no split and are not judged."""
    split, part = example.meta.get("split"), str(example.meta.get("part", ""))
    if not split:
        return
    claim = claims.get(str(split))
    if claim is None:
        text = f"the oracle has no claim for split {shown(str(split))}, so nothing says what belongs there"
        yield Problem("unjudged_split", text)
    elif reason := claim(example, part):
        yield Problem("wrong_split", f"it cannot be in {shown(str(split))}/{shown(part)}: {reason}")
