"""A run: PPO with validation, checkpoints and tests in a folder, like the supervised models' runs.

`run.json` says what, `last.safetensors` where it stands, `best.safetensors` has the weights that did best on the held-out
statements, `metrics.jsonl` a record per period, `result.json` and `test.json` the end, `report.html` all of it for people. A killed
run goes on from its last period and ends in the same weights as an unbroken one (same machine and thread count).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from recombine.errors import FileError, UnknownName, shown
from recombine.families.lilgym.play.edits import RuleBook
from recombine.families.lilgym.play.episodes import Instances, Setting
from recombine.files import inside, read_json, write_json, write_text
from recombine.models import checkpoints
from recombine.models.base import as_json, changed
from recombine.models.checkpoints import BEST, METRICS, RESULT, State, load_tensors, save_tensors
from recombine.rl.play import Episode, measure, play_all
from recombine.rl.policies import Agent, Reader, find_policy
from recombine.rl.ppo import Learner, Tally
from recombine.rl.report import report_page
from recombine.rl.settings import Settings
from recombine.rl.tasks import Task, held_out
from recombine.schemas import anything, check, mapping, number, record, whole

TEST, REPORT = "test.json", "report.html"
Progress = Callable[[State, int], None]


@dataclass(frozen=True)
class Plan:
    """A training run: a policy by name with its configuration, the settings of PPO, and the task."""

    policy: str
    config: Any
    settings: Settings
    task: Task

    def setting(self) -> Setting:
        """How one acts in tests: never with stop forcing."""
        from recombine.rl import find_env

        return Setting(cast(Any, find_env(self.task.env)[0]), cast(RuleBook, self.settings.rules))


def plan_for(policy: str, changes: dict[str, object], task: Task, seed: int = 0) -> Plan:
    """The plan of a run: the policy's published settings with these changes, each of them of the policy or of PPO."""
    reader = find_policy(policy)
    config = reader.Config()
    of_policy, of_ppo = {f.name for f in fields(config)}, {f.name for f in fields(Settings)} - {"seed"}
    for name in changes:
        if name not in of_policy | of_ppo:
            raise UnknownName(f"setting of ppo with {policy}", name, sorted(of_policy | of_ppo))
    settings = changed(Settings(**reader.SETTINGS, seed=seed), {n: v for n, v in changes.items() if n in of_ppo})
    return Plan(policy, changed(config, {n: v for n, v in changes.items() if n in of_policy}), settings, task)


def train(plan: Plan, out: Path, progress: Progress | None = None, device: str = "cpu") -> dict[str, Any]:
    """Train to the end, or go on where the run in `out` stopped; test; returns what `test.json` holds."""
    run = Run(plan, out, device)
    if not run.state.stopped:
        run.fit(progress or _silent)
    if not (out / TEST).is_file():
        run.test()
    found: dict[str, Any] = read_json(inside(out, TEST), 64 << 20)
    check(
        found,
        record({"steps": whole(), "seconds": number(), "best": number(), "tests": mapping(mapping(anything))}),
        shown(str(out / TEST)),
    )
    return found


def _silent(_state: State, _steps: int) -> None:
    """No progress report."""


class Run:
    """A run in progress, in its folder."""

    def __init__(self, plan: Plan, out: Path, device: str = "cpu") -> None:
        self.plan, self.out, self.reader = plan, out, find_policy(plan.policy)
        checkpoints.claim(out, {
            "model": "ppo", "policy": plan.policy, "config": as_json(plan.config), "settings": as_json(plan.settings),
            "task": as_json(plan.task),
        })  # fmt: skip
        settings = plan.settings
        fit, self.validation = held_out(plan.task.load("train"), settings.held_out)
        self.learner = Learner(settings, self.reader, plan.config, fit, device)
        self.state = checkpoints.resume_last(out, self.learner.agent, self.learner.optimizer)

    def _save(self) -> None:
        checkpoints.save_last(self.out, self.learner.agent, self.learner.optimizer, self.state)

    def fit(self, progress: Progress) -> None:
        """Periods of updates, each closed by a validation, until one of the reasons to stop holds."""
        s, state, learner = self.plan.settings, self.state, self.learner
        while not state.stopped:
            clock, cpu = time.monotonic(), time.process_time()
            learner.begin_period(state.epoch)
            learner.tally = Tally()
            first = state.epoch * s.period
            updates = range(first, min(first + s.period, s.updates))
            for count, update in enumerate(updates, 1):
                parts = learner.learn(learner.collect(update), update)
                state.step, state.steps, state.loss = count, state.steps + s.batch, state.loss + parts["total"]
                state.right, state.decisions = learner.tally.unforced, learner.tally.episodes
                progress(state, len(updates))
            scored = measure(play_all(learner.agent, self.reader, self.validation, self.plan.setting(), s.masks))
            state.seconds += time.monotonic() - clock
            state.cpu_seconds += time.process_time() - cpu
            self._close(scored)
            progress(state, 0)

    def _close(self, scored: dict[str, Any]) -> None:
        """Keep the weights if they are the best so far, write the record, and decide whether to stop."""
        s, state, tally = self.plan.settings, self.state, self.learner.tally
        episodes = max(1, tally.episodes)
        state.history.append({
            "epoch": state.epoch + 1, "steps": state.steps, "loss": state.loss / max(1, state.step),
            "accuracy": tally.unforced / episodes, "solved": tally.solved / episodes, "return": tally.returns / episodes,
            "errors": dict(sorted(tally.errors.items())), "validation": scored["accuracy"], "validation_reward": scored["reward"],
            "rate": self.learner.optimizer.param_groups[0]["lr"], "env_seconds": round(tally.env_seconds, 2),
            "play_seconds": round(tally.play_seconds, 2), "learn_seconds": round(tally.learn_seconds, 2),
            "seconds": round(state.seconds, 2), "cpu_seconds": round(state.cpu_seconds, 2),
        })  # fmt: skip
        state.epoch, state.step, state.loss, state.right, state.decisions = state.epoch + 1, 0, 0.0, 0, 0
        if scored["accuracy"] > state.best:
            state.best, state.best_epoch = scored["accuracy"], state.epoch
            save_tensors(self.out / BEST, self.learner.agent.state_dict())
        if s.patience and state.epoch - state.best_epoch >= s.patience:
            state.stopped = f"no better validation in {s.patience} periods"
        elif state.epoch * s.period >= s.updates:
            state.stopped = f"all {s.updates * s.batch:,} steps are done"
        self._save()
        write_text(self.out / METRICS, "".join(json.dumps(record) + "\n" for record in state.history))

    def test(self) -> None:
        """Test the best weights on dev and test, greedily and without stop forcing; write the results and the report."""
        state = self.state
        tensors, _ = load_tensors(self.out / BEST)
        self.learner.agent.load_state_dict(tensors)
        measured: dict[str, Any] = {}
        played: dict[str, tuple[Instances, list[Episode]]] = {}
        for name, instances in self.plan.task.tests().items():
            played[name] = (
                instances,
                play_all(self.learner.agent, self.reader, instances, self.plan.setting(), self.plan.settings.masks),
            )
            measured[name] = measure(played[name][1])
        result = {
            "best": state.best, "best_period": state.best_epoch, "periods": len(state.history), "steps": state.steps,
            "stopped": state.stopped, "seconds": round(state.seconds, 1), "cpu_seconds": round(state.cpu_seconds, 1),
            "parameters": sum(weights.numel() for weights in self.learner.agent.parameters()),
        }  # fmt: skip
        write_json(self.out / RESULT, result)
        description = {"policy": self.plan.policy, **asdict(self.plan.task), **as_json(self.plan.settings)}
        page = report_page(description, result, state.history, measured, played, self.plan.setting())
        write_text(self.out / REPORT, page)
        write_json(self.out / TEST, {**result, "tests": measured})


def load_agent(folder: str | Path) -> tuple[Agent, type[Reader], Settings]:
    """The best agent of a run, its reader and its settings, ready for `play.play_all`."""
    folder = Path(folder)
    found = checkpoints.read_run(folder)
    try:
        reader = find_policy(str(found["policy"]))
        settings = Settings(**found["settings"])
        task = Task(**found["task"])
        config = reader.Config(**found["config"])
    except (KeyError, TypeError) as problem:
        raise FileError(f"{shown(str(folder))} is not a run of ppo: {problem!r}.") from None
    from recombine.rl import find_env

    agent = Agent(reader, config, cast(Any, find_env(task.env)[0]), settings.head).eval()
    tensors, _ = load_tensors(folder / BEST)
    agent.load_state_dict(tensors)
    return agent, reader, settings
