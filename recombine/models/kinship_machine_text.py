"""What the kinship machine sees of a story: words with people marked, and the features of a person.

Names are known (they stand among the inputs); everything else is words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from recombine import keys
from recombine.errors import UsageError, shown
from recombine.models.kinship_machine_kernel import CLUE

if TYPE_CHECKING:
    from recombine.core import Example

TOKEN = re.compile(r"@\d+|[a-z0-9]+(?:-[a-z0-9]+)*|'s|[.,;:!?](?!\")|\"")
"""A mark before a closing quotation mark is no token: the sentence may go on behind it."""
STOPS, COMMAS, QUOTES = frozenset(".!?"), frozenset(",;:"), frozenset('"')
RARE = "<rare>"
BUCKETS = 1 << 18
"""Features of people are hashed into this many rows."""


class Read(NamedTuple):
    """A story: tokens with people as `@number`, the people, where each is mentioned, and the two that are asked about."""

    tokens: tuple[str, ...]
    people: tuple[str, ...]
    mentions: tuple[tuple[int, ...], ...]
    query: tuple[int, int]


def read(example: Example) -> Read:
    """The story of an example; reads its text, the names and the query, and not its graph."""
    inputs = example.inputs
    if not {"story", "query", "entities"} <= set(inputs):
        raise UsageError(
            f"the kinship machine reads stories with named people (clutrr); {example.id} has {shown(sorted(inputs))}."
        )
    people = tuple(str(name) for name in inputs["entities"])
    listed = "|".join(re.escape(name) for name in sorted(people, key=len, reverse=True))
    number = {name: i for i, name in enumerate(people)}
    marked = re.sub(rf"\[?(?<![\w-])({listed})(?![\w-])\]?", lambda m: f" @{number[m[1]]} ", str(inputs["story"]))
    tokens = tuple(TOKEN.findall(marked.lower()))
    mentions: list[list[int]] = [[] for _ in people]
    for place, token in enumerate(tokens):
        if token[0] == "@":
            mentions[int(token[1:])].append(place)
    first, second = (number[str(name)] for name in inputs["query"])
    return Read(tokens, people, tuple(map(tuple, mentions)), (first, second))


def narrowed(story: Read, known: Mapping[str, int]) -> Read:
    """The story with one and the same token for all words that are not known: they say little about new wording.

    A word that becomes a clue when one "s" is taken out counts as that clue: training stories do not have every plural.
    """
    return story._replace(
        tokens=tuple(token if token[0] == "@" or token in known else _singular(token, known) for token in story.tokens)
    )


def _singular(word: str, known: Mapping[str, int]) -> str:
    """The clue that a word is a plural of, or RARE."""
    for place, letter in enumerate(word):
        if letter == "s" and known.get(word[:place] + word[place + 1 :]) == CLUE:
            return word[:place] + word[place + 1 :]
    return RARE


def bucket(*parts: str) -> int:
    """The row of a person's feature."""
    return keys.state("kinship feature", *parts) % BUCKETS


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
