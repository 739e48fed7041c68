"""Play ReaSCAN episodes through inspect_ai: `python examples/inspect_episode.py MODEL` (or `inspect eval recombine/reascan …`)."""

import sys

from inspect_ai import eval as evaluate

from recombine.integrations.inspect import TASKS

if __name__ == "__main__":
    (log,) = evaluate(TASKS["reascan"](split="a1", size=20, multi_turn=True), model=sys.argv[1])
    print(log.results.scores[0].metrics["accuracy"])
