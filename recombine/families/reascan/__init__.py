"""ReaSCAN: commands with relative clauses in a grid world, answered by action sequences.

The stages are imported when they are first used, so that making an example does not load the oracle or the readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from recombine.core import Batch, Claim, ColumnType, Example, Explanation, Job, Medium, Option, Problem, Recipe, Score, Split
from recombine.families.reascan.rows import SCHEMA
from recombine.families.reascan.splits import OPTIONS, RECIPES, SPLITS
from recombine.grid.wording import is_natural, plain_job, reworded
from recombine.predicates.draw import HOLD_OUT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.abilities import Prompts, State
    from recombine.columns import Column
    from recombine.facets import Facet, Value

__all__ = ["REASCAN", "ReascanFamily"]


@dataclass(frozen=True)
class ReascanFamily:
    """The family `reascan`; its only value is `REASCAN`."""

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
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = SCHEMA
    CLUSTER: ClassVar[str] = "form"
    DIALS: ClassVar[tuple[str, ...]] = ("clauses", "object_count", "action_count", "distance")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg", "png", "graph")
    NATIVE_NAME: ClassVar[str] = "data-{split}-{part}.txt"

    @property
    def SPLITS(self) -> Mapping[str, Split]:
        """By name; the first is the default."""
        return SPLITS

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.reascan.oracle_claims import CLAIMS

        return CLAIMS

    @property
    def prompts(self) -> Prompts:
        """The words for language models."""
        from recombine.families.reascan import prompts

        return prompts

    @property
    def ACTIONS(self) -> tuple[str, ...]:
        """The names of the actions of an episode."""
        from recombine.grid.acting import NAMES

        return NAMES

    def begin(self, example: Example, settings: Mapping[str, Any]) -> State:
        """The state in which the example's episode begins."""
        from recombine.grid.acting import GridState

        return GridState(example, settings)

    def acting_task(self, example: Example, settings: Mapping[str, Any]) -> str:  # noqa: ARG002
        """What to do in an episode, in words for a model."""
        from recombine.grid.acting import task

        return task(settings)

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

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed, for matched pairs."""
        from recombine.families.reascan import pairs

        return pairs.partner(example, facet)

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a matched pair."""
        from recombine.families.reascan import pairs

        return pairs.pair_problems(first, second, facet)

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

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, by the oracle."""
        from recombine.families.reascan.oracle import validate

        return validate(example)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for a whole batch."""
        from recombine.families.reascan.oracle_batch import validate_batch

        return validate_batch(self, batch)

    def explain(self, example: Example) -> Explanation:
        """The proof, and what each shortcut reader would answer."""
        from recombine.families.reascan.explain import explain

        return explain(example)

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The example for people, prompts or pixels; `recombine.grid.render` says which media give the target away."""
        from recombine.grid.render import render

        return render(example, example.plan.description, medium)

    def depict(self, example: Example, solution: bool) -> str:
        """The world as SVG, with or without the target, the roles and the way."""
        from recombine.grid.render import picture

        return picture(example, show_answer=solution).svg()

    def score(self, example: Example, answer: str) -> Score:
        """Exact match of the actions."""
        from recombine.families.reascan.score import score

        return score(example, answer)

    def score_batch(self, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
        """The verdict on one answer to each of these rows."""
        from recombine.families.reascan.score import score_batch

        return score_batch(self, batch, rows, answers, named)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file."""
        from recombine.families.reascan.survey import survey

        return survey(examples)

    @property
    def FACETS(self) -> Mapping[str, Facet]:
        """What predicates, pairs and charts can say about an example, by name."""
        from recombine.families.reascan.facets import FACETS

        return FACETS

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example."""
        from recombine.families.reascan.facets import facet_values

        return facet_values(example)

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The values of these facets in every row of a batch."""
        from recombine.families.reascan.facets import facet_columns

        return facet_columns(batch, names)

    def survey_pictures(self, survey: Mapping[str, Any]) -> Mapping[str, str]:
        """A chart for each figure of a survey: the paper's Figures 4 and 5, and more."""
        from recombine.families.reascan.survey import pictures

        return {name: canvas.svg() for name, canvas in pictures(survey).items()}

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of a released document, as a stream."""
        from recombine.families.reascan.native import read

        return read(self, Path(path))

    def native_path(self, job: Job) -> str:
        """The released document of the job's split."""
        from recombine.families.reascan.native import native_path

        return native_path(job)

    def native_extras(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """The vocabulary files beside the documents."""
        from recombine.families.reascan.native import native_extras

        return native_extras(self, jobs)

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The rows in the released layout."""
        from recombine.families.reascan.native import write

        write(batches, out)


REASCAN: ReascanFamily = ReascanFamily()
"""The family."""
