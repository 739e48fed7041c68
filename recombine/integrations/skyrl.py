"""SkyRL-gym: the environments `recombine` (one reply) and `recombine-episode` (several turns).

`import recombine.integrations.skyrl` registers both. Rows are `{"prompt": …, "env_class": "recombine", "extras": {"id": …}}`, as
`recombine export DIR --for skyrl` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recombine.core import Score
from recombine.episodes import Episode
from recombine.errors import UsageError
from recombine.integrations import need
from recombine.scorer import Scorer

need("skyrl-gym", "skyrl", "0.4", "0.5")

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput  # noqa: E402
from skyrl_gym.envs.registration import register, registry  # noqa: E402

__all__ = ["EpisodeEnv", "RowEnv"]

_SCORER = Scorer()
MAX_TURNS = 20
"""Replies after which an episode is given up, unless the environment's configuration or SkyRL's `max_turns` says otherwise."""


def _id(extras: Mapping[str, Any] | None) -> str:
    given = extras or {}
    name = given.get("id") or (given.get("extras") or {}).get("id")  # SkyRL's trainer hands over all columns of the row
    if not isinstance(name, str):
        raise UsageError("a row has no extras['id']: make it with `recombine export DIR --for skyrl`.")
    return name


class RowEnv(BaseTextEnv):  # type: ignore[misc]
    """One reply to a prompt: reward 1 if it is right."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        super().__init__()
        self.id, self.score = _id(extras), Score(0.0, status="unparsable")

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the reply; the episode is over."""
        self.score = _SCORER(self.id, action)
        about = {"id": self.id, "status": self.score.status, "mistake": self.score.mistake or ""}
        return BaseTextEnvStepOutput(observations=[], reward=self.score.value, done=True, metadata=about)

    def get_metrics(self) -> dict[str, float]:
        """Shares that SkyRL logs."""
        return {"answered": float(self.score.status != "unparsable"), "named_mistake": float(bool(self.score.mistake))}


class EpisodeEnv(BaseTextEnv):  # type: ignore[misc]
    """An episode of lilGym, gSCAN, ReaSCAN or an abstract task in words. The reply that earns a reward gets it."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.episode = Episode(_id(extras))
        asked = env_config.get("max_turns") if isinstance(env_config, Mapping) else getattr(env_config, "max_turns", None)
        self.most = int(asked or (extras or {}).get("max_turns") or MAX_TURNS)

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """The first messages: the row's own prompt, or the episode's if the row has none."""
        return prompt or self.episode.reset(), {"id": self.episode.id}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Carry out the actions of a reply."""
        turn = self.episode.act(action)
        is_over = turn.done or len(self.episode.turns) >= self.most
        about = {"id": self.episode.id, "solved": self.episode.solved, "error": turn.info["error"] or ""}
        return BaseTextEnvStepOutput(
            observations=[] if is_over else [turn.message], reward=turn.reward, done=is_over, metadata=about
        )

    def get_metrics(self) -> dict[str, float]:
        """Shares that SkyRL logs."""
        return {"solved": float(self.episode.solved), "turns": float(len(self.episode.turns))}


for _name, _class in (("recombine", "RowEnv"), ("recombine-episode", "EpisodeEnv")):
    if _name not in registry:
        register(id=_name, entry_point=f"{__name__}:{_class}")
