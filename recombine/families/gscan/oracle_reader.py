"""The oracle's own reading of gSCAN commands, word by word, and what a phrase can mean. It shares no code with the generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recombine.families.gscan.oracle_fields import Reading
from recombine.grid.oracle_wording import hear

if TYPE_CHECKING:
    from recombine.grid.world import Thing

_COLORS = {"red", "blue", "green", "yellow"}
_SIZES = {"small", "big"}
NOUNS = {"circle", "cylinder", "square"}
_MANNERS = {"", "while zigzagging", "while spinning", "cautiously", "hesitantly"}


def read_any(text: str) -> Reading | None:
    """The command's parts in either wording, or None if it is of no grammar."""
    return read_command(text) or _read_natural(text)


def reader_of(wording: object) -> Callable[[str], Reading | None]:
    """The parser for commands of examples with this value of the option `wording`."""
    return read_any if wording == "natural" else read_command


def _read_natural(text: str) -> Reading | None:
    """The parts of a command in natural wording: one noun, with `a`."""
    heard = hear(text)
    if heard is None or len(heard.nouns) != 1:
        return None
    noun = heard.nouns[0]
    if noun.determiner != "a" or noun.head not in NOUNS:
        return None
    return Reading(heard.verb, noun.size, noun.color, noun.head, heard.manner)


def read_command(text: str) -> Reading | None:
    """The parts of a command in plain wording."""
    words = text.split()
    if not words or words[0] not in ("walk", "push", "pull"):
        return None
    verb, rest = words[0], words[1:]
    opening = ["to", "a"] if verb == "walk" else ["a"]
    if rest[: len(opening)] != opening:
        return None
    rest = rest[len(opening) :]
    color = rest.pop(0) if rest and rest[0] in _COLORS else ""
    size = rest.pop(0) if rest and rest[0] in _SIZES else ""
    noun = rest.pop(0) if rest and rest[0] in NOUNS else ""
    manner = " ".join(rest)
    if not noun or manner not in _MANNERS:
        return None
    return Reading(verb, size, color, noun, manner)


def referents(things: tuple[Thing, ...], size: str, color: str, noun: str) -> list[int]:
    """The objects meant, under the superlative reading: the smallest or biggest of those with the colour and shape."""
    fitting = [i for i, t in enumerate(things) if (not color or t.color == color) and (not noun or t.shape == noun)]
    if not size or not fitting:
        return fitting
    ranked = sorted(fitting, key=lambda i: things[i].size, reverse=size == "big")
    return sorted(i for i in ranked if things[i].size == things[ranked[0]].size)


def pairwise(things: tuple[Thing, ...], size: str, color: str, noun: str) -> list[int]:
    """The same, but "small" only says that some other object of the class is bigger."""
    fitting = referents(things, "", color, noun)
    if not size:
        return fitting
    sign = 1 if size == "small" else -1
    return [i for i in fitting if any(sign * things[j].size > sign * things[i].size for j in fitting)]
