"""Few-shot word learning over SCAN's grammar: nonsense words, demonstrations, and a proof that they leave one answer.

There is no released original. The idea is the classic experiment on people: learn "dax" from a few examples, then combine it.
The stages are imported when they are first used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Recipe, Split
from recombine.families.lexicon.generate import SCHEMA
from recombine.families.lexicon.splits import OPTIONS, RECIPES, SPLITS
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    pass

__all__ = ["LEXICON", "LexiconFamily"]


@dataclass(frozen=True)
class LexiconFamily(Rooms, PromptRoom, FacetRoom, PairRoom):
    """The family `lexicon`; its only value is `LEXICON`."""

    HOME: ClassVar[str] = __name__
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
    SPLITS: ClassVar[Mapping[str, Split]] = SPLITS
    OPTIONS: ClassVar[Mapping[str, Option]] = OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = SCHEMA
    ROWS_ALONE: ClassVar[bool] = True
    CLUSTER: ClassVar[str] = "gloss"
    DIALS: ClassVar[tuple[str, ...]] = ("word_count", "demonstrations", "command_length", "action_length")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii")
    NATIVE_NAME: ClassVar[str] = "{split}-{part}.jsonl"
    NOTES: ClassVar[tuple[str, ...]] = (
        "No data set was released for this task; the experiment on people by Lake, Linzen and Baroni (2019) gave the idea.",
        "The space of the proof: every assignment of SCAN's thirteen meanings to the words of a task, no two words alike.",
    )

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """The oracle's judgement on every split, by the split's name."""
        from recombine.families.lexicon.oracle import CLAIMS

        return CLAIMS

    @property
    def ANSWERERS(self) -> Mapping[str, Callable[[Example], str | None]]:
        """The solver, which is the ceiling."""
        from recombine.families.lexicon.solver import solver

        return {"solver": solver}

    def recurring(self, job: Job, rows: int) -> float:
        """About the share of the first rows that another seed gives too."""
        from recombine.families.lexicon.generate import recurring

        return recurring(job, rows)

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


LEXICON: LexiconFamily = LexiconFamily()
"""The family."""
