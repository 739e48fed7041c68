"""The training rows that belong to other rows: those of the same folder, or made anew where it has none."""

from __future__ import annotations

from recombine.data.datasets import Dataset
from recombine.data.plan import plan_part
from recombine.errors import UsageError, shown
from recombine.jobs import make_job

TRAIN = "train"


def training_rows(rows: Dataset, split: str | None = None) -> Dataset:
    """The training part of these rows' split (or of `split`), its aliases followed, with the rows' recipe, seed and options.

    A folder without it gets the rows that this package makes, as `evaluate` does for its baselines.
    """
    family, job, folder = rows.family, rows.job, rows.folder
    about = family.SPLITS[split or job.split]
    name, part = about.aliases.get(TRAIN, (about.name, TRAIN))
    for number, found in enumerate(folder.plan.parts if folder is not None else ()):
        if folder is not None and (found.job.split, found.job.part) == (name, part):
            return Dataset(family, found, folder, number)
    if part not in family.SPLITS[name].parts:
        raise UsageError(f"{about.name} of {family.NAME} has no training part.")
    if rows.plan.chosen and folder is not None:
        raise UsageError(
            f"{shown(str(folder.path))} has no training part, and one that a search chose cannot be made alone; "
            "generate the folder again with `--size train=N,test=N`."
        )
    return Dataset(family, plan_part(family, make_job(family, name, part, job.recipe, job.seed, dict(job.options)), None))
