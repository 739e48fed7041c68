"""Job -> batch. `sound` rows come from kernels, each a pure function of its index; `release` rows from a cached run."""

from __future__ import annotations

from recombine.core import Batch, ColumnType, Job
from recombine.families.clutrr.facets import facet_columns
from recombine.families.clutrr.options import OPTIONS
from recombine.families.clutrr.release.generate import generate_release, release_size
from recombine.families.clutrr.sound.generate import generate_sound
from recombine.families.clutrr.splits import SPLITS
from recombine.predicates.draw import HOLD_OUT, Source, draw, predicate_of

SCHEMA: dict[str, ColumnType] = {
    "story": "string",
    "question": "string",
    "query": "list<int16>",
    "target": "string",
    "k": "int8",
    "noise": "string",
    "fact_count": "int16",
    "clause": "string",
    "held_out": "bool",
    "memory": "bool",
    "names": "list<string>",
    "genders": "list<int8>",
    "facts": "list<int16>",
    "places": "list<int8>",
    "kinds": "list<int8>",
    "proof": "list<int16>",
    "family": "list<int16>",
    "paraphrases": "list<int32>",
    "members": "list<int16>",
}
"""`facts` are triples (relation, subject, relative) as told; `places` their place on the path or -1, `kinds` 0 clean, 1
supporting, 2 irrelevant, 3 disconnected; `proof` holds sixes (x, z, y, r1, r2, r), root first; `family` fours (gender, father,
mother, spouse) by person, the named ones first; `members` their numbers in the released family (`release` only)."""


def generate(job: Job) -> Batch:
    """Rows [start, stop) of the part; slices join to the whole, whatever their bounds."""
    if job.split == HOLD_OUT:
        return draw(job, predicate_of(job, OPTIONS), SOURCE, is_wanted=job.part == "test")
    return _rows(job)


def _rows(job: Job) -> Batch:
    made = generate_release(job) if job.recipe == "release" else generate_sound(job)
    return Batch(job, made.start, {name: made.columns[name] for name in SCHEMA}, made.rejections)


SOURCE = Source(_rows, facet_columns)
"""Where the rows of a user's split come from."""


def size(job: Job) -> int:
    """How many rows a part holds: the stated number for `sound`, what the run makes for `release`."""
    return release_size(job) if job.recipe == "release" else SPLITS[job.split].parts[job.part].rows(job.recipe)
