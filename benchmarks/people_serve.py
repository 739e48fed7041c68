"""Many people at once in a study: no record is lost or doubled, also when the server is killed in between.

    python benchmarks/people_serve.py --people 50 --seconds 60             # the load of a busy study
    python benchmarks/people_serve.py --people 20 --submissions 1000 --kills 5

Every participant is a thread that follows the link, hands in one answer after the other, and repeats a request that got no reply.
At the end the file must hold exactly the answers that were acknowledged, each once, and no others but those in flight at a kill.
"""

from __future__ import annotations

import argparse
import http.client
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

FORM = "application/x-www-form-urlencoded"


@dataclass
class Tally:
    """What the participants saw."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    repeats: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self) -> int:
        with self.lock:
            return len(self.acknowledged)


class Visitor:
    """One browser: cookies, and patience while the server is away."""

    def __init__(self, port: int) -> None:
        self.port, self.cookies = port, dict[str, str]()

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str, str]:
        """(status, location, text)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        body = urlencode(fields) if fields is not None else None
        if body is not None:
            headers["Content-Type"] = FORM
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            text = reply.read().decode()
            for cookie in reply.headers.get_all("Set-Cookie") or ():
                name, _, value = cookie.split(";")[0].partition("=")
                self.cookies[name] = value
            return reply.status, reply.headers.get("Location", ""), text
        finally:
            connection.close()


def participant(port: int, link: str, number: int, tally: Tally, is_over: threading.Event) -> None:
    """Take part until told to end, or until there is nothing more to do."""
    visitor, pending = Visitor(port), dict[str, str]()
    while not is_over.is_set():
        try:
            _, _, page = visitor.ask("GET", f"{link}/next" if pending is not None else link)
            if "I agree" in page or not page:
                _, _, page = visitor.ask("GET", link)
                visitor.ask("POST", link, {"csrf": _field(page, "csrf")})
                continue
            if "Thank you" in page:
                return
            if 'name="item"' not in page:
                visitor.ask("POST", link, {"csrf": _field(visitor.ask("GET", link)[2], "csrf")})
                continue
            item = _field(page, "item")
            answer = f"answer {number} {item}"
            with tally.lock:
                tally.repeats += answer in tally.sent
                tally.sent.add(answer)
            fields = {"csrf": _field(page, "csrf"), "item": item, "event": "submit", "answer": answer, "difficulty": "2"}
            status, _, _ = visitor.ask("POST", f"{link}/next", fields)
            if status == 303:
                with tally.lock:
                    tally.acknowledged[answer] = item
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.05)  # the server is away; the same request is sent again


def _field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    if found is None:
        raise ValueError(name)
    return found[1]


class Server:
    """The server as a process."""

    def __init__(self, store: Path) -> None:
        self.store = store
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        words = [sys.executable, "-m", "recombine", "serve", "--port", str(self.port), "--studies", str(self.store)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def run(store: Path, people: int, *, seconds: float = 600.0, submissions: int = 10**9, kills: int = 0) -> dict[str, int]:
    """The load; gives counts of acknowledged, stored, lost, doubled, unexpected and repeated records."""
    from recombine.serve.studies import design
    from recombine.serve.studies.store import Store

    kept = Store(store)
    items = 4_000 if submissions > 4_000 else max(100, 4 * submissions // people)
    made = design.Design(
        "load", conditions=(design.Condition("scan/simple/test", min(items, 2_000)),), items_per_person=2_000, practice=0
    )
    study = design.create(kept, made)
    link = f"/take/{kept.links(study)[0].token}"
    kept.close()
    server, tally, is_over = Server(store), Tally(), threading.Event()
    threads = [threading.Thread(target=participant, args=(server.port, link, n, tally, is_over)) for n in range(people)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    dead = 0
    while time.monotonic() - started < seconds and tally.count() < submissions and any(t.is_alive() for t in threads):
        if dead < kills and tally.count() >= (dead + 1) * min(submissions, 10**6) // (kills + 1):
            server.kill()
            server.start()
            dead += 1
        time.sleep(0.02)
    is_over.set()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    server.kill()
    rows = sqlite3.connect(store).execute("SELECT answer, count(*) FROM answer GROUP BY answer").fetchall()
    stored = {answer for answer, _ in rows}
    return {
        "kills": dead,
        "acknowledged": len(tally.acknowledged),
        "stored": len(stored),
        "lost": len(set(tally.acknowledged) - stored),
        "doubled": sum(count - 1 for _, count in rows),
        "unexpected": len(stored - tally.sent),
        "repeated": tally.repeats,
        "a_second": round(len(tally.acknowledged) / took),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--submissions", type=int, default=10**9)
    parser.add_argument("--kills", type=int, default=0)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            Path(folder) / "people.sqlite",
            words.people,
            seconds=words.seconds,
            submissions=words.submissions,
            kills=words.kills,
        )
    print(found)
    sys.exit(1 if found["lost"] or found["doubled"] or found["unexpected"] else 0)


if __name__ == "__main__":
    main()
