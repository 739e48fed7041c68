"""Matched pairs of ReaSCAN."""

from __future__ import annotations

from typing import Any

from recombine.core import Example
from recombine.families.reascan.oracle import validate
from recombine.families.reascan.oracle_reader import means, understand
from recombine.families.reascan.plan import spoken
from recombine.grid import pairs, wording
from recombine.grid.matching import bindings, fitting, referents
from recombine.grid.world import World

PAIRS = pairs.PAIRS
MEANING = frozenset(
    {"bad_world", "bad_command", "ambiguous", "no_referent", "shared_object", "wrong_determiner", "wrong_label"}
)
"""The oracle's codes that concern what a command means and which actions are right."""


def partner(example: Example, facet: str) -> Example | None:
    """The example with this facet changed; None if it has no such partner."""
    return pairs.partner(example, facet, _say, _is_bystander, _means)


def _say(example: Example, command: Any) -> str:
    """The text with another verb or adverb; determiners and phrases stay as they were said."""
    text, old = str(example.inputs["command"]), example.plan
    if example.meta.get(wording.WORDING) == wording.NATURAL:
        return wording.said_again(example, spoken(text)._replace(verb=command.verb, adverb=command.adverb))
    verbs = {"walk": "walk to", "push": "push", "pull": "pull"}
    middle = text.removeprefix(verbs[old.verb]).removesuffix(old.adverb).strip()
    return " ".join(word for word in (verbs[command.verb], middle, command.adverb) if word)


def _is_bystander(example: Example, place: int) -> bool:
    """No reading of the command binds a phrase to the object. Whether its colour matters is for `_means` to say."""
    found = bindings(example.world, example.plan.description, "pairwise")
    return all(place not in binding for binding in found)


def _means(world: World, command: Any) -> tuple[int, ...]:
    """The objects that the command and each phrase fit, and every way to bind the phrases: determiners follow from them."""
    said = command.description
    fits = [place for phrase in said.phrases for place in (*fitting(world, phrase, "pairwise"), -1)]
    bound = [place for binding in bindings(world, said, "pairwise") for place in (*binding, -1)]
    return (*referents(world, said, "pairwise"), -1, *fits, *bound)


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, by the oracle's reader and its laws of meaning and of answers."""
    found = [f"{e.id}: {p.text}" for e in (first, second) for p in validate(e) if p.code in MEANING]
    a, b = (understand(str(example.inputs["command"])) for example in (first, second))
    for example, said in ((first, a), (second, b)):
        if means(example.world, said.nouns) != {0}:
            found.append(f"{example.inputs['command']!r} does not mean the target alone")
    words = {"verb": (a.verb, b.verb), "adverb": (a.adverb, b.adverb), "phrase": (a.nouns, b.nouns)}
    differing = [name for name, (x, y) in words.items() if x != y]
    differing += ["bystander" if name == "color" else name for name in pairs.world_differences(first.world, second.world)]
    if differing != [facet]:
        found.append(f"the examples differ in {', '.join(differing) or 'nothing'}, not in {facet} alone")
    if (first.answer == second.answer) != (PAIRS[facet] == "invariance"):
        found.append("the answers must be equal for an invariance pair, and differ for a sensitivity pair")
    return found
