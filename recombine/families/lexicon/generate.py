"""Job -> batch: test commands are drawn as columns, then the kernel chooses demonstrations that prove each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recombine import kernels, keys
from recombine.columns import Coded, Column, Ragged
from recombine.core import Batch, ColumnType, Example, Family, Job, option
from recombine.errors import Infeasible
from recombine.families.lexicon import held_out, kernel
from recombine.families.lexicon.facets import facet_columns
from recombine.families.lexicon.plan import MEANINGS, MOST_ACTIONS, MOST_WORDS, NONSENSE, Lesson, actions_of, glosses, table
from recombine.families.lexicon.splits import OPTIONS, SHARES, Making, asked, forbidden, making_of
from recombine.predicates.draw import HOLD_OUT, PREDICATE, Source, draw, predicate_of, predicate_text, too_rare

KERNEL_NAME = "recombine.families.lexicon.kernel"
COMPILE_FROM, LOAD_FROM = 170, 10
"""Rows that take as long interpreted as compiling does, and as loading machine code does."""
DEMONSTRATIONS = 16
"""Demonstrations at most."""
OFFERS = 8
"""Test commands that are tried for one row."""
ROOM = 1 << 13
"""Lexicons that are followed at the same time."""
SCHEMA: Mapping[str, ColumnType] = {
    "words": "list<string>",
    "meanings": "list<string>",
    "shown_commands": "list<string>",
    "shown_actions": "list<string>",
    "command": "string",
    "actions": "string",
    "gloss": "string",
    "word_count": "int8",
    "demonstrations": "int8",
    "command_length": "int8",
    "action_length": "int8",
    "clauses": "int8",
    "space": "int64",
    "survivors": "list<int64>",
    "proved_unique": "bool",
}
Ints = NDArray[np.int64]


def generate(job: Job, compiled: bool | None = None) -> Batch:
    """Rows [job.start, job.stop) of a part; row i depends on the job's key and i alone."""
    if job.split == HOLD_OUT:
        predicate = predicate_of(job, OPTIONS)
        if not held_out.is_settled(predicate):
            return draw(job, predicate, SOURCE, is_wanted=job.part == "test")
    return _made(job, compiled)


def _choice(job: Job) -> tuple[Ints, Ints, int]:
    """The places of the commands that the part asks, the pairs that no demonstration has, and the words of each task."""
    making = making_of(job.split, job.part)
    words = words_of(job, making)
    places = asked(making, words)
    if job.split != HOLD_OUT:
        return places, forbidden(making), words
    predicate, is_test = predicate_of(job, OPTIONS), job.part == "test"
    fitting = places[held_out.fitting(held_out.wanted(predicate, is_test), words)[places]]
    if not len(fitting):
        raise too_rare(job, predicate, 0, len(places), is_test)
    return fitting, held_out.forbidden(predicate), words


def _made(job: Job, compiled: bool | None = None) -> Batch:
    """The rows as the kernel makes them."""
    n = job.stop - job.start
    places, banned, words = _choice(job)
    drawn = keys.states(job.base("commands"), job.start * OFFERS, job.stop * OFFERS).reshape(n, OFFERS)
    offered = places[((drawn >> np.uint64(32)) * np.uint64(len(places)) >> np.uint64(32)).astype(np.int64)]
    codes, lengths = table()
    if compiled is None:
        compiled = kernels.is_worth_compiling(KERNEL_NAME, n, COMPILE_FROM, LOAD_FROM)
    sink = kernel.Sink(
        np.zeros((n, DEMONSTRATIONS, MOST_WORDS), dtype=np.int8), np.zeros((n, DEMONSTRATIONS), dtype=np.int8), np.zeros(n, dtype=np.int8),
        np.zeros((n, DEMONSTRATIONS), dtype=np.int64), np.zeros((n, DEMONSTRATIONS), dtype=np.int8), np.zeros((n, len(MEANINGS)), dtype=np.int8),
        np.zeros(n, dtype=np.int64),
    )  # fmt: skip
    again = kernels.load(KERNEL_NAME, compiled).draw_lessons(
        keys.states(job.base("demonstrations"), job.start, job.stop), codes[offered], lengths[offered], words, banned, _desk(),
        sink, np.zeros(1, dtype=np.uint64),
    )  # fmt: skip
    if not sink.counts.all():
        row = int(np.flatnonzero(sink.counts == 0)[0])
        raise Infeasible(
            f"{job.id(job.start + row)}: no demonstrations settle the command; use another seed or number of words."
        )
    rejections = {"not settled": int(again)} if again else {}
    return Batch(job, job.start, _columns(job, sink, offered[np.arange(n), sink.offers], words), rejections)


SPACES: Mapping[int, int] = MappingProxyType({4: 2_700, 5: 60_000, 6: 1_200_000})
"""Words of a task -> about how many rows of the part `random/test` it takes until every second row was in another seed's rows."""


def recurring(job: Job, rows: int) -> float:
    """About the share of the rows that another seed gives too: measured for the split `random`, near 0 for more words."""
    space = SPACES.get(int(option(job, OPTIONS, "words")), 0) if job.split == "random" else 0
    return rows / (rows + space * len(SHARES[job.part])) if space else 0.0


SOURCE = Source(_made, facet_columns)
"""Where the rows of a user's split come from."""


def words_of(job: Job, making: Making) -> int:
    """How many words each task of the part has."""
    return int(option(job, OPTIONS, "words")) + making.more


def _desk() -> kernel.Desk:
    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    m = len(MEANINGS)
    return kernel.Desk(
        zeros(ROOM, m), zeros(ROOM, m), zeros(ROOM, m), zeros(m), zeros(m), zeros(DEMONSTRATIONS, MOST_WORDS), zeros(DEMONSTRATIONS),
        zeros(2 * MOST_WORDS), zeros(MOST_WORDS), zeros(MOST_ACTIONS), zeros(4 * MOST_ACTIONS), zeros(m),
    )  # fmt: skip


def _columns(job: Job, sink: kernel.Sink, chosen: Ints, words: int) -> dict[str, Column]:
    """The columns of finished rows."""
    lists: dict[str, list[list[str]]] = {name: [] for name in ("words", "meanings", "shown_commands", "shown_actions")}
    commands, actions = [], []
    spellings = _spellings(job, len(chosen))
    counts = sink.counts.tolist()
    for row, place in enumerate(chosen.tolist()):
        meant = np.flatnonzero(sink.words[row]).tolist()
        name = dict(zip(meant, spellings[row], strict=False))
        order = sorted(meant, key=lambda m: name[m])
        lists["words"].append([name[m] for m in order])
        lists["meanings"].append([MEANINGS[m] for m in order])
        shown = [sink.demos[row, d, : sink.lengths[row, d]].tolist() for d in range(counts[row])]
        lists["shown_commands"].append([" ".join(name[m] for m in codes) for codes in shown])
        lists["shown_actions"].append([" ".join(actions_of([MEANINGS[m] for m in codes]) or ()) for codes in shown])
        gloss = glosses()[place].split()
        commands.append(" ".join(name[MEANINGS.index(word)] for word in gloss))
        actions.append(actions_of(gloss) or [])
    lengths = table()[1][chosen]
    ends = np.concatenate([[0], np.cumsum(sink.counts)]).astype(np.int64)
    inside = np.arange(DEMONSTRATIONS) < sink.counts[:, None]
    unseen = np.array([math.perm(len(MEANINGS) - s, words - s) for s in range(words + 1)], dtype=np.int64)
    survivors = (sink.hypotheses * unseen[np.minimum(sink.seen, words)])[inside]
    last = sink.hypotheses[np.arange(len(chosen)), sink.counts - 1]
    return {
        **{name: _strings(values) for name, values in lists.items()},
        "command": commands,
        "actions": [" ".join(tokens) for tokens in actions],
        "gloss": [glosses()[place] for place in chosen.tolist()],
        "word_count": np.full(len(chosen), words, dtype=np.int8),
        "demonstrations": sink.counts,
        "command_length": lengths.astype(np.int8),
        "action_length": np.array([len(tokens) for tokens in actions], dtype=np.int8),
        "clauses": np.where(chosen < 102, 1, 2).astype(np.int8),
        "space": np.full(len(chosen), math.perm(len(MEANINGS), words), dtype=np.int64),
        "survivors": Ragged(survivors, ends),
        "proved_unique": last == 1,
    }


def _strings(lists: list[list[str]]) -> Ragged:
    """A column of lists of strings."""
    values: dict[str, int] = {}
    codes = np.array([values.setdefault(text, len(values)) for texts in lists for text in texts], dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum([len(texts) for texts in lists])]).astype(np.int64)
    return Ragged(Coded(codes, list(values)), ends)


def _spellings(job: Job, n: int) -> list[list[str]]:
    """Nonsense words in a random order for each row."""
    states = keys.states(job.base("spellings"), job.start, job.start + n)
    scattered = states[:, None] ^ keys.states(keys.state("lexicon", "nonsense"), 0, len(NONSENSE))[None, :]
    scattered = (scattered ^ (scattered >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return [[NONSENSE[i] for i in order] for order in np.argsort(scattered, axis=1, kind="stable")[:, : len(MEANINGS)].tolist()]


def example(family: Family, batch: Batch, row: int) -> Example:
    """The readable view of one row."""
    values, job = batch.row(row), batch.job
    pairs = tuple(zip(values["shown_commands"], values["shown_actions"], strict=True))
    lesson = Lesson(tuple(zip(values["words"], values["meanings"], strict=True)), pairs, str(values["command"]))
    keep = (
        "gloss",
        "word_count",
        "demonstrations",
        "command_length",
        "action_length",
        "clauses",
        "space",
        "survivors",
        "proved_unique",
    )
    meta: dict[str, Any] = {
        "recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed, "lexicon": dict(lesson.lexicon),
        "asked_words": int(option(job, OPTIONS, "words")), **{name: values[name] for name in keep},
    }  # fmt: skip
    if job.split == HOLD_OUT:
        meta[PREDICATE] = predicate_text(job, OPTIONS)
    return Example(family, batch.id(row), inputs_of(lesson), str(values["actions"]), plan=lesson, meta=meta)


def inputs_of(lesson: Lesson) -> dict[str, Any]:
    """What a model may see."""
    shown = [{"command": command, "actions": actions} for command, actions in lesson.demonstrations]
    return {"demonstrations": shown, "command": lesson.command}
