"""The claims of a released file about an example, other than command, world and actions, derived again.

Like the oracle, whose part it is, a deliberate second implementation: it shares no code with `native`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recombine.core import Problem, Severity

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.grid.world import Thing, World


@dataclass(frozen=True)
class Reading:
    """A command taken apart."""

    verb: str
    size: str
    color: str
    noun: str
    manner: str


def claim_laws(example: Example, world: World, reading: Reading, true: Mapping[str, Any]) -> list[Problem]:
    """The other claims of a released file."""
    claims = example.meta.get("claims")
    if not claims:
        return []
    shapes, colors = ("square", "cylinder", "circle"), ("red", "green", "yellow", "blue")
    target = world.things[0]
    tokens = str(example.inputs["command"]).replace("while ", "while_").replace(" ", ",").replace("while_", "while ")
    expected: dict[str, Any] = {
        "meaning": tokens,
        "derivation": derivation(reading),
        "verb_in_command": reading.verb,
        "manner": reading.manner,
        "referred_target": f"{reading.size} {reading.color} {reading.noun}",
        "distance_to_target": str(true["distance"]),
        "direction_to_target": true["direction"],
    }
    found = [
        Problem("wrong_field", f"{name} is {str(claims[name])[:80]!r}, but must be {value!r}")
        for name, value in expected.items()
        if name in claims and claims[name] != value
    ]
    vectors = ["".join(str(int(x)) for x in _bits(t, shapes, colors)) for t in world.things]
    if sorted(vectors) != sorted(claims["vectors"]) or claims.get("target_object", {}).get("vector", vectors[0]) != vectors[0]:
        severity: Severity = "artifact"
        text = f"the bits of a {target.color} {target.shape} of size {target.size} are not in the usual order"
        found.append(Problem("wrong_vector", text, severity))
    return found


def _bits(thing: Thing, shapes: tuple[str, ...], colors: tuple[str, ...]) -> list[bool]:
    return [thing.size == k for k in (1, 2, 3, 4)] + [thing.shape == s for s in shapes] + [thing.color == c for c in colors]


def derivation(reading: Reading) -> str:
    """The original grammar's derivation, written as a recursion over the parts of the command."""
    noun_rules, noun_words = "NP -> NN", f"T:{reading.noun},NT:NN -> {reading.noun}"
    if reading.size and reading.color:
        noun_rules += ",NP -> JJ NP,NP -> JJ NP"
        noun_words = f"T:{reading.color},NT:JJ -> {reading.size}:JJ -> {reading.color},T:{reading.size},{noun_words}"
    elif reading.size or reading.color:
        noun_rules += ",NP -> JJ NP"
        noun_words = f"T:{reading.size or reading.color},NT:JJ -> {reading.size or reading.color},{noun_words}"
    if reading.verb == "walk":
        rules, words = (
            f"{noun_rules},DP -> 'a' NP,VP -> VV_intrans 'to' DP",
            f"T:walk,NT:VV_intransitive -> walk,T:to,T:a,{noun_words}",
        )
    else:
        head = f"T:{reading.verb},NT:VV_transitive -> {reading.verb}"
        rules, words = f"{noun_rules},DP -> 'a' NP,VP -> VV_trans DP", f"{head},T:a,{noun_words}"
    if reading.manner:
        rules, words = f"{rules},VP -> VP RB", f"{words},T:{reading.manner},NT:RB -> {reading.manner}"
    return f"{rules},ROOT -> VP;{words}"
