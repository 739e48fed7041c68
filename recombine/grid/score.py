"""One verdict for every family of grid worlds: the same limits, statuses and details, for one answer and for many.

A family adds the names of its careless readers, and a kernel that finds them for many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recombine import kernels
from recombine.core import Batch, Example, Family, Score
from recombine.grid.play import Outcome, parse_actions, replay
from recombine.grid.world import World

MAX_ACTIONS = 2_000
"""More actions than this are no answer: the longest right one of any allowed grid is far shorter."""
Actions = tuple[str, ...]
Namer = Callable[[Example, Actions, Outcome], tuple[str, ...]]
"""Example, wrong actions, what they do -> the names of the readers who would answer so."""
Judge = Callable[[Batch, Sequence[int], Any, tuple[Any, Any], Any, bool], tuple[Any, Callable[[int], tuple[str, ...]]]]
"""Batch, rows, their worlds, (given, gold), kernel, whether readers are named -> figures, and the readers of each row."""


def score(example: Example, answer: str, namer: Namer) -> Score:
    """Exact match of the actions. `detail` says how far a wrong answer is right.

    - `target_cell`: the answer, replayed, works at the target's cell (or ends there);
    - `end_state`: agent and objects stand where the right actions leave them;
    - `right_prefix`: how many actions are right from the beginning;
    - `impossible_actions`: how many actions could not be done.
    """
    actions = parse_actions(answer) if isinstance(answer, str) else None
    right = tuple(example.answer.split(",")) if example.answer else ()
    if actions is None or len(actions) > MAX_ACTIONS or (not actions and right):
        return Score(0.0, "unparsable")
    known = example.world.outcomes.get(actions)
    given = replay(example.world, actions) if known is None else known[0]
    target = example.world.things[0]
    detail = {
        "target_cell": given.reached == (target.row, target.column),
        "end_state": actions == right or end_of(given.world) == end_after(example.world, right),
        "right_prefix": next((k for k, (a, b) in enumerate(zip(actions, right, strict=False)) if a != b), min(len(actions), len(right))),
        "impossible_actions": len(given.failures),
    }  # fmt: skip
    if actions == right:
        return Score(1.0, "right", detail=detail)
    return Score(0.0, "wrong", namer(example, actions, given), detail)


def end_of(world: World) -> Any:
    """Where the agent and every object stand; the heading does not matter."""
    return (world.row, world.column), tuple((t.row, t.column) for t in world.things)


def end_after(world: World, actions: Actions) -> Any:
    """`end_of` the world after these actions, worked out once; for right answers and the readers' ones, which come again and again."""
    known = world.outcomes.get(actions)
    if known is None:
        given = replay(world, actions)
        known = world.outcomes[actions] = given, end_of(given.world)
    return known[1]


def score_batch(
    family: Family, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool, kernel_name: str, judge: Judge
) -> list[Score]:
    """The verdict on one answer to each of these rows; small jobs are judged one by one."""
    if kernels.is_worth_compiling(kernel_name, len(rows)):
        found = judged(batch, rows, answers, named, kernels.load(kernel_name, compiled=True), judge)
        if found is not None:
            return found
    return [family.score(family.example(batch, row), answer) for row, answer in zip(rows, answers, strict=True)]


def judged(
    batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool, kernel: Any, judge: Judge
) -> list[Score] | None:
    """The verdicts by the kernel; None if a row is not a possible one."""
    import numpy as np

    from recombine.grid.answers import action_codes, answers_of, gold_of, worlds_of

    all_gold = gold_of(batch, rows)
    if all_gold is None:
        return None
    longs = np.diff(all_gold.offsets).tolist()
    said = [action_codes(answer) if isinstance(answer, str) else None for answer in answers]
    said = [
        None if codes is None or len(codes) > MAX_ACTIONS or (not codes and long) else codes
        for codes, long in zip(said, longs, strict=True)
    ]
    able = [row for row, codes in zip(rows, said, strict=True) if codes is not None]
    found = [Score(0.0, "unparsable")] * len(rows)
    if not able:
        return found
    worlds, gold = worlds_of(batch, able), gold_of(batch, able)
    if worlds is None or gold is None:
        return None
    given = answers_of([codes for codes in said if codes is not None])
    figures, names = judge(batch, able, worlds, (given, gold), kernel, named)
    lengths = np.diff(given.offsets).tolist(), np.diff(gold.offsets).tolist()
    place = 0
    for i, codes in enumerate(said):
        if codes is None:
            continue
        target, end, prefix, failed = figures[place].tolist()
        detail = {
            "target_cell": bool(target), "end_state": bool(end), "right_prefix": prefix, "impossible_actions": failed,
        }  # fmt: skip
        if prefix == lengths[0][place] == lengths[1][place]:
            found[i] = Score(1.0, "right", detail=detail)
        else:
            found[i] = Score(0.0, "wrong", names(place) if named else (), detail)
        place += 1
    return found
