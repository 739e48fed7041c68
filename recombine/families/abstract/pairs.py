"""Matched pairs of abstract tasks.

`order`: the same demonstrations in another order; the output must not change. `scene`: the same demonstrations, and one object of the test that
the rule leaves alone has another colour; the output shows it, so it must change.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from recombine import keys
from recombine.core import Example
from recombine.families.abstract.answers import Scene, write_answer
from recombine.families.abstract.oracle import validate
from recombine.families.abstract.solver import solve
from recombine.grid.codes import COLORS
from recombine.grid.matching import bindings
from recombine.grid.world import World

PAIRS: Mapping[str, str] = {"order": "invariance", "scene": "sensitivity"}
MEANING = frozenset({"impossible_world", "wrong_label", "wrong_output", "wrong_rule", "undetermined"})
"""The oracle's codes that concern what the demonstrations leave and which output is right."""
READINGS = ("pairwise", "superlative")


def partner(example: Example, facet: str) -> Example | None:
    """The task with this facet changed; None if it has no such partner."""
    if facet == "order":
        return _reversed(example)
    return _recoloured(example) if facet == "scene" else None


def _reversed(example: Example) -> Example | None:
    """The task with its demonstrations in reverse order; None if that is the same order."""
    shown = list(example.inputs["demonstrations"])
    if shown == shown[::-1]:
        return None
    task = replace(example.world, demonstrations=example.world.demonstrations[::-1])
    inputs = {**example.inputs, "demonstrations": shown[::-1]}
    return replace(example, id=f"{example.id}~order", inputs=inputs, world=task)


def _recoloured(example: Example) -> Example | None:
    """The task in which one test object has another colour. The rule means the same objects, and the task stays determined."""
    test, output = example.world.test, example.world.output
    stream = keys.Stream("pair", example.id, "scene")
    choices = [
        (place, color)
        for place, thing in enumerate(test.things)
        if thing in output.things
        for color in COLORS
        if color != thing.color
    ]
    stream.shuffle(choices)
    meant = _meant(example, test)
    for place, color in choices:
        if any(place in binding for found in meant for binding in found):
            continue
        old = test.things[place]
        changed = Scene(test.size, (*test.things[:place], replace(old, color=color), *test.things[place + 1 :]))
        if _meant(example, changed) != meant:
            continue
        inputs = {**example.inputs, "test": changed.listed()}
        if not solve(inputs).is_determined:
            continue
        where = output.things.index(old)
        after = Scene(test.size, (*output.things[:where], replace(old, color=color), *output.things[where + 1 :]))
        answer = write_answer(str(example.inputs["answer_form"]), changed, after)
        if answer != example.answer:
            task = replace(example.world, test=changed, output=after)
            return replace(example, id=f"{example.id}~scene", inputs=inputs, answer=answer, world=task)
    return None


def _meant(example: Example, scene: Scene) -> list[list[tuple[int, ...]]]:
    """Every way to bind the phrases of the description to objects, under both readings of size words."""
    world = World(scene.size, scene.things, 0, 0)
    return [[tuple(found) for found in bindings(world, example.plan.description, reading)] for reading in READINGS]


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair: only the order of the demonstrations, or one colour of the test input, may differ."""
    if facet not in PAIRS:
        return [f"there are no pairs of the facet {facet!r}"]
    changing = "demonstrations" if facet == "order" else "test"
    others = [{name: value for name, value in e.inputs.items() if name != changing} for e in (first, second)]
    found = [] if others[0] == others[1] else [f"more than {changing} differs"]
    if (first.answer == second.answer) != (PAIRS[facet] == "invariance"):
        found.append("the answers must be equal for an invariance pair, and differ for a sensitivity pair")
    spelled = [[json.dumps(one, sort_keys=True) for one in example.inputs[changing]] for example in (first, second)]
    if facet == "order":
        if spelled[0] == spelled[1] or sorted(spelled[0]) != sorted(spelled[1]):
            found.append("the demonstrations are not the same ones in another order")
        return found
    before, after = (Counter(texts) for texts in spelled)
    gone, new = ([json.loads(text) for text in some.elements()] for some in (before - after, after - before))
    if len(gone) != 1 or len(new) != 1 or {name for name in gone[0] if gone[0][name] != new[0][name]} != {"color"}:
        found.append("the test inputs differ in something else than the colour of one object")
    return found + [problem.text for problem in validate(second) if problem.code in MEANING]
