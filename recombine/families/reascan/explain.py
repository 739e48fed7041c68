"""The proof of an example, and the readers who cut one corner: which object they take, and what they then do."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from recombine.core import Example, Explanation, Shortcut
from recombine.families.reascan.plan import RELATION_WORDS, Command
from recombine.grid.codes import HEAVY_FROM, RELATIONS
from recombine.grid.matching import Description, Phrase, bindings, fitting, misfits, referents, related
from recombine.grid.play import plan
from recombine.grid.world import World

READING = "pairwise"
COMPASS = {
    "": "here", "n": "to the north", "ne": "to the north-east", "e": "to the east", "se": "to the south-east", "s": "to the south",
    "sw": "to the south-west", "w": "to the west", "nw": "to the north-west",
}  # fmt: skip
KINDS = ("size", "color", "shape", "clause")
SWAP = 64


@dataclass(frozen=True)
class Reader:
    """One shortcut: its name, what it does, and the objects it may take (the target excepted)."""

    name: str
    what: str
    takes: tuple[int, ...]
    verb: str
    adverb: str


def reader_name(code: int) -> str:
    """The name behind a code of `object_catches` or `spare_words`: `ignores_color_2`, `swaps_1_3`; empty for -1."""
    if code < 0:
        return ""
    if code >= SWAP:
        return f"swaps_{(code - SWAP) // 8 + 1}_{(code - SWAP) % 8 + 1}"
    return f"ignores_{KINDS[code % 8]}_{code // 8 + 1}"


# --- variants of a command ---------------------------------------------------------------------------------------------


def omit(said: Description, code: int) -> Description | None:
    """The description without one word, or without one clause and what hangs on it; None if there is no such thing."""
    j, kind = divmod(code, 8)
    phrase = said.phrases[j]
    if kind == 3:
        return _pruned(said, j) if j else None
    if not getattr(phrase, KINDS[kind]) or (kind == 2 and phrase.shape == "box"):
        return None
    return Description((*said.phrases[:j], _with(phrase, kind, ""), *said.phrases[j + 1 :]), said.parents, said.relations)


def _with(phrase: Phrase, kind: int, word: str) -> Phrase:
    """The phrase with another word of this kind."""
    words = [phrase.size, phrase.color, phrase.shape]
    words[kind] = word
    return Phrase(*words)


def _pruned(said: Description, j: int) -> Description:
    kept: list[int] = []
    for k in range(len(said.phrases)):
        if k != j and (k == 0 or said.parents[k] in kept):
            kept.append(k)
    return Description(
        tuple(said.phrases[k] for k in kept),
        tuple(kept.index(said.parents[k]) if k else -1 for k in kept),
        tuple(said.relations[k] for k in kept),
    )


def swaps(said: Description) -> Iterator[tuple[str, Description]]:
    """(name, description) for each kind of word that two phrases can swap: the readings of a bag of words."""
    for a, b in combinations(range(len(said.phrases)), 2):
        for place, kind in enumerate(KINDS[:3]):
            x, y = getattr(said.phrases[a], kind), getattr(said.phrases[b], kind)
            if not x or not y or x == y or "box" in (x, y):
                continue
            phrases = list(said.phrases)
            phrases[a], phrases[b] = _with(phrases[a], place, y), _with(phrases[b], place, x)
            yield f"swaps_{kind}_{a + 1}_{b + 1}", Description(tuple(phrases), said.parents, said.relations)


def _read_words(kind: str, phrase: Phrase) -> str:
    if kind == "clause":
        return f"skips the clause with {str(phrase)!r}"
    word = getattr(phrase, kind)
    return f"ignores {word!r} in {str(phrase)!r}"


# --- readers ---------------------------------------------------------------------------------------------------------


def readers(world: World, command: Command) -> Iterator[Reader]:
    """Every shortcut reader of this command in this world."""
    said, verb, adverb = command.description, command.verb, command.adverb

    def others(description: Description) -> tuple[int, ...]:
        found = [i for i in referents(world, description, READING) if i != 0]
        return tuple(sorted(found, key=lambda i: (world.distance_to(world.things[i]), i)))

    for j, phrase in enumerate(said.phrases):
        for kind, name in enumerate(KINDS):
            shorter = omit(said, 8 * j + kind)
            if shorter is not None:
                yield Reader(reader_name(8 * j + kind), _read_words(name, phrase), others(shorter), verb, adverb)
    for name, swapped in swaps(said):
        yield Reader(name, f"reads the words in another order ({name.replace('_', ' ')})", others(swapped), verb, adverb)
    if len(said.phrases) > 1:
        alone = Description(said.phrases[:1])
        yield Reader(
            "nearest_match", f"takes the nearest {str(said.phrases[0])!r}, clauses unread", others(alone)[:1], verb, adverb
        )
    nearest = sorted(range(1, len(world.things)), key=lambda i: (world.distance_to(world.things[i]), i))
    nearest = [i for i in nearest if not world.things[i].is_box]
    yield Reader("nearest_object", "takes the nearest object, whatever it is", tuple(nearest[:1]), verb, adverb)
    if adverb:
        yield Reader("ignores_adverb", f"does it without {adverb!r}", (0,), verb, "")
    if verb != "walk":
        yield Reader("walks_only", f"walks there but does not {verb}", (0,), "walk", adverb)
        swapped_verb = "pull" if verb == "push" else "push"
        yield Reader("swaps_verb", f"does {swapped_verb!r} instead of {verb!r}", (0,), swapped_verb, adverb)


@functools.lru_cache(maxsize=4096)
def doings(world: World, command: Command) -> tuple[tuple[Reader, tuple[tuple[str, ...], ...]], ...]:
    """Every reader with what it does for each object that it may take (where that is anything at all)."""
    found = []
    known: dict[tuple[int, str, str], tuple[str, ...]] = {}  # several readers take the same object
    for reader in readers(world, command):
        plans = []
        for taken in reader.takes:
            key = taken, reader.verb, reader.adverb
            if key not in known:
                known[key] = plan(world, *key)
            plans.append(known[key])
        found.append((reader, tuple([actions for actions in plans if actions])))
    return tuple(found)


# --- the proof -------------------------------------------------------------------------------------------------------


def explain(example: Example) -> Explanation:
    """Which object each phrase binds to, what rules out each competing object, the plan; and each reader's answer."""
    world, command = cast(World, example.world), cast(Command, example.plan)
    shortcuts = tuple(Shortcut(r.name, r.what, ",".join(plans[0]) if plans else None) for r, plans in doings(world, command))
    steps = (*_binding_steps(world, command), *_exclusion_steps(world, command), *_plan_steps(world, command))
    return Explanation(steps, shortcuts)


def _named(world: World, i: int) -> str:
    thing = world.things[i]
    return f"the {thing.name} of size {thing.size} in row {thing.row + 1}, column {thing.column + 1}"


def clause_text(said: Description, k: int) -> str:
    """`in the same row as 'big square'`."""
    return f"{RELATION_WORDS[RELATIONS.index(said.relations[k])]} {str(said.phrases[k])!r}"


def _binding_steps(world: World, command: Command) -> Iterator[str]:
    said = command.description
    found = [b for b in bindings(world, said, READING) if b[0] == 0]
    chosen = found[0] if found else ()
    for k, i in enumerate(chosen):
        fits = fitting(world, said.phrases[k], READING)
        words = RELATION_WORDS[RELATIONS.index(said.relations[k])] if k else ""
        how = f"; what phrase {said.parents[k] + 1} means is {words} it" if k else ""
        yield f"phrase {k + 1}, {str(said.phrases[k])!r}, fits {counted(len(fits), 'object')}; here it is {_named(world, i)}{how}."


def _exclusion_steps(world: World, command: Command) -> Iterator[str]:
    """What rules out each other object: a clause, if the first phrase fits it, else words of that phrase."""
    said = command.description
    by_words: dict[tuple[str, ...], list[int]] = {}
    clauses: dict[int, tuple[int, ...]] = {}
    for i in range(1, len(world.things)):
        wrong = misfits(world, said.phrases[0], i, READING)
        if wrong:
            by_words.setdefault(wrong, []).append(i)
        else:
            yield f"{_named(world, i)} also fits {str(said.phrases[0])!r}, but {_ruled_out(world, said, i, clauses)}."
    for wrong, things in sorted(by_words.items()):
        words = " and ".join(repr(word) for word in wrong)
        verb = "rules" if len(wrong) == 1 else "rule"
        yield f"{words} in {str(said.phrases[0])!r} {verb} out {', '.join(_named(world, i) for i in things)}."


def _ruled_out(world: World, said: Description, i: int, clauses: dict[int, tuple[int, ...]]) -> str:
    """The clause that is false of object i, and the word of it that makes it so. `clauses` keeps what fits each clause."""
    for k in range(1, len(said.phrases)):
        if said.parents[k] != 0:
            continue
        if k not in clauses:
            clauses[k] = referents(world, _only_clause(said, k), READING)
        if i in clauses[k]:
            continue
        near = [o for o, t in enumerate(world.things) if o != i and related(said.relations[k], world.things[i], t)]
        if not near:
            return f"nothing is {clause_text(said, k)} there"
        words = sorted({w for o in near for w in misfits(world, said.phrases[k], o, READING)})
        nested = any(not misfits(world, said.phrases[k], o, READING) for o in near)
        if nested:
            return f"what is {clause_text(said, k)} there fails the clause inside it"
        return f"it is not {clause_text(said, k)}: {', '.join(repr(w) for w in words)} fails"
    return "its clauses cannot all be true with different objects"


def _only_clause(said: Description, k: int) -> Description:
    """The root with the one clause at k (and what hangs on it)."""
    description = said
    for other in range(len(said.phrases) - 1, 0, -1):
        if said.parents[other] == 0 and other != k:
            description = _pruned(description, other)
    return description


def _plan_steps(world: World, command: Command) -> Iterator[str]:
    actions = plan(world, 0, command.verb, command.adverb)
    walks = sum(1 for a in actions if a == "walk")
    manner = f", {command.adverb}" if command.adverb else ""
    way = COMPASS[world.direction_to(world.things[0])]
    yield f"the agent walks {counted(walks, 'step')} to the target, which lies {way}{manner}."
    if command.verb != "walk":
        yield _moving_step(world, command.verb, _count(actions, command.verb))


def _moving_step(world: World, verb: str, times: int) -> str:
    """How often the target is pushed or pulled, and why not more often."""
    if times == 0:
        return f"it cannot {verb} the target: the wall or another object is next to it."
    heavy = ", two for each cell because the target is heavy" if world.things[0].size >= HEAVY_FROM else ""
    does = {"push": "pushes", "pull": "pulls"}[verb]
    return f"then it {does} the target {counted(times, 'time')}{heavy}, until the wall or another object is next."


def counted(number: int, noun: str) -> str:
    """`1 step`, `3 steps`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _count(actions: Sequence[str], action: str) -> int:
    return sum(1 for a in actions if a == action)
