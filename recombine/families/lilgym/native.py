"""The published files: lilGym's JSON (one object of records by key) and NLVR's JSON lines, read and written.

`structured_rep` holds three boxes of items with `x_loc`, `y_loc`, `size`, `type` and `color` (blue is `#0099ff`). A record without a
scene is a SCRATCH task: it starts from the empty scene, with the target true. A record with a scene and a label is a FLIPIT task:
the target is the other truth value. NLVR records have no program; they are true/false examples.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from recombine import files
from recombine.core import FILES, Batch, Example, Job, Option, Problem, option
from recombine.errors import FileError, RecombineError, UsageError, shown
from recombine.families.lilgym import facets
from recombine.families.lilgym.scene import COLORS, SHAPES, TOWER_X, Kind, Scene

NATIVE_COLORS = ("Yellow", "Black", "#0099ff")
ORDERS = tuple(itertools.permutations(range(3)))
"""The orders of three boxes; the first changes nothing."""
PART_FILES = {"train": "train", "validation": "dev", "test": "test"}


# --- reading ---------------------------------------------------------------------------------------------------------


def read(path: Path) -> Iterator[Example | Problem]:
    """The examples of a lilGym file or an NLVR file, each with its place; a Problem for a record that is none."""
    for place, record in records(path):
        if isinstance(record, Problem):
            yield record
            continue
        try:
            yield example_of(record, place, _kind_of(path, record))
        except RecombineError as problem:
            yield Problem("malformed", str(problem), place=place)


def records(path: Path) -> Iterator[tuple[str, Any]]:
    """(place, record) of a file: an object of records by key, a list of records, or one record per line.

    A line that is not JSON gives a Problem in place of its record.
    """
    text = files.read_text(path, 1 << 30)
    if _is_lines(text):
        for number, line in enumerate(text.split("\n"), 1):  # a sentence may hold other line ends, such as U+2028
            if line.strip():
                yield f"line {number}", _record_of(line, f"line {number}", path.name)
        return
    document = files.parse_json(text, path.name)
    if isinstance(document, dict):
        yield from document.items()
    elif isinstance(document, list):
        yield from ((f"[{number}]", record) for number, record in enumerate(document))
    else:
        raise FileError(f"{shown(str(path))} holds neither lilGym records by key nor NLVR records by line.")


def _record_of(line: str, place: str, name: str) -> Any:
    """The record that a line holds, or the Problem of a line that is not JSON."""
    try:
        return files.parse_json(line, f"{place} of {name}")
    except FileError as problem:
        return Problem("malformed", str(problem), place=place)


def _is_lines(text: str) -> bool:
    """Whether every line is a document of its own: an NLVR file, or a single record."""
    first = text.lstrip()[:20_000].split("\n", 1)[0].rstrip()
    if not (first.startswith("{") and first.endswith("}")):
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and "sentence" in record


def _kind_of(path: Path, record: Any) -> Kind:
    """TOWER or SCATTER: by the scene where there is one, else by the file's name or the program."""
    scene = record.get("structured_rep") if isinstance(record, dict) else None
    if scene:
        placed = [item for box in scene if isinstance(box, list) for item in box if isinstance(item, dict)]
        is_tower = all(
            item.get("type") == "square" and item.get("x_loc") == TOWER_X and item.get("size") == 20 for item in placed
        )
        return "tower" if is_tower else "scatter"
    if "scatter" in path.name.lower() or "tower" in path.name.lower():
        return "scatter" if "scatter" in path.name.lower() else "tower"
    text = str(record.get("lf", "")) if isinstance(record, dict) else ""
    return "tower" if re.search(r"is_tower|is_top|is_bottom|is_second|is_third|get_above|get_below", text) else "scatter"


def scene_of(value: Any, kind: Kind) -> Scene:
    """A scene from a `structured_rep`."""
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(box, list) for box in value):
        raise UsageError(f"structured_rep is {shown(value)}, but must be three lists of items.")
    return Scene.of(kind, [_item_of(box, item) for box, items in enumerate(value) for item in items])


def _item_of(box: int, item: Any) -> tuple[int, ...]:
    if not isinstance(item, dict):
        raise UsageError(f"an item is {shown(item)}, but must be an object with x_loc, y_loc, size, type and color.")
    numbers = [item.get(name) for name in ("x_loc", "y_loc", "size")]
    if not all(type(number) is int and abs(number) < 1000 for number in numbers):
        raise UsageError(f"x_loc, y_loc and size of an item are {shown(numbers)}, but must be integers.")
    colors = {name.lower(): code for code, name in enumerate(NATIVE_COLORS)} | {name: code for code, name in enumerate(COLORS)}
    color, shape = str(item.get("color")).lower(), str(item.get("type")).lower()
    if color not in colors or shape not in SHAPES:
        raise UsageError(f"an item is a {shown(item.get('color'))} {shown(item.get('type'))}, which does not exist here.")
    x, y, size = (int(number) for number in numbers if number is not None)
    return (box, x, y, size, colors[color], SHAPES.index(shape))


def example_of(record: Any, place: str, kind: Kind) -> Example:
    """The example of a record; `UsageError` names what is wrong with it."""
    from recombine.families.lilgym import LILGYM
    from recombine.families.lilgym.generate import inputs_of

    if not isinstance(record, dict) or not isinstance(record.get("sentence"), str):
        raise UsageError(f"the record is {shown(record)}, but must be an object with a sentence.")
    text, program, label = record["sentence"], record.get("lf", ""), _label(record.get("label"))
    if not isinstance(program, str):
        raise UsageError(f"lf is {shown(program)}, but must be a program text.")
    has_scene = record.get("structured_rep") is not None
    scene = scene_of(record["structured_rep"], kind) if has_scene else Scene(kind)
    start = "flipit" if has_scene and scene.items else "scratch"
    task = "truth" if not program or (label is None and has_scene) else "edit"
    if task == "truth" and label is None:
        raise UsageError("the record has neither a program nor a label.")
    target = True if label is None or task == "truth" else not label
    answer = ("true" if label else "false") if task == "truth" else ""
    meta = {
        "recipe": "release", "place": place, "program": program, "scene": kind, "start": start, "task": task, "target": target,
        "edits": -1, "objects": len(scene.items), "words": len(text.split()), "depth": facets.lambda_depth(program),
        "phenomena": list(facets.phenomena(program)), "key": str(record.get("identifier", place)), "label": label,
    }  # fmt: skip
    if isinstance(record.get("plan"), str) and task == "edit":
        answer = record["plan"]
    return Example(LILGYM, place, inputs_of(text, scene, task, target), answer, plan=program, world=scene, meta=meta)


def _label(value: Any) -> bool | None:
    words = {"true": True, "false": False}
    if value is None:
        return None
    if str(value).lower() not in words:
        raise UsageError(f"label is {shown(value)}, but must be true or false.")
    return words[str(value).lower()]


# --- the official splits ---------------------------------------------------------------------------------------------


def official(job: Job, options: Mapping[str, Option]) -> Batch:
    """Rows of a published part, in file order; with `permutations`, the six orders of each scene's boxes one after another."""
    from recombine.families.lilgym.generate import columns_of

    found = _part_rows(job, options)
    if job.stop > len(found):
        raise FileError(
            f"{job.split} {job.part} has {len(found):,} rows in the given files, but row {job.stop - 1:,} was asked for."
        )
    rows = found[job.start : job.stop]
    kind = job.split.split("_")[0]
    return Batch(
        job,
        job.start,
        columns_of(
            {
                "statement": [e.inputs["statement"] for e, _ in rows],
                "program": [e.meta["program"] for e, _ in rows],
                "scene": [kind] * len(rows),
                "start": [job.split.split("_")[1]] * len(rows),
                "task": [e.meta["task"] for e, _ in rows],
                "target": [e.meta["target"] for e, _ in rows],
                "items": [e.world.permuted(order).flat for e, order in rows],
                "answer": [e.answer for e, _ in rows],
                "edits": [-1] * len(rows),
                "depth": [e.meta["depth"] for e, _ in rows],
                "key": [f"{e.id}/{''.join(map(str, order))}" if order != ORDERS[0] else e.id for e, order in rows],
            }
        ),
    )


def size(job: Job, options: Mapping[str, Option], default: int) -> int:
    """How many rows an official part holds: as counted in the file, or as published if no folder is given."""
    if not option(job, options, FILES):
        return default * (6 if option(job, options, "permutations") and "flipit" in job.split else 1)
    return len(_part_rows(job, options))


_READ: dict[tuple[str, int, int], list[Example]] = {}


def _part_rows(job: Job, options: Mapping[str, Option]) -> list[tuple[Example, tuple[int, ...]]]:
    path = find_file(option(job, options, FILES), job.split, job.part)
    stamp = path.stat()
    key = (str(path), stamp.st_mtime_ns, stamp.st_size)
    if key not in _READ:
        _READ.clear()
        kind: Kind = "tower" if job.split.startswith("tower") else "scatter"
        _READ[key] = [_official_example(record, place, kind, path) for place, record in records(path)]
    orders = ORDERS if option(job, options, "permutations") and "flipit" in job.split else ORDERS[:1]
    return [(found, order) for found in _READ[key] for order in orders]


def _official_example(record: Any, place: str, kind: Kind, path: Path) -> Example:
    if isinstance(record, Problem):
        raise FileError(record.text)
    try:
        return example_of(record, place, kind)
    except UsageError as problem:
        raise FileError(f"record {shown(place)} of {path.name}: {problem}") from None


def find_file(folder: str, split: str, part: str) -> Path:
    """The published file of a part in a folder, plain or gzip."""
    if not folder:
        raise UsageError(f"split {split!r} reads published files; say where they lie: files=FOLDER (--set files=FOLDER).")
    name = f"{split}_{PART_FILES[part]}.json"
    for path in (files.check_path(Path(folder) / name), files.check_path(Path(folder) / f"{name}.gz")):
        if path.is_file():
            return path
    missing = [known for known in _published() if not any((Path(folder) / f"{known}{end}").is_file() for end in ("", ".gz"))]
    raise FileError(
        f"there is no {name} (or {name}.gz) in {shown(folder)}; of the {len(_published())} published files these are missing: "
        f"{', '.join(missing)}."
    )


def _published() -> list[str]:
    """The names of the published files."""
    names = itertools.product(("tower", "scatter"), ("scratch", "flipit"), PART_FILES.values())
    return [f"{kind}_{start}_{part}.json" for kind, start, part in names]


def contexts(examples: Iterable[Example]) -> set[tuple[str, bool]]:
    """The contexts of the paper: pairs of a statement and a target."""
    return {(str(e.inputs["statement"]), bool(e.meta["target"])) for e in examples}


# --- writing ---------------------------------------------------------------------------------------------------------


def write(batches: Iterable[Batch], out: TextIO) -> None:
    """The rows as a lilGym file: one object of records by id. Our plan is kept beside the program, under `plan`."""
    out.write("{")
    first = True
    for batch in batches:
        for row in range(len(batch)):
            values = batch.row(row)
            out.write("\n" if first else ",\n")
            first = False
            out.write(f"{json.dumps(batch.id(row))}: {json.dumps(record_of(values), ensure_ascii=False)}")
    out.write("\n}\n")


def record_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row as a published record."""
    record: dict[str, Any] = {"sentence": values["statement"], "lf": values["program"]}
    if values["start"] == "flipit" or values["task"] == "truth":
        label = values["answer"] == "true" if values["task"] == "truth" else not values["target"]
        record |= {"label": "true" if label else "false", "structured_rep": boxes_of(values["items"])}
    if values["task"] == "edit" and values["answer"]:
        record["plan"] = values["answer"]
    return record


def boxes_of(items: Sequence[int]) -> list[list[dict[str, Any]]]:
    """A `structured_rep` from six integers per item."""
    boxes: list[list[dict[str, Any]]] = [[], [], []]
    for k in range(0, len(items), 6):
        box, x, y, pixels, color, shape = items[k : k + 6]
        boxes[box].append({"x_loc": x, "y_loc": y, "type": SHAPES[shape], "color": NATIVE_COLORS[color], "size": pixels})
    return boxes


__all__ = ["ORDERS", "boxes_of", "contexts", "find_file", "official", "read", "record_of", "size", "write"]
