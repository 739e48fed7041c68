"""The command line as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recombine.cli import VERBS, main


def run(*words: str, code: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A real process, so that exit codes and streams are those of the shell."""
    done = subprocess.run(
        [sys.executable, "-m", "recombine", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        check=False,
    )
    assert done.returncode == code, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    assert "Traceback" not in done.stderr
    return done


def test_length_split_as_in_the_readme(tmp_path: Path) -> None:
    out = str(tmp_path / "x")
    made = run("generate", "scan", "--split", "length", "--out", out)
    assert "16,990" in made.stdout
    assert "3,920" in made.stdout
    checked = run("verify", out)
    assert "no problem" in checked.stdout
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert manifest["counts"] == {"length/train": 16990, "length/test": 3920}
    for key in ("family", "version", "recipe", "split", "parts", "seed", "options", "counts", "rejections", "fingerprint"):
        assert key in manifest
    assert all(len(shard["sha256"]) == 64 for part in manifest["parts"] for shard in part["shards"])


def test_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "scan"]) == 0
    assert "length" in capsys.readouterr().out
    assert main(["list", "scan", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scan"]["splits"]["length"]["parts"]["test"]["rows"]["release"] == 3920
    assert main(["show", "scan", "--split", "length", "--part", "test", "--index", "3"]) == 0
    shown = capsys.readouterr().out
    assert "scan@1/release/length/test/0/000003" in shown
    assert main(["show", "scan@1/release/length/test/0/000003", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "scan@1/release/length/test/0/000003"


def test_every_verb_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as stop:
            main([verb, "--help"])
        assert stop.value.code == 0
        assert "usage" in capsys.readouterr().out


def test_a_folder_may_have_the_sign_of_ids_in_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "rows@home")
    assert main(["generate", "scan", "--split", "length", "--size", "2", "--out", folder]) == 0
    assert main(["show", folder]) == 0
    assert "command:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["generate", "scam", "--out", "x"], "'scan'"),
        (["generate", "scan", "--split", "lenght", "--out", "x"], "'length'"),
        (["generate", "scan", "--part", "tset", "--out", "x"], "'test'"),
        (["generate", "scan", "--format", "csv", "--out", "x"], "parquet"),
        (["generate", "scan", "--engine", "rai", "--out", "x"], "ray"),
        (["generate", "scan", "--set", "style", "--out", "x"], "NAME=VALUE"),
        (["generate", "scan", "--set", "stile=paper", "--out", "x"], "style"),
        (["generate", "scan", "--set", "style=papers", "--out", "x"], "paper"),
        (["generate", "scan", "--split", "length", "--part", "test", "--size", "4000", "--out", "x"], "3,920"),
        (["generate", "scan", "--split", "../x", "--out", "x"], "unknown split"),
        (["generate", "scan", "--out", "y" * 300], "too long"),
        (["generate", "scan", "--out", ""], "not a path"),
        (["show", "scan", "--split", "length", "--part", "test", "--index", "99999"], "past the end"),
        (["show", "no/such/folder"], "neither"),
        (
            ["show", "scan@1/release/length/test/0/000003", "--split", "simple"],
            "an id names one row; leave out --split simple.",
        ),
        (["show", "scan@1/release/length/test/0/000003", "--random"], "an id names one row"),
        (["show", "scan@9/release/length/test/0/000003"], "version"),
        (["verify", "no/such/folder"], "not a folder"),
        (["audit", "no-such-file", "--as", "scan"], "cannot read"),
        (["verfy", "x"], "'verify'"),
    ],
)
def test_bad_words_give_exit_2_and_a_hint(
    words: list[str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert hint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_same_fingerprint_whatever_the_hash_seed_and_workers(tmp_path: Path) -> None:
    prints = set()
    for number, (seed, workers) in enumerate([("0", "1"), ("1", "2"), ("random", "2")]):
        out = str(tmp_path / str(number))
        done = run(
            "generate", "scan", "--split", "simple", "--seed", "4", "--workers", workers, "--out", out, "--json",
            env={"PYTHONHASHSEED": seed},
        )  # fmt: skip
        prints.add(json.loads(done.stdout)["fingerprint"])
        prints.add((tmp_path / str(number) / "simple" / "test-00000-of-00001.parquet").read_bytes())
    assert len(prints) == 2


def test_closed_pipe_is_quiet() -> None:
    done = subprocess.run(
        f"{sys.executable} -m recombine list | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
