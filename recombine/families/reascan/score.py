"""One answer -> right or wrong, whether it went to the right cell, and the names of the readers who would answer so."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import combinations
from typing import Any, cast

from recombine.columns import value_at
from recombine.core import Batch, Example, Family, Score
from recombine.families.reascan.explain import KINDS, doings, reader_name
from recombine.families.reascan.plan import Command, parse_any
from recombine.grid import score as grid_score
from recombine.grid.codes import ADVERBS, ANY, COLORS, RELATIONS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.play import Outcome
from recombine.grid.score import end_after, end_of
from recombine.grid.world import World

KERNEL_NAME = "recombine.families.reascan.answer_kernel"


def score(example: Example, answer: str) -> Score:
    """The verdict of `grid.score` with the mistakes of ReaSCAN's readers."""
    return grid_score.score(example, answer, mistakes)


def mistakes(example: Example, actions: tuple[str, ...], given: Outcome) -> tuple[str, ...]:
    """The readers who do this for one of the objects that they may take, or who end the same at another cell."""
    world, command = cast(World, example.world), cast(Command, example.plan)
    is_elsewhere = given.reached != (world.things[0].row, world.things[0].column) and not given.failures
    end = end_of(given.world) if is_elsewhere else None
    right = tuple(example.answer.split(","))
    found = []
    for reader, plans in doings(world, command):
        for done in plans:
            if done == right:
                continue
            if done == actions or (is_elsewhere and reader.takes != (0,) and end_after(world, done) == end):
                found.append(reader.name)
                break
    return tuple(found)


# --- many answers ----------------------------------------------------------------------------------------------------


def score_batch(family: Family, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
    """The verdict on one answer to each of these rows; small jobs are judged one by one."""
    return grid_score.score_batch(family, batch, rows, answers, named, KERNEL_NAME, judge)


def judge(batch: Batch, rows: Sequence[int], worlds: Any, pair: tuple[Any, Any], kernel: Any, named: bool) -> tuple[Any, Any]:
    """The figures of these rows, and a function that names the readers of a row."""
    import numpy as np

    from recombine.families.reascan.answer_kernel import SLOTS, Verdicts
    from recombine.grid.answer_kernel import FIGURES, desk_of

    commands = _commands([str(value_at(batch.columns["command"], row)) for row in rows] if named else ["walk to a box"])
    verdicts = Verdicts(np.zeros((len(rows), FIGURES), np.int64), np.zeros((len(rows), SLOTS), np.int64))
    kernel.judge_rows(worlds, *pair, commands, named, desk_of(), _reading(), verdicts)
    names = _slots()
    return verdicts.figures, lambda place: tuple(names[slot] for slot in verdicts.readers[place].nonzero()[0].tolist())


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

    command, _ = parse_any(text)
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
