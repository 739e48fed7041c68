"""A user's split: the test commands that a predicate leaves to a part, and the pairs that no demonstration shows.

Most facets describe the test command, and they are settled before a task is made. The number of demonstrations is known only afterwards,
so rows that do not fit it are drawn again.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from recombine.core import Batch, Job
from recombine.families.lexicon.facets import FACETS, facet_columns
from recombine.families.lexicon.plan import CONJUNCTIONS, MEANINGS, VERBS, actions_of, commands, glosses, table
from recombine.predicates import Not, Predicate, atoms, mask, weakened

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
COMMAND_FACETS = frozenset({"verb", "side", "manner", "repeat", "conjunction", "command_length", "action_length", "clauses"})
"""Facets that the test command settles."""


def wanted(predicate: Predicate, is_test: bool) -> Predicate:
    """What every row of a part satisfies."""
    return predicate if is_test else Not(predicate)


def is_settled(predicate: Predicate) -> bool:
    """Whether the test command and the number of words decide the predicate."""
    return all(atom.facet in COMMAND_FACETS or atom.facet == "word_count" for atom in atoms(predicate))


@functools.lru_cache(maxsize=64)
def fitting(predicate: Predicate, words: int) -> Flags:
    """Which of the 20,910 commands can satisfy the predicate, in tasks of this many words."""
    known = weakened(predicate, is_settled)
    if known is None:
        return np.ones(len(commands()), dtype=np.bool_)
    names = sorted({atom.facet for atom in atoms(known)})
    return mask(known, facet_columns(_commands(words), names))


@functools.lru_cache(maxsize=8)
def _commands(words: int) -> Batch:
    """Every command as a row with the columns that facets read."""
    n = len(commands())
    return Batch(
        Job("lexicon", 1, "sound", "random", "test"),
        0,
        {
            "gloss": list(glosses()),
            "word_count": np.full(n, words, dtype=np.int8),
            "command_length": table()[1],
            "action_length": np.array([len(actions_of(gloss.split()) or ()) for gloss in glosses()], dtype=np.int64),
            "clauses": np.array([1 + any(m in CONJUNCTIONS for m in command) for command in commands()], dtype=np.int64),
        },
    )


@functools.lru_cache(maxsize=64)
def forbidden(predicate: Predicate) -> Ints:
    """[13, 13], verb by modifier: 1 if no demonstration may have both in one clause.

    A pair is forbidden under three conditions: every command in which one clause has both satisfies the predicate; not every command with
    the verb does; not every command with the modifier does. The split is then about the pair, and not about one of its words.
    """
    found = np.zeros((len(MEANINGS), len(MEANINGS)), dtype=np.int64)
    if any(atom.facet not in COMMAND_FACETS for atom in atoms(predicate)):
        return found
    satisfied = fitting(predicate, len(MEANINGS))
    has, joins = _presence()
    implied = [bool(satisfied[has[m]].all()) for m in range(len(MEANINGS))]
    for (verb, modifier), together in joins.items():
        if satisfied[together].all() and not implied[verb] and not implied[modifier]:
            found[verb, modifier] = 1
    return found


@functools.cache
def _presence() -> tuple[list[Ints], dict[tuple[int, int], Ints]]:
    """The commands that have each meaning, and those of which one clause has a verb with a modifier."""
    has: list[list[int]] = [[] for _ in MEANINGS]
    joins: dict[tuple[int, int], list[int]] = {}
    for place, command in enumerate(commands()):
        for meaning in set(command):
            has[meaning].append(place)
        cut = next((i for i, m in enumerate(command) if m in CONJUNCTIONS), len(command))
        pairs = {
            (verb, other)
            for part in (command[:cut], command[cut + 1 :])
            for verb in part[:1]
            for other in part[1:]
            if verb in VERBS
        }
        for pair in pairs:
            joins.setdefault(pair, []).append(place)
    return [np.array(places) for places in has], {pair: np.array(places) for pair, places in joins.items()}


__all__ = ["COMMAND_FACETS", "FACETS", "fitting", "forbidden", "is_settled", "wanted"]
