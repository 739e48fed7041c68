"""One answer -> right or wrong, and the name of the mistake; a chain of hops is graded hop by hop."""

from __future__ import annotations

import functools
import re
from typing import Any

from recombine.core import Example, Score
from recombine.families.clutrr.explain import shortcuts
from recombine.families.clutrr.kinship import GENDER, RELATIONS, inverse
from recombine.families.clutrr.plan import StoryPlan, code_of
from recombine.families.clutrr.sound.rules import compose_table

MAX_CHARACTERS = 20_000
MAX_HOPS = 200
OTHER = -1
"""What a text says that names a relation, but none of the 22: a stepfather, brothers, not the father."""
_WORDS = "|".join(sorted((*RELATIONS, "neice"), key=len, reverse=True))
_NAME = r"\[?(@?[\w-]{1,40})\]?"
_HOPS = (
    re.compile(rf"{_NAME} (?:is|was) (?:the |an? )?({_WORDS}) of {_NAME}", re.IGNORECASE),
    re.compile(rf"{_NAME} (?:is|was) {_NAME}(?:'s|’s) ({_WORDS})(?![\w-])", re.IGNORECASE),
    re.compile(rf"{_NAME}(?:'s|’s) ({_WORDS}) is {_NAME}", re.IGNORECASE),
)

_STEMS = (
    "father",
    "mother",
    "son",
    "daughter",
    "husband",
    "wife",
    "brother",
    "sister",
    "uncle",
    "aunt",
    "nephew",
    "niece",
    "neice",
)
_PLURALS = {"wives": "wife", **{f"{stem}s": stem for stem in _STEMS if stem != "wife"}}
_STEM = re.compile("|".join(sorted((*_STEMS, *_PLURALS), key=len, reverse=True)))
_QUALIFIERS = frozenset(
    ("step", "half", "great", "ex", "foster", "god", "former", "adoptive", "adopted", "surrogate", "estranged", "co", "twice")
)
"""Words before a relation that make it another one."""
_LAW = re.compile(r"[\s-]*in[\s-]*law(s?)(?!\w|\s+school)")
_BEFORE = re.compile(r"([a-z]+(?:'s)?)([\s-]+)$")
_NEGATION = re.compile(r"(?:\b(?:not|never|no|neither|nor|cannot|without)|n't)(?:\s+[\w'-]+){0,3}\s+$")
_DENIED = re.compile(r"(?:-in-law)?\s+(?:(?:is|was)\s+(?:not|never)|(?:is|was)n't)\b")
_DASHES = re.compile("[\u2010-\u2015\u2212_]")
_CONTEXT = 60
"""Characters before a word in which its qualifiers and negations stand."""

Hop = tuple[int, str, str]
"""(relation, subject's name, relative's name)."""


@functools.lru_cache(maxsize=16)
def normal(text: str) -> str:
    """The text with plain apostrophes and dashes, compounds written as the 22 words are (`father in law`, `grand mother`)."""
    text = _DASHES.sub("-", text).replace("’", "'").replace("‘", "'")
    text = re.sub(
        r"\b(father|mother|son|daughter|brother|sister)[\s-]*in[\s-]*law\b(?!\s+school)",
        r"\1-in-law",
        text,
        flags=re.IGNORECASE,
    )
    return re.sub(r"\bgrand[\s-]+(father|mother|son|daughter)\b", r"grand\1", text, flags=re.IGNORECASE)


def mentions(text: str) -> list[int]:
    """Every relation that the text names, in order: its code, or `OTHER`. Negated ones count only if nothing else is named."""
    lowered = normal(text).lower()
    found, denied = list[int](), list[int]()
    for match in _STEM.finditer(lowered):
        code = _mention(lowered, match)
        if code is None:
            continue
        before = lowered[max(0, match.start() - _CONTEXT) : match.start()].removesuffix("grand")
        after = lowered[match.end() : match.end() + _CONTEXT]
        is_denied = _NEGATION.search(before) is not None or _DENIED.match(after) is not None
        (denied if is_denied else found).append(OTHER if is_denied else code)
    return found or denied


def _mention(text: str, match: re.Match[str]) -> int | None:
    """The relation named at this place; None if the letters are part of another word (`reason`) or own the next (`father's`)."""
    stem, start, end = match[0], match.start(), match.end()
    attached = re.search(r"[^\W\d]*\Z", text[max(0, start - _CONTEXT) : start])
    prefix = attached[0] if attached else ""
    law = _LAW.match(text, end)
    end = law.end() if law else end
    if (end < len(text) and (text[end].isalnum() or text[end] == "_")) or text[end : end + 2] == "'s":
        return None
    if prefix and prefix not in _QUALIFIERS and not (prefix == "grand" or prefix.endswith("grand")):
        return None
    is_plural = stem in _PLURALS or (law is not None and law[1] == "s")
    word = prefix + _PLURALS.get(stem, stem) + ("-in-law" if law else "")
    code = code_of(word)
    if code is None or is_plural or re.match(r"-\w", text[end:]) or _is_qualified(text, start - len(prefix)):
        return OTHER
    return code


def _is_qualified(text: str, start: int) -> bool:
    """Whether the word before makes this another relation: `step father`, `great-uncle`, `father's brother`."""
    before = _BEFORE.search(text[max(0, start - _CONTEXT) : start])
    if before is None:
        return False
    word, gap = before[1], before[2]
    is_kin = word.removesuffix("'s") != word and _STEM.fullmatch(word.removesuffix("'s").removeprefix("grand")) is not None
    return word in _QUALIFIERS or word == "grand" or "-" in gap.strip(" ") or is_kin


def parse_hops(text: str) -> list[Hop]:
    """Every statement of the forms `Ann is the mother of Bob`, `Ann is Bob's mother`, `Bob's mother is Ann`, in order."""
    return list(_hops(text))


@functools.lru_cache(maxsize=16)
def _hops(text: str) -> tuple[Hop, ...]:
    """The same, kept for the next question about this text: one verdict asks twice."""
    text = normal(text)
    found: list[tuple[int, Hop]] = []
    for form, pattern in enumerate(_HOPS):
        for match in pattern.finditer(text):
            a, b, c = match.groups()
            relative, word, subject = ((a, b, c), (a, c, b), (c, b, a))[form]
            code = code_of(word.lower())
            if code is not None and not {subject.lower(), relative.lower()} & {"not", "never"}:
                found.append((match.start(), (code, subject, relative)))
            if len(found) >= MAX_HOPS:
                break
    return tuple(hop for _, hop in sorted(found))


def parse_answer(text: str, plan: StoryPlan) -> int | None:
    """The relation that a text answers with: its last statement about the query, or the only one named in it or its last line.

    `OTHER` if that is none of the 22; None if the text names no relation, or several.
    """
    x, y = (plan.names[p] for p in plan.query)
    for code, subject, relative in reversed(parse_hops(text)):
        if (subject, relative) == (x, y):
            return code
    lines = [line for line in text.strip().splitlines() if line.strip()]
    for piece in (text, lines[-1] if lines else ""):
        named = set(mentions(piece))
        if len(named) == 1:
            return named.pop()
    return None


def grade_hops(hops: list[Hop], plan: StoryPlan) -> dict[str, Any]:
    """How far a chain of hops holds: each must be stated, or follow from two earlier ones (or stated facts) by one rule."""
    number = {name: i for i, name in enumerate(plan.names)}
    known: dict[tuple[int, int], int] = {}
    for fact in plan.facts:
        known[fact.subject, fact.relative] = fact.relation
        known[fact.relative, fact.subject] = inverse(fact.relation, plan.genders[fact.subject])
    compose = compose_table()
    for place, (code, subject, relative) in enumerate(hops, 1):
        s, o = number.get(subject), number.get(relative)
        text = f"{relative} is the {RELATIONS[code]} of {subject}"
        if s is None or o is None or s == o or GENDER[code] != plan.genders[o]:
            return {"hops": len(hops), "hops_right": place - 1, "first_wrong": place, "wrong_hop": text}
        follows = any(
            (z, o) in known and compose[plan.genders[s], known[s, z], known[z, o]] == code
            for z in range(len(plan.names))
            if (s, z) in known
        )
        if known.get((s, o)) != code and not follows:
            return {"hops": len(hops), "hops_right": place - 1, "first_wrong": place, "wrong_hop": text}
        known[s, o] = code
        known[o, s] = inverse(code, plan.genders[s])
    return {"hops": len(hops), "hops_right": len(hops), "first_wrong": None}


def score(example: Example, answer: str) -> Score:
    """Right if the answer names the relation; `detail` grades a chain of hops and names the first wrong one."""
    if not isinstance(answer, str) or len(answer) > MAX_CHARACTERS:
        return Score(0.0, "unparsable")
    plan: StoryPlan = example.plan
    code = parse_answer(answer, plan)
    hops = parse_hops(answer)
    detail = grade_hops(hops, plan) if hops else {}
    if code is None:
        return Score(0.0, "unparsable", (), detail)
    if code == OTHER:
        return Score(0.0, "wrong", (), detail)
    given = RELATIONS[code]
    if given == example.answer:
        return Score(1.0, "right", (), detail)
    return Score(0.0, "wrong", tuple(s.name for s in shortcuts(example) if s.answer == given), detail)
