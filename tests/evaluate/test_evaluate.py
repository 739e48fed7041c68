"""Evaluation end to end: baselines, named mistakes, comparisons, hostile answers, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recombine
from recombine.cli import main
from recombine.core import Example
from recombine.data.generate import generate
from recombine.errors import FileError, RecombineError, UsageError
from recombine.evaluate.answerers import SHORTCUT, make_answerer, shortcut_names
from recombine.evaluate.answers import Answer, read_answers, write_answers
from recombine.evaluate.diagnosis import main_mistake
from recombine.evaluate.evaluate import evaluate, findings
from recombine.evaluate.report import to_html, write_report
from recombine.evaluate.scoring import answering, score_run
from recombine.families import FAMILIES, family


def _examples(name: str, rows: int) -> tuple[list[Example], str, str]:
    item = family(name)
    data = recombine.load(name, next(iter(item.SPLITS)), size=rows, seed=2)
    return list(data), data.job.split, data.job.part


@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_shortcut_reader_is_diagnosed_as_itself(name: str) -> None:
    examples, split, part = _examples(name, 60)
    tried = 0
    for reader in shortcut_names(examples):
        run = score_run("faulty", examples, answering(make_answerer(SHORTCUT + reader, [])), split=split, part=part)
        wrong = [record for record in run.records if record.status == "wrong"]
        if len(wrong) < 5:
            continue
        tried += 1
        assert all(reader in record.mistakes for record in wrong), reader
        found = main_mistake(run)
        assert found is not None
        assert found.share == 1.0
    assert tried >= 1


@pytest.mark.parametrize("name", list(FAMILIES))
def test_all_baselines_run(name: str, tmp_path: Path) -> None:
    folder = generate(name, tmp_path / "data", size=24, seed=2)
    evaluation = evaluate(folder, {}, baselines=["all-baselines"])
    found = findings(evaluation)
    for part in found["parts"].values():
        assert part["runs"]["oracle"]["accuracy"]["mean"] == 1.0
        assert part["runs"]["random"]["accuracy"]["mean"] < 1.0
        assert {"majority", "bag_of_words", "nearest_neighbour"} <= set(part["runs"])
    page = to_html(evaluation, found, "All")
    assert page.startswith("<!doctype html>")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return generate("scan", tmp_path / "data", split="length", part="test", size=80).path


def _answers(folder: Path, **change: str | None) -> dict[str, Answer]:
    data = recombine.load(folder)
    return {example.id: Answer(example.id, change.get("answer", example.answer), change.get("status")) for example in data}


def test_two_runs_are_compared(folder: Path, tmp_path: Path) -> None:
    good = _answers(folder)
    bad = {key: Answer(key, "I_WALK") if i % 2 else answer for i, (key, answer) in enumerate(good.items())}
    found = findings(evaluate(folder, {"good": good, "bad": bad}))
    (comparison,) = found["comparisons"]
    assert comparison["difference"] == pytest.approx(0.5)
    assert comparison["only_a"] == 40
    assert comparison["holm"] < 0.001
    assert comparison["groups"] == [["good"], ["bad"]]
    path = write_report(evaluate(folder, {"good": good, "bad": bad}), tmp_path / "out")
    assert "good is better" in path.read_text()
    assert json.loads((tmp_path / "out" / "report.json").read_text())["parts"]
    assert "| scan/length/test | good |" in (tmp_path / "out" / "report.md").read_text()
    assert "18.1" in path.read_text(), "the paper's figure stands beside ours"


def test_non_answers_are_kept_apart(folder: Path) -> None:
    answers = _answers(folder)
    kinds = ["refused", "truncated", "error", "unparsable"]
    changed = {
        key: Answer(key, None, kinds[i % 4]) if i < 40 else answer for i, (key, answer) in enumerate(answers.items()) if i != 79
    }
    run = findings(evaluate(folder, {"m": changed}))["parts"]["scan/length/test"]["runs"]["m"]
    assert run["statuses"] == {"right": 39, "refused": 10, "truncated": 10, "error": 10, "unparsable": 10, "missing": 1}
    assert run["accuracy"]["mean"] == pytest.approx(39 / 80)
    assert run["accuracy_of_answered"]["mean"] == 1.0


def test_hostile_answers_are_escaped(folder: Path, tmp_path: Path) -> None:
    payload = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\"'"
    hostile = {key: Answer(key, payload) for key in _answers(folder)}
    page = write_report(evaluate(folder, {"<b>m</b>": hostile}), tmp_path / "out").read_text()
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "<b>m</b>" not in page
    assert "&lt;script" in page


def test_answer_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    write_answers(file, _answers(folder).values())
    assert len(read_answers(file)) == 80
    assert main(["evaluate", "--data", str(folder), "--answers", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "100.0%" in capsys.readouterr().out
    for line in ("[]", '{"id": 3}', '{"id": "x", "answer": 3}', '{"id": "x", "status": "odd"}', "{", '{"id":"x"}\n{"id":"x"}'):
        file.write_text(line + "\n")
        with pytest.raises(FileError):
            read_answers(file)
    with pytest.raises(UsageError, match="not in"):
        evaluate(folder, {"m": {**_answers(folder), "scan@1/release/length/test/0/999999": Answer("x", "y")}})
    with pytest.raises(RecombineError):
        evaluate(folder, {}, baselines=["no-such"])


def test_a_rubber_stamp_is_not_news(folder: Path) -> None:
    """The report shows a reader who always gives the commonest answer beside every run."""
    found = findings(evaluate(folder, {"m": _answers(folder)}))
    assert "majority" in found["parts"]["scan/length/test"]["runs"]


def test_published_figures_name_sets_that_exist() -> None:
    from recombine.evaluate.published import PUBLISHED, published

    for name, place in PUBLISHED:
        split, _, part = place.partition("/")
        assert split in family(name).SPLITS
        assert (part or "test") in family(name).SPLITS[split].parts
    assert published("clutrr", "robust_clean", "test_clean", "release")[1].accuracy == 100
    assert published("clutrr", "robust_clean", "test_clean", "sound") == ()
    assert published("scan", "length", "validation", "release") == ()
