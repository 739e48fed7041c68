"""Matched pairs: the same lesson in other words, or in another order. The answer must not change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from recombine import keys
from recombine.core import Example
from recombine.families.lexicon.generate import inputs_of
from recombine.families.lexicon.plan import NONSENSE, Lesson

PAIRS: Mapping[str, str] = {"words": "invariance", "order": "invariance"}


def partner(example: Example, facet: str) -> Example | None:
    """The task with other nonsense words, or with its demonstrations in reverse order; None if there is none."""
    lesson = cast(Lesson, example.plan)
    if facet == "order" and len(lesson.demonstrations) > 1:
        changed = replace(lesson, demonstrations=lesson.demonstrations[::-1])
    elif facet == "words":
        changed = _renamed(lesson, example.id)
    else:
        return None
    meta = {**example.meta, "lexicon": dict(changed.lexicon)} if "lexicon" in example.meta else example.meta
    return replace(example, id=f"{example.id}~{facet}", inputs=inputs_of(changed), plan=changed, meta=meta)


def _renamed(lesson: Lesson, name: str) -> Lesson:
    """The lesson in words that it does not have."""
    old = [word for word, _ in lesson.lexicon]
    new = keys.Stream("lexicon", "renamed", name).sample([word for word in NONSENSE if word not in old], len(old))
    words = dict(zip(old, new, strict=True))

    def said(command: str) -> str:
        return " ".join(words.get(word, word) for word in command.split())

    shown = tuple((said(command), actions) for command, actions in lesson.demonstrations)
    return Lesson(tuple((words[word], meaning) for word, meaning in lesson.lexicon), shown, said(lesson.command))


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, from the inputs: only the words, or only the order, may differ."""
    if facet not in PAIRS:
        return [f"there are no pairs of the facet {facet!r}"]
    found = [] if first.answer == second.answer else ["the answers must be equal"]
    a, b = _texts(first), _texts(second)
    if facet == "order":
        if a == b or sorted(a[:-1]) != sorted(b[:-1]) or a[-1] != b[-1]:
            found.append("more than the order of the demonstrations differs")
    elif _pattern(a) != _pattern(b) or set(re.findall(r"[a-z]+", " ".join(a))) & set(re.findall(r"[a-z]+", " ".join(b))):
        found.append("more than the names of the words differs, or a word is kept")
    return found


def _texts(example: Example) -> list[str]:
    shown = [f"{pair['command']} > {pair['actions']}" for pair in example.inputs["demonstrations"]]
    return [*shown, str(example.inputs["command"])]


def _pattern(texts: list[str]) -> str:
    """The texts with their words numbered in the order in which they come."""
    numbers: dict[str, int] = {}
    return re.sub(r"[a-z]+", lambda met: str(numbers.setdefault(met[0], len(numbers))), "\n".join(texts))
