"""From a state's vector to log-probabilities of all actions: type, then position, then attributes; or one flat softmax.

Both kinds of scene number their actions alike: 0 STOP; 1 + position * items + item ADD; 1 + positions * items + position REMOVE.
TOWER has 3 positions and 3 items (colours), SCATTER 19 × 5 positions and 3 × 3 × 3 items (shape, colour, size).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from recombine.families.lilgym.scene import Kind
from recombine.rl.chances import Chances, Factors, Layout, Table

NEVER = -1e9
"""The score of an action that a mask forbids; finite, so that 0 · log 0 stays 0."""

LAYOUTS: dict[Kind, Layout] = {"tower": Layout((3,), (3,)), "scatter": Layout((19, 5), (3, 3, 3))}


def joint(values: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Log-probabilities (n, combinations) of independent factors; `values` (n, values of all factors) are log-probabilities too."""
    found = values.new_zeros(len(values), 1)
    for factor in torch.split_with_sizes(values, sizes, 1):
        found = (found.unsqueeze(2) + factor.unsqueeze(1)).flatten(1)
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

    def factors(self, state: Tensor) -> Factors:
        """The distributions of all factors."""
        layers = (self.types, self.add_at, self.remove_at, self.items)
        scores = torch.cat([layer(state) for layer in layers], 1).split_with_sizes(self.layout.sizes, 1)
        return Factors(self.layout, torch.cat([score.log_softmax(1) for score in scores], 1))

    def chances(self, state: Tensor, mask: Tensor | None = None) -> Chances:
        """The distribution over actions, as factors where no mask ties them together."""
        return self.factors(state) if mask is None else Table(self(state, mask))

    def forward(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log-probabilities (n, actions); with a mask of valid actions: given that the action is valid."""
        place, item = sum(self.layout.place), sum(self.layout.item)
        kind, added, removed, made = self.factors(state).values.split_with_sizes((3, place, place, item), 1)
        stop, add, remove = kind.split_with_sizes((1, 1, 1), 1)
        places = add + joint(added, self.layout.place)
        both = places.unsqueeze(2) + joint(made, self.layout.item).unsqueeze(1)
        found = torch.cat([stop, both.flatten(1), remove + joint(removed, self.layout.place)], 1)
        return found if mask is None else found.masked_fill(~mask, NEVER).log_softmax(1)

    def mode(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """The mode of each factor in turn, as the paper tests."""
        return self.factors(state).mode() if mask is None else self.greedy(self(state, mask))

    def greedy(self, chances: Tensor) -> Tensor:
        """The mode of each factor in turn, from a table."""
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

    def chances(self, state: Tensor, mask: Tensor | None = None) -> Chances:
        """The distribution over actions."""
        return Table(self(state, mask))

    def mode(self, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """The likeliest action."""
        return self.greedy(self(state, mask))

    def greedy(self, chances: Tensor) -> Tensor:
        """The likeliest action of a table."""
        return chances.argmax(1)


def make_head(name: str, kind: Kind, width: int) -> FactoredHead | FlatHead:
    """The head of a name, for a kind of scene."""
    return FactoredHead(LAYOUTS[kind], width) if name == "factored" else FlatHead(LAYOUTS[kind], width)
