"""The oracle's rules of kinship. They are read off explicit families; the generator derives its rules otherwise. Do not merge the two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.families.clutrr.oracle_kernel import EVERYTHING, Kinship
from recombine.keys import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

INVERSE = (1, 0, 2, 3, 5, 4, 7, 6, 9, 8, 10, 11)
"""Bit of a relation -> bit of the reversed one: parent and child, spouse, sibling, …, none."""
RISE = (1, -1, 0, 0, 2, -2, 1, -1, 1, -1, 0)
"""Relation -> how many generations above the person such a relative stands."""
NONE = 11
_PATCHWORK_HOUSES = 28

Births = list[tuple[int, int]]
Couples = list[tuple[int, int]]


class _Register:
    """People as they are born and married."""

    def __init__(self) -> None:
        self.genders: list[int] = []
        self.births: Births = []
        self.couples: Couples = []

    def person(self, gender: int) -> int:
        self.genders.append(gender)
        return len(self.genders) - 1

    def born(self, man: int, woman: int, genders: Sequence[int]) -> list[int]:
        children = [self.person(gender) for gender in genders]
        self.births.extend((parent, child) for parent in (man, woman) for child in children)
        return children


def _whole_families() -> _Register:
    """Six intermarried families of three generations, three sons and three daughters each.

    Brothers marry sisters of one other house in pairs, so that whatever the conventions allow does occur; kin never marry.
    """
    r = _Register()

    def couple(man: int, woman: int, children: int) -> tuple[list[int], list[int]]:
        r.couples.append((man, woman))
        born = r.born(man, woman, [1] * children + [0] * children)
        return born[:children], born[children:]

    houses = [couple(r.person(1), r.person(0), 3) for _ in range(6)]
    young = []
    for i in range(6):
        neighbour = houses[(i + 1) % 6][1]
        young.append(couple(houses[i][0][0], neighbour[0], 3))
        couple(houses[i][0][1], neighbour[1], 2)
        couple(houses[i][0][2], houses[(i + 2) % 6][1][2], 1)
    for i in range(6):
        for j in range(2):
            couple(young[i][0][j], young[(i + 3) % 6][1][j], 1)
    return r


def _patchwork_families() -> _Register:
    """Families of three generations without conventions: a parent may be married to the other parent, to somebody else, or not at all.

    Everybody of the second generation has children with two people of other houses and is married to one of the two, to a third
    person, or to nobody.
    """
    r, stream = _Register(), Stream("clutrr oracle", "patchwork families")
    houses = []
    for _ in range(_PATCHWORK_HOUSES):
        man, woman, other = r.person(1), r.person(0), r.person(0)
        r.couples.append((man, (woman, other)[stream.below(2)]))
        houses.append(r.born(man, woman, (1, 0) * 2) + r.born(man, other, (1, 0)))
    for _ in range(2):
        houses = _next_generation(r, houses, stream)
    return r


def _next_generation(r: _Register, houses: list[list[int]], stream: Stream) -> list[list[int]]:
    """Marry the houses' children to other houses' and let each man have children with two women."""
    men = [(house, p) for house, people in enumerate(houses) for p in people if r.genders[p] == 1]
    women = [(house, p) for house, people in enumerate(houses) for p in people if r.genders[p] == 0]
    young: list[list[int]] = []
    free, used = {p for _, p in women}, dict.fromkeys((p for _, p in women), 0)
    for home, man in men:
        others = [p for house, p in women if house != home and used[p] < 2]
        if len(others) < 3:
            continue
        strangers = stream.sample(others, 3)
        for woman in strangers[:2]:
            used[woman] += 1
        wives = [woman for woman in strangers if woman in free]
        if wives and stream.below(5):
            wife = stream.choice(wives)
            free.discard(wife)
            r.couples.append((man, wife))
        if len(young) < _PATCHWORK_HOUSES:
            young.append(r.born(man, strangers[0], (1, 0)) + r.born(man, strangers[1], (1, 0)))
    return young


def _relations(r: _Register) -> Array:
    """[x, y] -> what y is to x; 11 for none. Pairs that two words relate are left out as -1: such families do not occur."""
    n = len(r.genders)
    parent = np.zeros((n, n), np.float32)
    spouse = np.zeros((n, n), np.float32)
    for older, younger in r.births:
        parent[younger, older] = 1
    for man, woman in r.couples:
        spouse[man, woman] = spouse[woman, man] = 1

    def after(*steps: Array) -> Array:
        found = steps[0]
        for step in steps[1:]:
            found = (found @ step > 0).astype(np.float32)
        return found

    sibling = ((parent @ parent.T) == 2).astype(np.float32) * (1 - np.eye(n, dtype=np.float32))  # both parents in common
    aunt = np.maximum(after(parent, sibling), after(parent, sibling, spouse))
    grandparent, in_law = after(parent, parent), after(spouse, parent)
    lateral = np.maximum(after(spouse, sibling), after(sibling, spouse))
    every = [parent, parent.T, spouse, sibling, grandparent, grandparent.T, aunt, aunt.T, in_law, in_law.T, lateral]
    relation = np.full((n, n), NONE)
    for code, matrix in enumerate(every):
        relation[matrix > 0] = code
    relation[sum(matrix > 0 for matrix in every) > 1] = -1
    return relation


def _seen(r: _Register) -> NDArray[np.int64]:
    """[genders of x, z, y, relation of z to x, of y to z] -> mask of the relations of y to x that some three people show."""
    relation, gender = _relations(r), np.array(r.genders)
    table = np.zeros((2, 2, 2, NONE + 1, NONE + 1), np.int64)
    for z in range(len(gender)):
        kin = np.flatnonzero((relation[:, z] >= 0) & (relation[:, z] != NONE) & (relation[z] >= 0))
        x, y = (side.ravel() for side in np.meshgrid(kin, kin, indexing="ij"))
        known = (x != y) & (relation[x, y] >= 0)
        x, y = x[known], y[known]
        where = (gender[x], np.full(len(x), gender[z]), gender[y], relation[x, z], relation[z, y])
        np.bitwise_or.at(table, where, 1 << relation[x, y])
    return table


@cache
def composition(conventions: bool = True) -> NDArray[np.int64]:
    """[gender of x, of z, of y, relation of z to x, relation of y to z] -> mask of the relations that y may have to x.

    Combinations that no three people show have no word: y is too far from x. Without conventions, patchwork families are added.
    """
    table = _seen(_whole_families())
    if not conventions:
        table |= _seen(_patchwork_families())
    table[table == 0] = 1 << NONE
    table[..., NONE, :] = table[..., :, NONE] = EVERYTHING
    return table


@cache
def kinship(conventions: bool = True) -> Kinship:
    """The oracle's tables."""
    return Kinship(composition(conventions), np.array(INVERSE), np.array(RISE))
