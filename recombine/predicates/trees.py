"""Atoms and compounds of derivation trees, with the weights of distribution-based compositionality assessment.

A tree is (label, children). Its atoms are the labels of its nodes. Its compounds are the nodes with what lies below them, cut off at
depth 1 and at depth 2. The weight of a compound in an example is the largest, over the places where it occurs, of one minus the largest
share P(G' | G): of the examples that have the compound G, how many have the larger compound G' that holds G at this place. A compound that
never occurs outside one larger compound therefore counts nothing; the larger one speaks for it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recombine.abilities import Tree
from recombine.predicates.search import Pool, pool_of_lists

DEPTH = 2
"""How far below a node a compound reaches at most."""


@functools.lru_cache(maxsize=1 << 17)
def cut(tree: Tree, depth: int) -> str:
    """The tree down to a depth, in one spelling."""
    label, children = tree
    if not depth or not children:
        return label
    return f"{label}({' '.join(cut(child, depth - 1) for child in children)})"


def atoms_of(tree: Tree) -> Iterator[str]:
    """The labels of all nodes."""
    yield tree[0]
    for child in tree[1]:
        yield from atoms_of(child)


def compounds_of(tree: Tree) -> dict[str, list[frozenset[str]]]:
    """Compound -> for each place where it occurs, the larger compounds that hold it there."""
    found: dict[str, list[frozenset[str]]] = {}
    for node, above in _nodes(tree, ()):
        if not node[1]:
            continue
        spelled = [cut(node, depth) for depth in range(DEPTH + 1)]
        for depth in range(1, DEPTH + 1):
            own = spelled[depth]
            if depth > 1 and own == spelled[depth - 1]:
                continue
            larger = {text for text in spelled[depth + 1 :] if text != own}
            for steps, ancestor in enumerate(above, 1):
                larger |= {cut(ancestor, reach) for reach in range(steps + depth, DEPTH + 1)}
            found.setdefault(own, []).append(frozenset(larger))
    return found


def _nodes(tree: Tree, above: tuple[Tree, ...]) -> Iterator[tuple[Tree, tuple[Tree, ...]]]:
    yield tree, above
    for child in tree[1]:
        yield from _nodes(child, (tree, *above))


@dataclass
class TreeCounts:
    """The trees of one set, each with how many examples have it."""

    trees: Counter[Tree] = field(default_factory=Counter)

    @property
    def rows(self) -> int:
        """How many examples were counted."""
        return self.trees.total()

    def add(self, trees: Iterable[Tree]) -> None:
        """Count these examples."""
        self.trees.update(trees)


class Weigher:
    """Weights by the examples of all sets together."""

    def __init__(self, sets: Sequence[TreeCounts]) -> None:
        self._found: dict[Tree, dict[str, list[frozenset[str]]]] = {}
        self.examples: Counter[str] = Counter()
        for one in sets:
            for tree, times in one.trees.items():
                for compound in self._compounds(tree):
                    self.examples[compound] += times

    def _compounds(self, tree: Tree) -> dict[str, list[frozenset[str]]]:
        if tree not in self._found:
            self._found[tree] = compounds_of(tree)
        return self._found[tree]

    def weights(self, tree: Tree) -> dict[str, float]:
        """Compound -> its weight in an example with this tree."""
        return {
            compound: max(
                1 - max((self.examples[g] / self.examples[compound] for g in larger), default=0.0) for larger in places
            )
            for compound, places in self._compounds(tree).items()
        }

    def tables(self, one: TreeCounts) -> tuple[Counter[str], dict[str, float], Counter[str]]:
        """Counts of atoms, weighted sums of compounds, and how many examples have each compound."""
        atoms: Counter[str] = Counter()
        weighted: dict[str, float] = {}
        examples: Counter[str] = Counter()
        for tree, times in one.trees.items():
            for atom in atoms_of(tree):
                atoms[atom] += times
            for compound, weight in self.weights(tree).items():
                weighted[compound] = weighted.get(compound, 0.0) + times * weight
                examples[compound] += times
        return atoms, weighted, examples


def tree_pools(sets: Sequence[Sequence[Tree]]) -> list[Pool]:
    """Pools over one vocabulary, weighted by all rows together."""
    weigher = Weigher([TreeCounts(Counter(trees)) for trees in sets])
    atom_ids: dict[str, int] = {}
    compound_ids: dict[str, int] = {}
    rows: dict[Tree, tuple[list[int], list[int], list[float]]] = {}
    for tree in dict.fromkeys(tree for trees in sets for tree in trees):
        weights: Mapping[str, float] = weigher.weights(tree)
        rows[tree] = (
            [atom_ids.setdefault(atom, len(atom_ids)) for atom in atoms_of(tree)],
            [compound_ids.setdefault(compound, len(compound_ids)) for compound in weights],
            list(weights.values()),
        )
    return [pool_of_lists([rows[tree] for tree in trees], (len(atom_ids), len(compound_ids))) for trees in sets]
