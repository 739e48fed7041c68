"""Proximal policy optimisation over the native vector environment, with or without stop forcing.

`Learner.collect` plays, `Learner.learn` takes the gradient steps. An episode's end is an end whatever its flag says: the value of what
would come after is 0, as in the published experiments.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recombine import keys
from recombine.envs.lilgym import LilGymEngine, LilGymVectorEnv
from recombine.families.lilgym.play import episodes
from recombine.families.lilgym.play.edits import RuleBook
from recombine.families.lilgym.play.episodes import Instances
from recombine.models.base import reseed, single_thread
from recombine.rl.chances import STOP, Chances
from recombine.rl.policies import Agent, Reader, Seen
from recombine.rl.settings import Settings

FARTHEST = 20.0
"""Bound of a log-ratio: a forced STOP may have had a probability of e^-200, and an infinite ratio times 0 is no gradient."""


@dataclass
class Tally:
    """What training episodes gave since the last validation, and where the CPU time went.

    `solved` counts every episode that ended well, `unforced` only those that the policy itself stopped.
    """

    episodes: int = 0
    solved: int = 0
    unforced: int = 0
    returns: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    env_seconds: float = 0.0
    play_seconds: float = 0.0
    learn_seconds: float = 0.0


class Rollout(NamedTuple):
    """The steps of one update, flat: step t of place i is row t * places + i."""

    rows: Tensor
    sight: Tensor
    masks: Tensor | None
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    forced: Tensor

    def pick(self, which: Tensor) -> Rollout:
        """Some of the steps."""
        picked = {name: column[which] for name, column in self._asdict().items() if column is not None}
        return self._replace(**picked)


class Losses(NamedTuple):
    """The parts of the loss of one minibatch; `total` is what is differentiated."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    imitation: Tensor


def advantages(
    rewards: NDArray[np.float64], values: NDArray[np.float64], ended: NDArray[np.bool_], last: NDArray[np.float64],
    discount: float, trace: float,
) -> NDArray[np.float64]:  # fmt: skip
    """Generalised advantage estimates, (steps, places). `ended[t]`: the episode of step t ended with it; `last`: values after all."""
    found = np.zeros_like(rewards)
    following, carried = last, np.zeros_like(last)
    for t in range(len(rewards) - 1, -1, -1):
        goes_on = 1.0 - ended[t]
        carried = rewards[t] + discount * following * goes_on - values[t] + discount * trace * goes_on * carried
        found[t] = carried
        following = values[t]
    return found


def losses(
    settings: Settings, chances: Chances, values: Tensor, part: Rollout, scaled: Tensor, update: int = 0
) -> Losses:  # fmt: skip
    """PPO's loss of a minibatch: `chances` are the policy's distributions now, `scaled` the normalised advantages."""
    log_probs = chances.of(part.actions)
    ratio = (log_probs - part.log_probs).clamp(max=FARTHEST).exp()
    surrogate = torch.minimum(ratio * scaled, ratio.clamp(1 - settings.clip, 1 + settings.clip) * scaled)
    forced = part.forced.float()
    if settings.forcing == "imitate":
        policy = -(surrogate * (1 - forced)).mean()
        imitation = -(chances.stop * forced).mean()
    else:
        policy, imitation = -surrogate.mean(), log_probs.new_zeros(())
    wanted = part.advantages + part.values
    near = part.values + (values - part.values).clamp(-settings.clip, settings.clip)
    value = 0.5 * torch.maximum((values - wanted) ** 2, (near - wanted) ** 2).mean()
    entropy = chances.entropy().mean()
    total = settings.value * value
    if settings.is_policy_learnt(update):
        total = total + policy - settings.entropy_at(update) * entropy + settings.imitation * imitation
    return Losses(total, policy, value, entropy, imitation)


class Learner:
    """An agent that learns in an environment. `begin_period` before the first `collect`; then `collect` and `learn` in turn."""

    def __init__(
        self, settings: Settings, reader: type[Reader], config: Any, instances: Instances, device: str = "cpu"
    ) -> None:
        single_thread()
        self.settings, self.instances, self.device = settings, instances, torch.device(device)
        reseed(keys.state("weights", settings.seed), self.device)
        self.agent = Agent(reader, config, instances.kind, settings.head).to(self.device).eval()  # eval: dropout blurs ratios
        self.table = reader.table(config, instances.sentences, instances.targets).to(self.device)
        self.targets = torch.from_numpy(instances.targets.astype(np.int64)).to(self.device)
        self.sight = reader.SIGHT
        self.envs = LilGymVectorEnv(
            instances.kind, "scratch", settings.places, instances=instances, rules=cast(RuleBook, settings.rules),
            stop_forcing=settings.forcing != "none", sight=self.sight, autoreset_mode="SameStep",
        )  # fmt: skip
        make = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
        self.optimizer = make(
            self.agent.parameters(), lr=settings.rate, betas=(0.9, settings.momentum), eps=settings.epsilon,
            weight_decay=settings.weight_decay, fused=True,
        )  # fmt: skip
        self.tally = Tally()
        self.sums = np.zeros(settings.places)

    def begin_period(self, period: int) -> None:
        """Start new episodes everywhere, from streams named by seed and period: a run can go on from here exactly."""
        self.envs.reset(seed=[keys.state("place", self.settings.seed, period, i) for i in range(self.settings.places)])
        self.sums[:] = 0.0

    def seen(self, rows: Tensor, sight: Tensor) -> Seen:
        """The policy's view of instances `rows` in these scenes or pictures."""
        return Seen(self.table[rows], self.targets[rows], sight.to(self.device))

    def _look(self) -> tuple[Tensor, Tensor, Tensor | None]:
        states = cast(LilGymEngine, self.envs.engine).states
        rows = torch.from_numpy(states.rows.copy()).to(self.device)
        sight = torch.from_numpy(episodes.view(states, self.sight))
        mask = torch.from_numpy(self.envs.action_masks()).to(self.device) if self.settings.masks else None
        return rows, sight, mask

    @torch.no_grad()
    def collect(self, update: int) -> Rollout:
        """Play `rollout` steps in every place. Where STOP was forced, STOP and its log-probability are what is kept."""
        s, began = self.settings, time.process_time()
        reseed(keys.state("collect", s.seed, update), self.device)
        kept: list[tuple[Tensor, ...]] = []
        all_rewards, all_values = np.zeros((s.rollout, s.places)), np.zeros((s.rollout, s.places))
        ended = np.zeros((s.rollout, s.places), np.bool_)
        for t in range(s.rollout):
            rows, sight, mask = self._look()
            seen = self.seen(rows, sight)
            chances, values = self.agent.chances(seen, mask), self.agent.values(seen)
            actions = chances.drawn()
            all_rewards[t], ended[t], forced = self._step(actions.cpu().numpy())
            stopped = torch.from_numpy(forced).to(self.device)
            actions = torch.where(stopped, STOP, actions)
            log_probs = chances.of(actions)
            all_values[t] = values.cpu().numpy()
            kept.append((rows, sight, actions, log_probs, values, stopped, *(() if mask is None else (mask,))))
        rows, sight, _ = self._look()
        last = self.agent.values(self.seen(rows, sight)).double().cpu().numpy()
        found = advantages(all_rewards, all_values, ended, last, s.discount, s.trace)
        columns = [torch.cat(column) for column in zip(*kept, strict=True)]
        self.tally.play_seconds += time.process_time() - began
        gained = torch.from_numpy(found.reshape(-1)).float().to(self.device)
        masks = columns[6] if s.masks else None
        return Rollout(columns[0], columns[1], masks, columns[2], columns[3], columns[4], gained, columns[5])

    def _step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """One step of the environment: rewards, ends, and where STOP was forced (which always ends the episode)."""
        began = time.process_time()
        _, rewards, terminated, truncated, infos = self.envs.step(actions)
        self.tally.env_seconds += time.process_time() - began
        ended = terminated | truncated
        forced = np.zeros(len(ended), np.bool_)
        self.sums += rewards
        if ended.any():
            final = infos["final_info"]
            forced = ended & (final["forced_action"] == STOP)
            tally = self.tally
            tally.episodes += int(ended.sum())
            tally.solved += int(final["accuracy"].sum())
            tally.unforced += int(final["accuracy_nosf"].sum())
            tally.returns += float(self.sums[ended].sum())
            tally.errors.update(error for error in final["error"][ended].tolist() if error)
            self.sums[ended] = 0.0
        return rewards, ended, forced

    def learn(self, rollout: Rollout, update: int) -> dict[str, float]:
        """The gradient steps of one update; returns the mean of each part of the loss."""
        s, began = self.settings, time.process_time()
        reseed(keys.state("learn", s.seed, update), self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = s.rate_at(update)
        scaled = (rollout.advantages - rollout.advantages.mean()) / (rollout.advantages.std() + 1e-5)
        if s.forced_floor:
            scaled = torch.where(rollout.forced, scaled.clamp(min=s.forced_floor), scaled)
        totals = torch.zeros(len(Losses._fields))
        size = s.batch // s.minibatches
        for _ in range(s.epochs):
            order = torch.randperm(s.batch)
            for start in range(0, size * s.minibatches, size):
                which = order[start : start + size].to(self.device)
                part = rollout.pick(which)
                seen = self.seen(part.rows, part.sight)
                chances = self.agent.chances(seen, part.masks)
                found = losses(s, chances, self.agent.values(seen), part, scaled[which], update)
                self.optimizer.zero_grad(set_to_none=True)
                found.total.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.agent.parameters(), s.norm)
                self.optimizer.step()
                totals += torch.stack([loss.detach() for loss in found]).cpu()
        self.tally.learn_seconds += time.process_time() - began
        return dict(zip(Losses._fields, (totals / (s.epochs * s.minibatches)).tolist(), strict=True))
