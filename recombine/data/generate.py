"""Making a folder, in any number of sittings, by any number of workers: always the same bytes.

A shard appears under its name only when it is whole, its record after it, and the manifest when every shard is there. What a
killed run leaves behind is finished by running the same command again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from recombine import __version__
from recombine.abilities import Filing
from recombine.data.card import write_card
from recombine.data.certificate import certificate
from recombine.data.engines import ENGINES
from recombine.data.folders import MANIFEST, MANIFEST_LIMIT, Folder, fingerprint, open_folder, part_summary
from recombine.data.plan import Plan, Shard, make_plan
from recombine.data.shards import RECORDS, ShardRecord, is_intact, read_record, record_path
from recombine.errors import FileError, RecombineError, UnknownName, UsageError, shown
from recombine.families import family as find_family
from recombine.files import (
    Kind,
    check_path,
    discard,
    held,
    inside,
    own_folder,
    read_json,
    sweep,
    sync_folder,
    told,
    write_json,
    write_text,
)  # fmt: skip

PLAN = f"{RECORDS}/plan.json"
LOCK_SECONDS = 10.0
"""Seconds that a run over some shards waits for other runs that are just starting."""
Progress = Callable[[int], None]


class How(TypedDict, total=False):
    """How a folder is written."""

    format: str
    engine: str
    workers: int


def generate(
    family: str,
    out: str | Path,
    *,
    split: str | Sequence[str] = (),
    part: str | Sequence[str] = (),
    size: int | Mapping[str, int] | None = None,
    seed: int = 0,
    recipe: str | None = None,
    options: Mapping[str, object] | None = None,
    **how: Unpack[How],
) -> Folder:
    """Generate parts of a family's splits into a folder and return it; finishes an unfinished folder of the same plan.

    `how`: `format` ("parquet", "jsonl" or the original's "native"), `engine` ("processes" or "ray"), `workers` (0: as many as
    there are cores). None of them changes a row.
    """
    for name in how:
        if name not in How.__annotations__:
            raise UnknownName("argument of generate", name, How.__annotations__)
    splits = (split,) if isinstance(split, str) else tuple(split)
    parts = (part,) if isinstance(part, str) else tuple(part)
    plan = make_plan(
        family, splits, parts, size=size, seed=seed, recipe=recipe, options=options, format=how.get("format", "parquet")
    )
    return run(plan, out, engine=how.get("engine", "processes"), workers=how.get("workers", 0))


def run(
    plan: Plan,
    out: str | Path,
    *,
    engine: str = "processes",
    workers: int = 0,
    address: str | None = None,
    only: tuple[int, int] | None = None,
    on_rows: Progress | None = None,
) -> Folder:
    """Carry out a plan. `only=(i, n)` makes every n-th shard from the i-th (1-based) and leaves sealing to `merge`."""
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise UsageError(f"--address {shown(address)} is for --engine ray.")
    folder = prepare(plan, out)
    if str(folder).startswith("memory://"):
        engine = "serial"  # no other process sees this memory
    tick = on_rows or (lambda _rows: None)
    with locked(folder, only):
        unseal(plan, folder)
        missing = _missing(plan, folder, only, tick)
        if not missing and (folder / MANIFEST).is_file():
            return _tidied(plan, folder)
        with told("write to", folder):
            inside(folder, MANIFEST).unlink(missing_ok=True)
        extra = {"address": address} if engine == "ray" else {}
        for _ in ENGINES[engine](plan, missing, folder, tick, workers, **extra):
            pass
        return seal(plan, folder) if only is None else Folder(folder, {}, plan)


def _is_ours(folder: Path) -> bool:
    """Whether there is a plan; or nothing but `.recombine`, in which a run was killed before the plan was there."""
    names = [name.relative_to(folder).as_posix() for name in folder.rglob("*")]
    begun = all(name == RECORDS or is_own_file(None, re.sub(r"/\.(.+)\.\d+\.tmp$", r"/\1", name)) for name in names)
    return begun or _plan_in(folder) is not None


FOLDER = Kind("a folder of `recombine generate`", _is_ours)


def prepare(plan: Plan, out: str | Path) -> Path:
    """The output folder, made if needed, with the plan in it; refuses what it must not write into.

    Another plan that was begun, but of which no file was finished, gives way: a job that failed must not block its folder.
    """
    folder = own_folder(out, FOLDER)
    there = _plan_in(folder)
    if there is not None and there.hash != plan.hash:
        if not _is_empty(there, folder):
            raise FileError(
                f"{shown(str(out))} holds another job ({_sentence(there)}), not {_sentence(plan)}; choose another folder."
            )
        with locked(folder, None):  # nobody is making its first file
            if _is_empty(there, folder):
                begun = {shard.path for shard in _shards_of(there)}
                sweep(folder, begun.__contains__)
                for above in {inside(folder, path).parent for path in begun}:
                    with contextlib.suppress(OSError):  # not there, or somebody put something into it
                        above.rmdir()
                write_json(inside(folder, PLAN), plan.to_json())
        return prepare(plan, out)
    if there is None or not (folder / MANIFEST).exists():
        write_json(inside(folder, PLAN), plan.to_json())
    return folder


def _is_empty(plan: Plan, folder: Path) -> bool:
    """Whether no file of the plan was finished in this folder."""
    if (folder / MANIFEST).exists():
        return False
    return not any(record_path(folder, shard).exists() or inside(folder, shard.path).exists() for shard in _shards_of(plan))


def _shards_of(plan: Plan) -> Sequence[Shard]:
    """The files of a plan; none if its options fit no row, as the files of a released layout may depend on them."""
    try:
        return plan.shards
    except RecombineError:
        return ()


def _plan_in(folder: Path) -> Plan | None:
    for name, key in ((PLAN, None), (MANIFEST, "plan")):
        path = inside(folder, name)
        if path.is_file():
            value = read_json(path, MANIFEST_LIMIT)
            found = value if key is None else value.get(key) if isinstance(value, dict) else None
            return Plan.from_json(found, shown(str(path)))
    return None


def is_own_file(plan: Plan | None, name: str) -> bool:
    """Whether `generate` writes a file of this name (from the top of the folder) for this plan."""
    if name.startswith(f"{RECORDS}/"):
        return name == PLAN or re.fullmatch(rf"{RECORDS}/(lock(-\d+-of-\d+)?|[^/]+__[^/]+\.json)", name) is not None
    if plan is None:
        return False
    family = find_family(plan.family)
    extras = (
        family.native_extras([part.job for part in plan.parts])
        if isinstance(family, Filing) and plan.format == "native"
        else ()
    )
    columns = {*family.SCHEMA, *family.DIALS}
    return (
        name in (MANIFEST, "README.md", "croissant.json")
        or name in {shard.path for shard in plan.shards}
        or name in extras
        or (name.startswith("figures/") and name.endswith(".svg") and _pictured(name) in columns)
    )


def _pictured(name: str) -> str:
    """The column that a picture of the card shows, of all rows or of the training rows."""
    return name.removeprefix("figures/").removesuffix(".svg").removesuffix("-in-training")


def remove(out: str | Path) -> None:
    """Delete a folder that `generate` made, finished or not; one that holds anything else stays as it is."""
    folder = check_path(out)
    plan = _plan_in(folder)
    if plan is None:
        raise FileError(f"{shown(str(out))} is not {FOLDER.name}; nothing was deleted.")
    discard(folder, lambda name: is_own_file(plan, name))


def _sentence(plan: Plan) -> str:
    jobs = [f"{p.job.key} × {p.rows}" for p in plan.parts]
    return f"{'; '.join(jobs[:3])}{' …' if len(jobs) > 3 else ''} as {plan.format}"


@contextlib.contextmanager
def locked(folder: Path, only: tuple[int, int] | None) -> Iterator[None]:
    """Keep other writers out: one whole run, or any number of runs over different shards.

    A whole run holds the lock of the folder. A run over some shards takes it for a moment, to get the lock of its own shards.
    """
    busy = f"{shown(str(folder))} is being written by another process; wait for it to end."
    records = inside(folder, RECORDS)
    with told("write to", folder):
        records.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        if only is None:
            stack.enter_context(held(records / "lock", busy))
            for other in sorted(records.glob("lock-*-of-*")):
                with held(inside(folder, f"{RECORDS}/{other.name}"), busy):
                    pass  # No other process makes these shards now, and none can start while we hold the folder's lock.
        else:
            with held(records / "lock", busy, LOCK_SECONDS):
                stack.enter_context(held(records / f"lock-{only[0]}-of-{only[1]}", busy))
        yield


def unseal(plan: Plan, folder: Path) -> None:
    """Turn a sealed folder's manifest back into records of its shards, so that damaged ones can be made anew."""
    if not (folder / MANIFEST).is_file():
        return
    manifest = open_folder(folder).manifest
    shards = {shard["path"]: shard for part in manifest["parts"] for shard in part["shards"]}
    for shard in plan.shards:
        if shard.path in shards and read_record(folder, shard) is None:
            write_json(record_path(folder, shard), {**shards[shard.path], "plan": plan.hash})
    write_json(inside(folder, PLAN), plan.to_json())


def _missing(plan: Plan, folder: Path, only: tuple[int, int] | None, tick: Progress) -> list[int]:
    """The shards that are not there, or not as they were recorded. Also sweeps up what a killed run left half-written."""
    numbers = [n for n in range(len(plan.shards)) if only is None or n % only[1] == only[0] - 1]
    names = {plan.shards[number].path for number in numbers}
    sweep(folder, names.__contains__)
    missing = []
    for number in numbers:
        shard = plan.shards[number]
        record = read_record(folder, shard)
        if record is not None and record.plan == plan.hash and is_intact(folder, shard.path, record.sha256):
            tick(shard.stop - shard.start)
        else:
            missing.append(number)
    return missing


def seal(plan: Plan, folder: Path) -> Folder:
    """Write the card and, last, the manifest; then the records are no longer needed."""
    records: list[ShardRecord] = []
    for shard in plan.shards:
        record = read_record(folder, shard)
        if record is None or record.plan != plan.hash or not inside(folder, shard.path).is_file():
            raise FileError(f"{shown(str(folder))} lacks {shard.path}; make it first, then merge.")
        records.append(record)
    manifest = make_manifest(plan, records)
    family = find_family(plan.family)
    if plan.format == "native" and isinstance(family, Filing):
        for path, text in family.native_extras([part.job for part in plan.parts]).items():
            write_text(inside(folder, path), text)
    if (found := certificate(Folder(folder, manifest, plan))) is not None:
        manifest["certificate"] = found
    write_card(plan, manifest, folder)
    write_json(folder / MANIFEST, manifest)
    return _tidied(plan, folder)


def _tidied(plan: Plan, folder: Path) -> Folder:
    """Remove the records and leftovers of a run from a finished folder; other files stay. Returns the folder."""
    sweep(folder, lambda name: is_own_file(plan, name))
    records = inside(folder, RECORDS)
    for entry in sorted(records.iterdir()) if records.is_dir() else ():
        if is_own_file(plan, f"{RECORDS}/{entry.name}") and not entry.is_symlink():
            with told("delete", entry):
                entry.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty: somebody put something there
        records.rmdir()
    with told("write to", folder):
        sync_folder(folder)
    return open_folder(folder)


def make_manifest(plan: Plan, records: Sequence[ShardRecord]) -> dict[str, Any]:
    """The folder's description of itself: no date, no machine, no worker count, so equal jobs have equal manifests."""
    parts = []
    for number, part in enumerate(plan.parts):
        own = [record for record, shard in zip(records, plan.shards, strict=True) if shard.part == number]
        parts.append(part_summary(part, own))
    first = plan.parts[0].job
    rejections: dict[str, int] = {}
    for part_of in parts:
        for reason, count in part_of["rejections"].items():
            rejections[reason] = rejections.get(reason, 0) + count
    return {
        "family": plan.family,
        "version": plan.version,
        "package": f"recombine {__version__}",
        "recipe": first.recipe,
        "split": first.split if len({p.job.split for p in plan.parts}) == 1 else sorted({p.job.split for p in plan.parts}),
        "seed": first.seed,
        "options": dict(first.options),
        "format": plan.format,
        "counts": {f"{p.job.split}/{p.job.part}": p.rows for p in plan.parts},
        "rejections": dict(sorted(rejections.items())),
        "fingerprint": fingerprint([p["fingerprint"] for p in parts]),
        "parts": parts,
        "plan": plan.to_json(),
    }


def merge(out: str | Path) -> Folder:
    """Finish a folder whose shards were made on several machines (`generate --shard i/n`): write manifest and card."""
    folder = check_path(out)
    if not folder.is_dir():
        raise FileError(f"{shown(str(out))} is not a folder.")
    plan = _plan_in(folder)
    if plan is None:
        raise FileError(
            f"{shown(str(out))} holds no job of Recombine; make shards with `recombine generate … --shard i/n` first."
        )
    if (folder / MANIFEST).is_file() and not (folder / PLAN).exists():
        return open_folder(folder)
    with locked(folder, None):
        missing = _missing(plan, folder, None, lambda _rows: None)
        if missing:
            names = ", ".join(plan.shards[n].path for n in missing[:5])
            raise FileError(f"{shown(str(out))} lacks {len(missing)} of {len(plan.shards)} shards ({names}…); make them first.")
        return seal(plan, folder)
