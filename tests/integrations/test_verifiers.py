"""verifiers: the library's own checker passes, a scripted reply is scored, and an episode is played to its end."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason='verifiers is not installed: pip install "recombine[verifiers]"')

import verifiers.v1 as vf

import recombine_play_vf
import recombine_vf
from recombine.episodes import Episode
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


def test_the_modules_are_tasksets() -> None:
    assert issubclass(recombine_vf.RowTaskset, vf.Taskset) and issubclass(recombine_play_vf.PlayEnv, vf.Env)
