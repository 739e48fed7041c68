"""Abstract tasks as episodes and as an environment: edits, refusals, the expert, and the same rules in both."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from recombine.envs.abstract import EDITS, AbstractEnv, edit_text, grid_of
from recombine.episodes import Episode
from recombine.errors import RecombineError, UsageError
from recombine.families.abstract.acting import edited
from recombine.families.abstract.answers import Scene
from recombine.grid.world import Thing

SCENE = Scene(6, (Thing(2, "red", "circle", 1, 2), Thing(3, "blue", "box", 1, 2), Thing(1, "green", "square", 0, 0)))


@pytest.mark.parametrize(
    ("edit", "gone", "come"),
    [
        ("paint 2,3 blue", "red circle 2 at 2,3", "blue circle 2 at 2,3"),
        ("paint box 2,3 red", "blue box 3 at 2,3", "red box 3 at 2,3"),
        ("Reshape 1,1 circle", "green square 1 at 1,1", "green circle 1 at 1,1"),
        ("resize 1, 1 4", "green square 1 at 1,1", "green square 4 at 1,1"),
        ("move 2,3 north", "red circle 2 at 2,3", "red circle 2 at 1,3"),
        ("remove 1,1", "green square 1 at 1,1", None),
        ("add red circle 2 at 6,6", None, "red circle 2 at 6,6"),
    ],
)
def test_edits(edit: str, gone: str | None, come: str | None) -> None:
    made = edited(SCENE, edit)
    assert isinstance(made, Scene)
    before, after = set(SCENE.key().split(":")[1].split(";")), set(made.key().split(":")[1].split(";"))
    assert before - after == ({gone} if gone else set())
    assert after - before == ({come} if come else set())


@pytest.mark.parametrize(
    "edit",
    [
        "", "paint", "paint 2,3", "paint 2,3 purple", "paint 9,9 red", "paint 2,3 red", "move 1,1 north", "resize box 2,3 0",
        "add blue square 1 at 1,1", "add red box 4 at 4,4", "remove box 1,1", "__import__('os')", "resize 1,1 ٣", "paint 2,3 red; x",
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_sentence(edit: str) -> None:
    assert isinstance(edited(SCENE, edit), str)


def test_the_environment_follows_the_episode() -> None:
    env = AbstractEnv(part="test", size=6, horizon=12)
    for index in range(6):
        seen, about = env.reset(options={"index": index})
        episode = Episode(about["id"], horizon=12)
        env.action_space.seed(index)
        is_over = False
        while not is_over:
            action = env.action_space.sample()
            seen, reward, ended, cut, info = env.step(action)
            is_over = ended or cut
            turn = episode.act(edit_text(*map(int, action)))
            assert (turn.reward, turn.done, turn.info["error"]) == (reward, is_over, info["error"])
            assert np.array_equal(seen["now"], grid_of(episode._state.scene))  # type: ignore[attr-defined]
        with pytest.raises(UsageError):
            env.step(action)


def test_submitting_the_output_is_rewarded() -> None:
    env: Any = gym.make("recombine/Abstract-v0", part="test", size=3).unwrapped
    env.reset(options={"index": 2})
    submit = np.array([0, 0, 0, EDITS.index("submit")])
    assert env.step(submit)[1] == 0.0
    env.reset(options={"index": 2})
    for words in env.state.expert()[:-1]:
        verb, _, rest = words.partition(" ")
        what, _, place = rest.rpartition(" ")
        row, column = (int(number) - 1 for number in place.split(","))
        edit = EDITS.index("remove" if verb == "remove" else f"add {what.removesuffix(' at')}")
        env.step(np.array([row, column, int(what == "box"), edit]))
    _, reward, ended, cut, info = env.step(submit)
    assert (reward, ended, cut, info["solved"]) == (1.0, True, False, True)


def test_gymnasium_accepts_it() -> None:
    check_env(gym.make("recombine/Abstract-v0", part="test", size=3, render_mode="rgb_array").unwrapped)
    ids = [[env.reset(seed=5)[1]["id"], env.reset()[1]["id"]] for env in (AbstractEnv(size=20), AbstractEnv(size=20))]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("bad", [{"render_mode": "gif"}, {"horizon": 0}, {"step_penalty": 2}])
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises(RecombineError):
        AbstractEnv(part="test", size=1, **bad).reset()
    with pytest.raises(RecombineError):
        AbstractEnv(part="test", size=1).reset(options={"idd": 3})


@pytest.mark.parametrize(
    "options",
    [
        {"index": -1}, {"index": 3}, {"index": True}, {"index": 1.7}, {"index": "a"}, 5, {"id": "reascan@2/sound/a1/test/0/000017"},
        {"id": "abstract@1/sound+grid_size=8/random/test/0/000000"}, {"id": "abstract@1/sound/random/test/0/000000", "index": 1},
        {"id": "abstract@1/sound+demonstrations=4/random/test/0/000000"},
    ],
)  # fmt: skip
def test_resets_that_name_no_task_of_the_environment(options: Any) -> None:
    env = AbstractEnv(part="test", size=3)
    env.reset(seed=1, options={"index": 2})
    with pytest.raises(UsageError):
        env.reset(seed=2, options=options)
    assert env.example is not None and env.example.id == env.rows[2].id
    seen, about = env.reset(options={"id": "abstract@1/sound/random/train/0/000007"})
    assert about["id"].endswith("train/0/000007") and env.observation_space.contains(seen)
