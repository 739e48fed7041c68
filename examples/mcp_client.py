"""Play an episode through MCP: `pip install "recombine[mcp]"`. Other clients run `recombine mcp` and find the same tools."""

import asyncio

from fastmcp import Client

from recombine.integrations.mcp import server


async def main() -> None:
    """Begin, look, act."""
    async with Client(server()) as client:
        begun = await client.call_tool("begin", {"world": "recombine/TowerScratch-v0", "index": 3})
        print(begun.content[0].text)
        done = await client.call_tool("act", {"episode": "1", "actions": "ADD blue left; STOP"})
        print(done.content[0].text)


asyncio.run(main())
