"""Boards: how a person sees an example and answers it. One file for each kind of world.

A board's state is the answer so far, as text; the server keeps nothing between two requests. `act` takes one event (a key, a
click, a drag, a button, a small form) and gives the next state. Places are in the units of the board's own SVG. The same buttons
and forms work in a browser without script.
"""

from __future__ import annotations

from recombine.core import Example
from recombine.serve.boards.base import Board, Button, Field, Form, TextBoard, View


def board_of(example: Example) -> Board:
    """The board that fits the example's world; plain text where no other does."""
    kind = type(example.world).__module__
    if kind == "recombine.grid.world":
        from recombine.serve.boards.grid import GridBoard

        return GridBoard()
    if kind.startswith("recombine.families.lilgym."):
        from recombine.serve.boards.scene import SceneBoard, TruthBoard

        return SceneBoard() if example.meta["task"] == "edit" else TruthBoard()
    if kind.startswith("recombine.families.abstract."):
        from recombine.serve.boards.output import OutputBoard

        return OutputBoard()
    if type(example.plan).__module__.startswith("recombine.families.clutrr."):
        from recombine.serve.boards.kin import KinBoard

        return KinBoard()
    return TextBoard()


__all__ = ["Board", "Button", "Field", "Form", "TextBoard", "View", "board_of"]
