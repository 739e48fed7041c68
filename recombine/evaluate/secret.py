"""The key of an endpoint: read from the environment, kept out of every repr, message and record."""

from __future__ import annotations

import os

from recombine.errors import UsageError

KEY_VARIABLES = ("RECOMBINE_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the key, in the order in which they are tried."""
GRAM = 8
LONGEST_PIECE = 15
"""A piece of the key of this length or more is hidden too; every such piece holds a whole aligned gram of the key."""


class Secret:
    """A key that does not print itself."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not value.isascii() or not value.isprintable() or " " in value or len(value) > 4_000:
            raise UsageError(
                "the key in the environment has characters that no key has; set it again, without blanks or line ends."
            )
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)

    def header(self) -> dict[str, str]:
        """The request header that carries the key, if there is one."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def is_in(self, text: str) -> bool:
        """Whether the text holds the key (keys under four characters are not looked for)."""
        return len(self._value) >= 4 and self._value in text

    def hidden(self, text: str) -> str:
        """The text with the key taken out, and any long piece of it, and fit to be written as UTF-8. Cut only afterwards."""
        clean = text.encode("utf-8", "replace").decode()
        if len(self._value) < 4:
            return clean
        clean = clean.replace(self._value, "[key]")
        for start in range(0, len(self._value) - GRAM + 1, GRAM):
            clean = self._without_piece(clean, start)
        return clean

    def _without_piece(self, text: str, start: int) -> str:
        """The text without pieces of the key of `LONGEST_PIECE` characters and more that hold the characters from `start`."""
        key, place = self._value, 0
        while (place := text.find(key[start : start + GRAM], place)) >= 0:
            low, high = 0, GRAM
            while low < min(start, place) and text[place - low - 1] == key[start - low - 1]:
                low += 1
            while start + high < len(key) and place + high < len(text) and text[place + high] == key[start + high]:
                high += 1
            if low + high >= LONGEST_PIECE:
                text = f"{text[: place - low]}[key]{text[place + high :]}"
                place -= low
            place += 1
        return text


def key_from_environment() -> Secret:
    """The key, or an empty one: local servers need none."""
    return Secret(next((value for name in KEY_VARIABLES if (value := os.environ.get(name, "").strip())), ""))
