"""What an environment needs of a family's episodes (`Engine`), and what its callers may ask: seeds, reset options, render modes.

An engine uses Gymnasium's spaces and nothing else of Gymnasium. `base.py` builds the single and the vector environment on engines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, overload

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from recombine import kernels
from recombine.errors import UnknownName, UsageError, shown

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Observation = dict[str, Any]


class Result(NamedTuple):
    """One step of all places. `facts` are the step's infos by name; `final` those that belong only to ended episodes."""

    rewards: NDArray[np.float64]
    terminated: Flags
    truncated: Flags
    facts: dict[str, NDArray[Any]]
    final: dict[str, NDArray[Any]]


class OneResult(NamedTuple):
    """One step where there is one place: a `Result` in plain Python values."""

    reward: float
    terminated: bool
    truncated: bool
    facts: dict[str, Any]
    final: dict[str, Any]


class Engine(Protocol):
    """Episodes in n places, stepped together. The methods in `_one` do the same where there is one place, with plain values."""

    observation_space: gym.spaces.Dict
    action_space: gym.spaces.Discrete

    @property
    def ids(self) -> Sequence[str]:
        """The instances' ids."""

    def begin(self, places: int) -> None:
        """Make room for this many episodes; none is under way yet."""

    def restart(self, which: Numbers, rows: Numbers) -> None:
        """Start the episodes of instances `rows` in the places `which`."""

    def advance(self, actions: Numbers) -> Result:
        """One step of every episode under way; places without one stay as they are, with reward 0."""

    def advance_one(self, action: int) -> OneResult:
        """One step of the only place; the action is one of the action space."""

    def observe(self) -> dict[str, Any]:
        """What the agents see now: new arrays with one row per place (a tuple of strings for text)."""

    def observe_one(self) -> Observation:
        """What the agent of the only place sees: new arrays, or a string."""

    def standing(self) -> dict[str, NDArray[Any]]:
        """Infos that hold during whole episodes and after resets, by name."""

    def standing_one(self) -> dict[str, Any]:
        """`standing` of the only place."""

    def masks(self) -> Any:
        """Validity of the actions now: (places, actions) booleans, or a mapping of such factors."""

    def state(self) -> Any:
        """All that changes, as an independent copy."""

    def set_state(self, state: Any) -> None:
        """Go on from a copy that `state` gave."""

    def picture(self, place: int) -> NDArray[np.uint8]:
        """An RGB picture of a place."""

    def text(self, place: int) -> str:
        """A place in characters."""

    def caption(self, place: int) -> str:
        """The task, if the picture does not show it; otherwise ""."""

    def action_name(self, action: int) -> str:
        """An action in words."""

    @property
    def legend(self) -> str:
        """How to read the text pictures."""


class Pace:
    """Whether an engine steps by compiled code. With `compiled=None` it does if machine code lies on disk, or once compiling pays."""

    def __init__(self, kernel_name: str, compiled: bool | None, compile_from: int) -> None:
        self.name, self.compile_from = kernel_name, compile_from
        self.is_open = compiled is None and not kernels.is_ready(kernel_name)
        self.compiled = not self.is_open if compiled is None else compiled
        self.kernel = kernels.load(kernel_name, self.compiled)

    def count(self) -> None:
        """One interpreted step more. Steps count from the start of the process, over all environments."""
        if self.is_open and kernels.is_worth_compiling(self.name, 1, self.compile_from, self.compile_from):
            self.is_open, self.compiled = False, kernels.has_numba()
            self.kernel = kernels.load(self.name, self.compiled)


@dataclass(frozen=True)
class ActionNames(Sequence[str]):
    """The names of all actions by number. Each name is made when it is read, because there may be many thousands."""

    engine: Engine

    def __len__(self) -> int:
        return int(self.engine.action_space.n)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """The name of an action, or a list of names for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self.engine.action_name(index % len(self))


CAPTION_LINES, LINE, LETTER = 4, 14, 6.2
"""Lines of a caption, pixels of a line, and pixels of a letter of the built-in font."""


def pictured(engine: Engine, place: int) -> NDArray[np.uint8]:
    """The picture of a place. If the picture does not show the task, a caption above it does."""
    shown, caption = engine.picture(place), engine.caption(place)
    if not caption:
        return shown
    import textwrap

    from PIL import Image, ImageDraw

    band = Image.new("RGB", (shown.shape[1], CAPTION_LINES * LINE + 4), "white")
    pen = ImageDraw.Draw(band)
    lines = textwrap.wrap(caption, max(8, int(shown.shape[1] / LETTER)), max_lines=CAPTION_LINES, placeholder=" ...")
    for k, line in enumerate(lines):
        pen.text((3, 2 + LINE * k), line.encode("latin-1", "replace").decode("latin-1"), fill="black")
    whole: NDArray[np.uint8] = np.concatenate([np.asarray(band), shown])
    return whole


@dataclass
class Cursor:
    """The order of an evaluation: every instance once."""

    size: int
    next: int = 0

    @property
    def remaining(self) -> int:
        """Instances not handed out yet."""
        return self.size - self.next

    def take(self) -> int | None:
        """The next instance, or None when all have been handed out."""
        if self.next >= self.size:
            return None
        self.next += 1
        return self.next - 1


def objects(values: Sequence[str]) -> NDArray[Any]:
    """Strings as an array of Python objects, for infos."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def named(options: Any, known: Sequence[str]) -> dict[str, Any]:
    """Reset options, if they are a mapping with known names only."""
    if options is not None and not isinstance(options, Mapping):
        raise UsageError(f"reset options are {shown(options)}, but must be a mapping with {', '.join(known)}.")
    given = dict(options or {})
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UnknownName("reset option", str(unknown[0]), known)
    return given


def chosen(engine: Engine, given: Mapping[str, Any]) -> int | None:
    """The instance that reset options name by `id` or `index`, if they do."""
    if "id" in given and "index" in given:
        raise UsageError(f"reset by id or by index, not by both: {shown(given['id'])} and {shown(given['index'])}.")
    if "id" in given:
        try:
            return list(engine.ids).index(given["id"])
        except ValueError:
            near = [str(i) for i in engine.ids[:5]]
            raise UsageError(
                f"no instance has the id {shown(given['id'])}; there are {len(engine.ids)}, such as {near}."
            ) from None
    if "index" in given:
        index = given["index"]
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < len(engine.ids):
            raise UsageError(f"index is {shown(index)}, but must be an integer from 0 to {len(engine.ids) - 1}.")
        return int(index)
    return None


def need_reset(begun: bool) -> None:
    """Raise a `UsageError` if no episode was started by `reset`."""
    if not begun:
        raise UsageError("no episode is under way: call reset() first.")


def seeds_of(seed: Any, places: int) -> list[int | None]:
    """One seed per place, as `SyncVectorEnv` counts them: from one integer upwards, or as they are given."""
    if seed is None:
        return [None] * places
    if isinstance(seed, int | np.integer):
        return [int(seed) + place for place in range(places)]
    if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str) or len(seed) != places:
        raise UsageError(f"seed is {shown(seed)}, but must be an integer or {places} of them, one per environment.")
    return [int(one) if isinstance(one, np.integer) else one for one in seed]


def check_render_mode(mode: str | None, modes: Sequence[str]) -> str | None:
    """The render mode, if it is one."""
    if mode is not None and mode not in modes:
        raise UnknownName("render mode", mode, modes)
    return mode


def completed(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an environment with their defaults; an unknown one is an error that names the nearest."""
    for name in given:
        if name not in defaults:
            raise UnknownName("argument of this environment", name, defaults)
    return {**defaults, **given}
