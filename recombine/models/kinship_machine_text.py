"""What the kinship machine sees of a story: words with people marked, where two people are mentioned together, and the features of a person.

Names are known (they stand among the inputs); everything else is words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recombine import keys
from recombine.errors import UsageError, shown

if TYPE_CHECKING:
    from recombine.core import Example

TOKEN = re.compile(r"@\d+|[a-z0-9]+(?:-[a-z0-9]+)*|'s|[.,;:!?]")
STOPS = frozenset(".!?")
COMMAS = frozenset(",;:")
CLOSEST = 2
"""Pairs of mentions that are read for one pair of people."""
MOST_BETWEEN = 30
"""Mentions that are farther apart than this are not read together."""
COMMON = 700
"""Words that the reader knows; all others are one."""
RARE = "<rare>"
BUCKETS = 1 << 15
"""Features of people are hashed into so many rows."""


class Read(NamedTuple):
    """A story: tokens with people as `@number`, the people, where each is mentioned, and the two that are asked about."""

    tokens: tuple[str, ...]
    people: tuple[str, ...]
    mentions: tuple[tuple[int, ...], ...]
    query: tuple[int, int]


def read(example: Example, common: Container[str]) -> Read:
    """The story of an example; reads its text, the names and the query, and not its graph.

    Words that are not common become one and the same: what is rare in training says little about new wording.
    """
    inputs = example.inputs
    if not {"story", "query", "entities"} <= set(inputs):
        raise UsageError(
            f"the kinship machine reads stories with named people (clutrr); {example.id} has {shown(sorted(inputs))}."
        )
    people = tuple(str(name) for name in inputs["entities"])
    listed = "|".join(re.escape(name) for name in sorted(people, key=len, reverse=True))
    number = {name: i for i, name in enumerate(people)}
    marked = re.sub(rf"\[?(?<![\w-])({listed})(?![\w-])\]?", lambda m: f" @{number[m[1]]} ", str(inputs["story"]))
    tokens = tuple(token if token[0] == "@" or token in common else RARE for token in TOKEN.findall(marked.lower()))
    mentions: list[list[int]] = [[] for _ in people]
    for place, token in enumerate(tokens):
        if token[0] == "@":
            mentions[int(token[1:])].append(place)
    first, second = (number[str(name)] for name in inputs["query"])
    return Read(tokens, people, tuple(map(tuple, mentions)), (first, second))


def common_words(examples: Sequence[Example], relations: Sequence[str]) -> tuple[str, ...]:
    """The commonest words of the stories, the stops, and the names of relations."""
    counts: Counter[str] = Counter()
    for example in examples:
        names = {name.lower() for name in map(str, example.inputs["entities"])}
        counts.update(token for token in TOKEN.findall(str(example.inputs["story"]).lower()) if token not in names)
    commonest = sorted(counts, key=lambda word: (-counts[word], word))[:COMMON]
    return tuple(sorted({*commonest, *relations, *".,;:!?"}))


def bucket(*parts: str) -> int:
    """The row of a person's feature."""
    return keys.state("kinship feature", *parts) % BUCKETS


def closest(story: Read, a: int, b: int) -> list[tuple[int, int]]:
    """The closest mentions of two people, closest first; mentions in one sentence come before all others."""
    pairs = [(p, q) for p in story.mentions[a] for q in story.mentions[b] if abs(p - q) <= MOST_BETWEEN]

    def far(pair: tuple[int, int]) -> tuple[bool, int, tuple[int, int]]:
        low, high = sorted(pair)
        return any(token in STOPS for token in story.tokens[low:high]), high - low, pair

    return sorted(pairs, key=far)[:CLOSEST]


def together(story: Read) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """The ordered pairs of people who are mentioned near each other, with their closest mentions."""
    for a in range(len(story.people)):
        for b in range(len(story.people)):
            places = closest(story, a, b) if a != b else []
            if places:
                yield a, b, places


def person_features(story: Read, person: int, names: dict[tuple[str, ...], int]) -> list[int]:
    """Features of one person's gender: the name, and the words around each mention."""
    told: list[tuple[str, ...]] = [("name", story.people[person])]
    for place in story.mentions[person]:
        for step in (-2, -1, 1, 2, 3, 4, 5, 6):
            at = place + step
            token = story.tokens[at] if 0 <= at < len(story.tokens) else "<edge>"
            told.append(("near", str(step), "@" if token[0] == "@" else token))
            if step > 1 and token in STOPS:
                break
        following = [t for t in story.tokens[place + 1 : place + 10] if t in ("he", "she", "his", "her", "him") or t[0] == "@"]
        told.append(("then", *following[:1]))
    found = []
    for feature in dict.fromkeys(told):
        key = ("person", *feature)
        if key not in names:
            names[key] = bucket(*key)
        found.append(names[key])
    return found
