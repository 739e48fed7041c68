"""The playground as a test sees it: inside this process, or as a server of its own."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recombine.serve.app import make_app
from recombine.serve.settings import Settings

Client = Callable[..., TestClient]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A maker of visitors of one server; settings are given to the first."""
    made: dict[str, Any] = {}

    def visit(**settings: Any) -> TestClient:
        if "app" not in made:
            made["app"] = make_app(Settings(studies=tmp_path / "people.sqlite", **settings))
        return TestClient(made["app"], base_url="http://localhost", raise_server_exceptions=False)

    return visit


@pytest.fixture
def code() -> Callable[[str], str]:
    """The form code of a page."""

    def read(page: str) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert found is not None, page[:500]
        return found[1]

    return read


class Server:
    """`recombine serve` as a process that can be killed and started again on the same file."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.log, self.words = folder / "server.log", words
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = [sys.executable, "-m", "recombine", "serve", "--port", str(self.port), *self.words]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                raise AssertionError(self.log.read_text())
            time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="session")
def serving() -> type[Server]:
    """Makes servers."""
    return Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    found = Server(tmp_path, "--studies", str(tmp_path / "people.sqlite"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync.sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()
