"""Noun phrases and descriptions over one readable world: which objects fit, and the word that rules each other one out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from recombine.errors import UsageError
from recombine.grid.codes import COLORS, PAIRWISE, RELATIONS, SHAPES, SIZE_WORDS, SIZES, SUPERLATIVE
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


def phrase_of(code: int) -> Phrase:
    """The phrase with this number, which is (size word * 5 + colour + 1) * 5 + shape + 1."""
    size, color, shape = code // 25, code // 5 % 5, code % 5
    return Phrase(SIZE_WORDS[size], COLORS[color - 1] if color else "", SHAPES[shape - 1] if shape else "")


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
    return _members(_fits(world, phrase, READINGS[reading]), len(world.things))


def _members(found: int, count: int) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple([i for i in range(count) if found >> i & 1])


def _fits(world: World, phrase: Phrase, reading: int) -> int:
    """The objects that the phrase fits, as bits. Many readings of a command share their phrases, so they are kept."""
    key = phrase.size, phrase.color, phrase.shape, reading
    found = world.fits.get(key)
    if found is None:
        found = world.fits[key] = _found(world, phrase, reading)
    return found


def _found(world: World, phrase: Phrase, reading: int) -> int:
    sets = world.sets
    found = (1 << len(world.things)) - 1
    if phrase.color:
        found &= sets.get(("color", phrase.color), 0)
    if phrase.shape:
        found &= sets.get(("shape", phrase.shape), 0)
    if not phrase.size or not found:
        return found
    sizes = [size for size in SIZES if sets.get(("size", size), 0) & found]
    is_small = phrase.size == "small"
    # Pairwise, all but the largest of a class are small; by the superlative, the smallest alone.
    if reading == PAIRWISE:
        return found & ~sets["size", sizes[-1] if is_small else sizes[0]]
    return found & sets["size", sizes[0] if is_small else sizes[-1]]


def _relatives(world: World, relation: str, i: int) -> int:
    """The objects to which object i stands in the relation, as bits; never itself."""
    it = world.things[i]
    if relation != "inside":
        return world.sets[relation, getattr(it, relation)] & ~(1 << i)
    found = world.fits.get(i)
    if found is None:
        boxes = [b for b, thing in enumerate(world.things) if b != i and thing.is_box and thing.covers(it.row, it.column)]
        found = world.fits[i] = sum(1 << b for b in boxes)
    return found


def referents(world: World, description: Description, reading: str) -> tuple[int, ...]:
    """The objects that the description can mean, all its phrases bound to different objects."""
    if world.problems:
        raise UsageError(f"nothing can be said of this world: {'; '.join(world.problems[:3])}.")
    fits = [_fits(world, phrase, READINGS[reading]) for phrase in description.phrases]
    roots = _members(fits[0], len(world.things))
    if len(fits) == 1 or not all(fits):
        return roots if all(fits) else ()
    return tuple([root for root in roots if _is_bindable(world, description, fits, [root], 1 << root)])


def _is_bindable(world: World, description: Description, fits: Sequence[int], chosen: list[int], used: int) -> bool:
    """Whether the phrases after the chosen objects can be bound to others."""
    k = len(chosen)
    left = fits[k] & ~used
    if left:
        left &= _relatives(world, description.relations[k], chosen[description.parents[k]])
    if k == len(fits) - 1:
        return left != 0
    while left:
        bit = left & -left
        left ^= bit
        if _is_bindable(world, description, fits, [*chosen, bit.bit_length() - 1], used | bit):
            return True
    return False


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
    if not wrong and phrase.size and not _fits(world, phrase, READINGS[reading]) >> thing & 1:
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
