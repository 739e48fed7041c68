"""One answer -> right or wrong; whether it found the target at all; and which shortcut readers would have answered the same."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from recombine import kernels
from recombine.columns import value_at
from recombine.core import Batch, Example, Family, Score
from recombine.families.gscan.explain import READERS
from recombine.families.gscan.plan import parse_command
from recombine.grid.codes import ADVERBS, ANY, COLORS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.play import Outcome, parse_actions, replay

KERNEL_NAME = "recombine.families.gscan.answer_kernel"
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


# --- many answers ----------------------------------------------------------------------------------------------------


def score_batch(family: Family, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
    """The verdict on one answer to each of these rows; small jobs are judged one by one."""
    if kernels.is_worth_compiling(KERNEL_NAME, len(rows)):
        found = judged(batch, rows, answers, named, kernels.load(KERNEL_NAME, compiled=True))
        if found is not None:
            return found
    return [score(family.example(batch, row), answer) for row, answer in zip(rows, answers, strict=True)]


def judged(
    batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool, kernel: SimpleNamespace
) -> list[Score] | None:
    """The verdicts by the kernel; None if a row is not a possible one."""
    import numpy as np

    from recombine.families.gscan import answer_kernel as layout
    from recombine.grid.answer_kernel import SAME, desk_of
    from recombine.grid.answers import action_codes, answers_of, gold_of, tabled, worlds_of

    said = [codes if (codes := action_codes(answer)) and len(codes) <= MAX_ACTIONS else None for answer in answers]
    able = [row for row, codes in zip(rows, said, strict=True) if codes is not None]
    found = [Score(0.0, "unparsable")] * len(rows)
    if not able:
        return found
    worlds, gold = worlds_of(batch, able), gold_of(batch, able)
    if worlds is None or gold is None:
        return None
    given = answers_of([codes for codes in said if codes is not None])
    commands = tabled([str(value_at(batch.columns["command"], row)) for row in able], _command_codes)
    verdicts = layout.Verdicts(np.zeros((len(able), layout.FIGURES), np.int64), np.zeros((len(able), layout.READERS), np.int64))
    sets = np.zeros((5, int(max(5, worlds.grids.max()))), np.int64)
    kernel.judge_rows(worlds, given, gold, commands, named, desk_of(), sets, verdicts)
    lengths = np.diff(given.offsets).tolist(), np.diff(gold.offsets).tolist()
    names, place = list(READERS), 0
    for i, codes in enumerate(said):
        if codes is None:
            continue
        target, end, prefix, failed = verdicts.figures[place].tolist()
        detail = {"target_cell": bool(target), "end_state": bool(end), "right_prefix": prefix}
        if prefix == lengths[0][place] == lengths[1][place]:
            found[i] = Score(1.0, "right", detail=detail)
        else:
            kinds = verdicts.readers[place].tolist() if named else []
            same = [name for name, kind in zip(names, kinds, strict=False) if kind == SAME]
            alike = [name for name, kind in zip(names, kinds, strict=False) if kind and kind != SAME]
            found[i] = Score(0.0, "wrong", (*same, *alike), {**detail, "impossible_actions": failed})
        place += 1
    return found


def _command_codes(text: str) -> tuple[int, ...]:
    """Verb, adverb, size word, colour word and noun of a command, as the kernel takes them."""
    command = parse_command(text)
    said = command.phrase
    color = COLORS.index(said.color) if said.color else ANY
    shape = SHAPES.index(said.shape) if said.shape else ANY
    return VERBS.index(command.verb), ADVERBS.index(command.adverb), SIZE_WORDS.index(said.size), color, shape
