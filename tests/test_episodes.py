"""Episodes in words: the same rules as the environments, every reply answered by a sentence, and the expert always arrives."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import recombine
import recombine.envs
from recombine.data.datasets import example
from recombine.envs.grid import ACTION_NAMES, GridEnv, GridInstances
from recombine.envs.lilgym import LilGymEnv
from recombine.episodes import ENVIRONMENTS, Episode, replay
from recombine.errors import RecombineError, UnknownName, UsageError
from recombine.families.lilgym.play.edits import Setting, edit_of
from recombine.families.lilgym.play.tasks import instances_of_examples
from recombine.grid.codes import ACTIONS

NAMES = tuple(ENVIRONMENTS)
GRIDS = ("gscan", "reascan")


def rows(name: str, n: int, **options: object) -> list[recombine.core.Example]:
    return recombine.load(name, size=200, **options)[:n]


def test_names_are_those_of_the_environments() -> None:
    assert set(ENVIRONMENTS) == set(recombine.envs.ENVIRONMENTS)


@pytest.mark.parametrize("name", NAMES)
def test_the_expert_solves_in_one_reply_and_action_by_action(name: str) -> None:
    for index in range(4):
        whole = Episode(name, index=index)
        turn = whole.act(whole.expert_reply())
        assert turn.done and whole.solved and turn.info["error"] == "", (whole.id, turn)
        single = Episode(name, index=index)
        for action in whole.example.family.begin(whole.example, {}).expert():
            assert not single.done
            assert single.act(action).info["actions"] == [action]
        assert single.solved and single.reward == pytest.approx(whole.reward)
        assert len(single.messages) == 1 + 2 * len(single.turns)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("goal", ["end_state", "sequence"])
def test_grid_episodes_follow_the_environment(name: str, goal: str) -> None:
    draws = random.Random(5)
    for found in rows(name, 12):
        env = GridEnv(name, instances=GridInstances.of([found]), goal=goal, horizon=25, step_penalty=0.01)
        episode = Episode(found, goal=goal, horizon=25, step_penalty=0.01)
        env.reset(options={"index": 0})
        gold = list(episode.expert())
        is_done = False
        while not is_done:
            follow = gold and draws.random() < 0.8
            word = gold.pop(0) if follow else draws.choice((*ACTIONS, "STOP"))
            _, reward, terminated, truncated, info = env.step(ACTION_NAMES.index(word))
            turn = episode.act(word)
            is_done = terminated or truncated
            assert (turn.reward, turn.done, turn.info["error"], turn.info["step"]) == (
                reward,
                is_done,
                info["error"],
                info["step"],
            )
            if is_done:
                assert turn.info["solved"] == bool(info["accuracy"])


@pytest.mark.parametrize("kind", ["tower", "scatter"])
@pytest.mark.parametrize("rules", ["paper", "code"])
def test_lilgym_episodes_follow_the_environment(kind: str, rules: str) -> None:
    draws = random.Random(3)
    setting = Setting(kind, rules)  # type: ignore[arg-type]
    for found in rows("lilgym", 6, scene=kind):
        if found.meta["task"] != "edit":
            continue
        env = LilGymEnv(kind, "scratch", instances=instances_of_examples(kind, [found]), rules=rules)  # type: ignore[arg-type]
        env.reset(options={"index": 0})
        episode = Episode(found, rules=rules)
        is_done = False
        while not is_done:
            valid = np.flatnonzero(env.action_masks())
            action = int(draws.choice(valid.tolist())) if draws.random() < 0.9 else draws.randrange(setting.action_count)
            _, reward, terminated, truncated, info = env.step(action)
            turn = episode.act(str(edit_of(setting, action)))
            is_done = terminated or truncated
            assert (turn.reward, turn.done, turn.info["error"]) == (pytest.approx(reward), is_done, info["error"])


@pytest.mark.parametrize("name", GRIDS)
def test_the_expert_finds_the_way_after_detours(name: str) -> None:
    draws = random.Random(11)
    for found in rows(name, 15):
        episode = Episode(found)
        for _ in range(6):
            episode.act(draws.choice(("walk", "turn left", "turn right", "stay")))
        turn = episode.act(episode.expert_reply())
        assert episode.solved, (found.id, turn)


def test_the_expert_knows_the_horizon() -> None:
    """A gold plan of 153 actions does not fit into 120; the end state is reached without the manner."""
    name = "reascan@2/sound+grid_size=12/all/train/0/000000"
    episode = Episode(name)
    assert len(episode.example.answer.split(",")) >= 120
    episode.act(episode.expert_reply())
    assert episode.solved
    assert Episode(name, goal="sequence").expert() == ()
    near = Episode("recombine/ReaSCAN-v0", index=3)
    steps = len(near.expert())
    assert len(Episode(near.id, goal="sequence", horizon=steps).expert()) == steps
    assert Episode(near.id, goal="sequence", horizon=steps - 1).expert() == ()


def test_the_expert_pushes_a_heavy_object_back() -> None:
    found = next(e for e in rows("gscan", 200) if "push" in e.answer and e.world.things[0].size >= 3)
    episode = Episode(found)
    gold = episode.expert()
    episode.act(", ".join(gold[: gold.index("push") + 1]))
    episode.act("pull, pull, turn left")
    assert episode.act(episode.expert_reply()).info["solved"]


def test_the_expert_of_lilgym_goes_on_from_another_scene() -> None:
    episode = Episode("recombine/TowerScratch-v0", index=1)
    episode.act("ADD blue left")
    episode.act("ADD black middle")
    assert episode.act(episode.expert_reply()).info["solved"]


BAD = [
    "",
    " ",
    "I will walk there",
    "walk; jump",
    "ADD pink left",
    "STOP, walk",
    "\x00\x1b[31m",
    "walk " * 9000,
    "Answer:",
    "<think>",
    "停",
]


@pytest.mark.parametrize(
    "name", ["recombine/TowerScratch-v0", "recombine/ScatterFlipIt-v0", "recombine/ReaSCAN-v0", "recombine/GSCAN-v0"]
)
@pytest.mark.parametrize("text", BAD)
def test_bad_replies_cost_what_an_invalid_action_costs(name: str, text: str) -> None:
    episode = Episode(name, index=2, **({"step_penalty": 0.25} if "SCAN" in name else {}))
    before = episode.seen()
    turn = episode.act(text)
    assert turn.info["error"] == "unreadable" and turn.info["said"] and turn.info["said"] in turn.seen
    assert turn.info["said"].isprintable() and len(turn.info["said"]) < 400
    assert episode.seen() == before
    assert (turn.reward, turn.done) == ((-0.25, False) if "SCAN" in name else (-1.0, True))


def test_after_the_end_nothing_happens() -> None:
    episode = Episode("recombine/ReaSCAN-v0")
    episode.act("STOP")
    reward, talk = episode.reward, episode.messages
    turn = episode.act("walk")
    assert turn.done and turn.reward == 0 and "over" in turn.seen
    assert episode.reward == reward and episode.messages == talk


@pytest.mark.parametrize("name", list(ENVIRONMENTS))
def test_every_turn_says_what_its_docstring_promises(name: str) -> None:
    episode = Episode(name, index=3)
    turns = [episode.act("nonsense")]
    while not episode.done:
        turns.append(episode.act(episode.expert_reply() or "STOP"))
    turns.append(episode.act("STOP"))
    assert all({"error", "said", "actions", "step", "solved"} <= set(turn.info) for turn in turns)
    assert turns[-1].info["step"] == turns[-2].info["step"]


def test_replies_of_talkative_models_are_read() -> None:
    for reply in ("<think>hm, STOP?</think>turn left", "First I turn.\n\nAnswer: turn left", "**Answer:** `turn_left`."):
        assert Episode("recombine/ReaSCAN-v0").act(reply).info["actions"] == ["turn left"]
    episode = Episode("recombine/TowerScratch-v0")
    assert episode.act("ADD blue left\nADD blue left").info["actions"] == ["ADD blue left", "ADD blue left"]


def test_impossible_actions_are_named_in_a_sentence() -> None:
    episode = Episode("recombine/GSCAN-v0")
    turn = episode.act(", ".join(["walk"] * 9))
    assert turn.info["error"] == "wall" and "impossible, the edge of the grid" in turn.seen and not turn.done


def test_what_is_seen_is_what_the_model_may_see() -> None:
    for sight, has_words, has_picture in (("text", True, False), ("picture", False, True), ("both", True, True)):
        for name, word in (("recombine/ReaSCAN-v0", "The agent stands"), ("recombine/TowerFlipIt-v0", "towers, each from")):
            episode = Episode(name, sight, with_rules=False)
            content = episode.messages[0]["content"]
            text = content if isinstance(content, str) else content[1]["text"]
            assert (word in text) == has_words and isinstance(content, list) == has_picture
            assert "Rules:" not in text and "Rules:" in Episode(name).task
            if has_picture:
                assert content[0]["image_url"]["url"].startswith("data:image/png;base64,")
                assert episode.act("STOP").picture[:4] == b"\x89PNG"  # type: ignore[index]


def test_objects_are_told_by_place_and_never_by_role() -> None:
    for found in rows("reascan", 10):
        episode = Episode(found)
        lines = [line for line in episode.seen()[0].splitlines() if line.startswith("- a ") and " in row " in line]
        places = [tuple(int(word.strip(",")) for word in line.split() if word.strip(",").isdigit())[-2:] for line in lines]
        assert places == sorted(places)


def test_the_same_replies_give_the_same_episode() -> None:
    program = (
        "from recombine.episodes import replay\n"
        "e = replay('recombine/ScatterScratch-v0', ['ADD big blue circle 160 20', 'STOP'], sight='both')\n"
        "import hashlib, json; print(hashlib.sha256(json.dumps(e.messages).encode()).hexdigest(), e.reward, e.expert())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_mistakes_of_the_caller_are_clear_errors() -> None:
    with pytest.raises(UsageError, match="cannot be acted in"):
        Episode("scan@1/release/simple/test/0/000003")
    with pytest.raises(UnknownName, match="recombine/GSCAN-v0"):
        Episode("recombine/GSCAN")
    with pytest.raises(UnknownName, match="sight"):
        Episode("recombine/GSCAN-v0", "ascii")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="horizon"):
        Episode("recombine/GSCAN-v0", horizn=3)
    with pytest.raises(RecombineError, match="horizon"):
        Episode("recombine/TowerScratch-v0", horizon=0)
    with pytest.raises(UsageError, match="stop_forcing is 'false'"):
        Episode("recombine/TowerScratch-v0", stop_forcing="false")
    with pytest.raises(UsageError, match="index"):
        Episode("recombine/GSCAN-v0", index=-1)
    truth = next(e for e in rows("lilgym", 50, task="truth") if e.meta["task"] == "truth")
    with pytest.raises(UsageError, match="true or false"):
        Episode(truth)


def test_an_id_and_its_example_give_the_same_episode() -> None:
    found = rows("reascan", 1)[0]
    assert Episode(found.id).messages == Episode(found).messages
    assert replay(found, [Episode(found).expert_reply(), "walk"]).solved
    assert example(found.id).id == Episode(found.id).id


def test_acting_needs_no_gymnasium() -> None:
    program = (
        "import sys; from recombine import Episode; e = Episode('recombine/ReaSCAN-v0'); e.act(e.expert_reply()); assert e.solved\n"
        "print(*sorted(m.split('.')[0] for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"gymnasium", "numba", "pyarrow", "torch", "PIL"} & set(done.stdout.split())
    assert gymnasium is not None
