"""From a state's vector to log-probabilities of all actions: type, then position, then attributes; or one flat softmax.

Both kinds of scene number their actions alike: 0 STOP; 1 + position * items + item ADD; 1 + positions * items + position REMOVE.
TOWER has 3 positions and 3 items (colours), SCATTER 95 and 27 (shape, colour, size).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.families.lilgym.scene import Kind

NEVER = -1e9
"""The score of an action that a mask forbids; finite, so that 0 · log 0 stays 0."""


class Layout(NamedTuple):
    """How many positions and items there are."""

    positions: int
    items: int

    @property
    def actions(self) -> int:
        """All actions."""
        return 1 + self.positions * (self.items + 1)

    def split(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values per action (n, actions) as STOP (n, 1), ADD (n, positions, items) and REMOVE (n, positions)."""
        border = 1 + self.positions * self.items
        return values[:, :1], values[:, 1:border].view(-1, self.positions, self.items), values[:, border:]


LAYOUTS: dict[Kind, Layout] = {"tower": Layout(3, 3), "scatter": Layout(95, 27)}


class FactoredHead(nn.Module):
    """p(type) · p(position | type) · p(item | position); factors that an action does not need are left out."""

    def __init__(self, layout: Layout, width: int, inner: int = 64) -> None:
        super().__init__()
        self.layout = layout
        self.types = nn.Linear(width, 3)
        self.places = nn.Linear(width, 2 * layout.positions)
        self.inner = nn.Linear(width, inner)
        self.position = nn.Parameter(torch.randn(layout.positions, inner) * inner**-0.5)
        self.items = nn.Linear(inner, layout.items)
        for layer in (self.types, self.places, self.items):
            nn.init.orthogonal_(layer.weight, 0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log-probabilities (n, actions); with a mask of valid actions each factor is normalised over what it leaves."""
        kinds = self.types(state)
        places = self.places(state).view(-1, 2, self.layout.positions)
        items = self.items(torch.relu(self.inner(state).unsqueeze(1) + self.position))
        if mask is not None:
            stop, add, remove = self.layout.split(mask)
            fits = add.any(2)
            kinds = kinds.masked_fill(~torch.stack([stop[:, 0], fits.any(1), remove.any(1)], 1), NEVER)
            places = places.masked_fill(~torch.stack([fits, remove], 1), NEVER)
            items = items.masked_fill(~add, NEVER)
        kinds, places, items = kinds.log_softmax(1), places.log_softmax(2), items.log_softmax(2)
        added = kinds[:, 1, None, None] + places[:, 0, :, None] + items
        found = torch.cat([kinds[:, :1], added.flatten(1), kinds[:, 2:] + places[:, 1]], 1)
        return found if mask is None else found.masked_fill(~mask, NEVER)

    def greedy(self, chances: Tensor) -> Tensor:
        """The mode of each factor in turn, as the paper tests."""
        stop, add, remove = self.layout.split(chances)
        by_place = add.logsumexp(2)
        kinds = torch.cat([stop, by_place.logsumexp(1, keepdim=True), remove.logsumexp(1, keepdim=True)], 1).argmax(1)
        place = by_place.argmax(1)
        item = add[torch.arange(len(add), device=add.device), place].argmax(1)
        removed = 1 + self.layout.positions * self.layout.items + remove.argmax(1)
        added = 1 + place * self.layout.items + item
        return torch.where(kinds == 0, torch.zeros_like(place), torch.where(kinds == 1, added, removed))


class FlatHead(nn.Module):
    """One softmax over all actions."""

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        self.scores = nn.Linear(width, layout.actions)
        nn.init.orthogonal_(self.scores.weight, 0.01)
        nn.init.zeros_(self.scores.bias)

    def forward(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log-probabilities (n, actions), of the valid actions only where a mask is given."""
        scores: Tensor = self.scores(state)
        return (scores if mask is None else scores.masked_fill(~mask, NEVER)).log_softmax(1)

    def greedy(self, chances: Tensor) -> Tensor:
        """The likeliest action."""
        return chances.argmax(1)


def make_head(name: str, kind: Kind, width: int) -> FactoredHead | FlatHead:
    """The head of a name, for a kind of scene."""
    return FactoredHead(LAYOUTS[kind], width) if name == "factored" else FlatHead(LAYOUTS[kind], width)
