"""The arrays that the kernels of `sound` read and fill: a job as numbers, scratch space, and the columns of a block of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language.kernel import MAX_FACTS
from recombine.families.clutrr.language.store import Questions, Tables
from recombine.families.clutrr.sound.family import MAX_PEOPLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

REASONS = ("clause of another part", "no proof in this family", "family limits", "noise does not fit", "no wording",
           "story of another part", "target not true", "too many generations")  # fmt: skip
_LONGEST_WORD = max(len(name) for name in RELATIONS)


class Config(NamedTuple):
    """What the kernels need to know of a job, as plain numbers."""

    noise: int
    noise_facts: int
    anchor_any: bool
    hold_out: int  # clauses of a rank below this mark are held out
    held_pairs: Array  # [22, 22]: whether clauses with these neighbours are held out
    held_from: int  # the least k at which clauses are held out
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
    max_levels: int  # generations of the whole family
    acting_levels: int  # generations of the people whom a story names
    memory: float


class Speech(NamedTuple):
    """All that words a story: paraphrases, questions and names."""

    tables: Tables
    other: Tables  # the second style of mixed parts; the same tables where there is one style
    other_share: float  # how many stories take the second style
    questions: Questions
    name_bytes: Array  # all names end to end
    name_offsets: Array  # [names + 1]


class Turns(NamedTuple):
    """Whose turn it is: the lengths of the part, and a state per block of rows that shuffles the targets."""

    ks: Array  # [lengths]
    block_states: Array  # [blocks]


class Given(NamedTuple):
    """Rows whose facts are there and that only need words."""

    facts: Array  # [facts, 3], all rows end to end
    chains: Array  # [facts]
    offsets: Array  # [rows + 1]
    genders: Array  # [people], all rows end to end
    names: Array  # [people]
    people_offsets: Array  # [rows + 1]
    query: Array  # [2 * rows]


class Told(NamedTuple):
    """What comes of wording `Given` rows."""

    text: Array
    text_offsets: Array  # [rows + 1]
    question: Array
    question_offsets: Array  # [rows + 1]
    facts: Array  # [facts, 3] in the order of telling
    order: Array  # [facts]: place in `Given.facts`
    chunks: Array  # paraphrase codes
    chunk_offsets: Array  # [rows + 1]


class Work(NamedTuple):
    """Scratch arrays of the kernels."""

    people: Array  # [MAX_PEOPLE, 6]: gender, father, mother, spouse, named, generation
    size: Array  # [1]: how many people there are
    path: Array  # [32]: the people along the path
    clause: Array  # [32]: the words along the path
    proof: Array  # [32, 6]: x, z, y, first, second, result; root first
    detour: Array  # [32]: people of a supporting detour
    detour_words: Array  # [32]
    nodes: Array  # [64, 4]: open edges of the tree: from, to, head, gender
    taken: Array  # [32]: bits of relatives of whom there is only one, by place
    cuts: Array  # [64]: possible cuts by rule
    saved: Array  # [MAX_PEOPLE, 6]: the people before a try
    facts: Array  # [MAX_FACTS, 3]: relation, subject, relative
    chain: Array  # [MAX_FACTS]: which chain a fact belongs to
    kinds: Array  # [MAX_FACTS]
    places: Array  # [MAX_FACTS]
    counts: Array  # [2]: facts, chains
    order: Array  # [MAX_PEOPLE]: number -> person
    number: Array  # [MAX_PEOPLE]: person -> number
    names: Array  # [MAX_PEOPLE]: number -> place in the list of names
    genders: Array  # [MAX_PEOPLE], by number
    ways: Array  # [MAX_FACTS + 1]: groupings of the facts from here on
    plan: Array  # [MAX_FACTS, 3]: first fact, length, paraphrase of each chunk
    telling: Array  # [MAX_FACTS]: chunks in the order of telling
    seen: Array  # [MAX_PEOPLE]: person -> order of mention
    rejected: Array  # [len(REASONS)]
    strata: Array  # [turns]: the (k, target) of the block's rows
    block: Array  # [1]: the block whose strata these are


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
