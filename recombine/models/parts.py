"""Which rows to learn from and which to stop by, for a family's name or for a folder; and answers as scores and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.core import Batch, Example
from recombine.data.datasets import Dataset, load
from recombine.data.folders import open_folder
from recombine.data.training import TRAIN, training_rows
from recombine.errors import UsageError, shown
from recombine.jobs import default_part


@dataclass(frozen=True)
class Request:
    """A family or folder, a split, the data's seed, recipe and options; `size`: rows to learn from, None for all of them."""

    source: str
    split: str | None = None
    seed: int = 0
    recipe: str | None = None
    options: Mapping[str, object] | None = None
    size: int | None = None

    def load(self, part: str | None, size: int | None = None) -> Dataset:
        """One part."""
        return load(self.source, self.split, part, seed=self.seed, recipe=self.recipe, size=size, **(self.options or {}))

    def test_part(self) -> str:
        """The part to test on if none is named: `test`, or the first of several such as `test_k2`."""
        if not Path(self.source).is_dir():
            return self.load(None).job.part
        names = [part.job.part for part in open_folder(self.source).plan.parts if self.split in (None, part.job.split)]
        return default_part([name for name in names if name.startswith("test")] or ["test"])


@dataclass(frozen=True)
class Columns:
    """Rows to fit as columns, for models that read those (`base.ColumnModel`)."""

    batches: tuple[Batch, ...]

    def __len__(self) -> int:
        return sum(len(batch) for batch in self.batches)


@dataclass(frozen=True)
class Learning:
    """Rows to fit, rows to validate on, and a note of both for `run.json`."""

    fit: list[Example] | Columns
    validation: list[Example]
    note: dict[str, Any]


def learning_parts(
    request: Request, fit: str | None = None, validation: str | None = None, as_columns: bool = False
) -> Learning:
    """`fit` and `validation` where the split has them, else `train` and `validation`; `as_columns`: rows to fit as columns.

    Without a validation part, a tenth of the fitted rows, drawn by name, is held out (then as examples); the note says so.
    """
    first = fit_rows(request, fit)
    rows: list[Example] | Columns
    try:
        held = list(request.load(validation or "validation"))
        named = validation or "validation"
        rows = Columns(tuple(first.batches())) if as_columns else list(first)
    except UsageError:
        if validation:
            raise
        from recombine.models.batching import permutation

        every = list(first)
        order = permutation(len(every), "validation", first.job.key)
        cut = max(1, len(every) // 10)
        held, rows = [every[i] for i in order[:cut]], [every[i] for i in sorted(order[cut:])]
        named = "a tenth of the fitted part, held out"
    note = {"part": first.job.key, "rows": len(rows), "validation": named, "validation_rows": len(held)}
    return Learning(rows, held, note)


def fit_rows(request: Request, part: str | None, *, made_anew: bool = False, whole: bool = False) -> Dataset:
    """The rows to learn from: the named part, else `fit` where the split has it, else `train`; as many as the request says.

    A folder that lacks the training part is an error, or with `made_anew` gets the rows that this package makes. With `whole`, no
    row of the training part is left for validation: `fit` is not asked for.
    """
    if request.size is not None and Path(request.source).is_dir():
        raise UsageError(
            f"--size {request.size:,} is for a family's rows; {shown(request.source)} is a folder, which is learnt from whole. "
            f"`recombine generate --size train={request.size}` makes a smaller one."
        )
    if part is None:
        part = TRAIN if whole else "fit"
        try:
            request.load(part)
        except UsageError:
            part = TRAIN
            if Path(request.source).is_dir() and (tested := _without_training(request)) is not None:
                if made_anew:
                    return training_rows(tested, request.split)
                raise UsageError(
                    f"{shown(request.source)} has no training part; add `--part train` to the command that generates it."
                ) from None
    return request.load(part, request.size)


def _without_training(request: Request) -> Dataset | None:
    """Rows of the folder's split, if none of its parts is the training part; None otherwise."""
    from recombine.data.folders import open_folder

    folder = open_folder(request.source)
    family = folder.family
    here = [(part.job.split, part.job.part) for part in folder.plan.parts]
    for number, (split, _) in enumerate(here):
        if request.split in (None, split):
            wanted = family.SPLITS[split].aliases.get(TRAIN, (split, TRAIN))
            return None if wanted in here else Dataset(family, folder.plan.parts[number], folder, number)
    return None


def scores(examples: Sequence[Example], answers: Sequence[str]) -> list[float]:
    """Each answer's score; an answer equal to the example's own is right without being parsed."""
    return [
        1.0 if answer == example.answer else example.score(answer).value
        for example, answer in zip(examples, answers, strict=True)
    ]


def prediction_lines(examples: Sequence[Example], answers: Sequence[str], **more: str) -> Iterator[str]:
    """`answers.jsonl`: one {"id", "answer"} per line, as `recombine evaluate` reads them; `more` stands in every line."""
    for example, answer in zip(examples, answers, strict=True):
        yield json.dumps({"id": example.id, "answer": answer, **more}, ensure_ascii=False) + "\n"
