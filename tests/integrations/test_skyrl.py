"""SkyRL-gym: one reply, and an episode of several turns, through the library's own registry."""

from __future__ import annotations

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym", reason='skyrl-gym is not installed: pip install "recombine[skyrl]"')

import recombine
from recombine.episodes import Episode
from recombine.errors import UsageError
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


def test_a_row_without_an_id() -> None:
    with pytest.raises(UsageError, match="--for skyrl"):
        skyrl.RowEnv(extras={})
