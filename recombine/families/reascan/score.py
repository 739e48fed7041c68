"""One answer -> right or wrong, whether it went to the right cell, and the names of the readers who would answer so."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any, cast

from recombine import kernels
from recombine.columns import value_at
from recombine.core import Batch, Example, Family, Score
from recombine.families.reascan.explain import KINDS, doings, reader_name
from recombine.families.reascan.plan import Command, parse_command
from recombine.grid.codes import ADVERBS, ANY, COLORS, RELATIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.play import parse_actions, replay
from recombine.grid.world import World

KERNEL_NAME = "recombine.families.reascan.answer_kernel"
MAX_ACTIONS = 400
"""Longer answers are wrong without being acted out."""


def score(example: Example, answer: str) -> Score:
    """Exact match of the actions. `detail` says whether the target's cell was right even if the actions were not.

    A wrong answer is a reader's mistake if it is what the reader does for one of the objects it may take, or ends the same.
    """
    world, command = cast(World, example.world), cast(Command, example.plan)
    actions = parse_actions(answer) if isinstance(answer, str) else None
    if actions is None or (not actions and answer.strip()):
        return Score(0.0, "unparsable", detail={"target_cell": False})
    target = (world.things[0].row, world.things[0].column)
    if len(actions) > MAX_ACTIONS:
        return Score(0.0, "wrong", detail={"target_cell": False})
    outcome = replay(world, actions)
    detail = {"target_cell": outcome.reached == target, "reached": list(outcome.reached), "failures": len(outcome.failures)}
    if ",".join(actions) == example.answer:
        return Score(1.0, "right", detail=detail)
    if not actions:
        return Score(0.0, "unparsable" if not answer.strip() else "wrong", detail=detail)
    mistakes = []
    is_elsewhere = outcome.reached != target and not outcome.failures
    for reader, plans in doings(world, command):
        for done in plans:
            if ",".join(done) == example.answer:
                continue
            if done == actions or (is_elsewhere and reader.takes != (0,) and _ends_like(world, done, outcome.world)):
                mistakes.append(reader.name)
                break
    return Score(0.0, "wrong", tuple(mistakes), detail)


@functools.lru_cache(maxsize=4096)
def _end(world: World, done: tuple[str, ...]) -> World:
    return replay(world, done).world


def _ends_like(world: World, done: tuple[str, ...], end: World) -> bool:
    other = _end(world, done)
    return (other.things, other.row, other.column) == (end.things, end.row, end.column)


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

    from recombine.families.reascan import answer_kernel as layout
    from recombine.grid.answer_kernel import desk_of
    from recombine.grid.answers import action_codes, answers_of, gold_of, worlds_of

    said = [action_codes(answer) for answer in answers]
    found = [_without_acting(answer, codes) for answer, codes in zip(answers, said, strict=True)]
    open_ones = [i for i, score in enumerate(found) if score is None]
    able = [rows[i] for i in open_ones]
    if not able:
        return [cast(Score, score) for score in found]
    worlds, gold = worlds_of(batch, able), gold_of(batch, able)
    commands = _commands([str(value_at(batch.columns["command"], row)) for row in able]) if named else None
    if worlds is None or gold is None:
        return None
    given = answers_of([said[i] or b"" for i in open_ones])
    verdicts = layout.Verdicts(np.zeros((len(able), layout.FIGURES), np.int64), np.zeros((len(able), layout.SLOTS), np.int64))
    kernel.judge_rows(worlds, given, gold, commands or _commands(["walk to a box"]), named, desk_of(), _reading(), verdicts)
    targets, names = worlds.things[:, 0, 3:5].tolist(), _slots()
    for place, i in enumerate(open_ones):
        right, row, column, failed = verdicts.figures[place].tolist()
        detail = {"target_cell": [row, column] == targets[place], "reached": [row, column], "failures": failed}
        if right:
            found[i] = Score(1.0, "right", detail=detail)
        elif not said[i]:
            found[i] = Score(0.0, "unparsable", detail=detail)
        else:
            mistakes = tuple(names[slot] for slot in verdicts.readers[place].nonzero()[0].tolist()) if named else ()
            found[i] = Score(0.0, "wrong", mistakes, detail)
    return [cast(Score, score) for score in found]


def _without_acting(answer: str, codes: bytes | None) -> Score | None:
    """The verdict on an answer that need not be acted out; None for the others."""
    if codes is None or (not codes and answer.strip()):
        return Score(0.0, "unparsable", detail={"target_cell": False})
    return Score(0.0, "wrong", detail={"target_cell": False}) if len(codes) > MAX_ACTIONS else None


@functools.cache
def _slots() -> tuple[str, ...]:
    """The reader behind each place of the kernel's `readers`, in the order of `explain.readers`."""
    from recombine.families.reascan.answer_kernel import MOST_NODES

    omitting = [reader_name(8 * j + kind) for j in range(MOST_NODES) for kind in range(len(KINDS))]
    swapping = [f"swaps_{kind}_{a + 1}_{b + 1}" for a, b in combinations(range(MOST_NODES), 2) for kind in KINDS[:3]]
    return (*omitting, *swapping, "nearest_match", "nearest_object", "ignores_adverb", "walks_only", "swaps_verb")


def _commands(texts: Sequence[str]) -> Any:
    """The commands as the kernel takes them."""
    from recombine.families.reascan.answer_kernel import MOST_NODES, Commands
    from recombine.grid.answers import tabled

    flat = tabled(texts, _command_codes).reshape(len(texts), -1)
    n = MOST_NODES
    words = flat[:, : 3 * n].reshape(len(texts), n, 3).copy()
    pieces = [flat[:, a:b].copy() for a, b in ((3 * n, 4 * n), (4 * n, 5 * n), (5 * n + 1, 5 * n + 3))]
    return Commands(words, pieces[0], pieces[1], flat[:, 5 * n].copy(), pieces[2])


def _command_codes(text: str) -> list[int]:
    """Words, parents and relations of up to six phrases, then their number, the verb and the adverb."""
    from recombine.families.reascan.answer_kernel import MOST_NODES

    command, _ = parse_command(text)
    said, missing = command.description, MOST_NODES - len(command.description.phrases)
    words: list[int] = []
    for phrase in said.phrases:
        color = COLORS.index(phrase.color) if phrase.color else ANY
        words += [SIZE_WORDS.index(phrase.size), color, SHAPES.index(phrase.shape) if phrase.shape else ANY]
    relations = [RELATIONS.index(relation) if relation else -1 for relation in said.relations]
    manner = [VERBS.index(command.verb), ADVERBS.index(command.adverb)]
    gap = [0] * missing
    return [*words, *gap, *gap, *gap, *said.parents, *gap, *relations, *gap, len(said.phrases), *manner]


def _reading() -> Any:
    """Working space for changed descriptions."""
    import numpy as np

    from recombine.families.reascan.answer_kernel import MOST_NODES, Reading
    from recombine.grid.codes import MAX_GRID

    lists = np.zeros((6, MOST_NODES), np.int64)
    words = np.zeros((MOST_NODES, 3), np.int64)
    return Reading(np.zeros((5, MAX_GRID), np.int64), words, lists[0], lists[1], lists[2], lists[3:5].copy(), lists[5])
