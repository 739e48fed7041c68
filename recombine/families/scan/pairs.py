"""Matched pairs of SCAN and NACS: two commands that differ in one facet of one clause, or in their conjunction.

`order` is the invariance pair of SCAN: "A and B" means the same as "B after A". NACS has none, since its two inputs would be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recombine import keys
from recombine.core import Example
from recombine.families.scan.generate import pair, texts
from recombine.families.scan.oracle import meaning, read_facets
from recombine.families.scan.plan import CLAUSES, Clause, Command, format_actions

SENSITIVE = ("verb", "direction", "manner", "repeat", "conjunction")
PAIRS: Mapping[str, str] = {**dict.fromkeys(SENSITIVE, "sensitivity"), "order": "invariance"}


def pairs_of(family: str) -> Mapping[str, str]:
    """Facet -> kind of pair."""
    return PAIRS if family == "scan" else {name: kind for name, kind in PAIRS.items() if name != "order"}


def partner(example: Example, facet: str) -> Example | None:
    """The command with this facet changed; None if this command has no such partner, or one that means the same."""
    command: Command = example.plan
    stream = keys.Stream("pair", example.id, facet)
    changed = [other for other in _others(command, facet) if (other.actions() == command.actions()) == (facet == "order")]
    if not changed:
        return None
    other = stream.choice(changed)
    style = str(example.meta.get("style", "file"))
    meta = {name: example.meta[name] for name in ("recipe", "split", "part", "seed") if name in example.meta}
    return pair(example.family, f"{example.id}~{facet}", str(other), format_actions(other.actions(), style), meta)


def _others(command: Command, facet: str) -> list[Command]:
    if facet == "conjunction":
        return [replace(command, conjunction="after" if command.conjunction == "and" else "and")] if command.conjunction else []
    if facet == "order":
        if command.second is None or command.first == command.second:
            return []
        swapped = "after" if command.conjunction == "and" else "and"
        return [Command(command.second, swapped, command.first)]
    found = [replace(command, first=clause) for clause in _neighbours(command.first, facet)]
    if command.second is not None:
        found += [replace(command, second=clause) for clause in _neighbours(command.second, facet)]
    return found


def _neighbours(clause: Clause, facet: str) -> list[Clause]:
    """The clauses that differ from this one in this facet alone."""
    own = _facets(clause)
    return [
        other
        for other, values in ((other, _facets(other)) for other in CLAUSES)
        if [name for name in values if values[name] != own[name]] == [facet]
    ]


def _facets(clause: Clause) -> dict[str, object]:
    phrase = clause.phrase
    return {"verb": phrase.verb, "direction": phrase.side, "manner": phrase.manner, "repeat": clause.times}


# --- the oracle: from the texts alone, by the oracle's own reading ---------------------------------------------------


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, as sentences. Reads the two texts anew and shares no code with `partner`."""
    (a, a_actions), (b, b_actions) = texts(first), texts(second)
    found = []
    for command, actions in ((a, a_actions), (b, b_actions)):
        if meaning(command) is None:
            return [f"{command[:80]!r} is no command"]
        if meaning(command) != tuple(actions.split()):
            found.append(f"{command!r} does not mean {actions[:80]!r}")
    if (a_actions == b_actions) != (facet == "order"):
        found.append(f"{a!r} and {b!r} must {'mean the same' if facet == 'order' else 'mean different things'}")
    differing = _differences(a, b)
    due = ["order"] if facet == "order" else [facet]
    if differing != due:
        found.append(f"{a!r} and {b!r} differ in {', '.join(differing) or 'nothing'}, not in {facet} alone")
    return found


def _differences(a: str, b: str) -> list[str]:
    """The facets in which two commands differ; `order` alone if they are the same clauses the other way round."""
    for one, other in (("and", "after"), ("after", "and")):
        if f" {one} " in a and f" {other} " in b and a.split(f" {one} ") == b.split(f" {other} ")[::-1]:
            return ["order"]
    left, right = read_facets(a), read_facets(b)
    found = []
    for name in SENSITIVE:
        x, y = left[name], right[name]
        if isinstance(x, tuple) and isinstance(y, tuple):
            count = sum(p != q for p, q in zip(x, y, strict=False)) + abs(len(x) - len(y))
            found += [name] * count
        elif x != y:
            found.append(name)
    return found
