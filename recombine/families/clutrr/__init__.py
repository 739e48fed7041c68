"""CLUTRR: kinship stories with proofs. What is Ann to Bob, if Bob's sister is Cleo and Cleo's mother is Ann?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Split
from recombine.families.clutrr import generate, native, options, oracle, plan, render, survey
from recombine.families.clutrr.kinship import CONVENTION
from recombine.families.clutrr.options import OPTIONS
from recombine.families.clutrr.splits import SPLITS
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CLUTRR", "ClutrrFamily"]


@dataclass(frozen=True)
class ClutrrFamily(Rooms, PromptRoom, FacetRoom, PairRoom):
    """Kinship stories: k facts lead from one person to another, and one word says what the second is to the first."""

    HOME: ClassVar[str] = __name__
    NAME: ClassVar[str] = "clutrr"
    TITLE: ClassVar[str] = "CLUTRR: kinship stories with proofs"
    CITATION: ClassVar[str] = """@inproceedings{sinha2019clutrr,
  title = {{CLUTRR}: A Diagnostic Benchmark for Inductive Reasoning from Text},
  author = {Sinha, Koustuv and Sodhani, Shagun and Dong, Jin and Pineau, Joelle and Hamilton, William L.},
  booktitle = {Proceedings of the 2019 Conference on Empirical Methods in Natural Language Processing},
  year = {2019}
}
"""
    RECIPES: ClassVar[Mapping[str, Recipe]] = {
        "sound": Recipe(
            "sound",
            "True families, complete rules: one answer follows from every story, needs all k facts, and is true.",
            version=2,
        ),
        "release": Recipe(
            "release", "The released generator: 42 people, 16 rules, the first derived relation wins, true or not."
        ),
    }
    SPLITS: ClassVar[Mapping[str, Split]] = SPLITS
    CLAIMS: ClassVar[Mapping[str, Claim]] = oracle.CLAIMS
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = generate.SCHEMA
    FREE_COLUMNS: ClassVar[Mapping[str, str]] = oracle.FREE_COLUMNS
    NOTES: ClassVar[tuple[str, ...]] = (CONVENTION,)
    CLUSTER: ClassVar[str] = "clause"
    DIALS: ClassVar[tuple[str, ...]] = ("k", "fact_count")
    MEDIA: ClassVar[tuple[Medium, ...]] = render.MEDIA
    NATIVE_NAME: ClassVar[str] = native.NATIVE_NAME

    def vet(self, job: Job) -> None:
        """Refuse options that no story fits, and a length or noise that contradicts the part's name."""
        options.vet(job)

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        return generate.generate(job)

    def size(self, job: Job) -> int:
        """How many rows the job's part holds."""
        return generate.size(job)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        return plan.example(batch, row)

    def canonical(self, example: Example) -> bytes:
        """The story without its names."""
        return plan.canonical(example)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits of every row's canonical form."""
        return plan.canonical_batch(batch)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for a whole batch."""
        return oracle.validate_batch(batch)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of a released CSV, in the original's shape or the Hugging Face card's."""
        return native.read(path)

    def native_path(self, job: Job) -> str:
        """Where the job's part lies in the released layout."""
        return native.native_path(job)

    def native_files(self, job: Job, rows: int) -> Sequence[tuple[int, str]]:
        """The files that hold the part in the released layout."""
        return native.native_files(job, rows)

    def native_extras(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """`config.json` of every folder of the released layout."""
        return native.native_extras(jobs)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file: how much of it is false, ambiguous or shorter than it says."""
        return survey.survey(examples)

    def probe_parts(self, parts: Mapping[str, Iterable[Batch]]) -> Sequence[Mapping[str, str]]:
        """What shallow readers score, part by part and k by k."""
        return survey.probe_parts(parts)


CLUTRR: ClutrrFamily = ClutrrFamily()
"""The family."""
