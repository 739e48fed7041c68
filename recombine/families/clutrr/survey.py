"""Figures about whole files and folders: how sound the rows are, and what readers who see only the ends of a path score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.columns import Coded
from recombine.core import Batch, Example, Job
from recombine.families.clutrr.generate import generate
from recombine.families.clutrr.kinship import CODES, RELATIONS
from recombine.families.clutrr.options import NOISE_NAMES, dials
from recombine.families.clutrr.oracle import validate
from recombine.families.clutrr.sound.balance import lowest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_N = len(RELATIONS)
_ARTIFACTS = ("ambiguous", "shorter_path", "returning_path", "missing_noise_types")
DRAWN_ROWS = 22_000
"""Training stories drawn for the readers where a folder has none of that k."""
VIEWS = ("majority", "last fact", "first and last fact")
"""The shallow readers, by what they see of a path."""


def survey(examples: Sequence[Example]) -> Mapping[str, Any]:
    """Soundness of the rows, their lengths and labels, and the share that shallow readers of this very file get right."""
    codes = [{problem.code for problem in validate(example)} for example in examples]
    soundness: dict[str, Any] = {
        "rows": len(examples),
        "wrong label": sum("wrong_label" in found for found in codes),
        "rows with a known family": sum(example.world is not None for example in examples),
        "false (states or asks what is not true)": sum(bool(found & {"false_fact", "false_target"}) for found in codes),
        "false fact": sum("false_fact" in found for found in codes),
        "false target": sum("false_target" in found for found in codes),
    }
    soundness |= {code.replace("_", " "): sum(code in found for found in codes) for code in _ARTIFACTS}
    return {
        "soundness": soundness,
        "k": dict(sorted(Counter(int(example.meta["k"]) for example in examples).items())),
        "noise": dict(sorted(Counter(str(example.meta["noise"]) for example in examples).items())),
        "clauses": len({str(example.meta["clause"]) for example in examples}),
        "labels": len({example.answer for example in examples}),
        "shallow readers": probe(examples, examples),
    }


# --- shallow readers -------------------------------------------------------------------------------------------------


def probe(train: Sequence[Example], test: Sequence[Example]) -> dict[str, float]:
    """The accuracy on `test` of shallow readers that learn `train` by heart.

    `chance` is one over the labels in `train`; `chance given gender` is one over the labels of one gender.
    """
    found = dict(zip(VIEWS, accuracy(_ends_of(train), _ends_of(test)), strict=True))
    labels = {example.answer for example in train}
    women = sum(RELATIONS.index(label) % 2 for label in labels)
    found["chance"] = 1 / max(1, len(labels))
    found["chance given gender"] = 2 / max(1, len(labels)) if 0 < women < len(labels) else found["chance"]
    return found


def _ends_of(examples: Sequence[Example]) -> Array:
    """(k, first word, last word, target) of each example that has a path and a known answer."""
    rows = [
        (example.meta["k"], example.plan.path[0].relation, example.plan.path[-1].relation, CODES[example.answer])
        for example in examples
        if example.plan.path and example.answer in CODES
    ]
    return np.array(rows, np.int64).reshape(-1, 4)


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
    """What each reader of `VIEWS` sees of the rows, as one number."""
    return [np.zeros(len(rows), np.int64), rows[:, 2], rows[:, 1] * _N + rows[:, 2]]


def accuracy(learnt: Array, asked: Array) -> list[float]:
    """The share of the rows `asked` that each reader of `VIEWS` gets right after learning the rows `learnt` by heart."""
    found = []
    for before, now in zip(_seen(learnt), _seen(asked), strict=True):
        counts = np.zeros((_N * _N, _N), np.int64)
        np.add.at(counts, (before, learnt[:, 3]), 1)
        is_right = (counts.sum(1)[now] > 0) & (counts.argmax(1)[now] == asked[:, 3])
        found.append(float(is_right.mean()) if len(asked) else 0.0)
    return found


def _drawn(job: Job, k: int) -> Array:
    """Training stories of k facts, for a folder that has none."""
    options = dict(job.options) | {"k": str(k), "noise": NOISE_NAMES[dials(job).noise]}
    train = replace(job, part="train", options=tuple(sorted(options.items())))
    return ends(generate(train.rows(0, DRAWN_ROWS)))


def probe_parts(parts: Mapping[str, Iterable[Batch]]) -> list[dict[str, str]]:
    """One line for each part and k: the accuracy of readers who learnt the folder's training rows of the same k by heart.

    Where the folder has no training rows of that k, they are drawn. A training part is learnt on its even rows and asked about its
    odd rows; so is a `release` part without training rows. `chance` is one over the words of the right gender, because the last
    word of a path shows the gender. `floor` is the least accuracy that any weights for `sound` stories leave to the reader of the
    first and last word. At k = 2 these two words are the whole story.
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
