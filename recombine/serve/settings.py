"""The settings with which the server was started, and the limits for every client."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from recombine.errors import UsageError, shown

LOOPBACK = ("127.0.0.1", "::1", "localhost")
FEWEST_TOKEN_LETTERS = 16


@dataclass(frozen=True)
class Limits:
    """How much one client may ask for."""

    body_bytes: int = 128 << 10
    query_bytes: int = 8 << 10
    body_seconds: float = 10.0
    work_seconds: float = 60.0
    idle_seconds: float = 10.0
    connections: int = 400
    reads_per_second: float = 1000.0
    writes_per_second: float = 200.0
    tries_per_minute: float = 10.0


@dataclass(frozen=True)
class Settings:
    """Where the server listens, which folders it may open, who is a researcher, and where studies are kept.

    `token` is "" on loopback: anybody who can reach the port may use every page. `secret` signs forms and cookies. It is kept with the
    studies, so that a form survives a restart; without studies it is new at every start.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = field(default="", repr=False)
    folders: tuple[Path, ...] = ()
    studies: Path | None = None
    limits: Limits = field(default_factory=Limits)
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            raise UsageError(f"--host {shown(self.host)} opens the server to other machines, so it needs --token as well.")
        if self.token and (len(self.token) < FEWEST_TOKEN_LETTERS or not self.token.isascii() or not self.token.isprintable()):
            raise UsageError(f"--token must be at least {FEWEST_TOKEN_LETTERS} printable ASCII characters.")
        for folder in self.folders:
            if not folder.is_dir():
                raise UsageError(f"--folder {shown(str(folder))} is not a folder.")

    @property
    def is_open(self) -> bool:
        """Whether every visitor is a researcher: only on loopback, without a token."""
        return not self.token

    def signed(self, purpose: str, text: str) -> str:
        """A code that only this server can make for the text."""
        return hmac.new(self.secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()[:40]

    def has_signed(self, purpose: str, text: str, code: str) -> bool:
        """Whether the code is this server's for the text."""
        return hmac.compare_digest(self.signed(purpose, text).encode(), code.encode("utf-8", "replace"))
