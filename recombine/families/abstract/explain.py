"""The rule in one sentence, the elimination demonstration by demonstration, and what careless readers answer."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import cast

from recombine.core import Example, Explanation, Shortcut
from recombine.families.abstract import operations
from recombine.families.abstract.answers import Scene, object_text, write_answer
from recombine.families.abstract.plan import Rule
from recombine.families.abstract.rows import Task
from recombine.grid.matching import Description, Phrase, fitting, related
from recombine.grid.world import Thing, World

READERS = {
    "no_change": "leaves the test world as it is",
    "drops_clauses": "reads only the first phrase of the description",
    "drops_last_clause": "drops the last clause",
    "drops_size": "drops a size word",
    "drops_color": "drops a colour word",
    "drops_shape": "drops a shape word",
    "wrong_operation": "finds the object, but removes it instead",
    "copies_demonstration": "gives the output of the last demonstration",
}
"""Name -> what the reader does."""


def explain(example: Example) -> Explanation:
    """The proof and the careless readers."""
    return Explanation(tuple(_steps(example)), tuple(_shortcuts(example)))


def _steps(example: Example) -> Iterator[str]:
    task: Task = example.world
    rule = cast("Rule | None", example.plan)
    if rule is not None:
        yield str(rule)
    for k, (before, after) in enumerate(task.demonstrations, 1):
        yield f"Demonstration {k}: {write_answer('edit', before, after)}." + _left(example, k)
    if rule is not None:
        yield f"In the test input {_named(rule)} is the {_target_text(task)}."
    yield f"So the output changes by this: {write_answer('edit', task.test, task.output)}."


def _left(example: Example, k: int) -> str:
    counts = example.meta.get("survivors")
    if not counts:
        return ""
    before = int(example.meta["space"]) if k == 1 else counts[k - 2]
    return f" Of {before:,} hypotheses {counts[k - 1]:,} are left."


def _named(rule: Rule) -> str:
    from recombine.families.abstract.plan import describe

    return describe(rule.form)


def _target_text(task: Task) -> str:
    return object_text(task.test.things[0])


# --- careless readers ------------------------------------------------------------------------------------------------


def _shortcuts(example: Example) -> Iterator[Shortcut]:
    form = str(example.inputs["answer_form"])
    task: Task = example.world
    for name, reader in READERS.items():
        found = readers_outputs(example).get(name, ())
        yield Shortcut(name, reader, write_answer(form, task.test, found[0]) if found else None)


@functools.lru_cache(maxsize=256)
def readers_outputs(example: Example) -> dict[str, tuple[Scene, ...]]:
    """Reader -> the outputs that this reader may give and that are wrong; the first is the one shown."""
    task: Task = example.world
    found: dict[str, list[Scene]] = {"no_change": [task.test]}
    if task.demonstrations:
        found["copies_demonstration"] = [task.demonstrations[-1][1]]
    rule = cast("Rule | None", example.plan)
    if rule is not None:
        target = task.test.things[0]
        if rule.kind != "remove":
            found["wrong_operation"] = [Scene(task.test.size, tuple(t for t in task.test.things if t != target))]
        for name, description in weaker(rule.description):
            for thing in meant(task.test, description):
                output = applied(task.test, thing, rule, pivot_of(task.test, description, thing)) if thing != target else None
                if output is not None:
                    found.setdefault(name, []).append(output)
    return {
        name: tuple(output for output in outputs if output != task.output)
        for name, outputs in found.items()
        if any(output != task.output for output in outputs)
    }


def weaker(description: Description) -> Iterator[tuple[str, Description]]:
    """(reader, description) for every word and clause that can be dropped."""
    phrases, parents, relations = description.phrases, description.parents, description.relations
    if len(phrases) > 1:
        yield "drops_clauses", Description(phrases[:1])
    if len(phrases) > 2:
        yield "drops_last_clause", Description(phrases[:2], parents[:2], relations[:2])
    for k, phrase in enumerate(phrases):
        for name in ("size", "color", "shape"):
            if getattr(phrase, name):
                words = {word: getattr(phrase, word) for word in ("size", "color", "shape") if word != name}
                yield f"drops_{name}", Description((*phrases[:k], Phrase(**words), *phrases[k + 1 :]), parents, relations)


def meant(scene: Scene, description: Description) -> list[Thing]:
    """The objects that the description can mean, phrases bound to different objects."""
    return [binding[0] for binding in _bindings(scene, description)]


def pivot_of(scene: Scene, description: Description, thing: Thing) -> Thing | None:
    """What the description's second phrase means if its first one means this object; None if that is not one object."""
    found = {binding[1] for binding in _bindings(scene, description) if binding[0] == thing and len(binding) > 1}
    return found.pop() if len(found) == 1 else None


def _bindings(scene: Scene, description: Description) -> list[tuple[Thing, ...]]:
    world = World(scene.size, scene.ordered, 0, 0)
    fits = [[scene.ordered[i] for i in fitting(world, phrase, "pairwise")] for phrase in description.phrases]
    found: list[tuple[Thing, ...]] = [(thing,) for thing in fits[0]]
    for k in range(1, len(fits)):
        parent, relation = description.parents[k], description.relations[k]
        found = [(*b, t) for b in found for t in fits[k] if t not in b and related(relation, b[parent], t)]
    return list(dict.fromkeys(found))


def applied(scene: Scene, thing: Thing, rule: Rule, pivot: Thing | None) -> Scene | None:
    """The output if the rule's operation is done to this object; None if it cannot be."""
    import numpy as np

    from recombine.families.abstract.effect_kernel import CODE_BASE, NO_EFFECT, effect
    from recombine.families.abstract.rows import changed, unpack

    things, n, _ = World(scene.size, scene.things, 0, 0).arrays()
    at = scene.things.index(pivot) if pivot is not None else -1
    op = operations.table()[operations.numbers()[rule.operation]]
    code = int(effect(things, n, scene.size, op, scene.things.index(thing), at))
    if code == NO_EFFECT:
        return None
    gone = scene.things.index(thing) if code >= CODE_BASE else -1
    return changed(scene, gone, unpack(np.array([code % CODE_BASE]))[0].tolist())
