"""lilGym and NLVR: statements about three boxes of coloured items, to be made true or false by edits, or to be judged.

Embedded statements (`sound`) need no download. The published tasks run as splits `tower_scratch`, `tower_flipit`,
`scatter_scratch` and `scatter_flipit` when their folder is given (`files=FOLDER`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from recombine.abilities import State
from recombine.core import Batch, Claim, ColumnType, Example, Job, Medium, Option, Problem, Recipe, Split
from recombine.families.lilgym import generate
from recombine.families.lilgym.splits import SPLITS
from recombine.rooms import FacetRoom, PairRoom, PromptRoom, Rooms

if TYPE_CHECKING:
    from recombine.families.lilgym.audit import StatementCheck
    from recombine.families.lilgym.scene import Kind, Scene

_PAPERS = """@inproceedings{wu-etal-2023-lilgym,
  title = {lil{G}ym: Natural Language Visual Reasoning with Reinforcement Learning},
  author = {Wu, Anne and Brantley, Kiant{\\'e} and Kojima, Noriyuki and Artzi, Yoav},
  booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics},
  year = {2023},
  url = {https://aclanthology.org/2023.acl-long.512}
}
@inproceedings{suhr-etal-2017-corpus,
  title = {A Corpus of Natural Language for Visual Reasoning},
  author = {Suhr, Alane and Lewis, Mike and Yeh, James and Artzi, Yoav},
  booktitle = {Proceedings of the 55th Annual Meeting of the Association for Computational Linguistics},
  year = {2017}
}"""


@dataclass(frozen=True)
class LilGymFamily(Rooms, PromptRoom, FacetRoom, PairRoom):
    """Statements about scenes: the embedded language, and the published files where their folder is given.

    The rooms behind the methods are imported when they are first used, so that loading one example stays quick.
    """

    HOME: ClassVar[str] = __name__
    NAME: ClassVar[str] = "lilgym"
    TITLE: ClassVar[str] = "lilGym: statements about scenes, made true or false by edits"
    CITATION: ClassVar[str] = _PAPERS
    RECIPES: ClassVar[Mapping[str, Recipe]] = {
        "sound": Recipe(
            "sound",
            "Our own statements, one reading each, neither constant nor out of reach; every task comes with a plan.",
            version=2,
        ),
        "official": Recipe("official", "The published statements, programs and scenes, read from their files."),
    }
    SPLITS: ClassVar[Mapping[str, Split]] = SPLITS
    OPTIONS: ClassVar[Mapping[str, Option]] = generate.OPTIONS
    SCHEMA: ClassVar[Mapping[str, ColumnType]] = generate.SCHEMA
    ROWS_ALONE: ClassVar[bool] = True
    CLUSTER: ClassVar[str] = "statement"
    DIALS: ClassVar[tuple[str, ...]] = ("words", "depth", "objects", "edits")
    MEDIA: ClassVar[tuple[Medium, ...]] = ("text", "ascii", "svg", "png")
    NATIVE_NAME: ClassVar[str] = "{split}_{part}.json"

    @property
    def CLAIMS(self) -> Mapping[str, Claim]:
        """Split -> why an example may not stand in a part of it."""
        from recombine.families.lilgym import oracle

        return oracle.CLAIMS

    @property
    def VALUE_WORDS(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Kind of value -> word -> the program tokens that name it."""
        from recombine.families.lilgym import enactment

        return enactment.VALUE_WORDS

    def program_of(self, example: Example) -> str:
        """The program of an example's statement."""
        return str(example.meta["program"])

    def meanings(self, kind: str, programs: Sequence[str]) -> list[bytes]:
        """The meaning of each program: equal bytes, equal values."""
        from recombine.families.lilgym import enactment

        return enactment.meanings(kind, programs)

    def enact(self, example: Example, readings: Sequence[tuple[str, float]]) -> str:
        """The answer that suits the readings of most weight."""
        from recombine.families.lilgym import enactment

        return enactment.enact(example, readings)

    @property
    def ACTIONS(self) -> tuple[str, ...]:
        """Empty: edits have arguments."""
        return ()

    def begin(self, example: Example, settings: Mapping[str, Any]) -> State:
        """The state in which the example's episode begins."""
        from recombine.families.lilgym.acting import LilGymState

        return LilGymState(example, settings)

    def acting_task(self, example: Example, settings: Mapping[str, Any]) -> str:
        """What to do in an episode, in words for a model."""
        from recombine.families.lilgym.acting import task

        return task(example, settings)

    def size(self, job: Job) -> int:
        """How many rows a part holds; a published part as its file counts."""
        rows = SPLITS[job.split].parts[job.part].rows(job.recipe)
        if job.recipe != "official":
            return generate.default_size(job, rows)
        from recombine.families.lilgym import native

        return native.size(job, self.OPTIONS, rows)

    def bound(self, job: Job) -> int:
        """How many rows a part can have: its statements from scratch, else its statements times their visits."""
        return self.size(job) if job.recipe == "official" else generate.available(job)

    def recurring(self, job: Job, rows: int) -> float:
        """The share of the first rows that another seed gives too: of statements from scratch, where no scene is drawn."""
        return generate.recurring(job, rows)

    def generate(self, job: Job) -> Batch:
        """Rows [job.start, job.stop) of the part."""
        return generate.generate(job)

    def pick(self, job: Job, rows: NDArray[np.int64]) -> Batch | None:
        """Single rows of a part in one call."""
        return generate.pick(job, rows)

    def example(self, batch: Batch, row: int) -> Example:
        """The readable view of one row."""
        return generate.example(batch, row)

    def canonical(self, example: Example) -> bytes:
        """The example without box order: its program (or sentence), its target or task, and the boxes in one order."""
        boxes = sorted(tuple(sorted(tuple(item[1:]) for item in box)) for box in example.world.boxes)
        said = example.meta["program"] or " ".join(str(example.inputs["statement"]).lower().split())
        return repr((said, example.meta["task"], example.inputs.get("target"), boxes)).encode()

    def validate_batch(self, batch: Batch) -> Iterator[tuple[int, Problem]]:
        """The same for a whole batch."""
        from recombine.families.lilgym import oracle

        return oracle.validate_batch(batch)

    def canonical_batch(self, batch: Batch) -> NDArray[np.uint64]:
        """64 bits of every row's canonical form."""
        forms = (self.canonical(self.example(batch, row)) for row in range(len(batch)))
        return np.array([int.from_bytes(hashlib.blake2b(form, digest_size=8).digest(), "little") for form in forms], np.uint64)

    def read(self, path: Path) -> Iterator[Example | Problem]:
        """The examples of a lilGym or NLVR file."""
        from recombine.families.lilgym import native

        return native.read(path)

    def survey(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """Figures about a file: tasks, contexts, labels, and whether values ignore box order."""
        from recombine.families.lilgym import audit

        return audit.survey(examples)


LILGYM: LilGymFamily = LilGymFamily()


def check_statement(
    statement: str, text: str, kind: Kind, labelled: Iterable[tuple[Scene, bool]] = (), horizon: int = 11
) -> StatementCheck:
    """Check a user's statement with its program; see `audit.check_statement`."""
    from recombine.families.lilgym import audit

    return audit.check_statement(statement, text, kind, labelled, horizon)


__all__ = ["LILGYM", "LilGymFamily", "check_statement"]
