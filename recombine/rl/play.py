"""Greedy episodes on every instance, always without stop forcing; mean reward, accuracy, and what went wrong by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from recombine.families.lilgym import render
from recombine.families.lilgym.play import episodes, validity
from recombine.families.lilgym.play.episodes import ERRORS, Instances, Play, Setting
from recombine.rl.policies import Agent, Reader, Seen

CHUNK = 256
INVALID = ("does_not_fit", "on_separator", "nothing_to_remove")


@dataclass(frozen=True)
class Episode:
    """One tested episode: which instance, the actions, the rewards, and the named error ("" if solved)."""

    row: int
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    error: str


@torch.no_grad()
def play_all(
    agent: Agent, reader: type[Reader], instances: Instances, setting: Setting, masked: bool = False, compiled: bool = True
) -> list[Episode]:
    """The agent's greedy episode on every instance, in order. The setting's stop forcing is ignored."""
    setting = Setting(setting.kind, setting.rules, setting.grid, setting.horizon, stop_forcing=False)
    device = next(agent.parameters()).device
    table = reader.table(agent.config, instances.sentences, instances.targets).to(device)
    targets = torch.from_numpy(instances.targets.astype(np.int64)).to(device)
    found: list[Episode] = []
    for start in range(0, len(instances), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(instances)))
        states = episodes.begin(setting, instances, rows, True, compiled)
        steps: list[tuple[Any, Any, Any, Any]] = []
        index = torch.from_numpy(rows).to(device)
        while states.active.any():
            seen = Seen(table[index], targets[index], torch.from_numpy(episodes.view(states, reader.SIGHT)).to(device))
            mask = torch.from_numpy(validity.masks(states)).to(device) if masked else None
            actions = agent.greedy(seen, mask).cpu().numpy()
            active = states.active.copy()
            outcome = episodes.advance(states, actions)
            steps.append((active, actions, outcome.rewards, outcome.errors))
        for place, row in enumerate(rows.tolist()):
            mine = [(int(a[place]), float(r[place]), int(e[place])) for was, a, r, e in steps if was[place]]
            found.append(Episode(row, tuple(m[0] for m in mine), tuple(m[1] for m in mine), ERRORS[mine[-1][2]]))
    return found


def measure(played: Sequence[Episode]) -> dict[str, Any]:
    """Mean reward and accuracy; of the mistakes, the shares of invalid actions (and of these by kind), early stops, the horizon."""
    errors = Counter(episode.error for episode in played if episode.error)
    wrong = sum(errors.values())
    invalid = sum(errors[name] for name in INVALID)
    count = max(1, len(played))
    return {
        "episodes": len(played),
        "accuracy": 1 - wrong / count,
        "reward": sum(sum(episode.rewards) for episode in played) / count,
        "length": sum(len(episode.actions) for episode in played) / count,
        "errors": {name: errors[name] for name in ERRORS[1:]},
        "mistakes": {
            "invalid": invalid / max(1, wrong),
            "stopped_early": errors["stopped_early"] / max(1, wrong),
            "never_stopped": errors["never_stopped"] / max(1, wrong),
        },
        "invalid": {name: errors[name] / max(1, invalid) for name in INVALID},
    }


def replay(instances: Instances, setting: Setting, episode: Episode) -> Play:
    """A tested episode with its scenes, by the simulator that plays one scene at a time."""
    states = episodes.begin(setting, instances, np.array([episode.row]), False)

    def holds(scene: Any) -> bool:
        from recombine.families.lilgym.scene import pack

        items, counts = pack([scene])
        return bool(instances.judge(np.array([episode.row]), items, counts, False)[0] == 1)

    return episodes.play(setting, states.scenes()[0], bool(instances.targets[episode.row]), holds, episode.actions)


def filmstrip(instances: Instances, setting: Setting, episode: Episode) -> bytes:
    """A tested episode as a PNG: a frame per scene with the edit that led there."""
    played = replay(instances, setting, episode)
    title = f"{instances.sentences[episode.row]}  [target: {bool(instances.targets[episode.row])}]"
    return render.filmstrip(played.scenes, episodes.captions(setting, played), title)
