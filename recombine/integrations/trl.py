"""TRL: a data set, a reward function and environments for GRPO and SFT.

spec = Spec("reascan", split="a1")
GRPOTrainer(model, reward_funcs=spec.reward_funcs, train_dataset=spec.train_dataset, args=…)

spec = Spec("reascan", split="a1", multi_turn=True)
GRPOTrainer(model, environment_factory=spec.environment_factory, train_dataset=spec.train_dataset,
            reward_funcs=spec.reward_funcs, args=…)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from recombine.abilities import Playing, Sight
from recombine.data.datasets import Dataset, load
from recombine.episodes import Episode
from recombine.errors import UsageError, shown
from recombine.evaluate.prompts import Prompter, Style, chat_messages
from recombine.integrations import need
from recombine.scorer import Scorer

__all__ = ["EditTools", "GridTools", "Reward", "ScatterTools", "Spec", "TowerTools", "episode_reward"]


@dataclass
class Reward:
    """A reward function over the column `id`: 1 for a right reply. Picklable; logs how many replies were read and the named mistakes."""

    source: str | None = None
    partial: bool = False
    scorer: Scorer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.scorer = Scorer(self.source, partial=self.partial)

    def __call__(self, completions: Sequence[Any], id: Sequence[str], **given: Any) -> list[float]:  # noqa: A002 - the column
        """One reward per completion; completions are texts or lists of messages."""
        scores = [self.scorer(name, _text(said)) for name, said in zip(id, completions, strict=True)]
        log_extra: Callable[..., None] | None = given.get("log_extra")
        log_metric: Callable[..., None] | None = given.get("log_metric")
        if log_extra is not None:
            log_extra("mistake", [score.mistake or score.status for score in scores])
        if log_metric is not None and scores:
            log_metric("recombine/answered", sum(score.status != "unparsable" for score in scores) / len(scores))
        return [score.value for score in scores]


def _text(said: Any) -> str:
    """The text of a completion."""
    if isinstance(said, str):
        return said
    content = said[-1].get("content") if said else ""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def episode_reward(environments: Sequence[Any], **_: Any) -> list[float]:
    """The reward of each environment's episode so far: 1 if it was solved, else 0."""
    return [environment.get_reward() for environment in environments]


class _Tools:
    """One episode behind named tools. TRL makes one per rollout, calls `reset` with the row's columns, and offers the public methods."""

    SIGHT: Sight = "text"

    def __init__(self) -> None:
        self._episode: Episode | None = None

    def reset(self, id: str, **_: Any) -> str:  # noqa: A002 - the column
        """Begin the episode of a row; gives what is seen."""
        self._episode = Episode(id, self.SIGHT)
        return self._episode.seen()[0]

    def get_reward(self) -> float:
        """1 if the episode was solved, else 0."""
        return 1.0 if self._episode is not None and self._episode.solved else 0.0

    def _do(self, text: str) -> str:
        if self._episode is None:
            raise UsageError("no episode is under way: call reset(id) first.")
        return self._episode.act(text).seen


class GridTools(_Tools):
    """gSCAN and ReaSCAN."""

    def walk(self, steps: int = 1) -> str:
        """Walk ahead.

        Args:
            steps: how many cells, at least 1
        """
        return self._do(", ".join(["walk"] * max(1, min(int(steps), 24))))

    def turn(self, side: str) -> str:
        """Turn by 90 degrees on the spot.

        Args:
            side: left or right
        """
        return self._do(f"turn {side}")

    def push(self) -> str:
        """Push the object in the agent's cell one cell ahead. A heavy object takes two pushes for each cell."""
        return self._do("push")

    def pull(self) -> str:
        """Pull the object in the agent's cell one cell backwards. A heavy object takes two pulls for each cell."""
        return self._do("pull")

    def stay(self) -> str:
        """Stay where the agent is."""
        return self._do("stay")

    def stop(self) -> str:
        """Say that the command is carried out. This ends the episode."""
        return self._do("STOP")


class TowerTools(_Tools):
    """lilGym with towers of blocks."""

    def add(self, color: str, box: str) -> str:
        """Put a block on top of the tower of a box.

        Args:
            color: yellow, black or blue
            box: left, middle or right
        """
        return self._do(f"ADD {color} {box}")

    def remove(self, box: str) -> str:
        """Take the top block of a box away.

        Args:
            box: left, middle or right
        """
        return self._do(f"REMOVE {box}")

    def stop(self) -> str:
        """Say that the statement has the wanted truth value. This ends the episode."""
        return self._do("STOP")


class ScatterTools(_Tools):
    """lilGym with scattered items."""

    def add(self, size: str, color: str, shape: str, x: int, y: int) -> str:
        """Put an item into the scene.

        Args:
            size: small, medium or big
            color: yellow, black or blue
            shape: circle, square or triangle
            x: left edge in pixels, a multiple of 20 from 0 to 360
            y: upper edge in pixels, a multiple of 20 from 0 to 80
        """
        return self._do(f"ADD {size} {color} {shape} {x} {y}")

    def remove(self, x: int, y: int) -> str:
        """Take away the item that covers most of a cell of 20 by 20 pixels.

        Args:
            x: left edge of the cell, a multiple of 20 from 0 to 360
            y: upper edge of the cell, a multiple of 20 from 0 to 80
        """
        return self._do(f"REMOVE {x} {y}")

    def stop(self) -> str:
        """Say that the statement has the wanted truth value. This ends the episode."""
        return self._do("STOP")


class EditTools(_Tools):
    """Abstract tasks: the test world is edited until it is the output. A place is `row,column` from 1, or `box row,column`."""

    def paint(self, place: str, color: str) -> str:
        """Give an object another colour.

        Args:
            place: where it stands, such as 2,3
            color: red, blue, green or yellow
        """
        return self._do(f"paint {place} {color}")

    def reshape(self, place: str, shape: str) -> str:
        """Give an object another shape.

        Args:
            place: where it stands, such as 2,3
            shape: circle, cylinder, square or box
        """
        return self._do(f"reshape {place} {shape}")

    def resize(self, place: str, size: int) -> str:
        """Give an object another size.

        Args:
            place: where it stands, such as 2,3
            size: 1 to 4
        """
        return self._do(f"resize {place} {size}")

    def move(self, place: str, heading: str) -> str:
        """Move an object by one cell.

        Args:
            place: where it stands, such as 2,3
            heading: north, east, south or west
        """
        return self._do(f"move {place} {heading}")

    def remove(self, place: str) -> str:
        """Take an object away.

        Args:
            place: where it stands, such as 2,3
        """
        return self._do(f"remove {place}")

    def add(self, kind: str, place: str) -> str:
        """Put a new object into the world.

        Args:
            kind: colour, shape and size, such as red circle 2
            place: an empty cell, such as 1,3
        """
        return self._do(f"add {kind} at {place}")

    def stop(self) -> str:
        """Say that the world is the output. This ends the episode."""
        return self._do("STOP")


@dataclass
class Spec:
    """What GRPO needs of one part of a family's split: `.train_dataset`, `.reward_funcs`, `.environment_factory`.

    `multi_turn` makes the prompts those of episodes, for families that can be acted in.
    """

    source: str
    split: str | None = None
    part: str = "train"
    seed: int = 0
    size: int | None = None
    style: Style = "rules"
    sight: Sight = "text"
    multi_turn: bool = False
    partial: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.multi_turn and not isinstance(self.rows.family, Playing):
            raise UsageError(f"{self.rows.family.NAME} cannot be acted in; leave out multi_turn.")
        if self.multi_turn and self.sight != "text":
            raise UsageError(f"sight is {shown(self.sight)}, but tools answer in words: leave out sight, or multi_turn.")

    @cached_property
    def rows(self) -> Dataset:
        """The examples."""
        return load(self.source, self.split, self.part, seed=self.seed, size=self.size, **self.options)

    @cached_property
    def train_dataset(self) -> Any:
        """A `datasets.Dataset` with the columns `prompt` (messages), `answer`, `id`, and `images` where pictures are shown."""
        need("datasets", "trl", "3.0", "6")
        import datasets

        prompter = Prompter(self.rows.family, self.style, self.sight)
        made = []
        for example in self.rows:
            row: dict[str, Any] = {"id": example.id, "answer": prompter.words.answer(example)}
            if self.multi_turn:
                task = Episode(example, self.sight, with_rules=self.style == "rules").task
                made.append({**row, "prompt": [{"role": "user", "content": task}]})
                continue
            prompt = prompter.prompt(example)
            if not prompt.pictures:
                made.append({**row, "prompt": chat_messages(prompt)})
                continue
            parts = [
                {"type": "text", "text": p} if isinstance(p, str) else {"type": "image", "text": None} for p in prompt.pieces
            ]
            images = [{"bytes": p, "path": None} for p in prompt.pieces if isinstance(p, bytes)]
            made.append({**row, "prompt": [{"role": "user", "content": parts}], "images": images})
        found = datasets.Dataset.from_list(made)
        if made and "images" in made[0]:
            found = found.cast_column("images", datasets.List(datasets.Image()))
        return found

    @property
    def reward_funcs(self) -> list[Callable[..., list[float]]]:
        """One reward function: the verdict on the reply, or on the episode."""
        return [episode_reward] if self.multi_turn else [Reward(self.source, self.partial)]

    @property
    def environment_factory(self) -> type[_Tools]:
        """The class of the environments, with named methods as tools."""
        family = self.rows.family.NAME
        if family == "abstract":
            return EditTools
        if family != "lilgym":
            return GridTools
        return ScatterTools if self.rows[0].meta["scene"] == "scatter" else TowerTools
