"""lilGym as Gymnasium environments: TOWER and SCATTER, from scratch or to be flipped, single and vector."""

from __future__ import annotations

import functools
import string
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from recombine.core import FILES, Problem
from recombine.envs.base import BatchedEnv, SingleEnv
from recombine.envs.engine import Numbers, OneResult, Pace, Result, completed, objects
from recombine.envs.words import ID_COUNT, MAX_WORDS, word_ids
from recombine.errors import UnknownName, UsageError, shown
from recombine.families import family
from recombine.families.lilgym import render
from recombine.families.lilgym.play import episodes, validity
from recombine.families.lilgym.play.edits import (
    HORIZON,
    RESOLUTIONS,
    SIGHTS,
    STEP_COST,
    Grid,
    Resolution,
    RuleBook,
    Sight,
    format_edits,
)
from recombine.families.lilgym.play.episodes import ERRORS, Instances, Setting
from recombine.families.lilgym.play.tasks import instances_of_batch, instances_of_examples
from recombine.families.lilgym.scene import FIELDS, Kind
from recombine.jobs import make_job

Start = Literal["scratch", "flipit"]
TextForm = Literal["tokens", "string"]
TEXT_FORMS: tuple[TextForm, ...] = ("tokens", "string")
MAX_TEXT = 320
DEFAULT_SIZE = 1_000
"""Embedded instances that are drawn unless `size` says otherwise."""
COMPILE_FROM_STEPS = 10_000
"""Interpreted steps that take about as long as compiling the kernels."""


def load_instances(
    kind: Kind, start: Start, split: str | None = None, part: str = "train", data: str | Path | None = None,
    size: int | None = None, permutations: bool = False,
) -> Instances:  # fmt: skip
    """The tasks to act in: embedded ones (`split`, `part`), or official ones where `data` is a published file or their folder.

    In a folder, `part` names the file: train, validation (or dev), test; there `permutations` makes six initial scenes of each,
    one per order of the boxes. At most `size` instances are taken, the first ones.
    """
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise UsageError(f"size is {shown(size)}, but must be a positive integer.")
    if data is not None and not isinstance(data, str | Path):
        raise UsageError(f"data is {shown(data)}, but must be the path of a published file or of their folder.")
    if permutations and (data is None or not Path(data).is_dir()):
        raise UsageError("permutations are for the published files: give their folder as data.")
    if data is not None and split is not None:
        raise UsageError(f"split is {shown(split)}, but splits are of embedded statements: leave it out where data is given.")
    chosen = "validation" if part == "dev" else part
    if data is None:
        return _embedded(kind, start, split, chosen, DEFAULT_SIZE if size is None else size)
    source = family("lilgym")
    if Path(data).is_dir():
        job = make_job(source, f"{kind}_{start}", chosen, options={FILES: str(data), "permutations": permutations})
        return instances_of_batch(source.generate(job.rows(0, job.stop if size is None else min(size, job.stop))))
    rows = [row for row in source.read(Path(data)) if not isinstance(row, Problem)]
    starts = {row.meta["start"] for row in rows if row.meta["scene"] == kind}
    if starts and start not in starts:
        raise UsageError(
            f"{shown(str(data))} holds tasks of {kind}_{starts.pop()}, but this environment is for {kind}_{start}."
        )
    return instances_of_examples(kind, rows[:size])


@functools.lru_cache(maxsize=32)
def _embedded(kind: Kind, start: Start, split: str | None, part: str, size: int) -> Instances:
    """The first rows of an embedded part; cached, because many environments of a process share them."""
    source = family("lilgym")
    job = make_job(source, split, part, recipe="sound", options={"scene": kind, "start": start})
    return instances_of_batch(source.generate(job.rows(0, size)))


class LilGymEngine:
    """Episodes of lilGym in n places. The observation is the half-size image or the items, the statement and the target."""

    def __init__(
        self, instances: Instances, setting: Setting, text: TextForm = "tokens", compiled: bool | None = None, sight: Sight = "image",
        resolution: Resolution = "half",
    ) -> None:  # fmt: skip
        if len(instances) == 0:
            raise UsageError("there is no instance to act in; choose another split or part, or another file.")
        if text not in TEXT_FORMS:
            raise UnknownName("form of text", text, TEXT_FORMS)
        if sight not in SIGHTS:
            raise UnknownName("sight", sight, SIGHTS)
        if resolution not in RESOLUTIONS:
            raise UnknownName("resolution", resolution, RESOLUTIONS)
        self.sight, self.resolution = sight, resolution
        self.instances, self.setting, self.text_form = instances, setting, text
        self.pace = Pace(episodes.KERNEL_NAME, compiled, COMPILE_FROM_STEPS)
        self.ids = instances.ids
        self.action_space = spaces.Discrete(setting.action_count)
        seen: dict[str, spaces.Space[Any]] = {
            sight: spaces.Box(0, 255, RESOLUTIONS[resolution], np.uint8)
            if sight == "image"
            else spaces.Box(-1, render.WIDTH, (episodes.room(setting, instances), FIELDS), np.int16)
        }
        if text == "tokens":
            self.tokens = word_ids(instances.sentences)
            seen["tokens"] = spaces.Box(0, ID_COUNT - 1, (MAX_WORDS,), np.int32)
        else:
            longest = max(MAX_TEXT, *(len(sentence) for sentence in instances.sentences))
            letters = sorted(set(string.printable).union(*instances.sentences))
            seen["sentence"] = spaces.Text(longest, min_length=0, charset="".join(letters))
        self.observation_space = spaces.Dict({**seen, "target": spaces.Discrete(2)})
        self.sentences = objects(instances.sentences)
        self.names = objects(instances.ids)
        self.errors = objects(ERRORS)
        self.states: episodes.States

    def begin(self, places: int) -> None:
        """Make room; every place shows the first instance until it is restarted."""
        first = np.zeros(places, np.int64)
        self.states = episodes.begin(self.setting, self.instances, first, self.sight == "image", self.pace.compiled)
        self.states.active[:] = False

    def restart(self, which: Numbers, rows: Numbers) -> None:
        """Start the episodes of instances `rows` in the places `which`."""
        episodes.restart(self.states, which, rows)

    def advance(self, actions: Numbers) -> Result:
        """One step of every episode under way."""
        outcome = episodes.advance(self.states, actions)
        terminated, truncated = outcome.ended[:, 0].copy(), outcome.ended[:, 1].copy()
        solved = outcome.rewards > 0
        facts = {
            "error": self.errors[outcome.errors],
            "forced_action": np.where(outcome.forced, 0, -1),
            "action_taken": np.where(outcome.forced, 0, actions),
            "step": self.states.clocks.copy(),
        }
        final = {"accuracy": solved.astype(np.float64), "accuracy_nosf": (solved & ~outcome.forced).astype(np.float64)}
        return Result(outcome.rewards, terminated, truncated, facts, final)

    def advance_one(self, action: int) -> OneResult:
        """`advance` where there is one place."""
        self.pace.count()
        states = self.states
        states.compiled = self.pace.compiled
        reward, terminated, truncated, error, forced = episodes.advance_one(states, action)
        facts = {
            "error": ERRORS[error],
            "forced_action": 0 if forced else -1,
            "action_taken": 0 if forced else action,
            "step": states.clocks.item(),
        }
        final = {"accuracy": float(reward > 0), "accuracy_nosf": float(reward > 0 and not forced)}
        return OneResult(reward, terminated, truncated, facts, final)

    def observe(self) -> dict[str, Any]:
        """Images or items (with -1 where there is none), word ids or strings, and targets."""
        rows = self.states.rows
        seen: dict[str, Any] = {self.sight: episodes.view(self.states, self.sight, self.resolution)}
        if self.text_form == "tokens":
            seen["tokens"] = self.tokens[rows]
        else:
            seen["sentence"] = tuple(self.instances.sentences[row] for row in rows.tolist())
        seen["target"] = self.instances.targets[rows].astype(np.int64)
        return seen

    def observe_one(self) -> dict[str, Any]:
        """`observe` where there is one place."""
        row = self.states.rows.item()
        seen: dict[str, Any] = {self.sight: episodes.view_one(self.states, self.sight, self.resolution)}
        if self.text_form == "tokens":
            seen["tokens"] = self.tokens[row].copy()
        else:
            seen["sentence"] = self.instances.sentences[row]
        seen["target"] = np.int64(self.instances.targets[row])
        return seen

    def standing(self) -> dict[str, NDArray[Any]]:
        """Id, sentence and target of each place's instance."""
        rows = self.states.rows
        return {"id": self.names[rows], "sentence": self.sentences[rows], "target": self.instances.targets[rows]}

    def standing_one(self) -> dict[str, Any]:
        """`standing` where there is one place."""
        row = self.states.rows.item()
        return {"id": self.ids[row], "sentence": self.instances.sentences[row], "target": self.instances.targets.item(row)}

    def masks(self) -> Any:
        """Valid actions; at native resolution as factors (`type`, `add`, `remove`)."""
        if self.setting.kind == "scatter" and self.setting.grid == "native":
            return validity.factored_masks(self.states)
        return validity.masks(self.states)

    def state(self) -> episodes.States:
        """The episodes, copied."""
        return self.states.copy()

    def set_state(self, state: episodes.States) -> None:
        """Go on from a copy."""
        self.states = state.copy()

    def picture(self, place: int) -> NDArray[np.uint8]:
        """The scene at 380 × 100."""
        if self.sight == "scene":
            return render.picture(self.states.scenes()[place])
        shown: NDArray[np.uint8] = render.PALETTE[self.states.canvases[place]]
        return shown

    def text(self, place: int) -> str:
        """Statement, target, step and scene in characters."""
        row = int(self.states.rows[place])
        head = (
            f"{self.instances.sentences[row]}\ntarget: {bool(self.instances.targets[row])}   step: {self.states.clocks[place]}"
        )
        return f"{head}\n{render.ascii_art(self.states.scenes()[place])}"

    def caption(self, place: int) -> str:
        """The statement and the truth value that is wanted."""
        row = int(self.states.rows[place])
        return f"make {str(bool(self.instances.targets[row])).lower()}: {self.instances.sentences[row]}"

    def action_name(self, action: int) -> str:
        """The edit as answers write it, such as `ADD blue left` or `STOP`."""
        return format_edits(self.setting, [action])

    @property
    def legend(self) -> str:
        """How to read the text picture."""
        return "y, k, b: yellow, black and blue pixels; O, #, ^: the middle of a circle, square and triangle"


class Arguments(TypedDict, total=False):
    """Arguments that both environments share; see `LilGymEnv`."""

    split: str | None
    part: str
    data: str | Path | None
    size: int | None
    permutations: bool
    instances: Instances | None
    rules: RuleBook
    grid: Grid
    horizon: int
    stop_forcing: bool
    text: TextForm
    sight: Sight
    resolution: Resolution
    step_cost: float


DEFAULTS: Arguments = {
    "split": None, "part": "train", "data": None, "size": None, "permutations": False, "instances": None, "rules": "paper",
    "grid": "19x5", "horizon": HORIZON, "stop_forcing": False, "text": "tokens", "sight": "image", "resolution": "half",
    "step_cost": STEP_COST,
}  # fmt: skip


def make_engine(kind: Kind, start: Start, compiled: bool | None, given: Arguments) -> LilGymEngine:
    """The engine behind an environment, with the default of every argument that is not given."""
    asked = completed(DEFAULTS, given)
    setting = Setting(kind, asked["rules"], asked["grid"], asked["horizon"], asked["stop_forcing"], asked["step_cost"])
    instances = asked["instances"]
    if instances is None:
        where = asked["split"], asked["part"], asked["data"], asked["size"]
        instances = load_instances(kind, start, *where, asked["permutations"])
    if not isinstance(instances, Instances) or instances.kind != kind:
        raise UsageError(f"instances are {shown(instances)}, but must be `Instances` of {kind} scenes.")
    return LilGymEngine(instances, setting, asked["text"], compiled, asked["sight"], asked["resolution"])


class LilGymEnv(SingleEnv):
    """A lilGym environment: edit the picture until the statement's truth is the target, then STOP.

    Instances come from the embedded statements (`split`, `part`), or from official lilGym files (`data`), or are given.
    `rules`: "paper" or "code" (what the released code does). `grid`: SCATTER's "19x5" or "native" actions. `text`: "tokens" (word
    ids) or "string". `sight`: "image", or "scene" for the items as (box, x, y, size, colour, shape) and no picture.
    `resolution`: images of 190 × 50 pixels ("half", as the released code) or 380 × 100 ("full", as the paper). `step_cost` is δ. With
    `stop_forcing`, an action taken where the target already holds is replaced by STOP and told in
    `info["forced_action"]` (0, else -1); masks never do that. `info["error"]` names what went wrong. `compiled`: whether to step by
    compiled code; left out, it is used if it lies on disk already, or after so many steps that compiling pays.
    """

    def __init__(
        self, kind: Kind, start: Start, evaluate: bool = False, masks: bool = True, render_mode: str | None = None,
        compiled: bool | None = None, **given: Unpack[Arguments],
    ) -> None:  # fmt: skip
        super().__init__(make_engine(kind, start, compiled, given), render_mode, evaluate, masks)


class LilGymVectorEnv(BatchedEnv):
    """Many lilGym episodes at once; the arguments of `LilGymEnv`, compiled kernels, and masks only where asked for."""

    def __init__(
        self, kind: Kind, start: Start, num_envs: int = 1, evaluate: bool = False, masks: bool = False,
        render_mode: str | None = None, compiled: bool = True, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **given: Unpack[Arguments],
    ) -> None:  # fmt: skip
        super().__init__(make_engine(kind, start, compiled, given), num_envs, render_mode, evaluate, masks, autoreset_mode)
