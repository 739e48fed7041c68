"""The probe: what shallow readers of the path score, part by part and k by k, beside chance and the least they can be left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded
from recombine.core import Batch, Job
from recombine.families.clutrr.balance import lowest
from recombine.families.clutrr.kinship import CODES, RELATIONS
from recombine.families.clutrr.options import NOISE_NAMES, dials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_N = len(RELATIONS)
DRAWN_ROWS = 22_000
VIEWS = ("majority", "last fact", "first and last fact")
"""The readers, by what they see of a path."""


def ends(batch: Batch) -> Array:
    """(k, first word, last word, target) of each row that asks for more than a stated fact."""
    columns: Mapping[str, Any] = batch.columns
    words, places = np.asarray(columns["facts"].values).reshape(-1, 3)[:, 0], np.asarray(columns["places"].values)
    k = np.asarray(columns["k"]).astype(np.int64)
    row = np.repeat(np.arange(len(batch)), np.diff(columns["places"].offsets))
    found = np.zeros((len(batch), 4), np.int64)
    found[:, 0] = k
    for column, is_there in ((1, places == 0), (2, places == k[row] - 1)):
        found[row[is_there], column] = words[is_there]
    target = columns["target"]
    if isinstance(target, Coded):
        found[:, 3] = np.array([CODES[value] for value in target.values])[np.asarray(target.codes)]
    else:
        found[:, 3] = [CODES[target[i]] for i in range(len(batch))]
    asks_more: Array = ~np.asarray(columns["memory"]).astype(np.bool_)
    chosen: Array = found[asks_more]
    return chosen


def _seen(rows: Array) -> list[Array]:
    return [np.zeros(len(rows), np.int64), rows[:, 2], rows[:, 1] * _N + rows[:, 2]]


def accuracy(learnt: Array, asked: Array) -> list[float]:
    """The share that each reader of `VIEWS` gets right on the rows `asked`, having learnt the rows `learnt` by heart."""
    found = []
    for before, now in zip(_seen(learnt), _seen(asked), strict=True):
        counts = np.zeros((_N * _N, _N), np.int64)
        np.add.at(counts, (before, learnt[:, 3]), 1)
        known = counts.sum(1)[now] > 0
        found.append(float((known & (counts.argmax(1)[now] == asked[:, 3])).mean()))
    return found


def _drawn(job: Job, k: int) -> Array:
    """Training stories of k facts, where the folder has none: what somebody could learn who had them."""
    from recombine.families.clutrr.generate import generate

    options = dict(job.options) | {"k": str(k), "noise": NOISE_NAMES[dials(job).noise]}
    train = replace(job, part="train", options=tuple(sorted(options.items())))
    return ends(generate(train.rows(0, DRAWN_ROWS)))


def probe_parts(parts: Mapping[str, Iterable[Batch]]) -> list[dict[str, str]]:
    """One line for each part and k: what readers score who learnt by heart on the folder's training rows of the same k.

    Where it has none of that k, training stories are drawn for them; a training part, and a `release` part without one, is learnt
    on its even rows and asked about the odd ones. `chance` is one over the words of the right gender, which the last word gives
    away. `floor` is the least that the reader of the first and the last word can be left by any drawing of `sound` stories; at k = 2
    these words are the whole story.
    """
    rows: dict[str, Array] = {}
    jobs: dict[str, Job] = {}
    for name, batches in parts.items():
        pieces = [np.zeros((0, 4), np.int64)]
        for batch in batches:
            pieces.append(ends(batch))
            jobs[name] = batch.job
        rows[name] = np.concatenate(pieces)
    lines = []
    for name, every in rows.items():
        for k in np.unique(every[:, 0]).tolist():
            asked = every[every[:, 0] == k]
            train = rows.get(f"{name.split('/')[0]}/train", every[:0])
            learnt, how = train[train[:, 0] == k], "train"
            if name.endswith("/train") or (not len(learnt) and jobs[name].recipe != "sound"):
                learnt, asked, how = asked[::2], asked[1::2], "own"
            elif not len(learnt):
                learnt, how = _drawn(jobs[name], k), "drawn"
            if len(asked):
                lines.append(_line(name, k, asked, learnt, how))
    return lines


def _line(name: str, k: int, asked: Array, learnt: Array, how: str) -> dict[str, str]:
    shares = {view: f"{share:.3f}" for view, share in zip(VIEWS, accuracy(learnt, asked), strict=True)}
    start = {"part": name, "k": str(k), "asked": f"{len(asked):,}", "learnt on": f"{len(learnt):,} {how}"}
    return start | shares | {"chance": f"{2 / _N:.3f}", "floor": f"{lowest(k):.3f}"}
