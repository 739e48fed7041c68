"""The example in words: the scene, the statement, what is asked, and how to answer."""

from __future__ import annotations

from recombine.core import Example
from recombine.families.lilgym.scene import BOX_NAMES, COLORS, Scene

_TOWER = (
    "Each box can hold a tower of up to four blocks. An edit is one of\n"
    "  ADD <yellow|black|blue> <left|middle|right>   puts a block on top of that box's tower\n"
    "  REMOVE <left|middle|right>                    takes the top block away"
)
_SCATTER = (
    "Each box is 100 by 100 pixels; the boxes begin at x = 0, 140 and 280 of the picture. An edit is one of\n"
    "  ADD <small|medium|big> <yellow|black|blue> <circle|square|triangle> <x> <y>\n"
    "      puts an item with its top left corner at pixel (x, y) of the picture; x and y are multiples of 20;\n"
    "      it must lie in a box and overlap nothing (small is 10 pixels wide, medium 20, big 30)\n"
    "  REMOVE <x> <y>   takes away the item that covers most of the 20 by 20 cell at (x, y)"
)


_WORDS = (
    "The walls of a box are its four sides. An object touches a wall if the square around it does, almost touches it if at most\n"
    "four pixels are between, and is in a corner if it touches two walls. Two objects of a box touch if the squares around them do."
)


def _towers(scene: Scene) -> str:
    lines = [
        f"  {BOX_NAMES[box]} box: " + (", ".join(COLORS[item.color] for item in items) or "empty")
        for box, items in enumerate(scene.boxes)
    ]
    return (
        "A picture shows three boxes with a tower of blocks in each, named here from the bottom up.\n" + "\n".join(lines) + "\n"
    )


def _items(scene: Scene) -> str:
    lines = "\n".join(f"  {line}" for line in str(scene).splitlines())
    return (
        "A picture shows three boxes of 100 by 100 pixels with objects in them. "
        f"(x, y) is the top left corner of the square around an object, from the top left corner of its box.\n{lines}\n{_WORDS}\n"
    )


def prompt(example: Example) -> str:
    """The whole task as text."""
    statement = example.inputs["statement"]
    shown = _towers(example.world) if example.meta["scene"] == "tower" else _items(example.world)
    if example.meta["task"] == "truth":
        return f"{shown}Statement: {statement}\nIs the statement true of the picture? Answer true or false."
    target = "true" if example.meta["target"] else "false"
    rules = _TOWER if example.meta["scene"] == "tower" else _SCATTER
    return (
        f"{shown}Statement: {statement}\nEdit the picture so that the statement becomes {target}.\n{rules}\n"
        "Answer with at most ten edits and STOP, separated by semicolons, for example: "
        + ("ADD blue left; STOP" if example.meta["scene"] == "tower" else "ADD small blue circle 160 20; STOP")
    )
