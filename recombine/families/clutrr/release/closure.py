"""The released family and what its rules make of it: 42 people, 16 rules, 554 pairs, 46 of them false.

Relations are the 11 neutral ones of `kinship.NEUTRAL`. A pair keeps the first relation that is derived for it, so the result
depends on the order of derivation, which is part of what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from recombine.families.clutrr.kinship import (
    CHILD,
    CHILD_IN_LAW,
    GRANDCHILD,
    GRANDPARENT,
    INVERSE,
    NIBLING,
    PARENT,
    PARENT_IN_LAW,
    PIBLING,
    SIBLING,
    SPOUSE,
)  # fmt: skip
from recombine.keys import Stream

Edge = tuple[int, int]

RULES: Mapping[tuple[int, int], int] = {
    (CHILD, CHILD): GRANDCHILD, (SPOUSE, GRANDCHILD): GRANDCHILD, (GRANDCHILD, SIBLING): GRANDCHILD,
    (PARENT, PARENT): GRANDPARENT, (SIBLING, GRANDPARENT): GRANDPARENT,
    (CHILD, SIBLING): CHILD, (SPOUSE, CHILD): CHILD,
    (SIBLING, PARENT): PARENT, (CHILD, GRANDPARENT): PARENT,
    (CHILD, PIBLING): SIBLING, (PARENT, CHILD): SIBLING, (SIBLING, SIBLING): SIBLING,
    (CHILD, SPOUSE): CHILD_IN_LAW, (SPOUSE, PARENT): PARENT_IN_LAW, (SIBLING, CHILD): NIBLING, (PARENT, SIBLING): PIBLING,
}  # fmt: skip
"""The released rules in the order of the paper's appendix. Child ∘ grandparent and child ∘ uncle do not hold for in-laws."""


@dataclass(frozen=True)
class Tree:
    """An ungendered family: couples (lineage first) and each couple's children, in the order of birth."""

    size: int
    couples: tuple[Edge, ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def parents(self) -> dict[int, Edge]:
        """Child -> couple."""
        return {child: couple for couple, born in zip(self.couples, self.children, strict=True) for child in born}


def grow_tree(levels: int, low: int, high: int, marriage: float, stream: Stream) -> Tree:
    """The original's simulation: per level everybody marries with a probability; couples above the last level have children."""
    size, couples, children, generation = 1, [], [], [0]
    for level in range(levels):
        born: list[int] = []
        for person in generation:
            if marriage < 1.0 and stream.unit() >= marriage:
                continue
            couples.append((person, size))
            size += 1
            count = (low + stream.below(high - low + 1)) if level < levels - 1 else 0
            children.append(tuple(range(size, size + count)))
            born += children[-1]
            size += count
        generation = born
    return Tree(size, tuple(couples), tuple(children))


@cache
def closure(tree: Tree) -> dict[Edge, int]:
    """Every pair that the rules relate -> its first derived relation, in the order of derivation.

    Edges are visited in index order, after one visit to (3, 0). In the released table, with which all released rows agree, the second
    child's spouse is the root's child-in-law. Of the orders that we tried, only this one gives that result.
    """
    found: dict[Edge, int] = {}
    for (person, spouse), born in zip(tree.couples, tree.children, strict=True):
        found[person, spouse] = SPOUSE
        for child in born:
            found[person, child] = found[spouse, child] = CHILD

    visit: list[Edge] = []
    for edge in [(3, 0), *((i, j) for i in range(tree.size) for j in range(tree.size) if i != j)]:
        visit.append(edge)
        while visit:
            x, y = visit.pop()
            _mirror(found)
            before = [edge for edge in found if edge[1] == x]
            after = [edge for edge in found if edge[0] == y]
            new = [_derive(found, a, x, y) for a, _ in before] + [_derive(found, x, y, b) for _, b in after]
            visit += [edge for edge in reversed(new) if edge is not None]
    _mirror(found)
    return found


def _mirror(found: dict[Edge, int]) -> None:
    """Every pair also the other way round: directed relations first, then symmetric ones."""
    for is_symmetric in (False, True):
        for (a, b), relation in list(found.items()):
            if (INVERSE[relation] == relation) == is_symmetric:
                found[b, a] = INVERSE[relation]


def _derive(found: dict[Edge, int], x: int, z: int, y: int) -> Edge | None:
    """Add what follows for (x, y) through z, if the pair has no relation yet; the pair, if it was added."""
    if x == y or (x, y) in found or (x, z) not in found or (z, y) not in found:
        return None
    relation = RULES.get((found[x, z], found[z, y]))
    if relation is None:
        return None
    found[x, y] = relation
    return x, y


@cache
def expansions(tree: Tree) -> dict[Edge, tuple[tuple[Edge, Edge], ...]]:
    """Pair -> the two pairs into which each rule can break it, by rule and then by the person in between."""
    table = closure(tree)
    heads: dict[int, list[tuple[int, int]]] = {}
    for body, head in RULES.items():
        heads.setdefault(head, []).append(body)
    found: dict[Edge, tuple[tuple[Edge, Edge], ...]] = {}
    for (x, y), relation in table.items():
        ways = tuple(
            ((x, z), (z, y))
            for first, second in heads.get(relation, ())
            for z in range(tree.size)
            if table.get((x, z)) == first and table.get((z, y)) == second
        )
        if ways:
            found[x, y] = ways
    return found


RELEASED = Tree(
    42,
    ((0, 1), (2, 6), (3, 11), (4, 16), (5, 21), *((p, 26 + i) for i, p in enumerate([*range(7, 11), *range(12, 16), *range(17, 21), *range(22, 26)]))),
    ((2, 3, 4, 5), (7, 8, 9, 10), (12, 13, 14, 15), (17, 18, 19, 20), (22, 23, 24, 25), *((),) * 16),
)  # fmt: skip
"""The one family of all released stories: three levels, four children, everybody married."""
