"""Members that the prompts of families without a picture share; each `prompts.py` of such a family imports them."""

from __future__ import annotations

from recombine.core import Example


def answer(example: Example) -> str:
    """The answer as it stands."""
    return example.answer


def steps(example: Example) -> tuple[str, ...]:
    """The proof."""
    return example.explain().steps


def picture(example: Example) -> bytes | None:  # noqa: ARG001
    """No picture: there is no world to draw, or it would show the answer."""
    return None


def legend(family: str) -> str:  # noqa: ARG001
    """No picture, no legend."""
    return ""
