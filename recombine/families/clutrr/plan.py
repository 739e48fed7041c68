"""One story as a readable value: facts, proof, family, and the view of a row as an `Example`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recombine.columns import values_of
from recombine.core import Batch, Example, Family
from recombine.errors import FileError
from recombine.families.clutrr.kinship import CODES, RELATIONS
from recombine.keys import Stream
from recombine.predicates.draw import HOLD_OUT, PREDICATE, predicate_text
from recombine.row_examples import RowExample, RowFields

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KINDS = ("clean", "supporting", "irrelevant", "disconnected")
"""Kinds of facts by code: on the path, or noise."""


@dataclass(frozen=True)
class Fact:
    """`relative` is the `relation` of `subject`; `place` is its place on the path, or -1 for noise."""

    relation: int
    subject: int
    relative: int
    place: int = -1
    kind: int = 0

    @property
    def triple(self) -> tuple[int, int, int]:
        """(relation, subject, relative)."""
        return self.relation, self.subject, self.relative


@dataclass(frozen=True)
class Step:
    """z is x's `first`, y is z's `second`, so y is x's `result`."""

    x: int
    z: int
    y: int
    first: int
    second: int
    result: int


@dataclass(frozen=True)
class People:
    """A family: for each person gender (0 female, 1 male), father, mother and spouse, or -1."""

    genders: tuple[int, ...]
    fathers: tuple[int, ...]
    mothers: tuple[int, ...]
    spouses: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.genders)


@dataclass(frozen=True)
class StoryPlan:
    """What is said: the facts as told, who is asked about, and the proof, root first."""

    names: tuple[str, ...]
    genders: tuple[int, ...]
    facts: tuple[Fact, ...]
    query: tuple[int, int]
    proof: tuple[Step, ...]
    paraphrases: tuple[int, ...] = ()

    @cached_property
    def path(self) -> tuple[Fact, ...]:
        """The facts that prove the answer, in path order."""
        return tuple(sorted((fact for fact in self.facts if fact.place >= 0), key=lambda fact: fact.place))

    def sentence(self, relation: int, subject: int, relative: int) -> str:
        """`Ann is the mother of Bob.`"""
        return f"{self.names[relative]} is the {RELATIONS[relation]} of {self.names[subject]}."


def this_family() -> Family:
    """The family object, which every example holds."""
    from recombine.families.clutrr import CLUTRR

    return CLUTRR


def inputs_of(story: str, question: str, plan: StoryPlan) -> dict[str, Any]:
    """All that a model may see: the text, the question, and the same facts as a graph, in the order of telling."""
    return {
        "story": story,
        "question": question,
        "query": [plan.names[plan.query[0]], plan.names[plan.query[1]]],
        "entities": list(plan.names),
        "graph": {
            "edges": [[fact.subject, fact.relative] for fact in plan.facts],
            "relations": [RELATIONS[fact.relation] for fact in plan.facts],
            "genders": list(plan.genders),
            "query": list(plan.query),
        },
    }


def _grouped(values: Sequence[int], width: int) -> list[tuple[int, ...]]:
    return [tuple(values[i : i + width]) for i in range(0, len(values), width)]


def example(batch: Batch, row: int) -> Example:
    """The readable view of a row; its meta carries the scalar columns and the job.

    A row of the wrong shape is a `FileError` when its inputs, plan or world are read.
    """
    return RowExample.at(this_family(), batch, row, _FIELDS)


_LISTS = ("facts", "places", "kinds", "query", "names", "genders", "proof", "family")


def _lists(batch: Batch, row: int) -> list[list[Any]]:
    """The list columns of a row in the order of `_LISTS`, if their lengths fit each other and their numbers mean something.

    The lists may be the batch's own: copy what you give away.
    """
    columns: Mapping[str, Any] = batch.columns
    cells = [columns[name][row] for name in _LISTS]
    facts, places, kinds, query, names, genders, proof, family = cells
    people, relations = len(names), len(RELATIONS)
    if (
        len(facts) % 3 or len(proof) % 6 or len(family) % 4 or len(query) != 2
        or not 3 * len(places) == 3 * len(kinds) == len(facts) or people != len(genders)
        or not _are_below(query, people) or not _are_below(facts[::3], relations)
        or not _are_below(facts[1::3], people) or not _are_below(facts[2::3], people)
    ):  # fmt: skip
        lengths = {name: len(cell) for name, cell in zip(_LISTS, cells, strict=True)}
        raise FileError(f"row {batch.id(row)} is malformed: its lists have the lengths {lengths}. Run `recombine verify`.")
    return cells


def _are_below(numbers: Sequence[int], bound: int) -> bool:
    """Whether all numbers are in [0, bound)."""
    return not numbers or (min(numbers) >= 0 and max(numbers) < bound)


def _inputs(batch: Batch, row: int) -> dict[str, Any]:
    """`inputs_of` without making the plan."""
    facts, _, _, query, names, genders, _, _ = _lists(batch, row)
    return {
        "story": batch.value("story", row),
        "question": batch.value("question", row),
        "query": [names[query[0]], names[query[1]]],
        "entities": [*names],
        "graph": {
            "edges": [[subject, relative] for subject, relative in zip(facts[1::3], facts[2::3], strict=True)],
            "relations": [RELATIONS[relation] for relation in facts[::3]],
            "genders": [*genders],
            "query": [*query],
        },
    }


def _plan(batch: Batch, row: int) -> StoryPlan:
    facts, places, kinds, query, names, genders, proof, _ = _lists(batch, row)
    return StoryPlan(
        names=tuple(names),
        genders=tuple(genders),
        facts=tuple(
            Fact(r, s, o, place, kind) for (r, s, o), place, kind in zip(_grouped(facts, 3), places, kinds, strict=True)
        ),
        query=(query[0], query[1]),
        proof=tuple(Step(*six) for six in _grouped(proof, 6)),
        paraphrases=tuple(batch.value("paraphrases", row)),
    )


def _world(batch: Batch, row: int) -> People:
    people = _grouped(_lists(batch, row)[-1], 4)
    return People(*(tuple(person[i] for person in people) for i in range(4)))


def _meta(batch: Batch, row: int) -> dict[str, Any]:
    job = batch.job
    told = ("k", "noise", "fact_count", "clause", "held_out", "memory", "target")
    meta = {name: batch.value(name, row) for name in told}
    meta |= {"recipe": job.recipe, "split": job.split, "part": job.part, "options": dict(job.options)}
    if job.split == HOLD_OUT:
        from recombine.families.clutrr.options import OPTIONS

        meta[PREDICATE] = predicate_text(job, OPTIONS)
    if members := batch.value("members", row):
        meta["members"] = members
    return meta


_FIELDS = RowFields(_inputs, lambda batch, row: str(batch.value("target", row)), _plan, _world, _meta)


def canonical(example: Example) -> bytes:
    """The story without its names: paraphrases, facts as told with people numbered as they come up, and the query.

    A story that came from elsewhere has no paraphrase numbers; its text stands for them.
    """
    plan: StoryPlan = example.plan
    seen: dict[int, int] = {}
    told = [[fact.relation, *(seen.setdefault(p, len(seen)) for p in (fact.subject, fact.relative))] for fact in plan.facts]
    asked = [seen.setdefault(p, len(seen)) for p in plan.query]
    wording: list[Any] = list(plan.paraphrases) or [anonymous(str(example.inputs["story"]), plan.names)]
    return json.dumps([wording, told, asked], separators=(",", ":")).encode()


def anonymous(text: str, names: Sequence[str], tokens: Mapping[str, str] | None = None) -> str:
    """The text with every name replaced by its token, by default `@entity-k`, k in order of first mention; brackets go."""
    if not names:
        return text
    known = dict(tokens or {})
    found = re.compile(
        r"\[?(?<![\w-])(" + "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True)) + r")(?![\w-])\]?"
    )

    def token(match: re.Match[str]) -> str:
        return known.setdefault(match[1], f"@entity-{len(known)}")

    return found.sub(token, text)


CLOZE_POOL = 20
"""Entity tokens from which `cloze` draws, as in the paper."""


def cloze(example: Example, stream: Stream) -> dict[str, Any]:
    """The paper's cloze form: each person becomes a random token of `@entity-0` … `@entity-19`, in all inputs.

    A story with more people than that draws from as many tokens as it has people. The model chooses the vectors of the tokens:
    fixed random ones, fresh random ones, or learned ones.
    """
    names = list(example.inputs["entities"])
    numbers = stream.sample(range(max(CLOZE_POOL, len(names))), len(names))
    tokens = {name: f"@entity-{number}" for name, number in zip(names, numbers, strict=True)}
    shown = dict(example.inputs)
    shown["story"] = anonymous(str(shown["story"]), names, tokens)
    shown["question"] = anonymous(str(shown["question"]), names, tokens)
    shown["query"] = [tokens[name] for name in shown["query"]]
    shown["entities"] = [tokens[name] for name in names]
    return shown


def code_of(word: str) -> int | None:
    """The code of a relation word, if it is one; `neice`, as the original code spells it, is niece."""
    return CODES.get("niece" if word == "neice" else word)


def canonical_batch(batch: Batch) -> NDArray[np.uint64]:
    """64 bits of blake2b over each row's canonical form, without building examples."""
    import numpy as np

    columns = [values_of(batch.columns[name]) for name in ("facts", "query", "paraphrases")]
    words = np.zeros(len(batch), np.uint64)
    for row, (facts, query, codes) in enumerate(zip(*columns, strict=True)):
        seen: dict[int, int] = {}
        told = [[facts[i], *(seen.setdefault(p, len(seen)) for p in facts[i + 1 : i + 3])] for i in range(0, len(facts), 3)]
        asked = [seen.setdefault(p, len(seen)) for p in query]
        form = json.dumps([codes, told, asked], separators=(",", ":")).encode()
        words[row] = int.from_bytes(hashlib.blake2b(form, digest_size=8).digest(), "little")
    return words
