"""`recombine.Episode`: an episode of lilGym, gSCAN, ReaSCAN or an abstract task in words and pictures, for models that reply in text.

    episode = recombine.Episode("reascan@2/sound/a1/test/0/000017", sight="text")
    while not episode.done:
        turn = episode.act(model(episode.messages))
    episode.solved, episode.reward

The same id and the same replies give the same episode. Nothing here needs gymnasium.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recombine.abilities import Asking, Playing, Sight
from recombine.core import Example
from recombine.data.ids import example_of
from recombine.errors import UnknownName, UsageError, shown
from recombine.evaluate.replies import parse_reply
from recombine.families import family as find_family
from recombine.jobs import make_job

__all__ = ["ENVIRONMENTS", "Episode", "Turn", "replay"]

SIGHTS: tuple[Sight, ...] = ("text", "picture", "both")
ENVIRONMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "recombine/TowerScratch-v0": ("lilgym", {"scene": "tower", "start": "scratch"}),
    "recombine/TowerFlipIt-v0": ("lilgym", {"scene": "tower", "start": "flipit"}),
    "recombine/ScatterScratch-v0": ("lilgym", {"scene": "scatter", "start": "scratch"}),
    "recombine/ScatterFlipIt-v0": ("lilgym", {"scene": "scatter", "start": "flipit"}),
    "recombine/GSCAN-v0": ("gscan", {}),
    "recombine/ReaSCAN-v0": ("reascan", {}),
    "recombine/Abstract-v0": ("abstract", {}),
}
"""Id of a Gymnasium environment -> the family and the options of its rows."""


@dataclass(frozen=True)
class Turn:
    """The effect of one reply.

    `seen` is the text to show next. `reward` is the sum over the actions of this reply. `info` says more: `error`, `said`,
    `actions`, `step`, `solved`. `picture` is a PNG where the episode shows pictures.
    """

    seen: str
    reward: float
    done: bool
    info: Mapping[str, Any]
    picture: bytes | None = field(default=None, repr=False)

    @property
    def message(self) -> dict[str, Any]:
        """The turn as a chat message of the user."""
        return _message(self.seen, self.picture)


class Episode:
    """One episode. `messages` is the conversation so far, ready to be sent to a model; `act` takes the model's reply.

    `source` is an id, an `Example`, or the name of a Gymnasium environment of ours (then `index`, `split`, `part` and `seed` choose
    the row). `with_rules` explains the rules in the first message. `settings` are those of the environment: `goal`, `horizon`
    and `step_penalty` for a grid; `horizon` and `step_penalty` for an abstract task; `rules`, `grid`, `horizon`, `stop_forcing` and `step_cost` for lilGym.
    """

    def __init__(
        self,
        source: str | Example,
        sight: Sight = "text",
        *,
        with_rules: bool = True,
        index: int = 0,
        split: str | None = None,
        part: str = "test",
        seed: int = 0,
        **settings: Any,
    ) -> None:
        if sight not in SIGHTS:
            raise UnknownName("sight", sight, SIGHTS)
        self.example = _example(source, index, split, part, seed)
        family = self.example.family
        if not isinstance(family, Playing):
            raise UsageError(f"{family.NAME} cannot be acted in; episodes exist for lilgym, gscan, reascan and abstract.")
        self.sight: Sight = sight
        self.settings = dict(settings)
        self._family: Playing = family
        self._with_rules = with_rules
        self.reset()

    def reset(self) -> list[dict[str, Any]]:
        """Begin the same episode again; gives the messages."""
        self._state = self._family.begin(self.example, self.settings)
        self.turns: list[Turn] = []
        self.reward = 0.0
        self.done = self.solved = False
        self._messages = [self._first()]
        return self.messages

    @property
    def id(self) -> str:
        """The id of the row in which the episode takes place."""
        return self.example.id

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far as OpenAI chat messages: the task and what is seen, then reply and answer in turn."""
        return list(self._messages)

    @property
    def task(self) -> str:
        """The text before the world in the first message: the task, how to read pictures, and the rules if wanted."""
        family = self.example.family
        parts = [self._family.acting_task(self.example, self.settings)]
        if isinstance(family, Asking):
            if self.sight != "text":
                parts.append(family.prompts.legend(family.NAME))
            if self._with_rules:
                parts.append("Rules:\n" + family.prompts.rules(family.NAME))
        return "\n\n".join(parts)

    def seen(self, sight: Sight | None = None) -> tuple[str, bytes | None]:
        """What the agent sees now: a text, and a picture if `sight` asks for one."""
        return self._state.seen(sight or self.sight)

    def act(self, text: str) -> Turn:
        """Carry out the actions of a reply. Never raises for what a model may say: a bad reply gives a sentence and its cost."""
        said = text if isinstance(text, str) else str(text)
        if self.done:
            info: Mapping[str, Any] = {
                "error": "over",
                "errors": ["over"],
                "said": "The episode is over.",
                "actions": [],
                "step": self.turns[-1].info["step"],
                "solved": self.solved,
            }
            return Turn("The episode is over. Nothing was done.", 0.0, True, info)
        reward, self.done, info = self._state.act(self._answer(said))
        self.reward += reward
        self.solved = bool(info["solved"])
        words, picture = self.seen()
        told = [info["said"]] if info["said"] else []
        told += [f"The episode is over: {'solved' if self.solved else 'not solved'}."] if self.done else []
        turn = Turn("\n".join([*told, words]), reward, self.done, info, picture)
        self.turns.append(turn)
        self._messages += [{"role": "assistant", "content": said}, turn.message]
        return turn

    def answer(self) -> str:
        """The actions so far in the form of the family's answers, so that mistakes get names. Empty if no action was taken."""
        return self._state.answer()

    def expert(self) -> tuple[str, ...]:
        """A plan from here to the goal, one action each; empty if the episode is over or no plan exists."""
        return self._state.expert()

    def expert_reply(self) -> str:
        """The same plan as one reply that `act` reads."""
        return (", " if self._family.ACTIONS else "; ").join(self.expert())

    def _answer(self, text: str) -> str:
        """The part of a reply that names actions: what follows the last `Answer:`, or the reply without its thoughts."""
        parsed = parse_reply(text)
        if parsed.answer is not None:
            return parsed.answer
        return text.rpartition("</think>")[2]

    def _first(self) -> dict[str, Any]:
        words, picture = self.seen()
        return _message(f"{self.task}\n\n{words}", picture)

    def __repr__(self) -> str:
        return f"Episode({self.id!r}, turns={len(self.turns)}, reward={self.reward:g}, done={self.done})"


def replay(source: str | Example, replies: Sequence[str], **arguments: Any) -> Episode:
    """The episode after these replies; those after its end are not played."""
    episode = Episode(source, **arguments)
    for reply in replies:
        if episode.done:
            break
        episode.act(reply)
    return episode


def _example(source: str | Example, index: int, split: str | None, part: str, seed: int) -> Example:
    if isinstance(source, Example):
        return source
    if not isinstance(source, str):
        raise UsageError(f"an episode takes an id, an Example or an environment's name, but {shown(source)} was given.")
    if source not in ENVIRONMENTS:
        if source.startswith("recombine/"):
            raise UnknownName("environment", source, ENVIRONMENTS)
        return example_of(source)
    name, options = ENVIRONMENTS[source]
    family = find_family(name)
    job = make_job(family, split, part, "sound", seed, options)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < job.stop:
        raise UsageError(f"index is {shown(index)}, but must be an integer from 0 to {job.stop - 1}.")
    return family.example(family.generate(job.rows(index, index + 1)), 0)


def _message(text: str, picture: bytes | None) -> dict[str, Any]:
    if picture is None:
        return {"role": "user", "content": text}
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]
    return {"role": "user", "content": parts}
