"""Matched pairs in grid worlds: another verb, another adverb, or another colour of an object that the command does not mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from recombine import keys
from recombine.core import Example
from recombine.grid.codes import ADVERBS, COLORS, VERBS
from recombine.grid.play import plan
from recombine.grid.world import Thing, World, inputs_of

PAIRS: Mapping[str, str] = {"verb": "sensitivity", "adverb": "sensitivity", "bystander": "invariance"}
IsBystander = Callable[[Example, int], bool]
Means = Callable[[World, Any], tuple[int, ...]]


def partner(
    example: Example, facet: str, say: Callable[[Example, Any], str], is_bystander: IsBystander, means: Means
) -> Example | None:
    """The same world with another verb or adverb, or the same command with one other object recoloured; None if there is none.

    `say` spells a command, `is_bystander` says which objects the command does not name, `means` finds the
    objects that a command and its phrases fit, which a recoloured bystander must not change.
    """
    stream = keys.Stream("pair", example.id, facet)
    if facet == "bystander":
        return _recoloured(example, stream, is_bystander, means)
    values = VERBS if facet == "verb" else ADVERBS
    own = getattr(example.plan, facet)
    candidates = [replace(example.plan, **{facet: value}) for value in values if value != own]
    stream.shuffle(candidates)
    for command in candidates:
        answer = ",".join(plan(example.world, 0, command.verb, command.adverb))
        if answer != example.answer:
            inputs = {**example.inputs, "command": say(example, command)}
            meta = {**example.meta, "verb": command.verb, "adverb": command.adverb}
            return replace(
                example, id=f"{example.id}~{facet}", inputs=inputs, answer=answer, plan=command, meta=_without_counts(meta)
            )
    return None


def _recoloured(example: Example, stream: keys.Stream, is_bystander: IsBystander, means: Means) -> Example | None:
    world: World = example.world
    places = [i for i in range(1, len(world.things)) if is_bystander(example, i)]
    stream.shuffle(places)
    for place in places:
        for color in stream.sample(COLORS, len(COLORS)):
            if color == world.things[place].color:
                continue
            things = (*world.things[:place], replace(world.things[place], color=color), *world.things[place + 1 :])
            changed = World(world.size, things, world.row, world.column, world.heading)
            if means(changed, example.plan) == means(world, example.plan):
                inputs = {**example.inputs, **inputs_of(changed)}
                name = f"{example.id}~bystander"
                return replace(example, id=name, inputs=inputs, world=changed, meta=_without_counts(example.meta))
    return None


def _without_counts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The notes of an example without those that a change may make untrue."""
    return {name: value for name, value in meta.items() if name not in ("action_count", "cells_moved", "interaction")}


def world_differences(a: World, b: World) -> list[str]:
    """In what two worlds differ, object by object: `agent`, `place`, `size`, `shape`, `color`, `objects`."""
    found = [] if (a.size, a.row, a.column, a.heading) == (b.size, b.row, b.column, b.heading) else ["agent"]
    if len(a.things) != len(b.things):
        return [*found, "objects"]

    def parts(thing: Thing) -> dict[str, object]:
        return {"place": (thing.row, thing.column), "size": thing.size, "shape": thing.shape, "color": thing.color}

    for x, y in zip(map(parts, a.things), map(parts, b.things), strict=True):
        found += [name for name in x if x[name] != y[name]]
    return found
