"""The suite `fresh`: one command draws an exam over all families, `evaluate` reports it, `history` compares exams."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

import recombine
from recombine.cli import main
from recombine.data import fresh
from recombine.data.fresh import fresh_sets, is_suite, open_suite, seed_of
from recombine.data.freshness import freshness, shared_share
from recombine.data.plan import make_plan
from recombine.errors import RecombineError, UsageError
from recombine.evaluate.history import Sitting, change, trend
from recombine.families import FAMILIES, family


def test_the_seed_is_the_date() -> None:
    assert seed_of(date(2026, 11, 17)) == 20261117
    assert 20_000_000 < seed_of() < 30_000_000


@pytest.mark.parametrize("name", list(FAMILIES))
def test_sets_are_held_out_and_as_fresh_as_can_be(name: str) -> None:
    item = family(name)
    chosen = fresh_sets(item)
    assert chosen and len({item.SPLITS[split].axis for split, _ in chosen}) == len(chosen)
    for split, part in chosen:
        assert part not in ("train", "validation") and not item.SPLITS[split].needs_files
        if item.SPLITS[split].parts[part].fixed:
            axis = item.SPLITS[split].axis
            same = [s for s in item.SPLITS.values() if s.axis == axis and not s.needs_files and s.name != "hold_out"]
            tests = [p for s in same for p in s.parts.values() if p.default and p.name not in ("train", "validation")]
            first = [p for s in same if next(iter(item.RECIPES)) in s.recipes for p in s.parts.values() if p in tests]
            assert all(p.fixed for p in first)


def test_a_set_asks_what_its_axis_says() -> None:
    """CLUTRR's first test parts have two facts, or no noise: nothing that training does not show."""
    assert set(fresh_sets(family("clutrr"))) == {
        ("generalization_23", "test_k10"),
        ("robust_clean", "test_disconnected"),
        ("random", "test"),
    }


@pytest.mark.parametrize(
    ("name", "split", "part", "options", "size", "low", "high"),
    [
        ("lilgym", "random", "test", {"start": "scratch"}, 300, 0.8, 1.0),  # the statement is the whole task
        ("lilgym", "random", "test", {}, 300, 0.0, 0.01),
        ("scan", "addprim_complex_jump_num1_rep1", "test", {}, 7_705, 0.99, 1.0),  # all commands with `jump` but one
        ("scan", "simple", "test", {}, 4_182, 0.15, 0.25),
        ("clutrr", "generalization_23", "test_k2", {}, 1_000, 0.03, 0.08),
        ("lexicon", "random", "test", {"words": 4}, 1_000, 0.2, 0.35),
        ("lexicon", "random", "test", {"words": 7}, 1_000, 0.0, 0.01),
    ],
)
def test_the_share_that_another_seed_repeats_is_as_said(
    name: str, split: str, part: str, options: dict[str, object], size: int, low: float, high: float
) -> None:
    item = family(name)
    sets = [recombine.load(name, split, part, seed=seed, size=size, **options) for seed in (0, 1)]
    first, second = ([item.canonical(example) for example in rows] for rows in sets)
    known = set(first)
    measured = sum(form in known for form in second) / size
    said = shared_share(item, sets[0].plan)
    assert low <= measured <= high and low <= said <= high
    assert bool(freshness(item, sets[0].plan)) == (said >= 0.01)


def test_published_files_are_the_same_for_every_seed() -> None:
    assert all(part.fixed for split in family("lilgym").SPLITS.values() if split.needs_files for part in split.parts.values())


def test_generate_evaluate_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, share in ((11, 2), (12, 3)):
        suite = tmp_path / f"exam{seed}"
        assert main(["generate", "--suite", "fresh", "--size", "6", "--seed", str(seed), "--out", str(suite)]) == 0
        assert f"seed {seed}" in capsys.readouterr().out
        assert is_suite(suite) and open_suite(suite).title == {"suite": "fresh", "seed": seed, "size": 6}
        answers = tmp_path / f"{seed}.jsonl"
        with answers.open("w") as out:
            for folder in open_suite(suite).folders:
                for split, part in fresh_sets(family(folder.name)):
                    for i, example in enumerate(recombine.load(folder, split, part)):
                        answer = example.answer if i % share else "nothing"
                        out.write(json.dumps({"id": example.id, "answer": answer}) + "\n")
        words = [
            "evaluate",
            "--data",
            str(suite),
            "--answers",
            f"model={answers}",
            "--out",
            str(tmp_path / "reports" / str(seed)),
        ]
        assert main(words) == 0
    capsys.readouterr()
    assert main(["history", str(tmp_path / "reports"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(exam["run"], exam["seed"]) for exam in found["exams"]] == [("model", 11), ("model", 12)]
    assert found["exams"][0]["mean"] < found["exams"][1]["mean"]
    assert main(["history", str(tmp_path / "reports")]) == 0
    assert "12" in capsys.readouterr().out
    assert main(["generate", "--suite", "fresh", "--size", "7", "--seed", "11", "--out", str(tmp_path / "exam11")]) == 2
    assert main(["generate", "scan", "--suite", "fresh", "--out", str(tmp_path / "x")]) == 2
    assert main(["generate", "--out", str(tmp_path / "x")]) == 2
    assert main(["history", str(tmp_path / "exam11")]) == 2


def _report(folder: Path, seed: int, mean: float, **more: object) -> Path:
    """A report of one set, as far as a history reads it."""
    folder.mkdir(parents=True)
    accuracy = {"mean": mean, "low": mean - 0.02, "high": mean + 0.02}
    report = {
        "package": "recombine 1.0", "suite": {"suite": "fresh", "seed": seed, "size": 6}, "baselines": [],
        "parts": {"scan/length/test": {"runs": {"m": {"accuracy": accuracy}}}}, **more,
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def test_several_reports_on_one_exam_are_one_exam(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, mean in enumerate((0.3, 0.5, 0.7)):
        folder = _report(tmp_path / "r" / str(number), 11, mean)
        os.utime(folder / "report.json", (1_000 + (number == 1), 1_000 + (number == 1)))
    assert main(["history", str(tmp_path / "r"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(exam["seed"], exam["mean"]) for exam in found["exams"]] == [(11, 0.5)], "the newest report counts"
    assert found["trends"] == {"m": None}
    for seed in (12, 13):
        _report(tmp_path / "r" / f"s{seed}", seed, 0.6)
    assert main(["history", str(tmp_path / "r")]) == 0
    assert "2 other reports on the same exams are left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    [
        {"parts": {"x": {"runs": {"m": {}}}}},
        {"parts": []},
        {"parts": {"x": {"runs": {"m": {"accuracy": {"mean": "1", "low": None, "high": None}}}}}},
        {"baselines": None},
        {"suite": {"suite": "fresh", "seed": "11", "size": 6}},
    ],
)
def test_strange_reports_are_clear_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: dict[str, object]) -> None:
    folder = _report(tmp_path / "r", 11, 0.5, **more)
    assert main(["history", str(folder)]) == 2
    assert "report.json" in capsys.readouterr().err
    for title in ([], "fresh", {"suite": ["fresh"]}):
        other = _report(tmp_path / f"o{len(str(title))}", 11, 0.5, suite=title)
        assert main(["history", str(other)]) == 2
        assert "there is no report on the suite 'fresh'" in capsys.readouterr().err


def test_a_family_whose_splits_all_need_files_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "FAMILIES", {"scan": "", "nacs": ""})
    monkeypatch.setattr(fresh, "fresh_sets", lambda item: [] if item.NAME == "nacs" else fresh_sets(item))
    assert fresh.make_fresh(tmp_path / "exam", size=3, seed=5).families == ("scan",)
    with pytest.raises(UsageError, match="no set of nacs"):
        fresh.fresh_plan("nacs", 3, 5)


def test_an_exam_is_finished_with_its_own_families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "FAMILIES", {"scan": ""})
    fresh.make_fresh(tmp_path / "exam", size=3, seed=5)
    before = (tmp_path / "exam" / "suite.json").read_bytes()
    assert fresh.make_fresh(tmp_path / "exam", size=3, seed=5).families == ("scan",)
    monkeypatch.setattr(fresh, "FAMILIES", {"scan": "", "nacs": ""})
    with pytest.raises(UsageError, match="holds an exam over scan, but the families of this installation are scan, nacs"):
        fresh.make_fresh(tmp_path / "exam", size=3, seed=5)
    assert (tmp_path / "exam" / "suite.json").read_bytes() == before


def _exam(seed: int, mean: float) -> Sitting:
    return Sitting("m", seed, 100, mean, 0.01, 5, 0, "")


def test_trends_and_changes_have_intervals() -> None:
    rising = trend([_exam(i, 0.5 + 0.05 * i) for i in range(4)])
    assert rising is not None and rising.slope == pytest.approx(0.05) and rising.low > 0
    flat = trend([_exam(i, 0.5) for i in range(3)])
    assert flat is not None and flat.low < 0 < flat.high and "no trend" in flat.text
    assert trend([_exam(0, 0.5), _exam(1, 0.9)]) is None
    assert "no difference" in change(_exam(0, 0.5), _exam(1, 0.51))
    assert change(_exam(0, 0.5), _exam(1, 0.6)).startswith("+10.0 [+7.2, +12.8]")


def test_sizes_by_part() -> None:
    plan = make_plan("gscan", (), ("train", "test"), size={"train": 50, "test": 20})
    assert {part.job.part: part.rows for part in plan.parts} == {"train": 50, "test": 20}
    with pytest.raises(RecombineError, match="tset"):
        make_plan("gscan", (), ("train", "test"), size={"tset": 5})
