"""The originally released folders: `data_<8 hex digits>/` with a CSV per part, named by its tasks, and `config.json` beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recombine import keys
from recombine.core import Job
from recombine.families.clutrr.options import NOISE_NAMES, Dials, dials
from recombine.families.clutrr.splits import TEST_PER_K, TRAIN_PER_K, contents

TASK_DIGITS = {"clean": 1, "supporting": 2, "irrelevant": 3, "disconnected": 4, "supporting+irrelevant+disconnected": 5}
"""Noise -> first digit of a task; other mixtures are written as 5 too, and 6 and 7 are the memory tasks."""


def tasks(job: Job) -> tuple[str, ...]:
    """The tasks of a part, such as `1.2` and `1.3`: noise (or memory), then k."""
    d = dials(job)
    memory = float(d.values["memory"])
    digit = TASK_DIGITS.get(NOISE_NAMES[d.noise], 5) if memory == 0 else (6 if memory == 1 else 7)
    ks = d.ks
    if job.recipe == "release" and d.role == "test" and not _is_own(job, d):
        ks = tuple(k for k in ks if k != 2)  # noise that was not trained with is tested from k = 3 on
    return tuple(f"{digit}.{k}" for k in ks)


def _is_own(job: Job, d: Dials) -> bool:
    return bool(d.values["k"] or d.values["noise"]) or NOISE_NAMES[d.noise] == contents(job.split, "train").noise


def native_path(job: Job) -> str:
    """`data_1a2b3c4d/1.2,1.3_train.csv`; the digits stand for recipe, split, seed and options."""
    d = dials(job)
    key = keys.digest("clutrr folder", job.version, job.recipe, job.split, job.seed, json.dumps(job.options))
    end = job.part if d.role == "test" and (d.values["k"] or d.values["noise"]) else d.role
    return f"data_{key.hex()[:8]}/{','.join(tasks(job))}_{end}.csv"


def native_extras(jobs: Sequence[Job]) -> Mapping[str, str]:
    """`config.json` of every folder: the training file by its tasks, and the settings of each file, as released."""
    folders: dict[str, list[Job]] = {}
    for job in jobs:
        folders.setdefault(native_path(job).rpartition("/")[0], []).append(job)
    return {f"{folder}/config.json": json.dumps(_config(own), indent=1) + "\n" for folder, own in folders.items()}


def _config(jobs: Sequence[Job]) -> dict[str, Any]:
    named = [(native_path(job).rpartition("/")[2], job) for job in jobs]
    trained = {",".join(tasks(job)): name for name, job in named if dials(job).role == "train"}
    tested = ",".join(task for _, job in named if dials(job).role == "test" for task in tasks(job))
    return {
        "train_task": trained,
        "test_tasks": {},  # empty in the released files too: the settings of a file name its tests
        "args": {name: _settings(job, ",".join(trained), tested) for name, job in named},
    }


def _settings(job: Job, trained: str, tested: str) -> dict[str, Any]:
    """The settings that the released generator has and ours has too, under its names; `job` is what made the file here."""
    d = dials(job)
    return {
        "max_levels": d.levels, "min_child": d.min_children, "max_child": d.max_children, "p_marry": d.marriage,
        "train_tasks": trained, "test_tasks": tested, "train_rows": TRAIN_PER_K, "test_rows": TEST_PER_K,
        "memory": d.values["memory"], "data_type": d.role, "question": 0, "equal": d.values["equal"],
        "holdout": d.values["hold_out"] if job.recipe == "sound" else round(TEST_PER_K / (TRAIN_PER_K + TEST_PER_K), 4),
        "data_name": f"{job.split} {job.recipe}", "use_mturk_template": bool(d.values["templates"]),
        "template_file": d.values["templates"], "combination_length": 1 if d.values["language"] == "simple" else 3,
        "unique_test_pattern": job.split.startswith("robust"),
        "noise_support": bool(d.noise & 1), "noise_irrelevant": bool(d.noise & 2), "noise_disconnected": bool(d.noise & 4),
        "noise_attributes": False, "num_rows": TRAIN_PER_K if d.role == "train" else TEST_PER_K, "relation_length": max(d.ks),
        "job": job.key,
    }  # fmt: skip
