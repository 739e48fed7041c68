"""One answer's verdict: edits are carried out on the scene under the paper's rules; true or false is compared. Nothing runs.

An answer to the editing task is a list of edits, separated by `;` or line ends, that ends in its only STOP:
`ADD yellow left; REMOVE right; STOP` (TOWER), `ADD big blue circle 160 20; REMOVE 300 40; STOP` (SCATTER: pixels of the 380 × 100
picture, in steps of 20). An answer to the true/false task is `true` or `false`.
"""

from __future__ import annotations

import re

from recombine.core import Example, Score
from recombine.errors import ProgramError, UsageError
from recombine.families.lilgym import program
from recombine.families.lilgym.play.edits import Setting, parse_edits
from recombine.families.lilgym.play.episodes import play
from recombine.families.lilgym.readings import readings

MAX_ANSWER = 4_000
"""Longest answer, in characters, that is read; ten edits take under 400."""


def score(example: Example, answer: str) -> Score:
    """Right or wrong, with the reward, the steps and the named error; the mistakes are readings under which it would be right."""
    if not isinstance(answer, str) or len(answer) > MAX_ANSWER:
        return Score(0.0, "unparsable", detail={"error": "too_long"})
    if example.meta["task"] == "truth":
        return _score_truth(example, answer)
    setting = Setting(example.meta["scene"])
    try:
        actions = parse_edits(setting, answer)
    except UsageError as problem:
        return Score(0.0, "unparsable", detail={"error": "unparsable", "why": str(problem)})
    if not actions or 0 in actions[:-1]:
        return Score(0.0, "unparsable", detail={"error": "unparsable", "why": "STOP ends the list, once."})
    try:
        compiled = program.compile(example.meta["program"])
        played = play(setting, example.world, bool(example.meta["target"]), compiled.evaluate, actions)
    except ProgramError as problem:
        return Score(0.0, "wrong", detail={"error": "program_fails", "why": str(problem)})
    detail = {"reward": round(sum(played.rewards), 6), "steps": len(played.actions), "error": played.error}
    if played.solved:
        return Score(1.0, "right", detail=detail)
    named = ["stops_at_once"] if tuple(actions) == (0,) else []
    if played.error == "stopped_early":
        named += [name for name, reading in readings(compiled) if _holds(reading, played.scenes[-1], example.meta["target"])]
    return Score(0.0, "wrong", tuple(named), detail)


def _holds(reading: program.Program, scene: object, target: bool) -> bool:
    try:
        return reading.evaluate(scene) == target  # type: ignore[arg-type]
    except ProgramError:
        return False


def _score_truth(example: Example, answer: str) -> Score:
    word = re.fullmatch(r"\s*[\"'`*]*(true|false)[\"'`*]*\.?\s*", answer, re.IGNORECASE)
    if word is None:
        return Score(0.0, "unparsable", detail={"error": "unparsable", "why": "the answer is true or false."})
    said = word[1].lower()
    if said == example.answer:
        return Score(1.0, "right")
    named: tuple[str, ...] = ()
    if example.meta["program"]:
        compiled = program.compile(example.meta["program"])
        named = tuple(name for name, reading in readings(compiled) if _holds(reading, example.world, said == "true"))
    return Score(0.0, "wrong", named)
