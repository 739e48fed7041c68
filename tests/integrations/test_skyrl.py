"""SkyRL-gym: one reply, and an episode of several turns, through the library's own registry."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest

skyrl_gym = pytest.importorskip("skyrl_gym", reason='skyrl-gym is not installed: pip install "recombine[skyrl]"')

import recombine
from recombine.episodes import Episode
from recombine.errors import UsageError
from recombine.evaluate.layouts import export
from recombine.integrations import skyrl

pytestmark = pytest.mark.filterwarnings("ignore")


def test_one_reply() -> None:
    example = recombine.load("scan", "length", "test", size=3)[1]
    env = skyrl_gym.make("recombine", env_config={}, extras={"id": example.id})
    env.init([])
    out = env.step(f"Answer: {example.answer}")
    assert out["reward"] == 1.0 and out["done"]
    assert env.get_metrics()["answered"] == 1.0
    env = skyrl_gym.make("recombine", env_config={}, extras={"id": example.id})
    assert env.step("I do not know.")["reward"] == 0.0


def test_an_episode() -> None:
    name = Episode("recombine/ReaSCAN-v0", index=3).id
    env = skyrl_gym.make("recombine-episode", env_config={}, extras={"id": name})
    prompt, about = env.init([])
    assert about["id"] == name and "Command:" in prompt[0]["content"]
    first = env.step("fly")
    assert not first["done"] and first["observations"][0]["role"] == "user"
    out = env.step(Episode(name).expert_reply())
    assert out["reward"] == 1.0 and out["done"] and env.get_metrics()["solved"] == 1.0


def test_exported_rows_as_the_trainer_hands_them_over(tmp_path: Path) -> None:
    """SkyRL takes `prompt` and `env_class` out of a row, adds `max_turns`, and gives the rest as extras."""
    recombine.generate("reascan", tmp_path / "rows", split="a1", part="test", size=1)
    (file,) = export(tmp_path / "rows", "skyrl", tmp_path / "out")
    row = pyarrow.parquet.read_table(file).to_pylist()[0]
    prompt, name = row.pop("prompt"), row.pop("env_class")
    env = skyrl_gym.make(name, env_config={}, extras={**row, "max_turns": 1})
    env.init(prompt)
    assert env.step(f"Answer: {row['extras']['answer']}")["reward"] == 1.0
    env = skyrl_gym.make("recombine-episode", env_config={}, extras={**row, "max_turns": 2})
    env.init([])
    assert [env.step("stay")["done"] for _ in range(2)] == [False, True]
    env = skyrl_gym.make("recombine-episode", env_config={"max_turns": 1}, extras={**row, "max_turns": 2})
    assert env.step("stay")["done"]


def test_a_row_without_an_id() -> None:
    with pytest.raises(UsageError, match="--for skyrl"):
        skyrl.RowEnv(extras={})
