"""Noun phrases and descriptions over one readable world: which objects fit, and the word that rules each other one out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from recombine import kernels
from recombine.grid.codes import ANY, COLORS, PAIRWISE, RELATIONS, SHAPES, SIZE_WORDS, SUPERLATIVE
from recombine.grid.world import Thing, World

READINGS: Mapping[str, int] = MappingProxyType({"pairwise": PAIRWISE, "superlative": SUPERLATIVE})
"""How "small" and "big" are read: "pairwise" (ReaSCAN's code) or "superlative" (gSCAN's)."""


@dataclass(frozen=True)
class Phrase:
    """A noun phrase without determiner: size word, colour, shape; an empty string leaves it open ("object")."""

    size: str = ""
    color: str = ""
    shape: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.size, self.color, self.shape or "object") if word)

    def admits(self, thing: Thing) -> bool:
        """Whether colour and shape fit; the size word needs the rest of the world (`fitting`)."""
        return self.color in ("", thing.color) and self.shape in ("", thing.shape)


def admits(parent: Phrase, relation: str, child: Phrase) -> bool:
    """Whether "parent that is relation child" can be said: the grammar's rules for one clause. Oracles have rules of their own."""
    if not child.size and not child.color:
        return False
    if (relation == "inside") != (child.shape == "box"):
        return False
    if relation == "shape":
        return not parent.shape and not child.shape and parent != child
    if relation == "size" and (parent.size or child.size):
        return False
    if relation == "color" and (parent.color or child.color):
        return False
    return bool(child.shape) and parent.shape != child.shape


@dataclass(frozen=True)
class Description:
    """Phrases and how they hang together: phrase k > 0 hangs on phrase parents[k] < k by relations[k]; entry 0 is unused."""

    phrases: tuple[Phrase, ...]
    parents: tuple[int, ...] = (-1,)
    relations: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        if not len(self.phrases) == len(self.parents) == len(self.relations):
            raise ValueError("a description needs as many parents and relations as phrases")
        if any(not 0 <= parent < k for k, parent in enumerate(self.parents) if k):
            raise ValueError(f"phrase k hangs on an earlier one; got parents {self.parents}")


def related(relation: str, a: Thing, b: Thing) -> bool:
    """Whether a is in the same row as / … / inside of b; never true of an object and itself (compare identity before)."""
    if relation == "inside":
        return b.is_box and b.covers(a.row, a.column)
    return bool(getattr(a, relation) == getattr(b, relation))


def fitting(world: World, phrase: Phrase, reading: str) -> tuple[int, ...]:
    """The indices of the objects that the phrase fits, relations ignored."""
    members = [i for i, thing in enumerate(world.things) if phrase.admits(thing)]
    if not phrase.size or not members:
        return tuple(members)
    sizes = [world.things[i].size for i in members]
    low, high = min(sizes), max(sizes)
    is_small = phrase.size == "small"
    if READINGS[reading] == PAIRWISE:
        return tuple(i for i in members if (world.things[i].size < high if is_small else world.things[i].size > low))
    return tuple(i for i in members if world.things[i].size == (low if is_small else high))


def referents(world: World, description: Description, reading: str) -> tuple[int, ...]:
    """The objects that the description can mean, all its phrases bound to different objects (the kernels' matcher)."""
    import numpy as np

    kernel = kernels.for_calls("recombine.grid.kernel")
    things, n, _ = world.arrays()
    sets = np.zeros((5, max(5, world.size)), dtype=np.int64)
    everything = kernel.index_things(things, n, sets)
    nodes = len(description.phrases)
    fits = np.zeros(nodes, dtype=np.int64)
    for k, phrase in enumerate(description.phrases):
        color = COLORS.index(phrase.color) if phrase.color else ANY
        shape = SHAPES.index(phrase.shape) if phrase.shape else ANY
        fits[k] = kernel.phrase(sets, everything, SIZE_WORDS.index(phrase.size), color, shape, READINGS[reading])
    parent = np.array(description.parents, dtype=np.int64)
    relation = np.array([RELATIONS.index(r) if r else -1 for r in description.relations], dtype=np.int64)
    scratch = np.zeros((2, nodes), dtype=np.int64)
    found = int(kernel.referents(things, sets, fits, parent, relation, nodes, scratch[0], scratch[1]))
    return tuple(i for i in range(n) if found >> i & 1)


def bindings(world: World, description: Description, reading: str, limit: int = 1000) -> list[tuple[int, ...]]:
    """Every injective assignment of phrases to objects (up to `limit`), each as one object index per phrase."""
    fits = [fitting(world, phrase, reading) for phrase in description.phrases]
    found: list[tuple[int, ...]] = []

    def extend(chosen: tuple[int, ...]) -> None:
        k = len(chosen)
        if k == len(fits):
            found.append(chosen)
            return
        for i in fits[k]:
            if len(found) >= limit:
                return
            if i in chosen:
                continue
            if k and not related(description.relations[k], world.things[chosen[description.parents[k]]], world.things[i]):
                continue
            extend((*chosen, i))

    extend(())
    return found


def misfits(world: World, phrase: Phrase, thing: int, reading: str) -> tuple[str, ...]:
    """The words of the phrase that are false of the object; a size word is judged within the phrase's own class."""
    it = world.things[thing]
    wrong = [word for word, true in ((phrase.color, it.color), (phrase.shape, it.shape)) if word not in ("", true)]
    if not wrong and phrase.size and thing not in fitting(world, phrase, reading):
        wrong.append(phrase.size)
    return tuple(wrong)


def edges(world: World, relations: Sequence[str] = RELATIONS) -> list[tuple[int, int, str]]:
    """Every related pair (a, b, relation); symmetric relations once with a < b, "inside" as (what is inside, box)."""
    found = []
    for a, first in enumerate(world.things):
        for b, second in enumerate(world.things):
            if a == b:
                continue
            for relation in relations:
                if (a < b or relation == "inside") and related(relation, first, second):
                    found.append((a, b, relation))
    return found
