"""Job -> batch: rules are drawn as columns, then a kernel makes the worlds of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.core import Batch, Job, option
from recombine.errors import BadOption, Infeasible
from recombine.families.abstract import held_out, operations, plan
from recombine.families.abstract import task_kernel as kernel
from recombine.families.abstract.draws import below as _below
from recombine.families.abstract.facets import facet_columns
from recombine.families.abstract.plan import NESTED, ONE, SIMPLE, TWO, Forms
from recombine.families.abstract.rows import columns
from recombine.families.abstract.splits import FEWEST, OPTIONS, SPLITS, Making, follows_pattern, making_of
from recombine.grid.size_bounds import N_KEYS
from recombine.predicates.draw import HOLD_OUT, Source, draw, predicate_of

KERNEL_NAME = "recombine.families.abstract.task_kernel"
RELEASE_NAME = "recombine.families.abstract.release_kernel"
SOUND_FROM, RELEASE_FROM = (400, 10), (30, 1)
"""Rows that take as long interpreted as compiling the kernel does, and as loading it does."""
NESTED_COST = 20
"""A nested rule takes as long as this many others."""
RELEASE_OBJECTS, RELEASE_TRIES = 6, 500
"""The notebook fills its worlds to six objects, and it draws at most 500 of them."""
RELEASE_OPERATION = "paint red"
"""The only operation that the notebook carries out."""
REJECTIONS = ("no test world", "no demonstration", "not determined", "too many hypotheses")
RULES = 8
"""Rules that are offered to the kernel for one row at a time."""
LOOKS_AT_ONCE, LOOKS_AHEAD, MOST_LOOKS = 4_096, 256, 100_000
"""Rules that are tried: in one step for all rows together, in one step for one row, and for one row before the job fails."""
ROUNDS = 200
"""Times that a row is offered other rules before the job is given up."""
POOL = 3
"""Worlds from which demonstrations are chosen, in addition to one for each demonstration."""
EXTRA = 60
"""Worlds that are tried as the last demonstration if none of the pool settles the task."""
HYPOTHESES: Mapping[int, int] = MappingProxyType({SIMPLE: 1 << 15, ONE: 1 << 15, TWO: 1 << 18, NESTED: 1 << 20})
"""Room for hypotheses, by the pattern of the rule."""
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop) of a part, by the job's recipe."""
    if job.split == HOLD_OUT:
        predicate = predicate_of(job, OPTIONS)
        if not held_out.is_settled(predicate):
            return draw(job, predicate, SOURCE, is_wanted=job.part == "test")
    return release(job) if job.recipe == "release" else sound(job)


class Table(NamedTuple):
    """Rows in the making."""

    sink: kernel.Sink
    chosen: Ints  # [2, rows]: form and operation
    rivals: Ints  # [rows]
    rejected: Ints  # [reasons]


Maker = Callable[[Words, Ints, Ints, kernel.Sink, Ints, Ints], object]
"""(states, forms, operations, sink, rivals, rejected): fills the rows of the sink that a kernel can."""


def _drawn(job: Job, making: Making, settings: Ints, draw: Maker) -> Batch:
    """Offer every row rules until the kernel can make it."""
    n, k, most = job.stop - job.start, int(settings[kernel.S_DEMONSTRATIONS]), int(settings[kernel.S_HIGH])
    table = Table(
        _sink(n, k, most),
        np.zeros((2, n), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(len(REJECTIONS), dtype=np.int64),
    )
    words = keys.states(job.base("rules"), job.start, job.stop)
    worlds = keys.states(job.base("worlds"), job.start, job.stop)
    left, counters = np.arange(n), np.zeros(n, dtype=np.uint64)
    for turn in range(ROUNDS):
        if not len(left):
            break
        forms, ops = draw_rules(words, counters, left, making)
        part, rivals = _sink(len(left), k, most), np.zeros(len(left), dtype=np.int64)
        draw(keys.mixed(worlds[left] + np.uint64(turn)), forms, ops, part, rivals, table.rejected)
        whole: list[Any] = list(table.sink)
        for column, made in zip(whole, part, strict=True):
            column[left] = made
        table.rivals[left] = rivals
        picked = np.maximum(part.rules, 0)[:, None]
        for side, offered in enumerate((forms, ops)):
            table.chosen[side, left] = np.take_along_axis(offered, picked, 1)[:, 0]
        left = left[part.rules < 0]
    if len(left):
        raise Infeasible(
            f"{job.id(job.start + int(left[0]))}: no task of this kind is determined; use more demonstrations or a larger grid_size."
        )
    counts = {reason: int(count) for reason, count in zip(REJECTIONS, table.rejected, strict=True) if count}
    return Batch(job, job.start, columns(job, table.sink, table.chosen, table.rivals), counts)


def _sink(n: int, k: int, most: int) -> kernel.Sink:
    return kernel.Sink(
        np.zeros((n, k + 1, most, 5), dtype=np.int8), np.zeros((n, k + 1), dtype=np.int8), np.zeros((n, k + 1), dtype=np.int64),
        np.zeros((n, k), dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int8),
    )  # fmt: skip


def _grammar() -> kernel.Grammar:
    return kernel.Grammar(plan.roots(), *plan.steps(), operations.table())


def sound(job: Job, compiled: bool | None = None) -> Batch:
    """Rows [job.start, job.stop) of a sound part; row i depends on the job's key and i alone."""
    making = making_of(job.split, job.part, dict(job.options))
    if compiled is None:
        rows = (job.stop - job.start) * (NESTED_COST if NESTED in making.patterns else 1)
        compiled = kernels.is_worth_compiling(KERNEL_NAME, rows, *SOUND_FROM)
    if job.split == HOLD_OUT:
        making = making._replace(source=held_out.rules(job.rows(0, 0), making))
    settings = settings_of(job, making)
    run, desk, grammar = kernels.load(KERNEL_NAME, compiled).draw_tasks, desk_of(settings), _grammar()
    order = np.zeros(int(settings[kernel.S_DEMONSTRATIONS]), dtype=np.int64)

    def draw(states: Words, forms: Ints, ops: Ints, sink: kernel.Sink, rivals: Ints, rejected: Ints) -> None:  # noqa: ARG001
        run(states, forms, ops, desk, grammar, settings, sink, order, rejected)

    return _drawn(job, making, settings, draw)


SOURCE = Source(sound, facet_columns)
"""Where the rows of a user's split come from."""


def vet(job: Job) -> None:
    """Refuse options that do not fit together, or not with the split or recipe."""
    making = making_of(job.split, job.part, dict(job.options))
    settings_of(job, making)
    if "pattern" in dict(job.options) and not follows_pattern(job.split, job.part):
        raise BadOption(
            f"option pattern is {option(job, OPTIONS, 'pattern')}, but {job.split}/{job.part} has descriptions of its own; pattern may be "
            f"set for the splits {', '.join(name for name in SPLITS if follows_pattern(name, 'test'))}."
        )
    if job.recipe == "release" and max(making.patterns) > ONE:
        raise BadOption(f"option pattern is {plan.PATTERNS[max(making.patterns)]}, but the notebook has at most one clause.")


def release(job: Job, compiled: bool | None = None) -> Batch:
    """The same for the recipe `release`: the notebook's worlds, with its one operation, determined or not."""
    making = making_of(job.split, job.part, dict(job.options))
    vet(job)
    settings = settings_of(job, making)
    settings[kernel.S_HIGH] = RELEASE_OBJECTS
    settings[kernel.S_POOL] = settings[kernel.S_DEMONSTRATIONS]
    settings[kernel.S_WORLD_TRIES] = RELEASE_TRIES
    if compiled is None:
        compiled = kernels.is_worth_compiling(RELEASE_NAME, job.stop - job.start, *RELEASE_FROM)
    only = operations.numbers()[RELEASE_OPERATION]
    making = making._replace(wanted=lambda _forms, ops: ops == only)
    run, desk, grammar = kernels.load(RELEASE_NAME, compiled).draw_release, desk_of(settings), _grammar()
    spaces = np.array([plan.space_size(p) if p in making.patterns else 0 for p in range(len(plan.PATTERNS))], dtype=np.int64)

    def draw(states: Words, forms: Ints, ops: Ints, sink: kernel.Sink, rivals: Ints, rejected: Ints) -> None:  # noqa: ARG001
        run(states, forms, only, spaces, desk, grammar, settings, sink, rivals, rejected)

    return _drawn(job, making, settings, draw)


def settings_of(job: Job, making: Making) -> Ints:
    """The numbers that the kernel is given."""
    k = int(option(job, OPTIONS, "demonstrations")) - making.fewer
    grid = int(option(job, OPTIONS, "grid_size"))
    if k < FEWEST:
        raise BadOption(f"option demonstrations is {k + making.fewer}, but {job.split} needs at least {FEWEST + making.fewer}.")
    if option(job, OPTIONS, "answer_form") == "arc" and grid > ARC_GRID:
        raise BadOption(f"option grid_size is {grid}, but answers as ARC grids need at most {ARC_GRID}.")
    deepest = max(making.patterns)
    settings = np.zeros(kernel.N_SETTINGS, dtype=np.int64)
    settings[kernel.S_GRID] = grid
    settings[kernel.S_LOW], settings[kernel.S_HIGH] = making.objects
    settings[kernel.S_DEMONSTRATIONS] = k
    settings[kernel.S_POOL] = POOL + k
    settings[kernel.S_ROUNDS] = 3
    settings[kernel.S_WORLD_TRIES] = 20
    settings[kernel.S_TEST_TRIES] = 8 if deepest < TWO else 3
    settings[kernel.S_DEEPEST] = deepest
    settings[kernel.S_EXTRA] = EXTRA
    return settings


ARC_GRID = 6
"""The largest grid whose picture keeps within ARC's 30 × 30 cells."""


def desk_of(settings: Ints) -> kernel.Desk:
    """Scratch arrays for one job."""
    worlds, most = int(settings[kernel.S_POOL]) + 2, int(settings[kernel.S_HIGH])
    room = HYPOTHESES[int(settings[kernel.S_DEEPEST])]
    image = (plan.N_STEPS, int(plan.steps()[1].max()))

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    return kernel.Desk(
        zeros(worlds, most, 5), zeros(worlds), zeros(worlds), zeros(worlds, 2, plan.N_PHRASES), zeros(worlds, 6, most), zeros(5, 17),
        zeros(worlds, most), zeros(worlds, most, most), zeros(plan.N_STEPS), zeros(*image), zeros(room), zeros(room), zeros(room), zeros(room),
        zeros(room), zeros(kernel.MAX_OPERATIONS), zeros(4), zeros(4), zeros(3), zeros(N_KEYS, 2), np.zeros(1, dtype=np.uint64), zeros(3),
    )  # fmt: skip


# --- rules -----------------------------------------------------------------------------------------------------------


def draw_rules(words: Words, counters: Words, rows: NDArray[np.intp], making: Making) -> tuple[Ints, Ints]:
    """(forms[rows, RULES], operations[rows, RULES]): the next rules of each row that the part admits.

    `counters` holds how many rules each row has tried; the function updates it.
    """
    forms, ops = np.zeros((2, len(rows), RULES), dtype=np.int64)
    filled = np.zeros(len(rows), dtype=np.int64)
    left, looked = np.arange(len(rows)), 0
    while len(left) and looked < MOST_LOOKS:
        ahead = int(np.clip(LOOKS_AT_ONCE // len(left), 1, LOOKS_AHEAD))
        looks: Words = np.add.outer(counters[rows[left]], np.arange(ahead, dtype=np.uint64))
        at: Words = words[rows[left], None] + looks * np.uint64(keys.GOLDEN)  # [left, ahead]
        drawn, op = rule_at(at.ravel(), making)
        keep = admitted(drawn, op, making).reshape(at.shape)
        ranks = filled[left, None] + keep.cumsum(axis=1)
        own, place = np.nonzero(keep & (ranks <= RULES))
        column = ranks[own, place] - 1
        forms[left[own], column] = drawn.encode().reshape(at.shape)[own, place]
        ops[left[own], column] = op.reshape(at.shape)[own, place]
        # A row has tried the rules up to its last one, not those after it.
        counters[rows[left]] += np.minimum((ranks < RULES).sum(axis=1) + 1, ahead).astype(np.uint64)
        filled[left] = np.minimum(ranks[:, -1], RULES)
        left, looked = left[filled[left] < RULES], looked + ahead
    if not len(left):
        return forms, ops
    raise Infeasible("no rule is admitted by this part; change what it wants.")


def rule_at(at: Words, making: Making) -> tuple[Forms, Ints]:
    """One rule for each word: pattern, relation of the first clause and kind of operation are uniform, the rest within them."""
    if making.source is not None:
        return making.source(at)
    pattern = np.array(making.patterns, dtype=np.int64)[_below(keys.mixed(at ^ np.uint64(1)), len(making.patterns))]
    found = np.zeros((4, len(at)), dtype=np.int64)
    found[0] = pattern
    for code in making.patterns:
        mine = pattern == code
        listed = plan.forms(code)
        starts, sizes = plan.groups(code)
        group = _below(keys.mixed(at[mine] ^ np.uint64(2)), len(starts))
        number = starts[group] + _below(keys.mixed(at[mine] ^ np.uint64(3)), sizes[group])
        for side in (1, 2, 3):
            found[side, mine] = listed[side][number]
    ends = np.array([operations.ranges()[kind] for kind in operations.KINDS], dtype=np.int64)
    kind = _below(keys.mixed(at ^ np.uint64(4)), len(ends))
    op = ends[kind, 0] + _below(keys.mixed(at ^ np.uint64(5)), ends[kind, 1] - ends[kind, 0])
    return Forms(*found), op


def admitted(forms: Forms, ops: Ints, making: Making) -> NDArray[np.bool_]:
    """Which of these rules the part may hold. Only descriptions with one clause of their first phrase have a pivot to copy from."""
    first, end = operations.ranges()["copy"]
    keep: NDArray[np.bool_] = (ops < first) | (ops >= end) | (forms.pattern == ONE) | (forms.pattern == NESTED)
    if making.hashed:
        keep &= np.isin(shares(forms.encode(), ops), making.hashed)
    if making.wanted is not None:
        keep &= making.wanted(forms, ops)
    if making.unwanted is not None:
        keep &= ~making.unwanted(forms, ops)
    return keep


def shares(forms: Ints, ops: Ints) -> Ints:
    """The tenth to which each rule belongs."""
    base = np.uint64(keys.state("abstract", "shares"))
    return (keys.mixed(base ^ keys.mixed((forms * 1024 + ops).astype(np.uint64))) % np.uint64(10)).astype(np.int64)
