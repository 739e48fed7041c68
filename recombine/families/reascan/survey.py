"""Figures about a data set, as the paper shows them: action lengths and distractors (Figure 4), words and worlds (Figure 5).

Also how often training shows the parts of what a1 to b2 hold out (sections 6.2 and 6.3), and how many words are needed at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

from recombine.core import Example
from recombine.families.reascan import oracle_reader
from recombine.families.reascan.plan import Command
from recombine.grid.canvas import Canvas
from recombine.grid.draw import FAINT, INK, PAPER
from recombine.grid.world import World

NECESSITY_SAMPLE = 400
"""Necessity is judged on this many examples at most, spread evenly over the file."""
_STRATEGIES = ("relation", "attribute", "isomorphism", "random")
_BAR = "#4a7bd8"


def survey(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Counts by name, ready for JSON; `pictures` draws them."""
    worlds = [cast(World, example.world) for example in examples]
    commands = [cast(Command, example.plan) for example in examples]
    phrases = [phrase for command in commands for phrase in command.phrases]
    things = [thing for world in worlds for thing in world.things]
    answers = [example.answer.split(",") if example.answer else [] for example in examples]
    return {
        "examples": len(examples),
        "distinct_commands": len({str(example.inputs["command"]) for example in examples}),
        "patterns": _counts("-".join(map(str, command.widths)) or "simple" for command in commands),
        "action_lengths": _counts(len(answer) for answer in answers),
        "objects_per_world": _counts(len(world.things) for world in worlds),
        "distractors": _distractors(examples),
        "verbs": _counts(command.verb for command in commands),
        "adverbs": _counts(command.adverb or "none" for command in commands),
        "directions": _counts(world.direction_to(world.things[0]) for world in worlds),
        "moving": _share("push" in a or "pull" in a for a, c in zip(answers, commands, strict=True) if c.verb != "walk"),
        "in_commands": {
            "sizes": _counts(phrase.size or "none" for phrase in phrases),
            "colors": _counts(phrase.color or "none" for phrase in phrases),
            "shapes": _counts(phrase.shape or "object" for phrase in phrases),
            "relations": _counts(r for command in commands for r in command.description.relations[1:]),
            "determiners": _counts(d for example in examples for d in _determiners(example)),
        },
        "in_worlds": {
            "sizes": _counts(thing.size for thing in things),
            "colors": _counts(thing.color for thing in things),
            "shapes": _counts(thing.shape for thing in things),
            "target_shapes": _counts(world.things[0].shape for world in worlds),
            "target_rows": _counts(world.things[0].row for world in worlds),
            "target_columns": _counts(world.things[0].column for world in worlds),
        },
        "pivots": {
            "column_of_row_pivots": _pivots(examples, "row", lambda thing: thing.column),
            "row_of_column_pivots": _pivots(examples, "column", lambda thing: thing.row),
        },
        "exposure": exposure(worlds, commands),
        "necessity": necessity(examples),
    }


def _counts(values: Iterable[Hashable]) -> dict[str, int]:
    found = Counter(values)
    return {str(key): found[key] for key in sorted(found, key=lambda key: (isinstance(key, str), key))}


def _share(values: Iterable[bool]) -> float | None:
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else None


def _determiners(example: Example) -> list[str]:
    """Of all phrases but the first, which always has "the"."""
    return [noun.determiner for noun in oracle_reader.understand(str(example.inputs["command"])).nouns[1:]]


def _distractors(examples: Sequence[Example]) -> dict[str, float | None]:
    """The share of examples with each kind of distractor, where that is known."""
    found: dict[str, float | None] = {}
    for kind in _STRATEGIES:
        known = []
        for example in examples:
            written = example.meta.get("claims", {}).get(f"has_{kind}_distractor", example.meta.get(f"{kind}_distractor"))
            if written is not None:
                known.append(bool(written))
        found[kind] = _share(known)
    return found


def _pivots(examples: Sequence[Example], relation: str, place: Callable[[Any], int]) -> dict[str, int]:
    return _counts(
        place(example.world.things[k])
        for example in examples
        for k, name in enumerate(example.plan.description.relations)
        if name == relation
    )


def exposure(worlds: Sequence[World], commands: Sequence[Command]) -> dict[str, int]:
    """How many examples show the parts of the held-out combinations (and, in a sound training set, never these themselves)."""
    said: Counter[str] = Counter()
    for world, command in zip(worlds, commands, strict=True):
        phrases, relations = command.phrases, set(command.description.relations[1:])
        said.update({f"says {p.color} {p.shape}" for p in phrases if (p.color, p.shape) in _A1_PARTS})
        said.update({f"says {p.size} {p.shape}" for p in phrases if (p.size, p.shape) in _A3_PARTS})
        red_squares = [i for i, t in enumerate(world.things) if (t.color, t.shape) == ("red", "square")]
        said["a red square in the background"] += any(i >= len(phrases) for i in red_squares)
        said["a red square mentioned"] += any(i < len(phrases) for i in red_squares)
        for first, second in (("row", "inside"), ("size", "inside"), ("row", "size")):
            said[f"{first} and {second}"] += first in relations and second in relations
    return dict(sorted(said.items()))


_A1_PARTS = {("yellow", "square"), ("yellow", "cylinder"), ("blue", "square"), ("red", "square")}
_A3_PARTS = {("small", "cylinder"), ("small", "square"), ("big", "cylinder")}


def necessity(examples: Sequence[Example]) -> dict[str, float | None]:
    """The share of words and clauses, by kind, without which the command would mean several objects."""
    step = max(1, -(-len(examples) // NECESSITY_SAMPLE))
    needed: dict[str, list[bool]] = {kind: [] for kind in oracle_reader.KINDS}
    for example in examples[::step]:
        said = oracle_reader.understand(str(example.inputs["command"]))
        for code, shorter in oracle_reader.each_omission(said.nouns):
            needed[oracle_reader.KINDS[code % 8]].append(len(oracle_reader.means(example.world, shorter, limit=2)) > 1)
    return {kind: _share(values) for kind, values in needed.items()}


# --- pictures --------------------------------------------------------------------------------------------------------


def pictures(figures: Mapping[str, Any]) -> dict[str, Canvas]:
    """A bar chart for each count of a survey, by name (`action_lengths`, `in_commands.colors`, …)."""
    found: dict[str, Canvas] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping) and any(isinstance(inner, Mapping) for inner in value.values()):
            found |= {f"{name}.{inner}": bars(f"{name}: {inner}", counts) for inner, counts in value.items()}
        elif isinstance(value, Mapping):
            found[name] = bars(name, value)
    return found


def bars(title: str, counts: Mapping[str, Any]) -> Canvas:
    """A small bar chart; values of None are left out."""
    shown = {key: float(value) for key, value in counts.items() if value is not None}
    width, height, left, base = 360.0, 190.0, 16.0, 150.0
    canvas = Canvas(width, height, PAPER, title)
    canvas.write(left, 24, title.replace("_", " "), size=13, fill=INK, bold=True)
    top = max(shown.values(), default=0.0) or 1.0
    slot = (width - 2 * left) / max(1, len(shown))
    every = -(-len(shown) // 12)
    for k, (key, value) in enumerate(shown.items()):
        tall = (base - 46) * value / top
        canvas.rect(left + k * slot + 0.12 * slot, base - tall, 0.76 * slot, tall, fill=_BAR, radius=1.5)
        if len(shown) <= 9:
            label = f"{value:g}" if value < 10_000 else f"{value / 1000:.0f}k"
            canvas.write(left + (k + 0.5) * slot, base - tall - 4, label, size=9, fill=INK, anchor="middle")
        if k % every == 0:
            canvas.write(left + (k + 0.5) * slot, base + 14, key[:14], size=9, fill=FAINT, anchor="middle")
    canvas.line(((left, base), (width - left, base)), stroke=FAINT)
    return canvas
