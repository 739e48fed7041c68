"""The laws of a gSCAN example. A deliberate second implementation: it shares no code with the generator, the planner or the simulator.

It reads the command word by word (`oracle_reader`), walks the plan on coordinates, and replays the answer on a dictionary of cells. The
claims of the splits stand in `oracle_claims`. Do not merge it with `recombine.grid`: that the two agree is the proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from recombine.checks import claim_problems
from recombine.core import Problem, Severity
from recombine.families.gscan.oracle_claims import CLAIMS
from recombine.families.gscan.oracle_fields import Reading, claim_laws
from recombine.families.gscan.oracle_reader import NOUNS, pairwise, reader_of, referents

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.grid.world import Thing, World

_AHEAD = {"east": (0, 1), "south": (1, 0), "west": (0, -1), "north": (-1, 0)}
_RIGHT = {"east": "south", "south": "west", "west": "north", "north": "east"}
_LEFT = {after: before for before, after in _RIGHT.items()}
_BACK = {"east": "west", "west": "east", "north": "south", "south": "north"}


# --- the answer ------------------------------------------------------------------------------------------------------


def gold(world: World, target: Thing, verb: str, manner: str) -> list[str]:
    """The one right action sequence."""
    said: list[str] = []
    facing = world.heading
    for way in _route(target.row - world.row, target.column - world.column, manner):
        said += _manner_before(manner, "spin") + _turns(facing, way) + _manner_before(manner, "look")
        said += ["walk", *_manner_after(manner)]
        facing = way
    if verb == "walk":
        return said
    down, right = _AHEAD[facing if verb == "push" else _BACK[facing]]
    occupied = {(t.row, t.column) for t in world.things}
    row, column = target.row + down, target.column + right
    while 0 <= row < world.size and 0 <= column < world.size and (row, column) not in occupied:
        for _ in range(1 if target.size < 3 else 2):
            said += _manner_before(manner, "spin") + _manner_before(manner, "look") + [verb, *_manner_after(manner)]
        row, column = row + down, column + right
    return said


def _route(down: int, right: int, manner: str) -> list[str]:
    """The unit steps: all horizontal ones first, or in turns while both are left."""
    across = ["east" if right > 0 else "west"] * abs(right)
    along = ["south" if down > 0 else "north"] * abs(down)
    if manner != "while zigzagging":
        return across + along
    mixed: list[str] = []
    while across and along:
        mixed += [across.pop(), along.pop()]
    return mixed + across + along


def _turns(facing: str, way: str) -> list[str]:
    if facing == way:
        return []
    if _RIGHT[facing] == way:
        return ["turn right"]
    return ["turn left"] if _LEFT[facing] == way else ["turn left", "turn left"]


def _manner_before(manner: str, kind: str) -> list[str]:
    if manner == "while spinning" and kind == "spin":
        return ["turn left"] * 4
    if manner == "cautiously" and kind == "look":
        return ["turn left", "turn right", "turn right", "turn left"]
    return []


def _manner_after(manner: str) -> list[str]:
    return ["stay"] if manner == "hesitantly" else []


def run(world: World, actions: list[str]) -> tuple[list[str], tuple[int, int], dict[tuple[int, int], int]]:
    """(complaints, the agent's last cell, which object lies where at the end) of doing the actions."""
    where = {(t.row, t.column): i for i, t in enumerate(world.things)}
    at, facing, strained = (world.row, world.column), world.heading, ""
    complaints = []
    for number, action in enumerate(actions, 1):
        if action in ("turn left", "turn right"):
            facing = (_LEFT if action == "turn left" else _RIGHT)[facing]
        if action not in ("walk", "push", "pull"):
            continue
        way = _BACK[facing] if action == "pull" else facing
        ahead = (at[0] + _AHEAD[way][0], at[1] + _AHEAD[way][1])
        if not (0 <= ahead[0] < world.size and 0 <= ahead[1] < world.size):
            complaints.append(f"action {number} ({action}) leaves the grid")
        elif action == "walk":
            at, strained = ahead, ""
        elif at not in where or ahead in where:
            complaints.append(
                f"action {number} ({action}) has {'nothing to move' if at not in where else 'something in the way'}"
            )
        elif world.things[where[at]].size >= 3 and strained != way:
            strained = way
        else:
            where[ahead] = where.pop(at)
            at, strained = ahead, ""
    return complaints, at, where


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law of the example, each with the value that breaks it."""
    world: World = example.world
    reading = reader_of(example.meta.get("wording"))(str(example.inputs.get("command", "")))
    if reading is None:
        return [Problem("bad_command", f"{str(example.inputs.get('command'))[:80]!r} is not a command of the grammar")]
    found = _world_laws(example, world)
    if found:
        return found
    meant = referents(world.things, reading.size, reading.color, reading.noun)
    cells = [(world.things[i].row, world.things[i].column) for i in meant]
    phrase = " ".join(word for word in (reading.size, reading.color, reading.noun) if word)
    if not meant:
        found.append(Problem("no_referent", f"nothing is a {phrase!r}"))
    elif len(meant) > 1:
        found.append(Problem("ambiguous", f"{phrase!r} fits the objects in cells {cells}, expected exactly one"))
    elif meant != [0]:
        found.append(
            Problem("wrong_target", f"{phrase!r} is in cell {cells[0]}, not in {(world.things[0].row, world.things[0].column)}")
        )
    found += _answer_laws(example, world, reading)
    found += _field_laws(example, world, reading)
    found += _role_laws(example, world, reading)
    found += _split_laws(example, reading)
    found += _necessity_laws(example, world, reading)
    return found


def _world_laws(example: Example, world: World) -> list[Problem]:
    found = [Problem("bad_world", text) for text in world.problems]
    if not world.things:
        return [*found, Problem("bad_world", "there are no objects")]
    if any((t.row, t.column) == (world.row, world.column) for t in world.things):
        found.append(Problem("agent_on_object", f"the agent starts in an object's cell ({world.row}, {world.column})"))
    if any(t.shape not in NOUNS for t in world.things):
        found.append(Problem("bad_world", "gSCAN has circles, cylinders and squares only"))
    if world.heading != "east":
        found.append(Problem("bad_world", f"the agent faces {world.heading}; it always starts facing east"))
    seen = sorted((o["row"], o["column"], o["size"], o["color"], o["shape"]) for o in example.inputs["objects"])
    if seen != sorted((t.row, t.column, t.size, t.color, t.shape) for t in world.things):
        found.append(Problem("inputs_differ", "the objects that a model sees are not those of the world"))
    agent = example.inputs["agent"]
    if (agent["row"], agent["column"], agent["heading"]) != (world.row, world.column, world.heading):
        found.append(Problem("inputs_differ", "the agent that a model sees is not the world's"))
    return found


def _answer_laws(example: Example, world: World, reading: Reading) -> list[Problem]:
    right = gold(world, world.things[0], reading.verb, reading.manner)
    answer = example.answer.split(",") if example.answer else []
    if answer != right:
        shown = example.answer if len(example.answer) <= 120 else example.answer[:119] + "…"
        return [Problem("wrong_label", f"the actions are {shown!r}, but must be {','.join(right)!r}")]
    complaints, at, where = run(world, answer)
    target = world.things[0]
    lies = next(cell for cell, i in where.items() if i == 0)
    if at != lies:
        complaints.append(f"the agent ends in {at}, the target in {lies}")
    if reading.verb == "walk" and lies != (target.row, target.column):
        complaints.append("walking moved the target")
    return [Problem("does_not_replay", text) for text in complaints]


def _field_laws(example: Example, world: World, reading: Reading) -> list[Problem]:
    """All other stored fields must follow from command, world and actions."""
    target = world.things[0]
    down, right = target.row - world.row, target.column - world.column
    vertical, horizontal = ("s" if down > 0 else "n" if down < 0 else ""), ("e" if right > 0 else "w" if right < 0 else "")
    kinds = ("size", "color", "shape")
    has = (reading.size, reading.color, reading.noun)
    pushes = sum(action in ("push", "pull") for action in example.answer.split(","))
    true = {
        "verb": reading.verb,
        "adverb": reading.manner,
        "size_word": reading.size,
        "color_word": reading.color,
        "template": ",".join(kind for kind, word in zip(kinds, has, strict=True) if word),
        "target_size": target.size,
        "target_color": target.color,
        "target_shape": target.shape,
        "direction": vertical + horizontal,
        "distance": abs(down) + abs(right),
        "action_count": len(example.answer.split(",")) if example.answer else 0,
        "object_count": len(world.things),
        "cells_moved": pushes // (2 if target.size >= 3 else 1),
    }
    wrong = [(name, example.meta[name], value) for name, value in true.items() if example.meta.get(name, value) != value]
    found = [Problem("wrong_field", f"{name} is {stored!r}, but must be {value!r}") for name, stored, value in wrong]
    return found + claim_laws(example, world, reading, true)


# --- the split -------------------------------------------------------------------------------------------------------


def _split_laws(example: Example, reading: Reading) -> list[Problem]:
    """The claim of the example's split holds, and a split about moving things moves one."""
    found, split = list(claim_problems(CLAIMS, example)), str(example.meta.get("split", ""))
    if example.recipe == "sound" and split in ("contextual", "adverb_2") and reading.verb not in example.answer.split(","):
        found.append(Problem("nothing_moves", f"{split} is about moving things, but here nothing is {reading.verb}ed"))
    return found


def needless_words(things: tuple[Thing, ...], size: str, color: str, noun: str) -> list[str]:
    """The words that can be dropped from the phrase: without such a word it still means at most one object (superlative reading)."""
    variants = {size: ("", color, noun), color: (size, "", noun), noun: (size, color, "")}
    return [word for word, rest in variants.items() if word and len(referents(things, *rest)) < 2]


def could_be_meant(things: tuple[Thing, ...], size: str, color: str, noun: str) -> Iterator[int]:
    """The objects for which some phrase with the same kinds of words has this object as its only referent and needs every word."""
    for i, thing in enumerate(things):
        for word in ("small", "big") if size else ("",):
            parts = (word, thing.color if color else "", thing.shape if noun else "")
            if referents(things, *parts) == [i] and not needless_words(things, *parts):
                yield i
                break


def _role_laws(example: Example, world: World, reading: Reading) -> list[Problem]:
    """In `sound`, roles follow from the world: an object that one word alone rules out is that word's decoy."""
    if example.recipe != "sound":
        return []
    target = world.things[0]
    pushed = [action for action in example.answer.split(",") if action in ("push", "pull")]
    steps = _route(target.row - world.row, target.column - world.column, reading.manner)
    way = steps[-1] if reading.verb == "push" else _BACK[steps[-1]]
    beyond = (target.row + _AHEAD[way][0], target.column + _AHEAD[way][1])
    is_blocked = reading.verb != "walk" and not pushed
    found = []
    for number, thing in enumerate(world.things):
        same = {"color": not reading.color or thing.color == target.color, "shape": thing.shape == target.shape}
        same["size"] = not reading.size or thing.size == target.size
        differs = [name for name, is_same in same.items() if not is_same]
        due = "blocker" if is_blocked and (thing.row, thing.column) == beyond else "random"
        if number == 0:
            due = "target"
        elif same["color"] and same["shape"]:
            due = "size decoy"
        elif len(differs) == 1:
            due = f"{differs[0]} decoy"
        if thing.role != due:
            found.append(Problem("wrong_field", f"the role of object {number} is {thing.role[:40]!r}, but must be {due!r}"))
    return found


FREE_COLUMNS: Mapping[str, str] = {
    "object_roles": "in `release`, the original's reason for an object is not kept in its world; `sound` derives it again",
}
"""Column -> what of it the oracle leaves free, and why. Every other column is derived again in full."""


def _necessity_laws(example: Example, world: World, reading: Reading) -> list[Problem]:
    """Every word is needed, and both readings of a size word agree: a law of `sound`, an artifact elsewhere."""
    severity: Severity = "error" if example.recipe == "sound" else "artifact"
    parts = (reading.size, reading.color, reading.noun)
    found = [
        Problem("needless_word", f"without {word!r} the command still has one referent", severity)
        for word in needless_words(world.things, *parts)
    ]
    if len(list(islice(could_be_meant(world.things, *parts), 2))) < 2:
        text = "no other object could be meant by a phrase of this kind, so the target can be guessed without the command"
        found.append(Problem("only_candidate", text, severity))
    if reading.size and pairwise(world.things, *parts) != referents(world.things, *parts):
        text = f"{reading.size!r} means one object if it says 'of all', but several if it says 'than another'"
        found.append(Problem("two_readings", text, severity))
    return found
