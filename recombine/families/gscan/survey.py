"""Figures about a data set: which words its commands need, what a blind guess earns, and how its worlds are spread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recombine.core import Example
from recombine.families.gscan.oracle import could_be_meant
from recombine.families.gscan.plan import TEMPLATES
from recombine.grid.matching import Phrase, fitting
from recombine.grid.world import World

READING = "superlative"
_NEEDS = ("both_needed", "color_suffices", "shape_suffices", "either_suffices")


def survey(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Necessity of words, chance by kind of command, reach of simple guesses, and the spread of directions and moves."""
    return {
        "examples": len(examples),
        "necessity": necessity(examples),
        "words_needed": words_needed(examples),
        "chance": chance(examples),
        "guess_without_command": guess_without_command(examples),
        "nearest_object": _share(_nearest_is_target(example.world) for example in examples),
        "directions": _counts(example.world.direction_to(example.world.things[0]) for example in examples),
        "moving": _share(_moves(example) for example in examples if example.plan.verb != "walk"),
        "action_lengths": _counts(example.answer.count(",") + 1 for example in examples),
    }


def necessity(examples: Sequence[Example]) -> dict[str, dict[str, Any]]:
    """For commands that say "yellow … square" or "red … square": are both words needed, does one suffice, or either?

    As the ReaSCAN paper counts it (section 3): the size word plays no part; the colour is needed if the world has another
    square of another colour, the shape if it has another thing of that colour. `words_needed` asks more.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in ("yellow square", "red square"):
        color, shape = name.split()
        of_kind = [e for e in examples if (e.plan.phrase.color, e.plan.phrase.shape) == (color, shape)]
        counts = Counter(_need(example.world, color, shape) for example in of_kind)
        shares = {need: round(counts[need] / len(of_kind), 4) for need in _NEEDS} if of_kind else {}
        found[name] = {"examples": len(of_kind), **shares}
    return found


def _need(world: World, color: str, shape: str) -> str:
    color_suffices = not any(t.color == color and t.shape != shape for t in world.things)
    shape_suffices = not any(t.shape == shape and t.color != color for t in world.things)
    return _NEEDS[color_suffices + 2 * shape_suffices]


def words_needed(examples: Sequence[Example]) -> dict[str, float | None]:
    """For size, colour and shape words: the share of examples in which the command without the word has several referents."""
    needed: dict[str, list[bool]] = defaultdict(list)
    for example in examples:
        phrase = example.plan.phrase
        for kind in ("size", "color", "shape"):
            if getattr(phrase, kind):
                rest = Phrase(**{**phrase.__dict__, kind: ""})
                needed[kind].append(len(fitting(example.world, rest, READING)) > 1)
    return {kind: _share(needed[kind]) for kind in ("size", "color", "shape")}


def chance(examples: Sequence[Example]) -> dict[str, dict[str, Any]]:
    """By kind of noun phrase: how many objects there are, and how often a guess among them would be right."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for example in examples:
        sizes[example.plan.template].append(len(example.world.things))
    return {
        template: {
            "examples": len(sizes[template]),
            "objects": round(sum(sizes[template]) / len(sizes[template]), 3),
            "chance_accuracy": round(sum(1 / n for n in sizes[template]) / len(sizes[template]), 4),
        }
        for template in TEMPLATES
        if sizes[template]
    }


def guess_without_command(examples: Sequence[Example]) -> dict[str, float | None]:
    """By kind of noun phrase: the accuracy of a guess from the world and the kind of phrase, without any word of it."""
    chances: dict[str, list[float]] = defaultdict(list)
    for example in examples:
        phrase, things = example.plan.phrase, example.world.things
        rivals = list(could_be_meant(things, phrase.size, phrase.color, phrase.shape))
        chances[example.plan.template].append(1 / len(rivals) if 0 in rivals else 1 / len(things))
    return {t: round(sum(chances[t]) / len(chances[t]), 4) for t in TEMPLATES if chances[t]}


def _nearest_is_target(world: World) -> bool:
    distances = [world.distance_to(thing) for thing in world.things]
    return distances[0] == min(distances) and distances.count(distances[0]) == 1


def _moves(example: Example) -> bool:
    return "push" in example.answer.split(",") or "pull" in example.answer.split(",")


def _share(facts: Iterable[bool]) -> float | None:
    listed = list(facts)
    return round(sum(listed) / len(listed), 4) if listed else None


def _counts(values: Iterable[Any]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}
