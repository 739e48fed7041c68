"""What a learned reader of statements needs: what programs mean, and edits that suit several readings of a statement at once.

A meaning is a program's value on 720 fixed scenes. Two programs with equal values there count as the same reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from recombine.core import Example
from recombine.errors import ProgramError, UsageError, shown
from recombine.families.lilgym import program
from recombine.families.lilgym.play.edits import Setting, format_edits
from recombine.families.lilgym.play.episodes import play
from recombine.families.lilgym.play.solver import solve
from recombine.families.lilgym.scene import COLORS, KINDS, SHAPES, Kind, Scene
from recombine.families.lilgym.sound.worlds import looks

VALUE_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "color": {name: (f"is_{name}", f"Color.{name.upper()}") for name in COLORS},
    "shape": {name: (f"is_{name}", f"Shape.{name.upper()}") for name in SHAPES},
}
"""Kind of value -> word -> the program tokens that name it."""
MOST_READINGS = 8
"""Readings that one plan tries to suit."""
SHORT = 6
"""Horizon within which a plan for several readings at once is sought; longer ones are rarely needed and cost most."""
ROUNDS = 2
"""Rounds of search for several readings at once in SCATTER."""
BATCH = 256
"""Programs that are valued together."""


def meanings(kind: str, programs: Sequence[str]) -> list[bytes]:
    """The meaning of each program: equal bytes, equal values. Empty for a text that is no program, fails, or is constant."""
    if kind not in KINDS:
        raise UsageError(f"{shown(kind)} is no kind of scene; use one of {', '.join(KINDS)}.")
    distinct = list(dict.fromkeys(programs))
    found = dict.fromkeys(distinct, b"")
    sound = [text for text in distinct if _compiles(text)]
    for low in range(0, len(sound), BATCH):
        part = sound[low : low + BATCH]
        try:
            found.update(_valued(kind, part))
        except ProgramError:
            for text in part:
                found[text] = _alone(kind, text)
    return [found[text] for text in programs]


def _compiles(text: str) -> bool:
    try:
        program.compile(text)
    except ProgramError:
        return False
    return True


def _alone(kind: Kind, text: str) -> bytes:
    """The meaning of one program; empty if it fails on a scene."""
    try:
        return _valued(kind, [text])[text]
    except ProgramError:
        return b""


def _valued(kind: Kind, texts: Sequence[str]) -> dict[str, bytes]:
    bank = program.Bank([program.compile(text) for text in texts])
    values = np.concatenate([bank.evaluate_grid(looks(kind, scratch)) for scratch in (False, True)], axis=1)
    is_constant = values.all(1) | ~values.any(1)
    return {text: b"" if is_constant[row] else np.packbits(values[row]).tobytes() for row, text in enumerate(texts)}


def enact(example: Example, readings: Sequence[tuple[str, float]]) -> str:
    """The answer that suits the readings of most weight: edits that end in STOP, or true or false. Reads inputs only.

    `readings` are programs with weights. Edits come from a search on a growing conjunction: the heaviest reading first, then
    each further reading that leaves a plan. Without a plan the answer is STOP.
    """
    ranked = sorted(readings, key=lambda reading: -reading[1])[:MOST_READINGS]
    scene = scene_of(example)
    if example.inputs["task"] == "truth":
        votes = sum(weight if _holds(text, scene) else -weight for text, weight in ranked)
        return "true" if votes > 0 else "false"
    target = bool(example.inputs["target"])
    setting = Setting(scene.kind)
    suited, best = "", (0,)
    for text, _ in ranked:
        wanted = f"({text})" if target else f"(not ({text}))"
        joined = f"{suited} and {wanted}" if suited else wanted
        found = _plan(setting, scene, joined, is_first=not suited)
        if found is not None:
            suited, best = joined, found
    return format_edits(setting, best)


def _plan(setting: Setting, scene: Scene, text: str, is_first: bool) -> tuple[int, ...] | None:
    """A plan that makes a program true; a single reading may take the whole horizon."""
    try:
        compiled = program.compile(text)
        found = solve(replace(setting, horizon=SHORT), scene, compiled, True, ROUNDS).actions
        if found is None and is_first:
            found = solve(setting, scene, compiled, True).actions
        if found is None or not play(setting, scene, True, compiled.evaluate, found).solved:
            return None
    except ProgramError:
        return None
    return found


def _holds(text: str, scene: Scene) -> bool:
    try:
        return program.compile(text).evaluate(scene)
    except ProgramError:
        return False


def scene_of(example: Example) -> Scene:
    """The scene that a model is shown."""
    boxes = example.inputs["boxes"]
    return Scene.of(example.inputs["scene"], [(box, *item) for box, items in enumerate(boxes) for item in items])
