"""Prompt texts about ReaSCAN: the task, the rules in words, the world and the command."""

from __future__ import annotations

from recombine.grid import prompts as grid
from recombine.grid.prompts import answer, picture, question, steps

__all__ = ["answer", "legend", "picture", "question", "rules", "steps", "task"]

_TARGET = """The target is the object of the first noun phrase. Exactly one object can be it:
- A noun phrase is `a` or `the`, then perhaps `small` or `big`, perhaps a colour, and `circle`, `cylinder`, `square`, `box` or `object`;
  `object` leaves the shape open and may be anything. The colour and the shape must be true of the object.
- `small` is true of an object if some other object that fits the rest of the phrase (colour and shape) is bigger; `big`, if some other
  such object is smaller.
- A phrase may carry clauses. `that is` begins a clause about the phrase just before it; `and` adds a further clause about the same
  phrase that the clause before it was about. All clauses of a phrase must hold.
- `in the same row as X`, `in the same column as X`, `in the same color as X`, `in the same shape as X`, `in the same size as X`: there
  is an object that fits X, with its own clauses, and has the same row, column, colour, shape or size number.
- `inside of X`: X is a box that fits the phrase, and the object's cell is one of the cells of the box. A box of size n covers n by n
  cells; the cell that counts as its own row and column is the top-left (north-western) one.
- Different phrases of one command always mean different objects.
Boxes lie flat: they never block a push or pull, and other objects may stand in them."""


def task(family: str) -> str:  # noqa: ARG001
    """What to do, and how answers are written."""
    return (
        "An agent stands in a grid with objects. The command names one object, if need be by how it relates to others. Translate the "
        "command into the sequence of actions by which the agent carries it out.\n" + grid.ANSWER_FORM
    )


def rules(family: str) -> str:  # noqa: ARG001
    """How the target is found, and how the agent moves."""
    return f"{_TARGET}\n{grid.MOVES}"


def legend(family: str) -> str:  # noqa: ARG001
    """How to read the picture."""
    return grid.LEGEND + " Boxes are drawn as frames around the cells they cover, with their size."
