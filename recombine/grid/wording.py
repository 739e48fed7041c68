"""Natural wording of commands: the option `wording=natural` of the grid families. The meaning, the world and the answer stay.

A command keeps its structure. Verbs, adverbs, size words and nouns get synonyms, and clauses get other openings
(`which has the same color as`, `of the same size as`). No wording brings in a relation that the plain grammar lacks.
This is the writer's side; the oracle reads the texts back with a grammar of its own (`oracle_wording.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from recombine import keys
from recombine.columns import Text, values_of
from recombine.core import Batch, Example, Job, Option
from recombine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDING, PLAIN, NATURAL = "wording", "plain", "natural"
OPTION = Option(
    PLAIN,
    "words of the command: plain, as the original says it; or natural, with synonyms and other relative clauses (same worlds)",
    choices=(PLAIN, NATURAL),
)

VERBS: Mapping[str, tuple[str, ...]] = {
    "walk": ("walk to", "go to", "head to", "move to"),
    "push": ("push", "shove"),
    "pull": ("pull", "drag", "tug"),
}
ADVERBS: Mapping[str, tuple[str, ...]] = {
    "while zigzagging": ("while zigzagging", "in zigzags", "in a zigzag"),
    "while spinning": ("while spinning", "while spinning around", "while whirling"),
    "cautiously": ("cautiously", "carefully", "warily", "with caution"),
    "hesitantly": ("hesitantly", "haltingly", "with hesitation"),
}
SIZES: Mapping[str, tuple[str, ...]] = {"small": ("small", "little"), "big": ("big", "large")}
HEADS: Mapping[str, tuple[str, ...]] = {
    "circle": ("circle", "disc"),
    "cylinder": ("cylinder", "tube"),
    "square": ("square",),
    "box": ("box", "crate"),
    "object": ("object", "thing"),
}
"""Plain word -> the words that may stand for it."""
COLORS = ("red", "blue", "green", "yellow")
_PLACES: Mapping[str, tuple[str, ...]] = {
    "row": ("in the same row as", "in one row with"),
    "column": ("in the same column as", "in one column with"),
    "color": ("of the same color as", "of the same colour as"),
    "shape": ("of the same shape as",),
    "size": ("of the same size as",),
    "inside": ("inside", "inside of", "within"),
}
"""Relation -> how it is said after `is`, or without a verb."""
_DEEDS: Mapping[str, tuple[str, ...]] = {
    "row": ("shares its row with", "stands in the same row as", "lies in the same row as"),
    "column": ("shares its column with", "stands in the same column as", "lies in the same column as"),
    "color": ("has the same color as", "has the same colour as", "shares its color with"),
    "shape": ("has the same shape as", "shares its shape with"),
    "size": ("has the same size as", "shares its size with"),
    "inside": ("lies inside", "sits within"),
}
"""Relation -> how it is said with a verb of its own."""
_SAID = {r: (*(f"is {place}" for place in _PLACES[r]), *_DEEDS[r]) for r in _PLACES}
FIRST = {r: (*_PLACES[r], *(f"{pronoun} {said}" for pronoun in ("that", "which") for said in _SAID[r])) for r in _PLACES}
"""Relation -> openings of a clause about the noun just said."""
FURTHER = {r: tuple(f"and {said}" for said in _SAID[r]) for r in _PLACES}
"""Relation -> openings of a further clause about the same noun, after a clause with a verb."""
FURTHER_BARE = {r: tuple(f"and {place}" for place in _PLACES[r]) for r in _PLACES}
"""The same after a clause without a verb."""


class Spoken(NamedTuple):
    """What a command says, in plain words."""

    verb: str
    adverb: str
    nouns: tuple[tuple[str, str, str, str], ...]  # determiner, size word, colour word, head
    links: tuple[tuple[bool, str], ...]  # of each noun but the first: whether it hangs on the noun just before; its relation


_VERB_SLOT, _ADVERB_SLOT, _NOUN_SLOT, _NOUN_SLOTS = 0, 1, 2, 4


def say(spoken: Spoken, number: int) -> str:
    """One wording of the command; the number decides which. Each place of the command has a draw of its own."""

    def pick(choices: Sequence[str], slot: int) -> str:
        return choices[keys.item_state(number, slot) % len(choices)]

    words = [pick(VERBS[spoken.verb], _VERB_SLOT)]
    is_bare = False
    for k, (determiner, size, color, head) in enumerate(spoken.nouns):
        slot = _NOUN_SLOT + _NOUN_SLOTS * k
        if k:
            is_deeper, relation = spoken.links[k - 1]
            openings = FIRST[relation] if is_deeper else FURTHER_BARE[relation] if is_bare else FURTHER[relation]
            words.append(pick(openings, slot))
            is_bare = words[-1] in FURTHER_BARE[relation] or words[-1] in _PLACES[relation]
        adjectives = [pick(SIZES[size], slot + 1)] if size else []
        adjectives += [color] if color else []
        named = pick(HEADS[head], slot + 2)
        link = pick(("", "", "that is", "which is"), slot + 3)
        # A single adjective of the last noun may follow it. With two, the scope of the size word would be open.
        is_after = link and k == len(spoken.nouns) - 1 and len(adjectives) == 1
        phrase = f"{named} {link} {adjectives[0]}" if is_after else " ".join([*adjectives, named])
        words += [f"{determiner}{'n' if determiner == 'a' and phrase[0] in 'aeiou' else ''}", phrase]
    if spoken.adverb:
        words.append(pick(ADVERBS[spoken.adverb], _ADVERB_SLOT))
    return " ".join(words)


# --- reading back, for the plan of a row ------------------------------------------------------------------------------


def _plain_words(table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    return {said: plain for plain, choices in table.items() for said in choices}


def _one_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_VERB_OF, _ADVERB_OF, _SIZE_OF, _HEAD_OF = (_plain_words(table) for table in (VERBS, ADVERBS, SIZES, HEADS))
_LINK_OF = {said: (True, r) for r, choices in FIRST.items() for said in choices}
_LINK_OF |= {said: (False, r) for table in (FURTHER, FURTHER_BARE) for r, choices in table.items() for said in choices}
_BEGIN = re.compile(f"({_one_of([*_VERB_OF])})(?= )")
_NOUN = re.compile(
    rf"(?: ({_one_of([*_LINK_OF])}))? (the|an(?= [aeiou])|a(?! [aeiou]))(?: ({_one_of([*_SIZE_OF])}))?(?: ({'|'.join(COLORS)}))? ({_one_of([*_HEAD_OF])})(?= |$)"
)
_END = re.compile(rf"(?: (?:that|which) is ({_one_of([*_SIZE_OF, *COLORS])}))?(?: ({_one_of([*_ADVERB_OF])}))?")
LONGEST = 2_000
"""Longest command text that is read, in characters."""


def read(text: str) -> Spoken | None:
    """What a text of `say` says; None if it is no such text."""
    begin = _BEGIN.match(text) if len(text) <= LONGEST else None
    if begin is None:
        return None
    nouns: list[tuple[str, str, str, str]] = []
    links: list[tuple[bool, str]] = []
    at = begin.end()
    while found := _NOUN.match(text, at):
        link, determiner, size, color, head = found.groups()
        if (link is None) != (not nouns) or (link and len(nouns) == 1 and not _LINK_OF[link][0]):
            return None
        links += [_LINK_OF[link]] if link else []
        nouns.append(
            (determiner[:1] if determiner == "an" else determiner, _SIZE_OF.get(size, ""), color or "", _HEAD_OF[head])
        )
        at = found.end()
    end = _END.fullmatch(text, at)
    if end is None or not nouns:
        return None
    if end[1]:
        determiner, size, color, head = nouns[-1]
        if size or color:
            return None
        is_color = end[1] in COLORS
        nouns[-1] = (determiner, "" if is_color else _SIZE_OF[end[1]], end[1] if is_color else "", head)
    return Spoken(_VERB_OF[begin[1]], _ADVERB_OF.get(end[2], ""), tuple(nouns), tuple(links))


# --- jobs and batches -------------------------------------------------------------------------------------------------


def is_natural(job: Job) -> bool:
    """Whether the job asks for natural wording."""
    return dict(job.options).get(WORDING, PLAIN) == NATURAL


def plain_job(job: Job) -> Job:
    """The same job in plain words: its rows have the same worlds and answers."""
    return replace(job, options=tuple(pair for pair in job.options if pair[0] != WORDING))


def reworded(job: Job, made: Batch, spoken_of: Callable[[str], Spoken]) -> Batch:
    """The rows of a plain batch with natural commands, as rows of the natural job."""
    base = job.base(WORDING)
    texts = values_of(made.columns["command"])
    said = [say(spoken_of(text), keys.item_state(base, made.index(row))).encode() for row, text in enumerate(texts)]
    return replace(made, job=job, columns={**made.columns, "command": _text(said)})


def _text(said: Sequence[bytes]) -> Text:
    import numpy as np

    offsets = np.zeros(len(said) + 1, np.int64)
    np.cumsum([len(one) for one in said], out=offsets[1:])
    return Text(np.frombuffer(b"".join(said), np.uint8), offsets)


def said_again(example: Example, spoken: Spoken) -> str:
    """Another command in the wording of an example: the same number decides."""
    key, _, index = example.id.partition("~")[0].rpartition("/")
    return say(spoken, keys.item_state(keys.state(key, WORDING), int(index)))


def refuse_natural(job: Job) -> None:
    """The originally released layout has plain words only."""
    if is_natural(job):
        raise UsageError("the originally released layout has no natural wording; use another format, or wording=plain.")


_PLAIN_CLAUSE = re.compile(r"(?:that is|and) (?:in the same (?:row|column|color|shape|size) as|inside of)")
_PLAIN_WORDS = frozenset(" ".join(["walk to push pull a the", *SIZES, *COLORS, *HEADS, *ADVERBS]).split())


def is_reworded(text: str) -> bool:
    """Whether a command has any word or clause that the plain grammar lacks."""
    return not _PLAIN_WORDS.issuperset(_PLAIN_CLAUSE.sub("", text).split())


NOTE = (
    "The command is worded freely. Synonyms: go, head and move to = walk to; shove = push; drag, tug = pull; little = small; large = "
    "big; disc = circle; tube = cylinder; crate = box; thing = object; in zigzags, in a zigzag = while zigzagging; while whirling = "
    "while spinning; carefully, warily, with caution = cautiously; haltingly, with hesitation = hesitantly. A clause about the noun "
    "just before it begins with that, which, or without a word; and adds a further clause about the noun of the clause before."
)
"""The note about natural wording for readers."""
