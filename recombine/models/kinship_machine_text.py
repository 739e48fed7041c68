"""What the kinship machine sees of a story: words with people marked, and the features of a pair of people and of one person.

Names are known (they stand among the inputs); everything else is words. A pair's features are the words between and around its
closest mentions, tied to the two people: which word stands just before the second, which between them in which order, and so on.
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
NEAR = 4
"""Words on either side of a mention that make features of their own."""
MOST_BETWEEN = 14
"""Mentions that are farther apart than this are not read together."""
CLOSEST = 3
"""Pairs of mentions that are read for one pair of people."""
COMMON = 200
"""Words that the reader knows; all others are one."""
RARE = "<rare>"
BUCKETS = 1 << 15
"""Features are hashed into so many rows."""


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
    """The row of a feature; row 0 stands for a feature that is left out."""
    return 1 + keys.state("kinship feature", *parts) % (BUCKETS - 1)


def closest(story: Read, a: int, b: int) -> list[tuple[int, int]]:
    """The closest mentions of two people, closest first."""
    pairs = [(p, q) for p in story.mentions[a] for q in story.mentions[b] if abs(p - q) <= MOST_BETWEEN]
    return sorted(pairs, key=lambda pair: (abs(pair[0] - pair[1]), pair))[:CLOSEST]


def pair_features(story: Read, a: int, b: int, names: dict[tuple[str, ...], int]) -> list[int]:
    """The features of an ordered pair of people; empty if they are never mentioned near each other.

    `names` remembers the row of every feature, so that a feature is hashed once.
    """
    found: list[int] = []
    for rank, (p, q) in enumerate(closest(story, a, b)):
        for feature in _window(story.tokens, p, q):
            key = (str(min(rank, 1)), *feature)
            if key not in names:
                names[key] = bucket(*key)
            found.append(names[key])
    return list(dict.fromkeys(found))


def _window(tokens: Sequence[str], p: int, q: int) -> Iterator[tuple[str, ...]]:
    """Features of two mentions: p of the person from whom the relation is seen, q of the other."""
    order = "AB" if p < q else "BA"
    low, high = min(p, q), max(p, q)

    def word(place: int) -> str:
        if place == p:
            return "A"
        if place == q:
            return "B"
        token = tokens[place] if 0 <= place < len(tokens) else "<edge>"
        return "@" if token[0] == "@" else token

    yield order, "distance", str(min(high - low, 8))
    between = [word(i) for i in range(low + 1, high)]
    yield order, "people between", str(between.count("@"))
    yield order, "stops between", str(sum(said in ".!?" for said in between))
    for token in dict.fromkeys(between):
        yield order, "between", token
    for name, place in (("first", low), ("second", high)):
        for step in range(1, NEAR + 1):
            for sign in (-1, 1):
                yield order, name, str(sign * step), word(place + sign * step)
        for start in (-3, -2, -1, 1, 2):
            yield order, name, "pair", str(start), word(place + start), word(place + start + 1)
        yield order, name, "left", word(place - 3), word(place - 2), word(place - 1)
        yield order, name, "right", word(place + 1), word(place + 2), word(place + 3)


def person_features(story: Read, person: int, names: dict[tuple[str, ...], int]) -> list[int]:
    """Features of one person's gender: the name, and the words around each mention."""
    told: list[tuple[str, ...]] = [("name", story.people[person])]
    for place in story.mentions[person]:
        for step in (-2, -1, 1, 2, 3, 4, 5, 6):
            at = place + step
            token = story.tokens[at] if 0 <= at < len(story.tokens) else "<edge>"
            told.append(("near", str(step), "@" if token[0] == "@" else token))
            if step > 1 and token in (".", "!", "?"):
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
