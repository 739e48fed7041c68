"""The budget of an `ask` run: caps on requests, tokens and money, and reservations for requests under way."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from recombine.errors import EndpointError, UsageError
from recombine.evaluate.prices import Price


@dataclass(frozen=True)
class Caps:
    """The most that a run may use in all, over every time it was taken up; None is no cap."""

    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if self.cost is not None and not (math.isfinite(self.cost) and self.cost >= 0):
            raise UsageError(f"the cap on cost is {self.cost}, but must be a number from 0: --max-cost.")


class CapReached(EndpointError):
    """The next request could exceed a cap."""


@dataclass
class Budget:
    """What has been used and what is reserved for requests under way."""

    caps: Caps
    price: Price
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    _reserved: Counter[str] = field(default_factory=Counter)

    @property
    def cost(self) -> float:
        """What has been used, in money."""
        return self.price.cost(self.tokens_in, self.tokens_out)

    def reserve(self, tokens_in: int, tokens_out: int) -> None:
        """Make room for one request, or raise `CapReached`."""
        held_in, held_out = (
            self.tokens_in + self._reserved["in"] + tokens_in,
            self.tokens_out + self._reserved["out"] + tokens_out,
        )
        if self.caps.requests is not None and self.requests + 1 > self.caps.requests:
            raise CapReached(f"{self.requests:,} requests were made; the cap is {self.caps.requests:,}")
        if self.caps.tokens is not None and held_in + held_out > self.caps.tokens:
            raise CapReached(f"the next request could exceed the cap of {self.caps.tokens:,} tokens")
        if self.caps.cost is not None and self.price.cost(held_in, held_out) > self.caps.cost:
            raise CapReached(f"the next request could exceed the cap of {self.caps.cost:,.2f} in money")
        self.requests += 1
        self._reserved.update({"in": tokens_in, "out": tokens_out})

    def release(self, attempts: int, tokens_in: int, tokens_out: int) -> None:
        """Give back the room of this many requests; `charge` what they did use."""
        self._reserved.subtract({"in": attempts * tokens_in, "out": attempts * tokens_out})

    def charge(self, tokens_in: int, tokens_out: int, requests: int = 0) -> None:
        """Count tokens (and earlier requests) as used."""
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.requests += requests
