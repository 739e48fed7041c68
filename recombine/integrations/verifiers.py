"""verifiers 0.4: `recombine_vf` (one reply) and `recombine_play_vf` (episodes) are the modules that its commands name.

    vf-validate recombine_vf -n 20 --taskset.family reascan --taskset.split a1
    vf-eval recombine_vf -n 20 --env.taskset.family reascan --env.agent.harness.id null --env.agent.runtime.type subprocess

`validate` of a task says that the right answer scores 1 and that the oracle finds nothing wrong with the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recombine.data.datasets import load
from recombine.data.ids import example_of
from recombine.episodes import Episode
from recombine.evaluate.prompts import Prompter
from recombine.integrations import first_rows, need
from recombine.scorer import Scorer

need("verifiers", "verifiers", "0.4", "0.5")

import verifiers.v1 as vf  # noqa: E402

__all__ = ["PlayEnv", "PlayTaskset", "RowTaskset"]

_SCORER = Scorer()


class Row(vf.TaskData):  # type: ignore[misc]
    """A row of ours: its id and its right answer."""

    row_id: str
    right: str


class RowTask(vf.Task[Row]):  # type: ignore[misc]
    """One prompt, one reply."""

    @property
    def key(self) -> str:
        """The id of the row."""
        return str(self.data.row_id)

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def right(self, trace: vf.Trace) -> float:
        """1 for a right reply; the mistake's name is in the trace."""
        score = _SCORER(self.key, trace.last_reply or "")
        trace.info["mistake"], trace.info["status"] = score.mistake or "", score.status
        return score.value

    @vf.metric  # type: ignore[untyped-decorator]
    async def answered(self, trace: vf.Trace) -> float:
        """Whether the reply could be read."""
        return float(_SCORER(self.key, trace.last_reply or "").status != "unparsable")

    async def validate(self, runtime: vf.Runtime) -> bool:  # noqa: ARG002 - part of the interface
        """The right answer scores 1, and the oracle finds nothing wrong."""
        is_right = _SCORER(self.key, f"Answer: {self.data.right}").value == 1.0
        return is_right and not [p for p in example_of(self.key).validate() if p.severity == "error"]


class RowConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Which rows."""

    family: str = "reascan"
    split: str | None = None
    part: str | None = None
    seed: int = 0
    size: int | None = None
    style: str = "rules"


class RowTaskset(vf.Taskset[RowTask, RowConfig]):  # type: ignore[misc]
    """The rows of a part as prompts."""

    def load(self) -> Iterator[RowTask]:
        """One task per row."""
        asked: Any = self.config
        rows = load(asked.family, asked.split, asked.part, seed=asked.seed, size=asked.size)
        prompter = Prompter(rows.family, asked.style)
        for index, example in enumerate(rows):
            words = prompter.prompt(example).text
            row = Row(idx=index, name=example.id, prompt=words, row_id=example.id, right=prompter.words.answer(example))
            yield RowTask(row, asked.task)


class Scene(vf.TaskData):  # type: ignore[misc]
    """An episode's row."""

    row_id: str


class PlayTask(vf.Task[Scene]):  # type: ignore[misc]
    """One episode."""

    @property
    def key(self) -> str:
        """The id of the row."""
        return str(self.data.row_id)

    async def validate(self, runtime: vf.Runtime) -> bool:  # noqa: ARG002 - part of the interface
        """The expert's plan solves the episode."""
        episode = Episode(self.key)
        episode.act(episode.expert_reply())
        return episode.solved


class PlayEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The player, and the most turns."""

    player: vf.AgentConfig = vf.AgentConfig()
    max_turns: int = 20


class PlayEnv(vf.Env[PlayEnvConfig]):  # type: ignore[misc]
    """Episodes of lilGym, gSCAN, ReaSCAN and abstract tasks in words."""

    async def run(self, task: PlayTask, agents: Any) -> None:
        """Play until the episode or the turns are over; reward 1 if it was solved."""
        episode, unread = Episode(task.key), 0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated and len(episode.turns) < self.config.max_turns:
                turn = episode.act(segment.last_reply or "")
                unread += bool(turn.info["error"])
                if episode.done:
                    break
                segment = await interaction.turn(turn.seen)
        interaction.trace.record_reward("solved", float(episode.solved), 1.0)
        interaction.trace.record_metric("replies_with_errors", float(unread))


class PlayConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Which rows."""

    family: str = "reascan"
    split: str | None = None
    part: str | None = None
    seed: int = 0
    size: int = 200


class PlayTaskset(vf.Taskset[PlayTask, PlayConfig]):  # type: ignore[misc]
    """The rows of a part as episodes."""

    def load(self) -> Iterator[PlayTask]:
        """One task per row."""
        asked: Any = self.config
        for index, example in enumerate(first_rows(asked.family, asked.split, asked.part, asked.seed, asked.size)):
            episode = Episode(example)
            words, _ = episode.seen()
            prompt = f"{episode.task}\n\n{words}"
            yield PlayTask(Scene(idx=index, name=example.id, prompt=prompt, row_id=example.id), asked.task)
