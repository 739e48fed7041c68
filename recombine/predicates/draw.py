"""Rows of a split that holds a predicate out, drawn from proposals.

A family proposes rows: from tables that already fit as much of the predicate as it can settle before it builds worlds. Here the
whole predicate is judged on the proposed columns, and rows that do not fit are drawn again. Row i depends on the job and i alone:
attempt a of row i is a row of its own stream, whatever rows are asked for beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recombine.batches import join, take
from recombine.core import Batch, Job, Option, OptionValue, option
from recombine.errors import Infeasible, UsageError
from recombine.facets import Facet
from recombine.predicates.parser import parse
from recombine.predicates.syntax import Predicate, atoms, format_predicate
from recombine.predicates.truth import mask

if TYPE_CHECKING:
    from recombine.columns import Column

HOLD_OUT = "hold_out"
"""The split of every family that holds out the rows of a predicate."""
PREDICATE = "predicate"
"""The option that holds the predicate."""
ATTEMPTS = (1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Proposals for one row, round by round."""
GAP_ROWS = 48
"""A gap of up to this many rows between two missing rows is proposed again, so that one request covers both."""
PROBES = (200, 1_000, 5_000, 20_000)
"""Numbers of proposals after which the rate of fitting proposals is checked."""
ENOUGH_HITS = 8
RAREST = 1 / 5_000
"""A rate of fitting proposals below this is refused."""
CHUNK_ROWS = 20_000
"""Most proposals that are held at once."""
NOT_FITTING = "the predicate decides otherwise"
"""The reason under which refused proposals are counted."""

FacetTable = Mapping[str, Facet]


@dataclass(frozen=True)
class PredicateOption(Option):
    """An option whose value is a predicate over a family's facets, in canonical text."""

    facets: Callable[[], FacetTable] = dict
    family: str = ""

    def parse(self, name: str, value: object) -> OptionValue:
        """The canonical text; a clear error if the value is no predicate of this family."""
        if not isinstance(value, str):
            raise UsageError(f"option {name} takes a predicate such as {self.default!r}, not {value!r}.")
        return format_predicate(parse(value, self.facets(), self.family))


def predicate_of(job: Job, options: Mapping[str, Option]) -> Predicate:
    """The predicate that the job's split holds out."""
    table = options[PREDICATE]
    assert isinstance(table, PredicateOption)
    return _parsed(str(option(job, options, PREDICATE)), table)


def predicate_text(job: Job, options: Mapping[str, Option]) -> str:
    """The same as canonical text."""
    return str(option(job, options, PREDICATE))


@functools.lru_cache(maxsize=256)
def _parsed_text(text: str, family: str, facets: Callable[[], FacetTable]) -> Predicate:
    return parse(text, facets(), family)


def _parsed(text: str, table: PredicateOption) -> Predicate:
    return _parsed_text(text, table.family, table.facets)


# --- drawing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where rows come from: `propose` makes rows of a job, `facet_columns` says what they are."""

    propose: Callable[[Job], Batch]
    facet_columns: Callable[[Batch, Sequence[str]], Mapping[str, Column]]

    def fits(self, batch: Batch, predicate: Predicate, is_wanted: bool) -> NDArray[np.bool_]:
        """Which rows may stand in the part: those that satisfy the predicate, or those that do not."""
        names = sorted({atom.facet for atom in atoms(predicate)})
        found: NDArray[np.bool_] = mask(predicate, self.facet_columns(batch, names)) == is_wanted
        return found


def draw(job: Job, predicate: Predicate, source: Source, *, is_wanted: bool) -> Batch:
    """Rows [job.start, job.stop) of a part whose rows all satisfy the predicate, or none of them does."""
    rate(job, predicate, source, is_wanted=is_wanted)
    if job.stop <= job.start:
        return replace(source.propose(job.rows(job.start, job.start)), job=job)
    missing = np.arange(job.start, job.stop, dtype=np.int64)
    found: dict[int, tuple[int, int]] = {}  # row -> (piece, place in it)
    pieces: list[Batch] = []
    refused = 0
    rejections: dict[str, int] = {}
    for turn, attempts in enumerate(ATTEMPTS):
        stream = _stream(job, turn)
        for low, high in _runs(missing, attempts):
            made = source.propose(stream.rows(low * attempts, high * attempts))
            for reason, count in made.rejections.items():
                rejections[reason] = rejections.get(reason, 0) + count
            fits = source.fits(made, predicate, is_wanted).reshape(high - low, attempts)
            asked = missing[(missing >= low) & (missing < high)] - low
            has = fits[asked].any(axis=1)
            first = fits.argmax(axis=1)
            refused += int(np.where(has, first[asked], attempts).sum())
            keep = asked[has]
            if len(keep):
                found.update((int(low + row), (len(pieces), place)) for place, row in enumerate(keep))
                pieces.append(take(made, keep * attempts + first[keep]))
        missing = np.array([row for row in missing if int(row) not in found], dtype=np.int64)
        if not len(missing):
            break
    if len(missing):
        raise Infeasible(
            f"row {int(missing[0])} of {job.key} was not found in {sum(ATTEMPTS):,} draws; hold out something less rare."
        )
    if refused:
        rejections[NOT_FITTING] = refused
    return _ordered(job, pieces, found, rejections)


def _ordered(job: Job, pieces: list[Batch], found: Mapping[int, tuple[int, int]], rejections: Mapping[str, int]) -> Batch:
    """The found rows in the order of their indices."""
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
    whole = join(pieces)
    order = np.array([starts[found[row][0]] + found[row][1] for row in range(job.start, job.stop)], dtype=np.int64)
    return Batch(job, job.start, take(whole, order).columns, dict(rejections))


def _stream(job: Job, turn: int) -> Job:
    """The job whose rows are the proposals of one round."""
    return replace(job, options=(*job.options, ("attempt", turn)))


def _runs(rows: NDArray[np.int64], attempts: int) -> Iterator[tuple[int, int]]:
    """Ranges that cover the rows: short gaps are bridged, and no range holds too many proposals."""
    gap, most = max(1, GAP_ROWS // attempts), max(1, CHUNK_ROWS // attempts)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > gap) + 1):
        if len(run):
            low, stop = int(run[0]), int(run[-1]) + 1
            while low < stop:
                yield low, min(stop, low + most)
                low += most


# --- how rare --------------------------------------------------------------------------------------------------------


def rate(job: Job, predicate: Predicate, source: Source, *, is_wanted: bool) -> float:
    """The share of proposals that fit the part, measured on a stream of its own; an `Infeasible` if it is too small."""
    return _rate(replace(job, start=0, stop=0), predicate, source, is_wanted)


@functools.lru_cache(maxsize=256)
def _rate(job: Job, predicate: Predicate, source: Source, is_wanted: bool) -> float:
    stream = replace(job, options=(*job.options, ("attempt", -1)))
    hits = tried = 0
    for stop in PROBES:
        made = source.propose(stream.rows(tried, stop))
        hits += int(source.fits(made, predicate, is_wanted).sum())
        tried = stop
        if hits >= ENOUGH_HITS:
            break
    if hits / tried < RAREST:
        raise too_rare(job, predicate, hits, tried, is_wanted)
    return hits / tried


def too_rare(job: Job, predicate: Predicate, hits: int, tried: int, is_wanted: bool) -> Infeasible:
    """The error for a part that has no rows, or hardly any."""
    text = format_predicate(predicate)
    seen = f"none of {tried:,} examples drawn for it" if not hits else f"only {hits} of {tried:,} examples drawn for it"
    if is_wanted:
        return Infeasible(
            f"the test part of {job.family} would be (nearly) empty: {seen} satisfies {text!r}. "
            f"Hold out something less rare, or set options that make it commoner."
        )
    return Infeasible(
        f"the {job.part} part of {job.family} would be (nearly) empty: {seen} fails {text!r}. Hold out less: add a condition."
    )
