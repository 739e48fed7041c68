"""One small tree of errors; every message carries the offending value and what to do about it.

RecombineError
├── UsageError        the caller asked for something that does not exist or does not fit (exit code 2)
│   ├── UnknownName   a name that is not in a table; lists the known ones and the nearest
│   └── BadOption     an option's value is of the wrong kind or out of range
├── FileError         a file or folder cannot be read, written or trusted (exit code 2)
├── WorkerLost        a worker process was killed; what it had finished is kept (exit code 2)
├── ProgramError      a lilGym program is not well-formed, or exceeds its limits
├── Infeasible        what was asked for cannot be generated (no world fits within the attempts)
└── EndpointError     a language-model endpoint refused, failed, or would exceed a cap
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BadOption", "EndpointError", "FileError", "Infeasible", "ProgramError", "RecombineError", "UnknownName",
    "UsageError", "WorkerLost", "printable", "shown",
]  # fmt: skip


class RecombineError(Exception):
    """The root: catching it catches every error that this package raises on purpose."""


class UsageError(RecombineError):
    """The request itself is wrong; the message says how to mend it."""


class UnknownName(UsageError):
    """A name is not in a table: `UnknownName("split", "lenght", ["simple", "length"])`."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(str(name)[:80], names, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(names[:40]) + (f", … ({len(names)} in all)" if len(names) > 40 else "")
        super().__init__(f"unknown {kind} {shown(name)}.{hint} Known: {listed}.")


class BadOption(UsageError):
    """An option has a value of the wrong kind or out of range."""


class FileError(RecombineError):
    """A file or folder cannot be read, written or trusted."""


class WorkerLost(RecombineError):
    """A worker process ended before its work did: killed from outside, or for want of memory."""


class ProgramError(RecombineError):
    """A program over a scene is not in the whitelisted language, is ill-typed, or exceeds a limit."""


class Infeasible(RecombineError):
    """The generator found no example that keeps all laws within its attempts."""


class EndpointError(RecombineError):
    """A language-model endpoint refused, failed, or would exceed a cap."""


def shown(value: object, limit: int = 200) -> str:
    """The value as it may be printed in a message: quoted, control characters escaped, cut at `limit`."""
    text = ascii(value) if not isinstance(value, str) or not value.isprintable() else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    """The text as it may reach a terminal: control, bidirectional and surrogate characters are written as escapes.

    Line ends and tabs stay. Everything else that is not printable could move the cursor, recolour or hide what follows.
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() or c in _BLANKS else ascii(c)[1:-1] for c in text)


_BLANKS = frozenset("\u00a0\u2002\u2003\u2009\u202f\u3000")
"""Blanks that Python calls unprintable although a terminal shows them as blanks."""
