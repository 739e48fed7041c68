"""From a state's vector to log-probabilities of all actions: type, then position, then attributes; or one flat softmax.

Both kinds of scene number their actions alike: 0 STOP; 1 + position * items + item ADD; 1 + positions * items + position REMOVE.
TOWER has 3 positions and 3 items (colours), SCATTER 19 × 5 positions and 3 × 3 × 3 items (shape, colour, size).
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from recombine.families.lilgym.scene import Kind

NEVER = -1e9
"""The score of an action that a mask forbids; finite, so that 0 · log 0 stays 0."""


class Layout(NamedTuple):
    """The factors of a position and of an item, each with its number of values."""

    place: tuple[int, ...]
    item: tuple[int, ...]

    @property
    def positions(self) -> int:
        """All positions."""
        return prod(self.place)

    @property
    def items(self) -> int:
        """All items."""
        return prod(self.item)

    @property
    def actions(self) -> int:
        """All actions."""
        return 1 + self.positions * (self.items + 1)

    def split(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values per action (n, actions) as STOP (n, 1), ADD (n, positions, items) and REMOVE (n, positions)."""
        border = 1 + self.positions * self.items
        return values[:, :1], values[:, 1:border].view(-1, self.positions, self.items), values[:, border:]


LAYOUTS: dict[Kind, Layout] = {"tower": Layout((3,), (3,)), "scatter": Layout((19, 5), (3, 3, 3))}


def joint(scores: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Log-probabilities (n, combinations) of factors that are independent given the state; scores (n, values of all factors)."""
    found = scores.new_zeros(len(scores), 1)
    for factor in torch.split_with_sizes(scores, sizes, 1):
        found = (found.unsqueeze(2) + factor.log_softmax(1).unsqueeze(1)).flatten(1)
    return found


class FactoredHead(nn.Module):
    """p(type) · p(position | type) · p(item), of which an action has the factors that it needs.

    A position is a product of its coordinates' factors, an item of its attributes': what is learnt of yellow in one place
    holds in all of them, and the two columns of a separator are avoided in every row.
    """

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        self.layout = layout
        self.types = nn.Linear(width, 3)
        self.add_at = nn.Linear(width, sum(layout.place))
        self.remove_at = nn.Linear(width, sum(layout.place))
        self.items = nn.Linear(width, sum(layout.item))
        for layer in (self.types, self.add_at, self.remove_at, self.items):
            nn.init.orthogonal_(layer.weight, 0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log-probabilities (n, actions); with a mask of valid actions: given that the action is valid."""
        stop, add, remove = self.types(state).log_softmax(1).split(1, 1)
        places = add + joint(self.add_at(state), self.layout.place)
        added = places.unsqueeze(2) + joint(self.items(state), self.layout.item).unsqueeze(1)
        found = torch.cat([stop, added.flatten(1), remove + joint(self.remove_at(state), self.layout.place)], 1)
        return found if mask is None else found.masked_fill(~mask, NEVER).log_softmax(1)

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
