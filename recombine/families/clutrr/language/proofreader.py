"""Are a story's paraphrase numbers the ones that it is told with? Part of the oracle: shares no code with the writer.

Frames are read as lines of text and filled in by substitution; the writer runs tables of bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from recombine.families.clutrr.kinship import RELATIONS
from recombine.families.clutrr.language import kinwords, rich, store

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


_RICH_SLOTS = re.compile(
    r"(\b[kcdvnp][XYZW]{2}\b|\b(?:he|him|his|himself|He|His)[XYZW]\b|\b[XYZW]\b|\{\w+\}|\{[^{}|]+\|[^{}|]+:[XYZW]\})"
)


@cache
def _rich_pieces(frame: int) -> tuple[str, ...]:
    """A rich frame's line, cut at its slots."""
    return tuple(_RICH_SLOTS.split(rich.frames()[frame].line))


def retold_richly(
    codes: Sequence[int], facts: Sequence[Triple], names: Sequence[str], genders: Sequence[int], register: str
) -> str:
    """The story that these rich paraphrases tell of these facts, without brackets; empty if they do not fit the facts."""
    told: list[str] = []
    at = 0
    opening, between, closing = rich.register_lines(register)
    most = max(len(opening), len(between), len(closing))
    for code in codes:
        frame = rich.frame_of(code)
        if frame is None or at + frame.facts > len(facts):
            return ""
        if most:
            lines, turn = between if told else opening, (code >> 1) % most
            told.append(lines[turn % len(lines)])
        chunk = facts[at : at + frame.facts]
        told.append(_rich_sentence(code, chunk, names, genders))
        if not _is_first(code, frame.line, told[-1], chunk, names, genders):
            return ""
        at += frame.facts
    if most and codes:
        told.append(closing[(codes[-1] >> 1) % most % len(closing)])
    return " ".join(told) if at == len(facts) else ""


def _is_first(code: int, line: str, told: str, chunk: Sequence[Triple], names: Sequence[str], genders: Sequence[int]) -> bool:
    """Whether no code that comes before this one, formal ones first, tells the same: a text has one code."""
    fills = _fills_alike(line)
    times = rich.fillings()[:, 1]
    start = 2 * ((code >> 1) - ((code >> 1) - rich.FIRST) % rich.FILLS) + (code & 1)
    for fill in (*range(0, fills, 2), *range(1, fills, 2)):
        other = start + 2 * fill
        if other == code:
            return True
        has_other_time = fills == rich.FILLS and times[(other >> 1) - rich.FIRST] != times[(code >> 1) - rich.FIRST]
        if not has_other_time and _rich_sentence(other, chunk, names, genders) == told:
            return False
    return True


@cache
def _fills_alike(line: str) -> int:
    """How many fillings of a frame may give the same text; 0 if its events tell them all apart."""
    if re.search(r"\{(?:do|did|doing)\}", line):
        return 0
    return rich.FILLS if re.search(r"\{[wW]hen\}", line) else 2 * kinwords.FORMAL


def _rich_sentence(code: int, chunk: Sequence[Triple], names: Sequence[str], genders: Sequence[int]) -> str:
    number = (code >> 1) - rich.FIRST
    row: list[int] = rich.fillings()[number].tolist()
    people, words = _turned_path(code, chunk, genders)
    events = iter(row[3:])
    found = []
    for i, piece in enumerate(_rich_pieces(row[0])):
        if i % 2 == 0:
            found.append(piece)
        elif "|" in piece:
            female, rest = piece[1:-1].split("|")
            male, person = rest.split(":")
            found.append((female, male)[genders[people[_PLACES.index(person)]]])
        elif piece in ("{when}", "{When}"):
            found.append(rich.times()[row[1]][piece == "{When}"])
        elif piece[0] == "{":
            found.append(store.events()[next(events)][("do", "did", "doing").index(piece[1:-1])])
        elif piece in _PLACES:
            found.append(names[people[_PLACES.index(piece)]])
        elif piece[0] in "kcdvnp" and len(piece) == 3:
            a, b = _PLACES.index(piece[1]), _PLACES.index(piece[2])
            word = words[a] if b == a + 1 else _GENDERED[_TURNED[words[b]]][genders[people[b]]]
            found.append(kinwords.variants(piece[0])[RELATIONS.index(word)][row[2]])
        else:
            found.append(_PRONOUNS[piece[:-1]][genders[people[_PLACES.index(piece[-1])]]])
    return "".join(found)


def _turned_path(code: int, chunk: Sequence[Triple], genders: Sequence[int]) -> tuple[list[int], list[str]]:
    """People and words along the path, from the end at which an odd code begins."""
    people = [chunk[0][1], *(fact[2] for fact in chunk)]
    words = [RELATIONS[fact[0]] for fact in chunk]
    if code & 1:
        people = people[::-1]
        words = [_GENDERED[_TURNED[word]][genders[p]] for word, p in zip(words[::-1], people[1:], strict=True)]
    return people, words


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
    people, words = _turned_path(code, chunk, genders)
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
