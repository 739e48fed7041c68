"""One answer -> right or wrong; whether it found the target at all; and which shortcut readers would have answered the same."""

from __future__ import annotations

import functools
from typing import Any

from recombine.core import Example, Score
from recombine.families.gscan.explain import READERS
from recombine.grid.play import Outcome, parse_actions, replay

MAX_ACTIONS = 2_000
"""More actions than this are no answer: the longest right one of any allowed grid is far shorter."""


def score(example: Example, answer: str) -> Score:
    """Exact match of the actions. `detail` says whether the answer, replayed, reached the target's cell and the right end."""
    actions = parse_actions(answer) if isinstance(answer, str) else None
    if not actions or len(actions) > MAX_ACTIONS:
        return Score(0.0, "unparsable")
    right = tuple(example.answer.split(","))
    if actions == right:
        return Score(1.0, "right", detail={"target_cell": True, "end_state": True, "right_prefix": len(right)})
    given, gold = replay(example.world, actions), replay(example.world, right)
    target = example.world.things[0]
    prefix = next(
        (k for k, pair in enumerate(zip(actions, right, strict=False)) if pair[0] != pair[1]), min(len(actions), len(right))
    )
    detail = {
        "target_cell": given.reached == (target.row, target.column),
        "end_state": _state(given) == _state(gold),
        "right_prefix": prefix,
        "impossible_actions": len(given.failures),
    }
    return Score(0.0, "wrong", mistakes(example, actions, given, gold), detail)


def _state(outcome: Outcome) -> Any:
    """Where everything lies at the end; the heading does not matter."""
    world = outcome.world
    return (world.row, world.column), tuple((t.row, t.column) for t in world.things)


def mistakes(example: Example, actions: tuple[str, ...], given: Outcome, gold: Outcome) -> tuple[str, ...]:
    """The readers who give these very actions, then those who end in the same wrong state."""
    same, alike = [], []
    end = _state(given)
    is_elsewhere = end != _state(gold)
    for name, answers in _readings(example):
        if actions in answers:
            same.append(name)
        elif is_elsewhere and any(_end(example, answer) == end for answer in answers):
            alike.append(name)
    return (*same, *alike)


@functools.lru_cache(maxsize=4096)
def _readings(example: Example) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    """Every reader with its answers; kept, because one example is scored many times. Examples are compared by identity."""
    read = ((name, reader(example.world, example.plan)) for name, (_, reader) in READERS.items())
    return tuple((name, tuple(answer for answer in answers if answer)) for name, answers in read)


@functools.lru_cache(maxsize=16_384)
def _end(example: Example, answer: tuple[str, ...]) -> Any:
    return _state(replay(example.world, answer))
