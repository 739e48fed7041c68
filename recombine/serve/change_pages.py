"""The pages on which an example is changed and saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from recombine.serve import sources
from recombine.serve.changes import editor_of
from recombine.serve.changes.base import parsed
from recombine.serve.replies import TEMPLATES, page, visit_of, wants_json, work


async def change_page(request: Request) -> Response:
    """Change the example with this id; POST with an event changes, with `save` gives the file."""
    identifier = request.path_params["identifier"]
    form: Mapping[str, str] = visit_of(request).form if request.method == "POST" else {}
    if form.get("event") == "save":
        saved = await work(request, _saved, identifier, form.get("state", ""))
        headers = {"content-disposition": f'attachment; filename="{saved.name}"', "cache-control": "no-store"}
        return Response(saved.text, headers=headers, media_type="application/octet-stream")
    values = await work(request, _changed, identifier, form)
    if wants_json(request):
        values["csrf"] = visit_of(request).csrf
        return JSONResponse({"html": TEMPLATES.get_template("editor.html").render(values)})
    return page(request, "change.html", identifier=identifier, address=sources.address_of(identifier), **values)


def _changed(identifier: str, form: Mapping[str, str]) -> dict[str, Any]:
    example = sources.example_at(identifier)
    editor = editor_of(example)
    state, said = form.get("state") or editor.begin(example), ""
    if form.get("event"):
        fields = {name[2:]: value for name, value in form.items() if name.startswith("f_")}
        state, said = editor.act(state, form["event"], fields)
    found, inside = editor.finding(state), parsed(state)
    texts = {name: inside[name] for name in ("command", "statement") if name in inside}
    return {
        "view": editor.view(state, said),
        "finding": found,
        "said_as": next(iter(texts), ""),
        "text": next(iter(texts.values()), ""),
        "program": inside.get("program"),
        "can_save": found.status in ("unique", "true", "false"),
    }


def _saved(identifier: str, state: str) -> Any:
    return editor_of(sources.example_at(identifier)).saved(state)
