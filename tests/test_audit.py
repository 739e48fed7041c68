"""Audit of what others released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recombine
from recombine.cli import main
from recombine.data.generate import generate
from recombine.data.rows import audit_rows, read_rows
from recombine.errors import FileError


def test_three_corrupted_lines_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = generate("scan", tmp_path / "out", split="length", part="test", format="native")
    file = folder.files(0)[0]
    lines = file.read_text().splitlines()
    lines[4] = lines[4] + " I_WALK"
    lines[99] = lines[99].replace("IN: ", "IN: please ", 1)
    lines[2000] = "nonsense"
    file.write_text("\n".join(lines) + "\n")
    assert main(["audit", str(file), "--as", "scan", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {p["place"] for p in found["problems"]} == {"line 5", "line 100", "line 2001"}
    assert found["wrong_labels"] == 1
    assert found["checked"] >= 3918
    assert all({"place", "code", "severity", "text"} <= set(p) for p in found["problems"])
    assert main(["audit", str(file), "--as", "scan", "--html", str(tmp_path / "page.html")]) == 1
    assert "line 2001" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("rows", [1, 4, 5, 7, 8, 9])
def test_careless_readers_are_tried_on_no_more_rows_than_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr("recombine.data.audit.SHORTCUT_ROWS", 4)
    (tmp_path / "x.txt").write_text("IN: walk left OUT: I_TURN_LEFT I_WALK\n" * rows)
    found = recombine.audit(tmp_path / "x.txt", "scan")
    assert 2 <= max(score.examples for score in found.shortcuts) <= 4 or rows == 1


def test_leak_between_two_files(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("IN: walk OUT: I_WALK\nIN: run OUT: I_RUN\n")
    (tmp_path / "test.txt").write_text("IN: look OUT: I_LOOK\nIN: run OUT: I_RUN\n")
    found = recombine.audit(tmp_path / "test.txt", "scan", against=tmp_path / "train.txt")
    assert found.leaks == 1
    assert [p.place for p in found.problems] == ["line 2"]


def test_hostile_text_is_escaped_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("IN: <script>alert(1)</script> OUT: I_WALK\n")
    assert "<script>alert" not in recombine.audit(tmp_path / "x.txt", "scan").to_html()


class AdditiveSeeds:
    """A data set object in the manner of the libraries that key item i by seed + i."""

    def __init__(self, seed: int, size: int) -> None:
        self.seed, self.size = seed, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index >= self.size:
            raise IndexError(index)
        return {"question": f"What is {self.seed + index} + 1?", "answer": str(self.seed + index + 1), "metadata": {}}


@pytest.mark.parametrize(("family", "text"), [("scan", ""), ("lilgym", "{}")])
def test_a_file_without_rows_is_no_success(family: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "nothing"
    file.write_text(text)
    assert main(["audit", str(file), "--as", family]) == 2
    assert f"holds no example of {family}" in capsys.readouterr().err


def test_a_file_without_rows_shares_nothing_only_because_it_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.txt").write_text("IN: walk OUT: I_WALK\n")
    (tmp_path / "empty.txt").write_text("")
    words = ["audit", str(tmp_path / "one.txt"), "--as", "scan"]
    assert main(words) == 0
    assert main([*words, "--against", str(tmp_path / "empty.txt")]) == 2
    assert "empty.txt" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--most", "-1"])


def test_rows_of_overlapping_seeds() -> None:
    found = audit_rows(AdditiveSeeds(43, 100), AdditiveSeeds(42, 100))  # type: ignore[arg-type]
    assert found.leaks == 99
    assert found.survey["shared_with_other_set"] == 0.99
    assert audit_rows(AdditiveSeeds(1042, 100), AdditiveSeeds(42, 100)).leaks == 0  # type: ignore[arg-type]


def test_rows_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"question": "A or B?", "answer": "A"}, {"question": "a  or b?", "answer": "B"}, {"question": "C", "answer": "A"}]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["audit", str(file), "--as", "rows", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["duplicates"] == 1
    assert found["problems"][0]["code"] == "contradiction"
    assert found["shortcuts"][0] == {**found["shortcuts"][0], "name": "majority", "right": 2}
    (tmp_path / "bad.jsonl").write_text("[1]\n")
    with pytest.raises(FileError):
        audit_rows(read_rows(tmp_path / "bad.jsonl"))
