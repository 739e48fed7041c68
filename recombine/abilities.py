"""What a family may offer beyond the contract of `core.Family`. Callers test for an ability with `isinstance(family, …)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recombine.columns import Column
    from recombine.core import Batch, Example, Job, Problem, Score
    from recombine.facets import Facet, Value

Sight = Literal["text", "picture", "both"]
"""How a model sees a world."""
Tree = tuple[str, tuple["Tree", ...]]
"""A derivation: the label of a node and its children."""


@runtime_checkable
class Checking(Protocol):
    """The oracle over a whole batch at once, with the same findings as `validate` row by row.

    An artifact that a row shows in several places may be named once.
    """

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """Each broken law with the row of the batch that breaks it."""

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits per row that stand for the row's canonical form: equal forms give equal words, in every part."""


@runtime_checkable
class Clustering(Protocol):
    """A family whose clusters are not simply the values of the column `CLUSTER`."""

    def clusters(self, batch: Batch) -> Column:
        """A column whose equal values share context: the unit of the statistics."""


@runtime_checkable
class Surveying(Protocol):
    """Figures about a whole file beyond its problems, printed by `audit` (a flat or nested mapping)."""

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """The figures, ready for JSON."""


@runtime_checkable
class Noting(Protocol):
    """A family with notes for users of its rows, printed on the card."""

    @property
    def NOTES(self) -> tuple[str, ...]:
        """Sentences."""


@runtime_checkable
class Picturing(Protocol):
    """Charts of a survey's figures, shown on the page that `audit --html` writes."""

    def survey_pictures(self, survey: Mapping[str, Any]) -> Mapping[str, str]:
        """Title -> SVG."""


@runtime_checkable
class Depicting(Protocol):
    """A family that draws an example with or without its solution."""

    def depict(self, example: Example, solution: bool) -> str:
        """The picture as SVG."""


@runtime_checkable
class Portraying(Protocol):
    """A family that can draw a single object as pixels, for machines that get pictures instead of attributes."""

    def portrait(self, size: int, color: str, shape: str) -> NDArray[np.uint8]:
        """The object alone on white, as red, green and blue of every pixel: (height, width, 3), the same shape for all objects."""


@runtime_checkable
class Probing(Protocol):
    """A family with baselines that see only a little of an example. `stats` prints their accuracy."""

    def probe_parts(self, parts: Mapping[str, Iterable[Batch]]) -> Sequence[Mapping[str, str]]:
        """The lines of a table (column -> text) that `stats` prints, from the batches of each `split/part` of a folder."""


@runtime_checkable
class Answering(Protocol):
    """A family with answerers of its own, in addition to those of every family."""

    @property
    def ANSWERERS(self) -> Mapping[str, Callable[[Example], str | None]]:
        """Name -> a function that answers an example from its inputs."""


@runtime_checkable
class Filing(Protocol):
    """A released layout with folders and side files of its own, where `NATIVE_NAME` is not enough."""

    def native_path(self, job: Job) -> str:
        """Where the job's part lies, from the top of the folder, with `/` between folders."""

    def native_extras(self, jobs: Sequence[Job]) -> Mapping[str, str]:
        """Path -> text of the files that stand beside the parts of these jobs."""


@runtime_checkable
class Cutting(Filing, Protocol):
    """A released layout in which one part may be several files."""

    def native_files(self, job: Job, rows: int) -> Sequence[tuple[int, str]]:
        """(row at which the file ends, path) of the files that hold the first `rows` rows of the job's part, in order."""


@runtime_checkable
class Listing(Protocol):
    """Exact sizes of finite parts that depend on seed or options, or are known only once computed."""

    def size(self, job: Job) -> int:
        """How many rows the job's part holds."""


@runtime_checkable
class Vetting(Protocol):
    """Options that fit one by one but not together, or not with the job's recipe, split or part."""

    def vet(self, job: Job) -> None:
        """Raise `BadOption` for a job whose rows can never be made. Called once for a job with options, before anything is written."""


@runtime_checkable
class Bounded(Protocol):
    """A family whose parts have no fixed size but a largest one."""

    def bound(self, job: Job) -> int:
        """The most rows that the job's part can have."""


@runtime_checkable
class Recurring(Protocol):
    """A family whose options can leave a part so few items that another seed gives them again."""

    def recurring(self, job: Job, rows: int) -> float:
        """The share of the job's first rows that another seed gives too; 0 where each seed draws items of its own."""


@runtime_checkable
class Picking(Protocol):
    """A family that can make single rows faster than `generate` makes the rows around them."""

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """These rows of the part, as `generate` makes them, in the given order; None where the job has no such short cut."""


@runtime_checkable
class Solitary(Protocol):
    """A family in which a batch saves no time while its kernels are interpreted. Callers then make single rows."""

    @property
    def ROWS_ALONE(self) -> bool:
        """True."""


@runtime_checkable
class Asking(Protocol):
    """A family that a language model can be asked about. The words live in the family's `prompts.py`."""

    @property
    def prompts(self) -> Prompts:
        """The words."""


class Prompts(Protocol):
    """The texts of a family's prompts. `question` and `picture` read `example.inputs` only, so they cannot show anything else."""

    def task(self, family: str) -> str:
        """What to do and the exact form of the answer, without the rules."""

    def rules(self, family: str) -> str:
        """All rules. A careful reader can answer every example with them."""

    def question(self, example: Example, sight: Sight) -> str:
        """The question about an example in words. With `sight="picture"` it leaves out what the picture shows."""

    def answer(self, example: Example) -> str:
        """The right answer on one line, as the task wants it written."""

    def steps(self, example: Example) -> tuple[str, ...]:
        """The steps to the answer, one sentence each, for worked examples."""

    def picture(self, example: Example) -> bytes | None:
        """The world as PNG, showing nothing that the inputs do not hold; None if the family has no world."""

    def legend(self, family: str) -> str:
        """How to read the picture; empty if there is none."""


@runtime_checkable
class Faceted(Protocol):
    """A family whose examples have facets, for predicates, pairs and charts."""

    @property
    def FACETS(self) -> Mapping[str, Facet]:
        """By name."""

    def facet_values(self, example: Example) -> Mapping[str, Value | tuple[Value, ...]]:
        """The value of every facet of one example; a tuple for a facet that it has several times."""

    def facet_columns(self, batch: Batch, names: Sequence[str]) -> Mapping[str, Column]:
        """The same for a whole batch, for these facets; `Ragged` for facets that an example has several times."""


@runtime_checkable
class Deriving(Protocol):
    """A family whose examples have a derivation tree: divergence then counts its subtrees instead of pairs of facets."""

    def derivation(self, example: Example) -> Tree:
        """The tree of one example; its labels are the atoms."""


@runtime_checkable
class Playing(Protocol):
    """A family in whose worlds an agent can act. `recombine.Episode` uses it. It does not depend on Gymnasium."""

    @property
    def ACTIONS(self) -> tuple[str, ...]:
        """The names of the actions; empty where actions have arguments."""

    def begin(self, example: Example, settings: Mapping[str, Any]) -> State:
        """The state in which the example's episode begins. An unknown setting is an error that lists the known ones."""

    def acting_task(self, example: Example, settings: Mapping[str, Any]) -> str:
        """What to do, which actions there are and how to write them, in words for a model."""


class State(Protocol):
    """One running episode of a `Playing` family, in words and pictures."""

    def seen(self, sight: Sight) -> tuple[str, bytes | None]:
        """What the agent sees now: a text, and a PNG if `sight` asks for a picture (otherwise None)."""

    def act(self, text: str) -> tuple[float, bool, Mapping[str, Any]]:
        """Carry out the actions that the text names, in order: reward, whether the episode is over, and what happened.

        A text that names no action costs what an invalid action costs; `info["said"]` then says what was wrong. `info` holds
        `error` (its last name, or ""), `errors`, `said` (sentences), `actions` (those taken), `step` and `solved`.
        """

    def expert(self) -> tuple[str, ...]:
        """A plan from the present state to the goal, one action each, as `act` reads them. Empty if there is none."""

    def answer(self) -> str:
        """The actions so far as an answer that the family's `score` reads, so that mistakes get names. Empty if none was taken."""


@runtime_checkable
class Scoring(Protocol):
    """A family that scores many answers at once, with the same verdicts as `score`."""

    def score_batch(self, batch: Batch, rows: Sequence[int], answers: Sequence[str], named: bool) -> Sequence[Score]:
        """The verdict on one answer to each of these rows of the batch; without `named`, no mistake is named."""


@runtime_checkable
class Pairing(Protocol):
    """A family that makes matched pairs: two examples that differ in exactly one facet."""

    @property
    def PAIRS(self) -> Mapping[str, str]:
        """Facet -> `sensitivity` (the answer must change) or `invariance` (it must not)."""

    def partner(self, example: Example, facet: str) -> Example | None:
        """The example with this facet changed and nothing else; None if it has no such partner. A function of the example's id."""

    def pair_problems(self, first: Example, second: Example, facet: str) -> list[str]:
        """What is wrong with a pair, as sentences, by the oracle: wrong answers, or a difference in more than the facet."""


@runtime_checkable
class Programmed(Protocol):
    """A family whose statements have programs, for machines that learn to read statements."""

    @property
    def VALUE_WORDS(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Kind of value -> word -> the program tokens that name it."""

    def program_of(self, example: Example) -> str:
        """The program of an example's statement, for training."""

    def meanings(self, kind: str, programs: Sequence[str]) -> list[bytes]:
        """The meaning of each program over scenes of a kind, as bytes: equal bytes mean equal values. Unusable readings give b""."""

    def enact(self, example: Example, readings: Sequence[tuple[str, float]]) -> str:
        """The answer that suits the readings (program, weight) with the largest total weight. It reads inputs only."""
