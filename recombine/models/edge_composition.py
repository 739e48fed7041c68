"""Edge composition: learn which relation two relations make, and apply it in every order along the path between the two people.

In the manner of conditional theorem provers and epistemic message passing: the only thing learnt about reasoning is a table
"first relation, second relation -> relation or none" (as probabilities), and a chart over the path adds up all the ways of
bracketing it. What is right for two and three facts is then right for ten, because no other rule is ever needed.
Facts against the path's direction enter as symbols of their own (relation and the other person's gender), also learnt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from recombine.models.base import Training
from recombine.models.kinship import KinshipModel, Story

MAX_PATHS = 4


@dataclass(frozen=True)
class EdgeCompositionConfig:
    """`doubt`: how strongly a pair that was never trained makes none. `trust`: how much more a bracketing counts whose
    steps are all known. `spare`: symbols for what no word names.
    """

    doubt: float = 5.0
    trust: float = 4.0
    spare: int = 0
    smoothing: float = 1e-6


@dataclass(frozen=True)
class Chains:
    """Symbols along the paths (chains, steps), the row of the batch that each chain belongs to, and the labels."""

    symbols: Tensor
    rows: Tensor
    count: int
    labels: Tensor


class EdgeComposition(KinshipModel):
    """Reads the graph; answers with what its facts compose to along the shortest paths."""

    Config = EdgeCompositionConfig
    TRAINING: ClassVar[Training] = Training(
        epochs=40, batch=100, optimizer="adam", rate=5e-2, decay=0.95, weight_decay=0.0, clip=10.0, chunk=1_000
    )
    config: EdgeCompositionConfig

    def __init__(self, config: EdgeCompositionConfig, codec: Mapping[str, Any]) -> None:
        super().__init__(config, codec)
        self.names = sorted({*self.labels, *self.relations})
        count = len(self.names) + config.spare
        rules = 0.1 * torch.randn(count, count, count + 1)
        rules[:, :, -1] += config.doubt
        self.rules = nn.Parameter(rules)
        leaves = torch.zeros(1 + 3 * len(self.relations), count)
        for i, name in enumerate(self.relations):
            leaves[1 + i, self.names.index(name)] = 12.0
        self.leaves = nn.Parameter(leaves)
        self.register_buffer("places", torch.tensor([self.names.index(label) for label in self.labels]))

    def length(self, item: Story) -> tuple[int, ...]:
        return (len(self.paths(item)[0]),)

    def paths(self, item: Story) -> list[list[int]]:
        """The shortest paths from the first queried person to the second, as symbols; [[0]] if there is none.

        Symbol 1 + r: a fact told in the path's direction; 1 + (1 + gender) * R + r: one told the other way round.
        """
        r_count = len(self.relations)
        ways: dict[int, list[tuple[int, int]]] = {}
        for a, b, r in item.edges.tolist():
            if r >= 0:
                ways.setdefault(a, []).append((b, 1 + r))
                ways.setdefault(b, []).append((a, 1 + (1 + int(item.genders[a] != 0)) * r_count + r))
        start, goal = item.ends
        found: list[list[int]] = []
        queue: deque[tuple[int, tuple[int, ...], list[int]]] = deque([(start, (start,), [])])
        while queue:
            node, seen, symbols = queue.popleft()
            if len(found) == MAX_PATHS or (found and len(symbols) >= len(found[0])) or len(queue) > 10_000:
                break
            for other, symbol in ways.get(node, []):
                if other == goal:
                    found.append([*symbols, symbol])
                elif other not in seen:
                    queue.append((other, (*seen, other), [*symbols, symbol]))
        shortest = min((len(path) for path in found), default=0)
        return [path for path in found if len(path) == shortest] or [[0]]

    def collate(self, items: Sequence[Story]) -> Any:
        """Chains grouped by their number of steps."""
        groups: dict[int, list[tuple[int, list[int]]]] = {}
        for row, item in enumerate(items):
            for path in self.paths(item):
                groups.setdefault(len(path), []).append((row, path))
        labels = torch.tensor([item.label for item in items])
        return [
            Chains(torch.from_numpy(np.array([p for _, p in group])), torch.tensor([r for r, _ in group]), len(items), labels)
            for _, group in sorted(groups.items())
        ]

    def compose(self, symbols: Tensor) -> Tensor:
        """What each chain (chains, steps) makes: probabilities of relations and spare symbols; what is missing made none."""
        rules = torch.softmax(self.rules, 2)[:, :, :-1]
        size = rules.shape[0]
        steps = symbols.shape[1]
        leaf = torch.softmax(self.leaves, 1)[symbols]
        chart = {(i, i + 1): leaf[:, i] for i in range(steps)}
        flat = rules.reshape(size * size, size)
        for width in range(2, steps + 1):
            for i in range(steps - width + 1):
                made = [
                    (chart[i, j].unsqueeze(2) * chart[j, i + width].unsqueeze(1)).flatten(1) @ flat
                    for j in range(i + 1, i + width)
                ]
                total = torch.stack(made)
                mass = total.sum(2, keepdim=True).clamp(min=1e-6)
                weight = torch.softmax(self.config.trust * torch.log(mass), 0)
                chart[i, i + width] = (total * weight).sum(0)
        return chart[0, steps]

    def logits(self, batch: list[Chains]) -> Tensor:
        """Log-probabilities of the labels, averaged over paths.

        They do not add up to one: the rest is the probability that the path makes none. So training raises what it saw made,
        and pairs that never made anything keep making none.
        """
        count = batch[0].count
        total = self.rules.new_zeros(count, len(self.labels))
        paths = self.rules.new_zeros(count)
        for chains in batch:
            total = total.index_add(0, chains.rows, self.compose(chains.symbols)[:, self.places])  # type: ignore[index]
            paths = paths.index_add(0, chains.rows, torch.ones_like(chains.rows, dtype=paths.dtype))
        return torch.log(total / paths.unsqueeze(1) + self.config.smoothing)

    def loss(self, batch: Any) -> Any:
        """Cross-entropy, as for the other kinship models."""
        from recombine.models.base import Loss

        logits = self.logits(batch)
        labels = batch[0].labels
        right = int((logits.argmax(1) == labels).sum())
        return Loss(nn.functional.nll_loss(logits, labels), right, len(labels))
