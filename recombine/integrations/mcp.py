"""MCP: episodes as the tools `begin`, `look`, `act` and `explain`, for any MCP client. `recombine mcp` serves them."""

from __future__ import annotations

import threading
from typing import Any

from recombine.abilities import Sight
from recombine.episodes import ENVIRONMENTS, Episode
from recombine.errors import RecombineError, UsageError, shown
from recombine.integrations import need

__all__ = ["Table", "server"]

MOST_EPISODES = 1_000
"""Episodes that a server holds; the oldest gives way."""


class Table:
    """The episodes of one server, by number."""

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self.count = 0
        self.lock = threading.Lock()

    def begin(self, world: str, index: int, sight: Sight, split: str | None, part: str) -> tuple[str, Episode]:
        """Start an episode; gives its number and the episode."""
        episode = Episode(world, sight, index=index, split=split, part=part)
        with self.lock:
            self.count += 1
            number = str(self.count)
            self.episodes[number] = episode
            while len(self.episodes) > MOST_EPISODES:
                del self.episodes[next(iter(self.episodes))]
        return number, episode

    def at(self, number: str) -> Episode:
        """The episode with this number."""
        with self.lock:
            if number not in self.episodes:
                raise UsageError(f"there is no episode {shown(number)}; call begin first and use the number that it gives.")
            return self.episodes[number]


def server() -> Any:
    """The server, with its tools; `.run()` serves over standard input and output."""
    need("fastmcp", "mcp", "3.0", "4")
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.utilities.types import Image

    made, table = FastMCP("recombine"), Table()

    def begin(world: str = "recombine/ReaSCAN-v0", index: int = 0, split: str | None = None, part: str = "test") -> str:
        """Begin an episode. `world` is the id of a row, or one of the worlds listed by an error. Gives the episode's number and the task."""
        try:
            number, episode = table.begin(world, index, "text", split, part)
        except RecombineError as problem:
            raise ToolError(f"{problem} Worlds: {', '.join(ENVIRONMENTS)}.") from None
        return f"Episode {number}.\n\n{episode.messages[0]['content']}"

    def look(episode: str, picture: bool = False) -> Any:
        """What is seen now in an episode, in words or as a picture."""
        try:
            found = table.at(episode)
        except RecombineError as problem:
            raise ToolError(str(problem)) from None
        words, png = found.seen("picture" if picture else "text")
        return words if png is None else Image(data=png, format="png")

    def act(episode: str, actions: str) -> str:
        """Carry out one or more actions in an episode. Gives what happened, the reward so far, and what is seen."""
        try:
            found = table.at(episode)
        except RecombineError as problem:
            raise ToolError(str(problem)) from None
        turn = found.act(actions)
        return f"Reward so far: {found.reward:g}.\n{turn.seen}"

    def explain(episode: str) -> str:
        """The proof of the right answer; only after the episode is over."""
        try:
            found = table.at(episode)
        except RecombineError as problem:
            raise ToolError(str(problem)) from None
        if not found.done:
            raise ToolError("the episode is not over; the proof is shown after its end.")
        return str(found.example.explain())

    for tool in (begin, look, act, explain):
        made.tool(tool)
    return made
