"""Does stop forcing speed up learning? Steps until the greedy, unforced policy solves one TOWER statement, on six toys.

    python benchmarks/stop_forcing.py [--seeds 3] [--out docs/results/lilgym-stop-forcing-toys.json]

A toy is a statement, an action head and an entropy bonus. `–`: not solved within 30,720 steps.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from recombine.families.lilgym.play.episodes import Setting
from recombine.families.lilgym.play.tasks import instances_of
from recombine.families.lilgym.scene import EMPTY_TOWER
from recombine.rl.play import measure, play_all
from recombine.rl.policies import find_policy
from recombine.rl.ppo import Learner
from recombine.rl.settings import FORCINGS, HEADS, Settings


def count(color: str, number: int) -> str:
    """The program that there are exactly so many blocks of a colour."""
    return f"count(filter_obj(all_items, lambda x: is_{color}(x))) == {number}"


STATEMENTS = {
    "there are exactly two blue blocks": count("blue", 2),
    "there are exactly two blue blocks and one yellow block": f"{count('blue', 2)} and {count('yellow', 1)}",
    "there are exactly two blue blocks, one black block and one yellow block":
        f"{count('blue', 2)} and {count('black', 1)} and {count('yellow', 1)}",
}  # fmt: skip
ENTROPY = 0.03
BATCH, UPDATES = 512, 60


def steps_until_solved(statement: str, head: str, forcing: str, seed: int) -> int | None:
    """Steps of one run until its greedy policy, left to itself, solves the statement; None if it never does."""
    settings = Settings(
        steps=UPDATES * BATCH, places=32, rollout=16, epochs=4, minibatches=4, rate=1e-3, entropy=ENTROPY, head=head,
        forcing=forcing, seed=seed,
    )  # fmt: skip
    reader = find_policy("set")
    toy = instances_of("tower", [("toy", statement, STATEMENTS[statement], EMPTY_TOWER, True)])
    learner = Learner(settings, reader, reader.Config(units=32), toy)
    learner.begin_period(0)
    for update in range(settings.updates):
        learner.learn(learner.collect(update), update)
        if measure(play_all(learner.agent, reader, toy, Setting("tower")))["accuracy"] == 1.0:
            return (update + 1) * BATCH
    return None


def main() -> None:
    """Print a line per toy and kind of forcing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="also write the numbers as JSON")
    given = parser.parse_args()
    began, found = time.process_time(), []
    for statement in STATEMENTS:
        for head in HEADS:
            print(f"{statement}; {head} head")
            for forcing in FORCINGS:
                steps = [steps_until_solved(statement, head, forcing, seed) for seed in range(given.seeds)]
                print(f"  {forcing:8}", "  ".join("     –" if s is None else f"{s:6,}" for s in steps), flush=True)
                found.append({"statement": statement, "head": head, "forcing": forcing, "steps_until_solved": steps})
    print(f"{time.process_time() - began:.0f} CPU-s")
    if given.out:
        document = {
            "what": "steps until the greedy, unforced policy solves the statement, by seed; null: not within the budget",
            "command": f"python benchmarks/stop_forcing.py --seeds {given.seeds} --out FILE",
            "policy": "set, 32 units", "entropy": ENTROPY, "budget": UPDATES * BATCH, "toys": found,
        }  # fmt: skip
        given.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
