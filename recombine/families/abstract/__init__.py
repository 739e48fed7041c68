"""Abstract reasoning: worlds in, worlds out. The rule is found from demonstrations, and elimination proves that one output is left.

The stages are imported when they are first used, so that making an example does not load the oracle or the readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Split
from recombine.families.abstract.rows import SCHEMA
from recombine.families.abstract.splits import OPTIONS, RECIPES, SPLITS
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.abilities import State

__all__ = ["ABSTRACT", "AbstractFamily"]


@dataclass(frozen=True)
class AbstractFamily(Rooms, PromptRoom, FacetRoom, PairRoom):
    """The family `abstract`; its only value is `ABSTRACT`."""

    HOME: ClassVar[str] = __name__
    NAME: ClassVar[str] = "abstract"
    TITLE: ClassVar[str] = "Abstract reasoning: find the rule from demonstrations, predict the output world"
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
    ROWS_ALONE: ClassVar[bool] = True
    CLUSTER: ClassVar[str] = "form"
    DIALS: ClassVar[tuple[str, ...]] = ("demonstrations", "clauses", "object_count", "rival_bits")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg", "png")
    NATIVE_NAME: ClassVar[str] = "{split}-{part}.json"

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.abstract.oracle_claims import CLAIMS

        return CLAIMS

    @property
    def ACTIONS(self) -> tuple[str, ...]:
        """Empty: edits have arguments."""
        return ()

    def begin(self, example: Example, settings: Mapping[str, Any]) -> State:
        """The state in which the example's episode begins: the test world, to be edited."""
        from recombine.families.abstract.acting import EditState

        return EditState(example, settings)

    def acting_task(self, example: Example, settings: Mapping[str, Any]) -> str:  # noqa: ARG002
        """What to do in an episode, in words for a model."""
        from recombine.families.abstract.acting import TASK, checked

        checked(settings)
        return TASK

    @property
    def ANSWERERS(self) -> Mapping[str, Callable[[Example], str | None]]:
        """The solver, which is the ceiling, and a baseline that imitates the last demonstration."""
        from recombine.families.abstract.solver import imitator, solver

        return {"solver": solver, "imitator": imitator}

    def vet(self, job: Job) -> None:
        """Refuse options that do not fit together, or not with the split or recipe."""
        from recombine.families.abstract.generate import vet

        vet(job)

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        from recombine.families.abstract.generate import generate

        return generate(job)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        from recombine.families.abstract.rows import example

        return example(self, batch, row)

    def canonical(self, example: Example) -> bytes:
        """The worlds, without the order of demonstrations and objects."""
        from recombine.families.abstract.rows import canonical

        return canonical(example)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for every row of a batch: compiled elimination, then the plain oracle where something is wrong."""
        from recombine.families.abstract.oracle_batch import validate_batch

        return validate_batch(self, batch)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits for the canonical form of every row."""
        from recombine.families.abstract.oracle_batch import canonical_batch

        return canonical_batch(batch)

    def depict(self, example: Example, solution: bool) -> str:
        """The worlds as SVG; without the solution, the test output is a question mark and no rule is named."""
        from recombine.families.abstract.render import picture, render

        return str(render(example, "svg")) if solution else picture(example.world, None).svg()

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """How many demonstrations the tasks of a file have, and how many more would settle each of them."""
        from recombine.families.abstract.settlement import survey

        return survey(examples)


ABSTRACT: AbstractFamily = AbstractFamily()
"""The family."""
