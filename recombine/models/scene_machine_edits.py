"""Programs by analogy: a known statement's program, changed by what training pairs show that a change of words means.

Two training statements that differ in one stretch of words teach a change: these words instead of those, this edit of the program.
A new statement is compared with its nearest known statements; each stretch that differs is looked up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recombine.models.scene_machine_text import Tokens

Region = tuple[Tokens, Tokens]
"""Tokens, and what stands there instead."""
Edit = tuple[Region, ...]
"""What becomes of a program; empty if its meaning stays."""
MOST_WORDS = 5
"""Longest stretch of words that one change replaces."""
MOST_REGIONS = 4
"""Most places of a program that one change edits, and most stretches in which a statement may differ from a known one."""
MOST_EDITS = 3
"""Edits that are tried for one change of words."""
MOST_WAYS = 6
"""Programs that one known statement may lead to."""


class Template(NamedTuple):
    """A statement with slots, one of its programs with slots, and how often training has both."""

    words: Tokens
    program: Tokens
    count: int


class Taught(NamedTuple):
    """What one change of words does to programs: the edits, each with the pairs of templates that show it."""

    edits: Mapping[Edit, Sequence[tuple[int, int]]]


Changes = Mapping[Region, Mapping[Edit, Sequence[tuple[int, int]]]]
"""Change of words -> edit -> the pairs of statements (by number) that show it."""


class Candidate(NamedTuple):
    """A program that a known statement suggests, and how it was reached."""

    program: Tokens
    template: int
    cosine: float
    unread: tuple[Region, ...]  # stretches of words that no change explains
    support: tuple[tuple[int, int], ...]  # of each applied change: pairs that show this edit, pairs that show any


class Index:
    """Nearest statements by tf-idf of words and pairs of words."""

    def __init__(self, statements: Sequence[Tokens]) -> None:
        counted = Counter(gram for words in statements for gram in set(grams(words)))
        self.idf = {gram: math.log((1 + len(statements)) / n) for gram, n in counted.items()}
        self.unseen = math.log(1 + len(statements))
        postings: dict[Tokens, tuple[list[int], list[float]]] = {}
        for number, words in enumerate(statements):
            for gram, weight in self.weights(words).items():
                ids, shares = postings.setdefault(gram, ([], []))
                ids.append(number)
                shares.append(weight)
        self.postings = {gram: (np.array(ids), np.array(shares)) for gram, (ids, shares) in postings.items()}
        self.size = len(statements)

    def weights(self, words: Tokens) -> dict[Tokens, float]:
        """The statement as a vector of length one."""
        found = {gram: n * self.idf.get(gram, self.unseen) for gram, n in Counter(grams(words)).items()}
        norm = math.sqrt(sum(weight * weight for weight in found.values())) or 1.0
        return {gram: weight / norm for gram, weight in found.items()}

    def cosines(self, words: Tokens) -> NDArray[np.float64]:
        """How near each statement is."""
        out = np.zeros(self.size)
        for gram, weight in self.weights(words).items():
            if gram in self.postings:
                ids, shares = self.postings[gram]
                out[ids] += weight * shares
        return out

    def nearest(self, words: Tokens, count: int) -> list[tuple[int, float]]:
        """The nearest statements and their cosines, the nearest first; ties in the order of the statements."""
        near = self.cosines(words)
        return [(int(i), float(near[i])) for i in np.argsort(-near, kind="stable")[:count] if near[i] > 0]


def grams(words: Tokens) -> list[Tokens]:
    """Words, and pairs of neighbours."""
    return [(word,) for word in words] + list(pairwise(("<", *words, ">")))


def difference(first: Tokens, second: Tokens) -> Region:
    """What is left of two sequences without their common beginning and end."""
    low = 0
    while low < min(len(first), len(second)) and first[low] == second[low]:
        low += 1
    high = 0
    while high < min(len(first), len(second)) - low and first[-1 - high] == second[-1 - high]:
        high += 1
    return first[low : len(first) - high], second[low : len(second) - high]


def edit_between(first: Tokens, second: Tokens) -> Edit | None:
    """The edit that makes the second program of the first; None if it takes too many places. Insertions keep a neighbour on each side."""
    regions = []
    for what, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if what == "insert":
            a, b, c, d = max(a - 1, 0), b + 1, max(c - 1, 0), d + 1
        if what != "equal":
            regions.append((first[a:b], second[c:d]))
    return tuple(regions) if len(regions) <= MOST_REGIONS else None


def learn_changes(statements: Sequence[Tokens], programs: Sequence[Tokens], index: Index, neighbours: int) -> Changes:
    """All changes that pairs of near statements show. `programs` has the commonest program of each statement."""
    found: dict[Region, dict[Edit, list[tuple[int, int]]]] = {}
    for a, words in enumerate(statements):
        for b, _ in index.nearest(words, neighbours + 1):
            if a == b:
                continue
            change = difference(words, statements[b])
            if max(map(len, change)) > MOST_WORDS:
                continue
            edit = edit_between(programs[a], programs[b])
            if edit is not None:
                found.setdefault(change, {}).setdefault(edit, []).append((a, b))
    return found


def applied(program: Tokens, edit: Edit) -> Iterator[Tokens]:
    """The programs that an edit makes of a program: one for each place of its first region, the others at their first place after."""
    if not edit:
        yield program
        return
    first, *rest = edit
    for start in places(program, first[0]):
        made, at = program[:start] + first[1] + program[start + len(first[0]) :], start + len(first[1])
        for old, new in rest:
            here = next((p for p in places(made, old) if p >= at), None)
            if here is None:
                break
            made, at = made[:here] + new + made[here + len(old) :], here + len(new)
        else:
            yield made


def places(program: Tokens, wanted: Tokens) -> list[int]:
    """Where a sequence of tokens begins in a program."""
    n = len(wanted)
    return [i for i in range(len(program) - n + 1) if program[i : i + n] == wanted] if n else []


def candidates(
    words: Tokens, template: Template, number: int, cosine: float, changes: Changes, without: int | None = None
) -> list[Candidate]:
    """The programs that a known statement suggests for new words; `without`: no change counts that only this statement shows."""
    regions = [
        (template.words[a:b], words[c:d])
        for what, a, b, c, d in SequenceMatcher(None, template.words, words, autojunk=False).get_opcodes()
        if what != "equal"
    ]
    if len(regions) > MOST_REGIONS:
        return []
    whole = difference(template.words, words)
    ways = [_ways([whole], template, number, cosine, changes, without)] if len(regions) > 1 else []
    ways.append(_ways(regions, template, number, cosine, changes, without))
    return [candidate for found in ways for candidate in found]


def _ways(
    regions: Sequence[Region], template: Template, number: int, cosine: float, changes: Changes, without: int | None
) -> list[Candidate]:
    made = [Candidate(template.program, number, cosine, (), ())]
    for region in regions:
        taught = _taught(changes.get(region, {}), without)
        total = sum(n for _, n in taught)
        grown = [
            candidate._replace(program=program, support=(*candidate.support, (n, total)))
            for candidate in made
            for edit, n in taught[:MOST_EDITS]
            for program in applied(candidate.program, edit)
        ]
        left = [candidate._replace(unread=(*candidate.unread, region)) for candidate in made]
        made = (grown + left if not grown or total < 3 else grown)[:MOST_WAYS]
    return made


def _taught(edits: Mapping[Edit, Sequence[tuple[int, int]]], without: int | None) -> list[tuple[Edit, int]]:
    """The edits of a change and how many pairs show each, the commonest first."""
    counted = [(edit, sum(without not in pair for pair in pairs)) for edit, pairs in edits.items()]
    return sorted((item for item in counted if item[1]), key=lambda item: (-item[1], len(item[0]), item[0]))
