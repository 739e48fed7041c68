"""The front of the command line: list, doctor, completion, watch, sizes by part, progress, help that costs nothing."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from PIL import Image

import recombine
from recombine.cli import VERBS, main, parser_of
from recombine.cli.completion import words_of
from recombine.cli.doctor import ADDS
from recombine.cli.list import folded
from recombine.cli.printing import Standing, progress
from recombine.families import FAMILIES, family


@pytest.mark.parametrize("words", [["list"], *(["list", name] for name in FAMILIES), ["list", "--all"]])
def test_list_fits_80_columns(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 80


def test_list_names_families_first_and_folds_series(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.splitlines() if line[:1].strip() and not line.startswith("recombine")] == list(
        FAMILIES
    )
    assert main(["list", "scan"]) == 0
    told = capsys.readouterr().out
    assert "fewshot_num{1…1024}_rep{1…5}  (55 splits)" in told and "fewshot_num1_rep1\n" not in told
    for name in FAMILIES:
        assert sum(len(splits) for _, splits in folded(family(name))) == len(family(name).SPLITS)


def test_doctor_knows_every_extra(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["needed"]["numpy"] == metadata.version("numpy")
    declared = set(metadata.metadata("recombine").get_all("Provides-Extra") or ()) - {"dev", "docs"}
    assert set(found["extras"]) == declared and found["extras"]["gym"]["packages"].keys() == {"gymnasium"}
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert set(ADDS) <= set(project["optional-dependencies"]), "every sentence is about an extra that exists"
    assert main(["doctor"]) == 0
    assert "GPU" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(re.search(rf"\b{verb}\b", script) for verb in VERBS)
    assert "where" in script and "reascan" in script
    binary = shutil.which(shell)
    if binary is None:
        return
    (tmp_path / "script").write_text(script)
    subprocess.run([binary, "-n", str(tmp_path / "script")], check=True)


def test_bash_completes_verbs_and_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "c").write_text(capsys.readouterr().out)

    def completed(*words: str) -> list[str]:
        listed = " ".join(f"'{word}'" for word in words)
        line = f"source {tmp_path}/c; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _recombine; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run([bash, "-c", line], capture_output=True, text=True, check=True).stdout.split()

    assert completed("recombine", "eval") == ["evaluate"]
    assert completed("recombine", "evaluate", "--wh") == ["--where"]
    assert "reascan" in completed("recombine", "show", "rea")


def test_completion_knows_the_options_of_every_parser() -> None:
    known = words_of()
    assert set(known) == set(VERBS)
    for verb in VERBS:
        options = {name for action in parser_of(verb)._actions for name in action.option_strings if name.startswith("--")}
        assert {name for name, _ in known[verb]} == options


def test_watch_writes_a_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film = tmp_path / "film.gif"
    assert main(["watch", "GSCAN", "--out", str(film), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["solved"] is True
    with Image.open(io.BytesIO(film.read_bytes())) as opened:
        assert opened.format == "GIF" and opened.n_frames <= told["frames"] and opened.n_frames > 1
    assert main(["watch", "TowerScratch", "--out", str(film)]) == 0
    assert main(["watch", told["id"], "--act", "turn left, stay, STOP", "--out", str(film)]) == 0
    assert "not solved" in capsys.readouterr().out
    assert main(["watch", "GSCNA", "--out", str(film)]) == 2
    for name in ("TowerScratch", "GSCAN", "Abstract"):
        assert main(["watch", name, "--act", "fly", "--out", str(tmp_path / "none.gif")]) == 2, name
        assert "'fly' is no" in capsys.readouterr().err
    assert not (tmp_path / "none.gif").exists()
    assert main(["watch", "GSCAN", "--out", str(tmp_path / "film.png")]) == 2


def test_sizes_by_part_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "d")
    assert (
        main(["generate", "gscan", "--part", "train", "--part", "test", "--size", "train=30,test=7", "--out", out, "--json"])
        == 0
    )
    assert sorted(json.loads(capsys.readouterr().out)["counts"].values()) == [7, 30]
    with pytest.raises(SystemExit):
        main(["generate", "gscan", "--size", "train=x", "--out", out])


def test_progress_counts_even_when_piped() -> None:
    with progress("x", 10) as tick:
        tick(4)
        assert (Standing.done, Standing.total) == (4, 10)


def test_compiling_is_announced_once_and_only_if_something_is_compiled(tmp_path: Path) -> None:
    """The module `draws` is only compiled into others: no file of its own lies on disk, and that once was announced in every run."""
    program = (
        "import numpy as np\n"
        "from recombine import kernels\n"
        "kernels.tell_of_compiling(print)\n"
        "found = kernels.load('recombine.draws', True)\n"
        "print('loaded')\n"
        "[found.below(np.array([word], dtype=np.uint64), 10) for word in (1, 2)]\n"
        "kernels.load('recombine.grid.kernel', True)\n"
    )
    told = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True,
            env={**os.environ, "RECOMBINE_CACHE": str(tmp_path / "cache")},
        )  # fmt: skip
        told.append(done.stdout.splitlines())
    assert told[0][0] == "loaded" and told[0][1].startswith("compiling kernels, once") and len(told[0]) == 2
    assert told[1] == ["loaded"]


def test_a_port_that_is_taken_is_told_before_the_address(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("uvicorn")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "choose another --port" in printed.err


def test_a_saved_picture_says_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.svg", "a.txt"):
        assert main(["show", "gscan", "--save", str(tmp_path / name)]) == 0
        assert capsys.readouterr().out.startswith(f"wrote {tmp_path / name}")


def test_counts_cannot_be_negative(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["stats", str(tmp_path), "--most", "-1"])


def test_merge_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", "scan", "--split", "simple", "--part", "test", "--size", "9", "--out", str(tmp_path / "d")]
    assert main([*words, "--shard", "1/1"]) == 0
    capsys.readouterr()
    assert main(["merge", str(tmp_path / "d"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"simple/test": 9}


def test_rows_with_prompts_are_written_beside_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.parquet as parquet

    out = tmp_path / "rows"
    words = ["generate", "gscan", "--part", "test", "--size", "3", "--out", str(out), "--with-prompts"]
    assert main([*words, "--style", "direct", "--sight", "picture", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    [file] = told["prompts"]
    assert file == f"{out}-prompts/compositional/test.parquet"
    rows = parquet.read_table(file).to_pylist()
    made = recombine.load(out, part="test")
    assert [row["id"] for row in rows] == [example.id for example in made]
    assert all(recombine.Scorer()(row["id"], f"Answer: {row['answer']}").value == 1.0 for row in rows)
    assert rows[0]["images"][0]["bytes"].startswith(b"\x89PNG") and "Rules:" not in str(rows[0]["prompt"])
    assert main(words) == 0
    assert f"prompts: {file}" in capsys.readouterr().out
    assert "Rules:" in str(parquet.read_table(file).to_pylist()[0]["prompt"])
    for wrong in (["--style", "loud"], ["--shard", "1/2"], ["--format", "native"]):
        assert main([*words, *wrong]) == 2
    assert main(["generate", "gscan", "--size", "3", "--out", str(tmp_path / "x"), "--sight", "picture"]) == 2
    assert not (tmp_path / "x").exists()


def test_every_verb_that_finds_something_can_print_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    speakers = {
        verb
        for verb in VERBS
        if "--json" not in {name for action in parser_of(verb)._actions for name in action.option_strings}
    }
    # A script, two servers and pictures have no findings; the acts of exam and study have their own; identify and rules write files.
    assert speakers <= {"completion", "mcp", "serve", "show", "exam", "study", "identify", "rules"}
    assert main(["train", "list", "--json"]) == 0
    assert {"model", "reads", "what"} == set(json.loads(capsys.readouterr().out)["models"][0])
    assert main(["reproduce", "list", "--json"]) == 0
    assert "nacs-table1" in json.loads(capsys.readouterr().out)["tables"]
    assert main(["reproduce", "nacs-table1", "--json", "--out", str(tmp_path)]) == 0
    assert "smoke" in json.loads(capsys.readouterr().out)["scales"]
    assert main(["path", "verl", "--json"]) == 0
    assert Path(json.loads(capsys.readouterr().out)["path"]).exists()


@pytest.mark.parametrize("address", ["127.0.0.1:²", "127.0.0.1:" + "9" * 5_000, "127.0.0.1:٣", "127.0.0.1:0", ":8000", "8000"])
def test_an_address_of_mcp_has_a_port(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--http", address]) == 2
    assert "HOST:PORT" in capsys.readouterr().err


def test_evaluate_and_audit_know_their_totals(tmp_path: Path) -> None:
    from recombine.data.audit import count_rows
    from recombine.evaluate.answers import Answer
    from recombine.evaluate.evaluate import evaluate_all, planned_rows

    out = tmp_path / "rows"
    assert main(["generate", "scan", "--split", "simple", "--part", "test", "--size", "30", "--out", str(out)]) == 0
    answers = {"m": {e.id: Answer(e.id, e.answer) for e in recombine.load(out, part="test")}}
    for baselines in (["majority"], ["all-baselines"]):
        counted: list[int] = []
        evaluate_all([out], answers, baselines=baselines, on_rows=counted.append)
        assert sum(counted) == planned_rows([out], answers, baselines)
    some = frozenset(list(answers["m"])[:10])
    assert planned_rows([out], answers, [], rows=some) == 10
    assert (
        main(
            [
                "generate",
                "scan",
                "--split",
                "simple",
                "--part",
                "test",
                "--size",
                "20",
                "--format",
                "native",
                "--out",
                str(tmp_path / "n"),
            ]
        )
        == 0
    )
    [file] = [path for path in (tmp_path / "n").rglob("*.txt") if "test" in path.name]
    assert count_rows(file, "scan") == 20


def test_the_library_logs_and_the_command_line_shows_it(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that uses the library decides what becomes of its messages; `recombine` shows them on standard error."""
    from recombine import kernels
    from recombine.cli.log import show_log

    log = logging.getLogger("recombine")
    before = log.handlers[:], log.level
    try:
        log.handlers.clear()
        kernels._say_once("a sentence for a program")
        assert [record.getMessage() for record in caplog.records] == ["a sentence for a program"]
        assert capsys.readouterr() == ("", "")
        show_log()
        show_log()
        log.info("%d of 3 runs are done", 1)
        assert capsys.readouterr() == ("", "1 of 3 runs are done\n")
    finally:
        log.handlers[:], log.level = before
