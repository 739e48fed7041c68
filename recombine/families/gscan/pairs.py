"""Matched pairs of gSCAN."""

from __future__ import annotations

from recombine.core import Example
from recombine.families.gscan.oracle import gold
from recombine.families.gscan.oracle_reader import read_any, referents
from recombine.families.gscan.plan import Command, spoken
from recombine.grid import pairs, wording
from recombine.grid.matching import fitting
from recombine.grid.world import World

PAIRS = pairs.PAIRS


def partner(example: Example, facet: str) -> Example | None:
    """The example with this facet changed; None if it has no such partner."""
    return pairs.partner(example, facet, _say, _is_bystander, _means)


def _say(example: Example, command: Command) -> str:
    """The command in the wording of the example."""
    is_natural = example.meta.get(wording.WORDING) == wording.NATURAL
    return wording.said_again(example, spoken(command)) if is_natural else str(command)


def _is_bystander(example: Example, place: int) -> bool:
    """An object of another shape than the noun is never compared with the target."""
    return bool(example.world.things[place].shape != example.plan.phrase.shape)


def _means(world: World, command: Command) -> tuple[int, ...]:
    return fitting(world, command.phrase, "superlative")


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, by the oracle's reader and planner."""
    found = []
    readings = []
    for example in (first, second):
        reading = read_any(str(example.inputs["command"]))
        if reading is None:
            return [f"{example.inputs['command']!r} is no command"]
        readings.append(reading)
        world: World = example.world
        if referents(world.things, reading.size, reading.color, reading.noun) != [0]:
            found.append(f"{example.inputs['command']!r} does not mean the target alone")
        if ",".join(gold(world, world.things[0], reading.verb, reading.manner)) != example.answer:
            found.append(f"the actions of {example.id} are wrong")
    a, b = readings
    words = {
        "verb": (a.verb, b.verb),
        "adverb": (a.manner, b.manner),
        "phrase": ((a.size, a.color, a.noun), (b.size, b.color, b.noun)),
    }
    differing = [name for name, (x, y) in words.items() if x != y]
    differing += ["bystander" if name == "color" else name for name in pairs.world_differences(first.world, second.world)]
    if differing != [facet]:
        found.append(f"the examples differ in {', '.join(differing) or 'nothing'}, not in {facet} alone")
    if (first.answer == second.answer) != (PAIRS[facet] == "invariance"):
        found.append("the answers must be equal for an invariance pair, and differ for a sensitivity pair")
    return found
