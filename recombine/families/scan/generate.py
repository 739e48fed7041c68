"""Job -> batch: a part is an array of places in the corpus, and every column is that array looked up in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from recombine.columns import Coded
from recombine.core import FILES, Batch, ColumnType, Example, Job, Option, option
from recombine.families.scan import native
from recombine.families.scan.corpus import Ints, action_texts, corpus, places
from recombine.families.scan.plan import STYLES, plan_at, style_of
from recombine.families.scan.splits import LEARNT, OPTION, POOL, SPLITS, leak_free, split_of
from recombine.predicates.draw import HOLD_OUT, PREDICATE, predicate_text

if TYPE_CHECKING:
    from recombine.columns import Column
    from recombine.core import Family

OPTIONS: Mapping[str, Option] = {
    "style": Option("file", "spelling of the actions: the released files' I_TURN_LEFT, or the papers' LTURN", tuple(STYLES)),
    FILES: Option("", "folder with the published MCD files (tasks_train_mcd1.txt …, plain or gzip)"),
    PREDICATE: OPTION,
}
FEATURES: Mapping[str, ColumnType] = {
    "template": "string",
    "conjunction": "string",
    "command_length": "int32",
    "action_length": "int32",
    "repeats": "int32",
    "readings": "int32",
    "leak_free": "bool",
}
"""Columns other than the command and the actions.

`template`: the command without its verbs and sides. `repeats`: 3 with a `thrice`, 2 with a `twice`, else 1. `readings`: how
many commands mean these actions. `leak_free`: no row that a model has learnt from (train for test, fit for validation) means
the same; always true in train and fit themselves. In `pool`, of which a choice takes each command once: no other command means the same.
"""


def places_of(job: Job, part: str) -> Ints:
    """The places, in the corpus, of all rows of a part of the job's split."""
    split, folder = split_of(job, OPTIONS), option(job, OPTIONS, FILES)
    if not split.needs_files or not folder:
        return split.rows(part, job.seed)
    _, part = split.aliases.get(part, (job.split, part))
    return native.mcd_rows(job.split, part, str(folder))


def size(job: Job) -> int:
    """How many rows the job's part holds."""
    if job.split == HOLD_OUT:
        return int(split_of(job, OPTIONS).copies(job.seed)[job.part].sum())
    return SPLITS[job.split].parts[job.part].rows(job.recipe)


def generate(job: Job) -> Batch:
    """Rows [job.start, job.stop) of the part."""
    everything = corpus()
    chosen = places_of(job, job.part)[job.start : job.stop].copy()  # the whole is cached, and a batch may be changed
    learnt = LEARNT.get(job.part)
    fresh = leak_free(chosen, places_of(job, learnt)) if learnt else np.ones(len(chosen), np.bool_)
    if job.split == POOL and learnt:
        fresh = everything.readings[chosen] == 1
    columns: dict[str, Column] = {
        "command": Coded(chosen, everything.commands),
        "actions": Coded(chosen, action_texts(option(job, OPTIONS, "style"))),
        "template": Coded(everything.template.codes[chosen], everything.template.values),
        "conjunction": Coded(everything.conjunction.codes[chosen], everything.conjunction.values),
        "command_length": everything.command_length[chosen],
        "action_length": everything.action_length[chosen],
        "repeats": everything.repeats[chosen],
        "readings": everything.readings[chosen],
        "leak_free": fresh,
    }
    if job.family == "nacs":
        columns = {"actions": columns.pop("actions"), **columns}
    return Batch(job, job.start, columns)


def example(family: Family, batch: Batch, row: int) -> Example:
    """The readable view of one row; its plan is the command's tree."""
    values = batch.row(row)
    command, actions = values.pop("command"), values.pop("actions")
    job = batch.job
    meta = {"recipe": job.recipe, "split": job.split, "part": job.part, "seed": job.seed, **values}
    if job.split == HOLD_OUT:
        meta[PREDICATE] = predicate_text(job, OPTIONS)
    return pair(family, batch.id(row), command, actions, meta)


def pair(family: Family, name: str, command: str, actions: str, meta: Mapping[str, object]) -> Example:
    """A command and its actions as an example, in the family's direction."""
    place = places().get(command)
    plan = None if place is None else plan_at(place)
    meta = {**meta, "style": style_of(actions)}
    if family.NAME == "nacs":
        return Example(family, name, {"actions": actions}, command, plan, None, meta)
    return Example(family, name, {"command": command}, actions, plan, None, meta)


def texts(example: Example) -> tuple[str, str]:
    """The example's command and actions, whichever of them is the answer."""
    if "command" in example.inputs:
        return str(example.inputs["command"]), example.answer
    return example.answer, str(example.inputs["actions"])
