"""The secret of an exam: 256 random bits, a hash chain from them, and a file that only its owner can read.

A series of N exams has one root. The secret of exam N is the root; the secret of exam n is the hash of the secret of exam n + 1. The
anchor, which is public, is the hash of the first exam's secret. A revealed secret therefore proves itself against the anchor and
tells nothing about the exams that follow it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from pathlib import Path

from recombine.errors import FileError, UsageError, shown
from recombine.exams.faults import OtherSecret
from recombine.files import check_path, read_json, sync_folder, told, write_all
from recombine.schemas import anything, check, record, text

SECRET_BYTES = 32
OWNER_ONLY = 0o600
SECRET_SHAPE = record({"commitment": text(64), "root": anything})
"""The root is checked apart, by `Secret.from_hex`: a complaint about a shape would print the value."""


def hashed(tag: str, *parts: bytes) -> bytes:
    """SHA-256 over a domain tag and parts, each with its length in front."""
    state = hashlib.sha256()
    for part in (f"recombine exam 1: {tag}".encode(), *parts):
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


class Secret:
    """32 bytes that do not print themselves."""

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        if len(value) != SECRET_BYTES:
            raise UsageError(f"a secret has {SECRET_BYTES} bytes, this one has {len(value)}.")
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    @classmethod
    def drawn(cls) -> Secret:
        """A fresh secret from the system's randomness."""
        return cls(secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def from_hex(cls, digits: object, place: str) -> Secret:
        """The secret of a file; the message of an error does not hold it."""
        try:
            return cls(bytes.fromhex(digits if isinstance(digits, str) else ""))
        except (ValueError, UsageError):
            raise FileError(f"{place} does not hold a secret of {2 * SECRET_BYTES} hexadecimal digits.") from None

    def hex(self) -> str:
        """The digits, to be written into a file. Never print them."""
        return self._value.hex()

    def before(self, steps: int = 1) -> Secret:
        """The secret of the exam that lies so many steps earlier in the series."""
        value = self._value
        for _ in range(steps):
            value = hashed("chain", value)
        return Secret(value)

    def seed_bytes(self, *context: bytes) -> bytes:
        """Bytes from which seeds are made: they depend on the secret and on the context."""
        return hashed("seed", self._value, *context)


def write_secret(path: Path, commitment: str, root: Secret) -> None:
    """Write the secret's file. It is created with mode 0600, and an existing file is never replaced."""
    raw = (json.dumps({"commitment": commitment, "root": root.hex()}) + "\n").encode()
    file = check_path(path)
    with told("write", file):
        if file.exists() or file.is_symlink():
            raise FileError(f"{shown(str(file))} exists; a secret is never replaced. Choose another folder.")
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), OWNER_ONLY)
        try:
            write_all(handle, raw)
            os.fsync(handle)
        finally:
            os.close(handle)
        sync_folder(file.parent)


def read_secret(path: Path, commitment: str) -> Secret:
    """The root of an exam's series. A file that others can read is refused, and so is the secret of another exam."""
    file = check_path(path)
    place = shown(str(file))
    with told("read", file):
        mode = stat.S_IMODE(file.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        raise FileError(f"{place} can be read by others (mode {mode:04o}); say chmod 600, and seal a new exam if they did.")
    value = read_json(file, 4096)
    check(value, SECRET_SHAPE, place)
    if value["commitment"] != commitment:
        raise OtherSecret(f"{place} is the secret of the exam {value['commitment'][:16]}…, not of {commitment[:16]}….")
    return Secret.from_hex(value["root"], place)
