"""The pages of a study for researchers and participants. A participant knows one link; a researcher sees everything but the codes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from recombine.errors import UsageError
from recombine.serve import sources
from recombine.serve.boards import board_of
from recombine.serve.boards.base import MOST_STATE
from recombine.serve.guard import Refused
from recombine.serve.pages import asked, judged
from recombine.serve.replies import TEMPLATES, page, redirect, visit_of, wants_json, work
from recombine.serve.studies import design, export, kin, scenes
from recombine.serve.studies.store import Link, Offer, Store

MOST_TEXT = 4_000
COOKIE_SECONDS = 90 * 24 * 60 * 60
LIVE_SECONDS = 600.0
LIVE_PAUSE = 1.0
"""Seconds between two looks at the counts."""
COUNTED = {
    "people": "people", "offer": "items shown", "answer": "answers", "text": "stories", "review": "reviews", "statement": "statements",
}  # fmt: skip
"""What the counts of a study are called on its page."""
MOST_WATCHERS = 40
_WATCHERS: set[object] = set()
_STORES: dict[str, Store] = {}


def store_of(request: Request) -> Store:
    """The store of this server; an error if it was started without one."""
    path = visit_of(request).settings.studies
    if path is None:
        raise Refused(404, "This server keeps no studies; start it with --studies FILE.")
    key = str(path.resolve())
    if key not in _STORES:
        _STORES[key] = Store(path)
    return _STORES[key]


# --- researchers -----------------------------------------------------------------------------------------------------


async def studies_page(request: Request) -> Response:
    """All studies, and a form for a new one."""
    store = await work(request, store_of, request)
    if request.method == "POST":
        made = _designed(visit_of(request).form)
        return redirect(f"/studies/{await work(request, design.create, store, made)}")
    return page(request, "studies.html", studies=await work(request, store.studies), consent=design.CONSENT)


def _designed(form: Mapping[str, str]) -> design.Design:
    def number(name: str, otherwise: int) -> int:
        text = form.get(name, "").strip() or str(otherwise)
        if not text.isdecimal() or len(text) > 8:
            raise UsageError(f"{name.replace('_', ' ')} must be a whole number.")
        return int(text)

    conditions = tuple(design.Condition.parse(line) for line in form.get("conditions", "").splitlines() if line.strip())
    return design.Design(
        title=form.get("title", "").strip(),
        kind=form.get("kind", "answer"),
        conditions=conditions,
        items_per_person=number("items_per_person", 10),
        practice=number("practice", 1),
        limit_seconds=number("limit_seconds", 0),
        groups=tuple(form.get("groups", "").split()) or ("all",),
        untimed=tuple(form.get("untimed", "").split()),
        reviewers=number("reviewers", 2),
        texts=number("texts", 20),
        consent=form.get("consent", "").strip() or design.CONSENT,
        seed=number("seed", 0),
    )


async def study_page(request: Request) -> Response:
    """One study: links, counts, results and files."""
    store, study = await work(request, store_of, request), request.path_params["study"]
    return page(request, "study.html", **await work(request, _overview, store, study))


def _overview(store: Store, study: str) -> dict[str, Any]:
    title, settings = store.study(study)
    made = design.design_of(settings)
    texts = [{**t, "accepted": export.is_accepted(t, made.reviewers)} for t in store.texts(study)]
    return {
        "study": study,
        "title": title,
        "design": made,
        "links": store.links(study),
        "counts": {name: (COUNTED[name], count) for name, count in store.counts(study).items()},
        "table": export.table_5(store, study),
        "texts": texts,
        "files": [name for name, _ in export.files(store, study, made.reviewers, made.seed)],
    }


async def live_counts(request: Request) -> Response:
    """The counts of a study as server-sent events: now, and again whenever they change.

    A connection ends after `LIVE_SECONDS`; the browser opens it again. At most `MOST_WATCHERS` pages watch at once.
    """
    store, study = await work(request, store_of, request), request.path_params["study"]
    await work(request, store.study, study)  # an unknown study is an error
    if len(_WATCHERS) >= MOST_WATCHERS:
        raise Refused(503, "Too many pages watch studies; reload this one to see new counts.")
    return StreamingResponse(
        _counted(request, store, study), headers={"cache-control": "no-store"}, media_type="text/event-stream"
    )


async def _counted(request: Request, store: Store, study: str) -> AsyncIterator[str]:
    watcher, told, end = object(), "", time.monotonic() + LIVE_SECONDS
    _WATCHERS.add(watcher)
    try:
        while time.monotonic() < end:
            counts = json.dumps(await work(request, store.counts, study))
            yield f"event: counts\ndata: {counts}\n\n" if counts != told else ": still here\n\n"
            told = counts
            await asyncio.sleep(LIVE_PAUSE)
    finally:
        _WATCHERS.discard(watcher)


async def export_file(request: Request) -> Response:
    """One file of a study, as it stands now."""
    store, study = await work(request, store_of, request), request.path_params["study"]
    made = design.design_of((await work(request, store.study, study))[1])
    found = dict(await work(request, lambda: list(export.files(store, study, made.reviewers, made.seed))))
    name = request.path_params["name"]
    if name not in found:
        raise UsageError("the study has no such file yet.")
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(found[name], headers=headers, media_type="application/octet-stream")


# --- participants ----------------------------------------------------------------------------------------------------


def _cookie(link: Link) -> str:
    return f"recombine_person_{link.study}"


async def _met(request: Request) -> tuple[Store, Link, str, design.Design]:
    """The store, the link, the person ("" if unknown) and the design; an unknown link is an error.

    A person stays in the group with which they joined, whichever link they follow: its time limit holds, as the export says.
    """
    store = await work(request, store_of, request)
    link = await work(request, store.link, request.path_params["link"])
    made = design.design_of((await work(request, store.study, link.study))[1])
    token = request.cookies.get(_cookie(link), "")
    group = await work(request, store.group_of, token, link.study) if token else None
    if group is None:
        return store, link, "", made
    return store, replace(link, group=group), token, made


async def consent_page(request: Request) -> Response:
    """What the study is, and the consent; agreeing makes a person."""
    store, link, person, made = await _met(request)
    if request.method == "POST":
        response = redirect(f"/take/{link.token}/next")
        if not person:
            person = await work(request, store.join, link)
            response.set_cookie(_cookie(link), person, max_age=COOKIE_SECONDS, httponly=True, samesite="lax", path="/take/")
        return response
    return page(request, "consent.html", link=link, design=made, is_known=bool(person))


async def task_page(request: Request) -> Response:
    """The next task of a person; POST hands one in or plays on its board."""
    store, link, person, made = await _met(request)
    if not person:
        return redirect(f"/take/{link.token}")
    if request.method == "POST":
        return await _handed_in(request, store, link, person, made)
    practised = request.query_params.get("practised", "")
    if practised.isdecimal() and len(practised) < 7:
        feedback = await work(request, _feedback, store, link, person, int(practised))
        if feedback is not None:
            return page(request, "feedback.html", link=link, feedback=feedback)
    offer = await work(request, store.offer, person, link, made.items_per_person, made.reviewers)
    if offer is None:
        return page(request, "done.html", link=link, code=person)
    values = await work(request, _task, store, link, offer, made)
    return page(request, "task.html", link=link, offer=offer, design=made, **values)


def _feedback(store: Store, link: Link, person: str, item: int) -> dict[str, Any] | None:
    """The verdict on a practice item; None if the person has not answered it."""
    found = store.practised(person, link.study, item)
    if found is None:
        return None
    example = sources.example_at(str(found[0]["id"]))
    return {**judged(example, found[1]), "right": example.answer}


def _task(store: Store, link: Link, offer: Offer, made: design.Design, state: str = "") -> dict[str, Any]:
    limit = made.limit_of(link.group) if link.role == "answer" else 0
    left = max(0, round(limit - (time.time() - offer.shown))) if limit else None
    values: dict[str, Any] = {"left": left, "role": link.role, "faults": [], "body": "", "tried": None, "is_study": True}
    if link.role == "answer":
        example = sources.example_at(str(offer.content["id"]))
        board = board_of(example)
        view = board.view(example, state)
        values |= {**asked(example, view), "view": view, "verdict": None}
    elif link.role in ("write", "review"):
        values |= {"facts": kin.shown(offer.content), "rules": kin.RULES, "checks": kin.CHECKS}
        if link.role == "review":
            values["body"] = store.text(offer.text)
    else:
        values |= {"scenes": scenes.pictures(offer.content), "statement": offer.content["statement"], "program": ""}
        values |= {"examples": scenes.EXAMPLES, "functions": scenes.WORDS}
    return values


async def _handed_in(request: Request, store: Store, link: Link, person: str, made: design.Design) -> Response:
    form = visit_of(request).form
    offer = await work(request, store.offer, person, link, made.items_per_person, made.reviewers)
    address = f"/take/{link.token}/next"
    if offer is None or form.get("item") != f"{offer.item}.{offer.text}":
        return JSONResponse({"go": address}) if wants_json(request) else redirect(address)  # it was handed in before
    handlers = {"answer": _answer, "write": _text, "review": _review, "state": _statement}
    values = await work(request, handlers[link.role], store, link, person, offer, made, form)
    if values is None:
        address += f"?practised={offer.item}" if offer.is_practice else ""
        return JSONResponse({"go": address}) if wants_json(request) else redirect(address)
    whole = (await work(request, _task, store, link, offer, made)) | values
    if wants_json(request):
        csrf = visit_of(request).csrf
        return JSONResponse(
            {"html": TEMPLATES.get_template("study_board.html").render({**whole, "offer": offer, "csrf": csrf})}
        )
    return page(request, "task.html", link=link, offer=offer, design=made, **whole)


Values = dict[str, Any] | None
"""What the page shows next; None if the work was kept and the next task is due."""


def _answer(store: Store, link: Link, person: str, offer: Offer, made: design.Design, form: Mapping[str, str]) -> Values:
    example = sources.example_at(str(offer.content["id"]))
    board, event, state = board_of(example), form.get("event", ""), form.get("state", "")
    if max(len(state), len(form.get("answer", ""))) > MOST_STATE:
        raise UsageError(f"the answer has more than {MOST_STATE:,} characters.")
    if event != "submit":
        fields = {name[2:]: value for name, value in form.items() if name.startswith("f_")}
        new, said = board.act(example, state, event, fields)
        return {"view": board.view(example, new, said), "verdict": None}
    answer, rated = form.get("answer", "").strip(), form.get("difficulty", "")
    if not answer:
        return {"view": board.view(example, state, "Give an answer first."), "verdict": None}
    if rated not in ("1", "2", "3", "4", "5"):
        return {"view": _shown(board, example, answer, state, "Say how hard it was."), "verdict": None}
    store.give_answer(person, offer.item, answer, int(rated), made.limit_of(link.group))
    return None


def _shown(board: Any, example: Any, answer: str, state: str, said: str) -> Any:
    try:
        return board.view(example, answer, said)
    except UsageError:
        return board.view(example, state, said)


def _text(store: Store, link: Link, person: str, offer: Offer, made: design.Design, form: Mapping[str, str]) -> Values:  # noqa: ARG001
    body = " ".join(form.get("body", "")[:MOST_TEXT].split())
    faults = kin.faults(offer.content, body)
    if faults:
        return {"faults": faults, "body": body}
    store.give_text(person, offer.item, body)
    return None


def _review(store: Store, link: Link, person: str, offer: Offer, made: design.Design, form: Mapping[str, str]) -> Values:  # noqa: ARG001
    verdicts = [form.get(f"check_{number}", "") for number in range(len(kin.CHECKS))]
    if not all(verdict in ("yes", "no") for verdict in verdicts):
        return {"faults": ["Answer yes or no to every check."]}
    reasons = [check for check, verdict in zip(kin.CHECKS, verdicts, strict=True) if verdict == "no"]
    store.give_review(person, offer.item, offer.text, not reasons, reasons)
    return None


def _statement(store: Store, link: Link, person: str, offer: Offer, made: design.Design, form: Mapping[str, str]) -> Values:  # noqa: ARG001
    statement = " ".join(form.get("statement", "")[:MOST_TEXT].split())
    text = " ".join(form.get("program", "")[:MOST_TEXT].split())
    values, problem = scenes.tried(offer.content, text, "labelled")
    right = scenes.agreement(offer.content, text, "labelled")
    shown = {"statement": statement, "program": text, "tried": values, "faults": [problem] if problem else []}
    if form.get("event") != "submit":
        return shown
    if not statement or problem or right < len(offer.content["labelled"]):
        why = "Write a statement." if not statement else "The program must have the value of the label in every scene shown."
        return {**shown, "faults": [*shown["faults"], why]}
    hidden = offer.content["hidden"]
    store.give_statement(person, offer.item, statement, text, scenes.agreement(offer.content, text, "hidden"), len(hidden))
    return None


async def withdraw_page(request: Request) -> Response:
    """Delete everything of a person."""
    store, link, person, _ = await _met(request)
    if request.method == "GET":
        return page(request, "withdraw.html", link=link, is_known=bool(person), is_gone=False)
    code = person or visit_of(request).form.get("code", "").strip()
    if not code or not await work(request, store.is_person, code, link.study):
        raise UsageError("no participant of this study has this code.")
    await work(request, store.withdraw, code)
    response = page(request, "withdraw.html", link=link, is_known=False, is_gone=True)
    response.delete_cookie(_cookie(link), path="/take/")
    return response


__all__ = ["consent_page", "export_file", "live_counts", "studies_page", "study_page", "task_page", "withdraw_page"]
