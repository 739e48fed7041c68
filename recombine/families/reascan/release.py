"""The release recipe: the original's command lists, its split filters and its sizes, with every row a function of its own key.

A part is a list of (command, world number). The original drops a command when 500 draws give no world; here a command is dead if
500 draws give fewer than two, and its rows go to a substitute from the same list, so that the sizes are the published ones. The
commands of `simple`, `one_clause` and `two_clauses` are also those of `all` under the same seed. The numbers in the paper's Tables 2
and 3 belong to version 1.0 of the data, whose two-clause test overlapped training; version 1.1 mended that, and here no world is in
two parts.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recombine import kernels, keys
from recombine.core import Batch, Job, Ragged, option
from recombine.errors import BadOption, Infeasible, UsageError
from recombine.families.reascan import release_kernel as names
from recombine.families.reascan.commands import TAG_A1, TAG_A2, TAG_A3, TAG_B2
from recombine.families.reascan.generate import Filled, columns, pattern_tables
from recombine.families.reascan.plan import (
    PATTERNS,
    Command,
    Widths,
    decode_form,
    encode_form,
    roots,
    spellings,
    step_table,
)
from recombine.families.reascan.rows import PATTERN
from recombine.families.reascan.splits import OPTIONS, SPLITS
from recombine.grid.matching import Description

if TYPE_CHECKING:
    from numpy.typing import NDArray

KERNEL_NAME = "recombine.families.reascan.release_kernel"
WORLDS = 180
PILOT_DRAWS, PILOT_WORLDS = 500, 2
MOST_DRAWS = 200_000
COMMANDS = {"simple": 675, "one_clause": 2_025, "two_clauses": 3_375}
SUBSTITUTES = 40
"""How many commands may be dead in a row before the recipe gives up."""


@dataclass(frozen=True)
class Pool:
    """The commands of a part and how many worlds each has; `keep` and `mode` are the kernel's."""

    forms: NDArray[np.int64]
    worlds: NDArray[np.int64]
    keep: int = names.KEEP_ALL
    mode: int = names.ALL_STRATEGIES


# --- commands --------------------------------------------------------------------------------------------------------


def sample_forms(stream: keys.Stream, widths: Widths, count: int) -> list[int]:
    """Distinct structures, uniform, each with a uniform verb and adverb."""
    table, counts = step_table()
    kernel = kernels.load("recombine.families.reascan.commands", compiled=False)
    patterns = pattern_tables(((widths, 1),), 0)
    codes, links = np.zeros(8, dtype=np.int64), np.zeros((2, 8), dtype=np.int64)
    rng = np.array([stream.bits()], dtype=np.uint64)
    found: dict[int, int] = {}
    while len(found) < count:
        form = int(kernel.draw_form(patterns.table[0], patterns.roots[0], table, counts, codes, links, rng))
        found.setdefault(form // 15, form)
    return list(found.values())


@functools.cache
def command_list(seed: int, name: str) -> tuple[int, ...]:
    """The released number of commands of a pattern: all simple ones, samples of the others."""
    if name == "simple":
        found = []
        for code in roots(()):
            for manner in range(15):
                found.append((900 + code) * 15 + manner)
        return tuple(found)
    return tuple(sample_forms(keys.Stream("reascan", "release", "commands", name, seed), PATTERNS[name], COMMANDS[name]))


@functools.cache
def _tags(form: int) -> int:
    """The held-out combinations that a command's words show (A1, A2 by its words, A3, B2)."""
    command = decode_form(form)
    tags = 0
    for phrase in command.phrases:
        tags |= TAG_A1 if (phrase.color, phrase.shape) == ("yellow", "square") else 0
        tags |= TAG_A2 if (phrase.color, phrase.shape) == ("red", "square") else 0
        tags |= TAG_A3 if (phrase.size, phrase.shape) == ("small", "cylinder") else 0
    relations = command.description.relations
    return tags | (TAG_B2 if "size" in relations and "inside" in relations else 0)


def _combined(seed: int) -> list[int]:
    """All commands of the combined data set."""
    return [form for name in ("two_clauses", "simple", "one_clause") for form in command_list(seed, name)]


def _aimed(form: int, tag: int) -> float:
    """The share of a command's worlds whose attribute distractor changes the held-out word."""
    command = decode_form(form)
    if len(command.phrases) == 3 and "inside" in command.description.relations:
        return 0.0
    able = [p for p in command.phrases if p.shape not in ("", "box")]
    hits = 0.0
    for phrase in able:
        is_hit = {
            TAG_A1: (phrase.color, phrase.shape) == ("yellow", "square"),
            TAG_A2: (phrase.color, phrase.shape) == ("red", "square"),
            TAG_A3: (phrase.size, phrase.shape) == ("small", "cylinder"),
        }[tag]
        hits += is_hit / (1 + bool(phrase.size) + bool(phrase.color))
    return hits / len(able) if able else 0.0


def _red_square_share(form: int) -> float:
    """The share of a command's worlds in which a mentioned object happens to be a red square."""
    miss = 1.0
    for phrase in decode_form(form).phrases:
        color = 1.0 if phrase.color == "red" else 0.25 if not phrase.color else 0.0
        shape = 1.0 if phrase.shape == "square" else 1 / 3 if not phrase.shape else 0.0
        miss *= 1 - color * shape
    return 1 - miss


@functools.cache
def pool(split: str, seed: int) -> Pool:
    """The commands of a split under a seed."""
    if split in COMMANDS:
        forms = list(command_list(seed, split))
        return _pool(forms, [WORLDS] * len(forms))
    if split == "two_clauses_rd":
        forms = list(command_list(seed, "two_clauses"))
        return _pool(forms, [WORLDS] * len(forms), mode=names.RANDOM_ONLY)
    if split == "all":
        forms = [form for form in _combined(seed) if _tags(form) == 0]
        worlds = [round(WORLDS * (1 - _red_square_share(form))) for form in forms]
        return _pool(forms, worlds, names.KEEP_NO_RED_SQUARE)
    if split in ("a1", "a3"):
        tag, keep = (TAG_A1, names.KEEP_A1) if split == "a1" else (TAG_A3, names.KEEP_A3)
        forms = [form for form in _combined(seed) if _tags(form) & tag]
        return _pool(forms, [round(WORLDS * _aimed(form, tag)) for form in forms], keep)
    if split == "a2":
        forms = _combined(seed)
        shares = [_aimed(f, TAG_A2) if _tags(f) & TAG_A2 else _red_square_share(f) for f in forms]
        return _pool(forms, [round(WORLDS * share) for share in shares], names.KEEP_A2)
    stream = keys.Stream("reascan", "release", "commands", split, seed)
    size = SPLITS[split].parts["test"].rows("release")
    if split == "b2":
        forms = _b2_forms(stream, -(-size // WORLDS))
        return _pool(forms, [WORLDS] * len(forms))
    if split == "c1":
        return _pool(
            sample_forms(stream, PATTERNS["three_clauses"], -(-size // 3)), [3] * -(-size // 3), mode=names.RELATION_AND_RANDOM
        )
    if split == "b1":
        return _pool(_b1_forms(stream, seed, -(-size // 3)), [3] * -(-size // 3))
    if split == "c2":
        forms = [_nested(decode_form(f)) for f in command_list(seed, "two_clauses") if _tags(f) == 0 and _is_in_line(f)]
        return _pool(forms, [-(-size // len(forms))] * len(forms))
    raise UsageError(f"split {split!r} has no recipe 'release'.")


def _pool(forms: list[int], worlds: list[int], keep: int = names.KEEP_ALL, mode: int = names.ALL_STRATEGIES) -> Pool:
    """The commands that have worlds."""
    kept = [k for k, count in enumerate(worlds) if count > 0]
    return Pool(
        np.array([forms[k] for k in kept], dtype=np.int64), np.array([worlds[k] for k in kept], dtype=np.int64), keep, mode
    )


def _is_in_line(form: int) -> bool:
    return set(decode_form(form).description.relations[1:]) <= {"row", "column"}


def _nested(command: Command) -> int:
    """The same two clauses with the second one inside the first."""
    said = command.description
    return encode_form(Command(command.verb, command.adverb, Description(said.phrases, (-1, 0, 1), said.relations)))


def _b2_forms(stream: keys.Stream, count: int) -> list[int]:
    """Two-clause commands that say both "same size" and "inside of"."""
    found: list[int] = []
    while len(found) < count:
        found += [f for f in sample_forms(stream, PATTERNS["two_clauses"], 500) if _tags(f) & TAG_B2 and f not in found]
    return found[:count]


def _b1_forms(stream: keys.Stream, seed: int, count: int) -> list[int]:
    """Two-clause commands whose phrases and pair of relations are seen in training, the three phrases never together."""
    seen = [decode_form(f) for f in _combined(seed) if _tags(f) == 0]
    phrases = {phrase for command in seen for phrase in command.phrases}
    trios = {frozenset(command.phrases) for command in seen}
    pairs = {frozenset(command.description.relations[1:]) for command in seen if len(command.phrases) == 3}
    found: dict[int, None] = {}
    while len(found) < count:
        for form in sample_forms(stream, PATTERNS["two_clauses"], 500):
            command = decode_form(form)
            is_new = frozenset(command.phrases) not in trios and set(command.phrases) <= phrases
            if is_new and _tags(form) == 0 and frozenset(command.description.relations[1:]) in pairs:
                found.setdefault(form)
    return list(found)[:count]


# --- rows ------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def slots(split: str, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(command number, world number) of every row of a split, shuffled; its parts are cut from this list one after the other."""
    listed = pool(split, seed)
    size = sum(part.rows("release") for part in SPLITS[split].parts.values())
    counts = listed.worlds if listed.worlds.sum() >= size else -(-listed.worlds * size // listed.worlds.sum())
    commands = np.repeat(np.arange(len(listed.forms)), counts)
    worlds = np.arange(len(commands)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = np.argsort(keys.states(keys.state("reascan", "release", "order", split, seed), 0, len(commands)), kind="stable")
    return commands[order], worlds[order]


def first_slot(job: Job) -> int:
    """Where the part begins in the list of slots."""
    parts = SPLITS[job.split].parts
    return sum(parts[name].rows("release") for name in list(parts)[: list(parts).index(job.part)])


_ALIVE: dict[tuple[int, str, int, int], bool] = {}
"""(seed, split, grid size, command number) -> whether the command is worth its draws; a fact about the command alone."""


def are_alive(job: Job, listed: Pool, numbers: list[int], compiled: bool) -> list[bool]:
    """Whether each command yields at least PILOT_WORLDS worlds in PILOT_DRAWS draws."""
    about = (job.seed, job.split, int(option(job, OPTIONS, "grid_size")))
    asked = sorted({n for n in numbers if (*about, n) not in _ALIVE})
    if asked:
        base = keys.state("reascan", "release", "pilot", *about)
        states = np.array([keys.item_state(base, n) for n in asked], dtype=np.uint64)
        good = _run(job, states, listed.forms[asked], listed, (PILOT_DRAWS, PILOT_WORLDS), compiled)[1]
        for n, count in zip(asked, good, strict=True):
            _ALIVE[*about, n] = bool(count >= PILOT_WORLDS)
    return [_ALIVE[*about, n] for n in numbers]


def living(job: Job, listed: Pool, numbers: NDArray[np.int64], compiled: bool) -> tuple[NDArray[np.int64], int]:
    """The form that each of these commands stands for (itself, or its first living substitute), and how many dead ones were met."""
    wanted = np.unique(numbers)
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
    raise Infeasible(f"{job.key}: {SUBSTITUTES} commands in a row have no world; use another seed or grid_size.")


def _run(
    job: Job, states: NDArray[np.uint64], forms: NDArray[np.int64], listed: Pool, draws: tuple[int, int], compiled: bool
) -> tuple[Filled, NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], int]:
    """Call the kernel: (what it filled, good draws per row, notes per row, rejections, rows found).

    `draws` are the most draws for each row, and after how many good ones to stop.
    """
    n, grid = len(forms), int(option(job, OPTIONS, "grid_size"))
    filled = Filled.empty(n, grid, 31)
    alive, notes = np.zeros(n, dtype=np.int64), np.zeros((n, 3), dtype=np.int8)
    rejected = np.zeros(2, dtype=np.int64)
    done = kernels.load(KERNEL_NAME, compiled).release_rows(
        states, forms, grid, listed.mode, listed.keep, *draws, np.zeros(n, dtype=np.int64), *spellings(), filled.rows,
        filled.flat, filled.flat_ends, filled.steps, filled.step_ends, filled.text, filled.text_ends, filled.spare, notes, alive, rejected,
    )  # fmt: skip
    return filled, alive, notes, rejected, int(done)


def release(job: Job, compiled: bool | None = None) -> Batch:
    """Rows [job.start, job.stop) of a release part; the same rows interpreted or compiled."""
    if compiled is None:
        compiled = job.stop - job.start >= kernels.COMPILE_FROM_ROWS
    for name in ("interaction", "commands", "max_objects"):
        if option(job, OPTIONS, name) != OPTIONS[name].default:
            raise BadOption(f"option {name} belongs to recipe 'sound'; leave it out for 'release'.")
    first, count = first_slot(job), SPLITS[job.split].parts[job.part].rows("release")
    if job.stop > count:
        raise UsageError(f"{job.key} has {count} rows, but rows up to {job.stop} were asked for; use a smaller size.")
    listed = pool(job.split, job.seed)
    commands, worlds = (column[first + job.start : first + job.stop] for column in slots(job.split, job.seed))
    forms, dead = living(job, listed, commands, compiled)
    base = keys.state("reascan", "release", "worlds", job.split if listed.keep else listed.mode, job.seed)
    states = keys.states(base, 0, 1)[0] ^ _mixed_pairs(commands, worlds)
    filled, alive, notes, rejected, done = _run(job, states, forms, listed, (MOST_DRAWS, 1), compiled)
    if done < len(forms):
        lost = int(np.flatnonzero(alive == 0)[0])
        raise Infeasible(f"{job.id(job.start + lost)}: no world in {MOST_DRAWS} draws; use another seed.")
    patterns = tuple((PATTERNS[name], 1) for name in PATTERNS)
    filled.rows[:, PATTERN] = _patterns_of(forms)
    made = columns(int(option(job, OPTIONS, "grid_size")), filled, pattern_tables(patterns, 0))
    width = notes.shape[1]
    swap = np.tile(np.array([1, 2], dtype=np.int8), (len(forms), 1))
    noted = np.ascontiguousarray(np.concatenate([notes, swap], axis=1)).reshape(-1)
    made["strategy"] = Ragged(noted, np.arange(len(forms) + 1, dtype=np.int64) * (width + 2))
    counts = {
        "draws without a unique referent": int(rejected[0]),
        "draws of another split": int(rejected[1]),
        "dead commands": dead,
    }
    return Batch(job, job.start, made, {reason: n for reason, n in counts.items() if n})


def _mixed_pairs(commands: NDArray[np.int64], worlds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One scattered word for each (command, world)."""
    z = commands.astype(np.uint64) * np.uint64(1 << 20) + worlds.astype(np.uint64) + np.uint64(keys.GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _patterns_of(forms: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each form's pattern in PATTERNS."""
    values, places = np.unique(forms, return_inverse=True)
    found: NDArray[np.int64] = np.array([_pattern_of(int(form)) for form in values], dtype=np.int64)[places]
    return found


@functools.lru_cache(maxsize=1 << 16)
def _pattern_of(form: int) -> int:
    return list(PATTERNS.values()).index(decode_form(form).widths)
