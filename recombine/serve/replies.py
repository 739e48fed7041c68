"""Requests and replies: templates, the pool in which families work, and one place where errors become pages."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from recombine.errors import RecombineError
from recombine.serve import sources
from recombine.serve.guard import LOG, Refused, Visit

T = TypeVar("T")
HERE = Path(__file__).parent
_POOL = ThreadPoolExecutor(4, thread_name_prefix="recombine-serve")

TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters["svg"] = Markup  # drawings of this package only: they escape every text themselves
TEMPLATES.filters["data"] = lambda value: json.dumps(value, separators=(",", ":"))


def visit_of(request: Request) -> Visit:
    """What the guard learned about the request."""
    found: Visit = request.scope["visit"]
    return found


async def work(request: Request, task: Callable[..., T], *arguments: Any) -> T:
    """Run a family's work in the pool; what takes too long is given up."""
    seconds = visit_of(request).settings.limits.work_seconds
    loop = asyncio.get_running_loop()
    try:
        return await asyncio.wait_for(loop.run_in_executor(_POOL, functools.partial(task, *arguments)), seconds)
    except TimeoutError:
        if sources.warming():
            raise Refused(503, "The server compiles a family's kernels, once. Reload the page in a minute.") from None
        raise Refused(503, f"This took longer than {seconds:g} seconds and was given up.") from None


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page."""
    visit = visit_of(request)
    common = {"csrf": visit.csrf, "is_researcher": visit.is_researcher, "path": request.url.path}
    text = TEMPLATES.get_template(template).render({**common, **values})
    return HTMLResponse(text, status, headers={"cache-control": "no-store"})


def wants_json(request: Request) -> bool:
    """Whether the page's own script asks."""
    return request.headers.get("accept", "").startswith("application/json")


def redirect(address: str) -> RedirectResponse:
    """Go there with GET."""
    return RedirectResponse(address, 303)


Endpoint = Callable[[Request], Awaitable[Response]]


def guarded(endpoint: Endpoint) -> Endpoint:
    """The endpoint, whose errors become a short page: no stack trace ever reaches a browser."""

    @functools.wraps(endpoint)
    async def run(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as problem:
            return failure(request, problem.status, str(problem))
        except RecombineError as problem:
            return failure(request, 404 if request.method in ("GET", "HEAD") else 400, str(problem))
        except Exception:  # the last line of defence: the log gets the traceback, the visitor a sentence
            LOG.exception("a fault of this server")
            return failure(request, 500, "Something went wrong in the server. Its log says more.")

    return run


def failure(request: Request, status: int, text: str) -> Response:
    """One sentence about what went wrong, as a page or as JSON."""
    if wants_json(request):
        return JSONResponse({"error": text}, status)
    try:
        return page(request, "error.html", status, text=text)
    except KeyError:  # the application was mounted without the guard
        return HTMLResponse(f"<p>{escape(text)}</p>", status)
