"""Rules instead of answers: what a person or a language model is asked for, how the reply is read, and the machine that runs it.

A rulebook knows one kind of rule. Its prompt shows some training rows and the form of a rule. The reply is read strictly, line by
line; nothing is executed. The machine runs what was read, so its score says whether the writer knows the rule, or only cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from recombine.core import Example
    from recombine.data.datasets import Dataset

MOST_TEXT = 100_000
"""The longest reply that is read, in characters."""
LONGEST_LINE = 2_000
"""A longer line is no rule, in characters."""


class Rules(Protocol):
    """Rules that were read, as a machine runs them."""

    @property
    def HEADS(self) -> tuple[str, ...]:
        """The heads of the table of rules."""

    def lines(self) -> list[tuple[str, ...]]:
        """The rules as rows of a table."""

    def length(self) -> str:
        """How long the rule is, in words."""

    def note(self) -> str:
        """What the figures depend on in addition to the rules, as a sentence; may be empty."""

    def answers(self, examples: Sequence[Example]) -> list[str]:
        """The answer to each example, in order; reads inputs only."""


class Book(Protocol):
    """One kind of rule, for the rows of one training part."""

    FORM: ClassVar[str]
    """How a line of a rule reads."""

    def prompt(self, shots: int) -> str:
        """The prompt for a writer of rules: the form of a rule, the words, and this many examples."""

    def read(self, text: str) -> Rules:
        """The rules that a text holds; what is missing, doubled or malformed is an error that names it."""


def open_book(rows: Dataset) -> Book:
    """The rulebook for these training rows, by what their inputs hold."""
    inputs = set(rows[0].inputs)
    for needed, book in _books():
        if needed <= inputs:
            return book(rows)
    raise UsageError(
        f"rules can be written for scan, nacs, gscan, reascan and clutrr, not for rows with {shown(sorted(inputs))}."
    )


def _books() -> list[tuple[set[str], Callable[[Dataset], Book]]]:
    """What inputs a kind of rule needs, and its rulebook; the first that fits is taken."""
    from recombine.models.kinship_rules import KinshipBook
    from recombine.models.sequence_rules import SequenceBook
    from recombine.models.set_rules import SetBook

    return [
        ({"graph"}, KinshipBook),
        ({"command", "objects"}, SetBook),
        ({"command"}, SequenceBook),
        ({"actions"}, SequenceBook),
    ]


def fields_of(line: str) -> list[str]:
    """What stands between the colons of a line, without blanks, backticks and the mark of a list item; nothing if it is too long."""
    line = line.strip()
    if len(line) > LONGEST_LINE:
        return []
    item = line[1:] if line[:1] in ("-", "*") and line[1:2].isspace() else line
    return [field.strip(" \t`") for field in item.split(":")]


def check_length(text: str) -> str:
    """The text, if it is not too long to be read."""
    if len(text) > MOST_TEXT:
        raise UsageError(f"the rules have {len(text):,} characters; at most {MOST_TEXT:,} are read.")
    return text
