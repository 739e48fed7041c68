"""The oracle: a deliberate second implementation that shares no code with the generator; do not merge the two.

What follows from what is read off an explicit family of three generations (`composition`) instead of the generator's walks;
answers are found by cutting sets of possible relations to a fixpoint (`oracle_kernel.py`); stories are read back by a parser that
does not know the paraphrases. Released rows are judged by the released rules, and what those let through is an artifact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine import kernels
from recombine.columns import Coded, Ragged
from recombine.core import Batch, Example, Problem
from recombine.errors import shown
from recombine.families.clutrr import oracle_kernel
from recombine.families.clutrr.kinship import CODES, RELATIONS
from recombine.families.clutrr.language.parser import Unreadable, differences, read_question, read_story
from recombine.families.clutrr.plan import KINDS, People, StoryPlan
from recombine.families.clutrr.release.oracle import validate_release

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

INVERSE = (1, 0, 2, 3, 5, 4, 7, 6, 9, 8, 10, 11)
"""Bit of a relation -> bit of the reversed one: parent and child, spouse, sibling, …, none."""
NOISES = {"clean": 0, "supporting": 1, "irrelevant": 2, "disconnected": 4}
COMPILE_FROM_ROWS = 300
_MAX_PEOPLE = 256

LAWS: Mapping[int, tuple[str, str]] = {
    oracle_kernel.BAD_FAMILY: ("bad_family", "the family is none: parents, spouses or genders do not agree"),
    oracle_kernel.BAD_PATH: ("bad_path", "the facts on the path do not lead from one person of the query to the other through k distinct people"),
    oracle_kernel.SHORTER: ("shorter_path", "fewer than k stated facts join the people of the query"),
    oracle_kernel.STATED: ("stated_answer", "the story states what it asks"),
    oracle_kernel.FALSE_FACT: ("false_fact", "a stated fact is not true in the family"),
    oracle_kernel.FALSE_TARGET: ("wrong_label", "the answer is not true in the family"),
    oracle_kernel.AMBIGUOUS: ("ambiguous", "more than one answer fits the story"),
    oracle_kernel.WRONG_LABEL: ("wrong_label", "the story has another answer"),
    oracle_kernel.BAD_PROOF: ("bad_proof", "a step of the proof does not follow, or the proof does not end in the answer"),
    oracle_kernel.BAD_NOISE: ("bad_noise", "a noise fact is not of the kind it is called"),
    oracle_kernel.CONTRADICTION: ("contradiction", "the stated facts contradict each other"),
}  # fmt: skip
"""Bit -> (code, what is broken)."""


# --- what follows from what ------------------------------------------------------------------------------------------


def _universe() -> tuple[list[int], list[tuple[int, int]], list[tuple[int, int]]]:
    """(genders, (parent, child) pairs, couples) of six intermarried families: three sons and daughters each, three generations.

    Brothers marry sisters of one other house in pairs, so that whatever the axioms allow does occur; kin never marry.
    """
    genders: list[int] = []
    births: list[tuple[int, int]] = []
    couples: list[tuple[int, int]] = []

    def person(gender: int) -> int:
        genders.append(gender)
        return len(genders) - 1

    def couple(man: int, woman: int, children: int) -> tuple[list[int], list[int]]:
        couples.append((man, woman))
        sons, daughters = [person(1) for _ in range(children)], [person(0) for _ in range(children)]
        births.extend((parent, child) for parent in (man, woman) for child in sons + daughters)
        return sons, daughters

    houses = [couple(person(1), person(0), 3) for _ in range(6)]
    young = []
    for i in range(6):
        neighbour = houses[(i + 1) % 6][1]
        young.append(couple(houses[i][0][0], neighbour[0], 3))
        couple(houses[i][0][1], neighbour[1], 2)
        couple(houses[i][0][2], houses[(i + 2) % 6][1][2], 1)
    for i in range(6):
        for j in range(2):
            couple(young[i][0][j], young[(i + 3) % 6][1][j], 1)
    return genders, births, couples


def _matrices(n: int, births: Sequence[tuple[int, int]], couples: Sequence[tuple[int, int]]) -> list[Array]:
    """[x, y]: y is the parent, child, spouse, … of x, each as a matrix of truth values."""
    parent = np.zeros((n, n), bool)
    spouse = np.zeros((n, n), bool)
    for older, younger in births:
        parent[younger, older] = True
    for man, woman in couples:
        spouse[man, woman] = spouse[woman, man] = True

    def after(*steps: Array) -> Array:
        found = steps[0].astype(np.int64)
        for step in steps[1:]:
            found = (found @ step.astype(np.int64) > 0).astype(np.int64)
        return found > 0

    sibling = after(parent, parent.T) & ~np.eye(n, dtype=bool)
    aunt = after(parent, sibling) | after(parent, sibling, spouse)
    grandparent, in_law = after(parent, parent), after(spouse, parent)
    lateral = after(spouse, sibling) | after(sibling, spouse)
    return [parent, parent.T, spouse, sibling, grandparent, grandparent.T, aunt, aunt.T, in_law, in_law.T, lateral]


@cache
def composition() -> NDArray[np.int64]:
    """[gender of x, of z, of y, relation of z to x, relation of y to z] -> mask of the relations that y may have to x.

    Read off every triple of distinct people in the universe; what no triple shows is too far apart for any of the words.
    """
    genders, births, couples = _universe()
    n = len(genders)
    relation = np.full((n, n), 11)
    for code, matrix in enumerate(_matrices(n, births, couples)):
        if (relation[matrix] != 11).any():
            raise AssertionError("two people have two relations in the oracle's universe")
        relation[matrix] = code
    gender = np.array(genders)
    table = np.zeros((2, 2, 2, 12, 12), np.int64)
    apart = ~np.eye(n, dtype=bool)
    for z in range(n):
        xs, ys = np.nonzero(apart & (np.arange(n) != z)[:, None] & (np.arange(n) != z)[None, :])
        where = (gender[xs], np.full(len(xs), gender[z]), gender[ys], relation[xs, z], relation[z, ys])
        np.bitwise_or.at(table, where, 1 << relation[xs, ys])
    table[table == 0] = 1 << 11
    table[..., 11, :] = table[..., :, 11] = oracle_kernel.EVERYTHING
    return table


# --- one example, or many --------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law of the example's recipe; for `release`, what `sound` would not allow as artifacts besides."""
    if example.recipe != "sound":
        found = validate_release(example)
        return found + (_text_problems(example) if example.plan.paraphrases else [])
    plan: StoryPlan = example.plan
    if example.answer not in CODES:
        return [Problem("wrong_label", f"{shown(example.answer)} is none of the 22 relations")]
    bits = _check(_arrays(plan, example.world), example)
    return _problems(bits, plan, example.answer) + _meta_problems(example) + _text_problems(example)


def _problems(bits: int, plan: StoryPlan | None, answer: str) -> list[Problem]:
    asked = ""
    if plan is not None:
        x, y = (plan.names[p] if 0 <= p < len(plan.names) else f"person {p}" for p in plan.query)
        asked = f" (asked: what {y} is to {x}; answer: {answer})"
    found = {code: Problem(code, text + asked) for bit, (code, text) in LAWS.items() if bits & bit}
    return list(found.values())


def _arrays(plan: StoryPlan, world: People) -> tuple[Array, ...]:
    facts = np.array([part for fact in plan.facts for part in fact.triple], np.int16)
    places = np.array([fact.place for fact in plan.facts], np.int8)
    kinds = np.array([fact.kind for fact in plan.facts], np.int8)
    people = np.array([world.genders, world.fathers, world.mothers, world.spouses], np.int16).T.reshape(-1)
    proof = np.array([[s.x, s.z, s.y, s.first, s.second, s.result] for s in plan.proof], np.int16).reshape(-1)
    return facts, places, kinds, np.array(plan.genders, np.int8), people, proof


def _check(arrays: Sequence[Array], example: Example) -> int:
    facts, places, kinds, genders, people, proof = arrays
    n = len(genders)
    meta = example.meta
    kernel = kernels.load("recombine.families.clutrr.oracle_kernel", compiled=False)
    masks = np.zeros((n, n), np.int64)
    scratch = np.zeros(max(n, 1), np.int64), np.zeros(max(n, 1), np.int64)
    return int(
        kernel.check_row(
            facts, places, kinds, len(places), genders, n, people, len(people) // 4, proof, len(proof) // 6,
            *example.plan.query, CODES[example.answer], int(meta["k"]), _noise_mask(str(meta["noise"])), bool(meta["memory"]),
            composition(), np.array(INVERSE), masks, *scratch,
        )
    )  # fmt: skip


def _noise_mask(name: str) -> int:
    return sum(NOISES.get(kind, 0) for kind in name.split("+"))


def _meta_problems(example: Example) -> list[Problem]:
    """Laws that tie the row to its part: clause, hold-out, names."""
    plan: StoryPlan = example.plan
    meta = example.meta
    found = []
    words = [RELATIONS[fact.relation] for fact in plan.path]
    if "-".join(words) != meta["clause"]:
        found.append(
            Problem("wrong_clause", f"the clause is called {shown(meta['clause'])}, but the path says {'-'.join(words)}")
        )
    if len(set(plan.names)) != len(plan.names):
        found.append(Problem("same_name", f"two people have one name: {shown(list(plan.names))}"))
    fraction = float(meta.get("options", {}).get("hold_out", 0.1))
    held_out = len(words) >= 3 and clause_rank(plan) < round(fraction * (1 << 24))
    wanted = str(meta["part"]).startswith("test") and fraction > 0 and len(words) >= 3
    if held_out != meta["held_out"] or held_out != wanted:
        found.append(Problem("clause_leak", f"the clause {meta['clause']} does not belong to part {meta['part']}"))
    return found


def clause_rank(plan: StoryPlan) -> int:
    """The number below 2**24 by which a clause is held out, in plain integers."""
    mask = (1 << 64) - 1
    golden = 0x9E3779B97F4A7C15
    word = 0x636C757472C9
    path = plan.path
    for value in [plan.genders[path[0].subject], *(fact.relation for fact in path)]:
        word = ((word ^ ((value + 1) * golden & mask)) + golden) & mask
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        word ^= word >> 31
    return word >> 40


def _text_problems(example: Example) -> list[Problem]:
    """Whether the text says exactly the facts, and the question asks exactly the query."""
    plan: StoryPlan = example.plan
    if example.meta.get("options", {}).get("templates"):
        return []
    facts = [(RELATIONS[f.relation], plan.names[f.subject], plan.names[f.relative]) for f in plan.facts]
    genders = {name: ("female", "male")[g] for name, g in zip(plan.names, plan.genders, strict=True)}
    try:
        said = differences(read_story(str(example.inputs["story"]), plan.names), facts, genders)
        asked = read_question(str(example.inputs["question"]), plan.names)
    except Unreadable as problem:
        return [Problem("unreadable", str(problem))]
    found = [Problem("wrong_text", f"the story and its facts differ: {'; '.join(said[:3])}")] if said else []
    if asked != (plan.names[plan.query[0]], plan.names[plan.query[1]]):
        found.append(Problem("wrong_question", f"{shown(example.inputs['question'])} does not ask what the query asks"))
    return found


def broken_bits(batch: Batch) -> NDArray[np.int64]:
    """The laws that each row of a `sound` batch breaks (bits of `LAWS`), graph and proof only, by compiled code."""
    c: Mapping[str, Any] = batch.columns
    rows = len(batch)
    out = np.zeros(rows, np.int64)
    module = "recombine.families.clutrr.oracle_kernel"
    kernel = kernels.load(module, rows >= COMPILE_FROM_ROWS or kernels.is_loaded(module))
    masks = np.zeros((_MAX_PEOPLE, _MAX_PEOPLE), np.int64)
    scratch = np.zeros(_MAX_PEOPLE, np.int64), np.zeros(_MAX_PEOPLE, np.int64)

    def values(name: str, kind: type) -> Array:
        column: Ragged = c[name]
        return np.ascontiguousarray(column.values, kind)

    kernel.check_rows(
        values("facts", np.int16), c["facts"].offsets // 3, values("places", np.int8), values("kinds", np.int8),
        values("genders", np.int8), c["genders"].offsets, values("family", np.int16), c["family"].offsets // 4,
        values("proof", np.int16), c["proof"].offsets // 6, values("query", np.int16), _coded(c["target"], CODES),
        np.ascontiguousarray(c["k"], np.int8),
        _coded(c["noise"], {name: _noise_mask(name) for name in _names(c["noise"])}), np.ascontiguousarray(c["memory"], np.bool_),
        composition(), np.array(INVERSE), masks, *scratch, out,
    )  # fmt: skip
    return out


def _names(column: Any) -> list[str]:
    return list(column.values) if isinstance(column, Coded) else sorted({column[i] for i in range(len(column))})


def _coded(column: Any, codes: Mapping[str, int]) -> Array:
    """A column of strings as numbers."""
    if isinstance(column, Coded):
        table: Array = np.array([codes[value] for value in column.values], np.int64)
        found: Array = table[np.asarray(column.codes)]
        return found
    return np.array([codes[column[i]] for i in range(len(column))], np.int64)


def validate_batch(batch: Batch) -> Iterator[tuple[int, Problem]]:
    """Every broken law of every row: graphs and proofs in compiled code, texts one by one."""
    from recombine.families.clutrr.plan import example

    if batch.job.recipe != "sound":
        for row in range(len(batch)):
            for problem in validate(example(batch, row)):
                yield row, problem
        return
    bits = broken_bits(batch)
    for row in range(len(batch)):
        one = example(batch, row)
        for problem in _problems(int(bits[row]), one.plan, one.answer) + _meta_problems(one) + _text_problems(one):
            yield row, problem


__all__ = ["KINDS", "LAWS", "broken_bits", "clause_rank", "composition", "validate", "validate_batch"]
