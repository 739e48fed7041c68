"""What the released files of both benchmarks write alike: objects and situations, vocabularies, prediction files.

The two differ in the bits of an object's vector, so functions that write one take the benchmark's layout.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from recombine.errors import FileError, RecombineError, shown
from recombine.files import read_json
from recombine.grid.codes import ACTIONS, COLORS, HEADINGS
from recombine.grid.tensor import BitOrder
from recombine.grid.world import Thing, World

MAX_SIDE = 24
"""The largest grid that is read."""
MALFORMED = (RecombineError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
"""What reading a record that is none can raise."""


# --- situations ------------------------------------------------------------------------------------------------------


def placed(thing: Thing, layout: BitOrder) -> dict[str, Any]:
    """One object as the released files write it."""
    return {
        "vector": layout.vector(thing),
        "position": {"row": str(thing.row), "column": str(thing.column)},
        "object": {"shape": thing.shape, "color": thing.color, "size": str(thing.size)},
    }


def situation(world: World, layout: BitOrder) -> dict[str, Any]:
    """The world as the released files write it; object 0 is the target."""
    target = world.things[0]
    return {
        "grid_size": world.size,
        "agent_position": {"row": str(world.row), "column": str(world.column)},
        "agent_direction": HEADINGS.index(world.heading),
        "target_object": placed(target, layout),
        "distance_to_target": str(world.distance_to(target)),
        "direction_to_target": world.direction_to(target),
        "placed_objects": {str(i): placed(thing, layout) for i, thing in enumerate(world.things)},
        "carrying_object": None,
    }


def read_thing(value: Mapping[str, Any], shapes: Sequence[str], role: str = "") -> Thing:
    """One released object; a colour or shape that the benchmark has not is a ValueError."""
    kind, position = value["object"], value["position"]
    if kind["color"] not in COLORS or kind["shape"] not in shapes:
        raise ValueError(f"unknown object {shown(kind)}")
    return Thing(int(kind["size"]), kind["color"], kind["shape"], int(position["row"]), int(position["column"]), role)


def read_world(value: Mapping[str, Any], things: Sequence[Thing]) -> World:
    """The world of a released situation with these objects, within limits; one that cannot be is a ValueError."""
    size = int(value["grid_size"])
    if not 1 <= size <= MAX_SIDE:
        raise ValueError(f"the grid size is {size}")
    position, heading = value["agent_position"], HEADINGS[int(value["agent_direction"]) % 4]
    world = World(size, tuple(things), int(position["row"]), int(position["column"]), heading)
    if world.problems:
        raise ValueError("; ".join(world.problems[:3]))
    return world


def read_actions(text: Any) -> list[str]:
    """The actions of a released record; an unknown one is a ValueError."""
    actions = [word for word in str(text).split(",") if word]
    if any(action not in ACTIONS for action in actions):
        raise ValueError(f"unknown action in {shown(text)}")
    return actions


def reason(problem: Exception) -> str:
    """Why a record is none, in a few words."""
    return (f"no {problem}" if isinstance(problem, KeyError) else str(problem))[:200]


# --- other files of the original's models ----------------------------------------------------------------------------


def vocabulary(words: Iterable[str]) -> dict[str, Any]:
    """A vocabulary as the original's models store it in JSON: three marks, then the words as they first come."""
    counts = Counter(words)
    listed = ["<PAD>", "<SOS>", "<EOS>", *counts]
    return {
        "sos_token": "<SOS>",
        "eos_token": "<EOS>",
        "pad_token": "<PAD>",
        "idx_to_word": listed,
        "word_to_idx": {word: i for i, word in enumerate(listed)},
        "word_frequencies": dict(counts),
    }


def prediction(words: Sequence[str], derivation: str, seen: Mapping[str, Any], gold: str, answer: str) -> dict[str, Any]:
    """One entry of a prediction file: the command's words, how it is derived, the situation, gold actions and the answer."""
    predicted, target = [word for word in answer.split(",") if word], gold.split(",")
    equal = sum(a == b for a, b in zip(predicted, target, strict=False))
    return {
        "input": list(words),
        "prediction": predicted,
        "derivation": [derivation],
        "target": target,
        "situation": [seen],
        "attention_weights_input": [],
        "attention_weights_situation": [],
        "accuracy": 100 * equal / max(len(target), len(predicted), 1),
        "exact_match": predicted == target,
    }


def write_list(values: Iterable[Mapping[str, Any]], out: TextIO) -> None:
    """The values as a JSON list, one a line."""
    out.write("[")
    for i, value in enumerate(values):
        out.write((",\n" if i else "\n") + json.dumps(value))
    out.write("\n]\n")


def read_prediction_rows(path: Path) -> Iterator[tuple[int, dict[str, Any], str]]:
    """(number, record as in a released document, predicted actions) of a prediction file; any other file is an error."""
    rows = read_json(path)
    if not isinstance(rows, list):
        raise FileError(f"{shown(str(path))} is no prediction file: it is not a list.")
    for i, row in enumerate(rows):
        try:
            record = {
                "command": ",".join(row["input"]),
                "situation": row["situation"][0],
                "target_commands": ",".join(row["target"]),
            }
            yield i, record, ",".join(row["prediction"])
        except MALFORMED as problem:
            raise not_a_prediction(path, i, problem) from None


def not_a_prediction(path: Path, row: int, problem: Exception) -> FileError:
    """The error for a row of a prediction file that is none."""
    return FileError(f"row {row} of {shown(str(path))} is no prediction: {shown(str(problem))}.")
