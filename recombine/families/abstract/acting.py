"""Episodes of abstract tasks: change the test world edit by edit, and say STOP when it is the output that the rule makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recombine.abilities import Sight
from recombine.core import Example
from recombine.errors import BadOption, UnknownName, shown
from recombine.families.abstract.answers import Scene, object_text
from recombine.families.abstract.render import describe
from recombine.families.abstract.render import picture as draw
from recombine.families.abstract.rows import Task
from recombine.grid.codes import COLORS, HEADINGS, SHAPES, SIZES
from recombine.grid.world import Thing

STOP = "STOP"
DEFAULTS: dict[str, Any] = {"horizon": 30, "step_penalty": 0.0}
"""Settings of an episode: edits after which it ends, and what each costs."""
_STEPS = {"east": (0, 1), "south": (1, 0), "west": (0, -1), "north": (-1, 0)}
_PLACE = r"(?P<box>box )?(?P<row>[0-9]{1,2}) ?, ?(?P<column>[0-9]{1,2})"
_FORMS: dict[str, re.Pattern[str]] = {
    "paint": re.compile(rf"paint {_PLACE} (?P<value>{'|'.join(COLORS)})"),
    "reshape": re.compile(rf"reshape {_PLACE} (?P<value>{'|'.join(SHAPES)})"),
    "resize": re.compile(rf"resize {_PLACE} (?P<value>[{SIZES[0]}-{SIZES[-1]}])"),
    "move": re.compile(rf"move {_PLACE} (?P<value>{'|'.join(HEADINGS)})"),
    "remove": re.compile(rf"remove {_PLACE}"),
    "add": re.compile(
        rf"add (?P<color>{'|'.join(COLORS)}) (?P<shape>{'|'.join(SHAPES)}) (?P<size>[{SIZES[0]}-{SIZES[-1]}]) at "
        r"(?P<row>[0-9]{1,2}) ?, ?(?P<column>[0-9]{1,2})"
    ),
}
TASK = """Each demonstration shows a world before and after a change. The same rule makes every change. Change the test world as the rule \
would, and then say STOP.
The edits are, with row and column of the object from 1:
paint 2,3 red; reshape 2,3 square; resize 2,3 4; move 2,3 north; remove 2,3; add red circle 2 at 1,3; STOP
Write `box 2,3` for a box where a box and another object share a cell. Reply with one edit or several, separated by semicolons. They are \
carried out, and you see the world as it is then. An edit that is impossible changes nothing. STOP ends the episode. If you write anything \
besides edits, end your reply with one line: `Answer: ` and then the edits."""


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults; an unknown or impossible one is an error."""
    for name in settings:
        if name not in DEFAULTS:
            raise UnknownName("setting of an abstract episode", name, DEFAULTS)
    found = {**DEFAULTS, **settings}
    horizon, penalty = found["horizon"], found["step_penalty"]
    if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
        raise BadOption(f"horizon is {shown(horizon)}, but must be a positive integer.")
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= 1:
        raise BadOption(f"step_penalty is {shown(penalty)}, but must be a number from 0 to 1.")
    return found


def edited(scene: Scene, text: str) -> Scene | str:
    """The scene after one edit; or, as a sentence, why it cannot be done."""
    words = " ".join(text.lower().split())
    verb = words.partition(" ")[0]
    found = _FORMS[verb].fullmatch(words) if verb in _FORMS else None
    if found is None:
        return f"{shown(text, 60)} is no edit; write one such as `paint 2,3 red` or STOP."
    row, column = int(found["row"]) - 1, int(found["column"]) - 1
    if verb == "add":
        return _put(scene, None, Thing(int(found["size"]), found["color"], found["shape"], row, column))
    here = [t for t in scene.things if (t.row, t.column) == (row, column) and (t.is_box or not found["box"])]
    here = [t for t in here if not t.is_box] or here
    if not here:
        return f"there is no {'box' if found['box'] else 'object'} at {row + 1},{column + 1}."
    old = here[0]
    if verb == "remove":
        return Scene(scene.size, tuple(t for t in scene.things if t is not old))
    value = found["value"]
    if verb == "move":
        down, right = _STEPS[value]
        return _put(scene, old, replace(old, row=row + down, column=column + right))
    if verb == "resize":
        changed = replace(old, size=int(value))
    else:
        changed = replace(old, color=value) if verb == "paint" else replace(old, shape=value)
    return "it is so already." if changed == old else _put(scene, old, changed)


def _put(scene: Scene, old: Thing | None, new: Thing) -> Scene | str:
    made = Scene(scene.size, (*(t for t in scene.things if t is not old), new))
    problems = made.problems()
    return f"impossible: {problems[0]}." if problems else made


class EditState:
    """One episode under way: the world starts as the test input."""

    def __init__(self, example: Example, settings: Mapping[str, Any]) -> None:
        found = checked(settings)
        self.horizon, self.step_penalty = int(found["horizon"]), float(found["step_penalty"])
        self.task: Task = example.world
        self.scene = self.task.test
        self.clock = 0
        self.is_over = self.is_solved = False

    def seen(self, sight: Sight) -> tuple[str, bytes | None]:
        """The demonstrations, the test input, and the world as it stands."""
        now = "The world now: " + ("; ".join(object_text(t) for t in self.scene.ordered) or "nothing")
        words = now if sight == "picture" else f"{describe(self.task)}\n{now}"
        return words, None if sight == "text" else draw(self.task, self.scene).png()

    def act(self, text: str) -> tuple[float, bool, Mapping[str, Any]]:
        """Carry out the edits of a text until the episode is over."""
        pieces = [piece.strip(" .\t\r\n") for piece in re.split(r"[;\n]", text)]
        reward, errors, said, taken = 0.0, list[str](), list[str](), list[str]()
        for piece in [p for p in pieces if p] or [""]:
            taken.append(piece)
            gained, error, sentence = self._step(piece)
            reward += gained
            if error:
                errors.append(error)
            if sentence:
                said.append(f"Edit {len(taken)} ({piece[:60]}): {sentence}")
            if self.is_over:
                break
        info = {
            "error": errors[-1] if errors else "", "errors": errors, "said": " ".join(said), "actions": taken, "step": self.clock,
            "solved": self.is_solved,
        }  # fmt: skip
        return reward, self.is_over, info

    def _step(self, piece: str) -> tuple[float, str, str]:
        self.clock += 1
        if piece.upper() == STOP:
            self.is_over, self.is_solved = True, self.scene == self.task.output
            if self.is_solved:
                return 1.0, "", "the world is the output that the rule makes."
            return 0.0, "stopped_early", "the world is not the output that the rule makes."
        made = edited(self.scene, piece)
        error = "impossible" if isinstance(made, str) else ""
        sentence = made if isinstance(made, str) else ""
        if isinstance(made, Scene):
            self.scene = made
        if self.clock >= self.horizon:
            self.is_over = True
            return 0.0 - self.step_penalty, "never_stopped", f"the episode ends after {self.horizon} edits without STOP."
        return 0.0 - self.step_penalty, error, sentence

    def answer(self) -> str:
        """The objects of the world as it stands; empty before the first edit."""
        return "; ".join(object_text(t) for t in self.scene.ordered) if self.clock else ""

    def expert(self) -> tuple[str, ...]:
        """What is wrong goes, what is missing comes, then STOP. Empty if the episode is over."""
        if self.is_over:
            return ()
        goal = self.task.output
        wrong = [t for t in self.scene.ordered if t not in goal.ordered]
        missing = [t for t in goal.ordered if t not in self.scene.ordered]
        going = tuple(f"remove {'box ' if t.is_box else ''}{t.row + 1},{t.column + 1}" for t in wrong)
        return (*going, *(f"add {object_text(t)}" for t in missing), STOP)
