"""`recombine train`, `predict` and `reproduce` as a user types them, on tiny settings."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

pytest.importorskip("torch")

from recombine.cli import main

TINY = ["--with", "units=8", "--with", "embedding=4", "--with", "epochs=1"]


def test_train_and_predict_on_a_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, answers = str(tmp_path / "run"), tmp_path / "answers.jsonl"
    words = ["--data", "scan", "--split", "simple_p1"]
    assert main(["train", "gru-attn", *words, "--out", run, *TINY]) == 0
    said = capsys.readouterr()
    assert "best validation score" in said.out
    assert "epoch 1/1: loss" in said.err
    note = json.loads((tmp_path / "run" / "run.json").read_text())["data"]
    assert note == {"part": "scan@1/release/simple_p1/fit/0", "rows": 189, "validation": "validation", "validation_rows": 20}
    assert main(["predict", run, *words, "--part", "test", "--size", "12", "--out", str(answers)]) == 0
    assert "is not finished" not in capsys.readouterr().err
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(lines) == 12
    assert all(line.keys() == {"id", "answer"} for line in lines)
    assert lines[0]["id"].startswith("scan@1/release/simple_p1/test/0/")
    turned = ["--data", "nacs", "--split", "simple_p1", "--size", "5", "--out", str(tmp_path / "turned.jsonl")]
    assert main(["predict", run, *turned]) == 2
    assert "it knows no word of 'nacs@1/" in capsys.readouterr().err
    assert not (tmp_path / "turned.jsonl").exists()
    (tmp_path / "run" / "result.json").unlink()
    assert main(["predict", run, *words, "--size", "2", "--out", str(answers)]) == 0
    assert "is not finished: the best weights so far answer" in capsys.readouterr().err


def test_train_on_a_folder_holds_out_a_tenth(tmp_path: Path) -> None:
    folder, run = str(tmp_path / "data"), tmp_path / "run"
    assert main(["generate", "nacs", "--split", "simple_p1", "--part", "train", "--out", folder]) == 0
    assert main(["train", "rnn", "--data", folder, "--out", str(run), *TINY]) == 0
    note = json.loads((run / "run.json").read_text())["data"]
    assert (note["rows"], note["validation_rows"]) == (189, 20)
    assert "held out" in note["validation"]


def test_size_says_how_many_rows_are_learnt_from(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["train", "gru", "--data", "scan", "--split", "simple_p1", "--out", str(run), *TINY]
    assert main([*words, "--size", "50"]) == 0
    note = json.loads((run / "run.json").read_text())["data"]
    assert (note["part"], note["rows"], note["validation_rows"]) == ("scan@1/release/simple_p1/fit/0", 50, 20)
    assert main([*words, "--size", "51"]) == 2


def test_the_printed_next_command_keeps_what_was_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--data", "scan", "--split", "hold_out", "--hold-out", "command_length >= 4", "--size", "40"]
    assert main(["train", "gru", *words, "--out", str(tmp_path / "run"), *TINY]) == 0
    following = capsys.readouterr().out.split("next: recombine ")[1]
    assert "--hold-out 'command_length >= 4'" in following
    assert main([*shlex.split(following), "--size", "5"]) == 0
    following = capsys.readouterr().out.split("next: recombine ")[1].splitlines()[0]
    assert main(shlex.split(following)) == 0


def test_reproduce_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    assert "clutrr-table4" in capsys.readouterr().out
    out = str(tmp_path)
    assert main(["reproduce", "nacs-table5", "--scale", "smoke", "--only", "RNN | Simple", "--out", out, "--workers", "1"]) == 0
    assert "26.9 ± 0.2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["train", "gru-atn", "--data", "scan", "--out", "x"], "gru-attn"),
        (["train", "gru", "--out", "x"], "--data"),
        (["train", "gru", "--data", "scan", "--out", "x", "--with", "unit=3"], "units"),
        (["train", "gru", "--data", "scan", "--out", "x", "--with", "units=many"], "integer"),
        (
            ["train", "gru", "--data", "scan", "--split", "simple_p1", "--out", "x", "--with", "cell=gruu"],
            "Known: gru, lstm, rnn",
        ),
        (
            ["train", "gru", "--data", "scan", "--split", "simple_p1", "--out", "x", "--with", "start=zeroo"],
            "Known: learned, zero",
        ),
        (
            ["train", "bilstm-mean", "--data", "clutrr", "--size", "9", "--out", "x", "--with", "pooling=atention"],
            "'attention'",
        ),
        (
            ["train", "encoder-lstm", "--data", "clutrr", "--size", "9", "--out", "x", "--with", "pooling=lats"],
            "Known: last, mean",
        ),
        (
            ["train", "encoder-lstm", "--data", "clutrr", "--size", "9", "--out", "x", "--with", "reader=lstn"],
            "Known: lstm, mean",
        ),
        (["train", "gat", "--data", "scan", "--split", "simple_p1", "--out", "x"], "story"),
        (["train", "gru", "--data", "scan", "--split", "simple_p1", "--out", "x", "--device", "abacus"], "device"),
        (["train", "gru", "--data", "scan", "--split", "simple_p1", "--out", "x", "--size", "190"], "exactly 189 rows"),
        (["train", "gru", "--data", ".", "--out", "x", "--size", "5"], "recombine generate --size train=5"),
        (["train", "gru", "--data", "scan", "--out", "x", "--env", "TowerScratch"], "--env is for ppo"),
        (["predict", "nowhere", "--data", "scan", "--out", "x"], "not a run"),
        (["reproduce", "nacs-table12"], "nacs-table1"),
    ],
)
def test_wrong_words_get_one_line_and_exit_code_2(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert hint in said
    assert said.count("\n") == 1


def test_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "list"]) == 0
    assert {"gru-attn", "transformer", "gcn-lstm", "gat", "edge-composition"} <= set(capsys.readouterr().out.split())
