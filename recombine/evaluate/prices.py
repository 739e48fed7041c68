"""Prices per million tokens, as the user gives them.

There is no table of models: published prices change without notice, and a cap computed from an old one does not hold.
A price that was not given is an error, never zero; only models on this machine (loopback endpoints, `hf:`) are free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recombine.errors import UsageError, shown

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """The price of a million tokens, read and written, in one currency of the user's choice."""

    tokens_in: float
    tokens_out: float

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """The cost of this many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


FREE = Price(0.0, 0.0)


def parse_price(text: str) -> Price:
    """`3,15`: 3 per million tokens read, 15 per million written."""
    pieces = text.split(",")
    try:
        values = [float(piece) for piece in pieces]
    except ValueError:
        values = []
    if len(values) != 2 or not all(math.isfinite(value) and 0 <= value < 1e9 for value in values):
        raise UsageError(f"the price is {shown(text)}, but takes IN,OUT per million tokens, such as 3,15.")
    return Price(*values)
