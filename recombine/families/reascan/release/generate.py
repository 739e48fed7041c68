"""The release recipe: the original's command lists, its split filters and its sizes, with every row a function of its own key.

A part is a list of (command, world number). The original drops a command when 500 draws give no world; here a command is dead if
500 draws give fewer than two, and its rows go to a substitute from the same list, so that the sizes are the published ones. The
commands of `simple`, `one_clause` and `two_clauses` are also those of `all` under the same seed. The numbers in the paper's Tables 2
and 3 belong to version 1.0 of the data, whose two-clause test overlapped training; version 1.1 mended that, and here no world is in
two parts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recombine import kernels, keys
from recombine.columns import Ragged
from recombine.core import Batch, Job, option
from recombine.errors import BadOption, Infeasible, UsageError
from recombine.families.reascan.kernel import PATTERN
from recombine.families.reascan.plan import PATTERNS, decode_form
from recombine.families.reascan.release import kernel
from recombine.families.reascan.release.pools import Pool, pool, shows
from recombine.families.reascan.rows import (
    Asked,
    Sink,
    bench_of,
    columns,
    conditions_of,
    sink_of,
    speech_of,
)
from recombine.families.reascan.splits import OPTIONS, SPLITS, says, strategies_of
from recombine.grid.codes import MAX_THINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.columns import Column

KERNEL_NAME = "recombine.families.reascan.release.kernel"
PILOT_DRAWS, PILOT_WORLDS = 500, 2
MOST_DRAWS = 200_000
SUBSTITUTES = 40
"""How many commands may be dead in a row before the recipe gives up."""
COMPILE_FROM_ROWS, LOAD_FROM_ROWS = 1_500, 40
"""Interpreted rows (of up to 30 ms each) that take as long as compiling the kernels, and as loading them from disk."""
_BLOCK = 1_000


@functools.lru_cache(maxsize=8)
def slots(split: str, part: str, seed: int, shots: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(command number, world number) of every row of a part, cut from a shuffled list that parts share."""
    about, listed = SPLITS[split], pool(split, part, seed)
    is_own = listed.stream == f"{split}/{'test' if part == 'test' else 'train'}"
    together = [name for name in about.parts if not is_own or (name == "test") == (part == "test")]
    sizes = {name: about.parts[name].rows("release") for name in together}
    size = sum(sizes.values())
    counts = listed.worlds if listed.worlds.sum() >= size else -(-listed.worlds * size // listed.worlds.sum())
    commands = np.repeat(np.arange(len(listed.forms)), counts)
    worlds = np.arange(len(commands)) - np.repeat(np.cumsum(counts) - counts, counts)
    name = str(listed.stream) if is_own and not about.has_shots else split
    order = np.argsort(keys.states(keys.state("reascan", "release", "order", name, seed), 0, len(commands)), kind="stable")
    kinds = _shot_kinds(split, listed)
    if kinds is not None:
        order = _with_shots(order, kinds[commands[order]], part, shots)
    start = sum(sizes[name] for name in together[: together.index(part)])
    order = order[start : start + sizes[part]]
    return commands[order], worlds[order]


_NO_SHOT, _FOR_TEST, _FOR_TRAINING = 0, 1, 2


def _shot_kinds(split: str, listed: Pool) -> NDArray[np.int64] | None:
    """For a split whose training shows the combination a few times: which commands show it, and for which part; else None."""
    about = SPLITS[split]
    if not about.has_shots:
        return None
    is_shown = np.array([bool(shows(int(form), about.shows)) for form in listed.forms])
    is_for_training = _mixed(listed.forms.astype(np.uint64)) >> np.uint64(63) == 1
    return np.where(is_shown, np.where(is_for_training, _FOR_TRAINING, _FOR_TEST), _NO_SHOT)


def _with_shots(order: NDArray[np.int64], kinds: NDArray[np.int64], part: str, shots: int) -> NDArray[np.int64]:
    """The slots of a part of such a split: training shows the combination in its first `shots` rows."""
    if part == "test":
        found_rows: NDArray[np.int64] = order[kinds == _FOR_TEST]
        return found_rows
    return np.concatenate([order[kinds == _FOR_TRAINING][: shots if part == "train" else 0], order[kinds == _NO_SHOT]])


_ALIVE: dict[tuple[object, ...], bool] = {}
"""(seed, list, grid size, strategies, length, command number) -> whether the command is worth its draws."""


def are_alive(job: Job, listed: Pool, numbers: list[int], compiled: bool) -> list[bool]:
    """Whether each command yields at least PILOT_WORLDS worlds in PILOT_DRAWS draws."""
    name = listed.stream if isinstance(listed.stream, str) else job.split
    about = (job.seed, name, int(option(job, OPTIONS, "grid_size")))
    more = (*about, strategies_of(job, listed.strategies), option(job, OPTIONS, "longest"))
    asked = sorted({n for n in numbers if (*more, n) not in _ALIVE})
    if asked:
        base = keys.state("reascan", "release", "pilot", *about)
        states = np.array([keys.item_state(base, n) for n in asked], dtype=np.uint64)
        good = _run(job, states, listed.forms[asked], listed, (PILOT_DRAWS, PILOT_WORLDS), compiled)[1]
        for n, count in zip(asked, good, strict=True):
            _ALIVE[*more, n] = bool(count >= PILOT_WORLDS)
    return [_ALIVE[*more, n] for n in numbers]


def living(job: Job, listed: Pool, numbers: NDArray[np.int64], compiled: bool) -> tuple[NDArray[np.int64], int]:
    """The form that each of these commands stands for (itself, or its first living substitute), and how many dead ones were met."""
    wanted, kinds = np.unique(numbers), _shot_kinds(job.split, listed)
    current = [int(n) for n in wanted]
    dead = 0
    for turn in range(SUBSTITUTES):
        lost = [k for k, is_alive in enumerate(are_alive(job, listed, current, compiled)) if not is_alive]
        if not lost:
            return listed.forms[np.array(current, dtype=np.int64)[np.searchsorted(wanted, numbers)]], dead
        dead += len(lost)
        for k in lost:
            stream = keys.Stream("reascan", "release", "substitute", job.split, job.seed, int(wanted[k]), turn)
            current[k] = stream.below(len(listed.forms))
            while kinds is not None and kinds[current[k]] != kinds[wanted[k]]:
                current[k] = stream.below(len(listed.forms))
    raise Infeasible(f"{job.key}: {SUBSTITUTES} commands in a row have no world; use another seed or grid_size.")


def _run(
    job: Job, states: NDArray[np.uint64], forms: NDArray[np.int64], listed: Pool, draws: tuple[int, int], compiled: bool
) -> tuple[Sink, NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], int]:
    """Call the kernel: (what it wrote, good draws per row, notes per row, rejections, rows found).

    `draws` are the most draws for each row, and after how many good ones to stop.
    """
    n, grid = len(forms), int(option(job, OPTIONS, "grid_size"))
    sink = sink_of(n, grid, MAX_THINGS)
    alive, notes = np.zeros(n, dtype=np.int64), np.zeros((n, 3), dtype=np.int8)
    rejected = np.zeros(2, dtype=np.int64)
    kind, words = listed.aim or (-1, says())
    cut = int(option(job, OPTIONS, "longest"))
    settings = np.array(
        [grid, strategies_of(job, listed.strategies), *draws, listed.length, cut, kind, words.a, words.b, words.c],
        dtype=np.int64,
    )
    asked = Asked(settings, *conditions_of(listed.wanted, listed.unwanted), np.zeros((2, 0), dtype=np.int64))
    done = kernels.load(KERNEL_NAME, compiled).release_rows(
        states, forms, asked, speech_of(), bench_of(grid), draft_of(), sink, notes, alive, rejected
    )
    return sink, alive, notes, rejected, int(done)


def draft_of() -> kernel.Draft:
    """Room for what one draw notes down."""
    shapes = ((20, 2), (8, 3), (8, 4), (3,))
    return kernel.Draft(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


def acceptance(forms: Sequence[int], draws: int, seed: int = 0, compiled: bool = True) -> NDArray[np.float64]:
    """The share of draws of each command that have exactly one referent, the target: what the recipe's rejections come from."""
    job, listed, states = _given("acceptance", forms, seed)
    good = [
        _run(job, states[at : at + _BLOCK], listed.forms[at : at + _BLOCK], listed, (draws, draws + 1), compiled)[1]
        for at in range(0, len(forms), _BLOCK)
    ]
    return np.concatenate(good) / draws


def worlds(forms: Sequence[int], seed: int = 0, compiled: bool = True) -> Batch:
    """One world for each of these commands, whatever split they belong to; for comparing with worlds that others drew for them."""
    job, listed, states = _given("given", forms, seed)
    sink, alive, notes, _, done = _run(job, states, listed.forms, listed, (MOST_DRAWS, 1), compiled)
    if done < len(forms):
        raise Infeasible(f"no world in {MOST_DRAWS} draws for command {forms[int(np.flatnonzero(alive == 0)[0])]}.")
    return Batch(job.rows(0, len(forms)), 0, _columns(job, sink, notes, listed.forms), {})


def _given(purpose: str, forms: Sequence[int], seed: int) -> tuple[Job, Pool, NDArray[np.uint64]]:
    """A job, a pool and states for commands that no split lists."""
    job = Job("reascan", 1, "release", "all", "test", seed)
    listed = Pool(np.array(forms, dtype=np.int64), np.ones(len(forms), dtype=np.int64))
    return job, listed, keys.states(keys.state("reascan", "release", purpose, seed), 0, len(forms))


def release(job: Job, compiled: bool | None = None) -> Batch:
    """Rows [job.start, job.stop) of a release part; the same rows interpreted or compiled."""
    picked = pick(job, np.arange(job.start, job.stop, dtype=np.int64), compiled)
    return replace(picked, start=job.start, indices=None)


def vet(job: Job) -> None:
    """Refuse the options of the other recipe."""
    for name in ("interaction", "commands", "max_objects", "crowding", "c2_relations"):
        if option(job, OPTIONS, name) != OPTIONS[name].default:
            raise BadOption(f"option {name} belongs to recipe 'sound'; leave it out for 'release'.")


def pick(job: Job, rows: NDArray[np.int64], compiled: bool | None = None) -> Batch:
    """Single rows of a release part, in any order: each is a function of its command and its number alone."""
    if compiled is None:
        compiled = kernels.is_worth_compiling(KERNEL_NAME, len(rows), COMPILE_FROM_ROWS, LOAD_FROM_ROWS)
    vet(job)
    count = SPLITS[job.split].parts[job.part].rows("release")
    last = int(rows.max()) if len(rows) else 0
    if last >= count:
        raise UsageError(f"{job.key} has {count} rows, but row {last} was asked for; use a smaller size.")
    listed = pool(job.split, job.part, job.seed)
    shots = int(option(job, OPTIONS, "shots"))
    commands, numbers = (column[rows] for column in slots(job.split, job.part, job.seed, shots))
    forms, dead = living(job, listed, commands, compiled)
    base = keys.state("reascan", "release", "worlds", listed.stream, job.seed)
    states = keys.states(base, 0, 1)[0] ^ _mixed_pairs(commands, numbers)
    sink, alive, notes, rejected, done = _run(job, states, forms, listed, (MOST_DRAWS, 1), compiled)
    if done < len(forms):
        lost = int(np.flatnonzero(alive == 0)[0])
        raise Infeasible(f"{job.id(int(rows[lost]))}: no world in {MOST_DRAWS} draws; use another seed.")
    counts = {
        "draws without a unique referent": int(rejected[0]),
        "draws of another split": int(rejected[1]),
        "dead commands": dead,
    }
    made = _columns(job, sink, notes, forms)
    return Batch(job, int(rows[0]) if len(rows) else 0, made, {reason: n for reason, n in counts.items() if n}, rows)


def _columns(job: Job, sink: Sink, notes: NDArray[np.int8], forms: NDArray[np.int64]) -> dict[str, Column]:
    """The columns of the schema; `strategy` holds the notes and the two phrases between which words are swapped."""
    sink.rows[:, PATTERN] = _patterns_of(forms)
    made = columns(int(option(job, OPTIONS, "grid_size")), sink, list(PATTERNS.values()))
    swap = np.tile(np.array([1, 2], dtype=np.int8), (len(forms), 1))
    noted = np.ascontiguousarray(np.concatenate([notes, swap], axis=1))
    made["strategy"] = Ragged(noted.reshape(-1), np.arange(len(forms) + 1, dtype=np.int64) * noted.shape[1])
    return made


def _mixed_pairs(commands: NDArray[np.int64], worlds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One scattered word for each (command, world)."""
    return _mixed(commands.astype(np.uint64) * np.uint64(1 << 20) + worlds.astype(np.uint64))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 of each word."""
    return keys.mixed(words + np.uint64(keys.GOLDEN))


def _patterns_of(forms: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each form's pattern in PATTERNS."""
    values, places = np.unique(forms, return_inverse=True)
    found: NDArray[np.int64] = np.array([_pattern_of(int(form)) for form in values], dtype=np.int64)[places]
    return found


@functools.lru_cache(maxsize=1 << 16)
def _pattern_of(form: int) -> int:
    return list(PATTERNS.values()).index(decode_form(form).widths)
