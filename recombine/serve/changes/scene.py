"""Statements about scenes: change the statement, its program or the scene, and see its value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from recombine.core import Example
from recombine.errors import ProgramError, UsageError
from recombine.families.lilgym import check_statement, program
from recombine.families.lilgym.native import boxes_of
from recombine.families.lilgym.play.edits import Setting, action_of, edit_of
from recombine.families.lilgym.play.episodes import edit_scene
from recombine.families.lilgym.scene import KINDS, Kind, Scene
from recombine.serve.boards.base import Button, View, labelled, places
from recombine.serve.boards.scene import dragged_edits, drawn, forms_of, typed_edit
from recombine.serve.changes.base import Finding, Saved, parsed, single_line, written


class SceneEditor:
    """State: kind, statement, program, and the scene as six integers for each item."""

    def begin(self, example: Example) -> str:
        """The example's statement, program and scene."""
        scene = cast(Scene, example.world)
        words = {"statement": str(example.inputs["statement"]), "program": str(example.meta["program"])}
        return written({"kind": scene.kind, **words, "items": scene.flat})

    def view(self, state: str, said: str = "") -> View:
        """The scene with its palette."""
        _, _, scene = _read(state)
        hint = "Drag from the palette into a box, between boxes, or out of the boxes. The value of the statement follows."
        svg = labelled(drawn(scene), str(scene).replace("\n", "; "))
        check = Button("check the statement: can it be made true, is it constant?", "check")
        return View(state, svg, said, hint, (check,), forms_of(Setting(scene.kind)))

    def act(self, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """The example after one change."""
        statement, text, scene = _read(state)
        setting = Setting(scene.kind)
        if event == "text":
            return _state(single_line(fields.get("text", "")), single_line(fields.get("program", ""), 4_000), scene), ""
        if event == "check":
            return written({**parsed(state), "is_checked": True}), ""
        if event in ("add", "remove"):
            edits = [typed_edit(setting, event, fields)]
        else:
            dragged = places(event)
            if dragged is None or dragged[0] == "click":
                return state, "Drag it, or use the lists below."
            edits = list(dragged_edits(setting, scene, *dragged[1]))
        for edit in edits:
            action = action_of(setting, edit)
            scene, error = edit_scene(setting, scene, action)
            if error:
                return state, f"{edit_of(setting, action)}: {error.replace('_', ' ')}."
        return _state(statement, text, scene), ""

    def finding(self, state: str) -> Finding:
        """The program's value in the scene, what is wrong with it, and whether it can be made true at all."""
        statement, text, scene = _read(state)
        try:
            value = program.compile(text).evaluate(scene)
        except ProgramError as problem:
            return Finding("impossible", f"The program has no value: {problem}")
        said = "true" if value else "false"
        found = Finding("true" if value else "false", f"The statement is {said} of this scene.", said)
        if not parsed(state).get("is_checked"):
            return found
        check = check_statement(statement, text, scene.kind)
        notes = [f"{problem.code}: {problem.text}" for problem in check.problems]
        if check.share_true is not None:
            notes.append(f"It is true of {check.share_true:.0%} of the scenes tried.")
        if check.fewest_edits is not None:
            notes.append(f"From the empty scene it becomes true with {check.fewest_edits} edits.")
        return replace(found, notes=tuple(notes))

    def saved(self, state: str) -> Saved:
        """One record of the published layout."""
        statement, text, scene = _read(state)
        try:
            value = program.compile(text).evaluate(scene)
        except ProgramError as problem:
            raise UsageError(f"only a program with a value can be saved: {problem}") from None
        record: dict[str, Any] = {"identifier": "mine", "sentence": statement, "lf": text}
        if scene.items:
            record |= {"label": "true" if value else "false", "structured_rep": boxes_of(scene.flat)}
        return Saved(f"my-lilgym-{scene.kind}.json", json.dumps({"mine": record}, ensure_ascii=False) + "\n", "lilgym")


def _state(statement: str, text: str, scene: Scene) -> str:
    return written({"kind": scene.kind, "statement": statement, "program": text, "items": scene.flat})


def _read(state: str) -> tuple[str, str, Scene]:
    found = parsed(state)
    kind, items = found.get("kind"), found.get("items")
    if kind not in KINDS or not isinstance(items, list) or not all(type(number) is int for number in items):
        raise UsageError("the example cannot be read; reload the page.")
    scene = Scene.of_flat(cast(Kind, kind), items)
    return single_line(str(found.get("statement", ""))), single_line(str(found.get("program", "")), 4_000), scene
