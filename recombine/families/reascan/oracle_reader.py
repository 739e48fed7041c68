"""How the oracle reads a command and what it means in a world: a deliberate second implementation, so do not merge it with the parser.

The command is read word by word; referents are found with sets of objects instead of bit masks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recombine.core import Example
from recombine.errors import shown
from recombine.grid.oracle_wording import hear
from recombine.grid.world import World

SIZE_WORDS = ("small", "big")
COLOR_WORDS = ("red", "blue", "green", "yellow")
HEADS = ("circle", "cylinder", "square", "box", "object")
CLAUSES = {
    ("in", "the", "same", "row", "as"): "row",
    ("in", "the", "same", "column", "as"): "column",
    ("in", "the", "same", "color", "as"): "color",
    ("in", "the", "same", "shape", "as"): "shape",
    ("in", "the", "same", "size", "as"): "size",
    ("inside", "of"): "inside",
}
VERBS = {("walk", "to"): "walk", ("push",): "push", ("pull",): "pull"}
ADVERBS = {("while", "zigzagging"): "while zigzagging", ("while", "spinning"): "while spinning", ("cautiously",): "cautiously",
           ("hesitantly",): "hesitantly", (): ""}  # fmt: skip
KINDS = ("size", "color", "shape", "clause")
"""What can be left out of phrase j; the code of leaving it out is 8 * j + its place here."""


@dataclass(frozen=True)
class Noun:
    """A phrase as it was said: determiner, words ("" if absent), and how it hangs on an earlier phrase."""

    determiner: str
    size: str
    color: str
    head: str
    parent: int
    relation: str


@dataclass(frozen=True)
class Said:
    """A whole command."""

    verb: str
    adverb: str
    nouns: tuple[Noun, ...]


class Misread(Exception):
    """The command cannot be read; the argument says where."""


# --- reading ---------------------------------------------------------------------------------------------------------


def understand(text: str, natural: bool = True) -> Said:
    """The command in plain or, where that is allowed, natural wording; `Misread` where it stops making sense."""
    try:
        return _understand_plain(text)
    except Misread:
        heard = hear(text) if natural else None
        if heard is None:
            raise
    return Said(heard.verb, heard.manner, tuple(Noun(*noun) for noun in heard.nouns))


def is_natural(example: Example) -> bool:
    """Whether the example may be in natural wording."""
    return bool(example.meta.get("wording") == "natural")


def _understand_plain(text: str) -> Said:
    """The command in plain wording, read from left to right."""
    words = text.split(" ") if len(text) <= 2_000 else []
    verb, at = _longest(words, 0, VERBS)
    nouns: list[Noun] = []
    parent, relation = -1, ""
    while True:
        noun, at = _noun(words, at, parent, relation)
        nouns.append(noun)
        if words[at : at + 2] == ["that", "is"]:
            parent, at = len(nouns) - 1, at + 2
        elif words[at : at + 1] == ["and"] and len(nouns) > 1:
            at += 1
        else:
            break
        relation, at = _longest(words, at, CLAUSES)
        if len(nouns) > 8:
            raise Misread("more than eight phrases")
    rest = tuple(words[at:])
    if rest not in ADVERBS:
        raise Misread(f"{shown(' '.join(rest))} at its end")
    return Said(verb, ADVERBS[rest], tuple(nouns))


def _longest(words: Sequence[str], at: int, table: Mapping[tuple[str, ...], str]) -> tuple[str, int]:
    for length in (5, 2, 1):
        key = tuple(words[at : at + length])
        if len(key) == length and key in table:
            return table[key], at + length
    raise Misread(f"{shown(' '.join(words[at : at + 5]))} after {at} words")


def _noun(words: Sequence[str], at: int, parent: int, relation: str) -> tuple[Noun, int]:
    found = []
    for choices in (("the", "a"), SIZE_WORDS, COLOR_WORDS, HEADS):
        word = words[at] if at < len(words) else ""
        if word in choices:
            found.append(word)
            at += 1
        elif choices in (SIZE_WORDS, COLOR_WORDS):
            found.append("")
        else:
            raise Misread(f"{shown(word)} where one of {', '.join(choices)} is due")
    return Noun(found[0], found[1], found[2], found[3], parent, relation), at


def grammar_faults(said: Said) -> Iterator[str]:
    """The rules of the grammar that the command breaks."""
    nouns = said.nouns
    if nouns[0].head == "box" or (len(nouns) == 1 and nouns[0].head == "object"):
        yield f"{nouns[0].head!r} cannot be asked for"
    seen = [(n.size, n.color, n.head) for n in nouns]
    if len(set(seen)) != len(seen):
        yield "the same phrase twice"
    for child in nouns[1:]:
        parent = nouns[child.parent]
        if not child.size and not child.color:
            yield f"{child.head!r} has neither size nor colour"
        if (child.head == "box") != (child.relation == "inside"):
            yield f"{child.head!r} after {child.relation!r}"
        if (child.head == "object") != (child.relation == "shape"):
            yield f"{child.head!r} after {child.relation!r}"
        if child.relation == "shape" and parent.head != "object":
            yield f"{parent.head!r} before 'shape'"
        if child.relation in ("size", "color") and (getattr(child, child.relation) or getattr(parent, child.relation)):
            yield f"a {child.relation} word and the clause of the same {child.relation}"
        if child.relation != "shape" and child.head == parent.head:
            yield f"{child.head!r} related to {parent.head!r}"
    for a, b in itertools.combinations(nouns[1:], 2):
        if a.parent == b.parent and a.relation == b.relation:
            yield f"two clauses say {a.relation!r}"


# --- meaning ---------------------------------------------------------------------------------------------------------


def comparison_class(world: World, noun: Noun) -> set[int]:
    """The objects with the phrase's colour and shape."""
    return {
        i
        for i, t in enumerate(world.things)
        if (not noun.color or t.color == noun.color) and (noun.head == "object" or t.shape == noun.head)
    }


def denotation(world: World, noun: Noun, superlative: bool) -> set[int]:
    """The objects that the phrase is true of, relations aside."""
    members = comparison_class(world, noun)
    if not noun.size or not members:
        return members
    size = {i: world.things[i].size for i in members}
    if superlative:
        best = min(size.values()) if noun.size == "small" else max(size.values())
        return {i for i in members if size[i] == best}
    if noun.size == "small":
        return {i for i in members if any(size[o] > size[i] for o in members)}
    return {i for i in members if any(size[o] < size[i] for o in members)}


def holds(world: World, relation: str, a: int, b: int) -> bool:
    """Whether object a is in the relation to object b."""
    x, y = world.things[a], world.things[b]
    if a == b:
        return False
    if relation == "inside":
        return y.shape == "box" and 0 <= x.row - y.row < y.size and 0 <= x.column - y.column < y.size
    return bool(getattr(x, relation) == getattr(y, relation))


def means(world: World, nouns: Sequence[Noun], superlative: bool = False, limit: int = 99, can_share: bool = False) -> set[int]:
    """The objects that the first phrase can mean if all relations hold.

    All phrases mean different objects, unless `can_share`: then two phrases may mean the same object, but no object is related
    to itself.
    """
    true_of = [denotation(world, noun, superlative) for noun in nouns]
    found: set[int] = set()
    for root in sorted(true_of[0]):
        if len(found) >= limit:
            break
        if _extend(world, nouns, true_of, {0: root}, can_share):
            found.add(root)
    return found


def _extend(world: World, nouns: Sequence[Noun], true_of: Sequence[set[int]], bound: dict[int, int], can_share: bool) -> bool:
    """Whether the rest can be bound, the phrase with the fewest choices first."""
    options: dict[int, list[int]] = {}
    for j, noun in enumerate(nouns):
        if j not in bound and noun.parent in bound:
            taken = set() if can_share else set(bound.values())
            options[j] = [o for o in true_of[j] - taken if holds(world, noun.relation, bound[noun.parent], o)]
    if not options:
        return len(bound) == len(nouns)
    j = min(options, key=lambda key: (len(options[key]), key))
    return any(_extend(world, nouns, true_of, {**bound, j: o}, can_share) for o in sorted(options[j]))


def without(nouns: Sequence[Noun], code: int) -> tuple[Noun, ...] | None:
    """The command without one word or clause (8 * j + kind); None if there is no such word, or it is the "box" of "inside of"."""
    j, kind = code // 8, code % 8
    if j >= len(nouns) or kind >= len(KINDS):
        return None
    noun = nouns[j]
    if kind == 3:
        return _pruned(nouns, j) if j > 0 else None
    if kind == 2:
        return None if noun.head in ("object", "box") else (*nouns[:j], replace(noun, head="object"), *nouns[j + 1 :])
    if not (noun.size if kind == 0 else noun.color):
        return None
    shorter = replace(noun, size="") if kind == 0 else replace(noun, color="")
    return (*nouns[:j], shorter, *nouns[j + 1 :])


def _pruned(nouns: Sequence[Noun], j: int) -> tuple[Noun, ...]:
    gone = {j}
    for k in range(j + 1, len(nouns)):
        if nouns[k].parent in gone:
            gone.add(k)
    kept = [k for k in range(len(nouns)) if k not in gone]
    place = {k: i for i, k in enumerate(kept)} | {-1: -1}
    return tuple(replace(nouns[k], parent=place[nouns[k].parent]) for k in kept)


def each_omission(nouns: Sequence[Noun]) -> Iterator[tuple[int, tuple[Noun, ...]]]:
    """Every word and clause that can be left out, with the command without it."""
    for code in range(8 * len(nouns)):
        shorter = without(nouns, code)
        if shorter is not None:
            yield code, shorter
