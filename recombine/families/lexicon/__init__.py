"""Few-shot word learning over SCAN's grammar: nonsense words, demonstrations, and a proof that they leave one answer.

There is no released original. The idea is the classic experiment on people: learn "dax" from a few examples, then combine it.
The stages are imported when they are first used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TextIO

from recombine.core import Batch, Claim, ColumnType, Example, Explanation, Job, Medium, Option, Problem, Recipe, Score, Split
from recombine.families.lexicon.generate import SCHEMA
from recombine.families.lexicon.splits import OPTIONS, RECIPES, SPLITS

if TYPE_CHECKING:
    from recombine.abilities import Prompts
    from recombine.columns import Column
    from recombine.facets import Facet, Value

__all__ = ["LEXICON", "LexiconFamily"]


@dataclass(frozen=True)
class LexiconFamily:
    """The family `lexicon`; its only value is `LEXICON`."""

    NAME: ClassVar[str] = "lexicon"
    TITLE: ClassVar[str] = "Lexicon: learn nonsense words from demonstrations, carry out a new command"
    CITATION: ClassVar[str] = """@inproceedings{lake2019human,
  title = {Human few-shot learning of compositional instructions},
  author = {Lake, Brenden M. and Linzen, Tal and Baroni, Marco},
  booktitle = {Proceedings of the 41st Annual Conference of the Cognitive Science Society},
  year = {2019}
}
"""
    RECIPES: ClassVar[Mapping[str, Recipe]] = RECIPES
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = SCHEMA
    CLUSTER: ClassVar[str] = "gloss"
    DIALS: ClassVar[tuple[str, ...]] = ("word_count", "demonstrations", "command_length", "action_length")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii")
    NATIVE_NAME: ClassVar[str] = "{split}-{part}.jsonl"
    NOTES: ClassVar[tuple[str, ...]] = (
        "No data set was released for this task; the experiment on people by Lake, Linzen and Baroni (2019) gave the idea.",
        "The space of the proof: every assignment of SCAN's thirteen meanings to the words of a task, no two words alike.",
    )

    @property
    def SPLITS(self) -> Mapping[str, Split]:
        """By name; the first is the default."""
        return SPLITS

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.lexicon.oracle import CLAIMS

        return CLAIMS

    @property
    def prompts(self) -> Prompts:
        """The words for language models."""
        from recombine.families.lexicon import prompts

        return prompts

    @property
    def ANSWERERS(self) -> Mapping[str, Callable[[Example], str | None]]:
        """The solver, which is the ceiling."""
        from recombine.families.lexicon.solver import solver

        return {"solver": solver}

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        from recombine.families.lexicon.generate import generate

        return generate(job)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        from recombine.families.lexicon.generate import example

        return example(self, batch, row)

    def canonical(self, example: Example) -> bytes:
        """The task in SCAN's words, without the order of the demonstrations: other nonsense words make no other task."""
        lesson = example.plan
        shown = sorted(f"{lesson.gloss(command)}>{actions}" for command, actions in lesson.demonstrations)
        return hashlib.blake2b("|".join([lesson.gloss(lesson.command), *shown]).encode(), digest_size=16).digest()

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, by the oracle."""
        from recombine.families.lexicon.oracle import validate

        return validate(example)

    def explain(self, example: Example) -> Explanation:
        """The elimination step by step, and each careless reader's answer."""
        from recombine.families.lexicon.explain import explain

        return explain(example)

    def render(self, example: Example, medium: Medium) -> str:
        """The lesson without (`text`) or with its solution (`ascii`)."""
        from recombine.families.lexicon.render import render

        return render(example, medium)

    def score(self, example: Example, answer: str) -> Score:
        """Right iff the actions are exactly those of the test command."""
        from recombine.families.lexicon.score import score

        return score(example, answer)

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        from recombine.families.lexicon import pairs

        return pairs.PAIRS

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed, for matched pairs."""
        from recombine.families.lexicon import pairs

        return pairs.partner(example, facet)

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a matched pair."""
        from recombine.families.lexicon import pairs

        return pairs.pair_problems(first, second, facet)

    @property
    def FACETS(self) -> Mapping[str, Facet]:
        """What predicates, pairs and charts can say about an example, by name."""
        from recombine.families.lexicon.facets import FACETS

        return FACETS

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example."""
        from recombine.families.lexicon.facets import facet_values

        return facet_values(example)

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The values of these facets in every row of a batch."""
        from recombine.families.lexicon.facets import facet_columns

        return facet_columns(batch, names)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The tasks of a file of JSON lines."""
        from recombine.families.lexicon.native import read

        return read(self, Path(path))

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The rows as JSON lines."""
        from recombine.families.lexicon.native import write

        write(batches, out)


LEXICON: LexiconFamily = LexiconFamily()
"""The family."""
