"""PPO: advantages by the definition, stop forcing with a real gradient, and a toy task that is really learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recombine.errors import UnknownName, UsageError  # noqa: E402
from recombine.families.lilgym.play.episodes import Instances, Setting  # noqa: E402
from recombine.families.lilgym.play.tasks import instances_of  # noqa: E402
from recombine.families.lilgym.scene import EMPTY_TOWER, Scene  # noqa: E402
from recombine.rl.chances import STOP, Table  # noqa: E402
from recombine.rl.play import measure, play_all, replay  # noqa: E402
from recombine.rl.policies import find_policy  # noqa: E402
from recombine.rl.ppo import Learner, advantages, losses  # noqa: E402
from recombine.rl.settings import Settings  # noqa: E402

TWO_BLUE = ("toy", "there are exactly two blue blocks", "count(filter_obj(all_items, lambda x: is_blue(x))) == 2")
READER = find_policy("set")
SMALL = READER.Config(units=32)


def toy(scene: Scene = EMPTY_TOWER) -> Instances:
    return instances_of("tower", [(*TWO_BLUE, scene, True)])


def quick(**given: Any) -> Settings:
    defaults = {"steps": 40 * 512, "places": 32, "rollout": 16, "epochs": 4, "minibatches": 4, "rate": 1e-3, "entropy": 0.03}
    return Settings(**{**defaults, **given})


def test_advantages_are_the_definition() -> None:
    generator = np.random.default_rng(0)
    rewards, values = generator.normal(size=(6, 2)), generator.normal(size=(6, 2))
    ended, last = generator.random((6, 2)) < 0.3, generator.normal(size=2)
    found = advantages(rewards, values, ended, last, 0.9, 0.8)
    following = np.vstack([values[1:], last[None]])
    deltas = rewards + 0.9 * following * ~ended - values
    for place in range(2):
        for t in range(6):
            total, weight = 0.0, 1.0
            for k in range(t, 6):
                total += weight * deltas[k, place]
                if ended[k, place]:
                    break
                weight *= 0.9 * 0.8
            assert found[t, place] == pytest.approx(total)


def updates_until_solved(settings: Settings, instances: Instances) -> int | None:
    """Updates until the greedy, unforced policy solves the toy; None if it does not within the budget."""
    learner = Learner(settings, READER, SMALL, instances)
    learner.begin_period(0)
    for update in range(settings.updates):
        learner.learn(learner.collect(update), update)
        if measure(play_all(learner.agent, READER, instances, Setting("tower")))["accuracy"] == 1.0:
            return update + 1
    return None


@pytest.mark.parametrize("forcing", ["none", "relabel", "imitate"])
def test_toy_is_solved(forcing: str) -> None:
    assert updates_until_solved(quick(forcing=forcing), toy()) is not None


def test_stop_forcing_is_faster_where_reward_is_rare() -> None:
    """Two blue blocks and a yellow one, and STOP one action of thirteen: unforced, PPO gives up before it has seen enough.

    Forcing is no gain everywhere: on the easy toy above, with factored heads (STOP one type of three), it is not faster.
    """
    program = f"{TWO_BLUE[2]} and exist(filter_obj(all_items, lambda x: is_yellow(x)))"
    rare = instances_of("tower", [("rare", "there are exactly two blue blocks and a yellow block", program, EMPTY_TOWER, True)])
    for seed in range(2):
        given = {"head": "flat", "entropy": 0.05, "steps": 50 * 512, "seed": seed}
        forced = updates_until_solved(quick(forcing="relabel", **given), rare)
        assert forced is not None
        plain = updates_until_solved(replace(quick(**given), steps=512 * forced * 3 // 2), rare)
        assert plain is None, (seed, forced, plain)


def rollout_where_the_target_holds(forcing: str, **given: Any) -> tuple[Learner, Any]:
    """Episodes that start where STOP is right already."""
    settings = quick(forcing=forcing, places=16, rollout=4, **given)
    learner = Learner(settings, READER, SMALL, toy(Scene.of_towers([[2, 2], [], []])))
    learner.begin_period(0)
    return learner, learner.collect(0)


def test_forced_stop_is_stored_with_its_own_log_probability() -> None:
    learner, rollout = rollout_where_the_target_holds("relabel")
    assert (rollout.actions == STOP).all() and rollout.forced.any() and not rollout.forced.all()
    with torch.no_grad():
        chances = learner.agent.log_probs(learner.seen(rollout.rows, rollout.sight))
    assert torch.allclose(rollout.log_probs, chances[:, STOP], atol=1e-5)
    assert (rollout.log_probs < -0.5).all(), "the log-probability is the policy's, not that of a choice of one"
    assert learner.tally.solved == learner.tally.episodes > learner.tally.unforced


@pytest.mark.parametrize("forcing", ["relabel", "imitate"])
def test_forced_steps_have_a_gradient_towards_stop(forcing: str) -> None:
    learner, rollout = rollout_where_the_target_holds(forcing)
    chances = learner.agent.log_probs(learner.seen(rollout.rows, rollout.sight)).detach().requires_grad_()
    found = losses(learner.settings, Table(chances), rollout.values, rollout, torch.ones(len(rollout.rows)))
    (found.policy + found.imitation).backward()
    assert (chances.grad[rollout.forced, STOP] < 0).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_forced_stop_that_was_nearly_impossible_gives_no_nan(sign: float) -> None:
    """SCATTER gives STOP e^-200 where it never saw a solved scene; the ratio must not overflow when it learns."""
    learner, rollout = rollout_where_the_target_holds("relabel")
    chances = learner.agent.chances(learner.seen(rollout.rows, rollout.sight))
    rollout = rollout._replace(log_probs=torch.full_like(rollout.log_probs, -200.0))
    losses(learner.settings, chances, rollout.values, rollout, sign * torch.ones(len(rollout.rows))).total.backward()
    assert all(torch.isfinite(weight.grad).all() for weight in learner.agent.actor.parameters())


@pytest.mark.parametrize("forcing", ["relabel", "imitate"])
def test_forced_states_teach_to_stop_there(forcing: str) -> None:
    """Of two starts one meets the target already; STOP becomes likelier there than at the other."""
    solved = Scene.of_towers([[2, 2], [], []])
    both = instances_of("tower", [("far", *TWO_BLUE[1:], EMPTY_TOWER, True), ("there", *TWO_BLUE[1:], solved, True)])
    learner = Learner(quick(forcing=forcing), READER, SMALL, both)
    learner.begin_period(0)
    seen = None
    for update in range(6):
        rollout = learner.collect(update)
        if seen is None:
            first = [
                int((rollout.rows == row).nonzero()[0]) for row in range(2)
            ]  # at its first step a place is where it starts
            seen = learner.seen(rollout.rows[first], rollout.sight[first])
        learner.learn(rollout, update)
    with torch.no_grad():
        far, there = learner.agent.log_probs(seen)[:, STOP].exp().tolist()
    assert there > 0.5 and there > far + 0.2, (far, there)


def test_a_floor_teaches_a_stop_that_seems_to_gain_nothing() -> None:
    """A critic that knows the scene is solved leaves no advantage; the floor pushes STOP all the same."""
    chances = {}
    for floor in (0.0, 1.0):
        learner, rollout = rollout_where_the_target_holds("relabel", forced_floor=floor)
        learner.learn(rollout._replace(advantages=torch.where(rollout.forced, -1.0, 1.0)), 0)
        with torch.no_grad():
            stop = learner.agent.log_probs(learner.seen(rollout.rows, rollout.sight))[rollout.forced, STOP]
        chances[floor] = float(stop.mean())
    assert chances[1.0] > chances[0.0]


def test_the_critic_can_learn_first() -> None:
    learner, rollout = rollout_where_the_target_holds("relabel", value_first=0.5)
    before = {name: weight.clone() for name, weight in learner.agent.state_dict().items()}
    learner.learn(rollout, 0)
    moved = {name.split(".")[0] for name, weight in learner.agent.state_dict().items() if not torch.equal(weight, before[name])}
    assert moved == {"critic", "worth"}
    learner.learn(rollout, learner.settings.updates - 1)
    after = learner.agent.state_dict()
    assert any(not torch.equal(after[name], weight) for name, weight in before.items() if name.startswith("actor"))


def test_a_mask_instead_would_teach_nothing() -> None:
    """Why STOP is relabelled: where only STOP is allowed, its log-probability is 0 whatever the weights are."""
    learner, rollout = rollout_where_the_target_holds("relabel")
    only_stop = torch.zeros(len(rollout.rows), 13, dtype=torch.bool)
    only_stop[:, STOP] = True
    learner.agent.log_probs(learner.seen(rollout.rows, rollout.sight), only_stop)[:, STOP].sum().backward()
    assert all(p.grad is None or p.grad.abs().max() == 0 for p in learner.agent.parameters())


def test_masks_keep_training_free_of_invalid_actions() -> None:
    learner = Learner(quick(masks=True), READER, SMALL, toy())
    learner.begin_period(0)
    learner.learn(learner.collect(0), 0)
    assert learner.tally.episodes and not learner.tally.errors.keys() & {"does_not_fit", "nothing_to_remove"}
    plain = Learner(quick(), READER, SMALL, toy())
    plain.begin_period(0)
    plain.collect(0)
    assert plain.tally.errors["nothing_to_remove"] > 0


def test_same_seed_same_weights() -> None:
    def weights(seed: int) -> torch.Tensor:
        learner = Learner(quick(seed=seed), READER, SMALL, toy())
        learner.begin_period(0)
        for update in range(2):
            learner.learn(learner.collect(update), update)
        return torch.cat([p.detach().flatten() for p in learner.agent.parameters()])

    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4))


def test_tests_never_force_and_replay_alike() -> None:
    """A policy that never stops gets no help from the setting, and the second simulator tells the same story."""
    instances = toy(Scene.of_towers([[2, 2], [], []]))
    learner = Learner(quick(), READER, SMALL, instances)
    with torch.no_grad():
        learner.agent.head.types.bias[:] = torch.tensor([-50.0, 50.0, -50.0])
    episodes = play_all(learner.agent, READER, instances, Setting("tower", stop_forcing=True))
    assert measure(episodes)["accuracy"] == 0.0 and len(episodes[0].actions) > 1
    played = replay(instances, Setting("tower"), episodes[0])
    assert (played.actions, played.error) == (episodes[0].actions, episodes[0].error)
    assert played.rewards == pytest.approx(episodes[0].rewards)


def test_settings_are_the_published_ones_and_are_checked() -> None:
    settings = Settings()
    assert (settings.batch, settings.epochs, settings.batch // settings.minibatches, settings.clip) == (2048, 10, 64, 0.2)
    assert (settings.discount, settings.trace, settings.entropy, settings.value, settings.norm) == (0.99, 0.95, 0.1, 0.5, 0.5)
    assert (settings.steps, settings.rate, settings.epsilon, settings.updates) == (4_000_000, 3e-4, 1e-5, 1954)
    assert settings.rate_at(0) == 3e-4 and settings.rate_at(977) == pytest.approx(1.5e-4)
    warm = Settings(schedule="cosine", warmup=0.01)
    assert warm.rate_at(0) < warm.rate_at(19) == pytest.approx(3e-4) and warm.rate_at(1953) < 1e-8
    cooled = Settings(cooling=1.0)
    assert settings.entropy_at(1953) == cooled.entropy_at(0) == 0.1 and cooled.entropy_at(977) == pytest.approx(0.05)
    with pytest.raises(UsageError, match="cooling is 2"):
        Settings(cooling=2)
    with pytest.raises(UsageError, match="value_first is 1"):
        Settings(value_first=1)
    for name, value in (("momentum", 1.5), ("momentum", 1), ("discount", 2), ("trace", -0.1), ("warmup", 2)):
        with pytest.raises(UsageError, match=f"{name} is {value}"):
            Settings(**{name: value})
    with pytest.raises(UsageError, match="forced_floor is -1"):
        Settings(forced_floor=-1)
    with pytest.raises(UnknownName, match="relabel"):
        Settings(forcing="relable")
    with pytest.raises(UsageError, match="minibatches"):
        Settings(places=1, rollout=4)
