"""A published table, cell by cell: what was run for it, and the value that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recombine.models.experiments import Experiment, Rows, Scale

Spread = Literal["deviation", "population", "error"]
"""The kind of deviation that is printed after ±."""


@dataclass(frozen=True)
class Cell:
    """One place of a table: the runs behind it (one per seed), what to read from a run, and the paper's mean and deviation.

    `part` and `measure` name the number inside a run's `tests` (`by_pattern.simple.score` goes down step by step).
    `source` None: a row quoted from the paper, not run. `config` and `training`: settings of this cell's runs.
    """

    row: str
    column: str
    paper: tuple[float, float | None] | None
    source: Rows | None = None
    model: str = ""
    part: str = "test"
    measure: str = "score"
    config: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    def experiment(self, scale: Scale, seed: int) -> Experiment:
        """The run for one seed."""
        assert self.source is not None
        return Experiment(self.source, self.model, scale, seed, self.config, self.training)


def _no_note(_files: str) -> str:
    return ""


@dataclass(frozen=True)
class Table:
    """A published table: its cells, given the folder of files that some need, and the scales it can be run at.

    `spread`: what the paper prints after ±, over runs: the `deviation` of the sample, that of the whole `population`, or the
    `error` of the mean. `average`: a last row with the mean of each column. `across`: columns are numbers of this, so the table
    is drawn as curves. `note`: a sentence about what was run, given the folder of files; empty if the table has no use for files.
    """

    title: str
    cells: Callable[[str], Sequence[Cell]]
    scales: Mapping[str, Scale]
    spread: Spread = "deviation"
    average: bool = False
    across: str = ""
    note: Callable[[str], str] = _no_note


def value(text: str) -> tuple[float, float | None]:
    """`12.5±6.6` as (12.5, 6.6); a value without deviation has None."""
    mean, _, deviation = text.partition("±")
    return float(mean), float(deviation) if deviation else None
