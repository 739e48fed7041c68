"""Object stores as output folders: a part appears whole or not at all, a cut run goes on, and the bytes are those of local files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.data import plan as plans
from recombine.data.generate import generate, remove
from recombine.errors import FileError
from recombine.stores import Remote

fsspec = pytest.importorskip("fsspec")
WORDS = {"split": "length", "size": 60}


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(plans, "SHARD_ROWS", 20)
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


def objects(system: Any, prefix: str) -> dict[str, bytes]:
    return {key[len(prefix) + 2 :]: system.cat_file(key) for key in system.find(f"/{prefix}")}


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_bytes_as_on_a_disk(memory: Any, tmp_path: Path) -> None:
    made = generate("scan", "memory://data/a", **WORDS)
    generate("scan", tmp_path / "a", **WORDS)
    assert objects(memory, "data/a") == files(tmp_path / "a")
    assert recombine.verify("memory://data/a").ok
    assert [row.id for row in recombine.load("memory://data/a", part="test")] == [
        row.id for row in recombine.load(tmp_path / "a", part="test")
    ]
    assert recombine.load("memory://data/a", part="test")[7].answer == recombine.load(tmp_path / "a", part="test")[7].answer
    assert made.is_current


@pytest.mark.parametrize("at", range(1, 22, 2))
def test_cut_at_any_object_and_taken_up_again(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    generate("scan", tmp_path / "a", **WORDS)
    count, real = 0, type(memory).pipe_file

    def failing(self: Any, *args: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        if count == at:
            raise OSError(5, "Input/output error")
        return real(self, *args, **more)

    monkeypatch.setattr(type(memory), "pipe_file", failing)
    with pytest.raises(FileError, match="cannot write"):
        generate("scan", "memory://data/b", **WORDS)
    expected = files(tmp_path / "a")
    there = objects(memory, "data/b")
    assert all(expected[name] == raw for name, raw in there.items() if not name.startswith(".recombine/")), (
        "whole or not at all"
    )
    assert "manifest.json" not in there
    generate("scan", "memory://data/b", **WORDS)
    assert objects(memory, "data/b") == expected


def test_damage_is_found_and_mended(memory: Any) -> None:
    generate("scan", "memory://data/c", **WORDS)
    memory.pipe_file("/data/c/length/test-00001-of-00003.parquet", b"PAR1")
    assert not recombine.verify("memory://data/c").ok
    generate("scan", "memory://data/c", **WORDS)
    assert recombine.verify("memory://data/c").ok


def test_foreign_prefixes_are_refused(memory: Any) -> None:
    memory.pipe_file("/data/mine/thesis.tex", b"years of work")
    with pytest.raises(FileError, match="choose another folder"):
        generate("scan", "memory://data/mine", **WORDS)
    generate("scan", "memory://data/d", **WORDS)
    memory.pipe_file("/data/d/notes.txt", b"years of work")
    with pytest.raises(FileError, match="not written by Recombine"):
        remove("memory://data/d")
    assert set(memory.find("/data/mine")) == {"/data/mine/thesis.tex"}
    with pytest.raises(FileError, match="another job"):
        generate("scan", "memory://data/d", split="length", size=61)


@pytest.mark.parametrize(
    "url",
    [
        "http://x/y",
        "file:///tmp/x",
        "s4://x",
        "memory://",
        "memory://a/../b",
        "memory://a//b",
        "memory://a?x=1",
        "memory://a\n",
    ],
)
def test_strange_addresses(url: str) -> None:
    with pytest.raises(FileError):
        generate("scan", url, **WORDS)


def test_a_store_without_marks_gives_no_stale_rows(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a store says neither a digest nor a time, an object that was replaced may have its old size."""
    real = type(memory).info
    bare = lambda system, path, **more: {k: v for k, v in real(system, path, **more).items() if k in ("name", "size", "type")}
    monkeypatch.setattr(type(memory), "info", bare)
    generate("scan", "memory://data/x", **WORDS)
    generate("scan", "memory://data/y", **WORDS, seed=1)
    first, other = ([row.answer for row in recombine.load(f"memory://data/{name}", part="test")] for name in "xy")
    assert first != other
    assert recombine.load("memory://data/x", part="test")[3].answer == first[3]
    for number in range(3):
        name = f"length/test-0000{number}-of-00003.parquet"
        memory.pipe_file(f"/data/x/{name}", memory.cat_file(f"/data/y/{name}"))
    assert [recombine.load("memory://data/x", part="test")[row].answer for row in range(60)] == other


@pytest.mark.parametrize("marks", [{"ETag": "a"}, {"updated": 1}, {"etag": None, "mtime": 2.5}, {}])
def test_the_stamp_of_an_object_changes_with_it(memory: Any, monkeypatch: pytest.MonkeyPatch, marks: dict[str, Any]) -> None:
    found: dict[str, Any] = {"size": 3, **marks}
    monkeypatch.setattr(type(memory), "info", lambda *_, **__: found)
    place = Remote.of("memory://data/z")
    stamp = place.stat()
    assert (place.stat() == stamp) is bool(marks)
    found = {"size": 3, **{name: value and f"{value}, another" for name, value in marks.items()}}
    assert place.stat() != stamp


def test_errors_of_an_upload_are_told_of_their_own_place(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the caller's code raises is the caller's, and a missing bucket is not a fault of the folder for scratch files."""
    from recombine.files import writing

    with pytest.raises(OSError, match="of the caller") as caught, writing(Remote.of("memory://data/u")):
        raise OSError("an error of the caller")
    assert not isinstance(caught.value, FileError)
    assert not Remote.of("memory://data/u").exists()

    def no_bucket(*_: Any, **__: Any) -> None:
        raise FileNotFoundError(2, "The specified bucket does not exist")

    monkeypatch.setattr(type(memory), "pipe_file", no_bucket)
    message = "cannot write 'memory://data/u': The specified bucket does not exist"
    with pytest.raises(FileError, match=message), writing(Remote.of("memory://data/u")) as stream:
        stream.write(b"x")


def test_the_command_line(memory: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "memory://data/e"
    assert main(["generate", "scan", "--split", "length", "--size", "30", "--out", url]) == 0
    for words in (["verify", url], ["stats", url], ["show", url, "--part", "test"], ["merge", url]):
        assert main(words) == 0, capsys.readouterr().err
    assert main(["evaluate", "--data", url, "--part", "test", "--out", "memory://data/report"]) == 0
    assert json.loads(memory.cat_file("/data/report/report.json"))["package"].startswith("recombine")
    for words in (
        ["ask", url, "--part", "test", "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--out", "memory://run"],
        ["train", "gru-attn", "--data", "scan", "--out", "memory://run"],
    ):
        capsys.readouterr()
        assert main(words) == 2
        assert "needs a folder of this machine" in capsys.readouterr().err


def test_remote_is_like_a_path() -> None:
    place = Remote.of("memory://bucket/a/b")
    assert (place / "c").parent == place
    assert (place / "c.txt").name == "c.txt"
    assert (place / "x/y").relative_to(place).as_posix() == "x/y"
    assert str(place.with_name("z")) == "memory://bucket/a/z"
    assert not place.exists()
