"""Where episodes start: the rows of a batch, or examples from a file, as instances that can be acted in.

`start`, `step` and `masks` are the family's `abilities.Acting`: batched, without Gymnasium.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from recombine.columns import Ragged
from recombine.core import Batch, Example
from recombine.errors import UsageError, shown
from recombine.families.lilgym.play.edits import Setting
from recombine.families.lilgym.play.episodes import Instances, Judge, States, begin, step
from recombine.families.lilgym.play.validity import masks
from recombine.families.lilgym.program import compile as compile_program
from recombine.families.lilgym.scene import KINDS, Kind, Scene, pack, pack_rows

__all__ = ["instances_of", "instances_of_batch", "instances_of_examples", "masks", "start", "step"]


def instances_of(kind: Kind, records: Iterable[tuple[str, str, str, Scene, bool]]) -> Instances:
    """Instances from (id, statement, program, initial scene, target) each; a program outside the language is a `ProgramError`."""
    listed = list(records)
    items, counts = pack([scene for _, _, _, scene, _ in listed])
    judge = Judge([compile_program(program) for _, _, program, _, _ in listed])
    targets = np.array([target for *_, target in listed], np.bool_)
    return Instances(kind, [r[0] for r in listed], [r[1] for r in listed], targets, items, counts, judge)


def instances_of_batch(batch: Batch) -> Instances:
    """The editing tasks of a batch, all rows; official rows go by their published keys, others by their ids."""
    columns: dict[str, Any] = dict(batch.columns)
    n = len(batch)
    kinds = {str(columns["scene"][row]) for row in range(n)}
    if len(kinds) != 1 or any(columns["task"][row] != "edit" for row in range(n)):
        raise UsageError(
            f"a batch that is acted in has editing tasks of one kind of scene; this one has {shown(sorted(kinds))}."
        )
    kind = next(known for known in KINDS if known in kinds)
    items, counts = pack_rows(cast(Ragged, columns["items"]))
    is_official = batch.job.recipe == "official"
    ids = [str(columns["key"][row]) if is_official else batch.id(row) for row in range(n)]
    judge = Judge([compile_program(str(columns["program"][row])) for row in range(n)])
    targets = np.asarray(columns["target"], np.bool_)
    return Instances(kind, ids, [str(columns["statement"][row]) for row in range(n)], targets, items, counts, judge)


def instances_of_examples(kind: Kind, examples: Iterable[Example]) -> Instances:
    """The editing tasks among examples, such as `read` gives; those of another kind of scene are an error."""
    records = []
    for example in examples:
        if example.meta["task"] != "edit":
            continue
        if example.meta["scene"] != kind:
            raise UsageError(
                f"{shown(example.id)} is a {example.meta['scene']} scene, but this environment is for {kind} scenes."
            )
        text, scene = str(example.inputs["statement"]), cast(Scene, example.world)
        records.append((example.id, text, str(example.meta["program"]), scene, bool(example.meta["target"])))
    return instances_of(kind, records)


def start(batch: Batch) -> States:
    """The states in which the episodes of these rows begin, under the paper's rules; `acting.begin` has the other settings."""
    instances = instances_of_batch(batch)
    return begin(Setting(instances.kind), instances, np.arange(len(instances)))
