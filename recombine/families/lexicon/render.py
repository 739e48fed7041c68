"""A task for people: the lesson and the question (`text`), and the same with the lexicon and the answer (`ascii`)."""

from __future__ import annotations

from typing import cast

from recombine.core import Example, Medium
from recombine.errors import UnknownName
from recombine.families.lexicon.plan import Lesson

MEDIA: tuple[Medium, ...] = ("text", "ascii")


def render(example: Example, medium: Medium) -> str:
    """The lesson; only `text` is fit for a model."""
    if medium not in MEDIA:
        raise UnknownName("medium of lexicon", medium, MEDIA)
    return describe(example) if medium == "text" else _solved(example)


def describe(example: Example) -> str:
    """The demonstrations and the test command, from the inputs alone."""
    shown = [f"{pair['command']} -> {pair['actions']}" for pair in example.inputs["demonstrations"]]
    return "\n".join([*shown, f"{example.inputs['command']} -> ?"])


def _solved(example: Example) -> str:
    lesson = cast(Lesson, example.plan)
    wide = max((len(command) for command, _ in (*lesson.demonstrations, (lesson.command, ""))), default=0)
    rows = [(*pair, lesson.gloss(pair[0])) for pair in (*lesson.demonstrations, (lesson.command, example.answer))]
    lines = [f"{command:<{wide}} -> {actions}   ({gloss})" for command, actions, gloss in rows]
    lexicon = [f"{word} = {meaning}" for word, meaning in lesson.lexicon]
    return "\n".join([*lines, "", *lexicon])
