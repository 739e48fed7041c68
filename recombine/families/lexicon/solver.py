"""A solver that sees the inputs alone: it keeps every lexicon that fits the demonstrations. On `sound` tasks they agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.core import Example
from recombine.families.lexicon.oracle import eliminate, outcomes


def solve(inputs: Mapping[str, Any]) -> dict[str, int]:
    """The actions that the lexicons left give the test command, with how many give them, the commonest first."""
    left, _ = eliminate(inputs["demonstrations"])
    said = outcomes(left, str(inputs["command"]))
    listed = sorted(((actions, n) for actions, n in said.items() if actions is not None), key=lambda pair: (-pair[1], pair[0]))
    return dict(listed)


def solver(example: Example) -> str | None:
    """The answer that most of the lexicons left give; None if none is left."""
    return next(iter(solve(example.inputs)), None)
