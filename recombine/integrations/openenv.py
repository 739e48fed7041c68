"""OpenEnv: episodes of lilGym, gSCAN, ReaSCAN and abstract tasks as one server (WebSocket and HTTP), and its client.

    uvicorn recombine.integrations.openenv:app --port 8000

A session begins with `reset(world=…, index=…, sight=…)`: `world` is the id of a row or the name of an environment of ours. `step` takes
a reply of a model, with one action or several. The reward comes with the action that earns it.
"""

from __future__ import annotations

import base64
from typing import Any
from uuid import uuid4

from recombine.episodes import Episode
from recombine.errors import RecombineError, UsageError
from recombine.integrations import need

need("openenv", "openenv", "0.10", "0.11")

from openenv.core.env_client import EnvClient, StepResult  # noqa: E402
from openenv.core.env_server import create_app  # noqa: E402
from openenv.core.env_server.interfaces import Environment  # noqa: E402
from openenv.core.env_server.types import Action, Observation, State  # noqa: E402
from pydantic import Field  # noqa: E402

__all__ = ["Client", "Reply", "Seen", "Server", "app"]

MOST_SESSIONS = 64
"""Episodes that run at the same time on one server."""


class Reply(Action):  # type: ignore[misc]
    """A model's reply."""

    text: str = Field(..., description="one action or several: `walk, turn left, STOP` or `ADD blue left; STOP`")


class Seen(Observation):  # type: ignore[misc]
    """What the agent sees, as text and perhaps as a picture."""

    text: str = ""
    picture: str | None = Field(None, description="a PNG in base64")
    error: str = ""


class Server(Environment):  # type: ignore[misc]
    """One episode at a time; OpenEnv makes one of these per session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._episode: Episode | None = None
        self._state = State(episode_id="", step_count=0)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, world: str = "recombine/ReaSCAN-v0", index: int = 0,
        sight: Any = "text", split: str | None = None, part: str = "test", **settings: Any,
    ) -> Seen:  # fmt: skip
        """Begin an episode; the observation holds the task and what is seen."""
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        try:
            self._episode = Episode(world, sight, index=index, split=split, part=part, seed=seed or 0, **settings)
        except RecombineError as problem:
            self._episode = None
            return Seen(text=str(problem), error="no_episode", done=True, reward=0.0)
        words, picture = self._episode.seen()
        return self._seen(f"{self._episode.task}\n\n{words}", picture, 0.0, "")

    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Seen:  # noqa: ARG002 - part of the interface
        """Carry out the actions of a reply."""
        if self._episode is None:
            return Seen(text="No episode is under way: call reset first.", error="no_episode", done=True, reward=0.0)
        self._state.step_count += 1
        turn = self._episode.act(action.text)
        return self._seen(turn.seen, turn.picture, turn.reward, str(turn.info["error"] or ""))

    def _seen(self, text: str, picture: bytes | None, reward: float, error: str) -> Seen:
        episode = self._episode
        if episode is None:
            raise UsageError("no episode is under way: call reset first.")
        shown = None if picture is None else base64.b64encode(picture).decode()
        about = {"id": episode.id, "solved": episode.solved}
        return Seen(text=text, picture=shown, error=error, done=episode.done, reward=reward, metadata=about)

    @property
    def state(self) -> State:
        """The id of the episode and how many replies it has had."""
        return self._state


class Client(EnvClient[Reply, Seen, State]):  # type: ignore[misc]
    """The client: `async with Client(base_url=…) as env: await env.reset(world=…); await env.step(Reply(text=…))`."""

    def _step_payload(self, action: Reply) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        seen = Seen(**{**payload.get("observation", {}), "done": payload.get("done", False), "reward": payload.get("reward")})
        return StepResult(observation=seen, reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


app = create_app(Server, Reply, Seen, env_name="recombine", max_concurrent_envs=MOST_SESSIONS)
"""The application that uvicorn serves."""
