"""Matched pairs of CLUTRR: the same story with other names. The kinship must not change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recombine import keys
from recombine.core import Example
from recombine.families.clutrr.language.names import NAMES

PAIRS: Mapping[str, str] = {"name": "invariance"}


def partner(example: Example, facet: str) -> Example | None:
    """The story in which everybody has another name of the same gender; None where the names are not plain words."""
    if facet != "name":
        return None
    plan = example.plan
    stream = keys.Stream("pair", example.id, facet)
    taken = set(plan.names)
    renamed: dict[str, str] = {}
    for name, gender in zip(plan.names, plan.genders, strict=True):
        free = [other for other in NAMES[gender] if other not in taken and other not in str(example.inputs["story"])]
        if not name.isalpha() or not free:
            return None
        renamed[name] = stream.choice(free)
        taken.add(renamed[name])
    pattern = re.compile(r"\b(" + "|".join(sorted(map(re.escape, renamed), key=len, reverse=True)) + r")\b")

    def other(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: renamed[match[0]], value)
        if isinstance(value, list | tuple):
            return type(value)(other(item) for item in value)
        return value

    inputs = {name: value if name == "graph" else other(value) for name, value in example.inputs.items()}
    names = replace(plan, names=tuple(renamed[name] for name in plan.names))
    return replace(example, id=f"{example.id}~{facet}", inputs=inputs, plan=names)


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair: the two texts must be equal but for a one-to-one change of names."""
    if facet != "name":
        return [f"there are no pairs of the facet {facet!r}"]
    found = []
    old, new = list(first.inputs["entities"]), list(second.inputs["entities"])
    if len(old) != len(new) or len(set(new)) != len(new) or set(old) & set(new):
        return [f"{old} and {new} are not two different sets of names"]
    sides = {name: gender for gender, names in enumerate(NAMES) for name in names}
    if any(sides.get(a) != sides.get(b) for a, b in zip(old, new, strict=True)):
        found.append("a name changed its gender")
    numbered = []
    for names, example in ((old, first), (new, second)):
        words = re.split(r"(\w+)", f"{example.inputs['story']} | {example.inputs['question']} | {example.inputs['query']}")
        numbered.append([names.index(word) if word in names else word for word in words])
    if numbered[0] != numbered[1]:
        found.append("the texts differ in more than the names")
    if first.answer != second.answer or first.inputs.get("graph") != second.inputs.get("graph"):
        found.append("the answer or the graph changed with the names")
    return found
