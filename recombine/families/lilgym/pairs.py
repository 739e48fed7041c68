"""Matched pairs of lilGym: where the changed statement has the wanted truth value already, STOP is right.

`target`: the same statement and picture with the other target. `color`: the same picture and target, and another colour word in the statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from recombine import keys
from recombine.core import Example
from recombine.errors import RecombineError
from recombine.families.lilgym import program
from recombine.families.lilgym.oracle import Unreadable, carry_out, holds, understand

PAIRS: Mapping[str, str] = {"target": "sensitivity", "color": "sensitivity"}
COLORS = ("yellow", "black", "blue")


def partner(example: Example, facet: str) -> Example | None:
    """The example with this facet changed; None outside the editing task, or where the changed statement needs edits, too."""
    if facet not in PAIRS or example.meta["task"] != "edit" or example.answer == "STOP":
        return None
    if facet == "color":
        return _recoloured(example)
    target = not bool(example.meta["target"])
    if program.compile(example.meta["program"]).evaluate(example.world) != target:
        return None
    inputs, meta = {**example.inputs, "target": target}, {**example.meta, "target": target, "edits": 0}
    return replace(example, id=f"{example.id}~{facet}", inputs=inputs, answer="STOP", meta=meta)


def _recoloured(example: Example) -> Example | None:
    """The example whose statement says another colour for one of its colours."""
    text, source = str(example.inputs["statement"]), str(example.meta["program"])
    said = [color for color in COLORS if re.search(rf"\b{color}\b", text, re.IGNORECASE)]
    choices = [(old, new) for old in said for new in COLORS if new not in said]
    keys.Stream("pair", example.id, "color").shuffle(choices)
    for old, new in choices:
        changed = _with_color(text, old, new)
        deed = re.sub(rf"\bis_{old}\b", f"is_{new}", re.sub(rf"\bColor\.{old.upper()}\b", f"Color.{new.upper()}", source))
        try:
            is_reached = program.compile(deed).evaluate(example.world) == bool(example.meta["target"])
        except RecombineError:  # a program that no statement has
            continue
        if is_reached and deed != source:
            meta = {**example.meta, "program": deed, "edits": 0}
            inputs = {**example.inputs, "statement": changed}
            found = replace(example, id=f"{example.id}~color", inputs=inputs, answer="STOP", plan=deed, meta=meta)
            if found.score(example.answer).status != "right":
                return found
    return None


def _with_color(text: str, old: str, new: str) -> str:
    """The sentence with another colour word; "a" fits before each of them."""
    return re.sub(rf"\b{old}\b", lambda met: new.capitalize() if met[0][0].isupper() else new, text, flags=re.IGNORECASE)


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, by the oracle's reading of the sentence and its simulator."""
    if facet not in PAIRS:
        return [f"there are no pairs of the facet {facet!r}"]
    found = []
    ends = []
    for example in (first, second):
        picture = tuple(tuple(item) for item in example.world.items)
        try:
            meaning = understand(str(example.inputs["statement"]))
            end, _ = carry_out(example.answer, picture, example.meta["scene"] == "tower")
        except Unreadable as problem:
            return [f"{example.id}: {problem}"]
        if holds(meaning, end) != example.inputs["target"]:
            found.append(f"after the edits of {example.id} the statement has the wrong truth value")
        ends.append(end)
    if holds(meaning, ends[0]) == second.inputs["target"]:
        found.append("the first answer is right for the second example, too")
    differing = [name for name in first.inputs if first.inputs[name] != second.inputs.get(name)]
    named = "statement" if facet == "color" else facet
    if differing != [named] or set(first.inputs) != set(second.inputs) or first.world != second.world:
        found.append(f"the examples differ in {', '.join(differing) or 'nothing'}, not in {named} alone")
    if facet == "color" and not _is_one_color_changed(str(first.inputs["statement"]), str(second.inputs["statement"])):
        found.append("the statements differ in something else than one colour")
    if first.answer == second.answer:
        found.append("the answers must differ")
    return found


def _is_one_color_changed(first: str, second: str) -> bool:
    """Whether the words are equal but for one colour that has become another one everywhere."""
    pairs = set(zip(re.findall(r"\w+|\W", first.lower()), re.findall(r"\w+|\W", second.lower()), strict=False))
    changed = [(a, b) for a, b in pairs if a != b]
    return len(changed) == 1 and set(changed[0]) <= set(COLORS) and (changed[0][0],) * 2 not in pairs
