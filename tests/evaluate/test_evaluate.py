"""Evaluation end to end: baselines, named mistakes, comparisons, hostile answers, and the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import recombine
from recombine.cli import main
from recombine.data.folders import Folder
from recombine.data.generate import generate
from recombine.errors import FileError, RecombineError, UsageError
from recombine.evaluate.answerers import SHORTCUT, make_answerer, shortcut_names
from recombine.evaluate.answers import Answer, read_answers, read_ids, write_answers
from recombine.evaluate.diagnosis import diagnose
from recombine.evaluate.evaluate import evaluate, evaluate_all
from recombine.evaluate.findings import findings
from recombine.evaluate.page import to_html
from recombine.evaluate.report import write_report
from recombine.evaluate.rows import Rows, part_rows
from recombine.evaluate.scoring import answering, score_run
from recombine.evaluate.verdict import coverage_lines
from recombine.families import FAMILIES, family


def _examples(name: str, rows: int) -> tuple[Rows, str, str]:
    item = family(name)
    data = recombine.load(name, next(iter(item.SPLITS)), size=rows, seed=2)
    return part_rows(data), data.job.split, data.job.part


@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_shortcut_reader_is_diagnosed_as_itself(name: str) -> None:
    examples, split, part = _examples(name, 60)
    tried, readers = 0, shortcut_names(examples)
    for reader in readers:
        run = score_run("faulty", examples, answering(make_answerer(SHORTCUT + reader, [])), split=split, part=part)
        wrong = [record for record in run.records if record.status == "wrong"]
        if len(wrong) < 5:
            continue
        tried += 1
        assert all(reader in record.mistakes for record in wrong), reader
        found = next(mistake for mistake in diagnose(run) if mistake.is_above_chance)
        assert found.share == 1.0
    assert 2 * tried >= len(readers) > 0, "most readers err often enough to be tried"


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
    only_our_script_runs(page)


def only_our_script_runs(page: str) -> None:
    """The page has one script with the policy's nonce; every other block is data that no browser runs."""
    (nonce,) = re.findall(r"script-src 'nonce-([0-9a-f]{32})'", page)
    blocks = re.findall(r"<script[^>]*>", page)
    assert blocks.count(f"<script nonce='{nonce}'>") == 1
    assert all(block.startswith("<script type='application/zlib' class=") for block in blocks if nonce not in block)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return generate("scan", tmp_path / "data", split="length", part="test", size=80).path


def _answers(folder: Path, **change: str | None) -> dict[str, Answer]:
    data = recombine.load(folder)
    return {example.id: Answer(example.id, change.get("answer", example.answer), change.get("status")) for example in data}


@pytest.mark.parametrize("name", ["majority", "oracle", "shortcut:after_as_and"])
def test_a_run_does_not_take_the_name_of_a_baseline(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match="as a built-in answerer is"):
        evaluate(folder, {name: _answers(folder)})


def test_a_run_has_a_name(folder: Path) -> None:
    with pytest.raises(UsageError, match="give it a name"):
        evaluate(folder, {"": _answers(folder)})


def test_an_unknown_shortcut_reader_is_no_perfect_baseline(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown shortcut reader 'after_as_an'\. Did you mean 'after_as_and'"):
        evaluate_all([folder], {}, baselines=["shortcut:after_as_an"])
    assert [run.name for run in evaluate_all([folder], {}, baselines=["shortcut:after_as_and"]).runs] == [
        "shortcut:after_as_and"
    ]


def test_a_shortcut_reader_of_another_family_is_left_out(folder: Path, tmp_path: Path) -> None:
    stories = generate("clutrr", tmp_path / "stories", split="generalization_23", part="test_k3", size=4).path
    found = evaluate_all([folder, stories], {}, baselines=["majority", "shortcut:last_fact"])
    assert [run.key for run in found.runs if run.name == "shortcut:last_fact"] == ["clutrr/generalization_23/test_k3"]


def test_rows_to_score_that_do_not_exist_are_named(folder: Path) -> None:
    good = _answers(folder)
    known = next(iter(good))
    for evaluated in (
        lambda rows: evaluate(folder, {"m": good}, rows=rows),
        lambda rows: evaluate_all([folder], {"m": good}, rows=rows),
    ):
        assert len(evaluated({known}).runs[0].records) == 1
        for strange in (known[:-1] + "x", known.replace("length", "simple")):
            with pytest.raises(UsageError, match="the rows to score name 1 ids that are not in"):
                evaluated({known, strange})


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
    run = findings(evaluate(folder, {"m": changed}, missing="wrong"))["parts"]["scan/length/test"]["runs"]["m"]
    assert run["statuses"] == {"right": 39, "refused": 10, "truncated": 10, "error": 10, "unparsable": 10, "missing": 1}
    assert run["accuracy"]["mean"] == pytest.approx(39 / 80)
    assert run["accuracy_of_answered"]["mean"] == 1.0


@pytest.fixture
def two_sets(tmp_path: Path) -> Path:
    return generate("clutrr", tmp_path / "two", split="generalization_23", part=["test_k2", "test_k3"], size=20).path


def test_answers_to_other_parts_of_the_folder_are_not_scored(two_sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--part` may be narrower than the answers; ids that no part of the folder has are still an error."""
    file = two_sets.parent / "m.jsonl"
    answers = {e.id: Answer(e.id, e.answer) for part in ("test_k2", "test_k3") for e in recombine.load(two_sets, part=part)}
    write_answers(file, answers.values())
    assert main(["evaluate", "--data", str(two_sets), "--part", "test_k2", "--answers", f"m={file}"]) == 0
    line = "m: its answers to 20 rows of other sets are not scored (clutrr/generalization_23/test_k3)."
    assert line in capsys.readouterr().out
    found = findings(evaluate(two_sets, {"m": answers}, parts=["test_k2"]))
    assert list(found["parts"]) == ["clutrr/generalization_23/test_k2"]
    assert found["parts"]["clutrr/generalization_23/test_k2"]["runs"]["m"]["accuracy"]["rows"] == 20
    last = max(answers)
    for strange in (last.replace("/0/", "/1/"), last[:-6] + "0" + last[-6:], last[:-6] + "000020"):
        with pytest.raises(UsageError, match=re.escape(strange)):
            evaluate(two_sets, {"m": {**answers, strange: Answer(strange, "aunt")}}, parts=["test_k2"])


def test_answers_to_rows_beside_a_sample_are_foreign(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=30)
    answers = {e.id: Answer(e.id, e.answer) for e in recombine.load(folder.path)}
    assert evaluate(folder, {"m": answers}, baselines=()).runs
    job = folder.plan.parts[0].job
    beside = next(job.id(i) for i in range(job.stop) if job.id(i) not in answers)
    with pytest.raises(UsageError, match="answers 1 ids that are not in"):
        evaluate(folder, {"m": {**answers, beside: Answer(beside, "I_WALK")}}, baselines=())


def test_a_run_that_answers_no_row_of_a_set_is_treated_like_one_that_answers_some(two_sets: Path) -> None:
    other = generate("scan", two_sets.parent / "scan", split="length", part="test", size=20).path
    rows = [e for part in ("test_k2", "test_k3") for e in recombine.load(two_sets, part=part)]
    whole = {e.id: Answer(e.id, e.answer) for e in rows}
    half = {key: answer for key, answer in whole.items() if "/test_k2/" in key}
    runs = {"whole": whole, "half": half}
    with pytest.raises(UsageError, match="half answers 0 of the 20 rows of clutrr/generalization_23/test_k3"):
        evaluate(two_sets, runs)
    with pytest.raises(UsageError, match="half answers 0 of the 20 rows of clutrr/generalization_23/test_k3"):
        evaluate(two_sets, {"half": half}, parts=["test_k2", "test_k3"])
    with pytest.raises(UsageError, match="whole answers 0 of the 20 rows of scan/length/test"):
        evaluate_all([two_sets, other], {"whole": whole})
    found = findings(evaluate(two_sets, runs, missing="wrong"))["parts"]["clutrr/generalization_23/test_k3"]["runs"]["half"]
    assert (found["accuracy"]["mean"], found["statuses"]) == (0.0, {"missing": 20})
    skipped = findings(evaluate_all([two_sets, other], runs, missing="skip"))
    assert "half" not in skipped["parts"]["clutrr/generalization_23/test_k3"]["runs"]
    lines = coverage_lines(skipped)
    assert "half answers no row of clutrr/generalization_23/test_k3, scan/length/test, so it is left out there." in lines
    assert "whole answers no row of scan/length/test, so it is left out there." in lines


def test_hostile_answers_are_escaped(folder: Path, tmp_path: Path) -> None:
    payload = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\"'"
    hostile = {key: Answer(key, payload) for key in _answers(folder)}
    page = write_report(evaluate(folder, {"<b>m</b>": hostile}), tmp_path / "out").read_text()
    only_our_script_runs(page)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>m</b>" not in page
    assert "&lt;script" in page


def test_answer_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    write_answers(file, _answers(folder).values())
    assert len(read_answers(file)) == 80
    assert main(["evaluate", "--data", str(folder), "--answers", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "100.0%" in capsys.readouterr().out
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert len(read_answers(file)) == len(read_ids(file)) == 80, "a mark of byte order is no part of the first line"
    for line in ("[]", '{"id": 3}', '{"id": "x", "answer": 3}', '{"id": "x", "status": "odd"}', "{", '{"id":"x"}\n{"id":"x"}'):
        file.write_text(line + "\n")
        with pytest.raises(FileError):
            read_answers(file)
    with pytest.raises(UsageError, match="not in"):
        evaluate(folder, {"m": {**_answers(folder), "scan@1/release/length/test/0/999999": Answer("x", "y")}})
    with pytest.raises(RecombineError):
        evaluate(folder, {}, baselines=["no-such"])


def test_a_refused_evaluation_leaves_no_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "nobody"}\n')
    words = ["evaluate", "--data", str(folder), "--answers", str(tmp_path / "a.jsonl")]
    assert main([*words, "--out", str(tmp_path / "out"), "--figures", str(tmp_path / "figures")]) == 2
    assert not (tmp_path / "out").exists() and not (tmp_path / "figures").exists()


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


# --- nothing is silent -----------------------------------------------------------------------------------------------


def _half(folder: Folder) -> dict[str, Answer]:
    """Right answers to the first half of the test rows."""
    examples = list(recombine.load(folder.path, part="test"))
    return {example.id: Answer(example.id, example.answer) for example in examples[: len(examples) // 2]}


def test_missing_rows_are_an_error_until_the_caller_says_what_becomes_of_them(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", size=40)
    half = _half(folder)
    with pytest.raises(UsageError, match=r"answers 20 of the 40 rows .* --missing skip"):
        evaluate(folder, {"alpha": half})
    skipped = findings(evaluate(folder, {"alpha": half}, missing="skip"))["parts"]["scan/length/test"]["runs"]["alpha"]
    assert (skipped["coverage"], skipped["accuracy"]["mean"]) == ("20 of 40 rows answered", 1.0)
    wrong = findings(evaluate(folder, {"alpha": half}, missing="wrong"))["parts"]["scan/length/test"]["runs"]["alpha"]
    assert (wrong["coverage"], wrong["accuracy"]["mean"]) == ("20 of 40 rows answered", 0.5)


def test_coverage_stands_first_everywhere(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", size=40)
    page = write_report(evaluate(folder, {"alpha": _half(folder)}, missing="wrong"), tmp_path / "out")
    sentence = "alpha on scan/length/test: 20 of 40 rows answered; 100.0% of those are right."
    for text in (page.read_text(), (tmp_path / "out" / "report.md").read_text()):
        assert sentence in text
        assert text.index(sentence) < text.index("majority")


def test_rows_can_be_named(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", size=40)
    half = _half(folder)
    found = evaluate(folder, {"alpha": half}, rows=frozenset(half), baselines=["majority"])
    assert [(run.name, len(run.records), run.coverage) for run in found.runs] == [("alpha", 20, ""), ("majority", 20, "")]


def test_several_folders_make_one_report(tmp_path: Path) -> None:
    folders = [generate("scan", tmp_path / split, split=split, size=30) for split in ("length", "addprim_jump")]
    answers = {e.id: Answer(e.id, e.answer) for folder in folders for e in recombine.load(folder.path, part="test")}
    found = evaluate_all(folders, {"alpha": answers})
    assert found.parts() == ["scan/length/test", "scan/addprim_jump/test"]
    with pytest.raises(UsageError, match="beta answers 1 ids that are not in"):
        evaluate_all(folders[:1], {"beta": {"x/000001": Answer("x/000001", "y")}})


def test_runs_that_answer_other_rows_are_compared_on_the_shared_ones(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", size=40)
    examples = list(recombine.load(folder.path, part="test"))
    first = {e.id: Answer(e.id, e.answer) for e in examples[:30]}
    second = {e.id: Answer(e.id, "I_WALK") for e in examples[10:]}
    found = evaluate(folder, {"a": first, "b": second}, missing="skip")
    assert found.comparisons()["a", "b"]["scan/length/test"].rows == 20


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "--data", "x", "--out", "a", "--out", "b"],
        ["show", "scan", "--split", "length", "--split", "simple"],
        ["predict", "RUN", "--part", "test", "--part", "train"],
    ],
)
def test_an_option_that_takes_one_value_cannot_be_given_twice(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert "was given twice" in capsys.readouterr().err


def test_two_runs_of_one_name_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x", "answer": "y"}\n')
    file = str(tmp_path / "a.jsonl")
    assert main(["evaluate", "--data", str(tmp_path), "--answers", f"alpha={file}", "--answers", f"alpha={file}"]) == 2
    assert "two runs are called 'alpha'" in capsys.readouterr().err


def test_the_p_value_that_decides_is_shown(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", size=200)
    examples = list(recombine.load(folder.path, part="test"))
    first = {e.id: Answer(e.id, e.answer) for e in examples}
    second = {e.id: Answer(e.id, e.answer if i % 3 else "I_WALK") for i, e in enumerate(examples)}
    (row,) = findings(evaluate(folder, {"a": first, "b": second}))["comparisons"]
    assert row["decided_by"] == "clustered t"
    assert row["decisive_p"] == row["p"]


# --- public names ----------------------------------------------------------------------------------------------------


def test_public_names(tmp_path: Path) -> None:
    folder = generate("scan", tmp_path / "data", split="length", part="test", size=40)
    right = {e.id: e.answer for e in recombine.load(folder.path)}
    wrong = dict.fromkeys(right, "I_WALK")
    write_answers(tmp_path / "right.jsonl", [Answer(key, value) for key, value in right.items()])
    evaluation = recombine.evaluate(folder.path, {"alpha": str(tmp_path / "right.jsonl"), "beta": wrong})
    assert [run.accuracy().mean for run in evaluation.of("scan/length/test")][:2] == [1.0, 0.0]
    assert "100.0%" in evaluation._repr_html_()
    found = recombine.compare(str(folder.path), right, wrong, names=("alpha", "beta"))
    assert found.sentence.startswith("alpha is ahead of beta by 100.0 points [")
    assert recombine.report(evaluation, str(tmp_path / "out")) == tmp_path / "out" / "index.html"
    with pytest.raises(UsageError, match="must be a text"):
        recombine.evaluate(folder.path, {"alpha": {next(iter(right)): 3}})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="give two names"):
        recombine.compare(folder.path, right, wrong, names=("a", "a"))
    with pytest.raises(UsageError, match="no folder"):
        recombine.evaluate([], {"alpha": right})


@pytest.mark.parametrize("name", list(FAMILIES))
def test_notebooks_show_examples_and_sets(name: str) -> None:
    data = recombine.load(name, size=6, seed=1)
    shown = data[0]._repr_html_()
    assert data[0].id in shown
    assert "<script" not in shown
    assert data[5].id not in data._repr_html_()
    assert data[4].id in data._repr_html_()


def test_a_rule_is_named_only_if_every_answer_names_the_same(tmp_path: Path) -> None:
    generate("scan", tmp_path / "data", split="simple", part="test", size=30)
    ids = [example.id for example in recombine.load(str(tmp_path / "data"), part="test")]

    def rule_of(rules: list[object]) -> str:
        answers = {name: Answer(name, "I_JUMP", None, {"rule": rule}) for name, rule in zip(ids, rules, strict=True)}
        (run,) = (run for run in evaluate(tmp_path / "data", {"x": answers}).runs if run.name == "x")
        return run.rule

    assert rule_of(["12 slots"] * 30) == "12 slots"
    assert rule_of(["12 slots"] * 29 + ["13 slots"]) == ""
    assert rule_of([["a list"]] * 30) == rule_of([None] * 30) == ""
    assert len(rule_of(["<b>" * 1_000] * 30)) == 200
