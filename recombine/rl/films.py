"""The actions of a trained policy in one instance of its test, as frames for `recombine watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recombine.errors import UsageError
from recombine.families.lilgym.play.episodes import captions
from recombine.families.lilgym.render import png
from recombine.models.checkpoints import read_run
from recombine.rl.play import play_all, replay
from recombine.rl.tasks import Task, subset
from recombine.rl.train import Plan, load_agent


def policy_film(folder: Path, index: int) -> tuple[list[tuple[bytes, str]], str, dict[str, Any]]:
    """Frames (picture, caption), the title, and a sentence about the episode: the greedy policy on a row of the run's first test."""
    agent, reader, settings = load_agent(folder)
    task = Task(**read_run(folder)["task"])
    name, instances = next(iter(task.tests().items()))
    if index >= len(instances):
        raise UsageError(f"--index is {index}, but the {name} set of the run has {len(instances):,} instances.")
    chosen = subset(instances, [index])
    setting = Plan("", None, settings, task).setting()
    [episode] = play_all(agent, reader, chosen, setting, settings.masks, compiled=False)
    played = replay(chosen, setting, episode)
    frames = [(png(scene), line) for scene, line in zip(played.scenes, captions(setting, played), strict=True)]
    title = f"make {str(bool(chosen.targets[0])).lower()}: {chosen.sentences[0]}"
    return frames, title, {"id": str(chosen.ids[0]), "solved": played.solved, "reward": sum(played.rewards)}
