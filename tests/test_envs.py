"""The Gymnasium environments: Gymnasium's own checks, seeding, evaluation, masks, and single against vector."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import recombine.envs
from recombine import kernels
from recombine.envs.engine import Pace
from recombine.envs.words import ID_COUNT, MAX_WORDS, VOCABULARY, word_ids
from recombine.errors import UsageError
from recombine.families.lilgym.play import solver
from recombine.families.lilgym.play.edits import parse_edits

IDS = [
    name for name in recombine.envs.ENVIRONMENTS if "Abstract" not in name
]  # its tests are in families/test_abstract_acting.py
LILGYM = [name for name in IDS if "SCAN" not in name]
SIZE = 24


def made(name: str, **arguments: Any) -> Any:
    return gym.make(name, size=SIZE, **arguments).unwrapped


def batched(name: str, places: int, **arguments: Any) -> Any:
    return gym.make_vec(name, num_envs=places, size=SIZE, compiled=False, **arguments)


def equal(a: Any, b: Any) -> bool:
    """Deep equality of observations and infos, arrays and their types included."""
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype == object:
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


# --- Gymnasium's own rules -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("text", ["tokens", "string"])
def test_check_env(name: str, text: str) -> None:
    check_env(gym.make(name, size=SIZE, text=text, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize(
    "arguments", [{"grid": "native"}, {"stop_forcing": True}, {"evaluate": True}, {"masks": False}, {"sight": "scene"}]
)
def test_check_env_with_arguments(arguments: dict[str, Any]) -> None:
    check_env(gym.make("recombine/ScatterFlipIt-v0", size=SIZE, **arguments).unwrapped)


def test_importing_registers_only_strings() -> None:
    source = (
        "import sys, recombine.envs, gymnasium as g; assert 'recombine/TowerScratch-v0' in g.registry;"
        "print([m for m in ('numba', 'torch', 'PIL', 'pyarrow', 'recombine.families', 'recombine.envs.lilgym') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    for name in IDS:
        entry = gym.spec(name)
        assert isinstance(entry.entry_point, str) and isinstance(entry.vector_entry_point, str)


def test_module_and_id_in_one() -> None:
    env = gym.make("recombine.envs:recombine/TowerScratch-v0", size=4)
    assert env.action_space.n == 13  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", IDS)
def test_spaces_contain_what_is_emitted(name: str) -> None:
    env = made(name)
    observation, _ = env.reset(seed=0)
    for _ in range(60):
        assert env.observation_space.contains(observation)
        mask = env.action_masks()
        assert mask.shape == (env.action_space.n,) and mask.dtype == np.bool_
        action = env.action_space.sample(mask=mask.astype(np.int8))
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()


# --- choosing instances ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_seeds_are_honoured(name: str) -> None:
    def visited(seed: int) -> list[str]:
        env = made(name)
        return [env.reset(seed=seed)[1]["id"]] + [env.reset()[1]["id"] for _ in range(12)]

    assert visited(5) == visited(5)
    assert visited(5) != visited(6)


def test_reset_by_id_and_index() -> None:
    env = made("recombine/TowerFlipIt-v0")
    wanted = env.engine.ids[7]
    assert env.reset(options={"id": wanted})[1]["id"] == wanted
    assert env.reset(options={"index": 7})[1]["id"] == wanted
    for options in ({"id": "nobody"}, {"index": SIZE}, {"index": True}, {"idd": wanted}):
        with pytest.raises(UsageError):
            env.reset(options=options)


@pytest.mark.parametrize("name", IDS)
def test_evaluation_visits_every_instance_once(name: str) -> None:
    env = made(name, evaluate=True)
    infos = [env.reset()[1] for _ in range(SIZE)]
    assert [i["id"] for i in infos] == list(env.engine.ids)
    assert [i["remaining"] for i in infos] == list(range(SIZE - 1, -1, -1))
    with pytest.raises(UsageError, match="visited"):
        env.reset()
    assert env.reset(options={"restart": True})[1]["id"] == env.engine.ids[0]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_evaluation_visits_every_instance_once(mode: AutoresetMode) -> None:
    envs = batched("recombine/TowerFlipIt-v0", 5, evaluate=True, autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    ended: list[str] = []
    for _ in range(400):
        _, rewards, terminated, truncated, infos = envs.step(np.zeros(5, np.int64))
        over = terminated | truncated
        told = infos["final_info"]["id"] if mode == AutoresetMode.SAME_STEP and over.any() else infos["id"]
        ended += [told[i] for i in np.flatnonzero(over)]
        if envs.finished:
            break
    assert sorted(ended) == sorted(envs.engine.ids)
    _, rewards, terminated, truncated, infos = envs.step(np.zeros(5, np.int64))
    assert not rewards.any() and not terminated.any() and not truncated.any() and infos["resting"].all()


# --- episodes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LILGYM)
def test_experts_are_rewarded(name: str) -> None:
    env = made(name, evaluate=True)
    setting, instances = env.engine.setting, env.engine.instances
    for row, found in enumerate(solver.demonstrations(setting, instances, range(6))):
        _, info = env.reset()
        assert info["id"] == instances.ids[row]
        if found.actions is None:
            continue
        total = 0.0
        for action in found.actions:
            _, reward, terminated, truncated, info = env.step(action)
            total += reward
        assert terminated and not truncated and info["accuracy"] == 1.0 and info["error"] == ""
        assert total == pytest.approx(1.0 - 0.1 * (len(found.actions) - 1))
        with pytest.raises(UsageError, match="reset"):
            env.step(0)


@pytest.mark.parametrize("name", ["recombine/GSCAN-v0", "recombine/ReaSCAN-v0"])
@pytest.mark.parametrize("goal", ["end_state", "sequence"])
def test_gold_actions_are_rewarded(name: str, goal: str) -> None:
    env = made(name, evaluate=True, goal=goal)
    instances = env.engine.instances
    for row in range(SIZE):
        env.reset()
        for action in instances.golds[row, : instances.lengths[row]]:
            _, reward, terminated, truncated, info = env.step(action)
            assert reward == 0 and not terminated and not truncated and info["error"] == ""
        _, reward, terminated, _, info = env.step(6)
        assert reward == 1.0 and terminated and info["accuracy"] == 1.0
    env.reset(options={"index": 0})
    _, reward, terminated, _, info = env.step(6)
    assert (reward, terminated, info["error"]) == (0.0, True, "stopped_early")


def test_grid_episodes_end_at_the_horizon_or_when_they_stray() -> None:
    env = made("recombine/GSCAN-v0", horizon=3, step_penalty=0.5)
    env.reset(seed=1)
    steps = [env.step(3) for _ in range(3)]
    assert [s[3] for s in steps] == [False, False, True] and steps[-1][4]["error"] == "never_stopped"
    assert [s[1] for s in steps] == [-0.5] * 3
    env = made("recombine/GSCAN-v0", goal="sequence")
    env.reset(options={"index": 0})
    gold = int(env.engine.instances.golds[0, 0])
    assert env.step((gold + 1) % 6)[2]


def test_a_step_that_pays_is_no_solution() -> None:
    env = made("recombine/GSCAN-v0", goal="sequence", step_penalty=-0.5)
    env.reset(seed=0)
    for _ in range(200):
        *_, reward, terminated, truncated, info = env.step(0)
        if terminated or truncated:
            break
    assert (reward, info["accuracy"]) == (0.5, 0.0)


def test_stop_forcing_is_told_and_never_masked() -> None:
    env = made("recombine/TowerFlipIt-v0", stop_forcing=True)
    plain = made("recombine/TowerFlipIt-v0")
    found = solver.demonstrations(env.engine.setting, env.engine.instances, [0])[0]
    assert found.actions is not None
    for one in (env, plain):
        one.reset(options={"index": 0})
        for action in found.actions[:-1]:
            one.step(action)
    assert np.array_equal(env.action_masks(), plain.action_masks()) and env.action_masks().sum() > 1
    wanted = int(np.flatnonzero(env.action_masks())[-1])
    _, reward, terminated, _, info = env.step(wanted)
    assert reward == 1.0 and terminated
    assert (info["forced_action"], info["action_taken"], info["accuracy"], info["accuracy_nosf"]) == (0, 0, 1.0, 0.0)
    _, reward, terminated, _, info = plain.step(wanted)
    assert (info["forced_action"], info["action_taken"], terminated) == (-1, wanted, False)


def test_errors_are_named() -> None:
    env = made("recombine/ScatterScratch-v0")
    for text, error in (
        ("ADD big blue circle 80 80", "does_not_fit"),
        ("REMOVE 0 0", "nothing_to_remove"),
        ("REMOVE 100 0", "on_separator"),
    ):
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(parse_edits(env.engine.setting, text)[0])
        assert (reward, terminated, truncated, info["error"]) == (-1.0, True, False, error)
    env.reset(seed=0)
    for _ in range(5):
        env.step(parse_edits(env.engine.setting, "ADD small blue circle 0 0")[0])
        _, reward, _, truncated, info = env.step(parse_edits(env.engine.setting, "REMOVE 0 0")[0])
    _, reward, terminated, truncated, info = env.step(parse_edits(env.engine.setting, "ADD small blue circle 0 0")[0])
    assert (reward, terminated, truncated, info["error"]) == (-1.0, False, True, "never_stopped")


def test_native_resolution_has_factored_masks_only() -> None:
    env = made("recombine/ScatterFlipIt-v0", grid="native")
    _, info = env.reset(seed=0)
    assert env.action_space.n == 1_064_001
    assert {key: part.shape for key, part in info["action_mask"].items()} == {
        "type": (3,), "add": (3, 3, 380, 100), "remove": (380, 100),
    }  # fmt: skip


@pytest.mark.parametrize("name", IDS)
def test_render_modes(name: str) -> None:
    env = made(name, render_mode="rgb_array")
    env.reset(seed=0)
    frame = env.render()
    assert frame.dtype == np.uint8 and frame.ndim == 3 and (frame.shape == (160, 380, 3) or "SCAN" in name)
    if "SCAN" not in name:
        assert (frame[:60] < 128).any(), "statement and target stand above the scene"
    assert frame is not env.render()
    env = made(name, render_mode="ansi")
    _, info = env.reset(seed=0)
    assert info["sentence"] in env.render()
    assert info["text"] and env.render().startswith(info["text"]) and env.render() != info["text"]
    names = env.unwrapped.action_names
    assert (
        len(names) == env.action_space.n and len(set(names[:50])) == min(50, len(names)) and "STOP" in names[:]
        if len(names) < 100
        else names[0]
    )
    with pytest.raises(UsageError):
        type(env)(**gym.spec(name).kwargs, size=SIZE, render_mode="human")


@pytest.mark.parametrize("name", IDS)
def test_copied_states_continue_alike(name: str) -> None:
    env = made(name)
    env.reset(seed=3)
    env.step(1)
    held = env.get_state()
    twin = copy.deepcopy(env)

    def rest(one: Any) -> list[Any]:
        steps = []
        for action in (2, 1, 3, 0):
            if one.running:
                steps.append(one.step(action))
        return [*steps, one.reset()]

    first = rest(env)
    env.set_state(held)
    for again in (rest(env), rest(twin)):
        assert len(first) == len(again) and all(
            equal(x, y) for a, b in zip(first, again, strict=True) for x, y in zip(a, b, strict=True)
        )


# --- vector ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("text", ["tokens", "string"])
def test_vector_equals_many_singles(name: str, mode: AutoresetMode, text: str) -> None:
    arguments: dict[str, Any] = {"text": text}
    if name in LILGYM:
        arguments |= {"stop_forcing": True, "rules": "code"}
    envs = batched(name, 4, autoreset_mode=mode, masks=True, **arguments)
    reference = SyncVectorEnv([lambda: gym.make(name, size=SIZE, **arguments) for _ in range(4)], autoreset_mode=mode)
    assert envs.single_observation_space == reference.single_observation_space
    ours, theirs = envs.reset(seed=11), reference.reset(seed=11)
    assert equal(ours[0], theirs[0]) and equal(ours[1], theirs[1])
    generator = np.random.default_rng(0)
    for step in range(40):
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in envs.action_masks()])
        ours, theirs = envs.step(actions), reference.step(actions)
        for part, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert equal(a, b), (step, part)
        assert envs.observation_space.contains(ours[0])


@pytest.mark.parametrize("name", LILGYM)
def test_scenes_instead_of_images_are_the_same_episodes(name: str) -> None:
    seen, told = (batched(name, 4, sight=sight, masks=True, render_mode="rgb_array") for sight in ("image", "scene"))
    first, second = seen.reset(seed=3)[0], told.reset(seed=3)[0]
    generator = np.random.default_rng(1)
    for _ in range(20):
        assert "image" not in second and told.observation_space.contains(second)
        for place, scene in enumerate(seen.engine.states.scenes()):
            items = second["scene"][place]
            assert [tuple(item) for item in items[items[:, 0] >= 0].tolist()] == [tuple(item) for item in scene.items]
        assert all(np.array_equal(a, b) for a, b in zip(seen.render(), told.render(), strict=True))
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in seen.action_masks()])
        (first, *rest), (second, *others) = seen.step(actions), told.step(actions)
        assert all(equal(a, b) for a, b in zip(rest[:3], others[:3], strict=True)) and equal(first["tokens"], second["tokens"])


def test_vector_with_resets_by_hand() -> None:
    envs = batched("recombine/TowerScratch-v0", 3, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=0)
    _, _, terminated, truncated, _ = envs.step(np.array([0, 1, 1]))
    assert (terminated | truncated).tolist() == [True, False, False]
    with pytest.raises(UsageError, match="reset_mask"):
        envs.step(np.array([1, 1, 1]))
    _, infos = envs.reset(options={"reset_mask": np.array([True, False, False])})
    assert infos["_id"].tolist() == [True, False, False]
    assert envs.step(np.array([1, 1, 1]))[4]["step"].tolist() == [1, 2, 2]


def test_vector_states_copy_and_render() -> None:
    envs = batched("recombine/ScatterFlipIt-v0", 3, render_mode="rgb_array")
    envs.reset(seed=0)
    held = envs.get_state()
    first = [envs.step(np.array([0, 0, 2600])) for _ in range(3)]
    envs.set_state(held)
    again = [envs.step(np.array([0, 0, 2600])) for _ in range(3)]
    assert all(equal(x, y) for a, b in zip(first, again, strict=True) for x, y in zip(a, b, strict=True))
    assert [frame.shape for frame in envs.render()] == [(160, 380, 3)] * 3


@pytest.mark.parametrize("name", [*LILGYM, "recombine/GSCAN-v0"])
def test_single_environments_are_one_at_both_speeds(name: str) -> None:
    runs = []
    for compiled in (False, True):
        env = made(name, compiled=compiled)
        steps: list[Any] = [env.reset(seed=3)]
        generator = np.random.default_rng(1)
        for _ in range(30):
            steps.append(env.step(int(generator.choice(np.flatnonzero(env.action_masks())))))
            if steps[-1][2] or steps[-1][3]:
                steps.append(env.reset())
        runs.append(steps)
    assert all(equal(x, y) for a, b in zip(*runs, strict=True) for x, y in zip(a, b, strict=True))


def test_what_is_left_open_is_compiled_once_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "is_ready", lambda _name: False)
    monkeypatch.setattr(kernels, "is_loaded", lambda _name: False)
    monkeypatch.setattr(kernels, "load", lambda _name, compiled: compiled)
    monkeypatch.setattr(kernels, "_ROWS", {})
    pace, never = Pace("steps", None, 3), Pace("steps", False, 1)
    seen = []
    for _ in range(4):
        pace.count()
        never.count()
        seen.append((pace.compiled, pace.kernel, never.compiled))
    can = kernels.has_numba()
    assert seen == [(False, False, False), (False, False, False), (can, can, False), (can, can, False)]


@pytest.mark.parametrize("name", LILGYM)
def test_compiled_and_interpreted_are_one(name: str) -> None:
    runs = []
    for compiled in (False, True):
        envs = gym.make_vec(name, num_envs=4, size=SIZE, compiled=compiled, masks=True)
        steps = [envs.reset(seed=2)]
        generator = np.random.default_rng(1)
        for _ in range(25):
            actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in envs.unwrapped.action_masks()])
            steps.append(envs.step(actions))
        runs.append(steps)
    assert all(equal(x, y) for a, b in zip(*runs, strict=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", IDS)
def test_unusual_uses_are_typed_errors_and_change_nothing(name: str) -> None:
    """Before the first reset, after the last step, and with what is no action, no option or no seed."""
    env = made(name, render_mode="ansi")
    for use in (lambda: env.step(0), env.render, env.action_masks):
        with pytest.raises(UsageError, match="reset"):
            use()
    many, first = env.action_space.n, env.engine.ids[0]
    env.reset(options={"index": 0})
    before = env.render()
    for action in (-1, int(many), 10**30, 1.0, "1", None, True, float("nan"), np.array([1, 1]), [], {}):
        with pytest.raises(UsageError):
            env.step(action)
    for options in ({"id": "x"}, {"id": None}, {"id": [first]}, {"id": first, "index": 0}, {"index": -1}, {"index": 0.0}, {"x": 1}, {3: 1}, "id", 5):  # fmt: skip
        with pytest.raises(UsageError):
            env.reset(options=options)
    assert env.render() == before, "what was refused changed nothing"
    for action in (np.array([1]), [1], np.uint8(1)):
        env.reset(options={"index": 0})
        env.step(action)
    for seed in (-1, 1.5, "a"):
        with pytest.raises(gym.error.Error):
            env.reset(seed=seed)


@pytest.mark.parametrize("name", IDS)
def test_unusual_uses_of_vectors_are_typed_errors(name: str) -> None:
    envs = batched(name, 3, render_mode="ansi")
    for use in (lambda: envs.step(np.zeros(3, np.int64)), envs.render, envs.unwrapped.action_masks):
        with pytest.raises(UsageError, match="reset"):
            use()
    for options in ({"reset_mask": np.array([True, False, False])}, {"reset_mask": np.zeros(3, np.bool_)}, {"reset_mask": "x"}, {"id": "x"}, {"x": 1}, []):  # fmt: skip
        with pytest.raises(UsageError):
            envs.reset(options=options or [1])
    for seed in ([1, 2], 1.5, "abc"):
        with pytest.raises(UsageError):
            envs.reset(seed=seed)
    ids = [tuple(envs.reset(seed=seed)[1]["id"]) for seed in (4, np.int64(4), [4, 5, 6], np.array([4, 5, 6]))]
    assert len(set(ids)) == 1
    for actions in ([0, 0], [0, 0, -1], [0, 0, 10**7], [0.0] * 3, "abc", None, 5, [True] * 3, [[0], [0], [0]]):
        with pytest.raises(UsageError):
            envs.step(actions)
    envs.step([0, 0, 0])


@pytest.mark.parametrize(
    "arguments",
    [
        {"rules": "mine"},
        {"grid": "9x9"},
        {"horizon": 0},
        {"text": "braille"},
        {"sight": "smell"},
        {"split": "nowhere"},
        {"part": "nowhere"},
        {"data": "/nowhere.json"},
        {"data": 3},
        {"permutations": True},
        {"stop_forcing": "no"},
        {"instances": 3},
    ],
)
def test_wrong_arguments_are_clear_errors(arguments: dict[str, Any]) -> None:
    with pytest.raises(recombine.errors.RecombineError):
        made("recombine/TowerScratch-v0", **arguments)


@pytest.mark.parametrize("bad", [{"step_penalty": "a"}, {"step_penalty": float("nan")}, {"data": 3}, {"instances": 3}])
def test_wrong_arguments_of_a_grid_are_clear_errors(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(bad))):
        made("recombine/GSCAN-v0", **bad)


def test_parts_of_a_released_file_are_kept_apart(tmp_path: Path) -> None:
    examples: dict[str, Any] = {}
    for split, part in (("compositional", "train"), ("compositional", "test"), ("visual", "test")):
        recombine.generate("gscan", tmp_path / split / part, split=split, part=part, size=4, format="native")
        (file,) = (tmp_path / split / part).rglob("dataset-*.txt")
        examples |= {name: rows for name, rows in json.loads(file.read_text())["examples"].items() if rows}
    whole = tmp_path / "dataset.txt"
    whole.write_text(json.dumps({**json.loads(file.read_text()), "examples": examples}))
    rows = {name: [f"{name}[{k}]" for k in range(4)] for name in ("train", "test", "visual")}
    for chosen, wanted in (
        ({}, [*rows["train"], *rows["test"], *rows["visual"]]),
        ({"part": "train"}, rows["train"]),
        ({"part": "test"}, [*rows["test"], *rows["visual"]]),
        ({"part": "test", "split": "visual"}, rows["visual"]),
        ({"part": "test", "size": 2}, rows["test"][:2]),
    ):
        ids = gym.make("recombine/GSCAN-v0", data=whole, **chosen).unwrapped.engine.ids  # type: ignore[attr-defined]
        assert [name.partition(":")[2] for name in ids] == wanted
    for options in ({"part": "dev"}, {"split": "adverb_1"}):
        with pytest.raises(UsageError, match=r"no row of .*compositional/test, compositional/train, visual/test"):
            gym.make("recombine/GSCAN-v0", data=whole, **options)


def test_released_files_of_another_start_are_refused(tmp_path: Path) -> None:
    recombine.generate("lilgym", tmp_path / "d", part="train", size=3, options={"start": "scratch"}, format="native")
    (file,) = (tmp_path / "d" / "random").iterdir()
    assert len(gym.make("recombine/TowerScratch-v0", data=file).unwrapped.engine.ids) == 3  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="tower_scratch"):
        gym.make("recombine/TowerFlipIt-v0", data=file)
    with pytest.raises(UsageError, match="leave it out"):
        gym.make("recombine/TowerScratch-v0", data=file, split="random")


def test_instances_of_the_other_kind_and_unknown_modes_are_refused() -> None:
    towers = made("recombine/TowerScratch-v0").engine.instances
    with pytest.raises(UsageError, match="scatter"):
        made("recombine/ScatterScratch-v0", instances=towers)
    with pytest.raises(recombine.errors.UnknownName, match="autoreset"):
        batched("recombine/TowerScratch-v0", 2, autoreset_mode="sometimes")


# --- words -----------------------------------------------------------------------------------------------------------


def test_word_ids() -> None:
    ids = word_ids(["There is a blue Block, at the top.", "zyxw blue", ""])
    assert ids.shape == (3, MAX_WORDS) and ids.dtype == np.int32
    assert ids[0, 3] == ids[1, 1] == VOCABULARY.index("blue") + 1
    assert len(VOCABULARY) < ids[1, 0] < ID_COUNT and not ids[2].any()
    with pytest.raises(UsageError, match="words"):
        word_ids(["word " * (MAX_WORDS + 1)])


def test_the_page_about_environments_runs(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parent.parent / "docs" / "environments.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 3
    for block in blocks:
        done = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize(("name", "nearest"), [("recombine/ReaSCAN-v0", "horizon"), ("recombine/TowerScratch-v0", "horizon")])
def test_an_unknown_argument_names_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean '{nearest}'"):
        gym.make(name, horizons=3)
