"""What families in grid worlds have in common: episodes, pictures, and verdicts over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recombine.core import Batch, Example, Score
from recombine.rooms import Home

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.abilities import State


class GridFamily(Home):
    """The abilities `Playing`, `Depicting`, `Portraying` and `Scoring`."""

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

    def depict(self, example: Example, solution: bool) -> str:
        """The world as SVG, with or without the target, the roles and the way."""
        from recombine.grid.render import picture

        return picture(example, show_answer=solution).svg()

    def portrait(self, size: int, color: str, shape: str) -> NDArray[np.uint8]:
        """One object alone as pixels, without the digit that tells its size."""
        from recombine.grid.portrait import portrait

        return portrait(size, color, shape)

    def score_batch(self, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> list[Score]:
        """The verdict on one answer to each of these rows."""
        found: list[Score] = self.room("score").score_batch(self, batch, rows, answers, named)
        return found
