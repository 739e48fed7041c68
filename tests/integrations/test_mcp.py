"""An MCP client plays a ReaSCAN episode to its end, and asks for the proof."""

from __future__ import annotations

import asyncio
import re

import pytest

fastmcp = pytest.importorskip("fastmcp", reason="fastmcp is not installed")

from fastmcp.exceptions import ToolError

from recombine.episodes import Episode
from recombine.integrations.mcp import server

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_an_episode_is_played_and_explained() -> None:
    async def played() -> list[str]:
        async with fastmcp.Client(server()) as client:
            assert {tool.name for tool in await client.list_tools()} == {"begin", "look", "act", "explain"}
            first = (await client.call_tool("begin", {"world": "recombine/ReaSCAN-v0", "index": 3})).content[0].text
            number = re.match(r"Episode (\d+)\.", first)[1]  # type: ignore[index]
            with pytest.raises(ToolError, match="not over"):
                await client.call_tool("explain", {"episode": number})
            picture = (await client.call_tool("look", {"episode": number, "picture": True})).content[0]
            bad = (await client.call_tool("act", {"episode": number, "actions": "fly"})).content[0].text
            plan = Episode("recombine/ReaSCAN-v0", index=3).expert_reply()
            end = (await client.call_tool("act", {"episode": number, "actions": plan})).content[0].text
            proof = (await client.call_tool("explain", {"episode": number})).content[0].text
            return [first, picture.mimeType, bad, end, proof]

    first, mime, bad, end, proof = asyncio.run(played())
    assert "Command:" in first and mime == "image/png"
    assert "no list of actions" in bad and "Reward so far: 0." in bad
    assert "Reward so far: 1." in end and "solved" in end
    assert "1. " in proof


def test_unknown_worlds_and_episodes_are_told() -> None:
    async def asked() -> None:
        async with fastmcp.Client(server()) as client:
            with pytest.raises(ToolError, match=r"Worlds: .*recombine/GSCAN-v0"):
                await client.call_tool("begin", {"world": "recombine/Chess-v0"})
            with pytest.raises(ToolError, match="no episode"):
                await client.call_tool("act", {"episode": "9", "actions": "walk"})

    asyncio.run(asked())
