"""A policy's distribution over actions: as a table of all of them, or as the factors that they are products of.

SCATTER has 2,661 actions but only 60 values of factors. PPO needs the log-probability of one action a state, the entropy and a draw;
the factors give all three without the table. A mask of valid actions ties the factors together, so it needs the table.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

STOP = 0


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

    @property
    def sizes(self) -> tuple[int, ...]:
        """The factors in order: type, coordinates of ADD, coordinates of REMOVE, attributes of the item."""
        return (3, *self.place, *self.place, *self.item)

    def split(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values per action (n, actions) as STOP (n, 1), ADD (n, positions, items) and REMOVE (n, positions)."""
        border = 1 + self.positions * self.items
        return values[:, :1], values[:, 1:border].view(-1, self.positions, self.items), values[:, border:]


class Chances(Protocol):
    """The distributions of n states."""

    @property
    def stop(self) -> Tensor:
        """The log-probability of STOP, (n,)."""

    def of(self, actions: Tensor) -> Tensor:
        """The log-probability of one action a state, (n,)."""

    def entropy(self) -> Tensor:
        """The entropy over all actions, (n,)."""

    def drawn(self) -> Tensor:
        """One action a state, drawn from its distribution, (n,)."""


class Table(NamedTuple):
    """Log-probabilities of all actions, (n, actions)."""

    values: Tensor

    @property
    def stop(self) -> Tensor:
        """The log-probability of STOP."""
        return self.values[:, STOP]

    def of(self, actions: Tensor) -> Tensor:
        """The log-probability of one action a state."""
        return self.values.gather(1, actions.unsqueeze(1)).squeeze(1)

    def entropy(self) -> Tensor:
        """The entropy over all actions."""
        return -(self.values.exp() * self.values).sum(1)

    def drawn(self) -> Tensor:
        """One action a state."""
        return torch.multinomial(self.values.exp(), 1).squeeze(1)


class Factors(NamedTuple):
    """Log-probabilities of every factor's values side by side, in the order of `Layout.sizes`; (n, sum of sizes)."""

    layout: Layout
    values: Tensor

    @property
    def stop(self) -> Tensor:
        """The log-probability of STOP."""
        return self.values[:, 0]

    def of(self, actions: Tensor) -> Tensor:
        """The log-probability of one action a state: the sum over the factors that it has."""
        padded = torch.cat([self.values, self.values.new_zeros(len(self.values), 1)], 1)
        return padded.gather(1, columns(self.layout).to(actions.device)[actions]).sum(1)

    def entropy(self) -> Tensor:
        """The entropy over all actions: of the type, and of what the type needs, weighted by the type's probability."""
        weighed = -self.values.exp() * self.values
        place, item = sum(self.layout.place), sum(self.layout.item)
        kind, added, removed, made = (part.sum(1) for part in weighed.split_with_sizes((3, place, place, item), 1))
        chance = self.values[:, 1:3].exp()
        return kind + chance[:, 0] * (added + made) + chance[:, 1] * removed

    def drawn(self) -> Tensor:
        """One action a state. Adding Gumbel noise to log-probabilities makes the largest value a draw; one for each factor."""
        return self._best(self.values - torch.empty_like(self.values).exponential_().log())

    def mode(self) -> Tensor:
        """The likeliest value of each factor in turn, as an action."""
        return self._best(self.values)

    def _best(self, scores: Tensor) -> Tensor:
        kind, *chosen = (part.argmax(1) for part in scores.split_with_sizes(self.layout.sizes, 1))
        k = len(self.layout.place)
        added = _number(chosen[:k] + chosen[2 * k :], self.layout.place + self.layout.item)
        removed = self.layout.positions * self.layout.items + _number(chosen[k : 2 * k], self.layout.place)
        return torch.where(kind == 0, STOP, 1 + torch.where(kind == 1, added, removed))


def _number(digits: list[Tensor], sizes: tuple[int, ...]) -> Tensor:
    """Digits of mixed radix as one number, the first digit counting most."""
    found = torch.zeros_like(digits[0])
    for digit, size in zip(digits, sizes, strict=True):
        found = found * size + digit
    return found


@cache
def columns(layout: Layout) -> Tensor:
    """For each action the columns of its factors in `Factors.values`; the column behind the last one stands for "none"."""
    first = torch.tensor([0, *layout.sizes]).cumsum(0)
    k, none = len(layout.place), int(first[-1])
    places = torch.cartesian_prod(*(torch.arange(size) for size in layout.place)).view(layout.positions, k)
    items = torch.cartesian_prod(*(torch.arange(size) for size in layout.item)).view(layout.items, len(layout.item))
    found = torch.full((layout.actions, 1 + k + len(layout.item)), none)
    stop, add, remove = layout.split(torch.arange(layout.actions).unsqueeze(0))
    found[stop.flatten(), 0] = 0
    found[add.flatten(), 0] = 1
    found[remove.flatten(), 0] = 2
    found[add.flatten(), 1 : 1 + k] = (places + first[1 : 1 + k]).repeat_interleave(layout.items, 0)
    found[add.flatten(), 1 + k :] = (items + first[1 + 2 * k : -1]).repeat(layout.positions, 1)
    found[remove.flatten(), 1 : 1 + k] = places + first[1 + k : 1 + 2 * k]
    return found
