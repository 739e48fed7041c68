"""Wording facts, readably: lists and strings in, text out, by the same kernel that writes a million stories.

realize([(0, 0, 1), (7, 1, 2)], ["Ann", "Bob", "Cat"], [0, 1, 0], Stream("demo"))   # Bob is Ann's father, Cat is Bob's sister
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine import kernels
from recombine.core import Example
from recombine.errors import Infeasible, UsageError, shown
from recombine.families.clutrr import kinship
from recombine.families.clutrr.language import rich, rich_tables, store
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.language.names import name_arrays
from recombine.families.clutrr.plan import StoryPlan
from recombine.keys import Stream

KERNEL_MODULE = "recombine.families.clutrr.language.kernel"
Triple = tuple[int, int, int]
"""(relation code, subject, relative)."""


@dataclass(frozen=True)
class Chunk:
    """One paraphrase of a story: the places of its facts, its code in the store, and its text."""

    facts: tuple[int, ...]
    paraphrase: int
    text: str


@dataclass(frozen=True)
class Story:
    """A worded story; `chunks` in the order of telling."""

    text: str
    chunks: tuple[Chunk, ...]


def realize(
    facts: Sequence[Triple],
    names: Sequence[str],
    genders: Sequence[int],
    stream: Stream,
    tables: store.Tables | None = None,
    chains: Sequence[int] | None = None,
    mixed: bool = False,
    brackets: bool = False,
) -> Story:
    """The story that states exactly these facts; draws from `stream`, which moves on.

    Person i has `names[i]` and `genders[i]` (0 female, 1 male). Facts with the same number in `chains` are one path and may
    share a paraphrase where they follow each other; by default all do. `mixed` shuffles the paraphrases.
    """
    t = store.tables() if tables is None else tables
    _check(facts, names, genders)
    array = np.array(facts, np.int32).reshape(-1, 3)
    chain = np.array(chains if chains is not None else [0] * len(facts), np.int32)
    plan, order = np.zeros((MAX_FACTS, 3), np.int32), np.zeros(MAX_FACTS, np.int32)
    ways = np.zeros(MAX_FACTS + 1)
    name_bytes, name_offsets = name_arrays(names)
    out = np.zeros(store.room(t, len(facts), int(np.diff(name_offsets).max(initial=1))), np.uint8)
    spare = np.zeros_like(out)
    people = np.arange(len(names), dtype=np.int32)
    gender, rng = np.array(genders, np.int8), np.array([stream.word], np.uint64)
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    end, chunks = kernel.realize_story(
        array, chain, mixed, gender, people, name_bytes, name_offsets, brackets, t, rng, ways, plan, order, out, 0
    )  # fmt: skip
    stream.word = int(rng[0])
    if end < 0:
        words = ", ".join(kinship.RELATIONS[r] for r, _, _ in facts)
        raise Infeasible(f"no paraphrase in these tables words the facts {words}; use templates that cover every relation.")
    told = []
    for c in range(chunks):
        first, length, code = (int(v) for v in plan[order[c]])
        stop = kernel.write_chunk(
            array, first, length, code, gender, people, name_bytes, name_offsets, brackets, t, spare, 0
        )  # fmt: skip
        told.append(Chunk(tuple(range(first, first + length)), code, bytes(spare[:stop]).decode()))
    return Story(bytes(out[:end]).decode(), tuple(told))


def _check(facts: Sequence[Triple], names: Sequence[str], genders: Sequence[int]) -> None:
    """Refuse facts that no story can state."""
    if not 1 <= len(facts) <= MAX_FACTS:
        raise UsageError(f"a story states 1 to {MAX_FACTS} facts, not {len(facts)}.")
    if len(names) != len(genders) or len(set(names)) != len(names):
        raise UsageError(f"every person needs one gender and a name of their own; got {shown(list(names))}.")
    for relation, subject, other in facts:
        if not 0 <= relation < len(kinship.RELATIONS):
            raise UsageError(f"relation code {relation} is not one of the {len(kinship.RELATIONS)}.")
        if not (0 <= subject < len(names) and 0 <= other < len(names) and subject != other):
            raise UsageError(
                f"fact {(relation, subject, other)} names people outside 0 … {len(names) - 1}, or one person twice."
            )
        if genders[other] != kinship.GENDER[relation]:
            raise UsageError(f"{names[other]} is a {kinship.RELATIONS[relation]} but has the other gender in `genders`.")


def ask(subject: str, relative: str, stream: Stream, brackets: bool = False) -> str:
    """A question what `relative` is to `subject`, in one of the store's phrasings; draws from `stream`."""
    name_bytes, name_offsets = name_arrays([subject, relative])
    out, rng = np.zeros(400 + 4 * len(name_bytes), np.uint8), np.array([stream.word], np.uint64)
    people = np.arange(2, dtype=np.int32)
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    end = kernel.realize_question(people, people, name_bytes, name_offsets, brackets, store.questions(), rng, out, 0)
    stream.word = int(rng[0])
    return bytes(out[:end]).decode()


def chunk_length(code: int) -> int:
    """How many facts a paraphrase of either store tells."""
    frame = rich.frame_of(code)
    return frame.facts if frame else store.frames()[store.paraphrases()[code >> 1].frame].facts


def clean_story(example: Example) -> str:
    """The text of the facts on the path, each chunk worded as in the story, in path order.

    Where the paraphrases are not ours (original templates, released files) the whole story stands in.
    """
    plan: StoryPlan = example.plan
    if not plan.paraphrases or example.meta.get("options", {}).get("templates"):
        return str(example.inputs["story"])
    style: store.Style = "simple" if example.meta.get("options", {}).get("language") == "simple" else "paraphrase"
    is_rich = rich.frame_of(plan.paraphrases[0]) is not None
    tables = rich_tables.tables() if is_rich else store.tables(style)
    kernel = kernels.load(KERNEL_MODULE, compiled=False)
    name_bytes, name_offsets = name_arrays(plan.names)
    facts = np.array([fact.triple for fact in plan.facts], np.int32)
    out = np.zeros(store.room(tables, 3, int(np.diff(name_offsets).max())), np.uint8)
    people, genders = np.arange(len(plan.names), dtype=np.int32), np.array(plan.genders, np.int8)
    told, at = [], 0
    for code in plan.paraphrases:
        length = 1 if style == "simple" else chunk_length(code)
        if plan.facts[at].place >= 0:
            end = kernel.write_chunk(facts, at, length, code, genders, people, name_bytes, name_offsets, False, tables, out, 0)
            told.append((plan.facts[at].place, bytes(out[:end]).decode()))
        at += length
    return " ".join(text for _, text in sorted(told))
