"""Words and values that break naive commands: reserved dials, bad settings, control sequences, pipes, old ids."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.core import Example, Problem, Recipe
from recombine.data import audit as audits
from recombine.data.datasets import example, load
from recombine.data.folders import open_folder
from recombine.data.generate import generate
from recombine.data.versions import MADE_BY, maker_of
from recombine.errors import FileError, UsageError, printable
from recombine.evaluate.answers import read_answers
from recombine.families import FAMILIES, family
from recombine.files import read_lines, read_text


def err(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr().err
    assert told.count("\n") == 1, told
    return told


@pytest.mark.parametrize("word", ["split=x", "part=x", "seed=1", "recipe=x", "size=5", "source=x"])
@pytest.mark.parametrize(
    "words",
    [
        ["show", "scan"],
        ["ask", "scan", "--model", "m", "--endpoint", "http://localhost:1/v1", "--dry-run"],
        ["plan-eval", "--detect", "3", "--family", "scan"],
        ["generate", "scan", "--out", "x"],
    ],
    ids=lambda words: words[0],
)
def test_reserved_words_are_no_dials(words: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--set", word]) == 2
    assert f"say --{word.split('=')[0]}" in err(capsys)


@pytest.mark.parametrize(
    "setting", ["batch=0", "batch=-1", "units=-1", "units=0", "epochs=0", "rate=-1", "dropout=1", "rate=nan"]
)
def test_settings_out_of_range(setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "gru-attn", "--data", "scan", "--split", "length", "--with", setting, "--out", str(tmp_path / "r")]
    assert main(words) == 2
    assert setting.split("=")[0] in err(capsys)
    assert not (tmp_path / "r").exists()


def test_settings_that_fit_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "d", split="length", size=20).path
    words = ["train", "transformer", "--data", str(folder), "--with", "heads=7", "--out", str(tmp_path / "r")]
    assert main(words) == 2
    assert "these settings make no transformer" in err(capsys)


def test_half_a_surrogate_pair_in_an_answer(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "d", split="length", part="test", size=3).path
    rows = [{"id": row.id, "answer": "\ud800 I_WALK", "note": ["\udfff", {"\ud800": 1}]} for row in load(folder)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert all("\ud800" not in str(answer) for answer in read_answers(tmp_path / "a.jsonl").values())
    words = ["evaluate", "--data", str(folder), "--answers", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "r")]
    assert main(words) == 0
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == ["index.html", "report.json", "report.md"]


EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp\ud800\x00\x7f"


def test_printable() -> None:
    assert printable("plain text, ümlaut\tand\nline") == "plain text, ümlaut\tand\nline"
    assert printable(EVIL) == "\\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202egnp\\ud800\\x00\\x7f"


def test_control_sequences_of_a_file_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"IN: walk {EVIL.replace(chr(0xD800), '')} OUT: I_WALK\nIN: \x1b[31mrun OUT: \x9b2JI_RUN\n"
    (tmp_path / "f.txt").write_text(text)
    for words in (
        ["audit", str(tmp_path / "f.txt"), "--as", "scan"],
        ["audit", str(tmp_path / "f.txt"), "--as", "scan", "--json"],
    ):
        assert main(words) in (1, 2)
        told = capsys.readouterr()
        for stream in (told.out, told.err):
            assert not set(stream) & set("\x1b\x9b\x07\x7f\x00\u202e")
    folder = generate("scan", tmp_path / "d", split="length", part="test", size=3).path
    rows = [{"id": row.id + EVIL, "answer": EVIL} for row in load(folder)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["evaluate", "--data", str(folder), "--answers", f"{tmp_path}/a.jsonl", "--part", "test"]
    assert main(words) == 2
    assert "\x1b" not in err(capsys)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_pipes_and_devices_are_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(FileError, match="pipe or a device"):
            read_text(Path(place))
        with pytest.raises(FileError, match="pipe or a device"):
            next(read_lines(Path(place)))
        for words in (["audit", place, "--as", "scan"], ["audit", place, "--as", "rows"]):
            assert main(words) == 2
            assert "pipe or a device" in err(capsys)


class Broken:
    """A family whose reader and oracle fail where they did not foresee the file."""

    NAME = "broken"

    def read(self, path: Path) -> Any:
        for i in range(3):
            yield Example(self, f"id{i}", {"x": i}, "a", meta={"place": f"row {i}"})  # type: ignore[arg-type]
        raise OverflowError("cannot convert float infinity to integer")

    def validate(self, example: Example) -> list[Problem]:
        if example.inputs["x"] == 1:
            raise KeyError((0, 0))
        return []

    def canonical(self, example: Example) -> bytes:
        if example.inputs["x"] == 1:
            raise TypeError("unhashable")
        return b"%d" % example.inputs["x"]

    def explain(self, example: Example) -> Any:
        raise ValueError("mixed claim types")

    def survey(self, examples: Any) -> Any:
        raise TypeError("'<' not supported between instances of 'str' and 'int'")


def test_what_a_reader_did_not_foresee_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(audits, "find_family", lambda _: Broken())
    found = audits.audit(tmp_path / "x", "broken")
    assert found.checked == 3, "the rows around a bad one are judged"
    assert sorted(p.code for p in found.problems) == ["malformed", "uncounted", "uncounted", "unreadable"]
    assert not found.ok


def test_a_part_without_rows_has_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recombine.data import plan as plans
    from recombine.data.generate import run

    made = plans.make_plan("gscan", ("compositional",), ("train",), size=5)
    part = made.parts[0]
    empty = replace(made, parts=(replace(part, job=part.job.rows(0, 0), rows=0),))
    folder = run(empty, tmp_path / "d")
    assert "has no rows" in (folder.path / "README.md").read_text()


# --- versions --------------------------------------------------------------------------------------------------------


def test_the_table_of_versions_is_complete() -> None:
    for name in FAMILIES:
        for recipe in family(name).RECIPES.values():
            known = MADE_BY[name][recipe.name]
            assert set(range(1, recipe.version)) <= set(known), (
                f"{name} {recipe.name}: say which release made the older versions"
            )
            assert all(release.count(".") == 2 for release in known.values())


@pytest.fixture
def old_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of version 1 in the eyes of a package that makes version 2."""
    folder = generate("gscan", tmp_path / "old", split="compositional", size=6).path
    gscan = family("gscan")
    recipe = gscan.RECIPES["sound"]
    changed = {**gscan.RECIPES, "sound": Recipe(recipe.name, recipe.claim, recipe.version + 1)}
    monkeypatch.setattr(gscan, "RECIPES", changed)
    return folder


def test_an_old_folder_still_opens(old_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = open_folder(old_folder)
    assert not found.is_current
    rows = load(old_folder, part="test")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": row.id, "answer": row.answer}) + "\n" for row in rows))
    for words in (
        ["show", str(old_folder), "--part", "test"],
        ["stats", str(old_folder)],
        ["evaluate", "--data", str(old_folder), "--answers", str(tmp_path / "a.jsonl")],
    ):
        assert main(words) == 0, capsys.readouterr().err
    assert recombine.load(old_folder, part="test")[0].id.startswith("gscan@1/")


def test_an_old_id_names_the_release_that_makes_it(old_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"which recombine 0\.1\.0 makes"):
        example("gscan@1/sound/compositional/test/0/000001")
    assert main(["show", "gscan@1/sound/compositional/test/0/000001"]) == 2
    assert "recombine 0.1.0" in err(capsys)
    assert "does not know" in maker_of("gscan", "sound", 99)


def test_a_current_folder_is_current(tmp_path: Path) -> None:
    assert generate("scan", tmp_path / "d", split="length", size=3).is_current
