"""Examples for people, prompts and pixels; `recombine.grid.render` says which media give the target away."""

from __future__ import annotations

from recombine.core import Example, Medium
from recombine.grid import render as grid
from recombine.grid.matching import Description

MEDIA = grid.MEDIA


def render(example: Example, medium: Medium) -> str | bytes:
    """The example in one medium."""
    return grid.render(example, Description((example.plan.phrase,)), medium)
