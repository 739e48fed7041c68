"""gSCAN's commands: "VERB (to) a [COLOR] [SIZE] NOUN [ADVERB]", 675 of them, each with a number that kernels understand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from recombine.errors import UsageError, shown
from recombine.families.gscan.rows import encode_command
from recombine.grid import wording
from recombine.grid.codes import ADVERBS, COLORS, SHAPES, SIZE_WORDS, VERBS
from recombine.grid.matching import Phrase

NOUNS = SHAPES[:3]
TEMPLATES = ("shape", "color,shape", "size,shape", "size,color,shape")
"""Which kinds of words the noun phrase has; index = (has a colour word) + 2 * (has a size word)."""
MAX_COMMAND = 200
"""Longest command text that is parsed, in characters."""


@dataclass(frozen=True)
class Command:
    """One command. `str` gives it as people read it; `tokens` as the released files split it (an adverb is one token)."""

    verb: str
    adverb: str
    phrase: Phrase

    def __str__(self) -> str:
        return " ".join(self.tokens)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words in order; "while spinning" is one token, colour comes before size."""
        words = (
            self.verb,
            "to" if self.verb == "walk" else "",
            "a",
            self.phrase.color,
            self.phrase.size,
            self.phrase.shape,
            self.adverb,
        )
        return tuple(word for word in words if word)

    @property
    def number(self) -> int:
        """Its place in `commands()`."""
        verb, adverb, shape = VERBS.index(self.verb), ADVERBS.index(self.adverb), NOUNS.index(self.phrase.shape)
        color = COLORS.index(self.phrase.color) + 1 if self.phrase.color else 0
        return encode_command(verb, adverb, shape, color, SIZE_WORDS.index(self.phrase.size))

    @property
    def template(self) -> str:
        """Which kinds of words the noun phrase has."""
        return TEMPLATES[bool(self.phrase.color) + 2 * bool(self.phrase.size)]


@cache
def commands() -> tuple[Command, ...]:
    """All 675 commands by number."""
    return tuple(_all())


def _all() -> Iterator[Command]:
    for verb in VERBS:
        for adverb in ADVERBS:
            for shape in NOUNS:
                for color in ("", *COLORS):
                    for size in SIZE_WORDS:
                        yield Command(verb, adverb, Phrase(size, color, shape))


@cache
def _by_text() -> dict[str, Command]:
    return {str(command): command for command in commands()}


def parse_command(text: str) -> Command:
    """The command that a plain text says, words separated by blanks or commas; any other text is an error that shows it."""
    if isinstance(text, str) and len(text) <= MAX_COMMAND:
        found = _by_text().get(" ".join(text.replace(",", " ").split()).lower())
        if found is not None:
            return found
    raise UsageError(
        f'{shown(text)} is no gSCAN command; they read "walk to a red big square cautiously" (colour before size).'
    )


def parse_any(text: str) -> Command:
    """The command that a text says in plain or natural wording; any other text is an error that shows it."""
    return (_natural(text) if isinstance(text, str) and text not in _by_text() else None) or parse_command(text)


def _natural(text: str) -> Command | None:
    """The command that a natural wording says."""
    said = wording.read(text)
    if said is None or len(said.nouns) != 1:
        return None
    determiner, size, color, head = said.nouns[0]
    return Command(said.verb, said.adverb, Phrase(size, color, head)) if determiner == "a" and head in NOUNS else None


def spoken(command: Command) -> wording.Spoken:
    """The command as natural wording takes it."""
    phrase = command.phrase
    return wording.Spoken(command.verb, command.adverb, (("a", phrase.size, phrase.color, phrase.shape),), ())
