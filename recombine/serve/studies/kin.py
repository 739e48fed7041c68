"""Stories about families, written and reviewed by people: the texts that they see, and the checks that a program makes first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recombine.core import Example
from recombine.families.clutrr.kinship import RELATIONS, inverse
from recombine.families.clutrr.language.names import name_pool
from recombine.families.clutrr.score import parse_hops

SHORTEST, LONGEST = 15, 800
CHECKS = (
    "Every required fact is told.",
    "The hidden fact is not stated.",
    "Everybody has the right gender.",
    "The text is grammatical.",
)
"""What a reviewer confirms, one by one."""
RULES = (
    "Write a short, simple story.",
    "Tell each fact at least once; facts may share a sentence or be spread over several.",
    "Do not state the hidden fact.",
    "Name everybody exactly as above, and write correct English.",
    "Anything else may happen in the story.",
)


def facts_of(example: Example, k: int) -> dict[str, Any]:
    """The first k facts of an example's path as a writer sees them; the people are numbered along the path."""
    plan = example.plan
    path = plan.path[:k]
    people = [path[0].subject, *(fact.relative for fact in path)]
    genders = [int(plan.genders[p]) for p in people]
    hidden = RELATIONS.index(example.answer) if k > 1 and k == len(plan.path) else -1
    relations = [int(fact.relation) for fact in path]
    return {
        "source": example.id,
        "names": [plan.names[p] for p in people],
        "genders": genders,
        "relations": relations,
        "hidden": hidden,
    }


def shown(content: Mapping[str, Any]) -> dict[str, Any]:
    """The facts, the genders and the hidden fact in sentences."""
    names = content["names"]
    facts = [f"{names[i + 1]} is the {RELATIONS[r]} of {names[i]}." for i, r in enumerate(content["relations"])]
    genders = [f"{n} is {('female', 'male')[g]}." for n, g in zip(names, content["genders"], strict=True)]
    hidden = f"{names[-1]} is the {RELATIONS[content['hidden']]} of {names[0]}." if content["hidden"] >= 0 else ""
    return {"facts": facts, "genders": genders, "hidden": hidden}


def faults(content: Mapping[str, Any], text: str) -> list[str]:
    """Problems of a story that a program finds, as sentences for its author; empty if reviewers may see the story."""
    names = list(content["names"])
    found = []
    if not SHORTEST <= len(text) <= LONGEST:
        found.append(f"The story has {len(text)} characters; it should have {SHORTEST} to {LONGEST}.")
    found += [f"{name} is not mentioned." for name in names if not _mentions(text, name)]
    others = {name for name in re.findall(r"\b[A-Z][a-z]+\b", text) if name in _all_names() and name not in names}
    found += [f"{name} is a name that the facts do not have." for name in sorted(others)]
    if re.search(r"[\[\]<>{}|\\]|ENT_\d", text) or not text.isprintable():
        found.append("Use letters and ordinary punctuation only.")
    if text and text[-1] not in ".!?\"'”":
        found.append("End the story with a full stop.")
    if content["hidden"] >= 0 and _states_hidden(content, text):
        found.append("The story states the hidden fact.")
    return found


def _states_hidden(content: Mapping[str, Any], text: str) -> bool:
    """Whether the text says the hidden fact outright, from either end."""
    x, y, code = content["names"][0], content["names"][-1], int(content["hidden"])
    back = inverse(code, int(content["genders"][0]))
    return any(hop in ((code, x, y), (back, y, x)) for hop in parse_hops(text))


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _all_names() -> frozenset[str]:
    return frozenset(name_pool()[0])


def template_of(content: Mapping[str, Any], text: str) -> str:
    """The story with `ENT_i_gender` for the i-th person along the path."""
    words = {
        n: f"ENT_{i}_{('female', 'male')[g]}" for i, (n, g) in enumerate(zip(content["names"], content["genders"], strict=True))
    }
    names = "|".join(re.escape(name) for name in sorted(words, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])({names})(?![\w-])", lambda match: words[match[1]], text)


def cell_of(content: Mapping[str, Any]) -> tuple[str, str]:
    """(clause, genders) under which a template file lists the story."""
    clause = "-".join(RELATIONS[r] for r in content["relations"])
    return clause, "-".join(("female", "male")[g] for g in content["genders"])
