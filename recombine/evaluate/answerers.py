"""Answerers that need no training, for every family: baselines that a model must beat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recombine import keys
from recombine.abilities import Answering
from recombine.core import Example, Family
from recombine.errors import UnknownName, UsageError

Answerer = Callable[[Example], str | None]
TRAIN_ROWS = 500
"""Training examples that the answerers may use."""
SHORTCUT = "shortcut:"
MADE_UP = "careless"
"""The answerer that stands in for a model in demonstrations; it is no baseline."""


@dataclass(frozen=True)
class Constant:
    """An answerer that always gives the same answer, so it does not need the example."""

    answer: str

    def __call__(self, _example: Example) -> str:
        return self.answer


def _oracle(_train: Sequence[Example]) -> Answerer:
    return lambda example: example.answer


def _random(train: Sequence[Example]) -> Answerer:
    """The answer of a train example drawn at random."""
    pool = _nonempty(train)
    return lambda example: keys.Stream("random answerer", example.id).choice(pool).answer


def _majority(train: Sequence[Example]) -> Answerer:
    counts = Counter(example.answer for example in _nonempty(train))
    commonest = min(counts, key=lambda answer: (-counts[answer], answer))
    return Constant(commonest)


def _bag_of_words(train: Sequence[Example]) -> Answerer:
    """The answer of the train example that shares most words, whatever their order."""
    return _nearest(train, lambda example: Counter(words(example)))


def _nearest_neighbour(train: Sequence[Example]) -> Answerer:
    """The answer of the train example that shares most pairs of neighbouring words."""

    def pairs(example: Example) -> Counter[Any]:
        tokens = list(words(example))
        return Counter(zip(["", *tokens], [*tokens, ""], strict=True))

    return _nearest(train, pairs)


def _careless(_train: Sequence[Example]) -> Answerer:
    """A made-up model: half of the time it reads with care, else as a shortcut reader drawn for the example."""

    def answer(example: Example) -> str:
        stream = keys.Stream("careless answerer", example.id)
        tempting = [s.answer for s in example.explain().shortcuts if s.answer is not None and s.answer != example.answer]
        return stream.choice(tempting) if tempting and stream.below(2) else example.answer

    return answer


def _nearest(train: Sequence[Example], features: Callable[[Example], Counter[Any]]) -> Answerer:
    pool = [(features(example), example.answer) for example in _nonempty(train)]
    sizes = [bag.total() for bag, _ in pool]

    def answer(example: Example) -> str:
        mine = features(example)
        total = mine.total()
        best, chosen = -1.0, ""
        for (bag, known), size in zip(pool, sizes, strict=True):
            shared = sum(min(count, bag[token]) for token, count in mine.items() if token in bag)
            closeness = shared / (total + size - shared or 1)
            if closeness > best:
                best, chosen = closeness, known
        return chosen

    return answer


def _nonempty(train: Sequence[Example]) -> Sequence[Example]:
    if not train:
        raise UsageError("this answerer learns from train examples, but the split has no train part.")
    return train


ANSWERERS: Mapping[str, Callable[[Sequence[Example]], Answerer]] = {
    "oracle": _oracle,
    "random": _random,
    "majority": _majority,
    "bag_of_words": _bag_of_words,
    "nearest_neighbour": _nearest_neighbour,
    MADE_UP: _careless,
}
"""Name -> a maker that takes train examples. Every shortcut reader is one too: `shortcut:NAME`."""


def make_answerer(name: str, train: Sequence[Example], family: Family | None = None) -> Answerer:
    """The answerer of this name; a family may have some of its own."""
    if name.startswith(SHORTCUT):
        return shortcut(name.removeprefix(SHORTCUT))
    own: Mapping[str, Answerer] = family.ANSWERERS if isinstance(family, Answering) else {}
    if name in own:
        return own[name]
    if name not in ANSWERERS:
        raise UnknownName("answerer", name, [*ANSWERERS, *own, "shortcut:NAME"])
    return ANSWERERS[name](train)


def shortcut(name: str) -> Answerer:
    """The answerer that reads as this shortcut reader does; it reads with care where the shortcut has no answer."""

    def answer(example: Example) -> str:
        known = {s.name: s.answer for s in example.explain().shortcuts}
        given = known.get(name)
        return example.answer if given is None else given

    return answer


def shortcut_names(examples: Sequence[Example]) -> list[str]:
    """The shortcut readers that these examples know, in the order of the family's table."""
    return list(dict.fromkeys(s.name for example in examples for s in example.explain().shortcuts))


def words(example: Example) -> Iterator[str]:
    """All that a model may see of an example, as words."""
    yield from _words(example.inputs, "")


def _words(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, str):
        yield from re.findall(r"[\w'@-]+|[^\w\s]", value.lower())
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _words(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner, name)
    else:
        yield f"{name}={value}"
