"""The kinship machine's rules: which relation two relations make, learnt by expectation maximisation, and chains of any length.

A rule is an entry of a table: first relation, second relation -> probability of each relation. Chains of two facts give entries
directly. For chains of three both bracketings may have been meant; each step shares a chain's one count out among the rules
that explain it. A pair of relations that no rule makes into anything keeps its weight on "none", so a bracketing that needs it
counts for next to nothing. Longer chains are composed in every order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recombine.core import Example

Floats = NDArray[np.float64]
ROUNDS = 30
UNKNOWN = 1e-4
"""The probability of a rule that was never needed."""
DOUBT = 0.5
"""Counts on "none" for every pair."""
SURENESS = 3.0
"""How much more a bracketing counts that is sure of one relation."""


def learn_rules(chains: Sequence[tuple[int, ...]], targets: Sequence[int], relations: int) -> Floats:
    """The table (relations, relations, relations) from chains of two or three relations and what they make."""
    two: Counter[tuple[int, ...]] = Counter()
    three: Counter[tuple[int, ...]] = Counter()
    for chain, target in zip(chains, targets, strict=True):
        if len(chain) == 2:
            two[*chain, target] += 1
        elif len(chain) == 3:
            three[*chain, target] += 1
    direct = np.zeros((relations,) * 3)
    for (a, b, t), _ in two.items():
        direct[a, b, t] += 1.0
    table = _normal(direct)
    for _ in range(ROUNDS if three else 0):
        counts = direct.copy()
        for (a, b, c, t), _ in three.items():
            left, right = table[a, b] * table[:, c, t], table[b, c] * table[a, :, t]
            total = left.sum() + right.sum()
            counts[a, b] += left / total
            counts[:, c, t] += left / total
            counts[b, c] += right / total
            counts[a, :, t] += right / total
        table = _normal(counts)
    return table


def _normal(counts: Floats) -> Floats:
    out: Floats = (counts + UNKNOWN * DOUBT) / (counts.sum(2, keepdims=True) + DOUBT)
    return out


def compose(chain: Sequence[Floats], table: Floats) -> Floats:
    """What a chain of distributions over relations makes, over all bracketings; sums to less than 1."""
    steps = len(chain)
    cells: dict[tuple[int, int], Floats] = {(i, i + 1): chain[i] for i in range(steps)}
    size = table.shape[0]
    flat = table.reshape(size * size, size)
    for width in range(2, steps + 1):
        for i in range(steps - width + 1):
            made = np.stack([np.outer(cells[i, j], cells[j, i + width]).reshape(-1) @ flat for j in range(i + 1, i + width)])
            weight = (made * made).sum(1) ** SURENESS
            weight = weight / max(weight.sum(), 1e-300)
            cells[i, i + width] = (made * weight[:, None]).sum(0)
    return cells[0, steps]


def chain_of(example: Example, number: dict[str, int]) -> tuple[int, ...]:
    """The relations along the facts from the first asked person to the second; empty if they do not lead there."""
    graph = example.inputs["graph"]
    ways: dict[int, list[tuple[int, int]]] = {}
    for (a, b), relation in zip(graph["edges"], graph["relations"], strict=True):
        ways.setdefault(a, []).append((b, number[relation]))
    start, goal = graph["query"]
    queue: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(start, (start,), ())]
    while queue:
        at, seen, chain = queue.pop(0)
        if at == goal:
            return chain
        queue += [(b, (*seen, b), (*chain, r)) for b, r in ways.get(at, []) if b not in seen]
    return ()
