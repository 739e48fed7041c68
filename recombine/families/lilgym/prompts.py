"""Prompt texts about lilGym: the scene, the statement, what is asked, and how statements are meant.

A scene is rebuilt from an example's `inputs`, so that nothing else (the program behind the statement) can be told.
"""

from __future__ import annotations

from typing import Literal

from recombine.core import Example
from recombine.families.lilgym.render import STRIDE, png
from recombine.families.lilgym.scene import BOX_NAMES, COLORS, SHAPES, SIZE_NAMES, SIZES, Scene

PICTURE_SCALE = 2
_EDITS = {
    "tower": (
        "An edit is `ADD <yellow|black|blue> <left|middle|right>`, which puts a block on top of that box's tower (four blocks at most), "
        "or `REMOVE <left|middle|right>`, which takes the top block of that box's tower away.\n"
        "The answer is at most ten edits and then STOP, separated by semicolons, for example: ADD blue left; REMOVE right; STOP"
    ),
    "scatter": (
        "An edit is `ADD <small|medium|big> <yellow|black|blue> <circle|square|triangle> <x> <y>`, which puts an object with the top left "
        "corner of its bounding square at (x, y), or `REMOVE <x> <y>`, which takes away the object that covers most of the 20 by 20 pixels "
        "with their top left corner at (x, y). x is a multiple of 20 from 0 to 360, y a multiple of 20 from 0 to 80.\n"
        "The answer is at most ten edits and then STOP, separated by semicolons, for example: ADD small blue circle 160 20; REMOVE 300 40; "
        "STOP"
    ),
}


def task(family: str) -> str:  # noqa: ARG001
    """What scenes and statements are; what is asked differs by question."""
    return (
        "A scene has three boxes side by side: left, middle and right. In some scenes each box holds a tower of blocks, in others objects "
        "are scattered in the boxes. A statement about the scene is either true or false of it.\n"
        "You are asked either whether the statement is true (then the answer is one word, true or false), or to change the scene by edits "
        "until the statement has the wanted truth value (then the answer is a list of edits that ends in STOP)."
    )


def rules(family: str) -> str:  # noqa: ARG001
    """How statements are meant, and what edits do."""
    return """Numbers: `a` and `some` mean at least one; `no` and `not a single` mean none; `only two` and `just two` mean exactly two; `two or more`
and `no fewer than two` mean at least two; `two or fewer` and `no more than two` mean at most two. `or` includes both.
`as many A as B` and `equally many A and B`: equal numbers. `the A outnumber the B`: more A than B. `every A is …`, `each A is …`, `only A`
and `nothing but A` say also that there is at least one A. `One box has …, the rest do not`: exactly one box has it. `Every box but one`: exactly two.
`The A come in exactly two colors`: two colors occur among them. `A tower with X has Y`: it has both.
`each …` is said of every single one. `that is …` speaks of the noun just before it.
Towers: the blocks of a box, one upon the other, are one tower; an empty box has no tower, a single block is a tower. `at the bottom` is the
first block, `in second place` and `in third place` are counted from the bottom, `at the top` is the last block; a single block is at the
top and at the bottom. `directly above`, `right above`, `directly on top of` and `resting on` mean immediately upon, in the same tower; `somewhere above` and
`anywhere above` mean anywhere higher in the same tower; below likewise. `base` is the bottom block, `level` counts from the bottom. `every box has a tower that …` is false if a box is empty; an empty box is a box that contains no block of any kind.
Scattered objects: small is 10, medium 20, big 30 pixels wide and high. Every box is 100 by 100 pixels; its walls are its own four edges.
An object touches a wall if the edge of its bounding square lies on it; it almost touches it if the gap is at most 4 pixels. It is in a
corner if it touches exactly two walls (almost, if it almost touches exactly two). Two objects touch if they are in the same box and at most
1 pixel of gap lies between their bounding squares. One object is above another if both are in the same box and its lower edge is not
below the other's upper edge; below likewise. `in the same box as` means another object of that box.
Edits are carried out in order. An edit that cannot be done (a fifth block on a tower, an object that overlaps another or does not lie
wholly in one box, nothing there to remove) fails the whole answer. STOP comes once, at the end. After it the statement must have the
wanted truth value; no more is asked, and any such list of edits is right."""


def scene_seen(example: Example) -> Scene:
    """The scene that an example's inputs hold."""
    boxes = example.inputs["boxes"]
    return Scene.of(example.inputs["scene"], [(box, *item) for box, items in enumerate(boxes) for item in items])


def described(scene: Scene) -> str:
    """The scene in words: the towers from the bottom up, or the objects with their places."""
    lines = []
    for box, items in enumerate(scene.boxes):
        if scene.kind == "tower":
            lines.append(f"- {BOX_NAMES[box]} box: " + (", ".join(COLORS[item.color] for item in items) or "empty"))
            continue
        named = [
            f"{SIZE_NAMES[SIZES.index(i.size)]} {COLORS[i.color]} {SHAPES[i.shape]} at ({i.x + STRIDE * box}, {i.y})"
            for i in items
        ]
        span = f"x {STRIDE * box} to {STRIDE * box + 100}"
        lines.append(f"- {BOX_NAMES[box]} box ({span}): " + ("; ".join(named) or "empty"))
    if scene.kind == "tower":
        return "The towers, each from the bottom up:\n" + "\n".join(lines)
    start = (
        "The objects, each with the top left corner (x, y) of its bounding square, in pixels; y runs from 0 at the top to 100:"
    )
    return "\n".join([start, *lines])


def question(example: Example, sight: Literal["text", "picture", "both"]) -> str:
    """The scene, the statement, and what is asked."""
    inputs = example.inputs
    seen = "" if sight == "picture" else described(scene_seen(example)) + "\n"
    asked = f"{seen}Statement: {inputs['statement']}\n"
    if inputs["task"] == "truth":
        return asked + "Is the statement true of the scene? Answer true or false."
    wanted = "true" if inputs["target"] else "false"
    return f"{asked}Edit the scene so that the statement becomes {wanted}.\n{_EDITS[inputs['scene']]}"


def answer(example: Example) -> str:
    """The edits on one line, or true or false."""
    return "; ".join(line.strip() for line in example.answer.splitlines())


def steps(example: Example) -> tuple[str, ...]:
    """The truth of the statement before and after each edit; the workings of the program behind it stay untold."""
    told = example.explain().steps
    start = next((i for i, step in enumerate(told) if step.startswith("So the statement is")), len(told))
    return told[start:]


def picture(example: Example) -> bytes | None:
    """The scene, twice enlarged."""
    return png(scene_seen(example), PICTURE_SCALE)


def legend(family: str) -> str:  # noqa: ARG001
    """How to read the picture."""
    return (
        "The picture shows the three boxes as light grey squares, left to right. It is drawn at twice the size: pixel (x, y) of the scene "
        "is at (2x, 2y) of the picture; the scene is 380 by 100 pixels, and the boxes begin at x = 0, 140 and 280."
    )


# --- the whole task as one text, for `render` ---------------------------------------------------------------------------

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
