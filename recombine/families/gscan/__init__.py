"""gSCAN: commands in a small grid world, answered by action sequences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Split
from recombine.families.gscan import (
    generate,
    native,
    oracle,
    oracle_claims,
    render,
    splits,
    survey,
)
from recombine.grid.family import GridFamily
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.columns import Column

__all__ = ["GSCAN", "GscanFamily"]

_PAPER = """@inproceedings{ruis2020benchmark,
  title = {A Benchmark for Systematic Generalization in Grounded Language Understanding},
  author = {Ruis, Laura and Andreas, Jacob and Baroni, Marco and Bouchacourt, Diane and Lake, Brenden M.},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {33},
  year = {2020}
}
"""


@dataclass(frozen=True)
class GscanFamily(Rooms, PromptRoom, FacetRoom, PairRoom, GridFamily):
    """Commands such as "push a small red square while spinning", in worlds where every word can matter."""

    HOME: ClassVar[str] = __name__
    NAME: ClassVar[str] = "gscan"
    TITLE: ClassVar[str] = "gSCAN: commands in a grid world to actions"
    CITATION: ClassVar[str] = _PAPER
    RECIPES: ClassVar[Mapping[str, Recipe]] = splits.RECIPES
    SPLITS: ClassVar[Mapping[str, Split]] = splits.SPLITS
    CLAIMS: ClassVar[Mapping[str, Claim]] = oracle_claims.CLAIMS
    FREE_COLUMNS: ClassVar[Mapping[str, str]] = oracle.FREE_COLUMNS
    OPTIONS: ClassVar[Mapping[str, Option]] = splits.OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = generate.SCHEMA
    CLUSTER: ClassVar[str] = "command"
    DIALS: ClassVar[tuple[str, ...]] = ("action_count", "distance", "object_count")
    MEDIA: ClassVar[tuple[Medium, ...]] = render.MEDIA
    NATIVE_NAME: ClassVar[str] = native.NATIVE_NAME

    def vet(self, job: Job) -> None:
        """Refuse options that do not fit together."""
        generate.vet(job)

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        return generate.generate(job)

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """Single rows of a release part in one call."""
        return generate.pick(job, rows)

    def size(self, job: Job) -> int:
        """How many rows the part holds."""
        return generate.size(job)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row: the plan is the command, the world has the target as its first object."""
        return generate.example(self, batch, row)

    def canonical(self, example: Example) -> bytes:
        """Command, agent and the objects by place: roles and the order of objects do not matter."""
        return generate.canonical(example)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits for each row's canonical form."""
        return generate.canonical_batch(batch)

    def clusters(self, batch: Batch) -> Column:
        """The command of every row in plain words: its wording does not make two rows independent."""
        return generate.clusters(batch)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """Each broken law with the row that breaks it."""
        from recombine.families.gscan.oracle_batch import validate_batch

        return validate_batch(lambda row: self.example(batch, row), batch)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file: which words are needed, what a blind guess earns, how worlds are spread."""
        return survey.survey(examples)


GSCAN: GscanFamily = GscanFamily()
"""The one instance."""
