"""Proof of a folder. Streams; uses all cores.

Hashes and counts are those of the manifest. The oracle accepts every row, and with it the claim of the row's split. No part
repeats a row more often than it says, and no two parts share one. A few rows are generated again and must be the same.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recombine import __version__, keys
from recombine.abilities import Checking
from recombine.checks import MALFORMED, by_row
from recombine.core import Batch, Family, Part, Problem
from recombine.data import columns
from recombine.data.certificate import certificate
from recombine.data.columns import join, take
from recombine.data.engines import SMALL_JOB_ROWS
from recombine.data.folders import Folder, fingerprint, open_folder
from recombine.data.plan import PartPlan
from recombine.data.shards import sha256_of
from recombine.errors import FileError, RecombineError, UsageError, shown
from recombine.processes import pool

Words = np.ndarray[Any, np.dtype[np.uint64]]
REGENERATED_ROWS = 8
"""Rows of each part that are generated again."""
KEPT_PROBLEMS = 1_000
"""Problems of one kind of check and one severity that are kept with their text; all are counted."""


@dataclass(frozen=True)
class PartFinding:
    """What verification found of one part.

    `errors` counts what is wrong with its rows and files, `leaks` apart; what is wrong with the folder as a whole, such as
    its fingerprint, is in `Verdict.counts` alone.
    """

    split: str
    part: str
    rows: int
    checked: int
    errors: int
    artifacts: int
    leaks: int
    distinct: int = 0
    """How many canonical forms the rows have."""


@dataclass(frozen=True)
class Verdict:
    """The result of `verify`: `ok` is true only if no law was broken anywhere."""

    path: str
    fingerprint: str
    parts: tuple[PartFinding, ...]
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    sampled: int | None = None
    notes: tuple[str, ...] = ()
    """What was not checked, and why."""

    @property
    def ok(self) -> bool:
        """Whether no error was found, among the problems that are kept with their text and those that are only counted."""
        return not _errors(self.counts) and not any(problem.severity == "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """A plain value: also the certificate, which names the fingerprint and who checked it."""
        return {**asdict(self), "ok": self.ok, "checked_by": f"recombine {__version__}"}


@dataclass
class _Found:
    """Problems: all are counted, the first ones are kept with their text."""

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, problem: Problem) -> None:
        """Count a problem, and keep it while there are not too many of its severity."""
        self.counts[f"{problem.severity}:{problem.code}"] += 1
        if self.kept[problem.severity] < KEPT_PROBLEMS:
            self.kept[problem.severity] += 1
            self.problems.append(problem)

    def add_first(self, problems: Sequence[Problem], count: int) -> None:
        """Count so many problems of one code. Only the first of them need be given."""
        for problem in problems:
            self.add(problem)
        if problems:
            self.counts[f"{problems[0].severity}:{problems[0].code}"] += count - len(problems)


def _errors(counts: Mapping[str, int]) -> int:
    """How many errors are among these counts."""
    return sum(count for code, count in counts.items() if code.startswith("error:"))


@dataclass
class _ShardResult(_Found):
    rows: int = 0
    checked: int = 0
    chunks: list[str] = field(default_factory=list)
    forms: list[Words] = field(default_factory=list)


def verify(
    path: str | Path,
    *,
    sample: int | None = None,
    workers: int = 0,
    on_rows: Callable[[int], None] | None = None,
) -> Verdict:
    """Check a folder. `sample=N` runs the oracle on about N rows of each part; hashes, counts and leaks are always whole."""
    if sample is not None and sample < 1:
        raise UsageError(f"sample is {shown(sample)}, but must be at least 1.")
    folder = open_folder(path)
    if folder.plan.format == "native":
        raise UsageError(f"{shown(str(path))} is in the originally released layout; judge its files with `recombine audit`.")
    results = dict(_results(folder, sample, workers, on_rows or (lambda _rows: None)))
    forms = [_forms_of(folder, results, number) for number in range(len(folder.plan.parts))]
    notes: list[str] = []
    whole, own, leaks = _Found(), [_Found() for _ in forms], [_Found() for _ in forms]
    _check_manifest(folder, results, whole, own)
    _check_repeats(folder, forms, own)
    _check_other_rows(folder, notes, own)
    _check_leaks(folder, forms, leaks)
    for problem in _certificate_problems(folder):
        whole.add(problem)
    findings = []
    for number, part in enumerate(folder.plan.parts):
        shards = [results[i] for i, shard in enumerate(folder.plan.shards) if shard.part == number]
        total: Counter[str] = sum((found.counts for found in (own[number], *shards)), Counter())
        errors = _errors(total)
        rows, checked = sum(r.rows for r in shards), sum(r.checked for r in shards)
        leaked = leaks[number].counts.total()
        figures = (rows, checked, errors, total.total() - errors, leaked, len(np.unique(forms[number])))
        findings.append(PartFinding(part.job.split, part.job.part, *figures))
    everything = [whole, *own, *leaks, *results.values()]
    problems = [problem for found in everything for problem in found.problems]
    counts: Counter[str] = sum((found.counts for found in everything), Counter())
    return Verdict(
        str(path),
        str(folder.manifest.get("fingerprint", "")),
        tuple(findings),
        tuple(sorted(problems, key=lambda problem: problem.severity != "error")),
        dict(sorted(counts.items())),
        sample,
        tuple(notes),
    )


def _results(
    folder: Folder, sample: int | None, workers: int, tick: Callable[[int], None]
) -> Iterator[tuple[int, _ShardResult]]:
    numbers = range(len(folder.plan.shards))
    rows = sum(part.rows for part in folder.plan.parts)
    workers = min(workers or os.cpu_count() or 1, len(numbers))
    if workers <= 1 or rows <= SMALL_JOB_ROWS // 4:
        for number in numbers:
            result = _check_shard(folder, number, sample)
            tick(result.rows)
            yield number, result
        return
    with pool(workers) as checkers:
        futures = {number: checkers.submit(_check_shard_at, str(folder.path), number, sample) for number in numbers}
        for number, future in futures.items():
            result = future.result()
            tick(result.rows)
            yield number, result


def _check_shard_at(path: str, number: int, sample: int | None) -> _ShardResult:
    """`_check_shard` in a worker."""
    return _check_shard(open_folder(path), number, sample)


def _check_shard(folder: Folder, number: int, sample: int | None) -> _ShardResult:
    """All checks that need one file only."""
    shard = folder.plan.shards[number]
    part = folder.plan.parts[shard.part]
    result = _ShardResult()
    file = folder.path / shard.path
    seen = shard.start
    try:
        for table in folder.tables(file):
            result.chunks.append(columns.digest(table))
            batch = columns.from_arrow(table, part.job)
            _check_ids(table.column("id"), batch, part, seen, result, shard.path)
            if folder.is_current:
                _check_batch(folder.family, batch, _chosen(part, seen, len(batch), sample), result)
            result.forms.append(canonical_words(folder.family, batch))
            seen += len(batch)
    except (RecombineError, ValueError, UnicodeDecodeError) as problem:
        result.add(Problem("unreadable", str(problem), place=shard.path))
    result.rows = seen - shard.start
    return result


def _check_ids(ids: Any, batch: Batch, part: Any, seen: int, result: _ShardResult, place: str) -> None:
    expected = part.picks[seen : seen + len(batch)] if part.is_sample else np.arange(seen, seen + len(batch))
    indices = batch.indices if batch.indices is not None else np.zeros(0)
    prefixes = {text.as_py().rpartition("/")[0] for text in ids}
    if len(expected) != len(indices) or not np.array_equal(expected, indices) or prefixes - {part.job.key}:
        result.add(
            Problem("wrong_ids", f"the ids of rows {seen} to {seen + len(batch)} are not those of {part.job.key}", place=place)
        )


def _chosen(part: Any, start: int, rows: int, sample: int | None) -> list[int] | None:
    """Rows of this batch that the oracle judges: all, or those whose keyed draw falls under the sampling rate."""
    if sample is None or sample >= part.rows:
        return None
    base, limit = keys.state(part.job.key, "verify"), int(sample / part.rows * (1 << 64))
    return [row for row in range(rows) if keys.item_state(base, start + row) < limit]


def _check_batch(family: Family, batch: Batch, rows: list[int] | None, result: _ShardResult) -> None:
    for row, problem in _problems(family, batch, range(len(batch)) if rows is None else rows, rows is None):
        result.add(_placed(problem, batch.id(row)))
    result.checked += len(batch) if rows is None else len(rows)


def _problems(family: Family, batch: Batch, rows: Sequence[int], is_whole: bool) -> Iterable[tuple[int, Problem]]:
    """The oracle's findings: batched where the family can; row by row where it cannot, or where a row defeats the batch."""
    if is_whole and isinstance(family, Checking):
        try:
            return list(family.validate_batch(batch))
        except MALFORMED:
            pass  # some row is no example: the plain oracle finds which
    return by_row(rows, lambda row: family.validate(family.example(batch, row)))


def _placed(problem: Problem, place: str) -> Problem:
    return Problem(problem.code, problem.text, problem.severity, problem.place or place)


def canonical_words(family: Family, batch: Batch) -> Words:
    """64 bits for each row's canonical form. A row that is no example has a form of its own: the oracle reports it."""
    if isinstance(family, Checking):
        try:
            return family.canonical_batch(batch)
        except MALFORMED:
            pass  # some row is no example
    return np.array([_canonical_word(family, batch, row) for row in range(len(batch))], dtype=np.uint64)


def _canonical_word(family: Family, batch: Batch, row: int) -> int:
    try:
        form = family.canonical(family.example(batch, row))
    except MALFORMED:
        form = f"malformed {batch.id(row)}".encode()
    return int.from_bytes(hashlib.blake2b(form, digest_size=8).digest(), "little")


def _check_manifest(folder: Folder, results: Mapping[int, _ShardResult], whole: _Found, own: Sequence[_Found]) -> None:
    """Every shard is as the manifest says, and no other file is read as rows of its part."""
    recorded = {s["path"]: s for part in folder.manifest.get("parts", []) for s in part["shards"]}
    prints = []
    for part_number, found in enumerate(own):
        chunks: list[str] = []
        for number, shard in enumerate(folder.plan.shards):
            if shard.part != part_number:
                continue
            entry, result = recorded.get(shard.path), results[number]
            chunks += result.chunks
            if entry is None:
                found.add(Problem("missing_record", "the manifest does not list this shard", place=shard.path))
                continue
            try:
                if sha256_of(folder.path / shard.path) != entry["sha256"]:
                    found.add(Problem("wrong_hash", f"the file's SHA-256 is not {entry['sha256'][:16]}…", place=shard.path))
            except FileError as problem:
                found.add(Problem("unreadable", str(problem), place=shard.path))
            if result.rows != shard.stop - shard.start:
                text = f"{result.rows} rows, expected {shard.stop - shard.start}"
                found.add(Problem("wrong_count", text, place=shard.path))
            if result.chunks != entry["chunks"]:
                found.add(Problem("wrong_rows", "the logical rows are not those that were recorded", place=shard.path))
        prints.append(fingerprint(chunks))
        for place in _unlisted(folder, part_number, recorded):
            text = "the manifest does not list this file, but `datasets.load_dataset` reads its rows; move it out of the folder"
            found.add(Problem("unlisted_file", text, place=place))
    if fingerprint(prints) != folder.manifest.get("fingerprint"):
        text = f"the rows have fingerprint {fingerprint(prints)}, the manifest says {folder.manifest.get('fingerprint')}"
        whole.add(Problem("wrong_fingerprint", text))


def _unlisted(folder: Folder, number: int, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Files that the card's pattern for this part matches and that no record or shard of the plan names."""
    job = folder.plan.parts[number].job
    known = {*recorded, *(shard.path for shard in folder.plan.shards)}
    for file in sorted((folder.path / job.split).glob(f"{job.part}-*.{folder.plan.format}")):
        place = f"{job.split}/{file.name}"
        if place not in known and file.is_file():
            yield place


def _certificate_problems(folder: Folder) -> Iterator[Problem]:
    """Problems of the certificate of a user's split: it must agree with the rows, and its claim must hold."""
    told = folder.manifest.get("certificate")
    try:
        found = certificate(folder) if folder.is_current else told
    except (RecombineError, ValueError, IndexError, KeyError) as problem:
        yield Problem("wrong_certificate", f"the certificate cannot be computed again: {problem}", place="manifest.json")
        return
    if (found is None) != (told is None):
        text = "there is no certificate" if told is None else "there is a certificate, but no user's split"
        yield Problem("wrong_certificate", text, place="manifest.json")
    elif found is not None and isinstance(told, dict):
        for name in sorted({*found, *told}):
            if found.get(name) != told.get(name):
                text = f"{name} is {shown(told.get(name))}, but the rows say {shown(found.get(name))}"
                yield Problem("wrong_certificate", text, place="manifest.json")
        if not found["holds"]:
            text = (
                f"rows that satisfy {found['predicate']!r}: {shown(found['satisfying'])} of {shown(found['rows'])}"
                if ("predicate" in found)
                else f"the atom divergence is {found['atom_divergence']}, but must be at most {found['atom_limit']}"
            )
            yield Problem("broken_certificate", text, place="manifest.json")
    elif found is not None:
        yield Problem("wrong_certificate", "the certificate is no record", place="manifest.json")


def _forms_of(folder: Folder, results: Mapping[int, _ShardResult], number: int) -> Words:
    """The canonical form of every row of a part, in order."""
    own = [words for i, shard in enumerate(folder.plan.shards) if shard.part == number for words in results[i].forms]
    return np.concatenate(own) if own else np.zeros(0, np.uint64)


def _id_of(part: PartPlan, row: int) -> str:
    return part.job.id(int(part.picks[row]) if part.is_sample else row)


def _check_repeats(folder: Folder, forms: Sequence[Words], own: Sequence[_Found]) -> None:
    """Rows that stand in their part more often than the part says."""
    for part, words, found in zip(folder.plan.parts, forms, own, strict=True):
        allowed = folder.family.SPLITS[part.job.split].parts[part.job.part].repeats
        if not allowed or not len(words):
            continue
        _, places, counts = np.unique(words, return_index=True, return_counts=True)
        repeated = np.flatnonzero(counts > allowed)
        text = "this example, up to names and order, stands {} times in its part; at most {} are allowed"
        first = [
            Problem("repeated", text.format(counts[i], allowed), place=_id_of(part, int(places[i])))
            for i in repeated[:KEPT_PROBLEMS]
        ]
        found.add_first(first, len(repeated))


def _check_other_rows(folder: Folder, notes: list[str], own: Sequence[_Found]) -> None:
    """A few rows of each part, generated again: rows of another seed, or of another generator, are not the same."""
    if not folder.is_current:
        notes.append(
            "These rows were made by an older version of their recipe: hashes, counts, leaks and repetitions were checked; "
            "the oracle's laws are newer than the rows and were not."
        )
        return
    for number, part in enumerate(folder.plan.parts):
        rows = min(REGENERATED_ROWS, part.rows)
        start = keys.state(part.job.key, "again") % (part.rows - rows + 1)
        try:
            made = join(list(part.batches(folder.family, start, start + rows)))
            found = join([_row(folder, number, row) for row in range(start, start + rows)])
        except (RecombineError, IndexError, ValueError) as problem:
            notes.append(f"rows of {part.job.split}/{part.job.part} were not generated again: {problem}")
            continue
        tables = [columns.to_arrow(batch, folder.family.SCHEMA) for batch in (made, found)]
        if not tables[0].equals(tables[1]):
            text = f"rows {start} to {start + rows} are not those that {part.job.key} generates"
            own[number].add(Problem("other_rows", text, place=part.job.id(start)))


def _row(folder: Folder, number: int, row: int) -> Batch:
    batch, place = folder.rows_at(number, row)
    return take(batch, np.array([place]))


def _check_leaks(folder: Folder, forms: Sequence[Words], leaks: Sequence[_Found]) -> None:
    """For each part, the rows of earlier parts of its split whose canonical form it repeats."""
    parts = folder.plan.parts
    for b, later in enumerate(parts):
        for a, earlier in enumerate(parts[:b]):
            is_choice = bool(earlier.chosen and later.chosen)  # a search takes no row of a common pool twice
            if not is_choice and not _must_be_disjoint(folder.family, earlier.job, later.job):
                continue
            shared = np.flatnonzero(np.isin(forms[b], forms[a]))
            text = f"the same example, up to names and order, is also in {earlier.job.split}/{earlier.job.part}"
            first = [Problem("leak", text, place=_id_of(later, int(row))) for row in shared[:KEPT_PROBLEMS]]
            leaks[b].add_first(first, len(shared))


def _must_be_disjoint(family: Family, a: Any, b: Any) -> bool:
    """Parts of one split, and a test set with the parts that its split aliases, must not share an example."""
    split_a, split_b = family.SPLITS[a.split], family.SPLITS[b.split]
    if a.split == b.split:
        one: Part = split_a.parts[a.part]
        two: Part = split_b.parts[b.part]
        return a.part not in two.shares and b.part not in one.shares
    return (a.split, a.part) in split_b.aliases.values() or (b.split, b.part) in split_a.aliases.values()
