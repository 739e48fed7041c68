"""Steps per second of the models that learn, and the ratio to a plain loop.

    python benchmarks/speed_models.py [--steps 30] [--model gru-attn ...]

The plain loop runs the same model with `recombine.models.plain` in place of the hand-written recurrences (automatic
differentiation, one graph node per operation and step) and with batches by source length, as the original code made them.
Times are CPU times of one thread; other load on the machine still shows in them through shared caches.
"""

from __future__ import annotations

import argparse
import time
from unittest import mock

import numpy as np
import torch

import recombine
from recombine.models import MODELS, find_model
from recombine.models.batching import buckets
from recombine.models.plain import plain_attend, plain_recur
from recombine.models.recurrent import Attended


def attend_plainly(kind, source, pre, steps, states, weights, context_first=None):  # noqa: ARG001
    """`recurrent.attend` by the plain loop."""
    hidden, contexts = plain_attend(kind, source.keys, source.values, source.mask, pre, steps, states, weights)
    return Attended(hidden, contexts, contexts, None)


def milliseconds(model, items, batches) -> float:
    """Mean CPU time of one training step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    spent = []
    for rows in batches:
        batch = model.collate([items[i] for i in rows])
        start = time.process_time()
        loss = model.loss(batch)
        optimizer.zero_grad()
        loss.value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        spent.append(time.process_time() - start)
    return 1000 * float(np.mean(spent[2:]))


def measure(name: str, family: str, steps: int) -> tuple[float, float, int]:
    """Milliseconds per step of ours and of the plain loop, and steps per epoch."""
    examples = list(recombine.load(family, "simple", "fit"))
    cls, config = find_model(name)
    torch.manual_seed(0)
    model = cls.build(config, examples)
    items = [model.encode(example, True) for example in examples]
    size = cls.TRAINING.batch
    ours = buckets([model.length(item) for item in items], size, 100, "speed", 0)
    fast = milliseconds(model, items, ours[: steps + 2])
    if "seq2seq" not in MODELS[name][0]:
        return fast, float("nan"), len(ours)
    theirs = buckets([(len(source),) for source, _ in items], size, 100, "speed", 0)
    with (
        mock.patch("recombine.models.seq2seq.attend", attend_plainly),
        mock.patch("recombine.models.seq2seq.recur", plain_recur),
    ):
        plain = milliseconds(model, items, theirs[: steps + 2])
    return fast, plain, len(ours)


def main() -> None:
    """Print a line per model and direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--model", action="append")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'model':<18}{'data':<6}{'ms/step':>9}{'steps/s':>9}{'s/epoch':>9}{'plain ms':>10}{'ratio':>7}")
    for name in arguments.model or ["gru-attn", "gru-attn-nodep", "gru", "rnn-attn", "lstm-attn", "transformer"]:
        for family in ("scan", "nacs"):
            fast, plain, count = measure(name, family, arguments.steps)
            epoch = fast * count / 1000
            print(
                f"{name:<18}{family:<6}{fast:>9.1f}{1000 / fast:>9.1f}{epoch:>9.1f}{plain:>10.1f}{plain / fast:>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
