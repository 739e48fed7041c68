"""An OpenAI-compatible chat endpoint over HTTP: one question in, one reply or one named failure out.

`POST {endpoint}/chat/completions`; https, or http to this machine (or where it is allowed); redirects are not followed; a body is read up to a cap and no
further; each attempt has a time limit as a whole. Busy (429), failing (5xx), silent, cut off or garbled endpoints are tried again,
a bounded number of times, with waits that grow and vary by a named stream; `Retry-After` is honoured up to a bound.

The key comes from the environment and leaves only in the request's header: it is not in any repr, message or record, and whatever
an endpoint sends back is searched for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recombine import keys
from recombine.errors import EndpointError, UsageError, shown
from recombine.evaluate.secret import Secret, key_from_environment

if TYPE_CHECKING:
    import httpx2 as httpx

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MAX_BODY = 8 << 20
"""Largest body, in bytes, that is read of a reply."""
LONGEST_WAIT_SECONDS = 120.0
FATAL = {
    401: "the key was not accepted",
    403: "the key may not do this",
    404: "there is no such address or model",
    405: "it is no chat endpoint",
}
"""HTTP status -> why further requests are useless."""


@dataclass(frozen=True)
class Reply:
    """What came of one question: a text, or an `error`. Token counts are the endpoint's own; None where it gave none.

    `unknown` counts earlier attempts that ended without a count and may have been charged, unlike those that were turned away.
    `reasoning` is what a reasoning model thought, where the endpoint tells it; it is kept and never read for an answer.
    """

    text: str = ""
    finish: str = ""
    refusal: str = ""
    model: str = ""
    error: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    unknown: int = 0
    seconds: float = 0.0
    reasoning: str = ""
    tokens_reasoning: int | None = None


@dataclass(frozen=True)
class Patience:
    """How long and how often one question is tried."""

    timeout_seconds: float = 120.0
    retries: int = 5
    backoff_seconds: float = 1.0

    def wait_seconds(self, attempt: int, asked: float | None, stream: keys.Stream) -> float:
        """The wait before another attempt: doubled each time and varied; at least what the endpoint asked for, within the bound."""
        wait = self.backoff_seconds * float(2**attempt) * (0.5 + stream.unit())
        return min(LONGEST_WAIT_SECONDS, max(wait, asked or 0.0))


class _Again(Exception):
    """An attempt that failed and may be repeated; `is_unpaid` if the endpoint turned it away before working."""

    def __init__(self, reason: str, *, is_unpaid: bool = False, wait_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.is_unpaid, self.wait_seconds = is_unpaid, wait_seconds


class _Failed(Exception):
    """An attempt that failed for good."""


def check_endpoint(url: str, allow_http: bool = False) -> str:
    """The address without a final slash; an unencrypted one, or one with a key in it, is an error.

    http is for this machine, or for any host with `allow_http`. The only query is `api-version`.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"the endpoint {shown(url)} is not an address.") from None
    has_secret = parts.query and re.fullmatch(r"api-version=[A-Za-z0-9.-]{1,40}", parts.query) is None
    if parts.username is not None or parts.password is not None or has_secret or parts.fragment:
        raise UsageError(
            "the endpoint must be a plain address, with no query but ?api-version=; keys belong into the environment (RECOMBINE_API_KEY)."
        )
    if (
        parts.scheme not in ("http", "https")
        or not host
        or not url.isascii()
        or not url.isprintable()
        or " " in url
        or port == 0
    ):
        raise UsageError(f"the endpoint {shown(url)} is not an address like https://host/v1.")
    if parts.scheme == "http" and host not in LOOPBACK and not allow_http:
        raise UsageError(
            f"the endpoint {shown(url)} is not encrypted; use https, or --allow-http for a machine of your own network."
        )
    address, mark, query = url.partition("?")
    return address.rstrip("/").removesuffix("/chat/completions") + mark + query


def is_local(url: str) -> bool:
    """Whether the endpoint is on this machine."""
    return urlsplit(url).hostname in LOOPBACK


@dataclass
class Endpoint:
    """A model behind a chat endpoint. Use as an async context; `ask` never raises for what a single question meets."""

    url: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    max_body: int = MAX_BODY
    key: Secret = field(default_factory=key_from_environment)
    connections: int = 8
    allow_http: bool = False
    per_minute: float | None = None
    chunk_seconds: float | None = None
    """With a number, replies are streamed, and each piece must come within so many seconds."""

    def __post_init__(self) -> None:
        self.url = check_endpoint(self.url, self.allow_http)
        if self.per_minute is not None and not 0 < self.per_minute <= 1_000_000:
            raise UsageError(
                f"the requests per minute are {shown(self.per_minute)}, but must be above 0 and at most 1,000,000."
            )
        self._next = 0.0
        try:
            told = json.dumps([self.url, self.model, dict(self.settings)], ensure_ascii=False, allow_nan=False)
        except ValueError:
            raise UsageError("a setting of the request is not a finite number.") from None
        if self.key.is_in(told):
            raise UsageError(
                "the key stands in the address, the model's name or a setting, which are written down; take it out."
            )
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Endpoint:
        try:
            import httpx2 as httpx
        except ImportError:
            raise UsageError("endpoints need the `eval` extra: pip install 'recombine[eval]'.") from None

        self._client = httpx.AsyncClient(
            headers={
                **self.key.header(),
                "Content-Type": "application/json",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "recombine",
            },
            follow_redirects=False,
            trust_env=not is_local(self.url),  # a proxy of the environment, but never for this machine
            timeout=httpx.Timeout(self.patience.timeout_seconds),
            limits=httpx.Limits(max_connections=self.connections),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, name: str, messages: list[dict[str, Any]], before: Callable[[], None]) -> Reply:
        """One question, tried again as often as patience allows; `before` is called ahead of every attempt and may forbid it.

        Raises `EndpointError` only if further requests are useless. Errors of `before` pass through.
        """
        streaming = {} if self.chunk_seconds is None else {"stream": True, "stream_options": {"include_usage": True}}
        body = json.dumps({"model": self.model, "messages": messages, **self.settings, **streaming}).encode()
        stream = keys.Stream("retry", self.url, self.model, name)
        began, unknown, reason = time.monotonic(), 0, ""
        for attempt in range(self.patience.retries + 1):
            await self._pace()
            before()
            try:
                found = await self._attempt(body)
                return Reply(**found, unknown=unknown, seconds=round(time.monotonic() - began, 3))
            except _Failed as problem:
                reason = str(problem)
                break
            except _Again as problem:
                reason = str(problem)
                unknown += not problem.is_unpaid
                if attempt < self.patience.retries:
                    await asyncio.sleep(self.patience.wait_seconds(attempt, problem.wait_seconds, stream))
        return Reply(error=self.key.hidden(reason), unknown=unknown, seconds=round(time.monotonic() - began, 3))

    async def _pace(self) -> None:
        """Wait until the next request may go out."""
        if self.per_minute is None:
            return
        now = time.monotonic()
        turn = max(now, self._next)
        self._next = turn + 60.0 / self.per_minute
        await asyncio.sleep(turn - now)

    async def _attempt(self, body: bytes) -> dict[str, Any]:
        import httpx2 as httpx

        assert self._client is not None, "use the endpoint as an async context"
        address, mark, query = self.url.partition("?")
        try:
            async with (
                asyncio.timeout(self.patience.timeout_seconds),
                self._client.stream("POST", f"{address}/chat/completions{mark}{query}", content=body) as response,
            ):
                return self._read(response, await self._body(response))
        except TimeoutError:
            raise _Again(f"no reply within {self.patience.timeout_seconds:g} s") from None
        except httpx.ConnectError:
            raise _Again("no connection", is_unpaid=True) from None
        except httpx.HTTPError as problem:
            raise _Again(f"the connection failed ({type(problem).__name__})") from None

    async def _body(self, response: httpx.Response) -> bytes:
        """The body, up to the cap; compressed ones are refused, because a small one may unfold into anything."""
        if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise _Again("the body is compressed, which was not asked for")
        declared = response.headers.get("content-length", "")
        if declared.isdecimal() and (len(declared) > 12 or int(declared) > self.max_body):
            raise _Again(f"the body is over {self.max_body:,} bytes")
        raw = bytearray()
        pieces = response.aiter_raw()
        while True:
            try:
                async with asyncio.timeout(self.chunk_seconds):
                    piece = await anext(pieces, None)
            except TimeoutError:
                if self.chunk_seconds is None:
                    raise
                raise _Again(f"the stream was silent for {self.chunk_seconds:g} s") from None
            if piece is None:
                break
            raw += piece
            if len(raw) > self.max_body:
                raise _Again(f"the body is over {self.max_body:,} bytes")
        return bytes(raw)

    def _read(self, response: httpx.Response, raw: bytes) -> dict[str, Any]:
        status = response.status_code
        if status in FATAL:
            raise EndpointError(f"{self.url} answered {status}: {FATAL[status]}. {self._excerpt(raw)}".rstrip())
        if status in (408, 409, 425, 429) or status >= 500:
            raise _Again(f"HTTP {status}", is_unpaid=True, wait_seconds=_retry_after(response.headers.get("retry-after", "")))
        if 300 <= status < 400:
            raise _Failed(f"HTTP {status}: redirects are not followed; give the address that it leads to")
        if status == 400 and b"max_completion_tokens" in raw and "max_completion_tokens" not in self.settings:
            limit = self.settings.get("max_tokens", "N")
            raise EndpointError(
                f"{self.url} wants max_completion_tokens: add --body max_tokens=null --body max_completion_tokens={limit}. "
                f"{self._excerpt(raw)}".rstrip()
            )
        if status != 200:
            raise _Failed(f"HTTP {status}: {self._excerpt(raw)}".rstrip(": "))
        if self.chunk_seconds is not None and "event-stream" in response.headers.get("content-type", ""):
            return self._streamed(raw)
        if "json" not in response.headers.get("content-type", ""):
            raise _Again(f"the reply is {shown(self.key.hidden(response.headers.get('content-type', 'of no type')))}, not JSON")
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            raise _Again("the reply is not JSON") from None
        return self._completion(value)

    def _streamed(self, raw: bytes) -> dict[str, Any]:
        """The fields of a streamed reply. A stream that ends before its end may come out better next time."""
        try:
            value = joined_stream(raw)
        except (ValueError, RecursionError, TypeError, AttributeError):
            raise _Again("the stream is garbled") from None
        if "finish_reason" not in value["choices"][0]:
            raise _Again("the stream broke off")
        return self._completion(value)

    def _completion(self, value: Any) -> dict[str, Any]:
        """The fields of a chat completion; one without a message may come out better next time."""
        found = read_completion(value, self.key)
        if found is None:
            raise _Again("the reply holds no message")
        return found

    def _excerpt(self, raw: bytes) -> str:
        """A printable piece of an error's body."""
        text = self.key.hidden(raw.decode("utf-8", "replace"))
        try:
            inner = json.loads(raw)["error"]
            text = self.key.hidden(str(inner["message"] if isinstance(inner, dict) else inner))
        except (ValueError, RecursionError, KeyError, TypeError):
            pass
        return shown(text, 200) if text.strip() else ""


def read_completion(value: Any, key: Secret) -> dict[str, Any] | None:
    """The fields of a chat completion, ready for `Reply`; None if it holds no message."""
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    if isinstance(text, list):  # some servers give a list of typed pieces
        text = "".join(str(piece.get("text", "")) for piece in text if isinstance(piece, dict))
    thought = message.get("reasoning_content") or message.get("reasoning")
    usage = value.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    details = counts.get("completion_tokens_details")
    return {
        "text": key.hidden(text) if isinstance(text, str) else "",
        "refusal": key.hidden(refusal) if isinstance(refusal, str) else "",
        "finish": key.hidden(str(choice.get("finish_reason") or ""))[:40],
        "model": key.hidden(str(value.get("model") or ""))[:200],
        "tokens_in": _count(counts.get("prompt_tokens")),
        "tokens_out": _count(counts.get("completion_tokens")),
        "reasoning": key.hidden(thought) if isinstance(thought, str) else "",
        "tokens_reasoning": _count(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
    }


def joined_stream(raw: bytes) -> dict[str, Any]:
    """A streamed reply as one chat completion. Pieces are joined; the last finish reason, usage and model count.

    Only a line feed ends a line here: `str.splitlines` would also split at U+2028 and others, which JSON allows inside a text.
    """
    message: dict[str, str] = {}
    whole: dict[str, Any] = {"choices": [{"message": message}]}
    for line in raw.decode("utf-8", "replace").split("\n"):
        if not line.startswith("data:") or line[5:].strip() == "[DONE]":
            continue
        piece = json.loads(line[5:])
        for name in ("usage", "model"):
            if piece.get(name):
                whole[name] = piece[name]
        for choice in piece.get("choices") or ():
            for name, text in (choice.get("delta") or {}).items():
                if isinstance(text, str) and name != "role":
                    message[name] = message.get(name, "") + text
            if choice.get("finish_reason"):
                whole["choices"][0]["finish_reason"] = choice["finish_reason"]
    return whole


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
    return value if is_count else None


def _retry_after(text: str) -> float | None:
    """Seconds of a `Retry-After` header, which holds seconds or a date."""
    if text.isascii() and text.isdecimal():
        return float(text[:8]) if len(text) <= 8 else LONGEST_WAIT_SECONDS
    try:
        when = parsedate_to_datetime(text[:100])
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):  # a header that means nothing asks for nothing
        return None
