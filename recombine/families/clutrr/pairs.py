"""Matched pairs of CLUTRR.

`name`: the same story with other names; the kinship must not change. `question`: the same story, asked from the other end; it must change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recombine import keys
from recombine.core import Example
from recombine.families.clutrr import oracle_kernel as laws
from recombine.families.clutrr.kinship import CODES, RELATIONS, inverse
from recombine.families.clutrr.language.names import NAMES
from recombine.families.clutrr.language.parser import Unreadable, read_question
from recombine.families.clutrr.oracle_rules import kinship
from recombine.families.clutrr.plan import Step, StoryPlan

PAIRS: Mapping[str, str] = {"name": "invariance", "question": "sensitivity"}


def partner(example: Example, facet: str) -> Example | None:
    """The story with this facet changed; None if it has no such partner."""
    if facet == "question":
        return _turned(example)
    return _renamed(example) if facet == "name" else None


def _renamed(example: Example) -> Example | None:
    """The story in which everybody has another name of the same gender; None where the names are not plain words."""
    plan = example.plan
    stream = keys.Stream("pair", example.id, "name")
    taken = set(plan.names)
    renamed: dict[str, str] = {}
    for name, gender in zip(plan.names, plan.genders, strict=True):
        free = [other for other in NAMES[gender] if other not in taken and other not in str(example.inputs["story"])]
        if not name.isalpha() or not free:
            return None
        renamed[name] = stream.choice(free)
        taken.add(renamed[name])
    inputs = {name: value if name == "graph" else _replaced(value, renamed) for name, value in example.inputs.items()}
    names = replace(plan, names=tuple(renamed[name] for name in plan.names))
    return replace(example, id=f"{example.id}~name", inputs=inputs, plan=names)


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    """Texts, and lists of them, with each name replaced."""
    if isinstance(value, str):
        pattern = re.compile(r"\b(" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b")
        return pattern.sub(lambda match: names[match[0]], value)
    if isinstance(value, list | tuple):
        return type(value)(_replaced(item, names) for item in value)
    return value


def _turned(example: Example) -> Example | None:
    """The story that asks what the first person is to the second; None for questions whose answer is the same both ways."""
    plan: StoryPlan = example.plan
    x, y = plan.query
    answer = RELATIONS[inverse(CODES[example.answer], plan.genders[x])]
    if answer == example.answer or example.meta.get("memory"):
        return None
    swapped = {plan.names[x]: plan.names[y], plan.names[y]: plan.names[x]}
    question = _replaced(str(example.inputs["question"]), swapped)
    inputs = {
        **example.inputs, "question": question, "query": [plan.names[y], plan.names[x]],
        "graph": {**example.inputs["graph"], "query": [y, x]},
    }  # fmt: skip
    proof = tuple(_turned_step(step, plan.genders) for step in plan.proof)
    meta = {**example.meta, "target": answer} if "target" in example.meta else example.meta
    turned = replace(plan, query=(y, x), proof=proof)
    return replace(example, id=f"{example.id}~question", inputs=inputs, answer=answer, plan=turned, meta=meta)


def _turned_step(step: Step, genders: tuple[int, ...]) -> Step:
    """The step told from its other end."""
    first, second = inverse(step.second, genders[step.z]), inverse(step.first, genders[step.x])
    return Step(step.y, step.z, step.x, first, second, inverse(step.result, genders[step.x]))


def pair_problems(first: Example, second: Example, facet: str) -> list[str]:
    """What is wrong with a pair, from the inputs."""
    if facet not in PAIRS:
        return [f"there are no pairs of the facet {facet!r}"]
    return _name_problems(first, second) if facet == "name" else _question_problems(first, second)


def _name_problems(first: Example, second: Example) -> list[str]:
    """The two texts must be equal but for a one-to-one change of names."""
    found = []
    old, new = list(first.inputs["entities"]), list(second.inputs["entities"])
    if len(old) != len(new) or len(set(new)) != len(new) or set(old) & set(new):
        return [f"{old} and {new} are not two different sets of names"]
    sides = {name: gender for gender, names in enumerate(NAMES) for name in names}
    if any(sides.get(a) != sides.get(b) for a, b in zip(old, new, strict=True)):
        found.append("a name changed its gender")
    numbered = []
    for names, example in ((old, first), (new, second)):
        words = re.split(r"(\w+)", f"{example.inputs['story']} | {example.inputs['question']} | {example.inputs['query']}")
        numbered.append([names.index(word) if word in names else word for word in words])
    if numbered[0] != numbered[1]:
        found.append("the texts differ in more than the names")
    if first.answer != second.answer or first.inputs.get("graph") != second.inputs.get("graph"):
        found.append("the answer or the graph changed with the names")
    return found


def _question_problems(first: Example, second: Example) -> list[str]:
    """Only the direction of the question differs, and the facts of the graph leave one answer to each question, the given one."""
    found = []
    same = ("story", "entities")
    graphs = [{name: value for name, value in e.inputs["graph"].items() if name != "query"} for e in (first, second)]
    if any(first.inputs[name] != second.inputs[name] for name in same) or graphs[0] != graphs[1]:
        found.append("more than the question differs")
    if list(first.inputs["query"]) != list(second.inputs["query"])[::-1]:
        found.append("the second question does not turn the first one round")
    if first.answer == second.answer:
        found.append("the answers must differ")
    for example in (first, second):
        names = list(example.inputs["entities"])
        try:
            asked = read_question(str(example.inputs["question"]), names)
        except Unreadable as problem:
            return [*found, str(problem)]
        query = [names.index(name) for name in asked]
        if list(asked) != list(example.inputs["query"]) or query != list(example.inputs["graph"]["query"]):
            found.append(f"{example.inputs['question']!r} does not ask what the query asks")
        if _settled(example, query) != example.answer:
            found.append(f"the facts do not leave {example.answer!r} as the only answer to {example.inputs['question']!r}")
    return found


def _settled(example: Example, query: list[int]) -> str:
    """The one relation that the oracle's rules leave between two people of the graph; empty if they leave another number."""
    graph = example.inputs["graph"]
    n, genders = len(graph["genders"]), np.array(graph["genders"], np.int64)
    told = zip(graph["edges"], graph["relations"], strict=True)
    facts = np.array([value for (s, o), word in told for value in (RELATIONS.index(word), s, o)], np.int64)
    rules = kinship(str(example.meta.get("options", {}).get("conventions", "stated")) != "none")
    fitting = [
        word
        for code, word in enumerate(RELATIONS)
        if not laws.check_answer(
            facts, len(facts) // 3, genders, n, rules, np.zeros((n, n), np.int64), query[0], query[1], code
        )
    ]
    return fitting[0] if len(fitting) == 1 else ""
