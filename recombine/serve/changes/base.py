"""What every editor offers, and what an oracle finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from recombine.core import Example
from recombine.errors import UsageError
from recombine.serve.boards.base import MOST_STATE, View

Status = Literal["unique", "ambiguous", "impossible", "true", "false"]


@dataclass(frozen=True)
class Word:
    """A word or clause of a command: whether it is needed, and the referents without it."""

    text: str
    is_needed: bool
    without: str


@dataclass(frozen=True)
class Finding:
    """The oracle's answer about a changed example.

    `status` is `unique` (one answer), `ambiguous` (several), `impossible` (none), or the truth value of a statement.
    """

    status: Status
    text: str
    answer: str = ""
    words: tuple[Word, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Saved:
    """A file for the user to keep: its name and its text, in the layout that `recombine audit` reads."""

    name: str
    text: str
    family: str


class Editor(Protocol):
    """A way to change an example."""

    def begin(self, example: Example) -> str:
        """The example as a state."""

    def view(self, state: str, said: str = "") -> View:
        """What the editor shows; `View.answer` is the state itself."""

    def act(self, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """(next state, a sentence where something is to be told)."""

    def finding(self, state: str) -> Finding:
        """What the oracle says."""

    def saved(self, state: str) -> Saved:
        """The changed example as a file; an error if it has no single answer."""


def parsed(state: str) -> dict[str, Any]:
    """The state as an object; anything else is an error."""
    if len(state) > MOST_STATE:
        raise UsageError(f"the example has more than {MOST_STATE:,} characters.")
    try:
        found = json.loads(state)
    except (ValueError, RecursionError):
        raise UsageError("the example cannot be read; reload the page.") from None
    if not isinstance(found, dict):
        raise UsageError("the example cannot be read; reload the page.")
    return found


def written(value: Mapping[str, Any]) -> str:
    """The object as a state."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def single_line(text: str, most: int = 400) -> str:
    """The text on one line; a longer one is an error."""
    if len(text) > most:
        raise UsageError(f"the text has more than {most} characters.")
    return " ".join(text.split())
