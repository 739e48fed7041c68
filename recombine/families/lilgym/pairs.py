"""Matched pairs of lilGym: the same statement and picture with the other target. Where the statement has the wanted truth value already, STOP is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recombine.core import Example
from recombine.families.lilgym import program
from recombine.families.lilgym.oracle import Unreadable, carry_out, holds, understand

PAIRS: Mapping[str, str] = {"target": "sensitivity"}


def partner(example: Example, facet: str) -> Example | None:
    """The example with the other target; None outside the editing task, or where the picture does not have that truth value."""
    if facet != "target" or example.meta["task"] != "edit":
        return None
    target = not bool(example.meta["target"])
    if program.compile(example.meta["program"]).evaluate(example.world) != target:
        return None
    inputs, meta = {**example.inputs, "target": target}, {**example.meta, "target": target, "edits": 0}
    return replace(example, id=f"{example.id}~{facet}", inputs=inputs, answer="STOP", meta=meta)


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, by the oracle's reading of the sentence and its simulator."""
    found = []
    for example in (first, second):
        picture = tuple(tuple(item) for item in example.world.items)
        try:
            meaning = understand(str(example.inputs["statement"]))
            end, _ = carry_out(example.answer, picture, example.meta["scene"] == "tower")
        except Unreadable as problem:
            return [f"{example.id}: {problem}"]
        if holds(meaning, end) != example.inputs["target"]:
            found.append(f"after the edits of {example.id} the statement has the wrong truth value")
    differing = [name for name in first.inputs if first.inputs[name] != second.inputs.get(name)]
    if differing != [facet] or set(first.inputs) != set(second.inputs) or first.world != second.world:
        found.append(f"the examples differ in {', '.join(differing) or 'nothing'}, not in {facet} alone")
    if first.answer == second.answer:
        found.append("the answers must differ")
    return found
