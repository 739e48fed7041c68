"""The suite `fresh`: one command draws an exam over all families, `evaluate` reports it, `history` compares exams."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import recombine
from recombine.cli import main
from recombine.data.fresh import fresh_sets, is_suite, open_suite, seed_of
from recombine.data.plan import make_plan
from recombine.errors import RecombineError
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
