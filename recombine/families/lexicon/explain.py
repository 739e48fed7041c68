"""The elimination demonstration by demonstration, the derivation of the answer, and what careless readers answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import cast

from recombine.core import Example, Explanation, Shortcut
from recombine.families.lexicon.plan import KINDS, MEANINGS, Lesson, actions_of

_KIND = dict(zip(MEANINGS, KINDS, strict=True))


def explain(example: Example) -> Explanation:
    """The proof and the careless readers."""
    return Explanation(tuple(_steps(example)), tuple(_shortcuts(example)))


def _steps(example: Example) -> Iterator[str]:
    lesson = cast(Lesson, example.plan)
    counts, before = list(example.meta.get("survivors", ())), int(example.meta.get("space", 0))
    for number, (command, actions) in enumerate(lesson.demonstrations, 1):
        text = f"Demonstration {number}: {command!r} does {actions}."
        if counts:
            text += f" Of {before:,} lexicons {counts[number - 1]:,} are left."
            before = counts[number - 1]
        yield text
    if lesson.lexicon:
        known = ", ".join(f"{word} is {meaning!r}" for word, meaning in lesson.lexicon)
        end = (
            "." if counts and counts[-1] == 1 else "; every other lexicon that is left gives the test command the same actions."
        )
        yield f"One lexicon that is left: {known}{end}"
        yield f"So {lesson.command!r} means {lesson.gloss(lesson.command)!r}."
    yield f"It does {example.answer}."


# --- careless readers ------------------------------------------------------------------------------------------------

Reading = Callable[[Lesson, list[str]], "list[str] | None"]
"""(lesson, the test command in SCAN's words) -> actions."""


def _without(gloss: list[str], kind: str) -> list[str]:
    return [word for word in gloss if _KIND.get(word) != kind]


def _nearest(lesson: Lesson, gloss: list[str]) -> list[str]:  # noqa: ARG001
    """The demonstration that shares most words with the test command; among equals the longest, then the first."""
    asked = set(lesson.command.split())
    best = max(lesson.demonstrations, key=lambda pair: (len(asked & set(pair[0].split())), len(pair[0].split())))
    return best[1].split()


def _verbs_only(lesson: Lesson, gloss: list[str]) -> list[str]:  # noqa: ARG001
    return [word.upper() for word in gloss if _KIND.get(word) == "verb" and word != "turn"]


def _ignores_order(lesson: Lesson, gloss: list[str]) -> list[str] | None:  # noqa: ARG001
    swapped = {"after": "and", "and": "after"}
    return actions_of([swapped.get(word, word) for word in gloss])


def _ignores_repeats(lesson: Lesson, gloss: list[str]) -> list[str] | None:  # noqa: ARG001
    return actions_of(_without(gloss, "repeat"))


def _ignores_manners(lesson: Lesson, gloss: list[str]) -> list[str] | None:  # noqa: ARG001
    return actions_of(_without(gloss, "manner"))


def _mixes_sides(lesson: Lesson, gloss: list[str]) -> list[str] | None:  # noqa: ARG001
    swapped = {"left": "right", "right": "left"}
    return actions_of([swapped.get(word, word) for word in gloss])


def _stops_early(lesson: Lesson, gloss: list[str]) -> list[str] | None:  # noqa: ARG001
    cut = next((i for i, word in enumerate(gloss) if _KIND.get(word) == "conjunction"), len(gloss))
    return actions_of(gloss[:cut])


READERS: Mapping[str, tuple[str, Reading]] = MappingProxyType(
    {
        "copies_demonstration": ("repeats the actions of the most similar demonstration", _nearest),
        "verbs_only": ("does the verbs and nothing else", _verbs_only),
        "ignores_order": ("takes the word for 'after' for 'and', or the other way round", _ignores_order),
        "ignores_repeats": ("does everything once", _ignores_repeats),
        "ignores_manners": ("ignores the words for 'opposite' and 'around'", _ignores_manners),
        "mixes_sides": ("takes left for right", _mixes_sides),
        "stops_early": ("does the first clause only", _stops_early),
    }
)
"""Name -> what the reader does, and how."""


def _shortcuts(example: Example) -> Iterator[Shortcut]:
    lesson = cast(Lesson, example.plan)
    gloss = lesson.gloss(lesson.command).split() if lesson.lexicon else []
    for name, (reader, read) in READERS.items():
        found = read(lesson, gloss) if lesson.lexicon and lesson.demonstrations else None
        text = " ".join(found) if found else None
        yield Shortcut(name, reader, text if text != example.answer else None)
