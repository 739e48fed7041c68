"""Matched pairs: two examples that differ in exactly one facet.

In a *sensitivity* pair the answer must change with the facet; in an *invariance* pair it must not. A folder of pairs holds `pairs.jsonl`, two lines for
each pair with inputs, answer and proof, and `pairs.json`, from which the same pairs are made anew. Every pair is judged by the family's oracle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from recombine import __version__
from recombine.abilities import Bounded, Pairing
from recombine.core import Example, Family, Job
from recombine.data.datasets import Dataset
from recombine.data.plan import PartPlan, plan_part
from recombine.errors import FileError, Infeasible, UnknownName, UsageError, shown
from recombine.families import family as find_family
from recombine.files import Kind, holds, inside, own_folder, read_json, write_json, write_text
from recombine.jobs import make_job
from recombine.schemas import check, listing, mapping, option, record, text, whole

PAIRS_FILE, ABOUT_FILE, ALL = "pairs.jsonl", "pairs.json", "all"
MOST_TRIES = 200
"""Rows that are tried for each wanted pair before the search gives up."""
ABOUT_SHAPE = record({
    "package": text(60), "family": text(40), "version": whole(1, 10**6), "recipe": text(40), "split": text(200), "part": text(200),
    "seed": whole(0, (1 << 63) - 1), "options": mapping(option), "facets": listing(text(60), least=1), "size": whole(1, 10**6),
    "sha256": text(64),
})  # fmt: skip
FOLDER = Kind(
    "a folder of `recombine generate --pairs`",
    lambda folder: holds(folder / ABOUT_FILE, lambda found: isinstance(found["facets"], list)),
)


@dataclass(frozen=True)
class Pair:
    """Two examples that differ in one facet. `name` is the pair's id; its members are `name/1` and `name/2`."""

    name: str
    facet: str
    kind: str
    first: Example
    second: Example

    def members(self) -> Iterator[tuple[str, Example]]:
        """(id, example) of both."""
        yield f"{self.name}/1", self.first
        yield f"{self.name}/2", self.second

    def lines(self) -> Iterator[str]:
        """Both members as JSON, with their proofs."""
        for name, example in self.members():
            row = {
                "id": name, "pair": self.name, "facet": self.facet, "kind": self.kind, "inputs": dict(example.inputs),
                "answer": example.answer, "proof": list(example.explain().steps),
            }  # fmt: skip
            yield json.dumps(row, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def facets_of(family: Family, wanted: str) -> tuple[str, ...]:
    """The facets that `--pairs` names; `all` is every one of the family."""
    if not isinstance(family, Pairing):
        raise UsageError(f"{family.NAME} makes no matched pairs.")
    if wanted == ALL:
        return tuple(family.PAIRS)
    if wanted not in family.PAIRS:
        raise UnknownName(f"facet of {family.NAME}'s pairs", wanted, [*family.PAIRS, ALL])
    return (wanted,)


def make_pairs(family: Family, job: Job, facets: Sequence[str], size: int) -> Iterator[Pair]:
    """`size` pairs for each facet: the first rows of the part that have a partner, each pair judged by the oracle."""
    assert isinstance(family, Pairing)
    is_finite = family.SPLITS[job.split].parts[job.part].finite
    most = min(size * MOST_TRIES, family.bound(job)) if isinstance(family, Bounded) and not is_finite else size * MOST_TRIES
    plan = plan_part(family, job, None if is_finite else most)
    missing = dict.fromkeys(facets, size)
    for example in _growing(family, plan, size):
        for facet in facets:
            if not missing[facet]:
                continue
            other = family.partner(example, facet)
            if other is None:
                continue
            problems = family.pair_problems(example, other, facet)
            if problems:
                raise Infeasible(f"the pair {other.id} is not a pair: {'; '.join(problems)[:300]}.")
            missing[facet] -= 1
            yield Pair(other.id, facet, family.PAIRS[facet], example, other)
        if not any(missing.values()):
            return
    short = ", ".join(f"{facet} ({size - count:,})" for facet, count in missing.items() if count)
    raise Infeasible(f"{job.key} has fewer than {size:,} pairs of: {short}; ask for fewer, or take another part.")


def _growing(family: Family, plan: PartPlan, rows: int) -> Iterator[Example]:
    """The rows of a part: about as many as are needed first, then twice as many each time."""
    start = 0
    while start < plan.rows:
        stop = min(start + rows, plan.rows)
        for batch in plan.batches(family, start, stop):
            yield from (family.example(batch, row) for row in range(len(batch)))
        start, rows = stop, 2 * rows


def write_pairs(
    out: str | Path,
    family: str,
    facet: str,
    *,
    size: int = 1000,
    split: str | None = None,
    part: str | None = None,
    recipe: str | None = None,
    seed: int = 0,
    options: Mapping[str, object] | None = None,
) -> dict[str, int]:
    """Make pairs and write them into a folder; returns how many there are of each facet."""
    found = find_family(family)
    facets = facets_of(found, facet)
    job = make_job(found, split, part, recipe, seed, options)
    if not 1 <= size <= 10**6:
        raise UsageError(f"size is {size}, but must be 1 to 1,000,000 pairs for each facet.")
    folder = own_folder(out, FOLDER)
    _check_same(folder, found, job, facets, size)
    lines = [line for pair in make_pairs(found, job, facets, size) for line in pair.lines()]
    body = "".join(line + "\n" for line in lines)
    about = {
        "package": f"recombine {__version__}", "family": found.NAME, "version": job.version, "recipe": job.recipe, "split": job.split,
        "part": job.part, "seed": job.seed, "options": dict(job.options), "facets": list(facets), "size": size,
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }  # fmt: skip
    write_text(inside(folder, PAIRS_FILE), body)
    write_json(inside(folder, ABOUT_FILE), about)
    return dict.fromkeys(facets, size)


def _check_same(folder: Path, family: Family, job: Job, facets: Sequence[str], size: int) -> None:
    """Other pairs in the folder are not replaced; the same ones may be written again."""
    file = inside(folder, ABOUT_FILE)
    if not file.is_file():
        return
    about = read_json(file, 1 << 20)
    check(about, ABOUT_SHAPE, shown(str(file)))
    there = (about["family"], about["version"], about["recipe"], about["split"], about["part"], about["seed"], about["options"])
    wanted = (family.NAME, job.version, job.recipe, job.split, job.part, job.seed, dict(job.options))
    if (*there, about["facets"], about["size"]) != (*wanted, list(facets), size):
        told = f"{about['size']:,} pairs for {', '.join(about['facets'])} of {about['family']} {about['split']}/{about['part']}"
        raise FileError(f"{shown(str(folder))} holds another job ({told}); choose another folder.")


def is_pairs(path: str | Path) -> bool:
    """Whether a folder holds pairs."""
    return (Path(path) / ABOUT_FILE).is_file()


def read_pairs(path: str | Path) -> list[Pair]:
    """The pairs of a folder, made anew from its description; a file that says something else is an error."""
    file = inside(Path(path), ABOUT_FILE)
    about = read_json(file, 1 << 20)
    check(about, ABOUT_SHAPE, shown(str(file)))
    family = find_family(about["family"])
    for facet in about["facets"]:
        facets_of(family, facet)
    job = make_job(family, about["split"], about["part"], about["recipe"], about["seed"], about["options"])
    if job.version != about["version"]:
        raise FileError(
            f"{shown(str(file))} is of version {about['version']} of {family.NAME}; this package makes {job.version}."
        )
    found = list(make_pairs(family, job, about["facets"], about["size"]))
    state = hashlib.sha256()
    for pair in found:
        for line in pair.lines():
            state.update(line.encode() + b"\n")
    there = hashlib.sha256(inside(Path(path), PAIRS_FILE).read_bytes()).hexdigest()
    if state.hexdigest() != about["sha256"] or there != about["sha256"]:
        raise FileError(f"{shown(str(path))} does not hold the pairs that its description gives; make them anew.")
    return found


@dataclass(frozen=True)
class PairRows(Dataset):
    """The rows of a folder of pairs, the two of each pair one after the other, under the ids of `pairs.jsonl`."""

    members: tuple[Example, ...] = ()

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.members)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The row at an index, or a list of rows for a slice."""
        return list(self.members[index]) if isinstance(index, slice) else self.members[index]

    @property
    def fingerprint(self) -> str:
        """32 hex digits that stand for the ids, in order."""
        return hashlib.sha256("\n".join(example.id for example in self.members).encode()).hexdigest()[:32]


def pair_rows(path: str | Path) -> PairRows:
    """The rows of a folder of pairs, to be shown or put to a model."""
    found = read_pairs(path)
    about = read_json(inside(Path(path), ABOUT_FILE), 1 << 20)
    family = found[0].first.family
    job = make_job(family, about["split"], about["part"], about["recipe"], about["seed"], about["options"])
    members = tuple(replace(example, id=name) for pair in found for name, example in pair.members())
    return PairRows(family, plan_part(family, job, None), members=members)
