"""The oracle: judges a task from what a model sees, its answer, and the rule that it claims. Shares no code with the generator.

It enumerates the whole space of hypotheses (every description, every operation, every reading), keeps those that fit the
demonstrations, and asks whether all of them give the same test output.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from recombine.checks import claim_problems
from recombine.core import Example, Problem
from recombine.families.abstract.answers import read_answer, scene_of
from recombine.families.abstract.oracle_claims import CLAIMS
from recombine.families.abstract.oracle_elimination import (
    SPACES,
    Elimination,
    dissenters,
    eliminate,
    ordered,
    readings_of,
)
from recombine.families.abstract.oracle_numbers import form_number
from recombine.families.abstract.oracle_outcomes import deeds, outcome, parse_deed
from recombine.families.abstract.oracle_space import (
    BONDS,
    DEPTHS,
    PHRASES,
    Item,
    World,
    descriptions,
    find,
    meanings,
    view,
)

_NOUN = r"the (?:(small|big) )?(?:(red|blue|green|yellow) )?(circle|cylinder|square|box|object)"
_LINK = r"(?:in the same (row|column|color|shape|size) as|(inside) of)"
_SAID = re.compile(rf"{_NOUN}(?: that is {_LINK} {_NOUN}(?: (and|that is) {_LINK} {_NOUN})?)?")


class Claimed(NamedTuple):
    """The rule that a task claims: pattern, number of the description, its five numbers, and the operation."""

    depth: str
    number: int
    words: tuple[int, ...]
    deed: Any


class Left(NamedTuple):
    """What elimination leaves: hypotheses after each demonstration, those that miss the test output, whether one rule is left."""

    counts: list[int]
    against: int
    is_unique: bool


@functools.lru_cache(maxsize=1 << 14)
def parse_rule(description: str, operation: str) -> Claimed | None:
    """The rule in the oracle's own numbers; None if it cannot be said."""
    said, deed = _SAID.fullmatch(description), parse_deed(operation)
    if said is None or deed is None:
        return None
    g = said.groups()
    nouns = [_phrase(g[0:3]), _phrase(g[5:8]), _phrase(g[11:14])]
    bonds = [g[3] or g[4], g[9] or g[10]]
    depth = "simple" if not bonds[0] else "one_clause" if not bonds[1] else "two_clauses" if g[8] == "and" else "nested"
    words = [nouns[0], *(x for noun, bond in zip(nouns[1:], bonds, strict=True) for x in _step(bond, noun))]
    if depth == "two_clauses" and words[1] > words[3]:
        words = [words[0], *words[3:5], *words[1:3]]
    number = find(depth, words)
    return Claimed(depth, number, tuple(words), deed) if number >= 0 else None


def _phrase(words: tuple[str | None, ...]) -> int:
    size, color, shape = (word or "" for word in words)
    return PHRASES.index((size, color, "" if shape in ("", "object") else shape))


def _step(bond: str | None, noun: int) -> tuple[int, int]:
    return (BONDS.index(bond), noun) if bond else (0, 0)


def world_of(listed: list[dict[str, Any]]) -> World:
    """The objects of an example's inputs as a set."""
    return frozenset((t["size"], t["color"], t["shape"], t["row"], t["column"]) for t in listed)


# --- the laws --------------------------------------------------------------------------------------------------------


def validate(example: Example) -> list[Problem]:
    """Every broken law."""
    return [*_laws(example), *claim_problems(CLAIMS, example)]


def _laws(example: Example) -> Iterator[Problem]:
    side = int(example.inputs["grid_size"])
    shown = [(pair["input"], pair["output"]) for pair in example.inputs["demonstrations"]]
    before = scene_of(side, example.inputs["test"])
    scenes = [before, *(scene_of(side, listed) for pair in shown for listed in pair)]
    impossible = [text for scene in scenes for text in scene.problems()]
    if impossible:
        yield Problem("impossible_world", impossible[0])
        return
    answer = read_answer(before, example.answer)
    if answer is None:
        yield Problem("wrong_label", f"the answer {example.answer[:80]!r} is no output world")
        return
    if example.world is not None and example.world.output != answer:
        yield Problem("wrong_column", "the columns gone and new do not give the answer's world for the test", place="gone")
    pairs = [(world_of(a), world_of(b)) for a, b in shown]
    test, output = world_of(example.inputs["test"]), world_of(answer.listed())
    if "description" not in example.meta:
        yield from _judge_without_rule(pairs, test, output, side)
        return
    rule = parse_rule(str(example.meta["description"]), str(example.meta["operation"]))
    if rule is None:
        yield Problem("wrong_rule", f"{example.meta['description']!r} with {example.meta['operation']!r} is no rule")
        return
    if example.recipe == "release":
        yield from _judge_release(example, rule, pairs, (test, output), side)
        return
    found = eliminate(pairs, side, SPACES[rule.depth])
    yield from _judge_rule(example, rule, found, test, output, side)


def _judge_without_rule(pairs: list[tuple[World, World]], test: World, output: World, side: int) -> Iterator[Problem]:
    """A task of others: some rule must explain it; that another rule gives another output is an artifact.

    A pair in which nothing changes is an artifact too: every rule of the space changes something, so such a pair says nothing.
    """
    named = [(f"demonstration {k + 1}", *pair) for k, pair in enumerate(pairs)]
    for name, before, after in [*named, ("the test", test, output)]:
        if before == after:
            yield Problem("unchanged_pair", f"nothing changes in {name}", "artifact")
    if test == output:
        return
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    for depths in (DEPTHS[:2], DEPTHS[:3], DEPTHS):
        found = eliminate(pairs, side, depths)
        total = found.counts[-1] if found.counts else 0
        against = dissenters(found, test, output, side)
        if total > against:
            if against:
                text = f"{against} of {total} rules that fit the demonstrations do not give the test output"
                yield Problem("undetermined", text, "artifact")
            return
        if total:
            yield Problem("wrong_label", f"no rule that fits the demonstrations gives the test output; {total} give another")
            return
    yield Problem("unexplained", "no rule with up to two clauses explains the demonstrations", "artifact")


def _judge_rule(
    example: Example, rule: Claimed, found: Elimination, test: World, output: World, side: int
) -> Iterator[Problem]:
    mine = [g for g in found.groups if g.depth == rule.depth and g.deed == rule.deed and rule.number in g.rows]
    if len(mine) < len(readings_of(rule.depth)):
        yield Problem("wrong_output", "the rule does not give the demonstrations shown, under every reading")
        return
    alone = Elimination([type(g)(g.depth, g.reading, g.deed, np.array([rule.number])) for g in mine])
    if dissenters(alone, test, output, side):
        yield Problem("wrong_label", "the rule does not give this test output, under every reading")
        return
    against = dissenters(found, test, output, side)
    if against:
        yield Problem(
            "undetermined",
            f"{against} of {found.counts[-1]} hypotheses that fit the demonstrations do not give the test output",
        )
    yield from judge_columns(example, rule, _left(found, against))
    yield from (Problem("missing_decoy", text) for text in missing_decoys(rule, test))


def _judge_release(
    example: Example, rule: Claimed, pairs: list[tuple[World, World]], test: tuple[World, World], side: int
) -> Iterator[Problem]:
    """The notebook's laws: in each world the rule means one object, and changes it if it can. What `sound` forbids is an artifact."""
    for number, (before, after) in enumerate((*pairs, test), 1):
        items = ordered(before)
        met = int(meanings(view(items, False), rule.depth, np.array([rule.words]), False)[0])
        code, name = ("wrong_label", "the test") if number > len(pairs) else ("wrong_output", f"demonstration {number}")
        if not met or met & (met - 1):
            yield Problem(code, f"in {name} the description means {met.bit_count()} objects, not one")
            return
        expected = outcome(before, side, items[met.bit_length() - 1], rule.deed, None)
        if after != (before if expected is None else expected):
            yield Problem(code, f"the rule does not give the output of {name}")
            return
        if before == after:
            yield Problem("unchanged_pair", f"nothing changes in {name}", "artifact")
    changing = [pair for pair in pairs if pair[0] != pair[1]]
    found, total = eliminate(changing, side, SPACES[rule.depth]), _space(rule)
    counts = iter(found.counts)
    last, spread = total, []
    for before, after in pairs:
        last = next(counts) if before != after else last
        spread.append(last)
    found.counts[:] = spread
    against = dissenters(found, *test, side) if changing else total
    if against:
        yield Problem(
            "undetermined",
            f"{against} of {last} hypotheses that fit the demonstrations do not give the test output",
            "artifact",
        )
    yield from judge_columns(example, rule, _left(found, against))
    yield from (Problem("missing_decoy", text, "artifact") for text in missing_decoys(rule, test[0]))


def _space(rule: Claimed) -> int:
    """How many hypotheses there are: descriptions, readings and operations; only one phrase with one clause has a pivot to copy."""
    copying = ("one_clause", "nested")
    return sum(
        len(descriptions(d)) * len(readings_of(d)) * (len(deeds()) - (0 if d in copying else 3)) for d in SPACES[rule.depth]
    )


def _left(found: Elimination, against: int) -> Left:
    is_unique = found.counts[-1] < 100 and len({(g.depth, int(row), g.deed) for g in found.groups for row in g.rows}) == 1
    return Left(found.counts, against, is_unique)


def judge_columns(example: Example, rule: Claimed, left: Left) -> Iterator[Problem]:
    """The columns that do not follow from the rule, the worlds and the elimination."""
    kinds = [act[0] for act in rule.deed]
    expected = {
        "pattern": rule.depth,
        "kind": kinds[0] if len(kinds) == 1 else "two",
        "relations": [BONDS[b] for b in (rule.words[1], rule.words[3])][
            : DEPTHS.index(rule.depth) if rule.depth != "nested" else 2
        ],
        "form": form_number(example),
        "clauses": min(DEPTHS.index(rule.depth), 2),
        "object_count": len(example.inputs["test"]),
        "demonstrations": len(example.inputs["demonstrations"]),
        "survivors": left.counts,
        "rivals_left": left.against,
        "rival_bits": left.against.bit_length(),
        "determined": left.against == 0,
        "proved_unique": left.is_unique,
        "space": _space(rule),
    }
    for name, value in expected.items():
        if name in example.meta and example.meta[name] != value:
            yield Problem("wrong_column", f"{name} is {example.meta[name]!r}, expected {value!r}", place=name)


def missing_decoys(rule: Claimed, test: World) -> Iterator[str]:
    """The careless readers who would find nothing but the referent in the test world, as sentences."""
    seen = view(ordered(test), False)
    for name, depth, words in weaker(rule):
        met = int(meanings(seen, depth, np.array([words]), False)[0])
        if not met & (met - 1):
            yield f"a reader who {name} finds no other object in the test world"


def weaker(rule: Claimed) -> Iterator[tuple[str, str, list[int]]]:
    """(what is dropped, pattern, five numbers) for each word and each clause of the rule."""
    words = list(rule.words)
    for place in (0, 2, 4)[: 1 + min(DEPTHS.index(rule.depth), 2)]:
        phrase = PHRASES[words[place]]
        for k, word in enumerate(phrase):
            if word and not (k == 2 and place and BONDS[words[place - 1]] == "inside"):
                less = tuple("" if j == k else w for j, w in enumerate(phrase))
                yield f"drops {word!r}", rule.depth, [*words[:place], PHRASES.index(less), *words[place + 1 :]]
    if rule.depth != "simple":
        yield "drops the clauses", "simple", [words[0], 0, 0, 0, 0]
    if rule.depth in ("two_clauses", "nested"):
        yield "drops the last clause", "one_clause", [*words[:3], 0, 0]
    if rule.depth == "two_clauses":
        yield "drops the first clause", "one_clause", [words[0], *words[3:], 0, 0]


__all__ = [
    "CLAIMS",
    "Claimed",
    "Item",
    "Left",
    "judge_columns",
    "missing_decoys",
    "parse_rule",
    "validate",
    "weaker",
    "world_of",
]
