"""The settings of PPO: those of the published experiments unless said otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from recombine.errors import UnknownName, UsageError

Forcing = Literal["none", "relabel", "imitate"]
FORCINGS: tuple[Forcing, ...] = ("none", "relabel", "imitate")
HEADS = ("factored", "flat")
SCHEDULES = ("linear", "cosine")
RULES = ("paper", "code")


@dataclass(frozen=True)
class Settings:
    """How PPO runs. An update learns from `places` × `rollout` steps: 2,048, as published (there in one place).

    `forcing`: `none` is PPO. `relabel` is PPO+SF as published: where the target holds already, the environment takes STOP, and STOP is
    stored with its log-probability under the policy, so it has an ordinary PPO gradient. `imitate` leaves those steps
    out of PPO's loss and adds `imitation` × −log π(STOP) on them instead. Testing never forces.

    `entropy` is the published 0.1, here with a gradient; the released code detaches that term, which is `entropy=0`.
    `cooling` is the share of it that is gone at the end of the run: 0 keeps it, 1 lets it fall to nothing, step by step.
    `value_first` is the share of the updates, from the start, in which only the critic learns. `forced_floor` is the least normalised
    advantage of a relabelled STOP: the critic learns that the scene is solved, and then STOP seems to gain nothing. 0 of either is as published.
    `masks` keeps invalid actions from being chosen, in training and testing; the paper has none.
    `period`: updates between validations; a checkpoint is written there. `patience`: stop after this many periods without a
    better validation accuracy (0: never). `held_out`: the share of training statements kept for validation.
    """

    steps: int = 4_000_000
    places: int = 64
    rollout: int = 32
    epochs: int = 10
    minibatches: int = 32
    clip: float = 0.2
    discount: float = 0.99
    trace: float = 0.95
    entropy: float = 0.1
    cooling: float = 0.0
    value: float = 0.5
    value_first: float = 0.0
    forced_floor: float = 0.0
    norm: float = 0.5
    rate: float = 3e-4
    schedule: str = "linear"
    warmup: float = 0.0
    weight_decay: float = 0.0
    momentum: float = 0.999
    epsilon: float = 1e-5
    head: str = "factored"
    masks: bool = False
    forcing: str = "none"
    imitation: float = 1.0
    rules: str = "paper"
    period: int = 10
    patience: int = 0
    held_out: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for what, value, known in (
            ("stop forcing", self.forcing, FORCINGS), ("action head", self.head, HEADS), ("schedule", self.schedule, SCHEDULES),
            ("rule book", self.rules, RULES),
        ):  # fmt: skip
            if value not in known:
                raise UnknownName(what, value, known)
        for name in ("steps", "places", "rollout", "epochs", "minibatches", "period"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        if self.batch < self.minibatches:
            raise UsageError(f"{self.places} × {self.rollout} steps cannot be cut into {self.minibatches} minibatches.")
        for name in ("cooling", "discount", "trace", "warmup"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be from 0 to 1.")
        for name in ("held_out", "value_first", "momentum"):
            if not 0 <= getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be from 0 to below 1.")
        if self.forced_floor < 0:
            raise UsageError(f"forced_floor is {self.forced_floor}, but must be at least 0.")

    @property
    def batch(self) -> int:
        """Steps per update."""
        return self.places * self.rollout

    @property
    def updates(self) -> int:
        """Updates in all; the steps are rounded up to whole ones."""
        return -(-self.steps // self.batch)

    def entropy_at(self, update: int) -> float:
        """The weight of the entropy bonus at an update."""
        return self.entropy * (1 - self.cooling * update / self.updates)

    def is_policy_learnt(self, update: int) -> bool:
        """Whether an update changes the policy, or only the critic."""
        return update >= self.value_first * self.updates

    def rate_at(self, update: int) -> float:
        """The learning rate of an update: warm-up, then linear or cosine decay to zero."""
        rising = int(self.warmup * self.updates)
        if update < rising:
            return self.rate * (update + 1) / rising
        share = (update - rising) / max(1, self.updates - rising)
        return self.rate * ((1 - share) if self.schedule == "linear" else 0.5 * (1 + math.cos(math.pi * share)))
