"""What reads a state: the statement, the target and the picture (or the scene itself), as one vector. And the actor-critic on top.

A reader states `SIGHT`: `image`, the half-size picture (50, 190, 3), or `scene`, the items themselves. Statements
are turned into a table once (`table`), one row per instance, so that a frozen encoder reads each of them only once.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recombine.errors import UnknownName
from recombine.families.lilgym.play.edits import Sight
from recombine.families.lilgym.scene import Kind
from recombine.rl.chances import Chances
from recombine.rl.heads import make_head

POLICIES: dict[str, str] = {
    "set": "recombine.rl.set_policy:SetReader",
    "cbert": "recombine.rl.cbert:CBertReader",
    "vilt": "recombine.rl.vilt:ViltReader",
}
"""Name -> `module:class` of the reader."""


class Seen(NamedTuple):
    """The policy's inputs in n places: rows of the statement table, targets (0 or 1), and pictures or scenes."""

    statement: Tensor
    target: Tensor
    sight: Tensor


class Reader(nn.Module, ABC):
    """A state as one vector of `width` numbers. A subclass states `Config` and what the paper trains it with (`SETTINGS`)."""

    Config: ClassVar[type[Any]]
    SIGHT: ClassVar[Sight]
    SETTINGS: ClassVar[Mapping[str, Any]] = {}
    width: int

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config

    @classmethod
    @abstractmethod
    def table(cls, config: Any, sentences: Sequence[str], targets: NDArray[np.bool_]) -> Tensor:
        """What the reader needs of each instance's statement and target, one row each."""

    @abstractmethod
    def forward(self, seen: Seen) -> Tensor:
        """The states' vectors, (n, width)."""


class Agent(nn.Module):
    """Actor and critic: two readers of the same form that share nothing; the critic's value passes through tanh."""

    def __init__(self, reader: type[Reader], config: Any, kind: Kind, head: str) -> None:
        super().__init__()
        self.kind, self.config = kind, config
        self.actor, self.critic = reader(config), reader(config)
        self.head = make_head(head, kind, self.actor.width)
        self.worth = nn.Linear(self.critic.width, 1)

    def log_probs(self, seen: Seen, mask: Tensor | None = None) -> Tensor:
        """Log-probabilities of all actions, (n, actions)."""
        found: Tensor = self.head(self.actor(seen), mask)
        return found

    def chances(self, seen: Seen, mask: Tensor | None = None) -> Chances:
        """The distribution over actions, in the head's own form: no table where factors are enough."""
        return self.head.chances(self.actor(seen), mask)

    def values(self, seen: Seen) -> Tensor:
        """The critic's values, between -1 and 1."""
        return torch.tanh(self.worth(self.critic(seen)).squeeze(1))

    def greedy(self, seen: Seen, mask: Tensor | None = None) -> Tensor:
        """The actions taken in tests."""
        return self.head.mode(self.actor(seen), mask)


def find_policy(name: str) -> type[Reader]:
    """A reader's class by its name."""
    if name not in POLICIES:
        raise UnknownName("policy", name, POLICIES)
    module, _, member = POLICIES[name].partition(":")
    found: type[Reader] = getattr(importlib.import_module(module), member)
    return found
