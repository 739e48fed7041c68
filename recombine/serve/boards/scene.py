"""Scenes of lilGym: drag blocks and items from the palette into a box, from box to box, or out of the boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from recombine.core import Example
from recombine.errors import UsageError
from recombine.families.lilgym.play.edits import GRIDS, Edit, Setting, action_of, edit_of, format_edits, parse_edits
from recombine.families.lilgym.play.episodes import edit_scene
from recombine.families.lilgym.render import HEIGHT, STRIDE, WIDTH, svg
from recombine.families.lilgym.scene import BOX_NAMES, BOX_SIDE, CIRCLE, COLORS, SHAPES, SIZE_NAMES, SIZES, SQUARE, Item, Scene
from recombine.serve.boards.base import MARK, Button, Field, Form, View, labelled, places, unknown

PALETTE_TOP = HEIGHT + 12
FULL_HEIGHT = {"tower": PALETTE_TOP + 34, "scatter": PALETTE_TOP + 88}
FILLS = ("#faff00", "#000000", "#0f83ff")
_PITCH, _ROWS = 36, (0, 14, 40)
VERDICT = "So the statement is"
_BOX = re.compile(rf"the ({'|'.join(BOX_NAMES)}) box")
_ITEM = re.compile(rf"(?:{'|'.join(SIZE_NAMES)}) (?:{'|'.join(COLORS)}) (?:{'|'.join(SHAPES)}) (\d+) \(")
_WHY = {
    "does_not_fit": "It does not fit there.",
    "on_separator": "That place is not inside a box.",
    "nothing_to_remove": "There is nothing to remove.",
}


class SceneBoard:
    """The state is the list of edits without STOP, one a line."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """The scene after the edits, the palette below it, and forms that do the same."""
        setting, actions = _read(example, state)
        scene = _played(example, setting, actions)[0]
        wanted = "true" if example.inputs["target"] else "false"
        hint = (
            f"Make the statement {wanted}: drag from the palette into a box, between boxes, or out of the boxes to remove. "
            "Then press Answer; it adds STOP."
        )
        told = said or f"{len(actions)} edit{'s' if len(actions) != 1 else ''} so far; at most {setting.horizon - 1}."
        picture = labelled(drawn(scene), str(scene).replace("\n", "; "))
        buttons = (Button("undo", "undo", "Backspace"), Button("start again", "clear"))
        text = format_edits(setting, [*actions, 0]).replace("\n", "; ")
        return View(text, picture, told, hint, buttons, forms_of(setting))

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """One or two more edits; an edit that cannot be done changes nothing and is explained."""
        setting, actions = _read(example, state)
        if event == "clear":
            return "", ""
        if event == "undo":
            return _written(setting, actions[:-1]), ""
        scene = _played(example, setting, actions)[0]
        wanted: list[Edit] = []
        if event in ("add", "remove"):
            wanted = [typed_edit(setting, event, fields)]
        else:
            dragged = places(event)
            if dragged is None:
                raise unknown(event)
            if dragged[0] == "click":
                return state, "Drag it, or use the lists below."
            wanted = list(dragged_edits(setting, scene, *dragged[1]))
        if not wanted:
            return state, "Nothing was moved."
        new = [action_of(setting, edit) for edit in wanted]
        if len(actions) + len(new) >= setting.horizon:
            return state, f"At most {setting.horizon - 1} edits are possible."
        for action in new:
            scene, error = edit_scene(setting, scene, action)
            if error:
                return state, f"{edit_of(setting, action)}: {_WHY.get(error, error)}"
        return _written(setting, [*actions, *new]), ""

    def question(self, example: Example) -> str:
        """The statement, the wanted truth value and the scene."""
        from recombine.families.lilgym.prompts import described

        wanted = "true" if example.inputs["target"] else "false"
        return f"{example.inputs['statement']}\nMake it {wanted}.\n\n{described(example.world)}"

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:
        """The scene at the end of an answer's edits; or the scene that the proof has come to, with what its last step names ringed."""
        setting = Setting(example.meta["scene"])
        try:
            actions = [a for a in parse_edits(setting, example.answer if answer is None else answer) if a]
            done = _edits_told(proof)
            scene = _played(example, setting, actions[:done] if proof else actions)[0]
            before = _played(example, setting, actions[: max(0, done - 1)])[0]
        except UsageError:
            return ""
        when = f"the scene at this step, marked: {proof[-1].strip()}" if proof else "the scene at the end"
        return labelled(_ringed(scene, before, proof), f"{when}: {scene}".replace("\n", "; "))

    def film(self, example: Example) -> Sequence[str]:
        """The plan, one more edit in each frame."""
        setting = Setting(example.meta["scene"])
        actions = [a for a in parse_edits(setting, example.answer) if a]
        return [_written(setting, actions[:count]) for count in range(len(actions) + 1)]


class TruthBoard:
    """True or false of a scene."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """The scene and two buttons."""
        scene = cast(Scene, example.world)
        picture = labelled(svg(scene), str(scene).replace("\n", "; "))
        return View(state, picture, said, "Is the statement true of the scene?", choices=("true", "false"))

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:  # noqa: ARG002
        """Nothing but choosing."""
        raise unknown(event)

    def question(self, example: Example) -> str:
        """The statement."""
        return str(example.inputs["statement"])

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:  # noqa: ARG002
        """The scene; what the last step names is ringed."""
        return labelled(_ringed(example.world, example.world, proof), str(example.world).replace("\n", "; "))

    def film(self, example: Example) -> Sequence[str]:  # noqa: ARG002
        """Nothing moves."""
        return ()


# --- edits -----------------------------------------------------------------------------------------------------------


def _read(example: Example, state: str) -> tuple[Setting, list[int]]:
    setting = Setting(example.meta["scene"])
    actions = parse_edits(setting, state)
    while actions and actions[-1] == 0:
        actions.pop()
    if 0 in actions or len(actions) >= setting.horizon:
        raise UsageError(f"the answer is at most {setting.horizon - 1} edits and one STOP at its end.")
    return setting, actions


def _written(setting: Setting, actions: Sequence[int]) -> str:
    return format_edits(setting, actions).replace("\n", "; ")


def _played(example: Example, setting: Setting, actions: Sequence[int]) -> tuple[Scene, str]:
    scene = cast(Scene, example.world)
    for action in actions:
        scene, error = edit_scene(setting, scene, action)
        if error:
            raise UsageError(f"{edit_of(setting, action)} cannot be done: {_WHY.get(error, error)}")
    return scene, ""


def typed_edit(setting: Setting, verb: str, fields: Mapping[str, str]) -> Edit:
    names = ("size", "color", "shape", "box", "x", "y")
    words = " ".join(fields[name] for name in names if fields.get(name))
    return edit_of(setting, parse_edits(setting, f"{verb.upper()} {words}")[0])


def forms_of(setting: Setting) -> tuple[Form, ...]:
    color = Field("color", "colour", COLORS)
    if setting.kind == "tower":
        box = Field("box", "box", BOX_NAMES)
        return (Form("Add a block", "add", (color, box)), Form("Remove the top block", "remove", (box,)))
    columns, rows, step = GRIDS[setting.grid]
    x = Field("x", "x", tuple(str(step * k) for k in range(columns)))
    y = Field("y", "y", tuple(str(step * k) for k in range(rows)))
    item = (Field("size", "size", SIZE_NAMES), color, Field("shape", "shape", SHAPES), x, y)
    return (Form("Add an item", "add", item), Form("Remove an item", "remove", (x, y)))


# --- dragging --------------------------------------------------------------------------------------------------------


def dragged_edits(setting: Setting, scene: Scene, x1: float, y1: float, x2: float, y2: float) -> Iterator[Edit]:
    """The edits that a drag means: ADD from the palette, REMOVE out of the boxes, both for a move."""
    is_new, is_kept = y1 >= HEIGHT, y2 < HEIGHT
    if setting.kind == "tower":
        color = _palette_block(x1, y1) if is_new else None
        if not is_new:
            box = min(2, int(x1 // STRIDE))
            blocks = scene.boxes[box]
            if not blocks:
                return
            color = blocks[-1].color
            if is_kept and box == min(2, max(0, int(x2 // STRIDE))):
                return
            yield Edit("REMOVE", box=box)
        if is_kept and color is not None:
            yield Edit("ADD", box=min(2, max(0, int(x2 // STRIDE))), color=color)
        return
    if is_new:
        found = _palette_item(x1, y1)
        if found is None or not is_kept:
            return
        size, color, shape, left, top = found
    else:
        item = _item_at(scene, x1, y1)
        if item is None:
            return
        size, color, shape = SIZES.index(item.size), item.color, item.shape
        left, top = x1 - STRIDE * item.box - item.x, y1 - item.y
        yield _removal(setting, scene, item)
    if is_kept:
        columns, rows, step = GRIDS[setting.grid]
        x = min(columns - 1, max(0, round((x2 - left) / step))) * step
        y = min(rows - 1, max(0, round((y2 - top) / step))) * step
        yield Edit("ADD", x=x, y=y, size=size, color=color, shape=shape)


def _palette_block(x: float, y: float) -> int | None:
    color = int((x - 20) // 40)
    return color if 0 <= color < len(COLORS) and PALETTE_TOP <= y <= PALETTE_TOP + 24 else None


def _palette_item(x: float, y: float) -> tuple[int, int, int, float, float] | None:
    """(size, color, shape, x and y inside the item) of the palette's item at a place."""
    column = int((x - 8) // _PITCH)
    size = 2 if y >= PALETTE_TOP + _ROWS[2] else 1 if y >= PALETTE_TOP + _ROWS[1] else 0
    if not 0 <= column < 9 or y < PALETTE_TOP:
        return None
    inside = x - 8 - column * _PITCH, y - PALETTE_TOP - _ROWS[size]
    if not (0 <= inside[0] <= SIZES[size] and 0 <= inside[1] <= SIZES[size]):
        return None
    return size, column % 3, column // 3, *inside


def _item_at(scene: Scene, x: float, y: float) -> Item | None:
    for item in reversed(scene.items):
        if 0 <= x - STRIDE * item.box - item.x <= item.size and 0 <= y - item.y <= item.size:
            return item
    return None


def _removal(setting: Setting, scene: Scene, item: Item) -> Edit:
    """The REMOVE that takes exactly this item: one of the cells that it covers does."""
    columns, rows, step = GRIDS[setting.grid]
    left = STRIDE * item.box + item.x
    first = None
    for x in range(max(0, left // step), min(columns - 1, (left + item.size - 1) // step) + 1):
        for y in range(max(0, item.y // step), min(rows - 1, (item.y + item.size - 1) // step) + 1):
            edit = Edit("REMOVE", x=x * step, y=y * step)
            first = first or edit
            after, error = edit_scene(setting, scene, action_of(setting, edit))
            if not error and item not in after.items:
                return edit
    if first is None:
        raise UsageError("this item cannot be removed.")
    return first


# --- drawing ---------------------------------------------------------------------------------------------------------


def _edits_told(proof: Sequence[str]) -> int:
    """The number of edits that the proof has reached. The lines before `So the statement is` describe the given scene."""
    start = next((number for number, line in enumerate(proof) if line.startswith(VERDICT)), len(proof))
    return sum(not line.startswith("STOP") for line in proof[start + 1 :])


def _ringed(scene: Scene, before: Scene, proof: Sequence[str]) -> str:
    """The scene with rings around the boxes and items that the last step names, or around what its edit changed."""
    step = proof[-1] if proof else ""
    rings = []
    if _edits_told(proof) and not step.startswith("STOP"):
        changed = [item for item in (*scene.items, *before.items) if (item in scene.items) != (item in before.items)]
    else:
        changed = [scene.items[int(n)] for n in _ITEM.findall(step) if int(n) < len(scene.items)]
        rings = [(STRIDE * BOX_NAMES.index(name) + 1, 1, BOX_SIDE - 2) for name in _BOX.findall(step)]
    rings += [(STRIDE * item.box + item.x - 2, item.y - 2, item.size + 4) for item in changed]
    drawn_rings = [
        f'<rect x="{x}" y="{y}" width="{side}" height="{side}" rx="2" fill="none" stroke="{MARK}" stroke-width="2"/>'
        for x, y, side in rings
    ]
    return svg(scene).replace("</svg>", "".join(drawn_rings) + "</svg>")


def drawn(scene: Scene) -> str:
    """The scene with the palette below it."""
    high = FULL_HEIGHT[scene.kind]
    inner = svg(scene).replace("<svg ", f'<svg width="{WIDTH}" height="{HEIGHT}" ', 1)
    pieces = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}">', inner]
    pieces.append(f'<rect y="{HEIGHT}" width="{WIDTH}" height="{high - HEIGHT}" fill="#f4f2ec"/>')
    if scene.kind == "tower":
        for color in range(len(COLORS)):
            pieces.append(_shape(SQUARE, color, 20 + 40 * color, PALETTE_TOP, 20))
    else:
        for column in range(9):
            for row, size in enumerate(SIZES):
                pieces.append(_shape(column // 3, column % 3, 8 + _PITCH * column, PALETTE_TOP + _ROWS[row], size))
    pieces.append(
        f'<text x="{WIDTH - 8}" y="{high - 6}" font-size="9" text-anchor="end" fill="#4b4740">palette; drop here to remove</text>'
    )
    return "".join([*pieces, "</svg>"])


def _shape(shape: int, color: int, x: int, y: int, side: int) -> str:
    fill = f'fill="{FILLS[color]}" stroke="#8b877d" stroke-width="0.5"'
    if shape == CIRCLE:
        return f'<circle cx="{x + side / 2}" cy="{y + side / 2}" r="{side / 2}" {fill}/>'
    if shape == SQUARE:
        return f'<rect x="{x}" y="{y}" width="{side}" height="{side}" {fill}/>'
    return f'<polygon points="{x},{y + side} {x + side},{y + side} {x + side / 2},{y}" {fill}/>'


__all__ = ["SceneBoard", "TruthBoard", "dragged_edits", "drawn", "forms_of", "typed_edit"]
