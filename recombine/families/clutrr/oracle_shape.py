"""Checks the lengths and ranges of a row's columns before the kernel runs. A bad row gets a reason; the other rows go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded, Ragged
from recombine.families.clutrr.kinship import CODES
from recombine.families.clutrr.oracle_kernel import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recombine.core import Example

    Array = NDArray[Any]

MAX_NAMED = 256
MAX_FAMILY = 4_096
MAX_FACTS = 256
NOISES = {"clean": 0, "supporting": 1, "irrelevant": 2, "disconnected": 4}
"""Kind of noise -> its bit."""
WIDTHS = {"facts": 3, "places": 1, "kinds": 1, "genders": 1, "family": 4, "proof": 6, "query": 2}
"""Column of lists -> the numbers of one item."""


def noise_mask(name: str) -> int:
    """The bits of `supporting+irrelevant`; -1 if the name is unknown."""
    kinds = name.split("+")
    if any(kind not in NOISES for kind in kinds):
        return -1
    return sum(NOISES[kind] for kind in set(kinds))


def rows_of(columns: Mapping[str, Any]) -> tuple[Rows, dict[int, str]]:
    """The columns as the kernel reads them, and the reason for every row that it must not look at."""
    values = {name: np.asarray(columns[name].values).astype(np.int64) for name in WIDTHS}
    offsets = {name: np.asarray(columns[name].offsets, np.int64) for name in WIDTHS}
    single = {
        "target": _coded(columns["target"], lambda word: CODES.get(word, -1)),
        "k": np.asarray(columns["k"]).astype(np.int64),
        "noise": _coded(columns["noise"], noise_mask),
        "memory": np.asarray(columns["memory"]).astype(np.int64),
    }
    named = np.diff(np.asarray(columns["names"].offsets, np.int64))
    reasons = _reasons(values, offsets, single, named)
    fit = np.ones(len(named), np.bool_)
    fit[list(reasons)] = False
    kept: dict[str, Array] = {}
    for name, width in WIDTHS.items():
        lengths = np.diff(offsets[name])
        kept[name] = values[name][np.repeat(fit, lengths)] if reasons else values[name]
        kept[f"{name} offsets"] = np.concatenate([[0], np.cumsum(np.where(fit, lengths, 0))]) // width
    query = np.zeros(2 * len(fit), np.int64)
    query[np.repeat(fit, 2)] = kept["query"]
    return Rows(
        facts=kept["facts"], fact_offsets=kept["facts offsets"], places=kept["places"], kinds=kept["kinds"],
        genders=kept["genders"], gender_offsets=kept["genders offsets"], family=kept["family"],
        family_offsets=kept["family offsets"], proof=kept["proof"], proof_offsets=kept["proof offsets"], query=query,
        target=single["target"], k=single["k"], noise=single["noise"], memory=single["memory"], is_fit=fit.astype(np.int64),
    ), reasons  # fmt: skip


def _reasons(
    values: Mapping[str, Array], offsets: Mapping[str, Array], single: Mapping[str, Array], named: Array
) -> dict[int, str]:
    """Row -> what is wrong with its shape, for rows with something wrong."""
    count = {name: np.diff(own) for name, own in offsets.items()}
    people, facts, family = count["genders"], count["facts"] // 3, count["family"] // 4
    laws: list[tuple[str, Array]] = [
        ("names and genders are not equally many", named != people),
        (f"the story names fewer than 2 or more than {MAX_NAMED} people", (people < 2) | (people > MAX_NAMED)),
        ("facts do not come in threes", count["facts"] % 3 != 0),
        (f"there is no fact, or more than {MAX_FACTS}", (facts < 1) | (facts > MAX_FACTS)),
        ("places and facts are not equally many", count["places"] != facts),
        ("kinds and facts are not equally many", count["kinds"] != facts),
        ("the proof does not come in sixes", count["proof"] % 6 != 0),
        ("the query does not name two people", count["query"] != 2),
        ("the family does not come in fours", count["family"] % 4 != 0),
        ("the family lacks people of the story, or is too large", (family < people) | (family > MAX_FAMILY)),
        ("the answer is none of the 22 relations", single["target"] < 0),
        ("the noise has an unknown name", single["noise"] < 0),
        ("k is not a number of facts", (single["k"] < 1) | (single["k"] > facts)),
    ]
    bounds: tuple[tuple[str, int, int, Array | int], ...] = (
        ("genders", 1, 0, 2), ("kinds", 1, 0, 4), ("places", 1, -1, facts), ("query", 2, 0, people),
    )  # fmt: skip
    for name, _, low, high in bounds:
        laws.append((f"a number in {name} is out of range", _outside(values[name], offsets[name], low, high)))
    for name, kinds in (("facts", "rpp"), ("proof", "ppprrr"), ("family", "gfff")):
        bound: dict[str, Array | int] = {"r": len(CODES), "p": people, "g": 2, "f": family}
        for place, kind in enumerate(kinds):
            outside = _outside(values[name], offsets[name], -1 if kind == "f" else 0, bound[kind], place, len(kinds))
            laws.append((f"a number in {name} is out of range", outside))
    reasons: dict[int, str] = {}
    for text, is_broken in laws:
        for row in np.flatnonzero(is_broken).tolist():
            reasons.setdefault(row, text)
    return reasons


def _outside(values: Array, offsets: Array, low: int, high: Array | int, place: int = 0, width: int = 1) -> Array:
    """The rows in which a number at this place of an item is not in [low, high); `high` may differ by row."""
    lengths = np.diff(offsets)
    bound = np.repeat(np.broadcast_to(high, lengths.shape), lengths)
    is_bad = (values < low) | (values >= bound)
    if width > 1:
        is_bad &= (np.arange(len(values)) - np.repeat(offsets[:-1], lengths)) % width == place
    upto = np.concatenate([[0], np.cumsum(is_bad)])
    found: Array = upto[offsets[1:]] > upto[offsets[:-1]]
    return found


def _coded(column: Any, code: Any) -> Array:
    """A column of strings as numbers."""
    if isinstance(column, Coded):
        table: Array = np.array([code(value) for value in column.values], np.int64)
        found: Array = table[np.asarray(column.codes)]
        return found
    return np.array([code(column[i]) for i in range(len(column))], np.int64)


def columns_of(example: Example) -> dict[str, Any]:
    """One example as a batch of one row; a family that is not known is made up of the named people alone."""
    plan, world, meta = example.plan, example.world, example.meta
    people = [[gender, -1, -1, -1] for gender in plan.genders]
    if world is not None:
        people = [list(one) for one in zip(world.genders, world.fathers, world.mothers, world.spouses, strict=True)]
    lists: dict[str, list[int]] = {
        "facts": [part for fact in plan.facts for part in fact.triple],
        "places": [fact.place for fact in plan.facts],
        "kinds": [fact.kind for fact in plan.facts],
        "genders": list(plan.genders),
        "family": [cell for one in people for cell in one],
        "proof": [part for s in plan.proof for part in (s.x, s.z, s.y, s.first, s.second, s.result)],
        "query": list(plan.query),
    }
    found: dict[str, Any] = {
        name: Ragged(np.array(own, np.int64), np.array([0, len(own)], np.int64)) for name, own in lists.items()
    }
    found["names"] = Ragged(np.zeros(len(plan.names), np.int64), np.array([0, len(plan.names)], np.int64))
    return found | {
        "target": [example.answer], "noise": [str(meta.get("noise", "clean"))], "k": np.array([int(meta.get("k", 0))]),
        "memory": np.array([bool(meta.get("memory"))]),
    }  # fmt: skip
