"""Names, paths and files that mean harm, or are merely broken: each gives a typed error, and nothing is written or lost."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import recombine
from recombine.data.generate import generate
from recombine.errors import FileError, RecombineError
from recombine.files import MAX_LINE

NAMES = [
    "../x",
    "..\\x",
    "/etc/passwd",
    "C:\\x",
    "a/../../b",
    "%2e%2e%2f",
    "x\0y",
    "CON",
    ".",
    "..",
    "n" * 300,
    "x.",
    "x ",
    "a∕b",
    "",
    "\ud800",
]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str, tmp_path: Path) -> None:
    for words in ({"split": name}, {"part": name}, {"recipe": name}, {"format": name}, {"engine": name}):
        with pytest.raises(RecombineError):
            generate("scan", tmp_path / "out", **words)
    with pytest.raises(RecombineError):
        generate(name, tmp_path / "out")
    with pytest.raises(RecombineError):
        recombine.load(name or "\0")
    assert list(tmp_path.iterdir()) == []


def test_symlinked_output(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(FileError, match="symbolic link"):
        generate("scan", tmp_path / "link", split="length", size=5)
    assert list((tmp_path / "real").iterdir()) == []


def test_output_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(FileError, match="not empty"):
        generate("scan", tmp_path, split="length", size=5)
    with pytest.raises(FileError, match="not a folder"):
        generate("scan", tmp_path / "mine.txt", split="length", size=5)
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_another_job_into_the_same_folder(tmp_path: Path) -> None:
    generate("scan", tmp_path / "out", split="length", size=5, seed=1)
    with pytest.raises(FileError, match="another job"):
        generate("scan", tmp_path / "out", split="length", size=5, seed=2)
    assert recombine.verify(tmp_path / "out").ok


def test_a_job_that_failed_does_not_block_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of which no file was finished gives way to another; one finished file keeps it."""
    from recombine.data import generate as generating
    from recombine.data.plan import make_plan

    failed = make_plan("scan", ("length",), size=5, seed=1)
    folder = generating.prepare(failed, tmp_path / "out")
    leftover = folder / "length" / ".train-00000-of-00001.parquet.123.tmp"
    leftover.parent.mkdir()
    leftover.write_bytes(b"half")
    generate("scan", tmp_path / "out", split="simple", size=5, seed=2)
    assert recombine.verify(tmp_path / "out").ok and not leftover.parent.exists()
    monkeypatch.setattr(generating, "seal", lambda *_: None)
    generate("scan", tmp_path / "kept", split="length", size=5, seed=1)
    with pytest.raises(FileError, match="another job"):
        generate("scan", tmp_path / "kept", split="simple", size=5, seed=2)


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("clutrr", {"split": "random", "options": {"k": "abc"}}),
        ("gscan", {"options": {"grid_size": 4, "max_objects": 20}}),
        ("reascan", {"options": {"grid_size": 5}}),
        ("reascan", {"recipe": "release", "options": {"interaction": 0.2}}),
        ("abstract", {"split": "random", "options": {"answer_form": "arc", "grid_size": 12}}),
    ],
)
def test_options_are_checked_before_anything_is_written(tmp_path: Path, family: str, words: dict[str, object]) -> None:
    with pytest.raises(recombine.RecombineError, match="option"):
        generate(family, tmp_path / "out", size=3, **words)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return generate("scan", tmp_path / "out", split="length", part="test", size=50).path


@pytest.mark.parametrize("damage", ["truncate", "magic", "empty", "swap", "missing", "flip"])
def test_damaged_parquet(folder: Path, damage: str) -> None:
    file = folder / "length" / "test-00000-of-00001.parquet"
    raw = file.read_bytes()
    broken = {
        "truncate": raw[: len(raw) // 2],
        "magic": b"NOPE" + raw[4:],
        "empty": b"",
        "swap": raw[::-1],
        "flip": raw[:200] + bytes([raw[200] ^ 1]) + raw[201:],
    }
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(broken[damage])
    verdict = recombine.verify(folder)
    assert not verdict.ok
    if damage not in ("flip", "magic"):
        with pytest.raises(FileError):
            recombine.load(folder)[0]
    again = generate("scan", folder, split="length", part="test", size=50)
    assert recombine.verify(again.path).ok, "the same command mends the folder"


@pytest.mark.parametrize("text", ["", "{}", "[]", "nul", '{"plan": 3}', '{"plan": {"family": "scan"}}', "[" * 100_000, "\xff"])
def test_damaged_manifest(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(RecombineError):
        recombine.verify(folder)
    with pytest.raises(RecombineError):
        recombine.load(folder)


def test_unfinished_folder(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(FileError):
        recombine.load(folder)


@pytest.mark.parametrize("name", ["scan", "nacs"])
def test_over_long_line(tmp_path: Path, name: str) -> None:
    bomb = tmp_path / "bomb.txt.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as out:
        for _ in range(64):
            out.write(b"a" * (16 << 20))
    with pytest.raises(FileError, match="over"):
        recombine.audit(bomb, name)
    assert MAX_LINE < 1 << 30


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00bad")
    with pytest.raises(FileError, match="UTF-8"):
        recombine.audit(tmp_path / "a.txt", "scan")
    (tmp_path / "b.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    with pytest.raises(FileError):
        recombine.audit(tmp_path / "b.gz", "scan")
    with pytest.raises(FileError):
        recombine.audit(tmp_path, "scan")
