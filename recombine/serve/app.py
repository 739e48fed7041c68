"""The application: all routes, behind the guard."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from recombine.serve import change_pages, comparison, pages
from recombine.serve.guard import RESEARCHER, App, Guard
from recombine.serve.replies import HERE, failure, guarded, page, redirect, visit_of
from recombine.serve.settings import Settings
from recombine.serve.studies import pages as people

GET, BOTH = ["GET"], ["GET", "POST"]


def make_app(settings: Settings) -> App:
    """The whole server as an ASGI application."""
    routes = [
        Route("/", guarded(pages.home), methods=GET),
        Route("/enter", guarded(enter), methods=BOTH),
        Route("/go", guarded(pages.go), methods=GET),
        Route("/compare", guarded(comparison.compare_page), methods=GET),
        Route("/change/{identifier:path}", guarded(change_pages.change_page), methods=BOTH),
        Route("/families/{family}", guarded(pages.family_page), methods=GET),
        Route("/files/{root:int}", guarded(pages.files_page), methods=BOTH),
        Route("/files/{root:int}/{relative:path}", guarded(pages.files_page), methods=BOTH),
        Route("/studies", guarded(people.studies_page), methods=BOTH),
        Route("/studies/{study}", guarded(people.study_page), methods=GET),
        Route("/studies/{study}/live", guarded(people.live_counts), methods=GET),
        Route("/studies/{study}/files/{name}", guarded(people.export_file), methods=GET),
        Route("/take/{link}", guarded(people.consent_page), methods=BOTH),
        Route("/take/{link}/next", guarded(people.task_page), methods=BOTH),
        Route("/take/{link}/withdraw", guarded(people.withdraw_page), methods=BOTH),
        Mount("/static", StaticFiles(directory=HERE / "static")),
        Route("/{identifier:path}", guarded(pages.example_page), methods=BOTH),
    ]
    inner = Starlette(routes=routes, exception_handlers={404: _unknown, 405: _unknown})
    return Guard(inner, settings)


async def _unknown(request: Request, _problem: Exception) -> Response:
    return failure(request, 404, "There is no such page.")


async def enter(request: Request) -> Response:
    """Where a researcher shows the token."""
    visit = visit_of(request)
    settings = visit.settings
    if request.method == "GET" or settings.is_open:
        return page(request, "enter.html", is_wrong=False)
    visit.check_tries(request.client.host if request.client else "?")
    given = settings.signed("researcher", visit.form.get("token", ""))
    if not settings.has_signed("researcher", settings.token, given):
        return page(request, "enter.html", 401, is_wrong=True)
    response = redirect("/")
    response.set_cookie(RESEARCHER, given, httponly=True, samesite="lax", path="/")
    return response
