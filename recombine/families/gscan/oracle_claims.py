"""What each gSCAN split claims of its rows, judged by the oracle's own reading. A new split needs its entry in `CLAIMS`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from recombine.core import Claim
from recombine.families.gscan.oracle_fields import Reading
from recombine.families.gscan.oracle_reader import read_any
from recombine.predicates.judge import Seen, holds

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.grid.world import World

Shows = Callable[["World", Reading], bool]
"""Whether an example shows a combination."""

HELD_OUT: Mapping[str, Shows] = {
    "visual": lambda w, _: w.things[0].name == "red square",
    "situational_1": lambda w, _: w.things[0].row > w.row and w.things[0].column < w.column,
    "situational_2": lambda w, r: r.size == "small" and (w.things[0].shape, w.things[0].size) == ("circle", 2),
    "contextual": lambda w, r: r.verb == "push" and (w.things[0].shape, w.things[0].size) == ("square", 3),
    "adverb_1": lambda _, r: r.manner == "cautiously",
    "adverb_2": lambda _, r: r.verb == "pull" and r.manner == "while spinning",
    "visual_easier": lambda w, r: r.color == "yellow" and w.things[0].name == "yellow square",
}
"""The seven published combinations that `compositional` keeps out of training."""


def held_out(world: World, reading: Reading) -> set[str]:
    """The published combinations that the example shows."""
    return {name for name, shows in HELD_OUT.items() if shows(world, reading)}


def _main_claim(example: Example, part: str) -> str:
    """Training shows no held-out combination, but for "cautiously" in its first k rows; so does this test."""
    shown = _shown(example)
    if shown and not (part == "train" and shown == {"adverb_1"} and _is_shot(example)):
        return f"it shows the held-out combination {', '.join(sorted(shown))}"
    return _drawn_part(example, "train" if part == "train" and shown else part)


def _is_shot(example: Example) -> bool:
    """Whether the row is among the first k of its part, by its id; rows of files by others may stand anywhere."""
    index = example.id.rpartition("/")[2]
    is_number = re.fullmatch("[0-9]{1,18}", index) is not None
    return "shots" not in example.meta or (is_number and int(index) < int(example.meta["shots"]))


def _held_out_claim(name: str) -> Claim:
    """The test shows this combination and no other; training is that of `compositional`."""

    def claim(example: Example, part: str) -> str:
        if part != "test":
            return _main_claim(example, part)
        shown = _shown(example)
        if shown != {name}:
            return f"it shows {', '.join(sorted(shown)) or 'no held-out combination'}, not {name} alone"
        return _drawn_part(example, part) if name == "adverb_1" else ""

    return claim


def own_claim(shows: Shows) -> Claim:
    """The claim of a split with a training part of its own: the test shows the combination, and nothing else does."""

    def claim(example: Example, part: str) -> str:
        reading = read_any(str(example.inputs["command"]))
        is_shown = reading is not None and shows(example.world, reading)
        if is_shown != (part == "test"):
            return f"it {'shows' if is_shown else 'does not show'} the held-out combination"
        return "" if part == "test" else _drawn_part(example, part)

    return claim


def read_facets(example: Example, reading: Reading) -> Seen:
    """What a predicate can say of an example, read from its command, its world and its answer."""
    world: World = example.world
    target = world.things[0]
    down, right = target.row - world.row, target.column - world.column
    actions = example.answer.split(",") if example.answer else []
    pushes = actions.count("push") + actions.count("pull")
    return {
        "verb": reading.verb,
        "adverb": reading.manner or "none",
        "size_word": reading.size or "none",
        "color_word": reading.color or "none",
        "target.size": target.size,
        "target.color": target.color,
        "target.shape": target.shape,
        "direction": ("s" if down > 0 else "n" if down < 0 else "") + ("e" if right > 0 else "w" if right < 0 else ""),
        "distance": abs(down) + abs(right),
        "action_count": len(actions),
        "object_count": len(world.things),
        "cells_moved": pushes if target.size < 3 else pushes // 2,
    }


def _predicate_claim(example: Example, part: str) -> str:
    """The test satisfies the predicate of the split, and nothing else does."""
    text, reading = str(example.meta.get("predicate", "")), read_any(str(example.inputs["command"]))
    is_shown = reading is not None and holds(text, read_facets(example, reading))
    if is_shown != (part == "test"):
        return f"it {'satisfies' if is_shown else 'does not satisfy'} {text!r}"
    return "" if part == "test" else _drawn_part(example, part)


def _length_claim(example: Example, part: str) -> str:
    """Training has at most `cutoff` actions; the test needs more."""
    count, cutoff = example.answer.count(",") + 1 if example.answer else 0, example.meta.get("cutoff")
    if cutoff is None:
        return "its cutoff is not known"
    if (count > int(cutoff)) != (part == "test"):
        return f"it has {count} actions, and the cutoff is {cutoff}"
    return "" if part == "test" else _drawn_part(example, part)


def _shown(example: Example) -> set[str]:
    reading = read_any(str(example.inputs["command"]))
    return held_out(example.world, reading) if reading else set()


def _drawn_part(example: Example, part: str) -> str:
    """In the sound recipe command, agent cell and target cell decide the part, whatever the seed."""
    if example.recipe != "sound":
        return ""
    own = part_of(example, example.world)
    return "" if own == part else f"this command with these cells belongs to {own}"


CLAIMS: Mapping[str, Claim] = {
    "compositional": _main_claim,
    **{name: _held_out_claim(name) for name in HELD_OUT},
    "target_lengths": _length_claim,
    "hold_out": _predicate_claim,
}
"""Split -> its claim. A new split needs its entry here."""


def part_of(example: Example, world: World) -> str:
    """The part that a SplitMix64 of command number, agent cell and target cell assigns."""
    word = (_number(str(example.inputs["command"])) * 1024 + world.row * world.size + world.column) * 1024
    word += world.things[0].row * world.size + world.things[0].column
    word = ((word ^ 0x675343414E203031) + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    word ^= word >> 31
    return {0: "test", 1: "validation"}.get((word >> 40) % 10, "train")


def _number(command: str) -> int:
    """A command's number: verb, adverb, noun, colour and size as digits."""
    reading = read_any(command)
    if reading is None:
        raise ValueError(f"{command!r} is not a command")
    digits = (
        (("walk", "push", "pull"), reading.verb),
        (("", "while zigzagging", "while spinning", "cautiously", "hesitantly"), reading.manner),
        (("circle", "cylinder", "square"), reading.noun),
        (("", "red", "blue", "green", "yellow"), reading.color),
        (("", "small", "big"), reading.size),
    )
    number = 0
    for values, value in digits:
        number = number * len(values) + values.index(value)
    return number
