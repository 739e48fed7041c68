"""Statements about scenes, written with their programs: labelled scenes are tried at once, hidden ones when the work is handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from recombine import keys
from recombine.core import Example
from recombine.errors import ProgramError
from recombine.families.lilgym import program
from recombine.families.lilgym.program.functions import FUNCTIONS
from recombine.families.lilgym.render import svg
from recombine.families.lilgym.scene import Kind, Scene, unpack
from recombine.families.lilgym.sound.worlds import draw_scenes, is_tidy
from recombine.serve.boards.base import labelled

LABELLED, HIDDEN = 2, 3
"""Scenes of each truth value that the writer sees, and that stay hidden."""
_DRAWN = 300
EXAMPLES: Mapping[str, str] = {
    "There is a blue circle.": "exist(filter_obj(all_items, lambda x: is_blue(x) and is_circle(x)))",
    "There are exactly two yellow items.": "count(filter_color(all_items, Color.YELLOW)) == 2",
    "Every box has a black item.": "All(all_boxes, lambda x: exist(filter_color(x.all_items_in_box(), Color.BLACK)))",
    "No square touches a wall.": "not exist(filter_obj(all_items, lambda x: is_square(x) and is_touching_wall(x)))",
}
"""Statements with their programs, shown to writers; `all_boxes` and `all_items` stand for everything in a scene."""
WORDS = tuple(sorted(FUNCTIONS))
"""The functions that a program may call."""


def task_of(example: Example) -> dict[str, Any] | None:
    """A statement with scenes of both truth values; None if too few were found."""
    kind, text = cast(Kind, example.meta["scene"]), str(example.meta["program"])
    states = keys.states(keys.state("study scenes", example.id), 0, _DRAWN)
    scenes = unpack(kind, *draw_scenes(kind, False, states, tidy=is_tidy(kind, text)))
    by_value: dict[bool, list[list[int]]] = {True: [], False: []}
    compiled = program.compile(text)
    for scene in scenes:
        value = compiled.evaluate(scene)
        if len(by_value[value]) < LABELLED + HIDDEN and scene.flat not in by_value[value]:
            by_value[value].append(scene.flat)
    if min(map(len, by_value.values())) < LABELLED + HIDDEN:
        return None
    labelled_ = [[value, flat] for value in (True, False) for flat in by_value[value][:LABELLED]]
    hidden = [[value, flat] for value in (True, False) for flat in by_value[value][LABELLED:]]
    return {
        "source": example.id,
        "kind": kind,
        "statement": str(example.inputs["statement"]),
        "labelled": labelled_,
        "hidden": hidden,
    }


def pictures(content: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """(label, drawing) of the scenes that the writer sees."""
    found = []
    for value, flat in content["labelled"]:
        scene = Scene.of_flat(content["kind"], flat)
        found.append((bool(value), labelled(svg(scene), str(scene).replace("\n", "; "))))
    return found


def tried(content: Mapping[str, Any], text: str, which: str) -> tuple[list[bool | None], str]:
    """(what the program says of each scene, what is wrong with the program)."""
    try:
        compiled = program.compile(text)
    except ProgramError as problem:
        return [], str(problem)
    values: list[bool | None] = []
    for _, flat in content[which]:
        try:
            values.append(compiled.evaluate(Scene.of_flat(content["kind"], flat)))
        except ProgramError:
            values.append(None)
    return values, ""


def agreement(content: Mapping[str, Any], text: str, which: str) -> int:
    """In how many scenes the program has the value of the label."""
    values, _ = tried(content, text, which)
    return sum(value is not None and value == label for value, (label, _) in zip(values, content[which], strict=False))
