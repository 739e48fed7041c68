"""The pages of the playground: families, examples, folders, files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from recombine.abilities import Faceted
from recombine.core import Example, Family, Problem, Score
from recombine.errors import RecombineError, UnknownName, UsageError, shown
from recombine.families import FAMILIES
from recombine.families import family as find_family
from recombine.jobs import make_job
from recombine.serve import sources
from recombine.serve.boards import View, board_of
from recombine.serve.boards.base import MOST_STATE
from recombine.serve.boards.output import OutputBoard
from recombine.serve.changes import can_change
from recombine.serve.guard import Refused
from recombine.serve.replies import TEMPLATES, page, redirect, visit_of, wants_json, work
from recombine.serve.sources import Filter

_OPTION = re.compile(r"option_([a-z0-9_]{1,40})")


# --- families --------------------------------------------------------------------------------------------------------


async def home(request: Request) -> Response:
    """Every family, and what else the server offers."""
    settings = visit_of(request).settings
    rows = await work(request, lambda: [(name, find_family(name).TITLE) for name in FAMILIES])
    folders = [(f"/files/{number}", folder.name) for number, folder in enumerate(settings.folders)]
    return page(request, "home.html", families=rows, folders=folders, has_studies=settings.studies is not None)


async def family_page(request: Request) -> Response:
    """Recipes, splits and parts of a family, and a form for any of its rows."""
    family = await work(request, find_family, request.path_params["family"])
    splits = [
        {
            "name": split.name,
            "claim": split.claim,
            "parts": [{"name": part.name, "rule": part.rule} for part in split.parts.values()],
            "recipes": [name for name in family.RECIPES if name in split.recipes],
            "needs_files": split.needs_files,
        }
        for split in family.SPLITS.values()
    ]
    options = [(name, option.default, option.help) for name, option in family.OPTIONS.items() if name != "files"]
    return page(request, "family.html", family=family, splits=splits, options=options)


async def go(request: Request) -> Response:
    """From a form to the address of a row."""
    query = dict(request.query_params)
    return redirect(await work(request, _destination, query))


def _destination(query: Mapping[str, str]) -> str:
    if "id" in query:
        identifier = query["id"].strip()
        move = query.get("move", "")
        wanted = Filter.of(query)
        return f"{sources.address_of(sources.neighbour(identifier, move, wanted) if move else identifier)}{wanted.query}"
    family = find_family(query.get("family", ""))
    options = {match[1]: value for name, value in query.items() if (match := _OPTION.fullmatch(name)) and value}
    where = query.get("split_part", "")
    split, _, part = where.partition("/")
    seed, index = (_whole(query.get(name, "") or "0", name) for name in ("seed", "index"))
    job = make_job(family, split or None, part or None, query.get("recipe") or None, seed, options)
    return sources.address_of(job.id(index))


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise UsageError(f"{name} is {shown(text)}, but must be a whole number.")
    return int(text)


# --- one example -----------------------------------------------------------------------------------------------------


async def example_page(request: Request) -> Response:
    """The example with this id: question, board, verdict; the solution when it is asked for."""
    identifier = request.path_params["identifier"]
    if request.method == "POST":
        return await answered(request, await work(request, sources.example_at, identifier))
    values = await work(request, _shown, identifier, dict(request.query_params))
    return page(request, "example.html", **values)


def _shown(identifier: str, query: Mapping[str, str]) -> dict[str, Any]:
    example = sources.example_at(identifier)
    wanted = Filter.of(query)
    values = about(example, query, sources.address_of(identifier))
    head, index = identifier.rsplit("/", 1)
    keep = wanted.query.replace("?", "&", 1)
    known = ("previous", "random", "next") if int(index) else ("random", "next")  # nothing stands before row 0
    moves = {move: f"/go?{urlencode({'id': identifier, 'move': move})}{keep}" for move in known}
    return values | {"moves": moves, "wanted": wanted, "identifier": identifier, "part": head, "index": int(index)}


def about(example: Example, query: Mapping[str, str], address: str) -> dict[str, Any]:
    """What every page with an example shows."""
    family, board = example.family, board_of(example)
    view = board.view(example, query.get("state", "")[:MOST_STATE])
    values: dict[str, Any] = {
        "example": example,
        "family": family,
        "can_change": can_change(example),
        **asked(example, view),
        "view": view,
        "verdict": None,
        "dials": family.DIALS,
        "facets": list(family.FACETS) if isinstance(family, Faceted) else [],
        "address": address,
        "solution": solution(example, query) if query.keys() & {"show", "step", "drawn"} else None,
    }
    return values


def asked(example: Example, view: View) -> dict[str, str]:
    """The question: its first lines, the world in words where the board draws it, and the drawing of what is given."""
    board = board_of(example)
    head, gap, rest = board.question(example).partition("\n\n")
    is_drawn = bool(view.svg and gap)
    given = board.picture(example, "", ()) if isinstance(board, OutputBoard) else ""
    return {"question": head if is_drawn else f"{head}{gap}{rest}", "in_words": rest if is_drawn else "", "given": given}


def solution(example: Example, query: Mapping[str, str]) -> dict[str, Any]:
    """Answer, proof, careless readers and facts about an example, with one step or one reader's answer drawn."""
    board, told = board_of(example), example.explain()
    text = query.get("step", "")
    number = int(text) if text.isdecimal() and len(text) < 5 and 1 <= int(text) <= len(told.steps) else 0
    chosen = next((s for s in told.shortcuts if s.name == query.get("drawn", "")), None)
    answer = chosen.answer if chosen is not None else None
    other = [m for m in example.family.MEDIA if m in ("ascii", "graph")]
    drawn = {medium: str(example.render(medium)) for medium in other}
    return {
        "answer": example.answer,
        "steps": told.steps,
        "number": number,
        "shortcuts": told.shortcuts,
        "reader": chosen,
        "picture": board.picture(example, answer, told.steps[:number]),
        "film": board.film(example),
        "problems": example.validate(),
        "facets": _facets(example),
        "symbols": {name: text for name, text in drawn.items() if not text.lstrip().startswith("<svg")},
        "graphs": {name: text for name, text in drawn.items() if text.lstrip().startswith("<svg")},
    }


def _facets(example: Example) -> dict[str, str]:
    family: Family = example.family
    if not isinstance(family, Faceted) or "split" not in example.meta:
        return {}
    return {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in family.facet_values(example).items()
    }


# --- answering -------------------------------------------------------------------------------------------------------


async def answered(request: Request, example: Example, extra: Mapping[str, Any] | None = None) -> Response:
    """The reply to one event on the board: a fragment for the page's script, otherwise the whole page."""
    form = visit_of(request).form
    values = await work(request, _acted, example, form)
    if wants_json(request):
        text = TEMPLATES.get_template("board.html").render({**values, "csrf": visit_of(request).csrf, "is_study": False})
        return JSONResponse({"html": text})
    address = request.url.path
    whole = await work(request, about, example, {}, address)
    around = dict(extra) if extra is not None else await work(request, _around, example)
    return page(request, "example.html", **(whole | around | values))


def _around(example: Example) -> dict[str, Any]:
    values = _shown(example.id, {})
    return {name: values[name] for name in ("moves", "wanted", "identifier", "part", "index")}


def _acted(example: Example, form: Mapping[str, str]) -> dict[str, Any]:
    """The board after an event, and the verdict if the event was an answer."""
    board, event = board_of(example), form.get("event", "")
    state = form.get("state", "")
    if len(state) > MOST_STATE or len(form.get("answer", "")) > MOST_STATE:
        raise UsageError(f"the answer has more than {MOST_STATE:,} characters.")
    if event == "show":
        return {"view": board.view(example, state), "verdict": None}
    if event == "answer" or event.startswith("say:"):
        answer = event[4:] if event.startswith("say:") else form.get("answer", "")
        verdict = judged(example, answer)
        try:
            view = board.view(example, answer)
        except UsageError:  # an answer that the board cannot show is still scored and kept in the text field
            view = board.view(example, state)
        return {"view": view, "verdict": verdict}
    fields = {name[2:]: value for name, value in form.items() if name.startswith("f_")}
    new, said = board.act(example, state, event, fields)
    return {"view": board.view(example, new, said), "verdict": None}


def judged(example: Example, answer: str) -> dict[str, Any]:
    """The verdict in words: right, unreadable, or wrong with the name of the mistake and what that reader does."""
    score: Score = example.score(answer)
    readers = {s.name: s.reader for s in example.explain().shortcuts}
    mistakes = [(name, readers.get(name, "")) for name in score.mistakes]
    details = [(str(name).replace("_", " "), str(value)) for name, value in score.detail.items() if value not in ("", None)]
    return {"status": score.status, "answer": answer, "mistakes": mistakes, "details": details}


# --- folders and files -----------------------------------------------------------------------------------------------


async def files_page(request: Request) -> Response:
    """A folder's list, a data set's parts, or a released file's rows."""
    settings, query = visit_of(request).settings, dict(request.query_params)
    place = sources.place_of(settings.folders, request.path_params["root"], request.path_params.get("relative", ""))
    if place.path.is_dir() and not (place.path / "manifest.json").is_file():
        return page(request, "folder.html", place=place, entries=await work(request, sources.listing, place))
    if place.path.is_dir():
        return await _data_set(request, place, query)
    if not query.get("as"):
        return page(request, "file.html", place=place, families=list(FAMILIES), rows=None, query=query)
    if query["as"] not in FAMILIES:
        raise UnknownName("family", query["as"], FAMILIES)
    rows = await work(request, sources.file_rows, place.path, query["as"])
    if "row" not in query:
        lines = await work(request, lambda: list(sources.judged(rows)))
        return page(
            request, "file.html", place=place, families=list(FAMILIES), rows=lines[:2_000], total=len(rows), query=query
        )
    number = _whole(query["row"], "row")
    row = rows[number] if number < len(rows) else None
    if row is None or isinstance(row, Problem):
        raise UsageError(f"row {number} of this file is no example" + (f": {row.text}" if row else "") + ".")
    base = f"{place.url}?{urlencode({'as': query['as']})}"
    try:
        return await _row_page(request, row, base, number, len(rows), query)
    except (RecombineError, Refused):
        raise
    except Exception as fault:  # a file of somebody else may hold anything (see `data.audit`)
        raise UsageError(f"row {number} of this file cannot be shown as {query['as']}: {type(fault).__name__}.") from fault


async def _data_set(request: Request, place: sources.Place, query: Mapping[str, str]) -> Response:
    from recombine.data.datasets import Dataset
    from recombine.data.folders import open_folder

    folder = await work(request, open_folder, place.path)
    if "part" not in query:
        parts = [(f"{p.job.split}/{p.job.part}", p.rows) for p in folder.plan.parts]
        return page(request, "data_set.html", place=place, family=folder.family, parts=parts)
    split, _, part = query["part"].partition("/")
    number = folder.part(split, part)
    data = Dataset(folder.family, folder.plan.parts[number], folder, number)
    row = _whole(query.get("row", "0"), "row")
    if row >= len(data):
        raise UsageError(f"{query['part']} has {len(data):,} rows; there is no row {row}.")
    example = await work(request, data.__getitem__, row)
    base = f"{place.url}?{urlencode({'part': query['part']})}"
    return await _row_page(request, example, base, row, len(data), query)


async def _row_page(
    request: Request, example: Example, base: str, number: int, total: int, query: Mapping[str, str]
) -> Response:
    """An example that stands in a file, with its neighbours there."""
    moves = {
        name: f"{base}&row={place}" for name, place in (("previous", number - 1), ("next", number + 1)) if 0 <= place < total
    }
    extra = {"moves": moves, "wanted": Filter(), "identifier": example.id, "part": base, "index": number}
    if request.method == "POST":
        return await answered(request, example, extra)
    values = await work(request, about, example, query, f"{base}&row={number}")
    return page(request, "example.html", **(values | extra))
