"""One answer -> right or wrong; whether it found the target at all; and which shortcut readers would have answered the same."""

from __future__ import annotations

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
    is_elsewhere = _state(given) != _state(gold)
    ends: dict[tuple[str, ...], Any] = {}
    for name, (_, reader) in READERS.items():
        answers = [answer for answer in reader(example.world, example.plan) if answer]
        if actions in answers:
            same.append(name)
        elif is_elsewhere:
            for answer in answers:
                if answer not in ends:
                    ends[answer] = _state(replay(example.world, answer))
            if _state(given) in [ends[answer] for answer in answers]:
                alike.append(name)
    return (*same, *alike)
