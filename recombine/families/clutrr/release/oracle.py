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
from recombine.families.clutrr.kinship import CODES, NEUTRAL
from recombine.families.clutrr.plan import KINDS as NOISES
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
    if not path:
        return found
    found += _proof_problems(example, plan, target) + _family_problems(example, plan)
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
    if [fact.place for fact in path] != list(range(int(example.meta.get("k", len(path))))):
        found.append(Problem("bad_path", f"the places on the path are {[fact.place for fact in path]}, not 0 to k - 1"))
    kinds = {fact.kind for fact in plan.facts} - {0}
    named = {NOISES.index(kind) for kind in str(example.meta.get("noise", "clean")).split("+") if kind in NOISES} - {0}
    if (kinds != named and "members" in example.meta) or any((f.place >= 0) != (f.kind == 0) for f in plan.facts):
        found.append(Problem("bad_noise", f"the noise is called {shown(example.meta.get('noise'))}, but has other kinds"))
    return found


def _proof_problems(example: Example, plan: StoryPlan, target: int) -> list[Problem]:
    """A proof, where there is one, ends in the answer; each step follows by a released rule from the path or later steps."""
    is_needed = "members" in example.meta and not example.meta.get("memory")
    if not plan.proof and not is_needed:
        return []
    if example.meta.get("memory") or len(plan.proof) != len(plan.path) - 1:
        return [Problem("bad_proof", f"the proof has {len(plan.proof)} steps for a path of {len(plan.path)} facts")]
    known = {fact.triple for fact in plan.path}
    for step in reversed(plan.proof):
        premises = {(step.first, step.x, step.z), (step.second, step.z, step.y)}
        follows = _RULES.get((step.first // 2, step.second // 2)) == (step.result // 2,)
        if not premises <= known or not follows or step.result % 2 != 1 - plan.genders[step.y]:
            return [Problem("bad_proof", f"this step does not follow: {plan.sentence(step.result, step.x, step.y)}")]
        known.add((step.result, step.x, step.y))
    root = plan.proof[0]
    if (root.result, root.x, root.y) != (target, *plan.query):
        return [Problem("bad_proof", "the proof does not end in the answer")]
    return []


def _family_problems(example: Example, plan: StoryPlan) -> list[Problem]:
    """The people of the story have the genders of the family; in the released family, `members` says who they are."""
    world: People | None = example.world
    if world is None:
        return []
    if world.genders[: len(plan.genders)] != plan.genders:
        return [Problem("bad_people", "somebody has another gender in the family than in the story")]
    members = example.meta.get("members")
    if members is None:
        return []
    if len(members) != len(plan.names) or len(set(members)) != len(members):
        return [
            Problem("wrong_field", f"members are {shown(list(members))}, not one number for each of {len(plan.names)} people")
        ]
    if set(example.meta.get("options", {})) & {"levels", "min_children", "max_children", "marriage"}:
        return []
    if len(world) != len(_RELEASED) or not all(0 <= member < len(world) for member in members):
        return [Problem("bad_family", f"the family has {len(world)} people, but the released one has {len(_RELEASED)}")]
    who = [*members, *(p for p in range(len(world)) if p not in set(members))]
    number = {person: place for place, person in enumerate(who)}
    for place, person in enumerate(who):
        *parents, spouse = (number[p] if p >= 0 else -1 for p in _RELEASED[person])
        if {world.fathers[place], world.mothers[place]} != set(parents) or world.spouses[place] != spouse:
            return [Problem("bad_family", f"person {place} is not number {person} of the released family")]
    return []


def _released() -> list[tuple[int, int, int]]:
    """(parent, parent, spouse) of the 42 people: a couple with four children, each married with four, each of those married."""
    people = [(-1, -1, 1), (-1, -1, 0), *((0, 1, -1) for _ in range(4))]
    for child in range(2, 6):
        people[child] = (0, 1, len(people))
        people.append((-1, -1, child))
        people += [(child, people[child][2], -1) for _ in range(4)]
    for person, (one, other, spouse) in enumerate(list(people)):
        if spouse < 0:
            people[person] = (one, other, len(people))
            people.append((-1, -1, person))
    return people


_RELEASED = _released()


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
