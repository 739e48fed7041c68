"""What every board offers, and the board of families that are answered in writing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from recombine.abilities import Asking
from recombine.core import Example
from recombine.errors import UsageError, shown

MARK = "#7048e8"
"""The colour of rings around objects that a step of the proof names."""
MOST_STATE = 20_000
"""Longest state, in characters."""


@dataclass(frozen=True)
class Button:
    """A button: its label, the event that it sends, and the key that does the same."""

    label: str
    event: str
    key: str = ""


@dataclass(frozen=True)
class Field:
    """A list to choose from, in a small form."""

    name: str
    label: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """A few choices and one button that sends them."""

    label: str
    event: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class View:
    """What a board shows: the drawing, the answer as it would be scored now, and what can be done next.

    `choices` are complete answers, one button each. `hint` says how to use the board. `said` is news about the last event.
    """

    answer: str
    svg: str = ""
    said: str = ""
    hint: str = ""
    buttons: tuple[Button, ...] = ()
    forms: tuple[Form, ...] = ()
    choices: tuple[str, ...] = ()


class Board(Protocol):
    """A way to answer an example by hand."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """What the board shows in this state; a state that cannot be read is a `UsageError`."""

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:
        """(next state, a sentence where something is to be told)."""

    def question(self, example: Example) -> str:
        """The item in words, without its answer."""

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:
        """An SVG for people: what an answer does in the world.

        `proof` holds the steps that were read so far. The things that its last step names are marked.
        """

    def film(self, example: Example) -> Sequence[str]:
        """The states through which the right answer is reached, for playing it; empty if nothing moves."""


class TextBoard:
    """For families that are answered in writing: the text is the state."""

    def view(self, example: Example, state: str, said: str = "") -> View:
        """No drawing; the answer is typed. The hint says how it is written."""
        family = example.family
        hint = family.prompts.task(family.NAME) if isinstance(family, Asking) else "Type the answer."
        return View(answer=state, said=said, hint=hint)

    def act(self, example: Example, state: str, event: str, fields: Mapping[str, str]) -> tuple[str, str]:  # noqa: ARG002
        """Nothing can be done but typing."""
        raise unknown(event)

    def question(self, example: Example) -> str:
        """The inputs as the family words them."""
        return worded(example)

    def picture(self, example: Example, answer: str | None, proof: Sequence[str]) -> str:  # noqa: ARG002
        """The family's own picture of the solution, where it has one and no other answer is asked for."""
        if "svg" not in example.family.MEDIA or (answer is not None and answer != example.answer):
            return ""
        return str(example.render("svg"))

    def film(self, example: Example) -> Sequence[str]:  # noqa: ARG002
        """Nothing moves."""
        return ()


def worded(example: Example) -> str:
    """The item as a language model is asked about it, or the family's plain text."""
    from recombine.abilities import Asking

    family = example.family
    if isinstance(family, Asking):
        return family.prompts.question(example, "text")
    text = example.render("text")
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def unknown(event: str) -> UsageError:
    """The error for an event that a board does not know."""
    return UsageError(f"{shown(event, 80)} is nothing that can be done here.")


_PLACES = re.compile(r"(click|drag):(-?\d{1,4}(?:\.\d{1,3})?(?:,-?\d{1,4}(?:\.\d{1,3})?){1,3})")


def places(event: str) -> tuple[str, tuple[float, ...]] | None:
    """(`click`, (x, y)) or (`drag`, (x1, y1, x2, y2)); None if the event is neither."""
    match = _PLACES.fullmatch(event)
    if match is None:
        return None
    numbers = tuple(float(number) for number in match[2].split(","))
    if len(numbers) != (2 if match[1] == "click" else 4):
        return None
    return match[1], numbers


def labelled(svg: str, label: str) -> str:
    """The SVG as an image with a name that screen readers say."""
    head, rest = svg.split(">", 1)
    head = re.sub(r'\s(role|aria-label)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{escape(label, quote=True)}">{rest}'
