"""Running the application: one process, limits on connections, and an end without lost work."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from recombine.errors import FileError
from recombine.serve.app import make_app
from recombine.serve.guard import LOG
from recombine.serve.settings import Settings


def bound(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say; a port that is taken or not allowed is a `FileError`."""
    kind = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=kind)
    except OSError as problem:
        reason = str(problem.strerror or problem).partition(" (while")[0]
        raise FileError(
            f"cannot listen on {settings.host} port {settings.port}: {reason}; choose another --port or --host."
        ) from None


def serve(settings: Settings, listening: socket.socket) -> None:
    """Serve on a socket of `bound` until the process gets a signal to end."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    config = uvicorn.Config(
        make_app(settings),
        host=settings.host,
        port=settings.port,
        http=_patient(settings.limits.idle_seconds),
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        limit_concurrency=settings.limits.connections,
        timeout_keep_alive=int(settings.limits.idle_seconds),
        timeout_graceful_shutdown=5,
        server_header=False,
        h11_max_incomplete_event_size=32 << 10,
    )
    uvicorn.Server(config).run([listening])


def _patient(seconds: float) -> type[asyncio.Protocol]:
    """The HTTP protocol of uvicorn, which also closes connections on which no request comes in time.

    Without this a client could hold every connection open by sending nothing.
    """

    class Protocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(seconds, self._close_if_silent)

        def _close_if_silent(self) -> None:
            if getattr(self, "cycle", None) is None and not self.transport.is_closing():
                self.transport.close()

    return Protocol
