"""Which rows to learn from and which to stop by, for a family's name or for a folder; and answers as scores and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.core import Batch, Example
from recombine.data.datasets import Dataset, load
from recombine.errors import UsageError, shown


@dataclass(frozen=True)
class Request:
    """A family or folder, a split, the data's seed, recipe and options; `size`: rows to learn from, None for all of them."""

    source: str
    split: str | None = None
    seed: int = 0
    recipe: str | None = None
    options: Mapping[str, object] | None = None
    size: int | None = None

    def load(self, part: str, size: int | None = None) -> Dataset:
        """One part."""
        return load(self.source, self.split, part, seed=self.seed, recipe=self.recipe, size=size, **(self.options or {}))


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


def fit_rows(request: Request, part: str | None) -> Dataset:
    """The rows to learn from: the named part, else `fit` where the split has it, else `train`; as many as the request says."""
    if request.size is not None and Path(request.source).is_dir():
        raise UsageError(
            f"--size {request.size:,} is for a family's rows; {shown(request.source)} is a folder, which is learnt from whole. "
            f"`recombine generate --size train={request.size}` makes a smaller one."
        )
    if part is None:
        try:
            request.load("fit")
            part = "fit"
        except UsageError:
            part = "train"
    return request.load(part, request.size)


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
