"""Limits, checks and logs every request before a page handles it.

Limits: length of the query, length of the body and the time it takes, requests a second for each client. Checks: the host's name
(against rebinding), the role, and for every change a signed form code. Every answer gets a strict content policy. The log holds
method, path and status; query strings, cookies, bodies and the secret parts of links never reach it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

from recombine.errors import printable
from recombine.serve.settings import LOOPBACK, Settings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG = logging.getLogger("recombine.serve")
SESSION, RESEARCHER = "recombine_session", "recombine_researcher"
MOST_FIELDS = 200
_SECRET_PART = re.compile(r"^(/take/)[^/]+")
_SESSION = re.compile(r"[A-Za-z0-9_-]{20,60}")
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    b"base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Refused(Exception):
    """The request may not pass; `status` is the HTTP code, the text is for the visitor, `leads_to` where a browser goes instead."""

    def __init__(self, status: int, text: str, leads_to: bytes = b"") -> None:
        super().__init__(text)
        self.status, self.leads_to = status, leads_to


@dataclass
class Bucket:
    """A client's allowance: `rate` requests a second, of which at most `most` are saved up."""

    rate: float
    most: float
    left: float
    at: float = field(default_factory=time.monotonic)

    def take(self) -> bool:
        """Whether one more request is allowed now."""
        now = time.monotonic()
        self.left = min(self.most, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Rates:
    """The allowances of all clients; those that were quiet longest are forgotten first."""

    MOST_CLIENTS = 10_000

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def allows(self, client: str, kind: str, rate: float, seconds: float = 2.0) -> bool:
        """Whether this client may make one more request of this kind; what `seconds` allow may come at once."""
        most = max(1.0, seconds * rate)
        bucket = self._buckets.pop((client, kind), None) or Bucket(rate, most, most)
        self._buckets[client, kind] = bucket
        if len(self._buckets) > self.MOST_CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        return bucket.take()


@dataclass(frozen=True)
class Visit:
    """What the guard learned about a request; pages find it in `request.scope["visit"]`."""

    settings: Settings
    session: str
    is_researcher: bool
    form: Mapping[str, str]
    body: bytes
    check_tries: Callable[[str], None]

    @property
    def csrf(self) -> str:
        """The code that every form of this visitor must carry."""
        return self.settings.signed("form", self.session)


class Guard:
    """The middleware."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app, self.settings, self.rates = app, settings, Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        started, status = time.perf_counter(), 500
        cookies: list[bytes] = []

        async def answer(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS, *((b"set-cookie", c) for c in cookies)]
            await send(message)

        try:
            visit = await self._admit(scope, receive, cookies)
        except Refused as refusal:
            await _refuse(answer, refusal)
        else:
            scope["visit"] = visit
            await self.app(scope, _replayed(visit.body, receive), answer)
        finally:
            path = _logged(str(scope["path"]))
            LOG.info("%s %s %d %.0f ms", scope["method"], path, status, 1000 * (time.perf_counter() - started))

    async def _admit(self, scope: Scope, receive: Receive, cookies: list[bytes]) -> Visit:
        """The visit, or `Refused`."""
        limits, headers = self.settings.limits, _headers(scope)
        client = str((scope.get("client") or ("?",))[0])
        is_read = scope["method"] in ("GET", "HEAD")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise Refused(405, "This server answers GET, HEAD and POST.")
        rate = limits.reads_per_second if is_read else limits.writes_per_second
        if not self.rates.allows(client, "read" if is_read else "write", rate):
            raise Refused(429, "Too many requests. Wait a moment and try again.")
        self._check_host(headers)
        if len(scope.get("query_string", b"")) > limits.query_bytes or len(str(scope["path"])) > limits.query_bytes:
            raise Refused(414, "The address is too long.")
        jar = _cookies(headers.get("cookie", ""))
        session = jar.get(SESSION, "")
        if not _SESSION.fullmatch(session):
            session = secrets.token_urlsafe(24)
            cookies.append(f"{SESSION}={session}; Path=/; HttpOnly; SameSite=Lax".encode())
        body = b"" if is_read else await self._body(headers, receive)
        visit = Visit(
            self.settings, session, self._is_researcher(jar, headers, client), _form(headers, body), body, self.check_tries
        )
        if not is_read:
            _check_origin(headers)
            given = visit.form.get("csrf") or headers.get("x-csrf", "")
            if not self.settings.has_signed("form", session, given):
                raise Refused(403, "This form has expired. Reload the page and try again.")
        if not visit.is_researcher and not _is_public(str(scope["path"])):
            text = "This page is for researchers. Sign in at /enter."
            is_browser = is_read and "text/html" in headers.get("accept", "")
            raise Refused(303, text, b"/enter") if is_browser else Refused(401, text)
        return visit

    def _check_host(self, headers: Mapping[str, str]) -> None:
        """On loopback only local names may be asked for: a page of the web that resolves to this machine gets nothing."""
        name = re.sub(r":\d+$", "", headers.get("host", "")).strip("[]").lower()
        if self.settings.host in LOOPBACK and name not in LOOPBACK:
            raise Refused(421, "This server answers for localhost only.")

    def _is_researcher(self, jar: Mapping[str, str], headers: Mapping[str, str], client: str) -> bool:
        if self.settings.is_open:
            return True
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            self.check_tries(client)
            return hmac.compare_digest(bearer[7:].encode("utf-8", "replace"), self.settings.token.encode())
        return self.settings.has_signed("researcher", self.settings.token, jar.get(RESEARCHER, ""))

    def check_tries(self, client: str) -> None:
        """Refuse a client that has shown too many tokens."""
        if not self.rates.allows(client, "tries", self.settings.limits.tries_per_minute / 60, seconds=60):
            raise Refused(429, "Too many tries. Wait a minute.")

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        most = self.settings.limits.body_bytes
        told = headers.get("content-length", "0")
        if not told.isdecimal() or len(told) > 12 or int(told) > most:
            raise Refused(413, f"The request is larger than {most >> 10} KiB.")
        kept = bytearray()
        try:
            async with asyncio.timeout(self.settings.limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "The request ended too early.")
                    kept += message.get("body", b"")
                    if len(kept) > most:
                        raise Refused(413, f"The request is larger than {most >> 10} KiB.")
                    if not message.get("more_body"):
                        return bytes(kept)
        except TimeoutError:
            raise Refused(408, "The request took too long.") from None


def _logged(path: str) -> str:
    """The path on one line, without the secret part of a link."""
    return printable(_SECRET_PART.sub(r"\1…", path)[:200]).replace("\n", "\\n").replace("\t", "\\t")


def _is_public(path: str) -> bool:
    """Whether participants and strangers may see the page."""
    return path == "/enter" or path.startswith(("/take/", "/static/"))


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _cookies(text: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(text[:4096]).items()}
    except CookieError:
        return {}


def _form(headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    """The fields of a form; a field that comes twice keeps its last value."""
    if not body or not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:
        raise Refused(400, "The form cannot be read.") from None


def _check_origin(headers: Mapping[str, str]) -> None:
    """A form of another site is refused even if it knew a code."""
    origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "")
    if site not in ("", "same-origin", "none"):
        raise Refused(403, "Forms of other sites are refused.")
    if origin and origin != "null" and origin.split("://", 1)[-1] != headers.get("host", ""):
        raise Refused(403, "Forms of other sites are refused.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receive channel that gives the whole body again."""
    is_told = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal is_told
        if not is_told:
            is_told = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


async def _refuse(send: Send, refusal: Refused) -> None:
    text = f"{refusal.status}: {refusal}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    if refusal.leads_to:
        headers.append((b"location", refusal.leads_to))
    if refusal.status in (408, 413):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
