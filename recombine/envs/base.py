"""One Gymnasium environment and one vector environment over any engine: seeding, choice of instances, resets and infos.

An engine steps n episodes at once and knows nothing of Gymnasium's habits. `SingleEnv` holds an engine of one place, `BatchedEnv`
one of n; since both run the same engine, both give the same results. Each place of a `BatchedEnv` draws its instances from
its own generator, seeded as `SyncVectorEnv` seeds its environments.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from recombine.envs.engine import (
    ActionNames,
    Cursor,
    Engine,
    Flags,
    Numbers,
    Observation,
    Result,
    check_render_mode,
    chosen,
    named,
    need_reset,
    pictured,
    seeds_of,
)
from recombine.errors import UnknownName, UsageError, shown

_FIRST = np.zeros(1, np.int64)
"""The only place of a single environment."""


class SingleEnv(gym.Env[Observation, Any]):
    """One episode at a time. `reset(options={"id": …})` or `{"index": …}` picks the instance; otherwise it is drawn.

    With `evaluate`, resets visit every instance once, in order; `info["remaining"]` counts down, and one reset too many is an
    error (a seed or `options={"restart": True}` starts over). `info["action_mask"]` and `action_masks()` hold the valid actions.
    `action_names` says what each number means. With `render_mode="ansi"`, `info["text"]` holds the scene in characters.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}  # noqa: RUF012 - gymnasium's own form

    def __init__(self, engine: Engine, render_mode: str | None = None, evaluate: bool = False, masks: bool = True) -> None:
        self.engine = engine
        self.observation_space = engine.observation_space
        self.action_space = engine.action_space
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.cursor = Cursor(len(engine.ids)) if evaluate else None
        self.with_masks = masks
        self.running = self.begun = False
        engine.begin(1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the same seed gives the same sequence of instances from here on."""
        given = named(options, ("id", "index", "restart"))
        row = chosen(self.engine, given)
        super().reset(seed=seed)
        if row is None and self.cursor is not None:
            if seed is not None or given.get("restart"):
                self.cursor.next = 0
            row = self.cursor.take()
            if row is None:
                raise UsageError(
                    f"all {self.cursor.size} instances have been visited; reset(options={{'restart': True}}) starts over."
                )
        elif row is None:
            row = int(self.np_random.integers(len(self.engine.ids)))
        self.engine.restart(_FIRST, np.array([row]))
        self.running = self.begun = True
        return self.engine.observe_one(), self._standing()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One action; the episode ends when one of the two flags is set."""
        if not self.running:
            raise UsageError("no episode is under way: call reset() first.")
        reward, terminated, truncated, facts, final = self.engine.advance_one(self._number(action))
        info = {**self._standing(), **facts}
        if terminated or truncated:
            info.update(final)
            self.running = False
        return self.engine.observe_one(), reward, terminated, truncated, info

    def _number(self, action: Any) -> int:
        """The number of an action: an integer, or an array or list of one integer."""
        single = action if isinstance(action, np.integer) else np.asarray(action)
        if single.size == 1 and single.dtype.kind in "iu":
            number = int(single.item())
            if 0 <= number < self.engine.action_space.n:
                return number
        raise UsageError(f"an action is an integer from 0 to {self.engine.action_space.n - 1}, but {shown(action)} was given.")

    @property
    def action_names(self) -> Sequence[str]:
        """What each action number means, in words."""
        return ActionNames(self.engine)

    def action_masks(self) -> Any:
        """Which actions are valid now: one boolean per action, or a mapping of factors where there are too many."""
        need_reset(self.begun)
        masks = self.engine.masks()
        return {name: mask[0] for name, mask in masks.items()} if isinstance(masks, dict) else masks[0]

    def render(self) -> Any:
        """The scene as an RGB array or as text, by the render mode."""
        need_reset(self.begun)
        if self.render_mode == "rgb_array":
            return pictured(self.engine, 0)
        return _explained(self.engine, 0) if self.render_mode == "ansi" else None

    def get_state(self) -> Any:
        """A copy of the episode and of the generator; `set_state` goes on from it, here or in an equal environment."""
        return self.engine.state(), copy.deepcopy(self.np_random), copy.copy(self.cursor), self.running

    def set_state(self, state: Any) -> None:
        """Go on from a copy that `get_state` gave (it can be used again)."""
        held, generator, cursor, self.running = state
        self.engine.set_state(held)
        self.begun = True
        self.np_random, self.cursor = copy.deepcopy(generator), copy.copy(cursor)

    def _standing(self) -> dict[str, Any]:
        facts = self.engine.standing_one()
        if self.with_masks:
            facts["action_mask"] = self.action_masks()
        if self.cursor is not None:
            facts["remaining"] = self.cursor.remaining
        if self.render_mode == "ansi":
            facts["text"] = self.engine.text(0)
        return facts


def _explained(engine: Engine, place: int) -> str:
    """The text picture with its legend."""
    return f"{engine.text(place)}\n{engine.legend}"


class BatchedEnv(gym.vector.VectorEnv[Any, Any, Any]):
    """Many episodes at once, natively. Equal to `SyncVectorEnv` over `SingleEnv`s, only much faster.

    With `evaluate`, every instance is played once, in any place. A place without a further instance rests: its reward is 0, its
    flags are false, and `infos["resting"]` is true. `finished` is true when all places rest. `autoreset_mode` is Gymnasium's.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}  # noqa: RUF012 - gymnasium's own form

    def __init__(
        self,
        engine: Engine,
        num_envs: int,
        render_mode: str | None = None,
        evaluate: bool = False,
        masks: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise UsageError(f"num_envs is {shown(num_envs)}, but must be a positive integer.")
        self.engine = engine
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = engine.observation_space, engine.action_space
        self.observation_space = batch_space(engine.observation_space, num_envs)
        self.action_space = batch_space(engine.action_space, num_envs)
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        modes = {mode.value: mode for mode in AutoresetMode}
        if autoreset_mode not in modes and not isinstance(autoreset_mode, AutoresetMode):
            raise UnknownName("autoreset mode", str(autoreset_mode), modes)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.cursor = Cursor(len(engine.ids)) if evaluate else None
        self.with_masks = masks
        self.generators: list[np.random.Generator | None] = [None] * num_envs
        self.ended = np.zeros(num_envs, np.bool_)
        self.resting = np.zeros(num_envs, np.bool_)
        self.begun = False
        engine.begin(num_envs)

    @property
    def finished(self) -> bool:
        """Whether, in an evaluation, every instance has been played to its end."""
        return bool(self.resting.all())

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes everywhere, or in the places of `options["reset_mask"]`; `seed` is one integer or one per place."""
        given = named(options, ("id", "index", "restart", "reset_mask"))
        mask = np.asarray(given.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise UsageError(f"reset_mask must be {self.num_envs} booleans, at least one of them true.")
        if not self.begun and not mask.all():
            raise UsageError("the first reset starts all environments: leave reset_mask out.")
        seeds, row = seeds_of(seed, self.num_envs), chosen(self.engine, given)
        places = np.flatnonzero(mask)
        for place in places.tolist():
            if seeds[place] is not None:
                self.generators[place] = seeding.np_random(seeds[place])[0]
        if self.cursor is not None and (mask.all() or given.get("restart")):
            self.cursor.next = 0
        self._restart(places, row)
        self.begun = True
        return self._observed(), self._told(self._standing(), mask)

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """One action per place. Under `NEXT_STEP` a place whose episode has ended starts the next one instead."""
        need_reset(self.begun)
        renewed = self.ended & ~self.resting
        if self.autoreset_mode == AutoresetMode.DISABLED and renewed.any():
            raise UsageError(f"places {np.flatnonzero(renewed).tolist()} have ended: reset them with options['reset_mask'].")
        result = self.engine.advance(np.asarray(actions))
        if renewed.any():
            self._restart(np.flatnonzero(renewed))
            renewed &= ~self.resting
        stepped = ~renewed & ~self.resting
        self.ended = result.terminated | result.truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self.ended.any():
            return self._renewed_at_once(result, stepped)
        facts = self._standing()
        infos = self._told(facts, np.ones(self.num_envs, np.bool_))
        infos.update(self._told(result.facts, stepped))
        if self.ended.any():
            infos.update(self._told(result.final, self.ended))
        return self._observed(), result.rewards, result.terminated, result.truncated, infos

    def _renewed_at_once(self, result: Result, stepped: Flags) -> tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        """The end of a step under `SAME_STEP`: the last observations move into the infos, and new episodes start."""
        ended = self.ended.copy()
        seen = self.engine.observe()
        last = np.full(self.num_envs, None, dtype=object)
        for place in np.flatnonzero(ended).tolist():
            last[place] = {name: values[place] for name, values in seen.items()}
        final = self._told({**self._standing(), **result.facts, **result.final}, ended)
        self._restart(np.flatnonzero(ended))
        self.ended = np.zeros(self.num_envs, np.bool_)
        infos = self._told(self._standing(), np.ones(self.num_envs, np.bool_))
        infos.update(self._told(result.facts, stepped & ~ended))
        infos.update({"final_obs": last, "_final_obs": ended.copy(), "final_info": final, "_final_info": ended.copy()})
        return self._observed(), result.rewards, result.terminated, result.truncated, infos

    @property
    def action_names(self) -> Sequence[str]:
        """What each action number means, in words."""
        return ActionNames(self.engine)

    def action_masks(self) -> Any:
        """Which actions are valid now, one row per place, or a mapping of factors."""
        need_reset(self.begun)
        return self.engine.masks()

    def render(self) -> tuple[Any, ...] | None:
        """Every place as an RGB array or as text, by the render mode."""
        need_reset(self.begun)
        if self.render_mode == "rgb_array":
            return tuple(pictured(self.engine, place) for place in range(self.num_envs))
        return tuple(_explained(self.engine, place) for place in range(self.num_envs)) if self.render_mode == "ansi" else None

    def get_state(self) -> Any:
        """A copy of all that changes; `set_state` goes on from it."""
        held = (self.generators, self.cursor, self.ended, self.resting)
        return self.engine.state(), copy.deepcopy(held)

    def set_state(self, state: Any) -> None:
        """Go on from a copy that `get_state` gave (it can be used again)."""
        held, rest = state
        self.engine.set_state(held)
        self.begun = True
        self.generators, self.cursor, self.ended, self.resting = copy.deepcopy(rest)

    def _restart(self, places: Numbers, row: int | None = None) -> None:
        """Start the next episodes in these places; under evaluation some may find none left and rest."""
        drawn = [self._draw(place) if row is None else row for place in places.tolist()]
        started = np.array([r is not None for r in drawn], np.bool_)
        self.resting[places] = ~started
        self.ended[places] = False
        if started.any():
            self.engine.restart(places[started], np.array([r for r in drawn if r is not None], np.int64))

    def _draw(self, place: int) -> int | None:
        if self.cursor is not None:
            return self.cursor.take()
        generator = self.generators[place]
        if generator is None:
            generator = self.generators[place] = seeding.np_random(None)[0]
        return int(generator.integers(len(self.engine.ids)))

    def _observed(self) -> Any:
        return self.engine.observe()

    def _standing(self) -> dict[str, Any]:
        facts: dict[str, Any] = dict(self.engine.standing())
        if self.with_masks:
            facts["action_mask"] = self.engine.masks()
        if self.cursor is not None:
            facts["remaining"] = np.full(self.num_envs, self.cursor.remaining)
            if self.resting.any():
                facts["resting"] = self.resting.copy()
        return facts

    def _told(self, facts: Mapping[str, Any], mask: Flags) -> dict[str, Any]:
        """Infos with their masks, as Gymnasium's vector environments give them; places outside the mask hold 0 or None."""
        told: dict[str, Any] = {}
        whole = bool(mask.all())
        for name, values in facts.items():
            if isinstance(values, dict):
                told[name] = self._told(values, mask)
            elif whole:
                told[name] = values
            else:
                kept = np.full(len(mask), None, dtype=object) if values.dtype == object else np.zeros_like(values)
                kept[mask] = values[mask]
                told[name] = kept
            told[f"_{name}"] = mask.copy()
        return told
