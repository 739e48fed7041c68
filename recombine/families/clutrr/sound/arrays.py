"""The arrays that the kernels of `sound` read and fill: a job as numbers, scratch space, and the columns of a block of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.sound.family import MAX_PEOPLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

REASONS = ("clause of another part", "no proof in this family", "family limits", "noise does not fit", "no wording",
           "story of another part", "target not true")  # fmt: skip
_LONGEST_WORD = max(len(name) for name in RELATIONS)


class Config(NamedTuple):
    """What the kernels need to know of a job, as plain numbers."""

    noise: int
    noise_facts: int
    anchor_any: bool
    hold_out: int
    wants_held_out: bool
    rank_low: int
    rank_high: int
    brackets: bool
    female_names: int
    all_names: int
    relatives: int
    marriage: float
    min_children: int
    max_children: int
    max_levels: int
    memory: float


class Work(NamedTuple):
    """Scratch arrays of the kernels."""

    people: Array
    size: Array
    path: Array
    clause: Array
    proof: Array
    detour: Array
    detour_words: Array
    nodes: Array
    taken: Array
    cuts: Array
    saved: Array
    facts: Array
    chain: Array
    kinds: Array
    places: Array
    counts: Array
    order: Array
    number: Array
    names: Array
    genders: Array
    ways: Array
    plan: Array
    telling: Array
    seen: Array
    rejected: Array
    strata: Array
    block: Array


class Buffers(NamedTuple):
    """The columns of a block of rows, end to end, with their offsets."""

    text: Array
    text_offsets: Array
    question: Array
    question_offsets: Array
    clause: Array
    clause_offsets: Array
    query: Array
    target: Array
    k: Array
    held_out: Array
    memory: Array
    names: Array
    genders: Array
    name_offsets: Array
    facts: Array
    places: Array
    kinds: Array
    fact_offsets: Array
    proof: Array
    proof_offsets: Array
    people: Array
    people_offsets: Array
    paraphrases: Array
    chunk_offsets: Array


def make_work(strata: int) -> Work:
    """Fresh scratch arrays."""

    def whole(*shape: int) -> Array:
        return np.zeros(shape, np.int64)

    return Work(
        people=whole(MAX_PEOPLE, 6), size=whole(1), path=whole(32), clause=whole(32), proof=whole(32, 6), detour=whole(32),
        detour_words=whole(32), nodes=whole(64, 4), taken=whole(32), cuts=whole(64), saved=whole(MAX_PEOPLE, 6), facts=np.zeros((MAX_FACTS, 3), np.int32), chain=np.zeros(MAX_FACTS, np.int32),
        kinds=whole(MAX_FACTS), places=whole(MAX_FACTS), counts=whole(2), order=whole(MAX_PEOPLE), number=whole(MAX_PEOPLE),
        names=np.zeros(MAX_PEOPLE, np.int32), genders=np.zeros(MAX_PEOPLE, np.int8), ways=np.zeros(MAX_FACTS + 1), plan=np.zeros((MAX_FACTS, 3), np.int32),
        telling=np.zeros(MAX_FACTS, np.int32), seen=whole(MAX_PEOPLE), rejected=whole(len(REASONS)), strata=whole(strata),
        block=np.full(1, -1, np.int64),
    )  # fmt: skip


def make_buffers(rows: int, facts: int, story_room: int, question_room: int) -> Buffers:
    """Fresh buffers for this many rows of at most `facts` facts."""

    def offsets() -> Array:
        return np.zeros(rows + 1, np.int64)

    people = min(MAX_PEOPLE, 70 + 8 * facts)
    return Buffers(
        text=np.empty(rows * story_room, np.uint8), text_offsets=offsets(),
        question=np.empty(rows * question_room, np.uint8), question_offsets=offsets(),
        clause=np.empty(rows * (_LONGEST_WORD + 1) * facts, np.uint8), clause_offsets=offsets(),
        query=np.empty(2 * rows, np.int16), target=np.empty(rows, np.int8), k=np.empty(rows, np.int8),
        held_out=np.empty(rows, np.bool_), memory=np.empty(rows, np.bool_),
        names=np.empty(rows * (facts + 2), np.int16), genders=np.empty(rows * (facts + 2), np.int8), name_offsets=offsets(),
        facts=np.empty(3 * rows * facts, np.int16), places=np.empty(rows * facts, np.int8), kinds=np.empty(rows * facts, np.int8),
        fact_offsets=offsets(), proof=np.empty(6 * rows * facts, np.int16), proof_offsets=offsets(),
        people=np.empty(4 * rows * people, np.int16), people_offsets=offsets(),
        paraphrases=np.empty(rows * facts, np.int32), chunk_offsets=offsets(),
    )  # fmt: skip
