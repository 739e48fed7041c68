"""Commands of SCAN's grammar in nonsense words: meanings, grammar, and the lexicon that a task hides.

    C -> S and S | S after S | S             a command
    S -> V twice | V thrice | V              a clause
    V -> U | D | D[1] opposite D[2] | D[1] around D[2]         a phrase
    D -> U left | U right | turn left | turn right

A *meaning* is one of SCAN's thirteen words. A *lexicon* gives each word of a task a meaning, and no two words the same one. A *gloss* is
a command with every word replaced by its meaning, so it is a command of SCAN.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MEANINGS = ("walk", "look", "run", "jump", "turn", "left", "right", "opposite", "around", "twice", "thrice", "and", "after")
"""Meanings by number: five verbs, two sides, two manners, two repeats, two conjunctions."""
VERBS, SIDES, MANNERS, REPEATS, CONJUNCTIONS = (0, 1, 2, 3, 4), (5, 6), (7, 8), (9, 10), (11, 12)
TURN = 4
KINDS = ("verb",) * 5 + ("side",) * 2 + ("manner",) * 2 + ("repeat",) * 2 + ("conjunction",) * 2
TOKENS = ("WALK", "LOOK", "RUN", "JUMP", "LTURN", "RTURN")
"""Actions by number."""
NONSENSE = (
    "bem", "blick", "bosk", "dax", "dorf", "fep", "fimp", "gazz", "glorp", "gop", "hiff", "jid", "kiki", "koba", "lug", "marn", "mip",
    "modi", "nerk", "nim", "nur", "plim", "pob", "quib", "rel", "riff", "smee", "snig", "sud", "tark", "tog", "tufa", "vek", "vonk",
    "wazz", "wif", "wug", "yim", "zav", "zup",
)  # fmt: skip
"""Words that mean nothing in English."""
MOST_WORDS = 9
"""Words in the longest command."""
MOST_ACTIONS = 48


@dataclass(frozen=True)
class Lesson:
    """What a task hides and shows: the lexicon (word -> meaning), the demonstrations and the test command, all in nonsense words."""

    lexicon: tuple[tuple[str, str], ...]
    demonstrations: tuple[tuple[str, str], ...]
    command: str

    def gloss(self, command: str) -> str:
        """The command in SCAN's words."""
        meaning = dict(self.lexicon)
        return " ".join(meaning.get(word, "?") for word in command.split())


@functools.cache
def clauses() -> tuple[tuple[int, ...], ...]:
    """All 102 clauses as meanings."""
    phrases: list[tuple[int, ...]] = [(verb,) for verb in VERBS if verb != TURN]
    phrases += [(verb, side) for verb, side in product(VERBS, SIDES)]
    phrases += [(verb, manner, side) for verb, manner, side in product(VERBS, MANNERS, SIDES)]
    return tuple((*phrase, *repeat) for phrase in phrases for repeat in ((), *((r,) for r in REPEATS)))


@functools.cache
def commands() -> tuple[tuple[int, ...], ...]:
    """All 20,910 commands as meanings: single clauses, then those joined by `and`, then by `after`."""
    joined = [(*a, c, *b) for c in CONJUNCTIONS for a, b in product(clauses(), clauses())]
    return (*clauses(), *joined)


@functools.cache
def table() -> tuple[Ints, Ints]:
    """(codes[20910, 9], lengths[20910]): every command as numbers; unused places are -1."""
    codes = np.full((len(commands()), MOST_WORDS), -1, dtype=np.int64)
    for row, command in enumerate(commands()):
        codes[row, : len(command)] = command
    return codes, np.array([len(command) for command in commands()], dtype=np.int64)


@functools.cache
def glosses() -> tuple[str, ...]:
    """Every command in SCAN's words."""
    return tuple(" ".join(MEANINGS[m] for m in command) for command in commands())


@functools.cache
def distinct() -> Ints:
    """How many different words each command has."""
    return np.array([len(set(command)) for command in commands()], dtype=np.int64)


def actions_of(meanings: Sequence[str]) -> list[str] | None:
    """What a command in SCAN's words does, as tokens; None if it is not grammatical."""
    cuts = [i for i, word in enumerate(meanings) if word in ("and", "after")]
    if not cuts:
        return _clause(meanings)
    if len(cuts) > 1:
        return None
    first, second = _clause(meanings[: cuts[0]]), _clause(meanings[cuts[0] + 1 :])
    if first is None or second is None:
        return None
    return first + second if meanings[cuts[0]] == "and" else second + first


def _clause(meanings: Sequence[str]) -> list[str] | None:
    rest = list(meanings)
    times = {"twice": 2, "thrice": 3}.get(rest[-1], 1) if rest else 1
    if times > 1:
        rest.pop()
    side = {"left": ["LTURN"], "right": ["RTURN"]}.get(rest[-1]) if rest else None
    if side is not None:
        rest.pop()
    manner = rest.pop() if side is not None and rest and rest[-1] in ("opposite", "around") else ""
    if len(rest) != 1 or rest[0] not in MEANINGS[:5] or (rest[0] == "turn" and side is None):
        return None
    act = [] if rest[0] == "turn" else [rest[0].upper()]
    phrase = (side or []) * (2 if manner == "opposite" else 1) + act
    return phrase * (4 if manner == "around" else 1) * times


__all__ = [
    "CONJUNCTIONS", "KINDS", "MANNERS", "MEANINGS", "MOST_ACTIONS", "MOST_WORDS", "NONSENSE", "REPEATS", "SIDES", "TOKENS", "TURN",
    "VERBS", "Lesson", "actions_of", "clauses", "commands", "distinct", "glosses", "table",
]  # fmt: skip
