"""Are a story's paraphrase numbers the ones that it is told with? Part of the oracle: shares no code with the writer.

Frames are read as lines of text and filled in by substitution; the writer runs tables of bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language import store

_SLOTS = re.compile(r"(\bk[XYZW]{2}\b|\b(?:he|him|his|himself|He|His)[XYZW]\b|\b[XYZW]\b|\{\w+\})")
_PLACES = "XYZW"
_PRONOUNS = {
    "he": ("she", "he"), "him": ("her", "him"), "his": ("her", "his"), "himself": ("herself", "himself"),
    "He": ("She", "He"), "His": ("Her", "His"),
}  # fmt: skip
_TURNED = {"father": "child", "mother": "child", "son": "parent", "daughter": "parent", "husband": "spouse", "wife": "spouse",
           "brother": "sibling", "sister": "sibling", "grandfather": "grandchild", "grandmother": "grandchild",
           "grandson": "grandparent", "granddaughter": "grandparent", "uncle": "nibling", "aunt": "nibling", "nephew": "pibling",
           "niece": "pibling", "father-in-law": "child-in-law", "mother-in-law": "child-in-law", "son-in-law": "parent-in-law",
           "daughter-in-law": "parent-in-law", "brother-in-law": "sibling-in-law", "sister-in-law": "sibling-in-law"}  # fmt: skip
_GENDERED = {"child": ("daughter", "son"), "parent": ("mother", "father"), "spouse": ("wife", "husband"),
             "sibling": ("sister", "brother"), "grandchild": ("granddaughter", "grandson"),
             "grandparent": ("grandmother", "grandfather"), "nibling": ("niece", "nephew"), "pibling": ("aunt", "uncle"),
             "child-in-law": ("daughter-in-law", "son-in-law"), "parent-in-law": ("mother-in-law", "father-in-law"),
             "sibling-in-law": ("sister-in-law", "brother-in-law")}  # fmt: skip
Triple = tuple[int, int, int]


@cache
def _pieces(style: store.Style, frame: int) -> tuple[str, ...]:
    """A frame's line, cut at its slots."""
    return tuple(_SLOTS.split(store.frames(style)[frame].line))


def retold(
    codes: Sequence[int], facts: Sequence[Triple], names: Sequence[str], genders: Sequence[int], style: store.Style
) -> str:
    """The story that these paraphrases tell of these facts, without brackets; empty if they do not fit the facts."""
    told, at = [], 0
    for code in codes:
        number = code >> 1
        every = store.frames("simple") if style == "simple" else store.paraphrases()
        if not 0 <= number < len(every):
            return ""
        frame = number if style == "simple" else store.paraphrases()[number].frame
        length = store.frames(style)[frame].facts
        chunk = facts[at : at + length]
        if len(chunk) < length:
            return ""
        told.append(_sentence(code, frame, chunk, names, genders, style))
        at += length
    return " ".join(told) if at == len(facts) else ""


def _sentence(
    code: int, frame: int, chunk: Sequence[Triple], names: Sequence[str], genders: Sequence[int], style: store.Style
) -> str:
    people = [chunk[0][1], *(fact[2] for fact in chunk)]
    words = [RELATIONS[fact[0]] for fact in chunk]
    if code & 1:  # told from the other end
        people = people[::-1]
        words = [_GENDERED[_TURNED[word]][genders[p]] for word, p in zip(words[::-1], people[1:], strict=True)]
    chosen = None if style == "simple" else store.paraphrases()[code >> 1]
    events = iter(chosen.events if chosen else ())
    found = []
    for i, piece in enumerate(_pieces(style, frame)):
        if i % 2 == 0:
            found.append(piece)
        elif piece[0] == "{":
            if chosen is None:
                return ""
            if piece[1:-1] in ("when", "When"):
                found.append(store.times()[chosen.time][piece[1] == "W"])
            else:
                found.append(store.events()[next(events)][("do", "did", "doing").index(piece[1:-1])])
        elif piece[0] == "k":
            a, b = _PLACES.index(piece[1]), _PLACES.index(piece[2])
            found.append(words[a] if b == a + 1 else _GENDERED[_TURNED[words[b]]][genders[people[b]]])
        elif piece in _PLACES:
            found.append(names[people[_PLACES.index(piece)]])
        else:
            found.append(_PRONOUNS[piece[:-1]][genders[people[_PLACES.index(piece[-1])]]])
    return "".join(found)
