"""Prompt texts about abstract tasks. Questions and pictures are built from an example's inputs alone."""

from __future__ import annotations

from typing import Literal

from recombine.core import Example
from recombine.families.abstract.answers import scene_of
from recombine.families.abstract.render import describe
from recombine.families.abstract.render import picture as draw
from recombine.families.abstract.rows import Task

_FORMS = {
    "objects": "Give all objects of the test output, each as `red circle 2 at 1,3` (colour, shape, size, row, column), joined by `; `.",
    "edit": "Give the change from test input to test output as `remove red circle 2 at 1,3; add blue circle 2 at 1,3`.",
    "cells": (
        "Give the cells of the test output row by row, joined by ` / `. An empty cell is `.`; an object is colour (r, b, g, y), shape "
        "(o circle, i cylinder, s square, x box) and size, such as `ro2`; a box and what stands in its corner are joined by `+`."
    ),
    "arc": (
        "Give the test output as an ARC grid: a JSON list of rows with 5 by 5 numbers for each cell. Colours are 1 blue, 2 red, 3 green, "
        "4 yellow; 0 is empty. Rows and columns 1 to 3 of a block show the shape, row 4 a bar as long as the size, from column 1. "
        "A box is a corner from the top left of its block whose arms are as long as its size."
    ),
}


def task(family: str) -> str:  # noqa: ARG001
    """What to do, and how answers are written."""
    return (
        "Each demonstration shows a world before and after a change. The same rule makes every change. Find the rule and apply it to the "
        "test input. The answer is the test output. " + _FORMS["objects"]
    )


def rules(family: str) -> str:  # noqa: ARG001
    """The space of rules, complete."""
    return """A rule names exactly one object of each input and says what happens to it. It may not be named directly, but by how it
relates to others.
- A noun phrase is perhaps `small` or `big`, perhaps a colour, and `circle`, `cylinder`, `square`, `box` or `object` (anything). Objects of
  the phrase's colour and shape are compared: `small` is true of those that are not the biggest, `big` of those that are not the smallest.
- A clause relates the object to another one: in the same row, column, color, shape or size as it, or inside of a box. A box of size n
  covers n by n cells, and its own cell is the north-western one. There may be two clauses, or a clause about the other object.
- The object is painted (a fixed colour), reshaped (a fixed shape), resized (a fixed size), grows or shrinks by one size, moves by one
  cell (a fixed direction), is removed, gets a fixed new object as a neighbour in a fixed direction, or takes the colour, shape or size of
  the object in the clause. Two changes of different properties may happen together.
- Every change really changes something, in every world. Rows count from the north, columns from the west, both from 1."""


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:
    """The demonstrations and the test input; only the form of the answer where a picture shows them."""
    form = str(example.inputs["answer_form"])
    asked = _FORMS[form] if form != "objects" else "What is the test output?"
    return asked if sight == "picture" else f"{describe(_seen(example))}\n{asked}"


def _seen(example: Example) -> Task:
    """The task as the inputs hold it; the output is the input, so it tells nothing."""
    size = int(example.inputs["grid_size"])
    pairs = tuple((scene_of(size, p["input"]), scene_of(size, p["output"])) for p in example.inputs["demonstrations"])
    test = scene_of(size, example.inputs["test"])
    return Task(pairs, test, test)


def answer(example: Example) -> str:
    """The answer on one line."""
    return example.answer


def steps(example: Example) -> tuple[str, ...]:
    """The rule and the elimination."""
    return example.explain().steps


def picture(example: Example) -> bytes | None:
    """The demonstrations and the test input, with a question mark for the output."""
    return draw(_seen(example), None).png()


def legend(family: str) -> str:  # noqa: ARG001
    """How to read the picture."""
    return (
        "Each row of the picture shows an input world on the left and its output on the right; the last output is asked for. Every object "
        "shows its colour, its shape and, as a number, its size from 1 to 4. Boxes are frames around the cells that they cover."
    )
