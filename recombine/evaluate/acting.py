"""Models that act instead of answering at once: episodes of several turns, kept turn by turn in the journal of an `ask` run.

Every reply is one line of the journal, under the name of its turn. Replies and rules decide an episode, so a run that was stopped plays
the kept replies again and goes on from there. A line of `answers.jsonl` holds the replies too; `recombine evaluate` plays them again and
believes nothing else.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recombine import keys
from recombine.abilities import Playing, Sight
from recombine.core import Example, Score
from recombine.episodes import Episode
from recombine.errors import FileError, RecombineError, UnknownName, UsageError, shown
from recombine.evaluate.answers import Answer
from recombine.evaluate.prompts import Prompt
from recombine.evaluate.replies import parse_reply
from recombine.schemas import check, flag, listing, mapping, option, record, text

EPISODE = "episode"
"""The field of an answer that makes it an episode."""
MOST_TURNS = 1_000
RESERVED = ("self", "source", "sight", "with_rules", "index", "split", "part", "seed")
"""Arguments of `Episode` that are no settings."""
KEPT = ("tokens_in", "tokens_out", "seconds")
EPISODE_SHAPE = record({
    "sight": text(20), "with_rules": flag, "settings": mapping(option), "replies": listing(text(1 << 24)),
})  # fmt: skip
"""What the field `episode` of an answer must hold."""


def turn_key(key: str, turn: int) -> str:
    """The name of an episode's n-th reply in the journal; `key` names the row and the sample."""
    return f"{key}~{turn}"


def _episode(example: Example, sight: Sight, with_rules: bool, settings: Mapping[str, Any]) -> Episode:
    """The row's episode; a setting that `Episode` would take for an argument of its own is unknown."""
    for name in settings:
        if name in RESERVED:
            raise UnknownName("setting of an episode", name, ())
    return Episode(example, sight, with_rules=with_rules, **settings)


@dataclass(frozen=True)
class Acting:
    """Settings of a run that acts: sight, whether prompts give the rules, the most replies, and the settings of the episodes."""

    sight: Sight = "text"
    with_rules: bool = False
    turns: int = 20
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.turns <= MOST_TURNS:
            raise UsageError(f"--turns is {shown(self.turns)}, but must be 1 to {MOST_TURNS:,}.")

    def episode(self, example: Example) -> Episode:
        """The row's episode at its beginning; a family without episodes or an unknown setting is an error."""
        return _episode(example, self.sight, self.with_rules, self.settings)

    def identity(self, first: Example) -> dict[str, Any]:
        """Everything that decides the episodes of a run: all settings, and a digest of the prompt's text."""
        told = self.episode(first).task
        return {
            "sight": self.sight,
            "with_rules": self.with_rules,
            "turns": self.turns,
            "settings": dict(self.settings),
            "task_hash": keys.digest(told).hex()[:16],
        }


@dataclass
class Played:
    """An episode as far as its replies go.

    `status` is empty while it can go on and when it came to its end; else it says why no further reply counts: `truncated`, `refused`
    or `error`.
    """

    acting: Acting
    episode: Episode
    replies: list[Mapping[str, Any]] = field(default_factory=list)
    status: str = ""

    @property
    def is_open(self) -> bool:
        """Whether another reply is wanted."""
        return not self.status and not self.episode.done and len(self.replies) < self.acting.turns

    def take(self, reply: Mapping[str, Any]) -> None:
        """Act on one reply of the journal. A reply that was cut off, refused or lost is not acted on: the episode ends there."""
        self.replies.append(reply)
        if reply["error"]:
            self.status = "error"
        elif (status := parse_reply("", reply["finish"], reply["refusal"]).status) in ("truncated", "refused"):
            self.status = status
        else:
            self.episode.act(reply["reply"])

    def prompt(self) -> Prompt:
        """The conversation so far as one prompt: what the next request may cost and what the journal keeps."""
        pieces = [piece for message in self.episode.messages for piece in _pieces(message)]
        last = "".join(piece for piece in _pieces(self.episode.messages[-1]) if isinstance(piece, str))
        return Prompt(self.episode.id, tuple(pieces), last)

    def answer(self) -> Answer:
        """The line of `answers.jsonl`: what was done, the replies, and how the episode ended."""
        episode = self.episode
        told = {
            "sight": self.acting.sight,
            "with_rules": self.acting.with_rules,
            "settings": dict(self.acting.settings),
            "replies": [reply["reply"] for reply in self.replies],
            "solved": episode.solved,
            "reward": episode.reward,
            "turns": len(episode.turns),
        }
        more = {name: _total(self.replies, name) for name in KEPT}
        models = sorted({reply["model"] for reply in self.replies if reply["model"]})
        last = self.replies[-1]["error"] if self.replies else ""
        return Answer(
            episode.id, episode.answer(), self.status or None,
            {EPISODE: told, "model": ", ".join(models), **more, **({"error": last} if last else {})},
        )  # fmt: skip


def _total(replies: Sequence[Mapping[str, Any]], name: str) -> float | None:
    given = [reply[name] for reply in replies if reply[name] is not None]
    return round(sum(given), 3) if given else None


def _pieces(message: Mapping[str, Any]) -> list[str | bytes]:
    """The texts and PNG pictures of a chat message, in order."""
    content = message["content"]
    if isinstance(content, str):
        return [content]
    found: list[str | bytes] = []
    for piece in content:
        if piece["type"] == "text":
            found.append(piece["text"])
        else:
            found.append(base64.b64decode(piece["image_url"]["url"].partition(",")[2]))
    return found


def played_so_far(
    acting: Acting, example: Example, key: str, replies: Mapping[str, Mapping[str, Any]], retry_errors: bool = False
) -> Played:
    """The episode after the replies that the journal holds. With `retry_errors`, a turn that ended in an error is open again."""
    played = Played(acting, acting.episode(example))
    while played.is_open:
        reply = replies.get(turn_key(key, len(played.replies) + 1))
        if reply is None or (retry_errors and reply["error"]):
            break
        played.take(reply)
    return played


# --- the verdict -----------------------------------------------------------------------------------------------------


def is_episode(given: Answer) -> bool:
    """Whether an answer is the record of an episode."""
    return EPISODE in given.more


def episode_of(example: Example, given: Answer) -> Episode:
    """The beginning of the episode that an answer records; a record that no episode fits is an error."""
    told: Any = given.more.get(EPISODE)
    check(told, EPISODE_SHAPE, f"the episode of {shown(given.id)}")
    if not isinstance(example.family, Playing):
        raise FileError(f"the answer to {shown(given.id)} is an episode, but {example.family.NAME} cannot be acted in.")
    try:
        return _episode(example, told["sight"], told["with_rules"], told["settings"])
    except RecombineError as problem:
        raise FileError(f"the episode of {shown(given.id)} cannot be played again: {problem}") from None


def score_episode(example: Example, given: Answer) -> Score:
    """The verdict on an episode, from its replies alone: they are played again under the settings that the answer names.

    Solved is right. Mistakes have the names that the family's `score` gives to what was done. `detail` holds `reward`, `turns` and `steps`.
    """
    told, episode = given.more[EPISODE], episode_of(example, given)
    for reply in told["replies"]:
        if episode.done:
            break
        episode.act(reply)
    info = episode.turns[-1].info if episode.turns else {}
    detail = {"reward": episode.reward, "turns": len(episode.turns), "steps": int(info.get("step", 0))}
    if episode.solved:
        return Score(1.0, "right", detail=detail)
    done = episode.answer()
    if not done:
        return Score(0.0, "unparsable", detail=detail)
    return Score(0.0, "wrong", example.score(done).mistakes, detail)
