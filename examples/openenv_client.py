"""Play an episode through OpenEnv. First: `uvicorn recombine.integrations.openenv:app --port 8000`."""

import asyncio

from recombine.integrations.openenv import Client, Reply


async def main() -> None:
    """Begin and act."""
    async with Client(base_url="http://127.0.0.1:8000") as env:
        first = await env.reset(world="recombine/TowerScratch-v0", index=3)
        print(first.observation.text)
        result = await env.step(Reply(text="ADD blue left; STOP"))
        print(result.observation.text, result.reward)


asyncio.run(main())
