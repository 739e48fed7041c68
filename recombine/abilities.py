"""What a family may offer beyond the contract of `core.Family`. Whoever can use an ability asks `isinstance(family, …)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.core import Batch, Example, Job, Problem


@runtime_checkable
class Checking(Protocol):
    """The oracle over a whole batch at once, with the same findings as `validate` row by row."""

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """Each broken law with the row of the batch that breaks it."""

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits per row that stand for the row's canonical form: equal forms give equal words, in every part."""


@runtime_checkable
class Surveying(Protocol):
    """Figures about a whole file beyond its problems, printed by `audit` (a flat or nested mapping)."""

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """The figures, ready for JSON."""


@runtime_checkable
class Probing(Protocol):
    """How far readers who see little of an example get, printed by `stats`."""

    def probe_parts(self, parts: Mapping[str, Iterable[Batch]]) -> Sequence[Mapping[str, str]]:
        """One line (column -> text) for each thing probed, from the batches of each `split/part` of a folder."""


@runtime_checkable
class Filing(Protocol):
    """A released layout with folders and side files of its own, where `NATIVE_NAME` is not enough."""

    def native_path(self, job: Job) -> str:
        """Where the job's part lies, from the top of the folder, with `/` between folders."""

    def native_extras(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """Path -> text of the files that stand beside the parts of these jobs."""


@runtime_checkable
class Listing(Protocol):
    """Exact sizes of finite parts that depend on seed or options, or are known only once computed."""

    def size(self, job: Job) -> int:
        """How many rows the job's part holds."""


@runtime_checkable
class Picking(Protocol):
    """Single rows of a part in one call, where making them is quicker than generating the rows around them."""

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """These rows of the part, as `generate` makes them, in the given order; None where the job has no such short cut."""


class Acting(Protocol):
    """Worlds that can be acted in, batched; knows nothing of gymnasium."""

    def start(self, batch: Batch) -> Any:
        """The states in which the episodes of these rows begin."""

    def step(self, states: Any, actions: NDArray[Any]) -> Any:
        """New states, rewards, terminated, truncated, named errors."""

    def masks(self, states: Any) -> NDArray[Any]:
        """Which actions are valid now."""
