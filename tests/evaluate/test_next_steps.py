"""Every command that a verb prints as the next step works as it stands; and verbs that used to mislead."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from html import escape
from pathlib import Path

import pytest

from recombine.cli import main
from recombine.core import Problem
from recombine.data.audit import Audit
from recombine.data.generate import generate

_SPEC = importlib.util.spec_from_file_location("next_steps_chat_server", Path(__file__).with_name("chat_server.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
chat_server = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(chat_server)
TINY = ["--with", "epochs=1", "--with", "units=8", "--with", "embedding=8"]


def _follow(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run the commands that the last verb printed, in order; returns what they were."""
    printed = capsys.readouterr().out
    steps = re.findall(r"^(?:next|then): recombine (.*)$", printed, re.MULTILINE)
    assert steps, printed
    for step in steps[:-1]:
        assert main(shlex.split(step)) == 0, step
        capsys.readouterr()
    assert main(shlex.split(steps[-1])) == 0, steps[-1]
    return steps


@pytest.mark.slow
def test_train_predict_evaluate_on_a_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    run = str(tmp_path / "a run")
    words = ["--data", "nacs", "--split", "simple_p1", "--seed", "3"]
    assert main(["train", "rnn", *words, "--out", run, *TINY]) == 0
    (predict,) = _follow(capsys)
    assert "--split simple_p1 --seed 3" in predict
    generated, evaluated = _follow(capsys)
    assert generated.startswith("generate nacs --split simple_p1 --seed 3 --part test")
    assert evaluated.startswith("evaluate --data")
    (report,) = tmp_path.glob("*-report/report.json")
    (part,) = json.loads(report.read_text())["parts"].values()
    assert not any(answered["coverage"] for answered in part["runs"].values())


@pytest.mark.slow
def test_predict_some_rows_of_a_folder_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    generate("nacs", data, split="simple_p1", seed=1)
    assert main(["train", "rnn", "--data", data, "--out", run, *TINY]) == 0
    capsys.readouterr()
    assert main(["predict", run, "--data", data, "--size", "30", "--out", str(tmp_path / "some.jsonl")]) == 0
    (evaluated,) = _follow(capsys)
    assert "--rows" in evaluated
    (part,) = json.loads((tmp_path / "some-report" / "report.json").read_text())["parts"].values()
    assert part["runs"]["some"]["accuracy"]["rows"] == 30


@pytest.mark.parametrize("source", ["family", "folder"])
def test_ask_evaluate(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    asked = ["scan", "--split", "length", "--seed", "2"]
    if source == "folder":
        generate("scan", tmp_path / "data", split="length", part="test", size=40)
        asked = [str(tmp_path / "data")]
    out = str(tmp_path / "run")
    with chat_server.ChatServer(lambda _prompt: "I_WALK") as server:
        words = ["ask", *asked, "--size", "12", "--model", "echo", "--endpoint", server.url, "--out", out]
        assert main(words) == 0
        _follow(capsys)
        assert main(words) == 0  # the folder beside the answers does not stop the run from being taken up again
    (part,) = json.loads((tmp_path / "run-report" / "report.json").read_text())["parts"].values()
    assert part["runs"]["answers"]["answered"] == 12


# --- verbs that used to mislead --------------------------------------------------------------------------------------


def test_the_next_step_of_a_stopped_run_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    with chat_server.ChatServer(lambda _prompt: "I_WALK") as server:
        words = ["ask", "scan", "--split", "length", "--size", "20", "--model", "echo", "--endpoint", server.url]
        assert main([*words, "--max-requests", "5", "--concurrency", "1", "--out", str(tmp_path / "run")]) == 1
        (step,) = _follow(capsys)
        assert "--missing skip" in step
        assert main([*words, "--max-requests", "0", "--out", str(tmp_path / "none")]) == 1
    printed = capsys.readouterr().out
    assert "no row has a reply yet" in printed and "mean score" not in printed and "next:" not in printed


def test_pairs_ask_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_API_KEY", chat_server.KEY)
    out = str(tmp_path / "pairs")
    assert main(["generate", "scan", "--pairs", "verb", "--size", "3", "--out", out]) == 0
    steps = re.findall(r"^(?:next|then): recombine (.*)$", capsys.readouterr().out, re.MULTILINE)
    with chat_server.ChatServer(lambda _prompt: "I_WALK") as server:
        ask, score = (
            step.replace("NAME", "echo").replace("URL", server.url).replace("RUN", f"{tmp_path}/run") for step in steps
        )
        assert main([*shlex.split(ask), "--shots", "2"]) == 0
        (step,) = _follow(capsys)
        assert main(shlex.split(score)) == 0
        assert main([*shlex.split(ask), "--size", "2"]) == 2
    assert "answers.jsonl" in step and (tmp_path / "run-report" / "pairs_report.json").is_file()


@pytest.mark.parametrize("verb", ["ask", "lexicon", "plan-eval", "rules", "identify"])
def test_a_folder_without_a_training_part_gets_one(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "data")
    generate("scan", folder, split="addprim_turn_left", part="test", size=12, seed=3)
    asked = ["--model", "m", "--endpoint", "https://host.example/v1", "--price", "3,15", "--dry-run"]
    words = {
        "ask": ["ask", folder, "--shots", "2", *asked],
        "lexicon": ["ask", folder, "--style", "lexicon", *asked],
        "plan-eval": ["plan-eval", "--detect", "3", "--family", folder, "--shots", "2"],
        "rules": ["rules", folder, "--shots", "2"],
        "identify": ["identify", folder],
    }
    if verb == "identify":
        from recombine.models.parts import Request, fit_rows

        rows = fit_rows(Request(folder), None, made_anew=True)
        assert rows.job.key == "scan@1/release/addprim_turn_left/train/3" and rows.folder is None
        return
    assert main(words[verb]) in (0, 1)
    assert capsys.readouterr().err == ""


def test_training_from_a_folder_without_a_training_part_says_what_to_add(tmp_path: Path) -> None:
    from recombine.errors import UsageError
    from recombine.models.parts import Request, fit_rows

    generate("scan", tmp_path / "data", split="length", part="test", size=12)
    with pytest.raises(UsageError, match="add `--part train`"):
        fit_rows(Request(str(tmp_path / "data")), None)


def test_a_picture_that_a_family_does_not_draw_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "scan", "--save", str(tmp_path / "x.png")]) == 2
    assert "use .svg, .pdf, .txt." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--save", "fig.doc"], "no suffix that says what to write"),
        (["--save", "fig"], "no suffix that says what to write"),
        (["--save", "x.png", "--render", "svg"], "make them agree"),
        (["--save", "x.txt", "--render", "png"], "make them agree"),
    ],
)
def test_the_suffix_of_a_saved_picture_decides(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show", "gscan", *words]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "beginning"), [("x.png", b"\x89PNG"), ("x.SVG", b"<svg"), ("x.txt", b"")])
def test_a_saved_picture_is_what_its_suffix_says(name: str, beginning: bytes, tmp_path: Path) -> None:
    assert main(["show", "gscan", "--save", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(beginning)
    assert (tmp_path / name).stat().st_size > 20


def _audit(*problems: Problem) -> Audit:
    return Audit("x", "clutrr", 118, 0, 0, 0, 0, problems, {}, (), {})


def test_an_audit_opens_with_the_rows_that_are_false(capsys: pytest.CaptureFixture[str]) -> None:
    false = [Problem("false_target", "", "artifact", f"row {i}") for i in range(59)]
    again = Problem("false_fact", "", "artifact", "row 0")
    assert _audit(*false, again).headline == (
        "50% of the rows (59 of 118) state something false under the complete rules; 0 break the release's own rules."
    )
    other = Problem("shorter_path", "", "artifact", "row 99")
    broken = Problem("wrong_label", "", "error", "row 98")
    told = _audit(*false, other, broken).headline
    assert "1% of the rows (1 of 118) have another artifact" in told
    assert told.endswith("1 break the release's own rules.")
    assert _audit().headline == "0 break the release's own rules."
    assert escape(_audit(*false).headline) in _audit(*false).to_html()
    assert _audit(*false).to_json()["headline"] == _audit(*false).headline


def test_reproduce_without_a_scale_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    out = tmp_path / "runs"
    for table in ("nacs-table1", "lilgym-table1", "reascan-table3"):
        assert main(["reproduce", table, "--out", str(out)]) == 0
        printed = capsys.readouterr().out
        assert "nothing was run" in printed
        assert printed.count("not run here yet") == 4
        assert not out.exists()
    assert main(["reproduce", "nacs-table1", "--scale", "minuet", "--out", str(out)]) == 2
    assert "smoke" in capsys.readouterr().err
    assert not out.exists()
    out.mkdir()
    (out / "nacs-table1-smoke.json").write_text('{"table": "nacs-table1", "train_cpu_seconds": 71.4}')
    assert main(["reproduce", "nacs-table1", "--out", str(out)]) == 0
    assert "71 s of one core" in capsys.readouterr().out
