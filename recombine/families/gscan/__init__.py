"""gSCAN: commands in a small grid world, answered by action sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from recombine.core import Batch, Claim, ColumnType, Example, Explanation, Job, Medium, Option, Problem, Recipe, Score, Split
from recombine.facets import Facet, Value
from recombine.families.gscan import (
    explain,
    facets,
    generate,
    native,
    oracle,
    oracle_claims,
    pairs,
    prompts,
    render,
    score,
    splits,
    survey,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.abilities import Prompts, State
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
class GscanFamily:
    """Commands such as "push a small red square while spinning", in worlds where every word can matter."""

    NAME: ClassVar[str] = "gscan"
    TITLE: ClassVar[str] = "gSCAN: commands in a grid world to actions"
    CITATION: ClassVar[str] = _PAPER
    RECIPES: ClassVar[Mapping[str, Recipe]] = splits.RECIPES
    SPLITS: ClassVar[Mapping[str, Split]] = splits.SPLITS
    CLAIMS: ClassVar[Mapping[str, Claim]] = oracle_claims.CLAIMS
    FREE_COLUMNS: ClassVar[Mapping[str, str]] = oracle.FREE_COLUMNS
    OPTIONS: ClassVar[Mapping[str, Option]] = splits.OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = generate.SCHEMA
    FACETS: ClassVar[Mapping[str, Facet]] = facets.FACETS
    CLUSTER: ClassVar[str] = "command"
    DIALS: ClassVar[tuple[str, ...]] = ("action_count", "distance", "object_count")
    MEDIA: ClassVar[tuple[Medium, ...]] = render.MEDIA
    NATIVE_NAME: ClassVar[str] = native.NATIVE_NAME

    @property
    def prompts(self) -> Prompts:
        """The words for language models."""
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
        """Rows [job.start, job.stop) of the part."""
        return generate.generate(job)

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """Single rows of a release part in one call."""
        return generate.pick(job, rows)

    def size(self, job: Job) -> int:
        """How many rows the part holds."""
        return generate.size(job)

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example."""
        return facets.facet_values(example)

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The same for a whole batch, for these facets."""
        return facets.facet_columns(batch, names)

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        return pairs.PAIRS

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed, for matched pairs."""
        return pairs.partner(example, facet)

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a matched pair."""
        return pairs.pair_problems(first, second, facet)

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

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, by the oracle."""
        return oracle.validate(example)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """Each broken law with the row that breaks it."""
        from recombine.families.gscan.oracle_batch import validate_batch

        return validate_batch(lambda row: self.example(batch, row), batch)

    def explain(self, example: Example) -> Explanation:
        """Why this object and these actions, and what each shortcut reader does instead."""
        return explain.explain(example)

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The world and the command for people, prompts or pixels."""
        return render.render(example, medium)

    def depict(self, example: Example, solution: bool) -> str:
        """The world as SVG, with or without the target, the roles and the way."""
        from recombine.grid.render import picture

        return picture(example, show_answer=solution).svg()

    def score(self, example: Example, answer: str) -> Score:
        """Exact match of the actions."""
        return score.score(example, answer)

    def score_batch(self, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
        """The verdict on one answer to each of these rows."""
        return score.score_batch(self, batch, rows, answers, named)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of a released `dataset.txt`, as a stream."""
        return native.read(self, Path(path))

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The same rows as a released `dataset.txt`."""
        native.write(batches, out)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file: which words are needed, what a blind guess earns, how worlds are spread."""
        return survey.survey(examples)


GSCAN: GscanFamily = GscanFamily()
"""The one instance."""
