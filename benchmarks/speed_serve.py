"""What pages cost: CPU of the server for each kind of page, and requests a second over a real connection.

    python benchmarks/speed_serve.py

Pages are asked for inside this process, so the CPU time is the server's own. Every address is asked once to warm up.
"""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from people_serve import Server

KINDS = {
    "home": ["/"],
    "scan": [f"/scan@1/release/simple/test/0/{n:06d}" for n in range(200)],
    "scan, solution": [f"/scan@1/release/simple/test/0/{n:06d}?show=1" for n in range(60)],
    "nacs, solution": [f"/nacs@1/release/simple/test/0/{n:06d}?show=1" for n in range(60)],
    "gscan, solution": [f"/gscan@1/sound/compositional/test/0/{n:06d}?show=1" for n in range(40)],
    "reascan, solution": [f"/reascan@2/sound/all/test/0/{n:06d}?show=1" for n in range(40)],
    "clutrr, solution": [f"/clutrr@2/sound/generalization_23/test_k4/0/{n:06d}?show=1" for n in range(40)],
    "lilgym, solution": [f"/lilgym@2/sound/random/test/0/{n:06d}?show=1" for n in range(40)],
    "abstract, solution": [f"/abstract@1/sound/random/test/0/{n:06d}?show=1" for n in range(20)],
    "lexicon, solution": [f"/lexicon@1/sound/random/test/0/{n:06d}?show=1" for n in range(40)],
    "lilgym scatter, solution": [f"/lilgym@2/sound+scene=scatter/random/test/0/{n:06d}?show=1" for n in range(40)],
    "change gscan": [f"/change/gscan@1/sound/compositional/test/0/{n:06d}" for n in range(20)],
    "change reascan": [f"/change/reascan@2/sound/all/test/0/{n:06d}" for n in range(20)],
    "change clutrr": [f"/change/clutrr@2/sound/generalization_23/test_k4/0/{n:06d}" for n in range(20)],
    "change lilgym": [f"/change/lilgym@2/sound/random/test/0/{n:06d}" for n in range(20)],
    "studies": ["/studies"],
}


async def _get(app: object, address: str) -> int:
    """One request, without a network."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http", "root_path": "",
    }  # fmt: skip
    statuses = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)  # type: ignore[operator]
    return int(statuses[0])


async def pages(store: Path) -> None:
    """CPU of each kind of page."""
    from recombine.serve.app import make_app
    from recombine.serve.settings import Limits, Settings

    app = make_app(Settings(studies=store, limits=Limits(reads_per_second=1e9)))
    for name, addresses in KINDS.items():
        await _get(app, addresses[-1])
        costs = []
        for address in addresses:
            started = time.process_time()
            status = await _get(app, address)
            costs.append((1000 * (time.process_time() - started), address))
            assert status == 200, address
        mean, (worst, where) = sum(cost for cost, _ in costs) / len(costs), max(costs)
        print(f"{name:24} mean {mean:6.1f} ms   worst {worst:6.1f} ms of CPU ({where})")


def browsing(store: Path, requests: int = 3_000) -> None:
    """Requests a second for SCAN, one after the other on one connection; the server has one process."""
    server = Server(store)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for pass_ in range(2):
            started = time.perf_counter()
            cpu = _cpu(server.process.pid)
            for n in range(requests):
                connection.request("GET", f"/scan@1/release/simple/test/0/{n:06d}")
                reply = connection.getresponse()
                reply.read()
                assert reply.status == 200
            took, used = time.perf_counter() - started, _cpu(server.process.pid) - cpu
            print(
                f"browsing SCAN, pass {pass_ + 1}: {requests / took:.0f} requests a second; {requests / used:.0f} for each CPU-second of the server"
            )
    finally:
        server.kill()


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(subprocess.run(["getconf", "CLK_TCK"], capture_output=True, text=True, check=True).stdout)
    return (int(fields[11]) + int(fields[12])) / ticks


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(pages(Path(folder) / "a.sqlite"))
        browsing(Path(folder) / "b.sqlite")
    sys.exit(0)
