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
WIDE = 12
"""Words before the first mention and behind the second one, in the same sentence, that are seen without their order."""
INSIDE, BEFORE, BEHIND = 5, 2, 4
"""Words that are tied to a mention: towards the other mention, before the first mention, behind the second one."""
STOPS = frozenset(".!?")
CLOSEST = 2
"""Pairs of mentions that are read for one pair of people."""
MOST_BETWEEN = 30
"""Mentions that are farther apart than this are not read together."""
COMMON = 700
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
    """The row of a feature: in the first half for words between two mentions, in the second for all others.

    Row 0 stands for a feature that is left out.
    """
    half, word = BUCKETS // 2, keys.state("kinship feature", *parts)
    return 1 + word % (half - 1) if parts[2:3] == ("between",) else half + word % half


def closest(story: Read, a: int, b: int) -> list[tuple[int, int]]:
    """The closest mentions of two people, closest first; mentions in one sentence come before all others."""
    pairs = [(p, q) for p in story.mentions[a] for q in story.mentions[b] if abs(p - q) <= MOST_BETWEEN]

    def far(pair: tuple[int, int]) -> tuple[bool, int, tuple[int, int]]:
        low, high = sorted(pair)
        return any(token in STOPS for token in story.tokens[low:high]), high - low, pair

    return sorted(pairs, key=far)[:CLOSEST]


def pair_features(story: Read, a: int, b: int, names: dict[tuple[str, ...], int]) -> list[int]:
    """The features of an ordered pair of people; empty if they are never mentioned near each other.

    `names` remembers the row of every feature, so that a feature is hashed once.
    """
    found: list[int] = []
    for rank, (p, q) in enumerate(closest(story, a, b)):
        for feature in _window(story.tokens, p, q):
            key = (str(rank), *feature)
            if key not in names:
                names[key] = bucket(*key)
            found.append(names[key])
    return list(dict.fromkeys(found))


def _window(tokens: Sequence[str], p: int, q: int) -> Iterator[tuple[str, ...]]:
    """Features of two mentions: p of the person from whom the relation is seen, q of the other."""
    order = "AB" if p < q else "BA"
    low, high = min(p, q), max(p, q)
    between = ["@" if token[0] == "@" else token for token in tokens[low + 1 : high]]
    yield order, "distance", str(min(high - low, 8))
    yield order, "people between", str(between.count("@"))
    yield order, "stops between", str(sum(said in STOPS for said in between))
    stops = [i for i, said in enumerate(between) if said in STOPS]
    for name, row in (
        ("all", between),
        ("first sentence", between[: stops[0]] if stops else []),
        ("last sentence", between[stops[-1] + 1 :] if stops else []),
        ("before", _until_stop(tokens[max(0, low - WIDE) : low][::-1])),
        ("behind", _until_stop(tokens[high + 1 : high + 1 + WIDE])),
    ):
        for token in dict.fromkeys(row):
            yield order, "between" if name == "all" or "sentence" in name else "bag", name, token
    sides = (
        ("inside first", between[:INSIDE]),
        ("inside second", between[::-1][:INSIDE]),
        ("before", _until_stop(tokens[max(0, low - BEFORE) : low][::-1])),
        ("behind", _until_stop(tokens[high + 1 : high + 1 + BEHIND])),
    )
    for name, row in sides:
        padded = [*row, "<edge>"]
        for step, token in enumerate(padded):
            yield order, name, str(step), token
            if step:
                yield order, name, str(step), padded[step - 1], token
        yield order, name, "three", *padded[:3]


def _until_stop(row: Sequence[str]) -> list[str]:
    """The words up to the end of a sentence, other people made one."""
    found = []
    for token in row:
        found.append("@" if token[0] == "@" else token)
        if token in STOPS:
            break
    return found


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
