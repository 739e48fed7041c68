"""OpenEnv: a scripted client solves a ReaSCAN episode over the real WebSocket of a real server."""

from __future__ import annotations

import asyncio
import base64
import threading
import time

import pytest

pytest.importorskip("openenv", reason='openenv is not installed: pip install "recombine[openenv]"')

import uvicorn

from recombine.episodes import Episode
from recombine.integrations.openenv import Client, Reply, Server, app

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_client_solves_an_episode() -> None:
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]

    async def played() -> list[object]:
        async with Client(base_url=f"http://127.0.0.1:{port}") as env:
            first = await env.reset(world="recombine/ReaSCAN-v0", index=3, sight="both")
            bad = await env.step(Reply(text="fly"))
            end = await env.step(Reply(text=Episode("recombine/ReaSCAN-v0", index=3).expert_reply()))
            return [first.observation, bad.observation, end.observation, end.reward, end.done]

    first, bad, end, reward, done = asyncio.run(played())
    server.should_exit = True
    assert "Command:" in first.text and base64.b64decode(first.picture)[:4] == b"\x89PNG"  # type: ignore[attr-defined]
    assert bad.error and not bad.done  # type: ignore[attr-defined]
    assert (reward, done) == (1.0, True) and "solved" in end.text  # type: ignore[attr-defined]


def test_what_does_not_exist_is_told_and_nothing_is_raised() -> None:
    server = Server()
    assert server.step(Reply(text="walk")).error == "no_episode"
    assert "Chess" in server.reset(world="recombine/Chess-v0").text
