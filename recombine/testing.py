"""A conformance kit for families, ours and others': `check_family(family)` tries every promise of `core.Family` on real rows.

    from recombine.testing import check_family

    def test_my_family() -> None:
        check_family(MY_FAMILY)

Every check is a function that returns the broken promises as sentences, so a test runner can also call them one by one:
those in `PART_CHECKS` for each `case` of `cases(family)`, those in `FAMILY_CHECKS` once. `golden` and `compare_golden` keep rows
as they are from release to release.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.abilities import Checking
from recombine.core import Batch, Example, Family, Job, Problem
from recombine.data import columns
from recombine.data.verify import canonical_words
from recombine.errors import RecombineError
from recombine.jobs import make_job

ROWS = 6
"""Rows that the detailed checks of one part use."""
WIDE_ROWS = 300
"""Rows over which seeds and parts are compared."""
SEED = 7
NEAR_AND_FAR = (SEED + 1, 1_000_003)
"""Other seeds, compared with SEED: a neighbour, and a distant one."""
MANY_SPLITS = 40
"""A family with more splits is checked on one split of each kind: those whose names differ only in numbers."""
FAR_ROW = 10**6
"""The index of a test row that is put into train. It lies beyond the rows that train may hold for other reasons."""
WHOLE_ROWS = 25_000
"""A check that needs whole parts compares finite parts up to this size."""
KNOWN_FORMS = 2_000
"""Parts whose canonical forms are kept for the next check."""
KNOWN_ROWS = 16
"""Batches that are kept for the next check: the checks of one part look at the same few rows."""
HOSTILE = (
    "", " ", "\0", "x" * 100_000, "__import__('os').system('x')", "I_WALK " * 20_000, "🙂", "[[" * 5_000, "\ud800", "²", "٣", "\u2028",
    "\x85", "9" * 5_000,
)  # fmt: skip
"""Answers that must score nothing and raise nothing. `²` is a digit and no number; Python reads no number of 5,000 digits."""


class Case(NamedTuple):
    """One part of one split under one recipe."""

    recipe: str
    split: str
    part: str


class Nonconforming(AssertionError):
    """A family broke its promises; the message lists them."""


def check_family(family: Family, *, only: Iterable[str] = ()) -> None:
    """Run every check (or those named in `only`); raise `Nonconforming` with all broken promises."""
    wanted = set(only) or {*PART_CHECKS, *FAMILY_CHECKS}
    found = [f"{name}: {text}" for name, check in FAMILY_CHECKS.items() if name in wanted for text in check(family)]
    for case in cases(family):
        job = make_job(family, case.split, case.part, case.recipe, SEED)
        for name, check in PART_CHECKS.items():
            if name in wanted:
                found += [f"{'/'.join(case)}: {name}: {text}" for text in check(family, job)]
    if found:
        raise Nonconforming(f"{family.NAME} breaks {len(found)} promises:\n" + "\n".join(found[:50]))


def cases(family: Family) -> Iterator[Case]:
    """Every part to try. Splits that are read from published files are left out."""
    for recipe in family.RECIPES:
        for split in kinds(family):
            if recipe in family.SPLITS[split].recipes:
                for part in family.SPLITS[split].parts:
                    yield Case(recipe, split, part)


def kinds(family: Family) -> list[str]:
    """The splits to try: all, or the first of those whose names differ only in their numbers."""
    found: dict[str, str] = {}
    for name, split in family.SPLITS.items():
        if not split.needs_files:
            found.setdefault(re.sub(r"\d+", "#", name) if len(family.SPLITS) > MANY_SPLITS else name, name)
    return list(found.values())


# --- one part --------------------------------------------------------------------------------------------------------


def check_purity(family: Family, job: Job) -> Iterator[str]:
    """The same job gives the same rows, slices join to the whole, and single rows are those of the whole."""
    stop = min(ROWS, job.stop)
    whole = _rows(family, job, 0, stop)
    if len(whole) != stop or not stop:
        yield f"rows 0 to {stop} were asked for, and {len(whole)} came"
        return
    if not _same(family, whole, _fresh(family, job, 0, stop)):
        yield "the same job gives other rows"
    middle = stop // 3
    pieces = [_fresh(family, job, *edges) for edges in ((0, middle), (middle, stop)) if edges[0] < edges[1]]
    if not _same(family, whole, columns.join(pieces)):
        yield "slices do not join to the whole"
    last = _fresh(family, job, stop - 1, stop)
    if last.row(0) != whole.row(stop - 1):
        yield f"row {stop - 1} alone is another row than among its neighbours"


def check_examples(family: Family, job: Job) -> Iterator[str]:
    """Examples survive a file, keep every law, have a proof, and their own answer scores 1."""
    batch = _rows(family, job, 0, min(ROWS, job.stop))
    back = columns.from_arrow(columns.to_arrow(batch, family.SCHEMA), job)
    for row in range(len(batch)):
        example, again = family.example(batch, row), family.example(back, row)
        yield from (f"row {row}: {text}" for text in _broken(example, again, job.id(row)))
    if isinstance(family, Checking):
        plain = [(row, p) for row in range(len(batch)) for p in family.validate(family.example(batch, row))]
        yield from _different(plain, list(family.validate_batch(batch)))
        if len(family.canonical_batch(batch)) != len(batch):
            yield "canonical_batch has another length than the batch"


def _different(plain: list[tuple[int, Problem]], batched: list[tuple[int, Problem]]) -> Iterator[str]:
    """Errors must agree one by one. A batch may name an artifact once that a row shows in several places."""
    errors = [sorted((row, p.code) for row, p in found if p.severity == "error") for found in (plain, batched)]
    if errors[0] != errors[1]:
        yield f"validate_batch finds the errors {errors[1][:3]}, validate finds {errors[0][:3]}"
    artifacts = [{(row, p.code) for row, p in found if p.severity == "artifact"} for found in (plain, batched)]
    if artifacts[0] != artifacts[1]:
        yield f"validate_batch and validate differ in the artifacts {sorted(artifacts[0] ^ artifacts[1])[:3]}"


def _broken(example: Example, again: Example, identifier: str) -> Iterator[str]:
    family = example.family
    if not example.id == again.id == identifier:
        yield f"its id is {example.id}, and {again.id} from a file; expected {identifier}"
    if dict(example.inputs) != dict(again.inputs) or example.answer != again.answer:
        yield "its inputs or its answer do not survive a file"
    if family.canonical(example) != family.canonical(again):
        yield "its canonical form does not survive a file"
    yield from (f"it breaks a law: {p.code}: {p.text}" for p in again.validate() if p.severity == "error")
    if (score := example.score(example.answer)).value != 1.0 or score.status != "right":
        yield f"its own answer scores {score.value} ({score.status})"
    explanation = example.explain()
    if not explanation.steps or not explanation.shortcuts:
        yield "it has no proof, or no shortcut reader"
    for shortcut in explanation.shortcuts:
        given = example.score(shortcut.answer) if shortcut.answer is not None else None
        if given is not None and given.value < 1.0 and shortcut.name not in given.mistakes:
            yield f"the answer of the reader {shortcut.name} is not named after it, but {given.mistakes}"
    yield from (f"the answer {text[:40]!r} scores" for text in HOSTILE if example.score(text).value != 0.0)
    if not str(example.render("text")).strip():
        yield "it has no text"


def check_corruption(family: Family, job: Job) -> Iterator[str]:
    """The oracle refuses an example whose answer was replaced by a careless reader's, or by nonsense."""
    example = family.example(_rows(family, job, 0, 1), 0)
    wrong = [s.answer for s in example.explain().shortcuts if s.answer is not None and example.score(s.answer).value < 1.0]
    for answer in [*wrong[:3], "nonsense"]:
        if not _errors(family, dataclasses.replace(example, answer=answer)):
            yield f"the oracle accepts the answer {answer[:80]!r}"


def check_claim(family: Family, job: Job) -> Iterator[str]:
    """The split's claim accepts the part's own rows, and refuses held-out test rows in training."""
    claim = family.CLAIMS.get(job.split)
    if claim is None:
        return  # `check_tables` says so
    batch = _rows(family, job, 0, min(20, job.stop))
    split = family.SPLITS[job.split]
    for row in range(len(batch)):
        example = family.example(batch, row)
        if reason := claim(example, job.part):
            yield f"row {row} is refused in its own part: {reason}"
    if split.axis == "random" or not job.part.startswith("test"):
        return
    for name, where in _training(family, job):
        judge = family.CLAIMS.get(where.split)
        for row in range(len(batch) if judge else 0):
            moved = family.example(batch, row)
            meta = {**moved.meta, "split": where.split, "part": where.part}
            if not _errors(family, dataclasses.replace(moved, id=where.id(FAR_ROW + row), meta=meta)):
                yield f"row {row} may stand in {name}, though the split holds it out"


def _training(family: Family, job: Job) -> Iterator[tuple[str, Job]]:
    """The training part of the job's split, under its own name and under the one that it aliases."""
    split = family.SPLITS[job.split]
    if "train" in split.parts:
        yield f"{job.split}/train", dataclasses.replace(job, part="train")
    elif "train" in split.aliases:
        other, part = split.aliases["train"]
        yield f"{other}/{part}", dataclasses.replace(job, split=other, part=part)


def check_seeds(family: Family, job: Job) -> Iterator[str]:
    """Two seeds share no more canonical forms than chance; a part that is the same for every seed says so."""
    part = family.SPLITS[job.split].parts[job.part]
    if part.fixed:
        other = dataclasses.replace(job, seed=NEAR_AND_FAR[0])
        if job.stop <= WHOLE_ROWS and not _same_forms(family, job, other):
            yield "it says `fixed`, but two seeds give other rows"
        return
    rows = min(WIDE_ROWS, job.stop)
    mine = _forms(family, job, rows)
    for seed in NEAR_AND_FAR:
        other = make_job(family, job.split, job.part, job.recipe, seed)
        theirs = _forms(family, other, min(WIDE_ROWS, other.stop))
        shared = len(np.intersect1d(mine, theirs))
        chance = rows * len(theirs) / part.exists if part.exists else 0.0
        if shared > 3 * chance + 6:
            yield f"seeds {SEED} and {seed} share {shared} of {rows} rows; by chance about {chance:.0f}"


def check_repeats(family: Family, job: Job) -> Iterator[str]:
    """No canonical form stands in the part more often than the part allows."""
    part = family.SPLITS[job.split].parts[job.part]
    if not part.repeats:
        return
    _, counts = np.unique(_forms(family, job, min(WIDE_ROWS, job.stop)), return_counts=True)
    if counts.max() > part.repeats:
        yield f"one row stands there {counts.max()} times; the part allows {part.repeats}"


def check_media(family: Family, job: Job) -> Iterator[str]:
    """Every medium renders; pictures are pictures and hold no script."""
    if not job.part.startswith("test"):
        return
    example = family.example(_rows(family, job, 0, 1), 0)
    for medium in family.MEDIA:
        made = example.render(medium)
        if medium == "png":
            is_fine = isinstance(made, bytes) and made.startswith(b"\x89PNG")
        else:
            is_fine = isinstance(made, str) and "<script" not in made
            is_fine = is_fine and (medium != "svg" or str(made).lstrip().startswith("<svg"))
        if not is_fine:
            yield f"{medium} is not what it says"


PartCheck = Callable[[Family, Job], Iterator[str]]
PART_CHECKS: Mapping[str, PartCheck] = {
    "purity": check_purity,
    "examples": check_examples,
    "corruption": check_corruption,
    "claim": check_claim,
    "seeds": check_seeds,
    "repeats": check_repeats,
    "media": check_media,
}


# --- the whole family ------------------------------------------------------------------------------------------------


def check_tables(family: Family) -> Iterator[str]:
    """Every split has a claim and every claim a split; names agree; sizes are what the parts hold."""
    unjudged, unknown = set(family.SPLITS) - set(family.CLAIMS), set(family.CLAIMS) - set(family.SPLITS)
    if unjudged:
        yield f"the oracle has no claim for {', '.join(sorted(unjudged))}"
    if unknown:
        yield f"the oracle has claims for {', '.join(sorted(unknown))}, which are no splits"
    for name, split in family.SPLITS.items():
        if name != split.name:
            yield f"split {split.name!r} is listed as {name!r}"
        yield from (
            f"part {part.name!r} of {name} is listed as {key!r}" for key, part in split.parts.items() if key != part.name
        )
        for other, part_name in split.aliases.values():
            if part_name not in family.SPLITS[other].parts:
                yield f"{name} aliases {other}/{part_name}, which does not exist"


def check_sizes(family: Family) -> Iterator[str]:
    """A finite part holds exactly the rows that it declares: the last one exists, and there is none after it."""
    for recipe, split, part in cases(family):
        if family.SPLITS[split].parts[part].finite:
            job = make_job(family, split, part, recipe, SEED)
            if len(_rows(family, job, job.stop - 1, job.stop)) != 1:
                yield f"{recipe}/{split}/{part} declares {job.stop:,} rows, but row {job.stop - 1:,} does not exist"
            if _has_row(family, job, job.stop):
                yield f"{recipe}/{split}/{part} declares {job.stop:,} rows, but has more"


def check_overlap(family: Family) -> Iterator[str]:
    """No two parts of a split share an example, unless the part says so; nor a test part and the training that it aliases."""
    for split in kinds(family):
        chosen = family.SPLITS[split]
        for recipe in (r for r in family.RECIPES if r in chosen.recipes):
            seen: dict[str, NDArray[np.uint64]] = {}
            for part in (*chosen.aliases, *chosen.parts):
                job = make_job(family, split, part, recipe, SEED)
                words = _forms(family, job, min(WIDE_ROWS, job.stop))
                for other, theirs in seen.items():
                    if not _may_share(family, split, part, other) and (count := int(np.isin(words, theirs).sum())):
                        yield f"{recipe}/{split}: {part} shares {count} of {len(words)} rows with {other}"
                seen[part] = words


def _may_share(family: Family, split: str, part: str, other: str) -> bool:
    parts = family.SPLITS[split].parts
    if part not in parts or other not in parts:
        return part not in parts and other not in parts
    return other in parts[part].shares or part in parts[other].shares


def check_requests(family: Family) -> Iterator[str]:
    """Wrong names, seeds and options are typed errors."""
    wrong: tuple[dict[str, Any], ...] = (
        {"split": "no-such"}, {"part": "no-such"}, {"recipe": "no-such"}, {"seed": -1}, {"options": {"no_such": 1}},
        {"split": "../x"}, {"split": "\0"},
    )  # fmt: skip
    for words in wrong:
        try:
            make_job(family, **words)
        except RecombineError:
            continue
        yield f"{words} is accepted"


FAMILY_CHECKS: Mapping[str, Callable[[Family], Iterator[str]]] = {
    "tables": check_tables,
    "sizes": check_sizes,
    "overlap": check_overlap,
    "requests": check_requests,
}


# --- golden rows -----------------------------------------------------------------------------------------------------

GOLDEN_ROWS, GOLDEN_SEED = 3, 11


def golden(family: Family) -> dict[str, Any]:
    """For every recipe, split and part: the digest of the first rows, and the first example's answer and inputs."""
    found: dict[str, Any] = {"version": {name: recipe.version for name, recipe in family.RECIPES.items()}}
    for recipe in family.RECIPES:
        for split in family.SPLITS.values():
            if recipe not in split.recipes or split.needs_files:
                continue
            for part in split.parts:
                job = make_job(family, split.name, part, recipe, GOLDEN_SEED)
                batch = _rows(family, job, 0, min(GOLDEN_ROWS, job.stop))
                example = family.example(batch, 0)
                found[job.key] = {
                    "rows": columns.digest(columns.to_arrow(batch, family.SCHEMA)),
                    "answer": example.answer,
                    "inputs": hashlib.sha256(json.dumps(example.inputs, sort_keys=True).encode()).hexdigest()[:16],
                }
    return found


def compare_golden(kept: Mapping[str, Any], made: Mapping[str, Any]) -> list[str]:
    """Differences from the kept rows, each with advice; empty if there are none."""
    changed = sorted(key for key in kept.keys() & made.keys() if kept[key] != made[key] and key != "version")
    new, gone = sorted(made.keys() - kept.keys()), sorted(kept.keys() - made.keys())
    if kept["version"] != made["version"]:
        return [f"the version is {made['version']}, and {kept['version']} was kept: write the golden rows anew"]
    found = []
    if changed:
        found.append(f"{len(changed)} jobs yield other rows, such as {changed[0]}: raise the recipe's version, then write anew")
    if new:
        found.append(f"{len(new)} jobs are new, such as {new[0]}: write the golden rows anew, no version need change")
    if gone:
        found.append(f"{len(gone)} jobs are gone, such as {gone[0]}: say so in the changelog, then write anew")
    return found


# --- rows ------------------------------------------------------------------------------------------------------------


def _fresh(family: Family, job: Job, start: int, stop: int) -> Batch:
    """Rows made now."""
    return family.generate(job.rows(start, stop))


def _rows(family: Family, job: Job, start: int, stop: int) -> Batch:
    """The same rows, made once and cached for the next checks; `check_purity` checks that making them anew changes none."""
    key = (id(family), job.key, start, stop)
    if key not in _MADE:
        while len(_MADE) >= KNOWN_ROWS:
            del _MADE[next(iter(_MADE))]  # the oldest
        _MADE[key] = family, _fresh(family, job, start, stop)
    return _MADE[key][1]


def _has_row(family: Family, job: Job, row: int) -> bool:
    try:
        return len(_fresh(family, job, row, row + 1)) > 0
    except (RecombineError, IndexError):
        return False


def _forms(family: Family, job: Job, rows: int) -> NDArray[np.uint64]:
    """64 bits for the canonical form of each of the first rows; several checks look at the same."""
    key = (id(family), job.key, rows)
    if key not in _KNOWN:
        if len(_KNOWN) >= KNOWN_FORMS:
            _KNOWN.clear()
        _KNOWN[key] = family, canonical_words(family, _fresh(family, job, 0, rows))
    return _KNOWN[key][1]


_MADE: dict[tuple[int, str, int, int], tuple[Family, Batch]] = {}
_KNOWN: dict[tuple[int, str, int], tuple[Family, NDArray[np.uint64]]] = {}
"""By the family's identity, with the family, so that no other one can take its place in memory."""


def _same_forms(family: Family, a: Job, b: Job) -> bool:
    """Whether two whole parts hold the same rows, in any order."""
    return bool(np.array_equal(np.sort(_forms(family, a, a.stop)), np.sort(_forms(family, b, b.stop))))


def _same(family: Family, a: Batch, b: Batch) -> bool:
    tables = [columns.to_arrow(batch, family.SCHEMA).drop(["id"]) for batch in (a, b)]
    return bool(tables[0].equals(tables[1]))


def _errors(family: Family, example: Example) -> list[str]:
    return [problem.code for problem in family.validate(example) if problem.severity == "error"]
