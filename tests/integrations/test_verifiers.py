"""verifiers: the library's own checker passes, a scripted reply is scored, and an episode is played to its end."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason='verifiers is not installed: pip install "recombine[verifiers]"')

import verifiers.v1 as vf

import recombine_play_vf
import recombine_vf
from recombine.data.datasets import load
from recombine.episodes import Episode
from recombine.evaluate.prompts import Prompter
from recombine.integrations.verifiers import PlayConfig, PlayEnv, RowConfig

pytestmark = pytest.mark.filterwarnings("ignore")


def test_right_answers_score_one_and_rows_are_valid() -> None:
    taskset = recombine_vf.RowTaskset(RowConfig(family="reascan", split="a1", size=4))
    tasks = list(taskset.load())
    assert len({task.key for task in tasks}) == 4
    for task in tasks:
        assert asyncio.run(task.validate(None))


def test_an_episode_is_played() -> None:
    task = next(iter(recombine_play_vf.PlayTaskset(PlayConfig(size=1)).load()))
    assert "Command:" in task.data.prompt and asyncio.run(task.validate(None))
    recorded: dict[str, float] = {}
    replies = iter(["fly", Episode(task.key).expert_reply()])

    class Interaction:
        trace = SimpleNamespace(
            record_reward=lambda name, value, _weight: recorded.update({name: value}),
            record_metric=lambda name, value: recorded.update({name: value}),
        )

        async def __aenter__(self) -> Interaction:
            return self

        async def __aexit__(self, *_: object) -> None:
            return None

        async def turn(self, *_: str) -> Any:
            return SimpleNamespace(terminated=False, last_reply=next(replies))

    player = SimpleNamespace(interaction=lambda _task: Interaction())
    env = SimpleNamespace(config=SimpleNamespace(max_turns=5))
    asyncio.run(PlayEnv.run(env, task, SimpleNamespace(player=player)))  # type: ignore[arg-type]
    assert recorded == {"solved": 1.0, "replies_with_errors": 1.0}


def test_the_checker_of_the_library(tmp_path: Path) -> None:
    command = shutil.which("vf-validate", path=str(Path(sys.executable).parent))
    assert command is not None
    words = [command, "recombine_vf", "-n", "4", "--runtime.type", "subprocess"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def _chat_server() -> ModuleType:
    """The endpoint of the tests of `recombine ask`."""
    path = Path(__file__).parents[1] / "evaluate" / "chat_server.py"
    spec = importlib.util.spec_from_file_location("verifiers_chat_server", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _evaluate(taskset: str, agent: str, url: str, folder: Path, *words: str) -> dict[str, dict[str, Any]]:
    """Run the library's own evaluation command against `url`; return the trace that it records for each row id."""
    beside = str(Path(sys.executable).parent)
    command = shutil.which("vf-eval", path=beside)
    assert command is not None
    if shutil.which("uv", path=beside + os.pathsep + os.environ["PATH"]) is None:
        pytest.skip("vf-eval starts its chat program with uv: pip install uv")
    options = ["-m", "echo-1", "--client.base-url", url, "--client.api-key-var", "KEY_OF_THIS_TEST", "--push", "False"]
    options += [f"--env.{agent}.harness.id", "null", f"--env.{agent}.runtime.type", "subprocess", "-o", str(folder / "out")]
    around = {**os.environ, "PATH": beside + os.pathsep + os.environ["PATH"], "KEY_OF_THIS_TEST": "none"}
    line = [command, taskset, *options, *words]
    done = subprocess.run(line, cwd=folder, env=around, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (file,) = (folder / "out").glob("*/traces.jsonl")
    records = [json.loads(text) for text in file.read_text().splitlines()]
    assert all(record["ok"] for record in records), records
    return {record["task"]["data"]["name"]: record["traces"][0] for record in records}


def test_its_evaluation_command_records_the_rewards_of_replies(tmp_path: Path) -> None:
    rows = load("scan", "length", "test", size=2)
    prompter = Prompter(rows.family, "rules")
    right, wrong = rows
    mistaken = next(s.answer for s in wrong.explain().shortcuts if s.answer is not None and wrong.score(s.answer).mistake)
    answers = {prompter.prompt(right).text: prompter.words.answer(right), prompter.prompt(wrong).text: mistaken}
    with _chat_server().ChatServer(lambda asked: f"Answer: {answers[asked]}") as server:
        rows_asked = ["--env.taskset.family", "scan", "--env.taskset.split", "length", "--env.taskset.size", "2"]
        traces = _evaluate("recombine_vf", "agent", server.url, tmp_path, "-n", "2", *rows_asked)
        assert sorted(server.asked) == sorted(answers)
    assert {row: trace["rewards"]["right"]["score"] for row, trace in traces.items()} == {right.id: 1.0, wrong.id: 0.0}
    assert traces[wrong.id]["info"]["mistake"] == wrong.score(mistaken).mistake


def test_its_evaluation_command_plays_an_episode(tmp_path: Path) -> None:
    episode = Episode(next(iter(load("reascan", None, "test", size=1))))
    first, *others = episode.expert()
    replies = [first, "; ".join(others)]
    with _chat_server().ChatServer(str) as server:
        server.converse = lambda messages: replies[sum(message["role"] == "assistant" for message in messages)]
        (trace,) = _evaluate("recombine_play_vf", "player", server.url, tmp_path, "-n", "1", "--env.taskset.size", "1").values()
        assert len(server.asked) == 2
    assert trace["rewards"]["solved"]["score"] == 1.0 and trace["metrics"]["replies_with_errors"] == 0.0


def test_the_modules_are_tasksets() -> None:
    assert issubclass(recombine_vf.RowTaskset, vf.Taskset) and issubclass(recombine_play_vf.PlayEnv, vf.Env)
