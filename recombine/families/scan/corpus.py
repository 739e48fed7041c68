"""All 20,910 commands at once, as columns over the canonical order of `plan`: built in a few hundredths of a second, once."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recombine.columns import Coded
from recombine.families.scan import plan

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Corpus:
    """Columns over all commands. `meaning` numbers the distinct action sequences in order of their first command."""

    commands: tuple[str, ...]
    letters: tuple[str, ...]
    first: Ints
    second: Ints
    conjunction: Coded
    template: Coded
    meaning: Ints
    readings: Ints
    command_length: Ints
    action_length: Ints
    repeats: Ints

    def holding(self, wanted: Callable[[plan.Phrase], bool]) -> Mask:
        """Which commands contain such a phrase in either clause."""
        of_clause = np.array([wanted(clause.phrase) for clause in plan.CLAUSES] + [False])
        held: Mask = of_clause[self.first] | of_clause[self.second]  # a missing second clause is -1: the added False
        return held


@functools.cache
def corpus() -> Corpus:
    """The one corpus: every command, its meaning and its features."""
    clauses = [str(clause) for clause in plan.CLAUSES]
    acts = [clause.actions() for clause in plan.CLAUSES]
    n = len(clauses)
    commands = [*clauses]
    commands += [f"{a} and {b}" for a in clauses for b in clauses]
    commands += [f"{a} after {b}" for a in clauses for b in clauses]
    letters = _interpreted(acts, "")
    numbers: dict[str, int] = {}
    meaning = np.array([numbers.setdefault(text, len(numbers)) for text in letters], np.int32)

    slow, fast = np.repeat(np.arange(n, dtype=np.int32), n), np.tile(np.arange(n, dtype=np.int32), n)
    first = np.concatenate([np.arange(n, dtype=np.int32), slow, slow])
    second = np.concatenate([np.full(n, -1, np.int32), fast, fast])
    joint = np.repeat(np.arange(3, dtype=np.int32), [n, n * n, n * n])
    times = np.array([clause.times for clause in plan.CLAUSES] + [0], np.int32)
    words = np.array([text.count(" ") + 1 for text in clauses] + [-1], np.int32)
    return Corpus(
        commands=tuple(commands),
        letters=tuple(letters),
        first=first,
        second=second,
        conjunction=Coded(joint, plan.CONJUNCTIONS),
        template=_templates(first, joint, second),
        meaning=meaning,
        readings=np.bincount(meaning)[meaning].astype(np.int32),
        command_length=words[first] + words[second] + 1,
        action_length=np.array([len(text) for text in letters], np.int32),
        repeats=np.maximum(times[first], times[second]),
    )


def _interpreted(acts: Sequence[str], glue: str) -> list[str]:
    """The meaning of every command in canonical order, from its clauses' meanings: `after` does its second clause first."""
    return [*acts, *(a + glue + b for a in acts for b in acts), *(b + glue + a for a in acts for b in acts)]


def _templates(first: Ints, joint: Ints, second: Ints) -> Coded:
    blank = [plan.template(plan.Command(clause)) for clause in plan.CLAUSES]
    kinds = list(dict.fromkeys(blank))
    kind = np.array([kinds.index(text) for text in blank] + [-1], np.int32)
    values = [*kinds, *(f"{a} {word} {b}" for word in ("and", "after") for a in kinds for b in kinds)]
    pair = len(kinds) + (joint - 1) * len(kinds) ** 2 + kind[first] * len(kinds) + kind[second]
    return Coded(np.where(joint == 0, kind[first], pair).astype(np.int32), tuple(values))


@functools.cache
def action_texts(style: str) -> tuple[str, ...]:
    """Every command's actions as text, in one of the two token styles."""
    return tuple(_interpreted([plan.format_actions(clause.actions(), style) for clause in plan.CLAUSES], " "))


@functools.cache
def places() -> dict[str, int]:
    """Command text -> its place in the canonical order."""
    return {text: i for i, text in enumerate(corpus().commands)}


@functools.cache
def commands_meaning() -> dict[str, tuple[int, ...]]:
    """Action letters -> the places of all commands that mean them, in canonical order."""
    grouped: dict[str, list[int]] = {}
    for i, letters in enumerate(corpus().letters):
        grouped.setdefault(letters, []).append(i)
    return {letters: tuple(found) for letters, found in grouped.items()}


def inverses(actions: str) -> tuple[str, ...]:
    """All commands that mean these actions (tokens of either style), in canonical order; empty if there is none."""
    letters = plan.parse_actions(actions)
    everything = corpus().commands
    return tuple(everything[i] for i in commands_meaning().get(letters, ())) if letters else ()


def ambiguity() -> dict[int, int]:
    """How many action sequences have exactly k commands, by k: {1: 6, 2: 8244, …}, 9,228 in all."""
    return dict(sorted(Counter(len(found) for found in commands_meaning().values()).items()))
