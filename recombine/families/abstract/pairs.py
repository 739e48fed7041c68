"""Matched pairs of abstract tasks: the same demonstrations in another order. The output must not change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from recombine.core import Example

PAIRS: Mapping[str, str] = {"order": "invariance"}


def partner(example: Example, facet: str) -> Example | None:
    """The task with its demonstrations in reverse order; None if that is the same order."""
    shown = list(example.inputs["demonstrations"])
    if facet != "order" or shown == shown[::-1]:
        return None
    task = replace(example.world, demonstrations=example.world.demonstrations[::-1])
    inputs = {**example.inputs, "demonstrations": shown[::-1]}
    return replace(example, id=f"{example.id}~{facet}", inputs=inputs, world=task)


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair: only the order of the demonstrations may differ."""
    if facet != "order":
        return [f"there are no pairs of the facet {facet!r}"]
    found = []
    spelled = [[json.dumps(one, sort_keys=True) for one in example.inputs["demonstrations"]] for example in (first, second)]
    if spelled[0] == spelled[1] or sorted(spelled[0]) != sorted(spelled[1]):
        found.append("the demonstrations are not the same ones in another order")
    others = [{name: value for name, value in e.inputs.items() if name != "demonstrations"} for e in (first, second)]
    if others[0] != others[1]:
        found.append("more than the order of the demonstrations differs")
    if first.answer != second.answer:
        found.append("the answers must be equal")
    return found
