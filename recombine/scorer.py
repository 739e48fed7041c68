"""`recombine.Scorer`: scores replies by id, many times a second, for rewards and evaluations.

    scorer = recombine.Scorer("reascan")                   # rows are made anew from their ids
    scorer = recombine.Scorer("my-folder")                 # rows are read from a folder that `generate` made
    scorer = recombine.Scorer("data-test.txt", family="reascan")    # rows of an originally released file
    scorer("reascan@2/sound/a1/test/0/000017", "Answer: walk, walk").value

Rows and verdicts are cached; replies that hold the same answer share a verdict. A scorer may be shared by threads, forked and
pickled: it pickles as its arguments. Scoring by id imports neither numba, pyarrow nor torch: a worker that only scores needs
numpy and this package alone.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recombine import kernels
from recombine.abilities import Solitary
from recombine.core import Example, Problem, Score
from recombine.data.ids import locate
from recombine.errors import BadOption, FileError, UsageError, shown
from recombine.evaluate.replies import Parsed, parse_reply
from recombine.families import FAMILIES
from recombine.families import family as find_family
from recombine.files import is_folder

__all__ = ["PARTIAL", "Scorer"]

BLOCK_ROWS = 64
"""Rows made together once a second row of the same block is asked for: making many is cheaper than making each alone."""
_INDEX = re.compile("[0-9]{1,18}")
"""The last piece of an id. Other alphabets have digits too, and some of them, such as `²`, are no numbers."""
MOST_READ = 2_000_000
"""Rows of a published file that a scorer holds."""

Source = str | Path


def _prefix(score: Score, example: Example) -> float:
    """The length of the right beginning, divided by the length of the longer of answer and right answer."""
    given, right = int(score.detail.get("tokens", 0)), len(example.answer.split())
    if example.family.NAME == "nacs":
        right = len(str(example.inputs["actions"]).split())
    return float(score.detail.get("prefix", 0)) / max(given, right, 1)


def _target(score: Score, example: Example) -> float:  # noqa: ARG001
    """One half if the answer went to the target's cell."""
    return 0.5 if score.detail.get("target_cell") else 0.0


def _hops(score: Score, example: Example) -> float:  # noqa: ARG001
    """One half times the share of the stated hops that follow, up to the first wrong one."""
    hops = int(score.detail.get("hops", 0))
    return 0.5 * float(score.detail.get("hops_right", 0)) / hops if hops else 0.0


def _edits(score: Score, example: Example) -> float:  # noqa: ARG001
    """One fifth if every edit could be done and the answer ends in STOP, although the statement has the wrong truth value."""
    return 0.2 if score.detail.get("error") == "stopped_early" else 0.0


PARTIAL: Mapping[str, Callable[[Score, Example], float]] = {
    "scan": _prefix,
    "nacs": _prefix,
    "gscan": _target,
    "reascan": _target,
    "clutrr": _hops,
    "lilgym": _edits,
}
"""Family -> what a wrong answer is worth under partial credit; the docstring is the definition. Always below 1."""


class _Cache:
    """The last `most` values by key. Safe for threads, and for a process that was forked while another thread held the lock."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.values: dict[Any, Any] = {}
        self.lock, self.process = threading.Lock(), os.getpid()

    def get(self, key: Any) -> Any:
        """The value, or None."""
        return self.values.get(key)

    def put(self, items: Iterable[tuple[Any, Any]]) -> None:
        """Keep these values; the oldest ones give way."""
        if self.process != os.getpid():
            self.lock, self.process = threading.Lock(), os.getpid()
        with self.lock:
            self.values.update(items)
            while len(self.values) > self.most:
                del self.values[next(iter(self.values))]


@dataclass
class Scorer:
    """`Scorer(source)(id, reply)` is the `Score` of a model's reply.

    `source`: a family's name, a folder, a published file (then `family` says whose), a list of those or of examples, or None for any
    id of any family. `partial` gives wrong answers the credit that `PARTIAL` defines; the default is right or wrong.
    `most_rows` bounds the cache of rows; four times as many verdicts are kept. `compiled` lets the families load numba, which pays
    where tens of thousands of different rows are scored by id.
    """

    source: Source | Sequence[Source | Example] | None = None
    family: str | None = None
    partial: bool = False
    most_rows: int = 20_000
    compiled: bool = False
    _rows: _Cache = field(init=False, repr=False, compare=False)
    _verdicts: _Cache = field(init=False, repr=False, compare=False)
    _misses: _Cache = field(init=False, repr=False, compare=False)
    _held: dict[str, Example] = field(init=False, repr=False, compare=False)
    _folders: list[Any] = field(init=False, repr=False, compare=False)
    _families: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.most_rows, bool) or not isinstance(self.most_rows, int) or self.most_rows < 1:
            raise BadOption(f"most_rows is {shown(self.most_rows)}, but must be a positive integer.")
        self._rows, self._verdicts = _Cache(self.most_rows), _Cache(4 * self.most_rows)
        self._misses, self._held, self._folders = _Cache(self.most_rows), {}, []
        listed = [self.source] if isinstance(self.source, str | Path) else list(self.source or ())
        if not listed and self.source is not None:
            raise UsageError("the source is empty, so there is no row to score; leave it out for any row of any family.")
        families = set[str]()
        for one in listed:
            if isinstance(one, Example):
                self._held[one.id] = one
            elif isinstance(one, str) and one in FAMILIES:
                families.add(one)
            elif isinstance(one, str | Path) and is_folder(one):
                try:
                    from recombine.data.folders import open_folder
                except ModuleNotFoundError as problem:
                    raise UsageError(f"reading a folder needs {problem.name}: pip install {problem.name}.") from None
                self._folders.append(open_folder(one))
            elif isinstance(one, str | Path) and Path(one).is_file():
                self._held.update(self._read(Path(one)))
            else:
                known = ", ".join(FAMILIES)
                raise UsageError(f"{shown(one)} is neither a family ({known}) nor a folder nor a file.")
        self._families = frozenset(families if listed else FAMILIES)

    def __reduce__(self) -> tuple[Any, ...]:
        """A scorer pickles as its arguments; examples in memory cannot be sent that way."""
        if any(isinstance(one, Example) for one in (self.source if isinstance(self.source, list | tuple) else ())):
            raise UsageError("a scorer over examples in memory cannot be pickled; give it a family, a folder or a file.")
        return Scorer, (self.source, self.family, self.partial, self.most_rows, self.compiled)

    def __call__(self, identifier: str, reply: str, finish: str = "stop") -> Score:
        """The verdict on a reply. `finish` is the endpoint's reason for its end; `length` makes the reply unparsable."""
        parsed = parse_reply(reply if isinstance(reply, str) else "", finish)
        key = identifier, parsed.answer, parsed.status
        known: Score | None = self._verdicts.get(key)
        if known is not None:
            return known
        with nullcontext() if self.compiled else kernels.interpreted():
            score = self._score(self.example(identifier), parsed)
        self._verdicts.put([(key, score)])
        return score

    def many(self, identifiers: Sequence[str], replies: Sequence[str]) -> list[Score]:
        """The verdicts on many replies, in order."""
        return [self(identifier, reply) for identifier, reply in zip(identifiers, replies, strict=True)]

    def _score(self, example: Example, parsed: Parsed) -> Score:
        if parsed.answer is None:
            return Score(0.0, "unparsable", (), {"reply": parsed.status})
        score = example.score(parsed.answer)
        credit = PARTIAL.get(example.family.NAME)
        if not self.partial or score.status != "wrong" or credit is None:
            return score
        return replace(score, value=credit(score, example), detail={**score.detail, "strict": score.value})

    def example(self, identifier: str) -> Example:
        """The row with this id; an id that the source does not hold is an error."""
        held = self._held.get(identifier)
        if held is not None:
            return held
        known: Example | None = self._rows.get(identifier)
        if known is not None:
            return known
        for folder in self._folders:
            found = self._from_folder(folder, identifier)
            if found is not None:
                return found
        return self._made(identifier)

    def _made(self, identifier: str) -> Example:
        """The row made anew, alone or with its block."""
        name = identifier.partition("@")[0] if isinstance(identifier, str) else ""
        if name not in self._families:
            raise UsageError(f"{shown(identifier)} is not a row of this scorer's source, {shown(self._told())}.")
        family, job, row = locate(identifier)
        block = row - row % BLOCK_ROWS
        misses = (self._misses.get((job.key, block)) or 0) + 1
        self._misses.put([((job.key, block), misses)])
        is_alone = misses < 2 or (isinstance(family, Solitary) and not self.compiled)
        start, stop = (row, row + 1) if is_alone else (block, max(row + 1, min(block + BLOCK_ROWS, job.stop)))
        batch = family.generate(job.rows(start, stop))
        made = {batch.id(place): family.example(batch, place) for place in range(len(batch))}
        self._rows.put(made.items())
        return made[identifier]

    def _from_folder(self, folder: Any, identifier: str) -> Example | None:
        """The row of a folder, read with the rows beside it."""
        key, _, index = identifier.rpartition("/")
        for number, part in enumerate(folder.plan.parts):
            if part.job.key != key or not _INDEX.fullmatch(index):
                continue
            place = int(part.picks.searchsorted(int(index))) if part.is_sample else int(index)
            if place >= part.rows:
                return None
            batch, row = folder.rows_at(number, place)
            found: Example = folder.family.example(batch, row)
            if found.id != identifier:
                return None
            self._rows.put([(identifier, found)])
            return found
        return None

    def _read(self, path: Path) -> dict[str, Example]:
        """The rows of a published file, by id; rows that are none are left out, and two rows of one id are an error."""
        if self.family is None:
            raise UsageError(
                f"{shown(str(path))} is a file: say whose rows it holds with family=, one of {', '.join(FAMILIES)}."
            )
        held: dict[str, Example] = {}
        for row in find_family(self.family).read(path):
            if isinstance(row, Problem):
                continue
            if row.id in held:
                raise FileError(f"two rows of {shown(str(path))} have the id {shown(row.id)}; replies need an id for each row.")
            held[row.id] = row
            if len(held) > MOST_READ:
                raise UsageError(f"{shown(str(path))} has over {MOST_READ:,} rows; cut it into files.")
        return held

    def _told(self) -> str:
        listed = [self.source] if isinstance(self.source, str | Path) else list(self.source or ())
        return ", ".join(one.id if isinstance(one, Example) else str(one) for one in listed[:5])
