"""The complete rules of kinship, derived rather than listed: what follows when two relations are put end to end.

A family is a tree of persons and unions (a couple and its children). Between two persons runs one shortest walk of steps
U (to a parent), D (to a child), S (to the spouse) and B (to a sibling), in which no two consecutive steps pass through the
same union. A word names a set of such walks (an uncle is a parent's brother, U B, or a parent's sister's husband, U B S).
Putting two walks end to end and shortening at the joint gives every walk that can join the ends; a rule
`COMPOSE[gender of x][r1][r2] = r` holds where all of these are walks of one word.

The axioms: couples are a man and a woman, marry once and share all their children; two names are two persons; nobody
bears two of the relations to the same person. Step-families and half-siblings do not exist in these stories. Four of the
shortenings need such a convention (`kinship.CONVENTIONS`): where one is dropped, the shortening leads to somebody without a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from recombine.families.clutrr.kinship import GENDER, RELATIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WALKS: tuple[tuple[str, ...], ...] = (
    ("U",), ("D",), ("S",), ("B",), ("UU",), ("DD",), ("UB", "UBS"), ("BD", "SBD"), ("SU",), ("DS",), ("SB", "BS"),
)  # fmt: skip
"""Neutral relation -> the walks that it names. A spouse's sibling's spouse (S B S) has no agreed word and gets none."""

_NEUTRAL_OF = {walk: neutral for neutral, walks in enumerate(WALKS) for walk in walks}
_LEAVES_BY_MARRIAGE = "SD"
_ENTERS_BY_MARRIAGE = "US"


@dataclass(frozen=True)
class _Person:
    """A place on a walk: gender if known, and whether the story names the person there."""

    gender: int | None
    is_named: bool


def _merged(a: _Person, b: _Person) -> _Person | None:
    """The one person that both places are, or None if they cannot be the same."""
    if (a.is_named and b.is_named) or (a.gender is not None and b.gender is not None and a.gender != b.gender):
        return None
    return _Person(a.gender if a.gender is not None else b.gender, a.is_named or b.is_named)


def _may_differ(a: _Person, b: _Person, must_be_couple: bool) -> bool:
    if not must_be_couple:
        return True
    return a.gender is None or b.gender is None or a.gender != b.gender


_Walk = tuple[tuple[str, ...], tuple[_Person, ...]]  # steps, and the persons between and around them

_SHORTENED = {"US": "U", "UD": "B", "SD": "D", "DU": "S", "DB": "D", "BU": "U", "BB": "B"}
_RETURNS = ("UD", "SS", "DU", "BB")
NEEDS: dict[str, str] = {"US": "parent's spouse", "SD": "spouse's child", "DU": "child's parent", "UD": "parent's child"}
"""Shortening -> the convention that it needs: a parent's wife may be a stepmother, a child's mother need not be one's wife, …"""
ALL, NONE = frozenset[str](), frozenset(NEEDS)
"""What is dropped when all conventions hold, and when none does."""
_NO_WORD: _Walk = (("?",), ())


def _joined(first: _Walk, second: _Walk, dropped: frozenset[str]) -> set[_Walk]:
    """Every shortest walk that the two walks end to end may be; they meet in one person. `dropped`: shortenings not to trust."""
    (steps, people), (more, others) = first, second
    if not steps or not more:
        return {(steps + more, people + others[1:])}
    a, c = people[-2], others[1]
    joint = steps[-1] + more[0]
    if (steps[-1] in _ENTERS_BY_MARRIAGE) != (more[0] in _LEAVES_BY_MARRIAGE):
        return {(steps + more, people + others[1:])}
    found: set[_Walk] = set()
    if joint in _RETURNS and (same := _merged(a, c)) is not None:
        found |= _joined((steps[:-1], (*people[:-2], same)), (more[1:], (same, *others[2:])), dropped)
    if joint in _SHORTENED and _may_differ(a, c, must_be_couple=joint == "DU"):
        found |= _joined((steps[:-1], people[:-1]), ((_SHORTENED[joint], *more[1:]), (a, c, *others[2:])), dropped)
        if joint in dropped:
            found.add(_NO_WORD)
    return found


def _walks(subject: _Person, code: int) -> list[_Walk]:
    """What a stated word may mean: its walks, with the people in between unnamed, their genders known only by marriage."""
    end = _Person(GENDER[code], True)
    found = []
    for walk in WALKS[code // 2]:
        people = [subject, *(_Person(None, False) for _ in walk[1:]), end]
        for i, step in enumerate(walk):
            if step == "S":
                people[i], people[i + 1] = _coupled(people[i], people[i + 1])
        found.append((tuple(walk), tuple(people)))
    return found


def _coupled(a: _Person, b: _Person) -> tuple[_Person, _Person]:
    """The same two persons; a known gender gives the other's."""
    if a.gender is None and b.gender is not None:
        return _Person(1 - b.gender, a.is_named), b
    if b.gender is None and a.gender is not None:
        return a, _Person(1 - a.gender, b.is_named)
    return a, b


def joins(subject_gender: int, first: int, second: int, dropped: frozenset[str] = ALL) -> set[int]:
    """Every neutral relation (-1: none has a word) that y may have to x where z is x's `first` and y z's `second`.

    None at all if y would have to be x: somebody's wife's husband.
    """
    start = _Person(subject_gender, True)
    ends: set[int] = set()
    for one in _walks(start, first):
        for other in _walks(one[1][-1], second):
            for steps, _ in _joined(one, (other[0], (one[1][-1], *other[1][1:])), dropped):
                ends.add(_NEUTRAL_OF.get("".join(steps), -1))
    return ends


def composed(subject_gender: int, first: int, second: int, dropped: frozenset[str] = ALL) -> int:
    """The word for y to x where z is the `first` of x and y the `second` of z; -1 where no single word follows."""
    ends = joins(subject_gender, first, second, dropped)
    if len(ends) != 1 or -1 in ends:
        return -1
    return 2 * ends.pop() + 1 - GENDER[second]


def fits(subject_gender: int, code: int) -> bool:
    """Whether somebody of this gender can have such a relative: only men have wives."""
    return code // 2 != 2 or GENDER[code] != subject_gender


@cache
def compose_table(dropped: frozenset[str] = ALL) -> NDArray[np.int8]:
    """COMPOSE[gender of x, r1, r2] = r or -1, over the 22 words, without the conventions that are dropped."""
    import numpy as np

    n = len(RELATIONS)
    table = np.full((2, n, n), -1, np.int8)
    for gender, first, second in product((0, 1), range(n), range(n)):
        if fits(gender, first) and fits(GENDER[first], second):
            table[gender, first, second] = composed(gender, first, second, dropped)
    return table


@cache
def conventions_of(subject_gender: int, first: int, second: int) -> tuple[str, ...]:
    """The conventions (names in `kinship.CONVENTIONS`) without any one of which the rule would not hold."""
    return tuple(name for joint, name in NEEDS.items() if compose_table(frozenset({joint}))[subject_gender, first, second] < 0)


@cache
def return_table() -> NDArray[np.bool_]:
    """[gender of x, r1, r2]: whether the two words in a row can only lead back to x."""
    import numpy as np

    n = len(RELATIONS)
    table = np.zeros((2, n, n), np.bool_)
    for gender, first, second in product((0, 1), range(n), range(n)):
        if fits(gender, first) and fits(GENDER[first], second):
            table[gender, first, second] = not joins(gender, first, second)
    return table
