"""One answer -> right or wrong; whether it found the target at all; and which shortcut readers would have answered the same."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from recombine.columns import value_at
from recombine.core import Batch, Example, Family, Score
from recombine.families.gscan.explain import READERS
from recombine.families.gscan.plan import parse_any
from recombine.grid import score as grid_score
from recombine.grid.codes import ADVERBS, ANY, COLORS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.play import Outcome
from recombine.grid.score import end_after, end_of

KERNEL_NAME = "recombine.families.gscan.answer_kernel"


def score(example: Example, answer: str) -> Score:
    """The verdict of `grid.score` with the mistakes of gSCAN's readers."""
    return grid_score.score(example, answer, mistakes)


def mistakes(example: Example, actions: tuple[str, ...], given: Outcome) -> tuple[str, ...]:
    """The readers who give these very actions, then those who end in the same wrong state."""
    same, alike = [], []
    end = end_of(given.world)
    is_elsewhere = end != end_after(example.world, tuple(example.answer.split(",")))
    for name, answers in _readings(example):
        if actions in answers:
            same.append(name)
        elif is_elsewhere and any(end_after(example.world, answer) == end for answer in answers):
            alike.append(name)
    return (*same, *alike)


@functools.lru_cache(maxsize=4096)
def _readings(example: Example) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]:
    """Every reader with its answers; kept, because one example is scored many times. Examples are compared by identity."""
    read = ((name, reader(example.world, example.plan)) for name, (_, reader) in READERS.items())
    return tuple((name, tuple(answer for answer in answers if answer)) for name, answers in read)


# --- many answers ----------------------------------------------------------------------------------------------------


def score_batch(family: Family, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
    """The verdict on one answer to each of these rows; small jobs are judged one by one."""
    return grid_score.score_batch(family, batch, rows, answers, named, KERNEL_NAME, judge)


def judge(batch: Batch, rows: Sequence[int], worlds: Any, pair: tuple[Any, Any], kernel: Any, named: bool) -> tuple[Any, Any]:
    """The figures of these rows, and a function that names the readers of a row."""
    import numpy as np

    from recombine.families.gscan.answer_kernel import READERS as COUNT
    from recombine.families.gscan.answer_kernel import Verdicts
    from recombine.grid.answer_kernel import FIGURES, SAME, desk_of
    from recombine.grid.answers import tabled

    commands = tabled([str(value_at(batch.columns["command"], row)) for row in rows], _command_codes)
    verdicts = Verdicts(np.zeros((len(rows), FIGURES), np.int64), np.zeros((len(rows), COUNT), np.int64))
    sets = np.zeros((5, int(max(5, worlds.grids.max()))), np.int64)
    kernel.judge_rows(worlds, *pair, commands, named, desk_of(), sets, verdicts)
    names = list(READERS)

    def readers(place: int) -> tuple[str, ...]:
        kinds = verdicts.readers[place].tolist()
        same = [name for name, kind in zip(names, kinds, strict=True) if kind == SAME]
        return (*same, *(name for name, kind in zip(names, kinds, strict=True) if kind and kind != SAME))

    return verdicts.figures, readers


def _command_codes(text: str) -> tuple[int, ...]:
    """Verb, adverb, size word, colour word and noun of a command, as the kernel takes them."""
    command = parse_any(text)
    said = command.phrase
    color = COLORS.index(said.color) if said.color else ANY
    shape = SHAPES.index(said.shape) if said.shape else ANY
    return VERBS.index(command.verb), ADVERBS.index(command.adverb), SIZE_WORDS.index(said.size), color, shape
