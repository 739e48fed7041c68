"""The suite `fresh`: an exam over all families, drawn anew from one seed. Today's date is the default seed.

A suite is a folder with `suite.json` and one folder of `recombine generate` for each family:

DIR/suite.json          which suite, seed and size
DIR/reascan/…           the test parts of that family, one for each thing that its splits ask of a model
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from recombine import __version__
from recombine.core import Family
from recombine.data.folders import Folder, open_folder
from recombine.data.generate import run
from recombine.data.plan import Plan, plan_part
from recombine.errors import FileError, UsageError, shown
from recombine.families import FAMILIES, family
from recombine.files import Kind, holds, inside, own_folder, read_json, write_json
from recombine.jobs import make_job
from recombine.schemas import check, listing, record, text, whole

FRESH = "fresh"
RECORD = "suite.json"
SHAPE = record({"suite": text(40), "seed": whole(), "size": whole(1), "families": listing(text(40)), "package": text(100)})
"""What suite.json must hold."""
DEFAULT_SIZE = 100


@dataclass(frozen=True)
class Suite:
    """An exam: its name, seed and size, and the folders of its families."""

    path: Path
    name: str
    seed: int
    size: int
    families: tuple[str, ...]

    @property
    def folders(self) -> list[Path]:
        """The families' folders."""
        return [inside(self.path, name) for name in self.families]

    @property
    def title(self) -> dict[str, Any]:
        """What reports and histories know the exam by."""
        return {"suite": self.name, "seed": self.seed, "size": self.size}


def seed_of(day: date | None = None) -> int:
    """The seed of a day, 20261117 for 17 November 2026; of today (in UTC) without one."""
    chosen = day or datetime.now(UTC).date()
    return chosen.year * 10_000 + chosen.month * 100 + chosen.day


def fresh_sets(item: Family) -> list[tuple[str, str]]:
    """Split and part of each set of a family: for each axis the first split whose test rows change with the seed.

    Where all sets of an axis are fixed, the first of them is taken; `freshness` says so of it. Of several test parts it is the last: CLUTRR's
    first ones hold as few facts, or as little noise, as training.
    """
    found: dict[str, tuple[bool, str, str]] = {}
    for name, split in item.SPLITS.items():
        parts = [p for p in split.parts.values() if p.default and p.name not in ("train", "validation")]
        if split.needs_files or not parts or name == "hold_out" or next(iter(item.RECIPES)) not in split.recipes:
            continue
        part = sorted(parts, key=lambda p: not p.fixed)[-1]
        known = found.get(split.axis)
        if known is None or (known[0] and not part.fixed):
            found[split.axis] = (part.fixed, name, part.name)
    return [(split, part) for _, split, part in found.values()]


def fresh_plan(name: str, size: int, seed: int) -> Plan:
    """The plan of one family's sets, at most `size` rows each."""
    item = family(name)
    parts = []
    chosen = fresh_sets(item)
    if not chosen:
        raise UsageError(f"no set of {name} can be drawn anew: every split needs files, or has no test part.")
    for split, part in chosen:
        job = make_job(item, split, part, None, seed)
        is_finite = item.SPLITS[split].parts[part].finite
        parts.append(plan_part(item, job, min(size, job.stop) if is_finite else size))
    return Plan(item.NAME, parts[0].job.version, "parquet", tuple(parts))


def make_fresh(
    out: str | Path, *, size: int = DEFAULT_SIZE, seed: int | None = None, on_rows: Callable[[int], None] | None = None
) -> Suite:
    """Draw the exam into a folder. The same seed and size give the same rows; a folder that was begun is finished.

    A family is left out if all of its splits need files.
    """
    if not 1 <= size <= 1_000_000:
        raise UsageError(f"size is {shown(size)}, but must be 1 to 1,000,000.")
    chosen = seed_of() if seed is None else seed
    folder = own_folder(out, SUITE)
    families = tuple(name for name in FAMILIES if fresh_sets(family(name)))
    told = {"suite": FRESH, "seed": chosen, "size": size, "families": list(families), "package": f"recombine {__version__}"}
    if (folder / RECORD).is_file():
        before = open_suite(folder)
        if (before.seed, before.size) != (chosen, size):
            raise UsageError(
                f"{shown(str(out))} holds an exam of seed {before.seed} with {before.size} rows a set, not of seed {chosen} with {size}. "
                "Choose another folder, or say --seed and --size as before."
            )
        if set(before.families) != set(families):
            raise UsageError(
                f"{shown(str(out))} holds an exam over {', '.join(before.families)}, but the families of this installation are "
                f"{', '.join(families)}. Choose another folder, or install the same families as before."
            )
    write_json(folder / RECORD, told)
    for name in families:
        run(fresh_plan(name, size, chosen), folder / name, on_rows=on_rows)
    return Suite(folder, FRESH, chosen, size, families)


def is_suite(path: str | Path) -> bool:
    """Whether a folder holds a suite."""
    return holds(Path(path) / RECORD, lambda value: value["suite"] == FRESH)


SUITE = Kind("a suite of `recombine generate --suite fresh`", is_suite)


def open_suite(path: str | Path) -> Suite:
    """The suite in a folder; a folder that holds none is an error."""
    found = read_json(Path(path) / RECORD)
    check(found, SHAPE, shown(str(Path(path) / RECORD)))
    strange = [name for name in found["families"] if name not in FAMILIES]
    if strange or found["suite"] != FRESH:
        raise FileError(f"{shown(str(path))} is a suite that this version does not know: {shown(strange or found['suite'])}.")
    return Suite(Path(path), found["suite"], found["seed"], found["size"], tuple(found["families"]))


def expand(paths: list[str]) -> tuple[list[str | Path | Folder], dict[str, Any]]:
    """Folders in place of suites, and the title of the suite if there is exactly one and nothing else."""
    found: list[str | Path | Folder] = []
    suites = [open_suite(path) for path in paths if is_suite(path)]
    for path in paths:
        found += [open_folder(place) for place in open_suite(path).folders] if is_suite(path) else [path]
    return found, suites[0].title if len(suites) == len(paths) == 1 else {}
