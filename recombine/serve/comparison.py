"""Runs beside the worlds: the answers of several files to the rows of one data set, filtered as in the report."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from recombine.errors import UsageError
from recombine.serve import sources
from recombine.serve.replies import page, visit_of, work

MOST_ROWS = 1_000
"""Rows of each part that are scored for this page; a report scores all."""
ROWS_A_PAGE = 20
MOST_FOUND = 500
DEPTH = 4


@dataclass(frozen=True)
class Said:
    """One run's answer to a row."""

    run: str
    answer: str
    verdict: str
    mistakes: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether it counts as right; a non-answer never does."""
        return self.verdict == "right"


@dataclass(frozen=True)
class Row:
    """One row with the answers of all runs that have it."""

    id: str
    part: str
    question: str
    answer: str
    said: tuple[Said, ...]


async def compare_page(request: Request) -> Response:
    """Choose a data set and files of answers, then walk the rows."""
    folders, query = visit_of(request).settings.folders, request.query_params
    found = await work(request, _found, folders)
    chosen = [name for name in query.getlist("answers") if name]
    values: dict[str, Any] = {"found": found, "data": query.get("data", ""), "chosen": chosen, "rows": None}
    if values["data"] and chosen:
        rows = await work(request, _rows_of, folders, values["data"], tuple(chosen))
        values |= _filtered(rows, query, values["data"], chosen)
    return page(request, "compare.html", **values)


def _found(folders: tuple[Path, ...]) -> dict[str, list[str]]:
    """The data sets and files of answers in the folders, as `number/path`."""
    data, answers = [], []
    for number, folder in enumerate(folders):
        for path in islice(_walk(folder, DEPTH), 20_000):
            name = f"{number}/{path.relative_to(folder).as_posix()}"
            if path.name == "manifest.json":
                data.append(f"{number}/{path.parent.relative_to(folder).as_posix()}")
            elif path.suffix == ".jsonl":
                answers.append(name)
    return {"data": sorted(data)[:MOST_FOUND], "answers": sorted(answers)[:MOST_FOUND]}


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # a folder that cannot be read has nothing to choose from
        return
    for path in entries:
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            if depth:
                yield from _walk(path, depth - 1)
        else:
            yield path


def _place(folders: tuple[Path, ...], name: str) -> Path:
    number, _, relative = name.partition("/")
    if not number.isdecimal() or len(number) > 3:
        raise UsageError("choose files from the lists.")
    return sources.place_of(folders, int(number), relative).path


def _rows_of(folders: tuple[Path, ...], data: str, answers: tuple[str, ...]) -> tuple[Row, ...]:
    folder, files = _place(folders, data), tuple(_place(folders, name) for name in answers)
    if not (folder / "manifest.json").is_file() or not all(path.is_file() for path in files):
        raise UsageError("choose a data set and files of answers from the lists.")
    with sources.readable():
        stamps = tuple(path.stat().st_mtime_ns for path in (folder / "manifest.json", *files))
        return _scored(folder, files, stamps)


@functools.lru_cache(maxsize=4)
def _scored(folder: Path, files: tuple[Path, ...], _stamps: tuple[int, ...]) -> tuple[Row, ...]:
    from recombine.data.datasets import Dataset
    from recombine.data.folders import open_folder
    from recombine.evaluate.answers import read_answers
    from recombine.evaluate.rows import part_rows
    from recombine.evaluate.scoring import from_file, score_run
    from recombine.serve.boards import board_of

    opened = open_folder(folder)
    runs = {
        path.stem if len({f.stem for f in files}) == len(files) else str(i): read_answers(path) for i, path in enumerate(files)
    }
    found = []
    for number, part in enumerate(opened.plan.parts):
        split, name = part.job.split, part.job.part
        rows = part_rows(Dataset(opened.family, part, opened, number, MOST_ROWS))
        said: dict[str, list[Said]] = {}
        for run, given in runs.items():
            for record in score_run(run, rows, from_file(given), split=split, part=name).records:
                if record.id in given:
                    words = Said(run, (record.answer or "")[:400], record.status, record.mistakes)
                    said.setdefault(record.id, []).append(words)
        for place, identifier in enumerate(rows.ids):
            if identifier in said:
                example = rows[place]
                question = board_of(example).question(example).strip().split("\n")[0][:300]
                found.append(Row(identifier, f"{split}/{name}", question, example.answer[:400], tuple(said[identifier])))
    return tuple(found)


def _filtered(rows: tuple[Row, ...], query: Mapping[str, str], data: str, chosen: list[str]) -> dict[str, Any]:
    """The rows that the filters leave, one page of them, and the values that filters can have."""
    part, run, verdict, reader = (query.get(name, "") for name in ("part", "run", "verdict", "reader"))

    def fits(row: Row) -> bool:
        said = [s for s in row.said if run in ("", s.run)]
        if (part and row.part != part) or not said:
            return False
        if reader and not any(reader in s.mistakes for s in said):
            return False
        return not verdict or any(s.is_right == (verdict == "right") for s in said)

    left = [row for row in rows if fits(row)]
    text = query.get("page", "0")
    number = int(text) if text.isdecimal() and len(text) < 6 else 0
    kept = {"data": data, "answers": chosen, "part": part, "run": run, "verdict": verdict, "reader": reader}
    names = list(dict.fromkeys(s.run for row in rows for s in row.said))
    return {
        "rows": left[number * ROWS_A_PAGE : (number + 1) * ROWS_A_PAGE],
        "total": len(left),
        "number": number,
        "pages": -(-len(left) // ROWS_A_PAGE),
        "here": "/compare?" + urlencode(kept, doseq=True),
        "filters": {"part": part, "run": run, "verdict": verdict, "reader": reader},
        "choices": {
            "part": list(dict.fromkeys(row.part for row in rows)),
            "run": names,
            "verdict": ["right", "wrong"],
            "reader": sorted({m for row in rows for s in row.said for m in s.mistakes}),
        },
        "scores": [(name, *_score(rows, name)) for name in names],
    }


def _score(rows: tuple[Row, ...], run: str) -> tuple[int, int]:
    said = [s.is_right for row in rows for s in row.said if s.run == run]
    return sum(said), len(said)
