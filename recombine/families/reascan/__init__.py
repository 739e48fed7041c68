"""ReaSCAN: commands with relative clauses in a grid world, answered by action sequences.

The stages are imported when they are first used, so that making an example does not load the oracle or the readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Split
from recombine.families.reascan.rows import SCHEMA
from recombine.families.reascan.splits import OPTIONS, RECIPES, SPLITS
from recombine.grid.family import GridFamily
from recombine.grid.wording import is_natural, plain_job, reworded
from recombine.predicates.draw import HOLD_OUT
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["REASCAN", "ReascanFamily"]


@dataclass(frozen=True)
class ReascanFamily(Rooms, PromptRoom, FacetRoom, PairRoom, GridFamily):
    """The family `reascan`; its only value is `REASCAN`."""

    HOME: ClassVar[str] = __name__
    NAME: ClassVar[str] = "reascan"
    TITLE: ClassVar[str] = "ReaSCAN: commands with relative clauses in a grid world to actions"
    CITATION: ClassVar[str] = """@inproceedings{wu2021reascan,
  title = {{ReaSCAN}: Compositional Reasoning in Language Grounding},
  author = {Wu, Zhengxuan and Kreiss, Elisa and Ong, Desmond C. and Potts, Christopher},
  booktitle = {Proceedings of the Neural Information Processing Systems Track on Datasets and Benchmarks},
  year = {2021}
}
"""
    RECIPES: ClassVar[Mapping[str, Recipe]] = RECIPES
    SPLITS: ClassVar[Mapping[str, Split]] = SPLITS
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = SCHEMA
    CLUSTER: ClassVar[str] = "form"
    DIALS: ClassVar[tuple[str, ...]] = ("clauses", "object_count", "action_count", "distance")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg", "png", "graph")
    NATIVE_NAME: ClassVar[str] = "data-{split}-{part}.txt"

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.reascan.oracle_claims import CLAIMS

        return CLAIMS

    def vet(self, job: Job) -> None:
        """Refuse options that do not fit together, or not with the recipe."""
        if job.recipe == "release":
            from recombine.families.reascan.release.generate import vet
        else:
            from recombine.families.reascan.sound.generate import vet
        vet(job)

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part, by the job's recipe."""
        if is_natural(job):
            from recombine.families.reascan.plan import spoken

            return reworded(job, self.generate(plain_job(job)), spoken)
        if job.recipe == "release":
            from recombine.families.reascan.release.generate import release

            return release(job)
        if job.split == HOLD_OUT:
            from recombine.families.reascan.sound.held_out import held_out

            return held_out(job)
        from recombine.families.reascan.sound.generate import sound

        return sound(job)

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """Single rows of a release part in one call."""
        if job.recipe != "release":
            return None
        from recombine.families.reascan.plan import spoken
        from recombine.families.reascan.release.generate import pick

        made = pick(plain_job(job), rows)
        return reworded(job, made, spoken) if made is not None and is_natural(job) else made

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        from recombine.grid import pairs

        return pairs.PAIRS

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        from recombine.families.reascan.rows import example

        return example(self, batch, row)

    def canonical(self, example: Example) -> bytes:
        """Command and world without the order of the objects, their roles, and the determiners (which follow from the world)."""
        from recombine.families.reascan.rows import canonical

        return canonical(example)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits per row for its canonical form."""
        from recombine.families.reascan.rows import canonical_batch

        return canonical_batch(batch)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for a whole batch."""
        from recombine.families.reascan.oracle_batch import validate_batch

        return validate_batch(self, batch)

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The example for people, prompts or pixels; `recombine.grid.render` says which media give the target away."""
        from recombine.grid.render import render

        return render(example, example.plan.description, medium)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file."""
        from recombine.families.reascan.survey import survey

        return survey(examples)

    def survey_pictures(self, survey: Mapping[str, Any]) -> Mapping[str, str]:
        """A chart for each figure of a survey: the paper's Figures 4 and 5, and more."""
        from recombine.families.reascan.survey import pictures

        return {name: canvas.svg() for name, canvas in pictures(survey).items()}

    def native_path(self, job: Job) -> str:
        """The released document of the job's split."""
        from recombine.families.reascan.native import native_path

        return native_path(job)

    def native_extras(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """The vocabulary files beside the documents."""
        from recombine.families.reascan.native import native_extras

        return native_extras(self, jobs)


REASCAN: ReascanFamily = ReascanFamily()
"""The family."""
