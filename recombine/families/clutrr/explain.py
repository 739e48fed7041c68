"""The proof in words, and the readers who cut a corner."""

from __future__ import annotations

import functools
from collections.abc import Callable

from recombine.core import Example, Explanation, Shortcut
from recombine.families.clutrr.kinship import CODES, CONVENTIONS, RELATIONS, inverse, word
from recombine.families.clutrr.plan import Fact, People, StoryPlan
from recombine.families.clutrr.sound.rules import compose_table, conventions_of

MAJORITY = "brother"
"""The answer of the reader who always gives the same answer; in `sound` all 22 are about equally frequent."""


def kin(world: People | None, x: int, y: int) -> int | None:
    """The code of what y is to x in the family, or None: unrelated, no word for it, or no family known."""
    if world is None or x == y:
        return None

    def parents(p: int) -> set[int]:
        return {q for q in (world.fathers[p], world.mothers[p]) if q >= 0} if p >= 0 else set()

    def siblings(p: int) -> set[int]:
        if p < 0 or world.fathers[p] < 0:
            return set()
        return {q for q in range(len(world)) if q != p and world.fathers[q] == world.fathers[p]}

    def wed(people: set[int]) -> set[int]:
        return {world.spouses[p] for p in people if world.spouses[p] >= 0}

    up = {q for p in parents(x) for q in parents(p)}
    aunts = {q for p in parents(x) for q in siblings(p)}
    spouse = world.spouses[x]
    found = [parents(x), None, {spouse} - {-1}, siblings(x), up, None, aunts | wed(aunts), None, parents(spouse), None]
    lateral = siblings(spouse) | wed(siblings(x))
    for neutral, people in enumerate(found):
        if people is not None and y in people:
            return word(neutral, world.genders[y])
    if y in lateral:
        return word(10, world.genders[y])
    back = kin_up(world, y, x)
    return None if back is None else inverse(back, world.genders[y])


def kin_up(world: People, x: int, y: int) -> int | None:
    """As `kin`, for relations in which y is the elder: parent, grandparent, uncle or aunt, parent-in-law."""
    for p in (world.fathers[x], world.mothers[x], world.spouses[x]):
        if p < 0:
            continue
        is_spouse = p == world.spouses[x]
        if p == y and not is_spouse:
            return word(0, world.genders[y])
        if y in (world.fathers[p], world.mothers[p]):
            return word(8 if is_spouse else 4, world.genders[y])
        if is_spouse or world.fathers[p] < 0:
            continue
        for q in range(len(world)):
            if q != p and world.fathers[q] == world.fathers[p] and y in (q, world.spouses[q]):
                return word(6, world.genders[y])
    return None


def proof_lines(plan: StoryPlan) -> list[str]:
    """The stated facts of the path, then each step once both of its premises stand."""
    lines = [f"The story says: {plan.sentence(*fact.triple)}" for fact in plan.path]
    for step in reversed(plan.proof):
        x, z, y = plan.names[step.x], plan.names[step.z], plan.names[step.y]
        needed = conventions_of(plan.genders[step.x], step.first, step.second)
        why = f", because in these families {' and '.join(CONVENTIONS[name] for name in needed)}" if needed else ""
        lines.append(
            f"{z} is {x}'s {RELATIONS[step.first]} and {y} is {z}'s {RELATIONS[step.second]}, "
            f"so {y} is {x}'s {RELATIONS[step.result]}{why}."
        )
    return lines


def _one_hop_early(example: Example) -> int | None:
    path = example.plan.path
    if len(path) < 2 or example.meta.get("memory"):
        return None
    return path[0].relation if len(path) == 2 else kin(example.world, path[0].subject, path[-1].subject)


def _ignores_gender(example: Example) -> int | None:
    return CODES[example.answer] ^ 1


def _wrong_way(example: Example) -> int | None:
    x, _ = example.plan.query
    return inverse(CODES[example.answer], example.plan.genders[x])


def _follows_noise(example: Example) -> int | None:
    noise = [fact for fact in example.plan.facts if fact.place < 0]
    x, y = example.plan.query
    for fact in reversed(noise):
        for end in (fact.relative, fact.subject):
            if end not in (x, y) and (found := kin(example.world, x, end)) is not None:
                return found
    return noise[-1].relation if noise else None


def _last_fact(example: Example) -> int | None:
    return _ends(example)[1].relation


def _ends(example: Example) -> tuple[Fact, Fact]:
    path = example.plan.path
    return path[0], path[-1]


def _first_and_last(example: Example) -> int | None:
    first, last = _ends(example)
    found = int(compose_table()[example.plan.genders[first.subject], first.relation, last.relation])
    return found if found >= 0 else last.relation


def _majority(_: Example) -> int | None:
    return CODES[MAJORITY]


READERS: dict[str, tuple[str, Callable[[Example], int | None]]] = {
    "one_hop_early": ("stops one hop before the person asked about", _one_hop_early),
    "ignores_gender": ("gets the relation but not the gender", _ignores_gender),
    "wrong_way": ("answers what the first person is to the second", _wrong_way),
    "follows_noise": ("follows a noise path to somebody else", _follows_noise),
    "last_fact": ("repeats the last word of the path", _last_fact),
    "first_and_last": ("combines the first and the last word and skips what is between", _first_and_last),
    "majority": (f"always answers {MAJORITY}", _majority),
}
"""Name -> what the reader does, and the code of the reader's answer."""


@functools.lru_cache(maxsize=4096)
def shortcuts(example: Example) -> tuple[Shortcut, ...]:
    """Every reader's answer to the example; kept, because one example is scored many times (examples compare by identity)."""
    if example.answer not in CODES:
        return ()
    found = []
    for name, (reader, answer) in READERS.items():
        code = answer(example)
        found.append(Shortcut(name, reader, None if code is None else RELATIONS[code]))
    return tuple(found)


def explain(example: Example) -> Explanation:
    """The proof step by step, and each shortcut reader's answer."""
    plan: StoryPlan = example.plan
    x, y = (plan.names[p] for p in plan.query)
    lines = proof_lines(plan)
    lines.append(f"So {y} is {x}'s {example.answer}.")
    return Explanation(tuple(lines), shortcuts(example))
