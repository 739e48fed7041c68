"""The rooms that every family of this package has: files with the same names, imported when they are first used.

A family inherits a class for each of its files. `Rooms` stands for `oracle.py`, `explain.py`, `render.py`, `score.py` and `native.py`. Each other
class stands for one file. So a family's `__init__.py` holds only what is its own, and an example loads neither the oracle nor the shortcut readers.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from recombine.core import Batch, Example, Explanation, Medium, Problem, Score

if TYPE_CHECKING:
    from recombine.abilities import Prompts
    from recombine.columns import Column
    from recombine.facets import Facet, Value


class Home:
    """A package whose files are the rooms."""

    HOME: ClassVar[str]
    """The package's name; a family says `HOME = __name__`."""

    def room(self, name: str) -> Any:
        """The module `name` of the package."""
        return importlib.import_module(f"{self.HOME}.{name}")


class Rooms(Home):
    """`oracle.py`, `explain.py`, `render.py`, `score.py` and `native.py`."""

    def validate(self, example: Example) -> list[Problem]:
        """Every broken law, by the oracle."""
        found: list[Problem] = self.room("oracle").validate(example)
        return found

    def explain(self, example: Example) -> Explanation:
        """Why the answer is right, and what each shortcut reader would answer."""
        found: Explanation = self.room("explain").explain(example)
        return found

    def render(self, example: Example, medium: Medium) -> str | bytes:
        """The example for people, prompts or pixels."""
        found: str | bytes = self.room("render").render(example, medium)
        return found

    def score(self, example: Example, answer: str) -> Score:
        """The verdict on an answer."""
        found: Score = self.room("score").score(example, answer)
        return found

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of a released file, as a stream."""
        found: Iterator[Example | Problem] = self.room("native").read(self, Path(path))
        return found

    def write(self, batches: Iterable[Batch], out: TextIO) -> None:
        """The rows in the released layout."""
        self.room("native").write(batches, out)


class PromptRoom(Home):
    """`prompts.py`: the texts of the family's prompts."""

    @property
    def prompts(self) -> Prompts:
        """The texts of the family's prompts."""
        found: Prompts = self.room("prompts")
        return found


class FacetRoom(Home):
    """`facets.py`: the family's examples have facets."""

    @property
    def FACETS(self) -> Mapping[str, Facet]:
        """The facets by name, for predicates, pairs and charts."""
        found: Mapping[str, Facet] = self.room("facets").FACETS
        return found

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example."""
        found: Mapping[str, Value | tuple[Value, ...]] = self.room("facets").facet_values(example)
        return found

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The values of these facets in every row of a batch."""
        found: Mapping[str, Column] = self.room("facets").facet_columns(batch, names)
        return found


class PairRoom(Home):
    """`pairs.py`: the family makes matched pairs."""

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> kind of matched pair."""
        found: Mapping[str, str] = self.room("pairs").PAIRS
        return found

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed, for matched pairs."""
        found: Example | None = self.room("pairs").partner(example, facet)
        return found

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a matched pair."""
        found: list[str] = self.room("pairs").pair_problems(first, second, facet)
        return found
