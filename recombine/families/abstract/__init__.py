"""Abstract reasoning: worlds in, worlds out. The rule is found from demonstrations, and elimination proves that one output is left.

The stages are imported when they are first used, so that making an example does not load the oracle or the readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from recombine.core import Batch, Claim, ColumnType, Example, Explanation, Job, Medium, Option, Problem, Recipe, Score, Split
from recombine.families.abstract.rows import SCHEMA
from recombine.families.abstract.splits import OPTIONS, RECIPES, SPLITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.abilities import Prompts, State
    from recombine.columns import Column
    from recombine.facets import Facet, Value

__all__ = ["ABSTRACT", "AbstractFamily"]


@dataclass(frozen=True)
class AbstractFamily:
    """The family `abstract`; its only value is `ABSTRACT`."""

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
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = SCHEMA
    CLUSTER: ClassVar[str] = "form"
    DIALS: ClassVar[tuple[str, ...]] = ("demonstrations", "clauses", "object_count", "rival_bits")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg", "png")
    NATIVE_NAME: ClassVar[str] = "{split}-{part}.json"

    @property
    def SPLITS(self) -> Mapping[str, Split]:
        """By name; the first is the default."""
        return SPLITS

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.abstract.oracle_claims import CLAIMS

        return CLAIMS

    @property
    def prompts(self) -> Prompts:
        """The words for language models."""
        from recombine.families.abstract import prompts

        return prompts

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

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, by the oracle."""
        from recombine.families.abstract.oracle import validate

        return validate(example)

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for every row of a batch: compiled elimination, then the plain oracle where something is wrong."""
        from recombine.families.abstract.oracle_batch import validate_batch

        return validate_batch(self, batch)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits for the canonical form of every row."""
        from recombine.families.abstract.oracle_batch import canonical_batch

        return canonical_batch(batch)

    def explain(self, example: Example) -> Explanation:
        """The rule, the elimination step by step, and each careless reader's answer."""
        from recombine.families.abstract.explain import explain

        return explain(example)

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The task with its solution, for people."""
        from recombine.families.abstract.render import render

        return render(example, medium)

    def depict(self, example: Example, solution: bool) -> str:
        """The worlds as SVG; without the solution, the test output is a question mark and no rule is named."""
        from recombine.families.abstract.render import picture, render

        return str(render(example, "svg")) if solution else picture(example.world, None).svg()

    def score(self, example: Example, answer: str) -> Score:
        """Exact output world, in any of the four answer forms."""
        from recombine.families.abstract.score import score

        return score(example, answer)

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        from recombine.families.abstract import pairs

        return pairs.PAIRS

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed, for matched pairs."""
        from recombine.families.abstract import pairs

        return pairs.partner(example, facet)

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a matched pair."""
        from recombine.families.abstract import pairs

        return pairs.pair_problems(first, second, facet)

    @property
    def FACETS(self) -> Mapping[str, Facet]:
        """What predicates, pairs and charts can say about an example, by name."""
        from recombine.families.abstract.facets import FACETS

        return FACETS

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example."""
        from recombine.families.abstract.facets import facet_values

        return facet_values(example)

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The values of these facets in every row of a batch."""
        from recombine.families.abstract.facets import facet_columns

        return facet_columns(batch, names)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """How many demonstrations the tasks of a file have, and how many more would settle each of them."""
        from recombine.families.abstract.settlement import survey

        return survey(examples)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The tasks of an ARC file."""
        from recombine.families.abstract.native import read

        return read(self, Path(path))

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The rows as one ARC file."""
        from recombine.families.abstract.native import write

        write(batches, out)


ABSTRACT: AbstractFamily = AbstractFamily()
"""The family."""
