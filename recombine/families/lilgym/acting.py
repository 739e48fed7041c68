"""lilGym's episodes in words: edit the scene reply by reply, and say STOP when the statement has the wanted truth value.

Every reply is played by `play`, the function that also scores answers, so an episode and an answer can never disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from recombine.abilities import Sight
from recombine.core import Example
from recombine.errors import ProgramError, UnknownName, UsageError, shown
from recombine.families.lilgym import program
from recombine.families.lilgym.play.edits import Setting, edit_of, parse_edits
from recombine.families.lilgym.play.episodes import Play, play
from recombine.families.lilgym.play.solver import solve
from recombine.families.lilgym.prompts import PICTURE_SCALE, described
from recombine.families.lilgym.render import png
from recombine.families.lilgym.scene import Scene

SETTINGS = tuple(field.name for field in fields(Setting) if field.name != "kind")
_EDITS = {
    "tower": (
        "An edit is `ADD <yellow|black|blue> <left|middle|right>`, which puts a block on top of that box's tower (four blocks at most), "
        "or `REMOVE <left|middle|right>`, which takes the top block of that box's tower away."
    ),
    "scatter": (
        "An edit is `ADD <small|medium|big> <yellow|black|blue> <circle|square|triangle> <x> <y>`, which puts an object with the top left "
        "corner of its bounding square at (x, y), or `REMOVE <x> <y>`, which takes away the object that covers most of the {cell} by {cell} "
        "pixels with their top left corner at (x, y). x is a multiple of {cell} below 380, y a multiple of {cell} below 100."
    ),
}
_WHY = {
    "does_not_fit": "the item does not fit there",
    "on_separator": "the place is not inside a box",
    "nothing_to_remove": "there is nothing to remove",
    "stopped_early": "the statement does not have the wanted truth value",
}


def setting_of(example: Example, settings: Mapping[str, Any]) -> Setting:
    """The setting of an example's episode; an unknown name is an error."""
    for name in settings:
        if name not in SETTINGS:
            raise UnknownName("setting of a lilGym episode", name, SETTINGS)
    return Setting(example.meta["scene"], **settings)


def task(example: Example, settings: Mapping[str, Any]) -> str:
    """What to do and how to write it."""
    setting = setting_of(example, settings)
    edits = _EDITS[setting.kind].format(cell=1 if setting.grid == "native" else 20)
    return (
        "A scene has three boxes side by side: left, middle and right. A statement about the scene is either true or false of it. "
        "Change the scene by edits until the statement has the wanted truth value, then say STOP.\n"
        f"{edits}\n"
        "Reply with one or more edits, separated by semicolons. They are carried out, and you see the scene as it is then. STOP ends the "
        f"episode. There are at most {setting.horizon} actions, STOP included. Each edit costs {setting.step_cost:g}. An edit that "
        "cannot be done ends the episode, and so does a reply that is no list of edits. If you write anything besides edits, end your "
        "reply with one line: `Answer: ` and then the edits."
    )


class LilGymState:
    """One episode under way. A reply that cannot be read counts as an invalid edit: reward -1, and the episode is over."""

    def __init__(self, example: Example, settings: Mapping[str, Any]) -> None:
        if example.meta["task"] != "edit":
            raise UsageError(f"{shown(example.id)} asks for true or false; only editing tasks can be acted in.")
        self.example = example
        self.setting = setting_of(example, settings)
        self.is_default = self.setting == Setting(self.setting.kind)
        self.statement = str(example.inputs["statement"])
        self.target = bool(example.inputs["target"])
        self.program = program.compile(str(example.meta["program"]))
        self.scene: Scene = example.world
        self.taken: list[int] = []
        self.is_over = self.is_solved = False

    def seen(self, sight: Sight) -> tuple[str, bytes | None]:
        """The scene, the statement and the wanted truth value."""
        wanted = f"Statement: {self.statement}\nWanted truth value: {'true' if self.target else 'false'}"
        words = wanted if sight == "picture" else f"{described(self.scene)}\n{wanted}"
        return words, None if sight == "text" else png(self.scene, PICTURE_SCALE)

    def _holds(self, scene: Scene) -> bool:
        """Whether the statement holds; a program that fails on a scene meets no target there."""
        try:
            return self.program.evaluate(scene)
        except ProgramError:
            return not self.target

    def act(self, text: str) -> tuple[float, bool, Mapping[str, Any]]:
        """Carry out the edits of a text until the episode is over."""
        try:
            actions = parse_edits(self.setting, text)
        except UsageError as problem:
            return self._unreadable(str(problem))
        if not actions:
            return self._unreadable("the reply names no edit.")
        played = play(self.setting, self.example.world, self.target, self._holds, [*self.taken, *actions])
        before = len(self.taken)
        self.taken, self.scene, self.is_solved = list(played.actions), played.scenes[-1], played.solved
        is_late = len(played.actions) >= self.setting.horizon
        self.is_over = played.solved or played.error != "never_stopped" or is_late
        error = played.error if self.is_over else ""
        return sum(played.rewards[before:]), self.is_over, self._info(error, self._said(played, error), before)

    def _said(self, played: Play, error: str) -> str:
        if played.solved:
            return "The statement has the wanted truth value."
        if not error:
            return ""
        if error == "never_stopped":
            return f"The episode ends after {self.setting.horizon} actions without STOP."
        return f"{edit_of(self.setting, played.actions[-1])}: {_WHY[error]}."

    def _unreadable(self, why: str) -> tuple[float, bool, Mapping[str, Any]]:
        self.is_over = True
        return -1.0, True, self._info("unreadable", why, len(self.taken))

    def _info(self, error: str, said: str, before: int) -> dict[str, Any]:
        return {
            "error": error,
            "errors": [error] if error else [],
            "said": said,
            "actions": [str(edit_of(self.setting, action)) for action in self.taken[before:]],
            "step": len(self.taken),
            "solved": self.is_solved,
        }

    def answer(self) -> str:
        """The edits that were made, and STOP where it was said."""
        return "; ".join(str(edit_of(self.setting, action)) for action in self.taken)

    def expert(self) -> tuple[str, ...]:
        """The example's own plan at the start, later the solver's. Empty if the episode is over or no plan is left."""
        left = self.setting.horizon - len(self.taken)
        if self.is_over or left < 1:
            return ()
        if not self.taken and self.is_default:
            own = parse_edits(self.setting, self.example.answer)
            if own:
                return tuple(str(edit_of(self.setting, action)) for action in own)
        solution = solve(replace(self.setting, horizon=left), self.scene, self.program, self.target, compiled=False)
        return tuple(str(edit_of(self.setting, action)) for action in solution.actions or ())


def __getattr__(name: str) -> Any:
    """Names that stood here before 0.2."""
    from recombine import moved
    from recombine.families.lilgym.play import episodes

    if name not in ("Play", "captions", "format_edits", "parse_edits", "play"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    moved.warn(f"{__name__}.{name}", f"{episodes.__name__}.{name}")
    return getattr(episodes, name)
