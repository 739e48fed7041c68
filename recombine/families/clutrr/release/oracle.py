"""Judging rows made by the released rules: a deliberate second implementation, apart from `release.py`.

The law of a released row is that its target follows from the path by the 16 released rules. Those rules are not sound, so a
row can be lawful and still ambiguous, false in the hidden family, or solvable by a shorter path: these are artifacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from recombine.core import Example, Problem
from recombine.errors import shown
from recombine.families.clutrr import oracle_kernel
from recombine.families.clutrr.kinship import CODES, NEUTRAL, RELATIONS
from recombine.families.clutrr.plan import Fact, People, StoryPlan

_RULES: dict[tuple[int, int], tuple[int, ...]] = {
    (1, 1): (5,), (1, 2): (9,), (1, 3): (1,), (1, 4): (0,), (1, 6): (3,),
    (0, 1): (3,), (0, 0): (4,), (0, 3): (6,),
    (2, 1): (1,), (2, 0): (8,), (2, 5): (5,),
    (3, 1): (7,), (3, 0): (0,), (3, 3): (3,), (3, 4): (4,),
    (5, 3): (5,),
}  # fmt: skip
"""(neutral relation, neutral relation) -> what the released rules conclude; child ∘ grandparent and child ∘ uncle are unsound."""


def derivable(relations: Sequence[int]) -> set[int]:
    """Neutral relations that some bracketing of this chain of neutral relations yields under the released rules."""
    n = len(relations)
    spans: dict[tuple[int, int], set[int]] = {(i, i + 1): {relation} for i, relation in enumerate(relations)}
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            ends: set[int] = set()
            for cut in range(start + 1, start + length):
                for a in spans[start, cut]:
                    for b in spans[cut, start + length]:
                        ends.update(_RULES.get((a, b), ()))
            spans[start, start + length] = ends
    return spans[0, n]


def joined_by(facts: Sequence[Fact], x: int, y: int) -> int | None:
    """The fewest stated facts that join two people."""
    reached, edge, steps = {x}, {x}, 0
    while edge:
        if y in reached:
            return steps
        edge = {
            b for f in facts for a, b in ((f.subject, f.relative), (f.relative, f.subject)) if a in edge and b not in reached
        }
        reached |= edge
        steps += 1
    return None


def validate_release(example: Example) -> list[Problem]:
    """Errors: the target does not follow, or words and genders disagree. Artifacts: what `sound` would not allow."""
    plan: StoryPlan = example.plan
    if example.answer not in CODES:
        return [Problem("wrong_label", f"{shown(example.answer)} is none of the 22 relations")]
    target = CODES[example.answer]
    found = _shape_problems(example, plan)
    x, y = plan.query
    path = plan.path
    if example.meta.get("memory"):
        if (target, x, y) not in {fact.triple for fact in path}:
            found.append(
                Problem("wrong_label", f"the story does not state that {plan.names[y]} is {plan.names[x]}'s {example.answer}")
            )
        return found
    answers = derivable([fact.relation // 2 for fact in path])
    if target // 2 not in answers or target % 2 != 1 - plan.genders[y]:
        named = ", ".join(NEUTRAL[a] for a in sorted(answers)) or "nothing"
        found.append(
            Problem("wrong_label", f"the path proves {named}, not that {plan.names[y]} is {plan.names[x]}'s {example.answer}")
        )
    elif len(answers) > 1:
        named = ", ".join(NEUTRAL[a] for a in sorted(answers))
        found.append(Problem("ambiguous", f"the path proves all of: {named}", "artifact"))
    return found + _artifacts(example, plan, path, target)


def _shape_problems(example: Example, plan: StoryPlan) -> list[Problem]:
    path = plan.path
    found = []
    x, y = plan.query
    if not example.meta.get("memory"):
        ends = [fact.subject for fact in path] + [path[-1].relative] if path else []
        if not path or ends[0] != x or ends[-1] != y or any(a.relative != b.subject for a, b in pairwise(path)):
            found.append(Problem("bad_path", f"the clean facts do not lead from {plan.names[x]} to {plan.names[y]}"))
    wrong = [f for f in plan.facts if f.relation % 2 != 1 - plan.genders[f.relative]]
    if wrong:
        found.append(Problem("wrong_gender", f"the words and genders disagree: {plan.sentence(*wrong[0].triple)}"))
    clause = "-".join(RELATIONS[fact.relation] for fact in path)
    if example.meta.get("clause", clause) != clause:
        found.append(
            Problem("wrong_clause", f"the clause is called {shown(example.meta['clause'])}, but the path says {clause}")
        )
    return found


def _artifacts(example: Example, plan: StoryPlan, path: Sequence[Fact], target: int) -> list[Problem]:
    x, y = plan.query
    found = []
    steps = joined_by(plan.facts, x, y)
    if steps is not None and steps < len(path):
        text = f"{steps} stated facts join {plan.names[x]} and {plan.names[y]}, not {len(path)}"
        found.append(Problem("shorter_path", text, "artifact"))
    if len({fact.relative for fact in path} | {x}) != len(path) + 1:
        found.append(Problem("returning_path", "the path meets somebody twice", "artifact"))
    if example.meta.get("repaired_noise"):
        found.append(Problem("missing_noise_types", f"{example.meta['repaired_noise']} noise facts had no type", "artifact"))
    if example.world is not None:
        false = [fact for fact in plan.facts if not _is_true(example.world, fact.relation, fact.subject, fact.relative)]
        if false:
            found.append(Problem("false_fact", f"not true in the family: {plan.sentence(*false[0].triple)}", "artifact"))
        if not _is_true(example.world, target, x, y):
            found.append(Problem("false_target", f"not true in the family: {plan.sentence(target, x, y)}", "artifact"))
    return found


def _is_true(world: People, relation: int, x: int, y: int) -> bool:
    """Whether the fact holds in the family (an uncle by marriage is one)."""
    flat = [cell for person in zip(world.genders, world.fathers, world.mothers, world.spouses, strict=True) for cell in person]
    return bool(oracle_kernel.true_mask(np.array(flat), len(world), x, y) >> (relation // 2) & 1)
