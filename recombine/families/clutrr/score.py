"""One answer -> right or wrong, and the name of the mistake; a chain of hops is graded hop by hop."""

from __future__ import annotations

import re
from typing import Any

from recombine.core import Example, Score
from recombine.families.clutrr.explain import shortcuts
from recombine.families.clutrr.kinship import GENDER, RELATIONS, inverse
from recombine.families.clutrr.plan import StoryPlan, code_of
from recombine.families.clutrr.sound.rules import compose_table

MAX_CHARACTERS = 20_000
MAX_HOPS = 200
_WORDS = "|".join(sorted((*RELATIONS, "neice"), key=len, reverse=True))
_WORD = re.compile(rf"(?<![\w-])({_WORDS})(?![\w-])")
_NAME = r"\[?(@?[\w-]{1,40})\]?"
_HOPS = (
    re.compile(rf"{_NAME} (?:is|was) (?:the |an? )?({_WORDS}) of {_NAME}", re.IGNORECASE),
    re.compile(rf"{_NAME} (?:is|was) {_NAME}(?:'s|’s) ({_WORDS})(?![\w-])", re.IGNORECASE),
    re.compile(rf"{_NAME}(?:'s|’s) ({_WORDS}) is {_NAME}", re.IGNORECASE),
)

Hop = tuple[int, str, str]
"""(relation, subject's name, relative's name)."""


def parse_hops(text: str) -> list[Hop]:
    """Every statement of the forms `Ann is the mother of Bob`, `Ann is Bob's mother`, `Bob's mother is Ann`, in order."""
    found: list[tuple[int, Hop]] = []
    for form, pattern in enumerate(_HOPS):
        for match in pattern.finditer(text):
            a, b, c = match.groups()
            relative, word, subject = ((a, b, c), (a, c, b), (c, b, a))[form]
            code = code_of(word.lower())
            if code is not None:
                found.append((match.start(), (code, subject, relative)))
            if len(found) >= MAX_HOPS:
                break
    return [hop for _, hop in sorted(found)]


def parse_answer(text: str, plan: StoryPlan) -> int | None:
    """The relation that a text answers with: its last statement about the query, or the only word in it or its last line."""
    x, y = (plan.names[p] for p in plan.query)
    for code, subject, relative in reversed(parse_hops(text)):
        if (subject, relative) == (x, y):
            return code
    lines = [line for line in text.strip().splitlines() if line.strip()]
    for piece in (text, lines[-1] if lines else ""):
        words = {code_of(word) for word in _WORD.findall(piece.lower())}
        if len(words) == 1:
            return words.pop()
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
    given = RELATIONS[code]
    if given == example.answer:
        return Score(1.0, "right", (), detail)
    return Score(0.0, "wrong", tuple(s.name for s in shortcuts(example) if s.answer == given), detail)
