"""Abstract tasks as a Gymnasium environment: choose a cell, a layer and an edit; SUBMIT ends the episode.

A world is an array [row, column, layer, field]: layer 0 holds objects, layer 1 boxes; the fields are size, colour and shape, each from
1, and 0 where nothing stands. An action is (row, column, layer, edit). Layer 0 also means a box that stands alone in its cell; what is added
goes where its shape belongs, whatever the layer.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from recombine.core import Example
from recombine.data.datasets import load
from recombine.data.ids import example_of
from recombine.envs.engine import named
from recombine.errors import UnknownName, UsageError, shown
from recombine.families.abstract.acting import STOP, EditState
from recombine.families.abstract.answers import Scene
from recombine.grid.codes import COLORS, HEADINGS, SHAPES, SIZES

__all__ = ["EDITS", "AbstractEnv", "edit_text", "grid_of"]

EDITS: tuple[str, ...] = (
    *(f"paint {color}" for color in COLORS), *(f"reshape {shape}" for shape in SHAPES), *(f"resize {size}" for size in SIZES),
    *(f"move {heading}" for heading in HEADINGS), "remove",
    *(f"add {color} {shape} {size}" for color in COLORS for shape in SHAPES for size in SIZES), "submit",
)  # fmt: skip
"""The edits by number."""
Grid = NDArray[np.int8]
_COLOR_NUMBERS = {color: number for number, color in enumerate(COLORS, 1)}
_SHAPE_NUMBERS = {shape: number for number, shape in enumerate(SHAPES, 1)}


def grid_of(scene: Scene) -> Grid:
    """A world as [row, column, layer, field]."""
    made = np.zeros((scene.size * scene.size * 2, 3), dtype=np.int8)
    if scene.things:
        made[[2 * (scene.size * t.row + t.column) + t.is_box for t in scene.things]] = [
            (t.size, _COLOR_NUMBERS[t.color], _SHAPE_NUMBERS[t.shape]) for t in scene.things
        ]
    return made.reshape(scene.size, scene.size, 2, 3)


def edit_text(row: int, column: int, layer: int, edit: int) -> str:
    """An action in the words of an episode."""
    verb, _, rest = EDITS[edit].partition(" ")
    if verb == "submit":
        return STOP
    if verb == "add":
        return f"add {rest} at {row + 1},{column + 1}"
    return f"{verb} {'box ' if layer else ''}{row + 1},{column + 1} {rest}".strip()


class AbstractEnv(gym.Env[Any, Any]):
    """Edit the test world until it is the output that the demonstrations' rule makes, then submit: reward 1 if it is right.

    Tasks come from a part of the family. `reset(options={"id": …})` or `{"index": …}` picks one; otherwise it is drawn. An edit that is
    impossible changes nothing, and `info["error"]` says so. `horizon` edits without SUBMIT end the episode.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}  # noqa: RUF012 - gymnasium's own form
    EDITS = EDITS

    def __init__(
        self, split: str | None = None, part: str = "train", size: int | None = None, seed: int = 0,
        render_mode: str | None = None, horizon: int = 30, step_penalty: float = 0.0, **options: Any,
    ) -> None:  # fmt: skip
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName("render_mode", render_mode, self.metadata["render_modes"])
        self.rows = load("abstract", split, part, seed=seed, size=size, **options)
        self.render_mode = render_mode
        self.settings = {"horizon": horizon, "step_penalty": step_penalty}
        inputs = self.rows[0].inputs
        side, shown_pairs = int(inputs["grid_size"]), len(inputs["demonstrations"])
        world = (side, side, 2, 3)
        self.observation_space = spaces.Dict({
            "demonstrations": spaces.Box(0, 4, (shown_pairs, 2, *world), np.int8), "test": spaces.Box(0, 4, world, np.int8),
            "now": spaces.Box(0, 4, world, np.int8),
        })  # fmt: skip
        self.bounds = [side, side, 2, len(EDITS)]
        self.action_space = spaces.MultiDiscrete(self.bounds)
        self.state: EditState | None = None
        self.shown: Grid
        self.test: Grid
        self.example: Example | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Grid], dict[str, Any]]:
        """Begin an episode; the same seed gives the same sequence of tasks from here on."""
        asked = self._asked(named(options, ("id", "index")))
        super().reset(seed=seed)
        self.example = self.rows[int(self.np_random.integers(len(self.rows)))] if asked is None else asked
        self.state = EditState(self.example, self.settings)
        task = self.state.task
        self.shown = np.array([[grid_of(before), grid_of(after)] for before, after in task.demonstrations])
        self.test = grid_of(task.test)
        return self._seen(), {"id": self.example.id, "error": ""}

    def _asked(self, given: dict[str, Any]) -> Example | None:
        """The task that reset options name by `id` or `index`, if they do."""
        if "id" in given and "index" in given:
            raise UsageError(f"reset by id or by index, not by both: {shown(given['id'])} and {shown(given['index'])}.")
        if "index" in given:
            index = given["index"]
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < len(self.rows):
                raise UsageError(f"index is {shown(index)}, but must be an integer from 0 to {len(self.rows) - 1}.")
            return self.rows[int(index)]
        if "id" not in given:
            return None
        found = example_of(given["id"])
        if found.family is not self.rows.family:
            raise UsageError(f"{shown(given['id'])} is no abstract task.")
        sizes = found.inputs["grid_size"], len(found.inputs["demonstrations"])
        if sizes != (self.bounds[0], len(self.rows[0].inputs["demonstrations"])):
            raise UsageError(
                f"{shown(given['id'])} has a grid of {sizes[0]} and {sizes[1]} demonstrations, but the observations of this "
                f"environment have {self.bounds[0]} and {len(self.rows[0].inputs['demonstrations'])}: make one with its options."
            )
        return found

    def step(self, action: Any) -> tuple[dict[str, Grid], float, bool, bool, dict[str, Any]]:
        """One edit."""
        if self.state is None or self.state.is_over or self.example is None:
            raise UsageError("no episode is under way: call reset() first.")
        numbers = np.asarray(action)
        is_listed = numbers.shape == (4,) and numbers.dtype.kind in "iu"
        if not is_listed or not all(0 <= number < most for number, most in zip(numbers.tolist(), self.bounds, strict=True)):
            raise UsageError(f"action {shown(action)} is none: it takes (row, column, layer, edit) inside {self.action_space}.")
        reward, is_over, info = self.state.act(edit_text(*numbers.tolist()))
        is_cut = is_over and info["error"] == "never_stopped"
        told = {"id": self.example.id, "error": info["error"], "text": info["said"], "solved": info["solved"]}
        return self._seen(), reward, is_over and not is_cut, is_cut, told

    def _seen(self) -> dict[str, Grid]:
        if self.state is None:
            raise UsageError("no episode is under way: call reset() first.")
        return {"demonstrations": self.shown.copy(), "test": self.test.copy(), "now": grid_of(self.state.scene)}

    def render(self) -> Any:
        """The demonstrations, the test input and the world as it stands."""
        if self.state is None or self.render_mode is None:
            raise UsageError("call reset() first, and make the environment with a render_mode.")
        if self.render_mode == "ansi":
            return self.state.seen("text")[0]
        from io import BytesIO

        from PIL import Image

        return np.asarray(Image.open(BytesIO(self.state.seen("picture")[1] or b"")).convert("RGB"))
