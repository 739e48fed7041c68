"""A folder is pushed to a fake of the hub on loopback: one commit, only our files, a card that names the pictures."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")
datasets = pytest.importorskip("datasets")

import recombine
from recombine.cli import main
from recombine.errors import FileError, UsageError
from recombine.integrations.hub import push


class Hub:
    """What the hub was sent: repositories made, and the files of each commit."""

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []
        self.commits: list[dict[str, bytes]] = []
        self.tokens: set[str] = set()
        self.refuses = False


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    held = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            held.tokens.add(str(self.headers.get("Authorization")))
            if held.refuses:
                self.answer(403, {"error": "not your namespace"})
            elif self.path == "/api/repos/create":
                held.made.append(json.loads(body))
                self.answer(200, {"url": f"{self.base}/datasets/lab/rows", "name": "lab/rows"})
            elif self.path == "/api/validate-yaml":
                self.answer(200, {"errors": [], "warnings": []})
            elif self.path.endswith("/preupload/main"):
                files = [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in json.loads(body)["files"]]
                self.answer(200, {"files": files})
            elif self.path.endswith("/commit/main"):
                lines = [json.loads(line) for line in body.splitlines()]
                held.commits.append(
                    {x["value"]["path"]: base64.b64decode(x["value"]["content"]) for x in lines if x["key"] == "file"}
                )
                self.answer(
                    200,
                    {"commitUrl": f"{self.base}/datasets/lab/rows/commit/{'1' * 40}", "commitOid": "1" * 40, "success": True},
                )
            else:
                self.answer(404, {"error": self.path})

        @property
        def base(self) -> str:
            return f"http://127.0.0.1:{server.server_port}"

        def answer(self, code: int, said: dict[str, Any]) -> None:
            raw = json.dumps(said).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    yield held
    server.shutdown()
    server.server_close()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    recombine.generate("reascan", tmp_path / "rows", split="a1", part="test", size=3)
    (tmp_path / "rows" / "diary.txt").write_text("not ours")
    return tmp_path / "rows"


def test_one_commit_of_our_files(hub: Hub, rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(rows), "--repo", "lab/rows", "--private"]) == 0
    assert capsys.readouterr().out.strip().endswith("/datasets/lab/rows")
    assert "private" in (hub.made[0].get("visibility"), *hub.made[0]) and hub.made[0]["type"] == "dataset"
    assert hub.tokens == {"Bearer hf_test"}
    (files,) = hub.commits
    assert {"README.md", "manifest.json", "croissant.json", "a1/test-00000-of-00001.parquet"} <= set(files)
    assert "diary.txt" not in files
    assert files["README.md"] == (rows / "README.md").read_bytes()


def test_pictures_are_a_configuration_that_loads(hub: Hub, rows: Path, tmp_path: Path) -> None:
    push(rows, "lab/rows", picture=True)
    (files,) = hub.commits
    for name, content in files.items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(content)
    loaded = datasets.load_dataset(str(tmp_path / "copy"), "a1-pictures", cache_dir=str(tmp_path / "cache"))["test"]
    assert loaded.num_rows == 3
    assert type(loaded.features["images"].feature).__name__ == "Image"
    picture = loaded[0]["images"][0]
    assert picture.width > 100
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    assert [row["id"] for row in loaded] == [example.id for example in recombine.load(rows)]


def test_no_network_is_one_sentence(
    hub: Hub, rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("constants", "hf_api.constants"):
        monkeypatch.setattr(f"huggingface_hub.{name}.ENDPOINT", "http://127.0.0.1:9")
    assert main(["push", str(rows), "--repo", "lab/rows"]) == 2
    assert "the hub cannot be reached" in capsys.readouterr().err
    assert hub.made == []


def test_a_refusal_is_one_sentence(hub: Hub, rows: Path) -> None:
    hub.refuses = True
    with pytest.raises(FileError, match="the hub refused lab/rows"):
        push(rows, "lab/rows")
    with pytest.raises(UsageError, match="OWNER/NAME"):
        push(rows, "../../etc")


def test_a_folder_in_a_store_is_refused_with_the_way_out(hub: Hub) -> None:
    pytest.importorskip("fsspec")
    recombine.generate("scan", "memory://pushed/rows", split="length", part="test", size=5)
    with pytest.raises(UsageError, match="'memory://pushed/rows' is in an object store; copy the folder"):
        push("memory://pushed/rows", "lab/rows")
    assert not hub.made
