"""Prompt texts about gSCAN: the task, the rules in words, the world and the command."""

from __future__ import annotations

from recombine.grid import prompts as grid
from recombine.grid.prompts import answer, picture, question, steps

__all__ = ["answer", "legend", "picture", "question", "rules", "steps", "task"]


def task(family: str) -> str:  # noqa: ARG001
    """What to do, and how answers are written."""
    return (
        "An agent stands in a grid with objects. Translate the command into the sequence of actions by which the agent carries it out.\n"
        + grid.ANSWER_FORM
    )


def rules(family: str) -> str:  # noqa: ARG001
    """How the target is found, and how the agent moves."""
    return (
        "The target: exactly one object fits the words of the command. A colour word and a shape word must be true of it. `small` means "
        "the smallest, `big` the biggest of all objects in the grid that fit the other words (colour, if any, and shape); sizes compare "
        "by number, so `small` may be an object of size 2 or 3 if no smaller one fits.\n" + grid.MOVES
    )


def legend(family: str) -> str:  # noqa: ARG001
    """How to read the picture."""
    return grid.LEGEND
